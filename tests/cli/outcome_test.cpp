#include "cli/outcome.h"

#include <gtest/gtest.h>

namespace swarmkv::cli {
namespace {

RunReport report_with(int n_warnings, int exit_code = 0) {
  RunReport report;
  report.exit_code = exit_code;
  for (int i = 0; i < n_warnings; ++i) {
    report.warnings.push_back({"SK601", "risk", "", "cut at max_tokens=5", ""});
  }
  return report;
}

Settings strict() {
  Settings settings;
  settings.strict = true;
  return settings;
}

TEST(Outcome, LetsWarningsFailARunUnderStrictOnly) {
  RunReport report = report_with(1);
  EXPECT_EQ(apply_strict(report, Settings()), "");
  EXPECT_EQ(report.exit_code, 0);

  EXPECT_EQ(apply_strict(report, strict()),
            "--strict: a warning counts as an error: 'risk' cut at max_tokens=5");
  EXPECT_EQ(report.exit_code, 1);
  EXPECT_EQ(report.status, "failed");

  RunReport three = report_with(3), none = report_with(0);
  EXPECT_EQ(apply_strict(three, strict()),
            "--strict: warnings count as errors: 'risk' cut at max_tokens=5; and 2 more");
  EXPECT_EQ(apply_strict(none, strict()), "");
  EXPECT_EQ(none.exit_code, 0);
}

TEST(Outcome, KeepsAnExitCodeThatSaysMore) {
  RunReport timeout = report_with(1, 124);
  timeout.status = "timeout";

  EXPECT_NE(apply_strict(timeout, strict()), "");
  EXPECT_EQ(timeout.exit_code, 124);
  EXPECT_EQ(timeout.status, "timeout");
}

TEST(Outcome, CountsAReaderThatWentAwayAsNoFailure) {
  RunReport stopped = report_with(0, 1);
  stopped.status = "cancelled";
  mark_reader_gone(stopped);
  EXPECT_EQ(stopped.exit_code, 0);

  RunReport failed = report_with(0, 1);
  failed.status = "cancelled";
  failed.n_failed = 1;
  mark_reader_gone(failed);
  EXPECT_EQ(failed.exit_code, 1);

  RunReport late = report_with(0, 124);
  late.status = "timeout";
  mark_reader_gone(late);
  EXPECT_EQ(late.exit_code, 124);
}

TEST(Outcome, ShowsASignalInStatusAndExitCode) {
  RunReport report = report_with(0);
  mark_interrupted(report, 0);
  EXPECT_EQ(report.status, "finished");
  mark_interrupted(report, 15);
  EXPECT_EQ(report.exit_code, 143);
  EXPECT_EQ(report.status, "interrupted");
}

}  // namespace
}  // namespace swarmkv::cli
