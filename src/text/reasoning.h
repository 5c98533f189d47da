// What a model thinks aloud before it answers, between <think> and </think>.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swarmkv::internal {

struct SplitAnswer {
  std::string answer;                    ///< without the reasoning and the blank lines behind it
  std::optional<std::string> reasoning;  ///< unset = there was none
};

/// The reasoning is what stands before the first </think> of a text that begins with <think>, or
/// whose template has opened it already (`opened`). An answer that was cut while it still thought
/// is all reasoning. Marks elsewhere are ordinary text: an answer may be about them.
[[nodiscard]] SplitAnswer split_reasoning(std::string_view text, bool opened);

/// The same while the text is still being written: pieces may end anywhere, also inside of a mark.
/// What push() and finish() return, joined, is what split_reasoning() makes of the whole text; the
/// reasoning comes first. Held back is only what may yet turn out to be a mark, or blanks that
/// belong to neither part. Time is linear in the bytes pushed. Not thread-safe.
class ReasoningStream {
 public:
  explicit ReasoningStream(bool opened) : opened_(opened) {}

  struct Piece {
    std::string answer, reasoning;
    [[nodiscard]] bool empty() const { return answer.empty() && reasoning.empty(); }
  };
  [[nodiscard]] Piece push(std::string_view text);
  /// Releases what was held back. Again: nothing more.
  [[nodiscard]] Piece finish();

 private:
  // kBegin: perhaps an opening mark; kBehind: blanks between the closing mark and the answer.
  enum class Part { kBegin, kReasoning, kBehind, kAnswer };

  void step(char c, Piece& out);
  void begin(char c, Piece& out);
  void reason(char c, Piece& out);
  void release_begin(Piece& out);

  const bool opened_;
  Part part_ = Part::kBegin;
  std::string held_;        ///< blanks, then as much of a mark as has come
  std::size_t n_mark_ = 0;  ///< bytes of the mark at the end of `held_`
  bool has_begun_ = false;  ///< some reasoning has been released
};

}  // namespace swarmkv::internal
