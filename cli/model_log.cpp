#include "cli/model_log.h"

#include <atomic>
#include <limits>
#include <memory>

namespace swarmkv::cli {
namespace {

// ggml's levels of messages.
enum Level { kDebug = 1, kInfo = 2, kWarning = 3, kError = 4, kContinued = 5 };

// The threshold from which on llama.cpp's programs show a message of the runtime. Their own
// messages come at 3, those of the runtime below them one later.
int threshold_of(int level) {
  switch (level) {
    case kDebug:
      return 5;
    case kInfo:
      return 4;
    case kWarning:
      return 2;
    case kError:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

bool shows_model_log(const Settings& settings) {
  return settings.verbosity ? *settings.verbosity > 0 : settings.verbose;
}

std::function<void(int, std::string_view)> model_log(
    const Settings& settings, const std::function<void(std::string_view)>& write) {
  if (!shows_model_log(settings)) return {};
  const int threshold = settings.verbosity.value_or(std::numeric_limits<int>::max());
  // Messages come from several threads; a line that goes on shares the fate of its beginning.
  auto shown = std::make_shared<std::atomic<bool>>(true);
  return [threshold, shown, write](int level, std::string_view text) {
    if (level != kContinued) *shown = threshold_of(level) <= threshold;
    if (*shown) write(text);
  };
}

}  // namespace swarmkv::cli
