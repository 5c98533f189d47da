// The race of two attention kernels, and what is remembered of it.
#include "engine/llama/attention_speed.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "attention/grouped.h"
#include "support/temporary_folder.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

AttentionShape heads() {
  AttentionShape out;
  out.head_size = 64;
  out.n_heads = 3;
  out.n_kv_heads = 1;
  return out;
}

std::vector<fs::path> files_in(const std::string& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder)) out.push_back(entry.path());
  return out;
}

void expect_same(const AttentionSpeed& is, const AttentionSpeed& should) {
  EXPECT_EQ(is.grouped_ms, should.grouped_ms);
  EXPECT_EQ(is.stock_ms, should.stock_ms);
}

TEST(AttentionSpeed, IsRacedForEveryTarget) {
  for (const std::string& target : grouped_attention_targets()) {
    const AttentionSpeed speed = race_attention(heads(), target, 2);
    EXPECT_GT(speed.grouped_ms, 0) << target;
    EXPECT_GT(speed.stock_ms, 0) << target;
    EXPECT_LT(speed.grouped_ms, 1e6) << "no run counted with " << target;
    EXPECT_LT(speed.stock_ms, 1e6) << "no run counted with " << target;
  }
}

TEST(AttentionSpeed, IsRacedOnceForAMachine) {
  const TemporaryFolder folder;
  (void)known_attention_speed(heads(), "", 2, folder.path());
  ASSERT_EQ(files_in(folder.path()).size(), 1u);
  const fs::path memo = files_in(folder.path()).front();
  std::ofstream(memo) << "swarmkv attention speed 1\n12.5 7.25\n";
  expect_same(known_attention_speed(heads(), "", 2, folder.path()), {12.5, 7.25});

  for (const char* damaged : {"", "12.5", "swarmkv attention speed 2\n12.5 7.25\n",
                              "swarmkv attention speed 1\n12.5 -7.25\n"}) {
    std::ofstream(memo) << damaged;
    const AttentionSpeed speed = known_attention_speed(heads(), "", 2, folder.path());
    EXPECT_NE(speed.grouped_ms, 12.5) << damaged;
    EXPECT_GT(speed.stock_ms, 0) << damaged;
  }
}

TEST(AttentionSpeed, IsAnotherWithOtherHeadsThreadsOrInstructions) {
  const TemporaryFolder folder;
  AttentionShape more = heads();
  more.n_heads = 6;
  (void)known_attention_speed(heads(), "", 2, folder.path());
  (void)known_attention_speed(more, "", 2, folder.path());
  (void)known_attention_speed(heads(), "", 1, folder.path());
  (void)known_attention_speed(heads(), grouped_attention_targets().back(), 2, folder.path());
  EXPECT_EQ(files_in(folder.path()).size(), 4u);
  (void)known_attention_speed(heads(), grouped_attention_targets().front(), 2, folder.path());
  EXPECT_EQ(files_in(folder.path()).size(), 4u) << "the first one is what \"\" means";
}

TEST(AttentionSpeed, IsTwoTimes) {
  EXPECT_TRUE(parse_attention_speed("1 2"));
  for (const char* text : {"", "1", "1 ", "1 2 3", "0 1", "1 0", "-1 1", "nan 1", "1 inf", "a b"}) {
    EXPECT_FALSE(parse_attention_speed(text)) << text;
  }
}

}  // namespace
}  // namespace swarmkv::internal
