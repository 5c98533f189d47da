#include "cli/interrupts.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <string_view>
#include <system_error>

namespace swarmkv::cli {
namespace {

void say(std::string_view text) {
  // Straight to the descriptor, and only if that takes it: the process may be about to end, and
  // nothing may delay that, such as a pipe that nobody reads.
  pollfd out{STDERR_FILENO, POLLOUT, 0};
  if (::poll(&out, 1, 0) != 1 || (out.revents & POLLOUT) == 0) return;
  [[maybe_unused]] const ssize_t n = ::write(STDERR_FILENO, text.data(), text.size());
}

}  // namespace

Interrupts::Interrupts(bool speaks) : speaks_(speaks) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal_fd_ = ::signalfd(-1, &signals, SFD_CLOEXEC);
  quit_fd_ = ::eventfd(0, EFD_CLOEXEC);
  if (signal_fd_ < 0 || quit_fd_ < 0) {
    throw std::system_error(errno, std::generic_category(), "cannot watch for signals");
  }
  thread_ = std::thread([this] { loop(); });
}

Interrupts::~Interrupts() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t n = ::write(quit_fd_, &one, sizeof one);
  thread_.join();
  ::close(signal_fd_);
  ::close(quit_fd_);
}

void Interrupts::on_first(std::function<void(const char*)> stop) {
  const std::lock_guard lock(mutex_);
  stop_ = std::move(stop);
  phase_ = Phase::kRunning;
}

void Interrupts::finishing() {
  const std::lock_guard lock(mutex_);
  stop_ = nullptr;
  phase_ = Phase::kFinishing;
}

void Interrupts::before_end(std::function<void(int)> clean_up) {
  const std::lock_guard lock(mutex_);
  clean_up_ = std::move(clean_up);
}

void Interrupts::end_now(int signal_number) {
  if (clean_up_) clean_up_(signal_number);
  ::_exit(128 + signal_number);
}

int Interrupts::signal() const {
  const std::lock_guard lock(mutex_);
  return signal_;
}

void Interrupts::handle(int signal_number) {
  const std::lock_guard lock(mutex_);
  if (signal_ != 0) end_now(signal_number);
  signal_ = signal_number;
  if (phase_ == Phase::kStarting) {
    if (speaks_) say("swarmkv: interrupted before anything was computed\n");
    end_now(signal_number);
  }
  if (phase_ == Phase::kRunning && stop_) {
    if (speaks_) say("\nswarmkv: stopping; what is finished is kept (once more = stop at once)\n");
    stop_(signal_number == SIGINT ? "interrupted by Ctrl-C" : "interrupted by SIGTERM");
  }
}

void Interrupts::loop() {
  for (;;) {
    pollfd wait[2] = {{signal_fd_, POLLIN, 0}, {quit_fd_, POLLIN, 0}};
    if (::poll(wait, 2, -1) < 0) continue;
    if (wait[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signal_fd_, &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
      handle(static_cast<int>(info.ssi_signo));
    }
  }
}

}  // namespace swarmkv::cli
