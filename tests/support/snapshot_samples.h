// Small snapshots, and the files they are in.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "snapshot/digest_bytes.h"
#include "snapshot/layout.h"
#include "snapshot/snapshot_folder.h"
#include "support/temporary_folder.h"

namespace swarmkv::internal {

inline SnapshotIdentity some_identity() {
  return {.model_fingerprint = "0123456789abcdef0123456789abcdef-98",
          .arch = "llama",
          .cache_type_k = "f16",
          .cache_type_v = "f16",
          .value_layout = "plain",
          .rope = "base=100000 scale=1",
          .kv_rotation = "none",
          .lora = "none",
          .engine = "llama.cpp 0c1e570",
          .state_format = "2"};
}

inline SnapshotAbout some_about() {
  return {.identity = some_identity(),
          .arithmetic = {.deterministic = true, .recipe = "grid=512 points=512"},
          .document = "contract",
          .model_name = "small",
          .created_at_s = 1'764'500'000};
}

/// Different for each seed, and each seed's lists begin alike.
inline std::vector<std::int32_t> some_tokens(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> out(n);
  for (auto& token : out) token = static_cast<std::int32_t>(random() % 49'152);
  return out;
}

inline std::vector<std::uint8_t> some_state(std::size_t n, std::uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::vector<std::uint8_t> out(n);
  for (auto& byte : out) byte = static_cast<std::uint8_t>(random());
  return out;
}

/// A whole file in memory.
inline std::vector<std::uint8_t> some_file(std::size_t n_tokens = 5, std::size_t state_bytes = 100,
                                           const SnapshotAbout& about = some_about()) {
  const auto state = some_state(state_bytes);
  auto bytes = encode_snapshot_head(about, some_tokens(n_tokens), state.size(), digest_of(state));
  bytes.insert(bytes.end(), state.begin(), state.end());
  return bytes;
}

/// A number of a header, without its checksum.
template <typename T>
void set_number(std::vector<std::uint8_t>& bytes, std::size_t at, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    bytes[at + i] = static_cast<std::uint8_t>(value >> (8 * i));
  }
}

/// As if a writer had meant it: the checksum is right, for the header as long as it really is.
inline void renew_checksum(std::vector<std::uint8_t>& bytes, std::size_t header_bytes) {
  const auto header = std::span(bytes).first(header_bytes);
  const auto own = header.subspan(kAtHeaderDigest, kDigestBytes);
  std::fill(own.begin(), own.end(), std::uint8_t{0});
  const auto digest = digest_bytes(digest_of(header));
  std::copy(digest.begin(), digest.end(), own.begin());
}

inline void write_file(const std::string& path, const std::vector<std::uint8_t>& bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(bytes.data()),
            static_cast<std::streamsize>(bytes.size()));
}

inline std::vector<std::uint8_t> read_file_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return {text.begin(), text.end()};
}

inline std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    out.push_back(entry.path().filename().string());
  }
  return out;
}

inline SnapshotQuery query_for(std::span<const std::int32_t> tokens) {
  return {.identity = some_identity(), .arithmetic = some_about().arithmetic, .tokens = tokens};
}

}  // namespace swarmkv::internal
