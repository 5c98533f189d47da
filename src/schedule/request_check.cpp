#include "schedule/request_check.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include "swarmkv/error.h"

namespace swarmkv::internal {

void check_request(const Request& request, const ModelInfo& model, int n_cells) {
  const auto refuse = [&](ErrorCode code, const std::string& what) {
    throw Error(code, "[engine.submit] request '" + request.label + "': " + what);
  };
  const int n_prompt = request.n_prompt();
  const int n_vocab = model.n_vocab;
  if (n_prompt < 1) refuse(ErrorCode::kInvalidArgument, "the prompt has no token");
  for (int i = 0; i < n_prompt; ++i) {
    const Token token = request.prompt_token(i);
    if (token < 0 || token >= n_vocab) {
      refuse(ErrorCode::kInvalidArgument, "token " + std::to_string(token) + " at " +
                                              std::to_string(i) + " is outside the vocabulary of " +
                                              std::to_string(n_vocab));
    }
  }
  if (request.max_tokens < 0) {
    refuse(ErrorCode::kInvalidArgument,
           "max_tokens is " + std::to_string(request.max_tokens) + ", must be >= 0");
  }
  if (request.timeout.count() < 0) refuse(ErrorCode::kInvalidArgument, "the timeout is negative");
  if (std::abs(static_cast<std::int64_t>(request.priority)) > 1'000'000) {
    refuse(ErrorCode::kInvalidArgument,
           "priority " + std::to_string(request.priority) + " is outside -1000000..1000000");
  }
  for (const std::string& stop : request.stop) {
    if (stop.empty()) refuse(ErrorCode::kInvalidArgument, "a stop string is empty");
  }
  int previous = 0;
  for (const int at : request.fork_points) {
    if (at <= previous || at > n_prompt) {
      refuse(ErrorCode::kInvalidArgument, "fork point " + std::to_string(at) +
                                              " is not ascending within the prompt of " +
                                              std::to_string(n_prompt) + " tokens");
    }
    previous = at;
  }
  const std::int64_t n_max = static_cast<std::int64_t>(n_prompt) + request.max_tokens;
  const std::int64_t n_cells_needed =
      static_cast<std::int64_t>(n_prompt) + std::max(0, request.max_tokens - 1);
  const auto numbers = [&](std::int64_t needed, std::int64_t available, const char* of) {
    return "prompt " + std::to_string(n_prompt) + " + output " +
           std::to_string(request.max_tokens) + " tokens need " + std::to_string(needed) + ", " +
           of + " is " + std::to_string(available);
  };
  if (n_max > model.n_ctx_train) {
    refuse(ErrorCode::kDoesNotFit,
           numbers(n_max, model.n_ctx_train, "the model's training context"));
  }
  if (n_cells_needed > n_cells) {
    refuse(ErrorCode::kDoesNotFit, numbers(n_cells_needed, n_cells, "the KV cache"));
  }
}

}  // namespace swarmkv::internal
