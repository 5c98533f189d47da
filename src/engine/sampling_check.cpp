#include "engine/sampling_check.h"

#include <cmath>
#include <sstream>
#include <string_view>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

template <typename Value>
void require(bool holds, std::string_view field, std::string_view range, Value value) {
  if (holds) return;
  std::ostringstream message;
  message << "[engine.sampling] " << field << " must be " << range << ", got " << value;
  throw Error(ErrorCode::kInvalidArgument, message.str());
}

}  // namespace

void check_sampling(const Sampling& s) {
  // Every comparison is written so that NaN makes it false.
  require(s.temperature >= 0.0 && std::isfinite(s.temperature), "temperature",
          "a finite number >= 0", s.temperature);
  require(s.top_k >= 0, "top_k", ">= 0 (0 = all)", s.top_k);
  require(s.top_p > 0.0 && s.top_p <= 1.0, "top_p", "in (0, 1]", s.top_p);
  require(s.min_p >= 0.0 && s.min_p < 1.0, "min_p", "in [0, 1)", s.min_p);
  require(s.repeat_penalty > 0.0 && std::isfinite(s.repeat_penalty), "repeat_penalty",
          "a finite number > 0", s.repeat_penalty);
  require(s.repeat_last_n >= 0, "repeat_last_n", ">= 0", s.repeat_last_n);
}

}  // namespace swarmkv::internal
