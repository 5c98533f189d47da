// Many processes on one folder, started together, half of them killed at a random system call.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>

#include "snapshot/snapshot_folder.h"
#include "support/child_process.h"
#include "support/core_harness.h"
#include "support/faulty_calls.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

using swarmkv::testing::in_child;
using swarmkv::testing::StartingGate;

constexpr std::uint32_t kDocuments = 3;
constexpr std::size_t kTokens = 64, kStateBytes = 20'000;

bool is_right(const SnapshotFile& file, std::uint32_t document) {
  const auto tokens = some_tokens(kTokens, document);
  const auto state = some_state(kStateBytes, document);
  return std::equal(tokens.begin(), tokens.end(), file.tokens().begin(), file.tokens().end()) &&
         std::equal(state.begin(), state.end(), file.state().begin(), file.state().end());
}

// What one process does with every document: save it, find it, look around. 0 = all of it right.
int work(const std::string& path, std::uint64_t seed, const SystemCalls& calls) {
  std::mt19937_64 random(seed);
  const SnapshotFolder folder(path, calls);
  for (std::uint32_t i = 0; i < kDocuments; ++i) {
    const auto document = static_cast<std::uint32_t>((i + seed) % kDocuments);
    const auto tokens = some_tokens(kTokens, document);
    // Sometimes another one's file is in the way, and sometimes it is just being removed.
    if (random() % 4 == 0) {
      if (auto found = folder.find_longest(query_for(tokens)); found.file) {
        if (!is_right(*found.file, document) || !found.rejected.empty()) return 1;
      }
    }
    folder.save(some_about(), tokens, some_state(kStateBytes, document));
    const FoundSnapshot found = folder.find_longest(query_for(tokens));
    if (!found.file || !is_right(*found.file, document) || !found.rejected.empty()) return 2;
    for (const ListedSnapshot& file : folder.list()) {
      if (!file.problem.empty() && file.code != ErrorCode::kUnreadable) return 3;
    }
  }
  return 0;
}

pid_t start(const StartingGate& gate, const std::string& path, std::uint64_t seed, int killed_at) {
  return in_child([&] {
    gate.wait_in_child();
    return work(path, seed, FaultyCalls(killed_at, FaultyCalls::Fault::kKill));
  });
}

TEST(SnapshotProcesses, KilledAtAnyMomentLeaveOnlyWholeFiles) {
  constexpr int kRounds = 50, kProcesses = 8;
  std::mt19937_64 random(test_seed());
  int n_killed = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const TemporaryFolder parent;
    const std::string path = parent / "store";
    StartingGate gate;
    std::vector<pid_t> children;
    std::vector<bool> doomed;
    for (int i = 0; i < kProcesses; ++i) {
      // Enough calls that some of the doomed reach the end.
      doomed.push_back(i % 2 == 1);
      const int killed_at = doomed.back() ? 1 + static_cast<int>(random() % 120) : 0;
      children.push_back(start(gate, path, random(), killed_at));
      ASSERT_GT(children.back(), 0);
    }
    gate.open();

    for (int i = 0; i < kProcesses; ++i) {
      int status = 0;
      ASSERT_EQ(::waitpid(children[i], &status, 0), children[i]);
      const bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
      n_killed += killed ? 1 : 0;
      EXPECT_TRUE(killed ? doomed[i] : WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "process " << i << " status " << status;
    }
    const SnapshotFolder folder(path);
    std::vector<std::string> names = names_in(path);
    EXPECT_EQ(names.size(), kDocuments) << "one file a document and nothing left over";
    for (const std::string& name : names) EXPECT_NO_THROW(folder.open(name).verify()) << name;
    for (std::uint32_t document = 0; document < kDocuments; ++document) {
      const auto tokens = some_tokens(kTokens, document);
      const FoundSnapshot found = folder.find_longest(query_for(tokens));
      EXPECT_TRUE(found.file && is_right(*found.file, document));
    }
  }
  EXPECT_GT(n_killed, kRounds) << "of " << kRounds * kProcesses / 2;
}

TEST(SnapshotProcesses, AFileThatAnotherProcessHasOpenStaysUntilItEnds) {
  const TemporaryFolder parent;
  const SnapshotFolder folder(parent / "store");
  const auto tokens = some_tokens(kTokens, 0);
  const SavedSnapshot saved = folder.save(some_about(), tokens, some_state(kStateBytes, 0));
  int ready[2] = {-1, -1};
  ASSERT_EQ(::pipe(ready), 0);
  StartingGate gate;
  const pid_t child = in_child([&] {
    const FoundSnapshot found = SnapshotFolder(folder.path()).find_longest(query_for(tokens));
    (void)!::write(ready[1], "x", 1);
    gate.wait_in_child();
    return found.file && is_right(*found.file, 0) ? 0 : 1;
  });
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);

  EXPECT_TRUE(folder.prune(0).empty());
  EXPECT_TRUE(folder.list().at(0).in_use);
  EXPECT_THROW(folder.remove(saved.name), Error);
  EXPECT_FALSE(folder.save(some_about(), some_tokens(9, 1), some_state(10), {}).was_there);

  gate.open();
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(folder.prune(0).size(), 2u);
  ::close(ready[0]);
  ::close(ready[1]);
}

// A writer that lives is not cleaned away; one that died is.
TEST(SnapshotProcesses, OnlyTheDeadLeaveSomethingToClean) {
  const TemporaryFolder parent;
  const std::string path = parent / "store";
  const auto tokens = some_tokens(kTokens, 0);
  // Stops in its first write, inside of which another process comes and cleans up.
  struct Visited final : SystemCalls {
    explicit Visited(const std::string& where) : path_(where) {}
    ssize_t write(int fd, const void* from, std::size_t n) const override {
      n_while_writing = names_in(path_).size();
      const SnapshotFolder visitor(path_);
      n_after_visit = names_in(path_).size();
      return SystemCalls::write(fd, from, n);
    }
    std::string path_;
    mutable std::size_t n_while_writing = 0, n_after_visit = 0;
  };
  const Visited calls(path);

  SnapshotFolder(path, calls).save(some_about(), tokens, some_state(kStateBytes, 0));

  EXPECT_EQ(calls.n_while_writing, 1u);
  EXPECT_EQ(calls.n_after_visit, 1u) << "the temporary file of a writer at work";
  struct DiesWriting final : SystemCalls {
    ssize_t write(int, const void*, std::size_t) const override {
      std::raise(SIGKILL);
      return -1;
    }
  };
  const pid_t child = in_child([&] {
    SnapshotFolder(path, DiesWriting()).save(some_about(), some_tokens(9, 1), some_state(10));
    return 0;
  });
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(names_in(path).size(), 2u);
  const SnapshotFolder cleaned(path);
  EXPECT_EQ(names_in(path).size(), 1u);
}

}  // namespace
}  // namespace swarmkv::internal
