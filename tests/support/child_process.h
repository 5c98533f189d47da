// Processes of a test's own: made by fork, so only while nothing else runs in this one.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>

namespace swarmkv::testing {

/// Lets any number of children start at once.
class StartingGate {
 public:
  StartingGate() { EXPECT_EQ(::pipe(ends_), 0); }
  void wait_in_child() const {
    ::close(ends_[1]);
    char byte = 0;
    (void)!::read(ends_[0], &byte, 1);  // until the parent closes its end
  }
  void open() {
    ::close(ends_[1]);
    ::close(ends_[0]);
  }

 private:
  int ends_[2] = {-1, -1};
};

/// A child that runs `body` and nothing of the test program behind it: no destructor, no other
/// test. Its status is what `body` returns, 99 if that throws.
inline pid_t in_child(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  int status = 99;
  try {
    status = body();
  } catch (...) {
  }
  ::_exit(status);
}

/// How it ended, as waitpid tells.
inline int status_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

inline bool was_killed(int status) { return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL; }
inline bool went_well(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

}  // namespace swarmkv::testing
