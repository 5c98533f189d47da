// The event stream of a command: standard output of `-o jsonl`, standard error of `--progress
// jsonl`, and the reports that end in .jsonl. It begins with run.started and ends with
// run.finished, whatever happens in between and if nothing ever ran.
#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "swarmkv/event.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

struct EventSinks {
  bool on_stdout = false, on_stderr = false;
  bool kept = false;  ///< for report files
};

/// Thread-safe. What comes before run clock 0 is held back until then, because only then its time
/// is known.
class EventLog : public Observer {
 public:
  explicit EventLog(EventSinks sinks);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog() override;

  [[nodiscard]] const EventSinks& sinks() const { return sinks_; }

  void named(std::string pipeline);
  void model_loaded(const std::string& model);
  void warn(const Diagnostic& diagnostic);
  void warn(const Warning& warning);
  /// Called once when nobody reads standard output any more.
  void on_broken(std::function<void()> stop);
  /// Those of the library. Its first one says when run clock 0 was and begins a thread, so signals
  /// must be blocked by then; the lines of its first and last one are ours.
  void on_event(const Event& event) override;

  /// What went wrong, for an end that knows only its exit code. The first one counts.
  void note(std::string problem);
  /// Everything so far and the end, as it would be now; nothing is written.
  [[nodiscard]] std::string kept_with_end(const std::string& status, int exit_code);
  /// Writes the end; nothing is written after it. Later calls do nothing.
  void finish(const std::string& status, int exit_code, const std::string& message = "");
  /// The same from the thread that ends the process, which waits for nobody but a line that is
  /// being written, and for that only a moment. True if it was written.
  bool finish_now(const std::string& status, int exit_code) noexcept;
  /// errors  kUnwritable  what writing to standard output, or to standard error, failed with
  void check() const;

 private:
  using Clock = std::chrono::steady_clock;

  void add(Event event);  // these need the lock
  void start_clock();
  void write(const std::string& lines);
  [[nodiscard]] Event end(const std::string& status, int exit_code, const std::string& message);
  [[nodiscard]] double now_ms() const;  ///< never before a line that was written
  void loop();

  const EventSinks sinks_;
  mutable std::mutex mutex_;
  std::string name_, problem_, kept_;
  EventLines lines_;
  std::vector<std::pair<Event, Clock::time_point>> early_;
  Clock::time_point zero_;
  double last_ms_;
  std::optional<double> ended_ms_;
  bool clock_runs_ = false, finished_ = false, stdout_broken_ = false, stderr_broken_ = false;
  std::function<void()> on_broken_;
  std::exception_ptr failure_;
  std::condition_variable changed_;
  std::thread flusher_;
};

}  // namespace swarmkv::cli
