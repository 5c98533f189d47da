// Ctrl-C and SIGTERM. The first one stops the run and keeps what is finished, the second ends the
// process at once.
#pragma once

#include <functional>
#include <mutex>
#include <thread>

namespace swarmkv::cli {

/// One per process, made before any other thread, so that every thread inherits the blocked signals
/// and only ours takes them. Thread-safe.
class Interrupts {
 public:
  /// `speaks`: it says on standard error what a signal does.
  explicit Interrupts(bool speaks = true);
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// `stop` is called once, from another thread, at the first signal, and told which it was; it
  /// must not block. Before this call a signal ends the process: nothing is finished yet that could
  /// be kept.
  void on_first(std::function<void(const char* reason)> stop);
  /// From here on a first signal only is remembered: the results are being written.
  void finishing();
  /// `clean_up` is called, from another thread, before a signal ends the process where it stands;
  /// it must not wait.
  void before_end(std::function<void(int signal)> clean_up);
  /// The signal that came, 0 = none.
  [[nodiscard]] int signal() const;

 private:
  void loop();
  void handle(int signal_number);
  [[noreturn]] void end_now(int signal_number);

  const bool speaks_;
  mutable std::mutex mutex_;
  enum class Phase { kStarting, kRunning, kFinishing } phase_ = Phase::kStarting;
  std::function<void(const char*)> stop_;
  std::function<void(int)> clean_up_;
  int signal_ = 0;
  int signal_fd_ = -1, quit_fd_ = -1;
  std::thread thread_;
};

}  // namespace swarmkv::cli
