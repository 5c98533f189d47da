// A run's events on their way to its observers: numbered without gaps, one at a time, on a thread
// of the run's own. So an observer that blocks holds up the observers of its run, and nothing else.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "schedule/request_runner.h"
#include "swarmkv/event.h"
#include "swarmkv/request.h"

namespace swarmkv::internal {

/// A document in one of the places in which agents read it.
struct Reading {
  std::string document;
  int number = 0;     ///< of the document's readings, from 0
  std::string after;  ///< the document in front of it, if there are several readings to tell apart
};

/// When a document was computed, as far as somebody was told.
struct DocumentTimes {
  /// The first forward for it began; all of it is there. What was in the cache had no forward.
  std::optional<TimePoint> began, ready;
};

/// What waits for a slow observer is bounded by what the run has to tell: each agent's text once,
/// however many deltas it came in, a few events an agent, one for each forward of a document.
class EventBus {
 public:
  using TimesOfReadings = std::map<std::pair<std::string, int>, DocumentTimes>;  ///< name, number

  EventBus(std::vector<std::shared_ptr<Observer>> observers, TimePoint clock_zero);
  ~EventBus();
  EventBus(const EventBus&) = delete;
  EventBus& operator=(const EventBus&) = delete;

  /// Begins the thread. Without observers there is none, and nothing is kept for them.
  /// errors  std::system_error  the system gives no thread
  void start();
  /// Any thread, never waits: told later, in the order of the calls. Nothing comes after the last.
  void send(Event event, TimePoint t);
  void send(Event event) { send(std::move(event), std::chrono::steady_clock::now()); }
  /// Waits until the observers have heard everything, `last` at the end. Once, not from them.
  void finish(Event last);
  /// Whether an observer is being called on the calling thread.
  [[nodiscard]] bool is_telling_here() const;

  /// The engine's event thread only: progress of a document that many agents wait for, told once.
  void document_progress(const Reading& reading, const PrefixProgress& progress);
  /// Once an agent has ended, what it was told is in here.
  [[nodiscard]] TimesOfReadings document_times();

  [[nodiscard]] double ms(TimePoint t) const {
    return std::chrono::duration<double, std::milli>(t - zero_).count();
  }
  /// What observers that threw said; all of it after finish().
  [[nodiscard]] std::vector<std::string> observer_errors();

 private:
  void queue(Event event) REQUIRES(mutex_);
  void close();
  void run();
  [[nodiscard]] std::optional<Event> take();
  void tell(const Event& event);

  const bool is_observed_;
  const TimePoint zero_;
  std::vector<std::shared_ptr<Observer>> observers_;       // the observers' thread only
  std::map<std::pair<std::string, int>, int> n_computed_;  // event thread only; by reading
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Event> queue_ GUARDED_BY(mutex_);
  std::uint64_t n_taken_ GUARDED_BY(mutex_) = 0;
  /// By agent, its delta in the queue that more text may join: where it stands, counted from the
  /// run's first event.
  std::map<std::string, std::uint64_t> joinable_ GUARDED_BY(mutex_);
  bool closed_ GUARDED_BY(mutex_) = false;
  std::vector<std::string> errors_ GUARDED_BY(mutex_);
  TimesOfReadings times_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace swarmkv::internal
