// A run's events on their way to its observers: numbered without gaps, one at a time, on the event
// thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "swarmkv/event.h"
#include "swarmkv/request.h"

namespace swarmkv::internal {

/// When a document was computed, as far as somebody was told.
struct DocumentTimes {
  std::optional<TimePoint> first, ready;  ///< a part of it is there; all of it is
};

class EventBus : public std::enable_shared_from_this<EventBus> {
 public:
  using Post = std::function<void(std::function<void()>)>;  ///< runs a call on the event thread

  EventBus(std::vector<std::shared_ptr<Observer>> observers, TimePoint clock_zero, Post post)
      : observers_(std::move(observers)), zero_(clock_zero), post_(std::move(post)) {}

  /// Any thread: delivered later, in the order of the calls.
  void send(Event event, TimePoint t);
  void send(Event event) { send(std::move(event), std::chrono::steady_clock::now()); }
  /// Event thread only: delivered now.
  void deliver(Event event, TimePoint t);

  /// Event thread only: progress of a document that many agents wait for, told once.
  void document_progress(const std::string& document, int n_computed, int n_total, TimePoint t);
  /// By name. Once an agent has ended, what it was told is in here.
  [[nodiscard]] std::map<std::string, DocumentTimes> document_times();

  [[nodiscard]] double ms(TimePoint t) const {
    return std::chrono::duration<double, std::milli>(t - zero_).count();
  }
  /// What observers that threw said; read after the run's last event.
  [[nodiscard]] std::vector<std::string> observer_errors();

 private:
  std::vector<std::shared_ptr<Observer>> observers_;  // event thread only, as are the next two
  std::uint64_t n_sent_ = 0;
  std::map<std::string, int> n_computed_;  ///< by document
  const TimePoint zero_;
  const Post post_;
  Mutex mutex_;
  std::vector<std::string> errors_ GUARDED_BY(mutex_);
  std::map<std::string, DocumentTimes> times_ GUARDED_BY(mutex_);
};

}  // namespace swarmkv::internal
