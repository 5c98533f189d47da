// What a process found out, for the next one. FingerprintMemo's tests say more of it.
#include "engine/memo_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "support/temporary_folder.h"

namespace swarmkv::internal {
namespace {

TEST(MemoFolder, FindsWhatWasRememberedForTheVeryKey) {
  const TemporaryFolder folder;
  const MemoFolder memo(folder / "cache", "kind 1");
  memo.remember("key", "old");
  memo.remember("key", "value");
  EXPECT_EQ(MemoFolder(folder / "cache", "kind 1").find("key"), "value");
  EXPECT_FALSE(memo.find("kez"));
  EXPECT_FALSE(MemoFolder(folder / "cache", "kind 2").find("key"));
}

TEST(MemoFolder, FindsNothingInAFileThatEndsEarly) {
  const TemporaryFolder folder;
  const MemoFolder memo(folder / "cache", "kind 1");
  memo.remember("key", "value");
  const auto file = std::filesystem::directory_iterator(folder / "cache")->path();
  for (const std::uintmax_t size : {0, 3, 6, 7, 8, 12}) {
    std::filesystem::resize_file(file, size);
    EXPECT_FALSE(memo.find("key")) << size << " bytes";
    memo.remember("key", "value");
  }
  EXPECT_EQ(memo.find("key"), "value");
}

TEST(MemoFolder, WithoutAFolderRemembersNothing) {
  const MemoFolder memo("", "kind 1");
  memo.remember("key", "value");
  EXPECT_FALSE(memo.find("key"));
}

TEST(MemoFolder, KeepsSixtyFour) {
  const TemporaryFolder folder;
  const MemoFolder memo(folder / "cache", "kind 1");
  for (int i = 0; i < 100; ++i) memo.remember("key " + std::to_string(i), "value");
  std::size_t n = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder / "cache"))
    ++n;
  EXPECT_EQ(n, 64u);
}

}  // namespace
}  // namespace swarmkv::internal
