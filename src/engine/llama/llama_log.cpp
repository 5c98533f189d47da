#include "engine/llama/llama_log.h"

#include <mutex>
#include <utility>

#include "engine/llama/attention_backend.h"
#include "llama.h"
#include "log.h"

namespace swarmkv::internal {
namespace {

// The one thing in this library that is process-wide, because the runtime's callback is.
struct LogState {
  std::mutex mutex;
  std::weak_ptr<const LogSink> sink;
};

LogState& log_state() {
  static LogState state;
  return state;
}

std::string& complaint() {
  thread_local std::string text;
  return text;
}

void on_message(ggml_log_level level, const char* text, void*) {
  if (text == nullptr) return;
  try {
    const std::string_view message(text);
    // The first complaint is the cause; what follows only says that the caller failed as well.
    if (level == GGML_LOG_LEVEL_ERROR && complaint().empty()) {
      constexpr std::size_t kEnough = 2000;  // a grammar may be quoted whole
      complaint().assign(message.substr(0, kEnough));
    }
    std::shared_ptr<const LogSink> sink;
    {
      const std::lock_guard lock(log_state().mutex);
      sink = log_state().sink.lock();
    }
    if (sink) (*sink)(static_cast<int>(level), message);
  } catch (...) {
    // An exception must not cross the runtime's C code, and a log has nobody to tell.
  }
}

// True if the callback is the runtime's own, which prints. There is no other way to ask than to
// set it back to the default and compare.
bool prints_by_default() {
  ggml_log_callback before = nullptr, standard = nullptr;
  void *data_before = nullptr, *data_standard = nullptr;
  llama_log_get(&before, &data_before);
  llama_log_set(nullptr, nullptr);
  llama_log_get(&standard, &data_standard);
  llama_log_set(before, data_before);
  return before == standard;
}

}  // namespace

void start_runtime() {
  static std::once_flag once;
  std::call_once(once, [] {
    if (prints_by_default()) llama_log_set(on_message, nullptr);
    common_log_set_verbosity_thold(-1);
    llama_backend_init();
    (void)register_attention_device();
  });
}

std::shared_ptr<const void> install_log_sink(const LogSink& sink) {
  if (!sink) return nullptr;
  auto shared = std::make_shared<const LogSink>(sink);
  {
    const std::lock_guard lock(log_state().mutex);
    log_state().sink = shared;
  }
  llama_log_set(on_message, nullptr);
  return shared;
}

std::string take_first_complaint() {
  std::string text = std::exchange(complaint(), {});
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text.empty() ? std::string("no reason given") : text;
}

}  // namespace swarmkv::internal
