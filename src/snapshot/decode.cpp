#include <fmt/format.h>

#include <algorithm>

#include "snapshot/digest_bytes.h"
#include "snapshot/layout.h"
#include "snapshot/little_endian.h"
#include "snapshot/snapshot_error.h"

namespace swarmkv::internal {
namespace {

class HeaderReader {
 public:
  HeaderReader(std::span<const std::uint8_t> first, std::uint64_t file_bytes,
               const std::string& path)
      : bytes_(first), file_bytes_(file_bytes), path_(path) {}

  SnapshotHeader read() {
    check_kind();
    check_lengths();
    bytes_ = bytes_.first(header_.header_bytes);
    check_digest();
    check_flags();
    read_texts();
    return header_;
  }

 private:
  [[noreturn]] void fail(const char* field, const std::string& reason,
                         ErrorCode code = ErrorCode::kCorrupt) const {
    throw SnapshotError(code, path_, field, reason);
  }

  // Who made it: before a number of it is believed.
  void check_kind() {
    const std::size_t n_magic = std::min(bytes_.size(), kSnapshotMagic.size());
    if (file_bytes_ == 0) fail("magic", "the file is empty (0 bytes)");
    if (!std::equal(kSnapshotMagic.begin(), kSnapshotMagic.begin() + n_magic, bytes_.begin())) {
      std::string found;
      for (const std::uint8_t byte : bytes_.first(n_magic)) found += fmt::format("{:02x} ", byte);
      fail("magic",
           fmt::format("not a snapshot: it begins with {}instead of 53 57 41 52 4d 4b 56 1a",
                       found));
    }
    if (bytes_.size() < kSnapshotFixedBytes || file_bytes_ < kSnapshotFixedBytes) {
      fail("header size", fmt::format("the file ends after {} bytes, a header has at least {}",
                                      file_bytes_, kSnapshotFixedBytes));
    }
    const auto order = number_at<std::uint32_t>(bytes_, kAtByteOrder);
    if (order == 0x0d0c0b0a) {
      fail("byte order",
           "0d0c0b0a, saved on a machine with the other byte order than 0a0b0c0d here",
           ErrorCode::kUnsupported);
    }
    if (order != kSnapshotByteOrder) {
      fail("byte order", fmt::format("{:08x} instead of {:08x}", order, kSnapshotByteOrder));
    }
    header_.format_version = number_at<std::uint32_t>(bytes_, kAtVersion);
    if (header_.format_version != kSnapshotVersion) {
      fail("format version",
           fmt::format("{}, this program reads {}", header_.format_version, kSnapshotVersion),
           ErrorCode::kUnsupported);
    }
  }

  // Every number is held against the size the file really has, so that sums cannot overflow and
  // nothing that follows needs to be careful.
  void check_lengths() {
    header_.header_bytes = number_at<std::uint64_t>(bytes_, kAtHeaderBytes);
    header_.n_tokens = number_at<std::uint64_t>(bytes_, kAtTokens);
    header_.state_offset = number_at<std::uint64_t>(bytes_, kAtStateOffset);
    header_.state_bytes = number_at<std::uint64_t>(bytes_, kAtStateBytes);
    header_.file_bytes = number_at<std::uint64_t>(bytes_, kAtFileBytes);

    if (header_.file_bytes != file_bytes_) {
      fail("file size", fmt::format("{} bytes by its header, {} on disk: truncated or changed",
                                    header_.file_bytes, file_bytes_));
    }
    if (header_.header_bytes < kSnapshotFixedBytes ||
        header_.header_bytes > std::min<std::uint64_t>(bytes_.size(), kSnapshotMostHeaderBytes) ||
        header_.header_bytes % kHeaderAlignment != 0) {
      fail("header size",
           fmt::format("{} bytes; it is a multiple of {} from {} to {}", header_.header_bytes,
                       kHeaderAlignment, kSnapshotFixedBytes,
                       std::min<std::uint64_t>(bytes_.size(), kSnapshotMostHeaderBytes)));
    }
    const std::uint64_t most_tokens =
        std::min(kSnapshotMostTokens, (file_bytes_ - header_.header_bytes) / sizeof(std::int32_t));
    if (header_.n_tokens == 0 || header_.n_tokens > most_tokens) {
      fail("tokens", fmt::format("{} of them; from 1 to {} fit into {} bytes", header_.n_tokens,
                                 most_tokens, file_bytes_));
    }
    const std::uint64_t state_offset = state_offset_of(header_.header_bytes, header_.n_tokens);
    if (header_.state_offset != state_offset) {
      fail("state offset", fmt::format("{}, after {} tokens it is {}", header_.state_offset,
                                       header_.n_tokens, state_offset));
    }
    const std::uint64_t state_bytes = file_bytes_ > state_offset ? file_bytes_ - state_offset : 0;
    if (header_.state_bytes == 0 || header_.state_bytes != state_bytes) {
      fail("state size",
           fmt::format("{} bytes by its header, {} are there", header_.state_bytes, state_bytes));
    }
  }

  void check_digest() {
    std::vector<std::uint8_t> copy(bytes_.begin(), bytes_.end());
    const std::span<std::uint8_t> own(copy.data() + kAtHeaderDigest, kDigestBytes);
    const std::string written = digest_text(own);
    std::fill(own.begin(), own.end(), std::uint8_t{0});
    const std::string computed = digest_of(copy);
    if (written != computed) {
      fail("header checksum",
           fmt::format("{} in the file, its bytes give {}: damaged", written, computed));
    }
    header_.token_digest = digest_text(bytes_.subspan(kAtTokenDigest, kDigestBytes));
    header_.state_digest = digest_text(bytes_.subspan(kAtStateDigest, kDigestBytes));
  }

  // From here on the bytes are what a writer wrote, but who knows which.
  void check_flags() {
    const auto flags = number_at<std::uint32_t>(bytes_, kAtFlags);
    if ((flags & ~kFlagDeterministic) != 0) {
      fail("flags", fmt::format("{:#x}, version {} knows {:#x}", flags, kSnapshotVersion,
                                kFlagDeterministic));
    }
    header_.about.arithmetic.deterministic = (flags & kFlagDeterministic) != 0;
    header_.about.created_at_s =
        static_cast<std::int64_t>(number_at<std::uint64_t>(bytes_, kAtCreated));
    const auto n_texts = number_at<std::uint32_t>(bytes_, kAtTexts);
    if (n_texts != kSnapshotTexts.size()) {
      fail("texts", fmt::format("{} of them, version {} has {}", n_texts, kSnapshotVersion,
                                kSnapshotTexts.size()));
    }
  }

  void read_texts() {
    std::size_t at = kSnapshotFixedBytes;
    for (const SnapshotText& text : kSnapshotTexts) {
      const std::size_t left = bytes_.size() - at;
      if (left < sizeof(std::uint32_t)) {
        fail(text.field, fmt::format("needs 4 bytes for its length, the header has {}", left));
      }
      const auto n = number_at<std::uint32_t>(bytes_, at);
      at += sizeof(std::uint32_t);
      const std::size_t most = std::min(kSnapshotMostTextBytes, bytes_.size() - at);
      if (n > most) fail(text.field, fmt::format("{} bytes long, at most {} can be", n, most));
      text.in(header_.about)
          .assign(reinterpret_cast<const char*>(bytes_.data()) + at, std::size_t{n});
      at += n;
    }
    const auto rest = bytes_.subspan(at);
    if (rounded_up(at, kHeaderAlignment) != bytes_.size() ||
        std::any_of(rest.begin(), rest.end(), [](std::uint8_t byte) { return byte != 0; })) {
      fail("header size", fmt::format("{} bytes, its texts end at {}", bytes_.size(), at));
    }
  }

  std::span<const std::uint8_t> bytes_;
  std::uint64_t file_bytes_;
  const std::string& path_;
  SnapshotHeader header_;
};

}  // namespace

std::uint64_t claimed_header_bytes(std::span<const std::uint8_t> first) {
  const bool is_there = first.size() >= kAtHeaderBytes + sizeof(std::uint64_t);
  return is_there ? number_at<std::uint64_t>(first, kAtHeaderBytes) : 0;
}

SnapshotHeader decode_snapshot_header(std::span<const std::uint8_t> first, std::uint64_t file_bytes,
                                      const std::string& path) {
  return HeaderReader(first, file_bytes, path).read();
}

}  // namespace swarmkv::internal
