#include "api/event_bus.h"

#include <exception>
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

void EventBus::document_progress(const Reading& reading, const PrefixProgress& progress) {
  const std::pair<std::string, int> key(reading.document, reading.number);
  const auto known = n_computed_.emplace(key, -1).first;
  if (progress.n_computed <= known->second) return;
  known->second = progress.n_computed;
  const bool is_ready = progress.n_computed >= progress.n_total;
  std::optional<TimePoint> began;
  {
    const MutexLock lock(mutex_);
    DocumentTimes& times = times_[key];
    if (!times.began && progress.n_computed > 0) times.began = progress.began;
    if (is_ready) times.ready = progress.t;
    began = times.began;
  }
  Event event;
  event.type = EventType::kDocumentProgress;
  event.name = reading.document;
  event.reading = reading.number;
  event.after = reading.after;
  event.n_tokens = progress.n_computed;
  event.n_total = progress.n_total;
  if (began) event.ms = ms(progress.t) - ms(*began);
  deliver(event, progress.t);
  if (!is_ready) return;
  event.type = EventType::kDocumentReady;
  deliver(std::move(event), progress.t);
}

EventBus::TimesOfReadings EventBus::document_times() {
  const MutexLock lock(mutex_);
  return times_;
}

std::vector<std::string> EventBus::observer_errors() {
  const MutexLock lock(mutex_);
  return errors_;
}

}  // namespace swarmkv::internal
