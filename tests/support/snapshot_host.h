// Runs that keep documents, on machines where that goes wrong: they end well all the same, and say
// once what they did not do.
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

#include "snapshot/snapshot_file.h"
#include "support/hosted_engine.h"
#include "support/snapshots.h"

namespace swarmkv::testing {

/// Writes half of what it is given first, and the rest when it is let go on.
struct HangingDisk final : internal::SystemCalls {
  ssize_t write(int fd, const void* from, std::size_t n) const override {
    if (hangs.exchange(false)) {
      const ssize_t half = SystemCalls::write(fd, from, n / 2);
      is_writing.open();
      went_on = goes_on.wait();
      return half;
    }
    return SystemCalls::write(fd, from, n);
  }

  mutable std::atomic<bool> hangs{true};
  mutable Gate is_writing, goes_on;
  mutable std::atomic<bool> went_on{false};
};

class SnapshotHostTest : public SnapshotTest {
 protected:
  static Pipeline pipeline(char salt = 'a') {
    AgentSpec reader = agent("reader", "What is it about?", 8);
    reader.ignore_eos = true;  // an answer that is cut would be a warning of its own
    return pipeline_of({reader}, std::string(700, salt) + ", and no more.");
  }
  [[nodiscard]] RunOptions waiting(std::chrono::milliseconds limit) const {
    RunOptions options = with_store();
    options.snapshot.save_timeout = limit;
    return options;
  }
  RunReport cold_ = Engine(fake_model(), {}).run(pipeline()).wait();

  /// As without snapshots, and one warning.
  void expect_not_saved(const RunReport& report, const std::string& why) const {
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(answers_of(report), answers_of(cold_));
    ASSERT_EQ(report.warnings.size(), 1u)
        << (report.warnings.empty() ? why : report.warnings.back().message);
    EXPECT_EQ(report.warnings[0].code, "SK608");
    EXPECT_NE(report.warnings[0].message.find("no snapshot of 'doc' was saved: "),
              std::string::npos);
    EXPECT_NE(report.warnings[0].message.find(why), std::string::npos)
        << report.warnings[0].message;
    const auto& snapshot = report.documents[0].snapshot;
    ASSERT_TRUE(snapshot.has_value());
    EXPECT_EQ(snapshot->state, "skipped");
    EXPECT_TRUE(snapshot->reason.has_value());
  }
  /// Nothing but snapshots has a name, and all of them are sound.
  void expect_whole_files(std::size_t n_least, std::size_t n_most) const {
    const auto all = files();
    EXPECT_GE(all.size(), n_least);
    EXPECT_LE(all.size(), n_most);
    for (const auto& file : all) {
      EXPECT_EQ(file.extension(), ".swkv") << file;
      EXPECT_NO_THROW(internal::SnapshotFile::open(file.string()).verify()) << file;
    }
  }
};

}  // namespace swarmkv::testing
