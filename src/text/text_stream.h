// A request's answer on its way from token pieces to text somebody may see.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace swarmkv::internal {

class StopMatcher;

/// Turns token pieces into text that is safe to show: whole characters only, and nothing that may
/// yet turn out to be part of a stop string. What push() and finish() return, joined, is text().
/// Time is linear in the bytes pushed. Not thread-safe.
///
/// Of several stop strings the one that is complete first ends the text; if two are complete with
/// the same byte, the longest. Invalid bytes become U+FFFD, also in stop strings; empty stop
/// strings are ignored.
class TextStream {
 public:
  explicit TextStream(std::vector<std::string> stop = {});
  ~TextStream();
  TextStream(TextStream&&) noexcept;
  TextStream& operator=(TextStream&&) noexcept;

  /// The text this piece releases, maybe none. After a stop string or finish() every piece is
  /// ignored.
  std::string push(std::string_view piece);
  /// Releases what was held back, except an incomplete character. Again: nothing more.
  std::string finish();

  [[nodiscard]] bool stopped() const { return !stop_string_.empty(); }
  [[nodiscard]] const std::string& stop_string() const { return stop_string_; }
  [[nodiscard]] int n_cut_bytes() const { return n_cut_bytes_; }  ///< after finish()
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void take_character(std::string_view character);
  void release(std::size_t n_kept);

  std::vector<std::string> stop_;
  std::unique_ptr<StopMatcher> matcher_;
  std::string bytes_;  ///< an unfinished character, at most 3 bytes between calls
  std::string held_;   ///< whole characters that may become a stop string, from held_begin_ on
  std::size_t held_begin_ = 0;
  std::string text_, stop_string_;
  int n_cut_bytes_ = 0;
  bool finished_ = false;
};

}  // namespace swarmkv::internal
