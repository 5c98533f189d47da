// The nth system call fails, for every n: afterwards the folder holds whole files only.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>

#include "snapshot/snapshot_folder.h"
#include "support/faulty_calls.h"
#include "support/file_size_limit.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

struct SnapshotFaultsTest : ::testing::Test {
  TemporaryFolder parent;
  std::string path = parent / "store";
  std::vector<std::int32_t> tokens = some_tokens(150);

  [[nodiscard]] std::span<const std::int32_t> first(std::size_t n) const {
    return std::span(tokens).first(n);
  }
  // Two files, of which the shorter one makes room.
  void fill() const {
    std::filesystem::remove_all(path);
    const SnapshotFolder folder(path);
    folder.save(some_about(), first(50), some_state(3000));
    folder.save(some_about(), first(100), some_state(3000));
  }
  void expect_whole() const {
    const SnapshotFolder folder(path);  // removes what is left over
    for (const ListedSnapshot& file : folder.list()) {
      EXPECT_EQ(file.problem, "");
      EXPECT_NO_THROW(folder.open(file.name).verify());
      EXPECT_FALSE(file.in_use);
    }
    for (const std::string& name : names_in(path)) {
      EXPECT_EQ(kind_of_name(name), NameKind::kSnapshot) << name;
    }
  }
};

TEST_F(SnapshotFaultsTest, EveryFailingCallOfASave) {
  int n_errors = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    fill();
    const std::uint64_t limit = 2 * std::filesystem::file_size(SnapshotFolder(path).list()[0].path);
    const FaultyCalls calls(nth, FaultyCalls::Fault::kError, ENOSPC);
    bool saved = false;
    try {
      SnapshotFolder(path, calls)
          .save(some_about(), tokens, some_state(3000, 2), {.limit_bytes = limit + 1000});
      saved = true;
    } catch (const Error& error) {
      EXPECT_TRUE(error.code() == ErrorCode::kUnwritable || error.code() == ErrorCode::kDoesNotFit)
          << error.what();
      ++n_errors;
    }
    expect_whole();
    const FoundSnapshot found = SnapshotFolder(path).find_longest(query_for(tokens));
    ASSERT_TRUE(found.file) << "older files stay, whatever happens";
    EXPECT_GE(found.file->header().n_tokens, saved ? 150u : 100u);
    if (calls.n_calls() < nth) break;
  }
  EXPECT_GE(n_errors, 8);
}

TEST_F(SnapshotFaultsTest, EveryFailingCallOfASearch) {
  fill();
  const auto names = names_in(path).size();
  int n_worse = 0;
  for (int nth = 1;; ++nth) {
    SCOPED_TRACE(nth);
    const FaultyCalls calls(nth, FaultyCalls::Fault::kError);
    try {
      const FoundSnapshot found = SnapshotFolder(path, calls).find_longest(query_for(tokens));
      if (!found.file || found.file->header().n_tokens < 100) {
        ++n_worse;
        for (const RejectedSnapshot& r : found.rejected) EXPECT_FALSE(r.set_aside) << r.reason;
      } else {
        const auto state = found.file->state();
        EXPECT_TRUE(std::equal(state.begin(), state.end(), some_state(3000).begin()));
      }
    } catch (const Error& error) {
      ++n_worse;
      EXPECT_TRUE(error.code() == ErrorCode::kUnreadable || error.code() == ErrorCode::kUnwritable)
          << error.what();
    }
    EXPECT_EQ(names_in(path).size(), names);
    if (calls.n_calls() < nth) break;
  }
  EXPECT_GE(n_worse, 6);
  expect_whole();
}

TEST_F(SnapshotFaultsTest, AFileLargerThanTheProcessMayWriteIsAnErrorAndNoSignal) {
  fill();
  {
    const swarmkv::testing::FileSizeLimit limit(10'000);
    try {
      SnapshotFolder(path).save(some_about(), tokens, some_state(100'000));
      ADD_FAILURE() << "saved";
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnwritable);
      EXPECT_NE(std::string(error.what()).find("File too large"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(names_in(path).size(), 2u) << "nothing is left behind";
  }
  sigset_t pending;
  ASSERT_EQ(::sigpending(&pending), 0);
  EXPECT_EQ(::sigismember(&pending, SIGXFSZ), 0) << "nor a signal for later";
  expect_whole();
}

TEST_F(SnapshotFaultsTest, AFullDiskIsAnErrorThatNamesTheFolder) {
  fill();
  // Its write reports fewer bytes first, as a disk does that is nearly full.
  struct FullDisk final : SystemCalls {
    ssize_t write(int fd, const void* from, std::size_t n) const override {
      if (n <= 1000) return SystemCalls::write(fd, from, n);
      if (n_left == 0) {
        errno = ENOSPC;
        return -1;
      }
      return SystemCalls::write(fd, from, std::exchange(n_left, 0));
    }
    mutable std::size_t n_left = 700;
  };
  const FullDisk calls;
  try {
    SnapshotFolder(path, calls).save(some_about(), tokens, some_state(100'000));
    ADD_FAILURE() << "saved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnwritable);
    const std::string text = error.what();
    EXPECT_NE(text.find(path), std::string::npos) << text;
    EXPECT_NE(text.find("No space left"), std::string::npos) << text;
  }
  EXPECT_EQ(names_in(path).size(), 2u);
}

TEST_F(SnapshotFaultsTest, AWriterThatIsToldToStopLeavesNothing) {
  fill();
  const std::atomic<bool> cancelled = true;
  try {
    SnapshotFolder(path).save(some_about(), tokens, some_state(3000), {.cancelled = &cancelled});
    ADD_FAILURE() << "saved";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kCancelled);
  }
  EXPECT_EQ(names_in(path).size(), 2u);
}

}  // namespace
}  // namespace swarmkv::internal
