// Whole runs on the fake engine, eight processes at once on one folder, half of them killed at a
// random system call of theirs: those that live answer as if they were alone, and what stays in
// the folder is whole.
#include <gtest/gtest.h>

#include "snapshot/snapshot_folder.h"
#include "support/child_process.h"
#include "support/core_harness.h"
#include "support/faulty_calls.h"
#include "support/hosted_engine.h"
#include "support/snapshots.h"

namespace swarmkv::testing {
namespace {

using internal::FaultyCalls;

constexpr int kDocuments = 3;

Pipeline pipeline_about(int document) {
  std::vector<AgentSpec> agents;
  for (int i = 0; i < 2; ++i) {
    agents.push_back(agent("a" + std::to_string(i), "Question " + std::to_string(i), 6));
    agents.back().ignore_eos = true;
  }
  return pipeline_of(agents, "Document " + std::to_string(document) + std::string(150, 'x'));
}

class SnapshotRunProcesses : public SnapshotTest {
 protected:
  SnapshotRunProcesses() {
    for (int d = 0; d < kDocuments; ++d) {
      Engine engine(fake_model(), {});
      alone_.push_back(answers_of(engine.run(pipeline_about(d)).wait()));
    }
  }

  // What one process does: every document, in an order of its own. 0 = all of it right.
  int work(std::uint64_t seed, const internal::SystemCalls& calls) const {
    for (int i = 0; i < kDocuments; ++i) {
      const int document = static_cast<int>((static_cast<std::uint64_t>(i) + seed) % kDocuments);
      HostedEngine engine(with_disk(calls));
      const RunReport report = engine.run(pipeline_about(document), with_store()).wait();
      if (report.exit_code != 0) return 1;
      if (answers_of(report) != alone_[static_cast<std::size_t>(document)]) return 2;
      if (!report.warnings.empty()) return 3;
      const std::string& state = report.documents[0].snapshot->state;
      if (state != "saved" && state != "restored") return 4;
    }
    return 0;
  }

  void expect_all_is_there() const {
    for (int d = 0; d < kDocuments; ++d) {
      Engine engine(fake_model(), {});
      const RunReport report = engine.run(pipeline_about(d), with_store()).wait();
      EXPECT_EQ(report.documents[0].computed_tokens, 0);
      EXPECT_EQ(answers_of(report), alone_[static_cast<std::size_t>(d)]);
      EXPECT_TRUE(report.warnings.empty());
    }
    EXPECT_EQ(files().size(), std::size_t{kDocuments})
        << "one file a document, and nothing left over";
    for (const auto& file : files()) {
      EXPECT_NO_THROW(internal::SnapshotFile::open(file.string()).verify()) << file;
    }
  }

  std::vector<std::vector<Tokens>> alone_;
};

TEST_F(SnapshotRunProcesses, KilledAtAnyMomentLeaveOnlyWholeFiles) {
  constexpr int kRounds = 50, kProcesses = 8;
  const std::uint64_t seed = internal::test_seed();
  SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  int n_killed = 0;
  for (int round = 0; round < kRounds; ++round) {
    SCOPED_TRACE(round);
    std::filesystem::remove_all(folder_);
    StartingGate gate;
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      const std::uint64_t own_seed = random();
      // Enough calls that some of the doomed reach the end.
      const int killed_at = i % 2 == 1 ? 1 + static_cast<int>(random() % 120) : 0;
      children.push_back(in_child([&] {
        gate.wait_in_child();
        return work(own_seed, FaultyCalls(killed_at, FaultyCalls::Fault::kKill));
      }));
      ASSERT_GT(children.back(), 0);
    }

    gate.open();

    for (int i = 0; i < kProcesses; ++i) {
      const int status = status_of(children[static_cast<std::size_t>(i)]);
      n_killed += was_killed(status) ? 1 : 0;
      EXPECT_TRUE(went_well(status) || (i % 2 == 1 && was_killed(status)))
          << "process " << i << " status " << status;
    }
    expect_all_is_there();
  }
  EXPECT_GT(n_killed, kRounds) << "of " << kRounds * kProcesses / 2;
}

}  // namespace
}  // namespace swarmkv::testing
