// A run's end waits for the disk, but not for ever; and whatever ends first, no half file stays.
#include <gtest/gtest.h>

#include <memory>
#include <thread>

#include "support/child_process.h"
#include "support/snapshot_host.h"

namespace swarmkv::testing {
namespace {

using std::chrono::milliseconds;

class SnapshotWait : public SnapshotHostTest {};

TEST_F(SnapshotWait, ARunsEndWaitsForTheDiskNoLongerThanItWasTold) {
  const HangingDisk disk;
  HostedEngine engine(with_disk(disk));
  const auto log = std::make_shared<EventLog>();
  RunOptions options = with_store(log);
  options.snapshot.save_timeout = milliseconds(1);
  swarmkv::Run run = engine.run(pipeline(), options);
  ASSERT_TRUE(disk.is_writing.wait());

  const RunReport report = run.wait();  // nobody lets the disk go on before this returns

  expect_not_saved(report, "it was not written within 1 ms");
  EXPECT_EQ(report.documents[0].snapshot->reason, "it was not written in time");
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(only_file().filename().string().rfind(".tmp-", 0), 0u) << "no reader looks at it";
  const std::size_t n_events = log->events().size();

  // The engine lives on, and so does its writer: what comes next is written after it.
  disk.goes_on.open();
  const RunReport next = engine.run(pipeline('b'), with_store()).wait();
  EXPECT_TRUE(disk.went_on);
  EXPECT_EQ(next.documents[0].snapshot->state, "saved");
  EXPECT_TRUE(next.warnings.empty());
  expect_whole_files(2, 2);
  EXPECT_EQ(log->events().size(), n_events) << "of a run that is over nothing is told";
  const RunReport restored = Engine(fake_model(), {}).run(pipeline(), with_store()).wait();
  EXPECT_EQ(restored.documents[0].computed_tokens, 0) << "late, but whole";
  EXPECT_EQ(answers_of(restored), answers_of(cold_));
}

TEST_F(SnapshotWait, OnlyTheFirstOfSeveralDocumentsIsWaitedFor) {
  Pipeline two = pipeline();
  DocumentSpec other;
  other.name = "other";
  other.text = std::string(300, 'o');
  two.documents.push_back(other);
  two.agents.push_back(agent("second", "And this?", 8));
  two.agents[1].ignore_eos = true;
  two.agents[0].reads = {{"doc"}};
  two.agents[1].reads = {{"other"}};
  const HangingDisk disk;
  HostedEngine engine(with_disk(disk));

  const RunReport report = engine.run(two, waiting(milliseconds(1))).wait();
  disk.goes_on.open();

  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(report.warnings.size(), 1u) << "one cause, one warning";
  int n_given_up = 0;
  for (const DocumentReport& d : report.documents) {
    EXPECT_EQ(d.snapshot->state, "skipped") << d.name;
    n_given_up += d.snapshot->reason == "no time was left" ? 1 : 0;
  }
  EXPECT_EQ(n_given_up, 1);
}

TEST_F(SnapshotWait, AnEngineThatIsClosedMeanwhileLeavesAWholeFileOrNone) {
  const HangingDisk disk;
  std::thread closer;
  {
    auto engine = std::make_unique<HostedEngine>(with_disk(disk));
    expect_not_saved(engine->run(pipeline(), waiting(milliseconds(1))).wait(), "within 1 ms");
    closer = std::thread([closing = std::move(engine)]() mutable { closing.reset(); });
  }
  disk.goes_on.open();
  closer.join();
  EXPECT_TRUE(disk.went_on);
  expect_whole_files(0, 1);
}

// What a process that ends in the middle leaves is no snapshot, and the next one removes it.
TEST_F(SnapshotWait, AProcessThatEndsWhileTheDiskHangsLeavesNothingForLong) {
  const pid_t child = in_child([&]() -> int {
    const HangingDisk disk;
    HostedEngine engine(with_disk(disk));
    const RunReport report = engine.run(pipeline(), waiting(milliseconds(1))).wait();
    const bool is_writing = disk.is_writing.wait();
    ::_exit(report.exit_code == 0 && report.warnings.size() == 1 && is_writing ? 0 : 1);
  });
  ASSERT_TRUE(went_well(status_of(child)));
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(only_file().filename().string().rfind(".tmp-", 0), 0u);

  const RunReport report = Engine(fake_model(), {}).run(pipeline(), with_store()).wait();

  EXPECT_EQ(report.documents[0].snapshot->state, "saved");
  EXPECT_EQ(answers_of(report), answers_of(cold_));
  EXPECT_TRUE(report.warnings.empty());
  expect_whole_files(1, 1);
}

}  // namespace
}  // namespace swarmkv::testing
