// KV cache per cell, from metadata as converters write it.
#include "engine/kv_bytes.h"

#include <gtest/gtest.h>

namespace swarmkv::internal {
namespace {

using Numbers = std::vector<std::int64_t>;

GgufInfo file_of(int n_layers, int n_embd, const std::map<std::string, Numbers>& keys) {
  GgufInfo info;
  info.arch = "some";
  info.n_layers = n_layers;
  info.n_embd = n_embd;
  for (const auto& [key, numbers] : keys) info.integers["some.attention." + key] = numbers;
  return info;
}

std::uint64_t f16_bytes(const GgufInfo& file, ForkKind kind = ForkKind::kFull) {
  return kv_cell_bytes(file, kind, KvType::kF16, KvType::kF16);
}

TEST(KvBytes, OfARowAreThoseOfTheCacheType) {
  EXPECT_EQ(kv_row_bytes(KvType::kF32, 64), 256u);
  EXPECT_EQ(kv_row_bytes(KvType::kF16, 33), 66u);
  EXPECT_EQ(kv_row_bytes(KvType::kBF16, 64), 128u);
  EXPECT_EQ(kv_row_bytes(KvType::kQ8_0, 64), 68u);
  EXPECT_EQ(kv_row_bytes(KvType::kQ5_1, 64), 48u);
  EXPECT_EQ(kv_row_bytes(KvType::kQ5_0, 64), 44u);
  EXPECT_EQ(kv_row_bytes(KvType::kQ4_1, 64), 40u);
  EXPECT_EQ(kv_row_bytes(KvType::kQ4_0, 33), 36u) << "a begun block is a whole one";
  EXPECT_EQ(kv_row_bytes(KvType::kF32, -1), 0u);
}

TEST(KvBytes, TypesAreCalledAsTheRuntimeCallsThem) {
  EXPECT_STREQ(to_string(KvType::kF32), "f32");
  EXPECT_STREQ(to_string(KvType::kF16), "f16");
  EXPECT_STREQ(to_string(KvType::kBF16), "bf16");
  EXPECT_STREQ(to_string(KvType::kQ8_0), "q8_0");
  EXPECT_STREQ(to_string(KvType::kQ5_1), "q5_1");
  EXPECT_STREQ(to_string(KvType::kQ5_0), "q5_0");
  EXPECT_STREQ(to_string(KvType::kQ4_1), "q4_1");
  EXPECT_STREQ(to_string(KvType::kQ4_0), "q4_0");
}

TEST(KvBytes, ComeFromHeadCountsAndWidth) {
  const GgufInfo grouped = file_of(30, 576, {{"head_count", {9}}, {"head_count_kv", {3}}});
  const GgufInfo plain = file_of(30, 576, {{"head_count", {9}}});
  EXPECT_EQ(f16_bytes(grouped), 30u * 2 * (3 * 64) * 2);
  EXPECT_EQ(f16_bytes(plain), 30u * 2 * (9 * 64) * 2);
  EXPECT_EQ(f16_bytes(file_of(30, 576, {})), 0u) << "unknown, not free";
}

TEST(KvBytes, CountOnlyTheLayersThatHaveHeads) {
  const GgufInfo hybrid = file_of(4, 64, {{"head_count", {4}}, {"head_count_kv", {0, 2, 0, 2}}});
  const GgufInfo no_list = file_of(4, 64, {{"head_count", {4}}, {"head_count_kv", {2}}});
  EXPECT_EQ(f16_bytes(hybrid, ForkKind::kRecurrent), 2u * 2 * (2 * 16) * 2);
  EXPECT_EQ(f16_bytes(no_list, ForkKind::kRecurrent), 0u);
}

// Six layers: five see a window with small heads, one sees everything with large ones.
std::map<std::string, Numbers> two_head_sizes() {
  return {{"head_count", {8}},       {"head_count_kv", {4, 4, 4, 4, 4, 1}},
          {"key_length", {512}},     {"value_length", {512}},
          {"key_length_swa", {256}}, {"value_length_swa", {128}},
          {"sliding_window", {1024}}};
}

TEST(KvBytes, OfWindowLayersWithTheirOwnHeadSizesAreSummedLayerByLayer) {
  auto keys = two_head_sizes();
  keys["sliding_window_pattern"] = {1, 1, 1, 1, 1, 0};
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow),
            2u * (5 * 4 * (256 + 128) + 1 * 1 * (512 + 512)));
}

TEST(KvBytes, LeaveOutTheLastLayersIfTheyReadTheCellsOfOthers) {
  auto keys = two_head_sizes();
  keys["sliding_window_pattern"] = {1, 1, 1, 1, 1, 0};
  keys["shared_kv_layers"] = {2};
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow), 2u * 4 * 4 * (256 + 128));
  keys["shared_kv_layers"] = {99};
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow), 0u);
}

TEST(KvBytes, AreUnknownIfNobodySaysWhichLayersHaveTheWindow) {
  auto keys = two_head_sizes();
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow), 0u);
  keys["sliding_window_pattern"] = {6};
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow), 0u) << "a period has no phase";
  keys["key_length_swa"] = keys["value_length_swa"] = {512};
  EXPECT_EQ(f16_bytes(file_of(6, 2048, keys), ForkKind::kWindow), 2u * (5 * 4 + 1) * 1024)
      << "with one head size it does not matter which layers";
}

TEST(KvBytes, OfLatentAttentionAreOneCompressedRow) {
  const GgufInfo file = file_of(2, 2048,
                                {{"head_count", {16}},
                                 {"head_count_kv", {1}},
                                 {"key_length", {576}},
                                 {"value_length", {512}},
                                 {"key_length_mla", {192}}});
  EXPECT_EQ(f16_bytes(file), 2u * 576 * 2);
}

TEST(KvBytes, OfImpossibleNumbersAreUnknown) {
  const std::int64_t huge = std::int64_t{1} << 40;
  EXPECT_EQ(f16_bytes(file_of(2, 64, {{"head_count", {4}}, {"head_count_kv", {huge}}})), 0u);
  EXPECT_EQ(f16_bytes(file_of(2, 64, {{"head_count", {4}}, {"key_length", {huge}}})), 0u);
  EXPECT_EQ(f16_bytes(file_of(2, 64, {{"head_count", {-4}}})), 0u);
  EXPECT_EQ(f16_bytes(file_of(2'000'000'000, 64, {{"head_count", {4}}})), 0u);
}

}  // namespace
}  // namespace swarmkv::internal
