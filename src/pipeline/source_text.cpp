#include "pipeline/source_text.h"

#include <algorithm>
#include <utility>

namespace swarmkv::internal {
namespace {

constexpr std::size_t kBlockBytes = 256;

}  // namespace

SourceText::SourceText(std::string_view text, std::string file_name)
    : text_(text), file_name_(std::move(file_name)) {
  line_starts_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i) {
    if (text_[i] == '\n') line_starts_.push_back(i + 1);
  }
  block_characters_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); i += kBlockBytes) {
    block_characters_.push_back(block_characters_.back() +
                                count_characters(text_.substr(i, kBlockBytes)));
  }
}

std::size_t SourceText::characters_before(std::size_t offset) const {
  const std::size_t block = offset / kBlockBytes;
  const std::size_t begin = block * kBlockBytes;
  return block_characters_[block] + count_characters(text_.substr(begin, offset - begin));
}

std::string_view SourceText::line(int number) const {
  if (number < 1 || static_cast<std::size_t>(number) > line_starts_.size()) return {};
  const std::size_t begin = line_starts_[static_cast<std::size_t>(number) - 1];
  std::size_t end = text_.find('\n', begin);
  if (end == std::string_view::npos) end = text_.size();
  if (end > begin && text_[end - 1] == '\r') --end;
  return text_.substr(begin, end - begin);
}

SourcePos SourceText::pos(std::size_t offset) const {
  offset = std::min(offset, text_.size());
  const auto next = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
  const std::size_t begin = *(next - 1);
  SourcePos result;
  result.file = file_name_;
  result.line = static_cast<int>(next - line_starts_.begin());
  result.column = static_cast<int>(characters_before(offset) - characters_before(begin)) + 1;
  return result;
}

int SourceText::length_on_line(std::size_t offset, std::size_t n_bytes) const {
  if (offset >= text_.size()) return 1;
  std::string_view part = text_.substr(offset, n_bytes);
  part = part.substr(0, part.find_first_of("\r\n"));
  return std::max(1, static_cast<int>(count_characters(part)));
}

std::size_t count_characters(std::string_view utf8) {
  return static_cast<std::size_t>(std::count_if(utf8.begin(), utf8.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace swarmkv::internal
