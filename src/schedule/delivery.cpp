#include "schedule/delivery.h"

#include <utility>

#include "base/deadline.h"

namespace swarmkv::internal {

Mailbox::Mailbox(Delivery& delivery, std::shared_ptr<RequestListener> listener)
    : delivery_(delivery), listener_(std::move(listener)) {}

template <typename Change>
void Mailbox::gather(Change change) {
  {
    const MutexLock lock(mutex_);
    change();
    if (queued_) return;
    queued_ = true;
  }
  delivery_.post([self = shared_from_this()] { self->drain(); });
}

// The analysis does not see that gather() holds the lock around its argument.
#define SWARMKV_UNDER_LOCK SWARMKV_THREAD_ANNOTATION(no_thread_safety_analysis)

void Mailbox::admitted(TimePoint t) {
  gather([&]() SWARMKV_UNDER_LOCK { gathered_.admitted = t; });
}

void Mailbox::prefix_progress(const PrefixProgress& progress) {
  gather([&]() SWARMKV_UNDER_LOCK {
    std::optional<PrefixProgress>& latest = progress.began ? gathered_.computed : gathered_.found;
    const std::optional<TimePoint> began = latest ? latest->began : progress.began;
    latest = progress;
    latest->began = began;  // of what nobody was told yet, the earliest
  });
}

void Mailbox::first_token(TimePoint t) {
  gather([&]() SWARMKV_UNDER_LOCK { gathered_.first_token = t; });
}

void Mailbox::text(std::string delta, int n_generated) {
  gather([&]() SWARMKV_UNDER_LOCK {
    gathered_.text += delta;
    gathered_.n_generated = n_generated;
  });
}

void Mailbox::preempted() {
  gather([&]() SWARMKV_UNDER_LOCK { ++gathered_.n_preempted; });
}

void Mailbox::finished(Result result) {
  gather([&]() SWARMKV_UNDER_LOCK {
    result_ = std::move(result);
    gathered_.finished = true;
  });
}

void Mailbox::drain() {
  Gathered news;
  {
    const MutexLock lock(mutex_);
    news = std::exchange(gathered_, Gathered{});
    queued_ = false;
  }
  if (listener_ != nullptr) {
    // A listener that throws is not called again; the request goes on.
    try {
      tell(news);
    } catch (...) {
      listener_.reset();
    }
  }
  if (!news.finished) return;
  listener_.reset();
  const MutexLock lock(mutex_);
  done_ = true;
  delivered_.notify_all();
}

void Mailbox::tell(const Gathered& news) {
  if (news.admitted) listener_->on_admitted(*news.admitted);
  std::optional<PrefixProgress> progress[] = {news.found, news.computed};
  if (news.found && news.computed && news.found->n_computed > news.computed->n_computed) {
    std::swap(progress[0], progress[1]);
  }
  for (const std::optional<PrefixProgress>& p : progress) {
    if (p) listener_->on_prefix_progress(*p);
  }
  for (int i = 0; i < news.n_preempted; ++i) listener_->on_preempted();
  if (news.first_token) listener_->on_first_token(*news.first_token);
  if (!news.text.empty()) listener_->on_text(news.text, news.n_generated);
  if (!news.finished) return;
  Result result;
  {
    const MutexLock lock(mutex_);
    result = result_;
  }
  listener_->on_finished(result);
}

Result Mailbox::wait() {
  const MutexLock lock(mutex_);
  while (!done_) delivered_.wait(mutex_);
  return result_;
}

bool Mailbox::wait_for(std::chrono::milliseconds limit) {
  const auto until = deadline_after(std::chrono::steady_clock::now(), limit);
  const MutexLock lock(mutex_);
  while (!done_) {
    if (delivered_.wait_until(mutex_, until) == std::cv_status::timeout) return done_;
  }
  return true;
}

Delivery::Delivery() : thread_([this] { run(); }) {}

Delivery::~Delivery() {
  {
    const MutexLock lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Delivery::post(std::function<void()> call) {
  // Notified under the lock: once the call has run, its client may take all of this down.
  const MutexLock lock(mutex_);
  queue_.push_back(std::move(call));
  wake_.notify_one();
}

void Delivery::run() {
  while (true) {
    std::function<void()> call;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !stop_) wake_.wait(mutex_);
      if (queue_.empty()) return;
      call = std::move(queue_.front());
      queue_.pop_front();
    }
    call();
  }
}

}  // namespace swarmkv::internal
