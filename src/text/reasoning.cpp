#include "text/reasoning.h"

#include <utility>

#include "text/trim.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kOpen = "<think>", kClose = "</think>";

bool is_blank(char c) { return kBlank.find(c) != std::string_view::npos; }

}  // namespace

SplitAnswer split_reasoning(std::string_view text, bool opened) {
  const std::string_view from_text = trim_front(text);
  const bool opens = from_text.substr(0, kOpen.size()) == kOpen;
  if (!opens && !opened) return {std::string(text), std::nullopt};
  const std::string_view inside = opens ? from_text.substr(kOpen.size()) : text;
  const std::size_t close = inside.find(kClose);
  if (close == std::string_view::npos) return {"", std::string(trim(inside))};
  const std::string_view rest = inside.substr(close + kClose.size());
  return {std::string(trim_front(rest)), std::string(trim(inside.substr(0, close)))};
}

ReasoningStream::Piece ReasoningStream::push(std::string_view text) {
  Piece out;
  std::size_t at = 0;
  while (at < text.size() && part_ != Part::kAnswer) step(text[at++], out);
  out.answer += text.substr(at);
  return out;
}

ReasoningStream::Piece ReasoningStream::finish() {
  Piece out;
  if (part_ == Part::kBegin) release_begin(out);
  // The beginning of a mark that never came whole is text; blanks at the end are not.
  if (part_ == Part::kReasoning && n_mark_ > 0) out.reasoning += held_;
  held_.clear();
  n_mark_ = 0;
  return out;
}

void ReasoningStream::step(char c, Piece& out) {
  switch (part_) {
    case Part::kBegin:
      return begin(c, out);
    case Part::kReasoning:
      return reason(c, out);
    case Part::kBehind:
      if (is_blank(c)) return;
      part_ = Part::kAnswer;
      [[fallthrough]];
    case Part::kAnswer:
      out.answer += c;
  }
}

void ReasoningStream::begin(char c, Piece& out) {
  held_ += c;
  if (n_mark_ == 0 && is_blank(c)) return;
  if (c != kOpen[n_mark_]) return release_begin(out);
  if (++n_mark_ < kOpen.size()) return;
  part_ = Part::kReasoning;
  held_.clear();
  n_mark_ = 0;
}

// What looked like the mark of a beginning is ordinary text: of the answer, or of a reasoning that
// the template has opened.
void ReasoningStream::release_begin(Piece& out) {
  const std::string text = std::exchange(held_, {});
  n_mark_ = 0;
  part_ = opened_ ? Part::kReasoning : Part::kAnswer;
  for (const char c : text) step(c, out);
}

// Only its first byte can begin the mark anew, so nothing has to be looked at again.
void ReasoningStream::reason(char c, Piece& out) {
  if (c != kClose[n_mark_]) {
    if (n_mark_ > 0) {
      out.reasoning += std::exchange(held_, {});
      has_begun_ = true;
    }
    n_mark_ = 0;
  }
  if (c == kClose[n_mark_]) {
    held_ += c;
    if (++n_mark_ < kClose.size()) return;
    part_ = Part::kBehind;
    held_.clear();
    n_mark_ = 0;
  } else if (!is_blank(c)) {
    out.reasoning += std::exchange(held_, {}) + c;
    has_begun_ = true;
  } else if (has_begun_) {
    held_ += c;
  }
}

}  // namespace swarmkv::internal
