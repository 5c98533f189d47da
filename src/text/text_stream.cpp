#include "text/text_stream.h"

#include <utility>

#include "text/stop_matcher.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

// Only whole valid characters are matched, so a stop string must consist of such to be found.
std::vector<std::string> sanitized(std::vector<std::string> strings) {
  for (std::string& s : strings) s = sanitize_utf8(s);
  return strings;
}

}  // namespace

TextStream::TextStream(std::vector<std::string> stop) : stop_(sanitized(std::move(stop))) {
  matcher_ = std::make_unique<StopMatcher>(stop_);
}
TextStream::~TextStream() = default;
TextStream::TextStream(TextStream&&) noexcept = default;
TextStream& TextStream::operator=(TextStream&&) noexcept = default;

std::string TextStream::push(std::string_view piece) {
  if (stopped() || finished_) return {};
  bytes_.append(piece);
  const std::size_t before = text_.size();
  std::size_t at = 0;
  while (at < bytes_.size() && !stopped()) {
    const Utf8Step step = utf8_step(bytes_, at);
    if (step.kind == Utf8Step::Kind::kUnfinished) break;
    take_character(step.kind == Utf8Step::Kind::kValid
                       ? std::string_view(bytes_).substr(at, step.length)
                       : kReplacementCharacter);
    at += step.length;
  }
  bytes_.erase(0, at);
  if (stopped()) {
    bytes_.clear();
    held_.clear();
  } else {
    release(matcher_->n_open());
  }
  return text_.substr(before);
}

void TextStream::take_character(std::string_view character) {
  for (const char byte : character) {
    held_.push_back(byte);
    const auto match = matcher_->step(byte);
    if (!match) continue;
    stop_string_ = stop_[*match];
    release(stop_string_.size());
    return;
  }
}

// Erasing the front only once most of the buffer is behind us keeps the whole stream linear.
void TextStream::release(std::size_t n_kept) {
  const std::size_t n = held_.size() - held_begin_ - n_kept;
  text_.append(held_, held_begin_, n);
  held_begin_ += n;
  if (held_begin_ * 2 < held_.size()) return;
  held_.erase(0, std::exchange(held_begin_, 0));
}

std::string TextStream::finish() {
  if (stopped() || std::exchange(finished_, true)) return {};
  n_cut_bytes_ = static_cast<int>(bytes_.size());
  bytes_.clear();
  const std::size_t before = text_.size();
  release(0);
  return text_.substr(before);
}

}  // namespace swarmkv::internal
