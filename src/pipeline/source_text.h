// A pipeline file's bytes with an index of its lines: turns byte offsets into the positions people
// read.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Immutable; keeps a view of `text`, which must outlive it.
class SourceText {
 public:
  SourceText(std::string_view text, std::string file_name);

  [[nodiscard]] std::string_view text() const { return text_; }
  [[nodiscard]] const std::string& file_name() const { return file_name_; }

  /// Line `number` (1-based) without its line end; "" beyond the text.
  [[nodiscard]] std::string_view line(int number) const;

  /// Line and column of a byte; columns count characters, not bytes. Offsets beyond the end mean
  /// the end.
  [[nodiscard]] SourcePos pos(std::size_t offset) const;

  /// Characters from `offset` on for `n_bytes`, ending at the line's end; at least 1.
  [[nodiscard]] int length_on_line(std::size_t offset, std::size_t n_bytes) const;

 private:
  [[nodiscard]] std::size_t characters_before(std::size_t offset) const;

  std::string_view text_;
  std::string file_name_;
  std::vector<std::size_t> line_starts_;
  std::vector<std::size_t>
      block_characters_;  // characters before each block of bytes: long lines stay cheap
};

/// Code points of valid UTF-8.
std::size_t count_characters(std::string_view utf8);

}  // namespace swarmkv::internal
