#include "cli/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <functional>

#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

ErrorCode error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.code();
  }
  return ErrorCode::kInternal;
}

TEST(Output, ReportsAFullDisk) {
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(full, 0);

  EXPECT_EQ(error_of([&] { write_all(full, "text", "standard output"); }), ErrorCode::kUnwritable);
  ::close(full);
}

TEST(Output, TakesAVanishedReaderForTheEndAndNotForAnError) {
  std::signal(SIGPIPE, SIG_IGN);
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ::close(ends[0]);

  EXPECT_FALSE(write_all(ends[1], "text", "standard output"));
  ::close(ends[1]);
}

}  // namespace
}  // namespace swarmkv::cli
