// From the engine thread to the clients: each request has its own buffer, an event thread drains it
// and calls the listeners one at a time with no lock held. The engine thread never waits for a
// listener; listeners do not wait for users' code, since every other request would wait with them.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "schedule/branch.h"
#include "schedule/request_runner.h"

namespace swarmkv::internal {

class Delivery;

/// One request's mailbox. Bounded: text by max_tokens, everything else is a flag or the latest
/// value.
class Mailbox final : public BranchSink, public std::enable_shared_from_this<Mailbox> {
 public:
  Mailbox(Delivery& delivery, std::shared_ptr<RequestListener> listener);

  // Engine thread.
  void admitted(TimePoint t) override;
  void prefix_progress(const PrefixProgress& progress) override;
  void first_token(TimePoint t) override;
  void text(std::string delta, int n_generated) override;
  void preempted() override;
  void finished(Result result) override;

  /// Event thread: passes on what has gathered.
  void drain();

  // Any thread.
  Result wait();
  bool wait_for(std::chrono::milliseconds limit);

 private:
  struct Gathered {
    std::optional<TimePoint> admitted, first_token;
    std::optional<PrefixProgress> found, computed;  ///< what was there, what forwards brought
    int n_generated = 0, n_preempted = 0;
    std::string text;
    bool finished = false;
  };
  template <typename Change>
  void gather(Change change);
  void tell(const Gathered& news);

  Delivery& delivery_;
  std::shared_ptr<RequestListener> listener_;  // event thread only
  Mutex mutex_;
  ConditionVariable delivered_;
  Gathered gathered_ GUARDED_BY(mutex_);
  bool queued_ GUARDED_BY(mutex_) = false;
  Result result_ GUARDED_BY(mutex_);
  bool done_ GUARDED_BY(mutex_) = false;
};

/// The event thread: runs what is posted, one after another. Thread-safe.
class Delivery {
 public:
  Delivery();
  ~Delivery();                            ///< delivers what is queued, then joins
  void post(std::function<void()> call);  ///< `call` must not throw

 private:
  void run();

  Mutex mutex_;
  ConditionVariable wake_;
  std::deque<std::function<void()>> queue_ GUARDED_BY(mutex_);
  bool stop_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace swarmkv::internal
