// The program itself on a real model: eight processes at once on one folder, half of them killed at
// a random moment. Those that live answer as if they were alone, and what stays is whole.
#include <fcntl.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "model/snapshot_rig.h"
#include "support/child_process.h"
#include "support/core_harness.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::duration_cast;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr int kRounds = 3, kProcesses = 8;

class LongSnapshotProcesses : public SnapshotTest {
 protected:
  // A process that asks two questions; answers in NAME.out, all else in NAME.err, and a report.
  [[nodiscard]] pid_t start(const std::string& document, const std::string& name,
                            const std::string& snapshots) const {
    const std::vector<std::string> words = {internal::env_path("SWARMKV_TEST_CLI"),
                                            "ask",
                                            "-m",
                                            internal::smollm2_path(),
                                            "-f",
                                            document,
                                            "What is it about?",
                                            "And why?",
                                            "-n",
                                            "6",
                                            "--ignore-eos",
                                            "--deterministic",
                                            "-t",
                                            "2",
                                            "--snapshot",
                                            snapshots,
                                            "--snapshot-dir",
                                            folder_.string(),
                                            "--report",
                                            name + ".json"};
    return in_child([&] {
      std::vector<char*> arguments;
      for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
      arguments.push_back(nullptr);
      const int out = ::open((name + ".out").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
      const int err = ::open((name + ".err").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(err, STDERR_FILENO);
      ::execv(arguments[0], arguments.data());
      return 98;
    });
  }

  void expect_right(int status, const std::string& name, const std::string& alone) const {
    EXPECT_TRUE(went_well(status)) << status << "\n" << read_bytes(name + ".err");
    EXPECT_EQ(read_bytes(name + ".out"), alone) << name;
    const std::string report = read_bytes(name + ".json");
    EXPECT_EQ(report.find("\"SK607\""), std::string::npos) << "no file was damaged: " << report;
    EXPECT_EQ(report.find("\"SK608\""), std::string::npos) << "all were saved: " << report;
  }
};

TEST_F(LongSnapshotProcesses, HalfOfThemKilledAtARandomMoment) {
  const std::uint64_t seed = internal::test_seed();
  SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int n_killed = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    const std::string here = parent_ / std::to_string(round), document = here + ".txt";
    write_bytes(document, std::to_string(round) + internal::licence_text(280));  // 64 tokens or so
    const auto before = steady_clock::now();
    const pid_t lone = start(document, here + "-alone", "off");
    ASSERT_TRUE(went_well(status_of(lone))) << read_bytes(here + "-alone.err");
    const std::string alone = read_bytes(here + "-alone.out");
    ASSERT_FALSE(alone.empty());
    // Eight at once take longer than one, so many of these moments come before the end of a run.
    const auto longest = 3 * duration_cast<milliseconds>(steady_clock::now() - before).count();

    std::vector<pid_t> all;
    std::vector<std::thread> killers;
    std::vector<milliseconds> moments;
    const auto name_of = [&](int i) { return here + "-" + std::to_string(i); };
    for (int i = 0; i < kProcesses; ++i) {
      all.push_back(start(document, name_of(i), "auto"));
      ASSERT_GT(all.back(), 0);
      moments.emplace_back(random() % static_cast<std::uint64_t>(longest));
    }
    for (int i = 1; i < kProcesses; i += 2) {
      killers.emplace_back(
          [pid = all[static_cast<std::size_t>(i)], moment = moments[static_cast<std::size_t>(i)]] {
            std::this_thread::sleep_for(moment);
            ::kill(pid, SIGKILL);  // it was not waited for yet, so the number is still its own
          });
    }
    for (std::thread& killer : killers) killer.join();
    for (int i = 0; i < kProcesses; ++i) {
      const int status = status_of(all[static_cast<std::size_t>(i)]);
      if (i % 2 == 1 && was_killed(status)) {
        ++n_killed;
      } else {
        expect_right(status, name_of(i), alone);
      }
    }

    // Whoever comes last finds the document, and nothing of the dead.
    const pid_t last = start(document, here + "-last", "auto");
    expect_right(status_of(last), here + "-last", alone);
    EXPECT_NE(read_bytes(here + "-last.json").find("\"restored\""), std::string::npos);
    const SnapshotStore store(folder_.string());
    for (const SnapshotInfo& file : store.list()) {
      EXPECT_EQ(file.problem, "") << file.name;
      EXPECT_NO_THROW((void)store.verify(file.name)) << file.name;
    }
    EXPECT_EQ(store.list().size(), static_cast<std::size_t>(round) + 1) << "one a document";
    EXPECT_EQ(files().size(), store.list().size()) << "and nothing left over";
  }
  RecordProperty("killed", n_killed);
  EXPECT_GT(n_killed, 0) << "of " << kRounds * kProcesses / 2;
}

}  // namespace
}  // namespace swarmkv::testing
