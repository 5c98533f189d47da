// What the program makes of exceptions that no command expects.
#include "cli/app.h"

#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>
#include <system_error>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

struct Ending {
  int code = 0;
  std::string out, err;
};

// The environment is asked before anything else: what it throws stands for a bug anywhere.
Ending run(const std::vector<std::string>& words, const std::function<void()>& bug) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  Ending ending;
  ending.code = run_app(words, [&](const std::string&) -> std::optional<std::string> {
    bug();
    return std::nullopt;
  });
  ending.out = ::testing::internal::GetCapturedStdout();
  ending.err = ::testing::internal::GetCapturedStderr();
  return ending;
}

const std::vector<std::string> kAsk = {"ask", "-f", "contract.txt", "Why?"};

TEST(App, EndsWith70OnABugAndAsksToReportIt) {
  const std::pair<std::function<void()>, const char*> bugs[] = {
      {[] { throw std::logic_error("odd \x1b[2J"); }, "odd \\x1b[2J"},
      {[] { throw Error(ErrorCode::kInternal, "[engine] lost a cell"); }, "[engine] lost a cell"},
      {[] { throw 7; }, "something was thrown that is not an exception"}};
  for (const auto& [bug, what] : bugs) {
    const Ending ending = run(kAsk, bug);

    EXPECT_EQ(ending.code, 70);
    EXPECT_EQ(ending.out, "");
    EXPECT_EQ(ending.err, "swarmkv: internal error, please report it: " + std::string(what) + "\n");
  }
}

TEST(App, EndsTheEventStreamOnABugToo) {
  int n_asked = 0;
  // Once the command line is guessed at and the stream begun.
  const Ending ending = run({"ask", "-f", "contract.txt", "Why?", "-o", "jsonl"}, [&n_asked] {
    if (++n_asked > 1) throw std::logic_error("odd");
  });

  EXPECT_EQ(ending.code, 70);
  const std::string last = ending.out.substr(ending.out.rfind("{\"v\""));
  EXPECT_NE(last.find("\"type\":\"run.finished\""), std::string::npos) << ending.out;
  EXPECT_NE(last.find("\"exit_code\":70"), std::string::npos) << last;
  EXPECT_NE(last.find("internal error, please report it: odd"), std::string::npos) << last;
}

TEST(App, TellsLimitsOfTheSystemFromBugs) {
  const auto code = [](std::errc reason) {
    return run(kAsk, [reason] { throw std::system_error(std::make_error_code(reason)); }).code;
  };

  EXPECT_EQ(run(kAsk, [] { throw std::bad_alloc(); }).code, 4);
  EXPECT_EQ(code(std::errc::not_enough_memory), 4);
  EXPECT_EQ(code(std::errc::resource_unavailable_try_again), 4);
  EXPECT_EQ(code(std::errc::too_many_files_open), 4);
  EXPECT_EQ(code(std::errc::bad_file_descriptor), 70);
}

}  // namespace
}  // namespace swarmkv::cli
