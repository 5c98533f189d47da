// The text callback of a submitted request, on a thread apart: the engine's event thread also
// carries answers to runs, and must not wait for somebody else's code.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "schedule/delivery.h"
#include "schedule/request_runner.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

/// The thread on which an engine's text callbacks are called, one at a time; there is none before
/// it is needed. Thread-safe. The destructor delivers what is left.
class TextThread {
 public:
  /// Before the first post().
  /// errors  kDoesNotFit  the system gives no thread
  void begin();
  void post(std::function<void()> call);  ///< as Delivery::post

 private:
  Mutex mutex_;
  std::optional<Delivery> thread_ GUARDED_BY(mutex_);
};

/// What waits for a slow callback is the request's text, and no more.
class TextCall : public std::enable_shared_from_this<TextCall> {
 public:
  /// `thread` outlives the request and has begun. A callback that throws is not called again.
  TextCall(TextThread& thread, Engine::TextCallback callback);

  /// What is told of the request goes to `call`; when nobody has the listener any more, that was
  /// all.
  static std::shared_ptr<RequestListener> listener(std::shared_ptr<TextCall> call);

  /// Until all of the text was told.
  void wait();
  [[nodiscard]] bool wait_until(TimePoint t);

 private:
  class Listener;
  void add(std::string_view delta, bool is_end);
  void drain();

  TextThread& thread_;
  Engine::TextCallback callback_;  // on the thread only
  Mutex mutex_;
  ConditionVariable told_;
  std::string text_ GUARDED_BY(mutex_);
  bool is_queued_ GUARDED_BY(mutex_) = false, has_ended_ GUARDED_BY(mutex_) = false;
  bool is_done_ GUARDED_BY(mutex_) = false;
};

}  // namespace swarmkv::internal
