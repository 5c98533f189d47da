#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "base/digest.h"
#include "snapshot/digest_bytes.h"
#include "snapshot/layout.h"
#include "snapshot/little_endian.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Token ids and the engine's state are written as they lie in memory.
static_assert(std::endian::native == std::endian::little,
              "snapshot files are little-endian; this machine would need a conversion");

void check(const SnapshotAbout& about) {
  SnapshotAbout copy = about;  // the table of texts hands out places to write to
  for (const SnapshotText& text : kSnapshotTexts) {
    const std::size_t n = text.in(copy).size();
    if (n > kSnapshotMostTextBytes) {
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("[snapshot.save] {}: {} bytes, at most {} fit into a header",
                              text.field, n, kSnapshotMostTextBytes));
    }
  }
}

std::uint64_t header_bytes(SnapshotAbout about) {
  std::uint64_t n = kSnapshotFixedBytes;
  for (const SnapshotText& text : kSnapshotTexts)
    n += sizeof(std::uint32_t) + text.in(about).size();
  return rounded_up(n, kHeaderAlignment);
}

void put(std::vector<std::uint8_t>& bytes, std::size_t at, std::span<const std::uint8_t> what) {
  std::copy(what.begin(), what.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
}

}  // namespace

std::uint64_t snapshot_file_bytes(const SnapshotAbout& about, std::uint64_t n_tokens,
                                  std::uint64_t state_bytes) {
  check(about);
  return state_offset_of(header_bytes(about), n_tokens) + state_bytes;
}

std::vector<std::uint8_t> encode_snapshot_head(const SnapshotAbout& about,
                                               std::span<const std::int32_t> tokens,
                                               std::uint64_t state_bytes,
                                               const std::string& state_digest) {
  check(about);
  if (tokens.empty() || tokens.size() > kSnapshotMostTokens || state_bytes == 0) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[snapshot.save] {} tokens with {} bytes of state make no snapshot",
                            tokens.size(), state_bytes));
  }
  const std::uint64_t n_header = header_bytes(about);
  const std::uint64_t state_offset = state_offset_of(n_header, tokens.size());
  const std::string_view ids = bytes_of(tokens);

  std::vector<std::uint8_t> out(kSnapshotMagic.begin(), kSnapshotMagic.end());
  out.reserve(state_offset);
  append_number(out, kSnapshotByteOrder);
  append_number(out, kSnapshotVersion);
  append_number(out, n_header);
  append_number(out, std::uint64_t{tokens.size()});
  append_number(out, state_offset);
  append_number(out, state_bytes);
  append_number(out, state_offset + state_bytes);
  append_number(out, static_cast<std::uint64_t>(about.created_at_s));
  append_number(out, about.arithmetic.deterministic ? kFlagDeterministic : std::uint32_t{0});
  append_number(out, static_cast<std::uint32_t>(kSnapshotTexts.size()));
  out.resize(kSnapshotFixedBytes);
  put(out, kAtTokenDigest, digest_bytes(digest128(ids)));
  put(out, kAtStateDigest, digest_bytes(state_digest));

  SnapshotAbout texts = about;
  for (const SnapshotText& text : kSnapshotTexts) {
    const std::string& value = text.in(texts);
    append_number(out, static_cast<std::uint32_t>(value.size()));
    out.insert(out.end(), value.begin(), value.end());
  }
  out.resize(n_header);
  put(out, kAtHeaderDigest, digest_bytes(digest_of(out)));  // its own place is still zero
  out.insert(out.end(), ids.begin(), ids.end());
  out.resize(state_offset);
  return out;
}

}  // namespace swarmkv::internal
