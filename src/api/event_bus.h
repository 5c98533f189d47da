// A run's events on their way to its observers: numbered without gaps, one at a time, on the event
// thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
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

class EventBus : public std::enable_shared_from_this<EventBus> {
 public:
  using Post = std::function<void(std::function<void()>)>;  ///< runs a call on the event thread
  using TimesOfReadings = std::map<std::pair<std::string, int>, DocumentTimes>;  ///< name, number

  EventBus(std::vector<std::shared_ptr<Observer>> observers, TimePoint clock_zero, Post post)
      : observers_(std::move(observers)), zero_(clock_zero), post_(std::move(post)) {}

  /// Any thread: delivered later, in the order of the calls.
  void send(Event event, TimePoint t);
  void send(Event event) { send(std::move(event), std::chrono::steady_clock::now()); }
  /// Event thread only: delivered now.
  void deliver(Event event, TimePoint t);

  /// Event thread only: progress of a document that many agents wait for, told once.
  void document_progress(const Reading& reading, const PrefixProgress& progress);
  /// Once an agent has ended, what it was told is in here.
  [[nodiscard]] TimesOfReadings document_times();

  [[nodiscard]] double ms(TimePoint t) const {
    return std::chrono::duration<double, std::milli>(t - zero_).count();
  }
  /// What observers that threw said; read after the run's last event.
  [[nodiscard]] std::vector<std::string> observer_errors();

 private:
  std::vector<std::shared_ptr<Observer>> observers_;  // event thread only, as are the next two
  std::uint64_t n_sent_ = 0;
  std::map<std::pair<std::string, int>, int> n_computed_;  ///< by document and reading
  const TimePoint zero_;
  const Post post_;
  Mutex mutex_;
  std::vector<std::string> errors_ GUARDED_BY(mutex_);
  TimesOfReadings times_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv::internal
