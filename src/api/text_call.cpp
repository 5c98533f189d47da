#include "api/text_call.h"

#include <string>
#include <system_error>
#include <utility>

#include "swarmkv/error.h"

namespace swarmkv::internal {

void TextThread::begin() {
  const MutexLock lock(mutex_);
  if (thread_) return;
  try {
    thread_.emplace();
  } catch (const std::system_error& e) {
    throw Error(ErrorCode::kDoesNotFit,
                std::string("[engine.submit] no thread for text: ") + e.what());
  }
}

void TextThread::post(std::function<void()> call) {
  const MutexLock lock(mutex_);
  thread_->post(std::move(call));
}

class TextCall::Listener final : public RequestListener {
 public:
  explicit Listener(std::shared_ptr<TextCall> call) : call_(std::move(call)) {}
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() override { call_->add({}, true); }
  void on_text(std::string_view delta, int) override { call_->add(delta, false); }

 private:
  const std::shared_ptr<TextCall> call_;
};

TextCall::TextCall(TextThread& thread, Engine::TextCallback callback)
    : thread_(thread), callback_(std::move(callback)) {}

std::shared_ptr<RequestListener> TextCall::listener(std::shared_ptr<TextCall> call) {
  return std::make_shared<Listener>(std::move(call));
}

void TextCall::add(std::string_view delta, bool is_end) {
  {
    const MutexLock lock(mutex_);
    text_ += delta;
    has_ended_ = has_ended_ || is_end;
    if (std::exchange(is_queued_, true)) return;
  }
  thread_.post([self = shared_from_this()] { self->drain(); });
}

void TextCall::drain() {
  std::string text;
  bool is_end = false;
  {
    const MutexLock lock(mutex_);
    text = std::exchange(text_, {});
    is_end = has_ended_;
    is_queued_ = false;
  }
  if (callback_ && !text.empty()) {
    try {
      callback_(text);
    } catch (...) {
      callback_ = nullptr;
    }
  }
  if (!is_end) return;
  callback_ = nullptr;  // what it holds is let go of before anybody hears of the end
  const MutexLock lock(mutex_);
  is_done_ = true;
  told_.notify_all();
}

void TextCall::wait() {
  const MutexLock lock(mutex_);
  while (!is_done_) told_.wait(mutex_);
}

bool TextCall::wait_until(TimePoint t) {
  const MutexLock lock(mutex_);
  while (!is_done_) {
    if (told_.wait_until(mutex_, t) == std::cv_status::timeout) return is_done_;
  }
  return true;
}

}  // namespace swarmkv::internal
