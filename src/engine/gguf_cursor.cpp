#include "engine/gguf_cursor.h"

#include <algorithm>
#include <bit>

namespace swarmkv::internal {

// The format is little-endian, and so is every machine this builds for.
static_assert(std::endian::native == std::endian::little);

void GgufCursor::fail(ErrorCode code, const std::string& what) const {
  throw Error(code, "[engine.gguf] '" + name_ + "': " + what);
}

void GgufCursor::require(std::uint64_t n_bytes, std::string_view what) const {
  if (n_bytes <= remaining()) return;
  fail(ErrorCode::kCorrupt, "truncated or damaged: " + std::string(what) + " needs " +
                                std::to_string(n_bytes) + " bytes at byte " +
                                std::to_string(position_) + ", the file has " +
                                std::to_string(size_));
}

void GgufCursor::read_bytes(void* to, std::uint64_t n_bytes, std::string_view what) {
  require(n_bytes, what);
  in_.read(static_cast<char*>(to), static_cast<std::streamsize>(n_bytes));
  if (static_cast<std::uint64_t>(in_.gcount()) != n_bytes) {
    fail(ErrorCode::kUnreadable,
         "reading stopped at byte " + std::to_string(position_) + " of " + std::to_string(size_));
  }
  position_ += n_bytes;
}

void GgufCursor::skip(std::uint64_t n_bytes, std::string_view what) {
  require(n_bytes, what);
  // A seek throws the stream's buffer away: vocabularies are many short strings, so short steps
  // stay inside it.
  constexpr std::uint64_t kShort = 4096;
  if (n_bytes <= kShort) {
    in_.ignore(static_cast<std::streamsize>(n_bytes));
  } else {
    in_.seekg(static_cast<std::streamoff>(n_bytes), std::ios::cur);
  }
  position_ += n_bytes;
}

std::string GgufCursor::read_string(std::uint64_t limit, std::string_view what) {
  const auto length = read<std::uint64_t>(what);
  require(length, what);
  std::string text(static_cast<std::size_t>(std::min(length, limit)), '\0');
  if (!text.empty()) read_bytes(text.data(), text.size(), what);
  skip(length - text.size(), what);
  return text;
}

}  // namespace swarmkv::internal
