// How much of it there may be.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/process_info.h"
#include "snapshot/snapshot_folder.h"
#include "support/sanitizers.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

struct SnapshotLimitTest : testing::Test {
  TemporaryFolder parent;
  SnapshotFolder folder{parent / "store"};
  std::size_t state_bytes = 50'000;

  SavedSnapshot save(std::uint32_t document, std::uint64_t limit_bytes = UINT64_MAX) const {
    return folder.save(some_about(), some_tokens(20, document), some_state(state_bytes, document),
                       {.limit_bytes = limit_bytes});
  }
  [[nodiscard]] FoundSnapshot find(std::uint32_t document) const {
    const auto tokens = some_tokens(20, document);
    return folder.find_longest(query_for(tokens));
  }
  [[nodiscard]] bool has(std::uint32_t document) const { return find(document).file.has_value(); }
  [[nodiscard]] std::uint64_t size_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& entry : fs::directory_iterator(folder.path())) sum += entry.file_size();
    return sum;
  }
  [[nodiscard]] std::uint64_t listed_bytes() const {
    std::uint64_t sum = 0;
    for (const ListedSnapshot& file : folder.list()) sum += file.size_bytes;
    return sum;
  }
};

TEST_F(SnapshotLimitTest, ThirtyDocumentsWithALimitOfThree) {
  state_bytes = 1 << 20;  // all thirty are well above what is allowed below
  const std::uint64_t one = save(0).size_bytes, limit = 3 * one;
  ASSERT_TRUE(reset_peak_rss()) << "else memory that others used before would hide ours";
  const std::uint64_t before = peak_rss_bytes();
  std::size_t n_evicted = 0;

  for (std::uint32_t document = 1; document < 30; ++document) {
    n_evicted += save(document, limit).evicted.size();
    EXPECT_LE(size_bytes(), limit) << "after document " << document;
    EXPECT_EQ(listed_bytes(), size_bytes()) << "what is reported is what is there";
  }

  EXPECT_EQ(folder.list().size(), 3u);
  EXPECT_EQ(n_evicted, 27u);
  EXPECT_FALSE(has(26));
  for (const std::uint32_t document : {27u, 28u, 29u}) EXPECT_TRUE(has(document)) << document;
  if (!kKeepsFreedMemory) {
    EXPECT_LT(peak_rss_bytes(), before + (std::uint64_t{8} << 20));
  }
}

TEST_F(SnapshotLimitTest, TheLeastRecentlyUsedGoesFirst) {
  const std::uint64_t one = save(0).size_bytes;
  save(1);
  save(2);
  EXPECT_TRUE(has(0)) << "and is used by that";

  save(3, 3 * one);

  EXPECT_FALSE(has(1));
  EXPECT_TRUE(has(0));
  EXPECT_TRUE(has(2));
  const auto files = folder.list();
  EXPECT_EQ(files.at(0).name, find(2).file->path().substr(folder.path().size() + 1))
      << "the last used is listed first";
}

TEST_F(SnapshotLimitTest, ADamagedFileGoesBeforeAllOthers) {
  const std::uint64_t one = save(0).size_bytes;
  ASSERT_TRUE(folder.set_aside(save(1).name));

  const SavedSnapshot saved = save(2, 2 * one);

  EXPECT_EQ(saved.evicted.size(), 1u);
  EXPECT_TRUE(has(0));
  EXPECT_TRUE(has(2));
}

TEST_F(SnapshotLimitTest, AFileInUseStays) {
  const std::uint64_t one = save(0).size_bytes;
  const FoundSnapshot in_use = find(0);
  ASSERT_TRUE(in_use.file);
  save(1);

  EXPECT_EQ(save(2, 2 * one).evicted.size(), 1u) << "document 1, though it was used later";
  EXPECT_TRUE(has(0));
  EXPECT_FALSE(has(1));
  EXPECT_TRUE(folder.look_at(save(0).name).in_use);
  EXPECT_THROW(folder.remove(save(0).name), Error);
  EXPECT_EQ(folder.prune(0).size(), 1u) << "document 2";
  EXPECT_NO_THROW(in_use.file->verify());

  try {
    save(3, one);
    ADD_FAILURE() << "over the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDoesNotFit);
    EXPECT_NE(std::string(error.what()).find("in use"), std::string::npos) << error.what();
  }
  EXPECT_EQ(size_bytes(), one);
}

TEST_F(SnapshotLimitTest, WhatIsNotInUseAnyMoreGoes) {
  const SavedSnapshot saved = save(0);
  { const FoundSnapshot used = find(0); }
  EXPECT_FALSE(folder.look_at(saved.name).in_use);
  EXPECT_EQ(folder.prune(0).size(), 1u);
}

TEST_F(SnapshotLimitTest, AFileOverTheLimitIsRefusedAndEvictsNobody) {
  const std::uint64_t one = save(0).size_bytes;
  try {
    folder.save(some_about(), some_tokens(20, 9), some_state(3 * state_bytes),
                {.limit_bytes = 2 * one});
    ADD_FAILURE() << "over the limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kDoesNotFit);
    const std::string text = error.what();
    EXPECT_NE(text.find("too large"), std::string::npos) << text;
    EXPECT_NE(text.find(std::to_string(2 * one)), std::string::npos) << text;
  }
  EXPECT_TRUE(has(0));
  EXPECT_EQ(size_bytes(), one);
}

TEST_F(SnapshotLimitTest, ALowerLimitAppliesToWhatIsThere) {
  const std::uint64_t one = save(0).size_bytes;
  for (std::uint32_t document = 1; document < 5; ++document) save(document);

  EXPECT_EQ(folder.prune(2 * one).size(), 3u);
  EXPECT_EQ(size_bytes(), 2 * one);
  EXPECT_EQ(save(4, one).evicted.size(), 1u) << "also where nothing is written";
  EXPECT_EQ(size_bytes(), one);
}

TEST_F(SnapshotLimitTest, PruneRemovesDamagedAndLeftOverFiles) {
  save(0);
  ASSERT_TRUE(folder.set_aside(save(1).name));
  write_file(folder.path() + "/.tmp-1-0123456789abcdef", {1, 2, 3});
  write_file(folder.path() + "/short.swkv", {'S', 'W'});

  const auto gone = folder.prune(UINT64_MAX);

  EXPECT_EQ(gone.size(), 3u);
  for (const ListedSnapshot& file : gone) EXPECT_FALSE(file.problem.empty()) << file.name;
  EXPECT_EQ(names_in(folder.path()).size(), 1u);
  EXPECT_TRUE(has(0));
}

}  // namespace
}  // namespace swarmkv::internal
