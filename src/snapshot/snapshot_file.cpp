#include "snapshot/snapshot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/digest.h"
#include "snapshot/digest_bytes.h"
#include "snapshot/snapshot_error.h"

namespace swarmkv::internal {
namespace {

std::uint64_t size_of(const FileHandle& file, const std::string& path) {
  struct stat about {};
  if (file.calls().stat_of(file.fd(), &about) != 0) {
    throw SnapshotError(ErrorCode::kUnreadable, path, "file", error_text(errno));
  }
  return static_cast<std::uint64_t>(about.st_size);
}

void check_same(const std::string& path, const char* field, const std::string& written,
                const std::string& computed) {
  if (written == computed) return;
  throw SnapshotError(
      ErrorCode::kCorrupt, path, field,
      fmt::format("{} by the header, its bytes give {}: damaged", written, computed));
}

}  // namespace

SnapshotHeader read_snapshot_header(const FileHandle& file, const std::string& path) {
  const std::uint64_t file_bytes = size_of(file, path);
  // Nearly every header is this short; a longer one says so, and is read if that can be true.
  std::vector<std::uint8_t> first(std::min<std::uint64_t>(file_bytes, 2048));
  // A file that shrinks meanwhile is met as one that is too short for its own numbers.
  first.resize(read_up_to(file, first.data(), first.size(), 0, path));
  const std::uint64_t wanted = claimed_header_bytes(first);
  if (wanted > first.size() &&
      wanted <= std::min<std::uint64_t>(file_bytes, kSnapshotMostHeaderBytes)) {
    first.resize(wanted);
    first.resize(read_up_to(file, first.data(), first.size(), 0, path));
  }
  return decode_snapshot_header(first, file_bytes, path);
}

SnapshotFile SnapshotFile::open(const std::string& path, const SystemCalls& calls) {
  return SnapshotFile(open_regular(AT_FDCWD, path, true, path, calls), path);
}

SnapshotFile::SnapshotFile(FileHandle file, std::string path)
    : path_(std::move(path)), file_(std::move(file)) {
  lock_in_use(file_);  // before the size is asked: from here on no writer of ours removes it
  header_ = read_snapshot_header(file_, path_);
  bytes_ = MappedBytes(file_, header_.file_bytes, path_);

  const auto ids = bytes_.bytes().subspan(header_.header_bytes, header_.n_tokens * 4);
  check_same(path_, "token digest", header_.token_digest, digest_of(ids));
  const auto padding =
      bytes_.bytes().first(header_.state_offset).subspan(header_.header_bytes + ids.size());
  if (std::any_of(padding.begin(), padding.end(), [](std::uint8_t byte) { return byte != 0; })) {
    throw SnapshotError(
        ErrorCode::kCorrupt, path_, "padding",
        fmt::format("not all of the {} bytes before the state are 0: damaged", padding.size()));
  }
}

void SnapshotFile::verify() const {
  // Read, not looked at in the mapping: a file cut short meanwhile is then an error and no signal.
  constexpr std::size_t kPieceBytes = std::size_t{1} << 18;  // stays in the second-level cache
  std::vector<std::uint8_t> piece(std::min<std::size_t>(kPieceBytes, header_.state_bytes));
  RunningDigest digest;
  for (std::uint64_t at = 0; at < header_.state_bytes;) {
    const auto n = std::min<std::uint64_t>(piece.size(), header_.state_bytes - at);
    const std::size_t n_read = read_up_to(file_, piece.data(), n, header_.state_offset + at, path_);
    if (n_read < n) {
      throw SnapshotError(ErrorCode::kCorrupt, path_, "state size",
                          fmt::format("{} bytes by the header, the file ends after {} of them",
                                      header_.state_bytes, at + n_read));
    }
    digest.add(bytes_of(std::span<const std::uint8_t>(piece).first(n_read)));
    at += n_read;
  }
  check_same(path_, "state checksum", header_.state_digest, digest.digest());
}

std::span<const std::int32_t> SnapshotFile::tokens() const {
  const auto* ids = bytes_.bytes().data() + header_.header_bytes;  // a multiple of 8
  return {reinterpret_cast<const std::int32_t*>(ids), static_cast<std::size_t>(header_.n_tokens)};
}

std::span<const std::uint8_t> SnapshotFile::state() const {
  return bytes_.bytes().subspan(header_.state_offset, header_.state_bytes);
}

void SnapshotFile::touch() const noexcept { file_.calls().set_used_now(file_.fd()); }

}  // namespace swarmkv::internal
