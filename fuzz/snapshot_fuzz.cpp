// Any bytes as a snapshot file: refused by a field's name or read within its bounds, and no number
// in it makes anybody reserve memory. The bytes are tried as they are, and with their checksums put
// right, since chance alone finds no way past those.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "snapshot/digest_bytes.h"
#include "snapshot/layout.h"
#include "snapshot/snapshot_error.h"
#include "snapshot/snapshot_file.h"

namespace {

using namespace swarmkv::internal;

void require(bool good) {
  if (!good) std::abort();
}

// A file for the reader, written anew for each input.
class InputFile {
 public:
  InputFile() {
    const char* folder = std::getenv("TMPDIR");
    std::string name = std::string(folder != nullptr ? folder : "/tmp") + "/swarmkv-fuzz-XXXXXX";
    fd_ = ::mkstemp(name.data());
    require(fd_ >= 0);
    ::unlink(name.c_str());
  }
  ~InputFile() { ::close(fd_); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  FileHandle with(std::span<const std::uint8_t> bytes) const {
    require(::ftruncate(fd_, 0) == 0);
    require(::pwrite(fd_, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
    return {::dup(fd_), system_calls()};
  }

 private:
  int fd_ = -1;
};

void put(std::span<std::uint8_t> bytes, std::size_t at, const std::string& hex) {
  const auto digest = digest_bytes(hex);
  std::copy(digest.begin(), digest.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

// What a careful forger would do: each checksum is right for what it stands for.
void put_checksums_right(std::vector<std::uint8_t>& bytes) {
  const std::uint64_t n_header = claimed_header_bytes(bytes);
  if (n_header < kSnapshotFixedBytes || n_header > bytes.size()) return;
  SnapshotHeader lengths;
  const std::span<std::uint8_t> all(bytes);
  const auto renew_header = [&] {
    put(all, kAtHeaderDigest, std::string(32, '0'));
    put(all, kAtHeaderDigest, digest_of(all.first(n_header)));
  };
  renew_header();
  try {
    lengths = decode_snapshot_header(bytes, bytes.size(), "input");
  } catch (const SnapshotError&) {
    return;
  }
  put(all, kAtTokenDigest, digest_of(all.subspan(n_header, 4 * lengths.n_tokens)));
  put(all, kAtStateDigest, digest_of(all.subspan(lengths.state_offset)));
  renew_header();
}

void try_to_read(const InputFile& input, std::span<const std::uint8_t> bytes) {
  try {
    const SnapshotFile file(input.with(bytes), "input");
    file.verify();
    // What was accepted is made of these bytes, and writing it again gives the same ones.
    const SnapshotHeader& header = file.header();
    require(header.file_bytes == bytes.size());
    require(file.tokens().size() == header.n_tokens && header.n_tokens > 0);
    require(file.state().size() == header.state_bytes && header.state_bytes > 0);
    const auto head =
        encode_snapshot_head(header.about, file.tokens(), header.state_bytes, header.state_digest);
    require(head.size() == header.state_offset);
    require(std::equal(head.begin(), head.end(), bytes.begin()));
  } catch (const SnapshotError& error) {
    require(!error.field().empty() && !error.reason().empty());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const InputFile input;  // one file for all inputs
  std::vector<std::uint8_t> bytes(data, data + size);
  try_to_read(input, bytes);
  put_checksums_right(bytes);
  try_to_read(input, bytes);
  return 0;
}
