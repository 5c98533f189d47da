#include "api/event_bus.h"

#include <exception>
#include <limits>
#include <utility>

namespace swarmkv::internal {

void EventBus::send(Event event, TimePoint t) {
  post_([self = shared_from_this(), event = std::move(event), t]() mutable {
    self->deliver(std::move(event), t);
  });
}

void EventBus::deliver(Event event, TimePoint t) {
  event.seq = n_sent_++;
  event.t_ms = ms(t);
  for (std::size_t i = 0; i < observers_.size();) {
    std::string error;
    try {
      observers_[i]->on_event(event);
      ++i;
      continue;
    } catch (const std::exception& e) {
      error = e.what();
    } catch (...) {
      error = "unknown exception";
    }
    observers_.erase(observers_.begin() + static_cast<std::ptrdiff_t>(i));
    const MutexLock lock(mutex_);
    errors_.push_back(std::move(error));
  }
}

void EventBus::document_progress(const std::string& document, int n_computed, int n_total,
                                 TimePoint t) {
  // What counts as a document's own differs a little with what stands in front of it.
  constexpr int kReady = std::numeric_limits<int>::max();
  const auto known = n_computed_.emplace(document, -1).first;
  if (n_computed <= known->second) return;
  known->second = n_computed < n_total ? n_computed : kReady;
  {
    const MutexLock lock(mutex_);
    DocumentTimes& times = times_[document];
    if (n_computed > 0 && !times.first) times.first = t;
    if (n_computed >= n_total) times.ready = t;
  }
  Event event;
  event.type = EventType::kDocumentProgress;
  event.name = document;
  event.n_tokens = n_computed;
  event.n_total = n_total;
  deliver(event, t);
  if (n_computed < n_total) return;
  event.type = EventType::kDocumentReady;
  deliver(std::move(event), t);
}

std::map<std::string, DocumentTimes> EventBus::document_times() {
  const MutexLock lock(mutex_);
  return times_;
}

std::vector<std::string> EventBus::observer_errors() {
  const MutexLock lock(mutex_);
  return errors_;
}

}  // namespace swarmkv::internal
