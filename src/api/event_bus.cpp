#include "api/event_bus.h"

#include <exception>
#include <utility>

namespace swarmkv::internal {

namespace {

thread_local const EventBus* telling = nullptr;

}  // namespace

EventBus::EventBus(std::vector<std::shared_ptr<Observer>> observers, TimePoint clock_zero)
    : is_observed_(!observers.empty()), zero_(clock_zero), observers_(std::move(observers)) {}

EventBus::~EventBus() {
  close();
  if (thread_.joinable()) thread_.join();  // only if the run never began
}

void EventBus::start() {
  if (is_observed_) thread_ = std::thread([this] { run(); });
}

void EventBus::send(Event event, TimePoint t) {
  if (!is_observed_) return;
  event.t_ms = ms(t);
  const MutexLock lock(mutex_);
  if (!closed_) queue(std::move(event));
}

// Text that an observer did not get to yet is told with what comes later, at its own place in the
// order. It must not move to the end: while others go on talking it would never be told.
void EventBus::queue(Event event) {
  const auto joinable = joinable_.find(event.name);
  if (event.type != EventType::kAgentDelta) {
    if (joinable != joinable_.end()) joinable_.erase(joinable);
  } else if (joinable != joinable_.end()) {
    Event& earlier = queue_[joinable->second - n_taken_];
    earlier.text += event.text;
    earlier.reasoning += event.reasoning;
    earlier.n_tokens = event.n_tokens;
    return;
  } else {
    joinable_.emplace(event.name, n_taken_ + queue_.size());
  }
  queue_.push_back(std::move(event));
  changed_.notify_one();
}

void EventBus::close() {
  const MutexLock lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

void EventBus::finish(Event last) {
  send(std::move(last));
  close();
  if (thread_.joinable()) thread_.join();
}

bool EventBus::is_telling_here() const { return telling == this; }

void EventBus::run() {
  telling = this;
  std::uint64_t n_told = 0;
  while (std::optional<Event> event = take()) {
    event->seq = n_told++;
    tell(*event);
  }
}

std::optional<Event> EventBus::take() {
  const MutexLock lock(mutex_);
  while (queue_.empty() && !closed_) changed_.wait(mutex_);
  if (queue_.empty()) return std::nullopt;
  Event event = std::move(queue_.front());
  queue_.pop_front();
  const auto joinable = joinable_.find(event.name);
  if (joinable != joinable_.end() && joinable->second == n_taken_) joinable_.erase(joinable);
  ++n_taken_;
  return event;
}

void EventBus::tell(const Event& event) {
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
  send(event, progress.t);
  if (!is_ready) return;
  event.type = EventType::kDocumentReady;
  send(std::move(event), progress.t);
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
