#include "cli/event_log.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <limits>

#include "cli/output.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

Event event_of(EventType type) {
  Event event;
  event.type = type;
  return event;
}

Event warning_event(const std::string& code, const std::string& agent, const std::string& pos,
                    const std::string& message) {
  Event event = event_of(EventType::kWarning);
  event.code = code;
  event.name = agent;
  event.text = pos.empty() ? message : message + " (" + pos + ")";
  return event;
}

// Room for a line of the usual length without waiting for a reader.
bool takes_a_line(int fd) {
  pollfd ready{fd, POLLOUT, 0};
  return ::poll(&ready, 1, 0) == 1 && (ready.revents & POLLOUT) != 0;
}

}  // namespace

EventLog::EventLog(EventSinks sinks)
    : sinks_(sinks), last_ms_(std::numeric_limits<double>::lowest()) {
  early_.emplace_back(event_of(EventType::kRunStarted), Clock::now());
}

EventLog::~EventLog() {
  {
    const std::lock_guard lock(mutex_);
    finished_ = true;
    changed_.notify_all();
  }
  if (flusher_.joinable()) flusher_.join();
}

void EventLog::named(std::string pipeline) {
  const std::lock_guard lock(mutex_);
  name_ = std::move(pipeline);
}

void EventLog::model_loaded(const std::string& model) {
  Event event = event_of(EventType::kModelLoaded);
  event.name = model;
  const std::lock_guard lock(mutex_);
  add(std::move(event));
}

void EventLog::warn(const Diagnostic& d) {
  const std::lock_guard lock(mutex_);
  add(warning_event(d.code, "", to_string(d.pos), d.message));
}

void EventLog::warn(const Warning& w) {
  const std::lock_guard lock(mutex_);
  add(warning_event(w.code, w.agent, w.pos, w.message));
}

void EventLog::on_broken(std::function<void()> stop) {
  const std::lock_guard lock(mutex_);
  on_broken_ = std::move(stop);
}

double EventLog::now_ms() const {
  return std::max(last_ms_,
                  std::chrono::duration<double, std::milli>(Clock::now() - zero_).count());
}

void EventLog::start_clock() {
  if (std::exchange(clock_runs_, true)) return;
  zero_ = Clock::now();
  std::string out;
  for (auto& [event, t] : std::exchange(early_, {})) {
    event.t_ms = std::chrono::duration<double, std::milli>(t - zero_).count();
    if (event.type == EventType::kRunStarted) event.name = name_;
    out += lines_.add(event);
  }
  write(out);
}

void EventLog::add(Event event) {
  if (finished_) return;
  if (!clock_runs_) {
    early_.emplace_back(std::move(event), Clock::now());
    return;
  }
  event.t_ms = now_ms();
  write(lines_.add(event));
}

// Our clock begins a little after the library's, never before it: so no window is closed early.
void EventLog::on_event(const Event& event) {
  const std::lock_guard lock(mutex_);
  if (finished_ || event.type == EventType::kRunFinished) return;
  if (event.type == EventType::kRunStarted) {
    start_clock();
    if (sinks_.on_stdout || sinks_.on_stderr) flusher_ = std::thread([this] { loop(); });
    return;
  }
  last_ms_ = std::max(last_ms_, event.t_ms);
  write(lines_.add(event));
  if (lines_.due_ms()) changed_.notify_all();
}

// Writes what is held back when its window closes, also if nothing more comes.
void EventLog::loop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return finished_ || lines_.due_ms().has_value(); });
    if (finished_) return;
    const std::chrono::duration<double, std::milli> rest(*lines_.due_ms() - now_ms());
    if (rest.count() > 0) {
      changed_.wait_for(lock, rest, [this] { return finished_; });
    } else {
      last_ms_ = std::max(last_ms_, *lines_.due_ms());
      write(lines_.flush());
    }
  }
}

void EventLog::write(const std::string& lines) {
  if (lines.empty()) return;
  if (sinks_.kept) kept_ += lines;
  if (sinks_.on_stdout && !stdout_broken_) {
    try {
      stdout_broken_ = !write_all(STDOUT_FILENO, lines, "standard output");
    } catch (const Error&) {
      failure_ = std::current_exception();  // told at the end of the run
      stdout_broken_ = true;
    }
    if (stdout_broken_ && on_broken_) on_broken_();
  }
  if (sinks_.on_stderr && !stderr_broken_) {
    try {
      // Nobody reads it any more: the answers matter more, so the run goes on.
      stderr_broken_ = !write_all(STDERR_FILENO, lines, "standard error");
    } catch (const Error&) {
      if (!failure_) failure_ = std::current_exception();
      stderr_broken_ = true;  // what comes after a gap would be another stream
    }
  }
}

void EventLog::note(std::string problem) {
  const std::lock_guard lock(mutex_);
  if (problem_.empty()) problem_ = std::move(problem);
}

Event EventLog::end(const std::string& status, int exit_code, const std::string& message) {
  start_clock();  // a run that ended before its clock began ends at 0
  Event event = event_of(EventType::kRunFinished);
  event.name = name_;
  event.code = status;
  event.exit_code = exit_code;
  event.text = message.empty() ? problem_ : message;
  // Asked for twice, by a report and by the stream, it is the same end.
  if (!ended_ms_) ended_ms_ = now_ms();
  event.t_ms = *ended_ms_;
  return event;
}

std::string EventLog::kept_with_end(const std::string& status, int exit_code) {
  const std::lock_guard lock(mutex_);
  const Event last = end(status, exit_code, "");
  EventLines copy = lines_;
  return kept_ + copy.add(last);
}

void EventLog::finish(const std::string& status, int exit_code, const std::string& message) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  on_broken_ = nullptr;  // the run is over
  write(lines_.add(end(status, exit_code, message)));
  finished_ = true;
  changed_.notify_all();
}

bool EventLog::finish_now(const std::string& status, int exit_code) noexcept {
  // A line in progress is over in no time, unless nobody reads: then the process ends without this.
  constexpr std::chrono::milliseconds kPatience(200);
  std::unique_lock lock(mutex_, std::try_to_lock);
  for (const auto until = Clock::now() + kPatience; !lock.owns_lock() && Clock::now() < until;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    (void)lock.try_lock();
  }
  if (!lock.owns_lock() || finished_) return false;
  if (sinks_.on_stdout && !takes_a_line(STDOUT_FILENO)) return false;
  if (sinks_.on_stderr && !takes_a_line(STDERR_FILENO)) return false;
  on_broken_ = nullptr;
  try {
    write(lines_.add(end(status, exit_code, "")));
  } catch (...) {
    return false;
  }
  finished_ = true;
  return true;
}

void EventLog::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace swarmkv::cli
