// Documents that are not worth keeping: those that would take too much memory on their way to the
// disk, and those that are computed as fast as they are read.
#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <regex>

#include "support/snapshot_host.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using internal::SnapshotHost;
using std::chrono::milliseconds;

class SnapshotMemory : public SnapshotHostTest {};

// Bytes of the state that pipeline() leaves.
std::uint64_t state_bytes(const fs::path& file) {
  return internal::SnapshotFile::open(file.string()).header().state_bytes;
}

TEST_F(SnapshotMemory, AStateAboveHalfOfWhatIsFreeIsNotKept) {
  (void)Engine(fake_model(), {}).run(pipeline(), with_store()).wait();
  const std::uint64_t size = state_bytes(only_file());
  fs::remove_all(folder_);
  SnapshotHost host;
  std::optional<std::uint64_t> n_free = 2 * size - 1;  // changed while no engine lives
  host.memory_available_bytes = [&] { return n_free; };
  {
    HostedEngine engine(host);
    const RunReport report = engine.run(pipeline(), with_store()).wait();
    expect_not_saved(report, std::to_string(size) + " bytes");
    EXPECT_NE(report.warnings[0].message.find(std::to_string(size - 1) + " bytes"),
              std::string::npos)
        << "both figures: " << report.warnings[0].message;
    EXPECT_TRUE(files().empty());
  }
  for (const bool is_known : {true, false}) {
    fs::remove_all(folder_);
    n_free = is_known ? std::optional(2 * size) : std::nullopt;
    HostedEngine engine(host);
    const RunReport report = engine.run(pipeline(), with_store()).wait();
    EXPECT_EQ(report.documents[0].snapshot->state, "saved") << is_known;
    EXPECT_TRUE(report.warnings.empty()) << is_known;
  }
}

// A state that the disk is slow to take is still in memory.
TEST_F(SnapshotMemory, WhatWaitsForTheDiskCounts) {
  (void)Engine(fake_model(), {}).run(pipeline(), with_store()).wait();
  const std::uint64_t size = state_bytes(only_file());
  fs::remove_all(folder_);
  const HangingDisk disk;
  SnapshotHost host = with_disk(disk);
  host.memory_available_bytes = [&] { return std::optional(4 * size - 1); };
  HostedEngine engine(host);
  const RunReport first = engine.run(pipeline('b'), waiting(milliseconds(1))).wait();
  EXPECT_NE(first.warnings.at(0).message.find("within 1 ms"), std::string::npos);

  const RunReport second = engine.run(pipeline(), with_store()).wait();

  expect_not_saved(second, "too large for memory");
  disk.goes_on.open();
}

class SnapshotSpeed : public SnapshotHostTest {
 protected:
  [[nodiscard]] RunOptions only_if_worth_it() const {
    RunOptions options = with_store();
    options.snapshot.always_save = false;
    return options;
  }
  static Model slow_model() {
    ModelOptions options;
    options.fake_delay_ms = 2;
    return fake_model(options);
  }
};

TEST_F(SnapshotSpeed, WhatIsReadMoreSlowlyThanItIsComputedIsNotKept) {
  SnapshotHost host;
  host.disk_bytes_per_ms = 1e-3;
  HostedEngine engine(host, {}, slow_model());

  const RunReport report = engine.run(pipeline(), only_if_worth_it()).wait();

  EXPECT_EQ(report.exit_code, 0);
  EXPECT_EQ(answers_of(report), answers_of(cold_));
  EXPECT_TRUE(report.warnings.empty()) << "a choice, and nothing that went wrong";
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
  const std::string reason = report.documents[0].snapshot->reason.value_or("");
  std::smatch figures;
  ASSERT_TRUE(std::regex_match(
      reason, figures,
      std::regex("reading it would take ([0-9.]+) ms, computing it took ([0-9.]+) ms")))
      << reason;
  EXPECT_GE(std::stod(figures[2].str()), 2.0) << "a forward takes that long";
  EXPECT_GE(std::stod(figures[1].str()), 1000.0 * 4 * report.documents[0].n_tokens)
      << "of a token 4 bytes and more";
  EXPECT_TRUE(files().empty());

  const RunReport asked = engine.run(pipeline('b'), with_store()).wait();
  EXPECT_EQ(asked.documents[0].snapshot->state, "saved") << "whoever asks for it has it";
}

TEST_F(SnapshotSpeed, WhatIsReadFasterIsKept) {
  SnapshotHost host;
  host.disk_bytes_per_ms = std::numeric_limits<double>::infinity();
  HostedEngine engine(host, {}, slow_model());
  const RunReport report = engine.run(pipeline(), only_if_worth_it()).wait();
  EXPECT_EQ(report.documents[0].snapshot->state, "saved")
      << report.documents[0].snapshot->reason.value_or("");
  expect_whole_files(1, 1);
}

}  // namespace
}  // namespace swarmkv::testing
