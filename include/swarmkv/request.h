#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "swarmkv/error.h"
#include "swarmkv/sampling.h"

namespace swarmkv {

using Token = std::int32_t;
using Tokens = std::vector<Token>;
/// Points on the engine's steady clock; the run clock 0 is subtracted where times leave the
/// library.
using TimePoint = std::chrono::steady_clock::time_point;

/// One piece of work: token ids, sampling and limits. Everything else (agents, pipelines,
/// questions) is built from these. The full prompt is `prefix` followed by `suffix`; at least one
/// token in total.
struct Request {
  std::string label;  ///< shown in messages and events; need not be unique
  std::shared_ptr<const Tokens>
      prefix;  ///< declared shared part (documents); may be null. Its end is a fork point
  /// Further planned fork points, ascending, in tokens. Inside `prefix` they are cut points of its
  /// computation; beyond it they say where an earlier request that this one continues ended.
  std::vector<int> fork_points;
  Tokens suffix;  ///< this request's own prompt tokens
  Sampling sampling;
  int max_tokens = 512;           ///< >= 0; 0 = prefill only
  std::vector<std::string> stop;  ///< output ends before the first of these (may span tokens)
  bool ignore_eos = false;        ///< generate to max_tokens past end-of-generation tokens
  int priority = 0;               ///< higher runs earlier
  /// What it leaves in the cache when it finishes is kept for requests that continue it, until the
  /// handle lets go of it; under pressure it goes last, and is computed again.
  bool keep = false;
  std::chrono::milliseconds timeout{0};  ///< from submit; 0 = none

  /// Whether it goes on where an earlier request ended.
  [[nodiscard]] bool continues() const {
    return !fork_points.empty() && fork_points.back() > n_prefix();
  }
  [[nodiscard]] int n_prefix() const { return prefix ? static_cast<int>(prefix->size()) : 0; }
  [[nodiscard]] int n_prompt() const { return n_prefix() + static_cast<int>(suffix.size()); }
  [[nodiscard]] Token prompt_token(int i) const {
    const int p = n_prefix();
    return i < p ? (*prefix)[static_cast<std::size_t>(i)] : suffix[static_cast<std::size_t>(i - p)];
  }
};

enum class RequestState { kWaiting, kPrefilling, kDecoding, kFinished, kFailed, kCancelled };
enum class FinishReason {
  kNone,
  kStop,
  kLength
};  ///< kStop: end-of-generation token or stop string

/// Positions [begin, end) of a prompt, evaluated in one or several forwards. No range crosses the
/// end of a declared prefix or a planned fork point.
struct ComputedRange {
  int begin = 0, end = 0;
  TimePoint began;  ///< when the first of these forwards did
};

/// What became of a request. Times are absolute; unset = never reached.
struct Result {
  RequestState state = RequestState::kWaiting;  ///< kFinished, kFailed or kCancelled once done
  FinishReason finish_reason = FinishReason::kNone;
  ErrorCode error_code = ErrorCode::kInternal;  ///< meaningful for kFailed (kTimeout included)
  std::string error;                            ///< message, for kFailed and kCancelled
  std::string text;                             ///< valid UTF-8, without stop string
  Tokens tokens;                                ///< generated ids, end-of-generation token excluded
  int n_cut_bytes = 0;      ///< bytes of a character that max_tokens cut in half (not in `text`)
  std::string stop_string;  ///< the stop string that ended it, if one did

  int n_prompt_tokens = 0;    ///< asked
  int n_cached_tokens = 0;    ///< of those, taken from the tree at the (last) fork
  int n_computed_tokens = 0;  ///< of those, evaluated in this request's own sequence the first time
  int n_recomputed_tokens = 0;  ///< evaluated again after a preemption
  /// Shared tokens evaluated in tree nodes while this request was the first in line for them: each
  /// is counted for exactly one request, so sums over a run are right even if runs overlap. Inside
  /// its declared prefix, and beyond it. (The arm `recompute` counts its own prefix here, too.)
  int n_prefix_computed_tokens = 0, n_tail_computed_tokens = 0;
  /// Where the former stand, piece by piece as they were computed.
  std::vector<ComputedRange> prefix_computed_ranges;
  int peak_used_cells = 0;  ///< of the pool, all requests together, while this one was admitted
  /// Tokens of prompt and answer that its sequence held in the end, the answer's last one usually
  /// apart: where a request that continues it has its fork point.
  int n_cache_tokens = 0;
  int n_preemptions = 0;
  bool fork_fell_back =
      false;  ///< the model could not fork at the match; an earlier holder was used

  std::optional<TimePoint> enqueued, admitted, prefix_ready, first_token, finished;
  std::optional<TimePoint> handed_over;  ///< its own sequence holds the prefix: forked or restored
  std::vector<TimePoint> token_times;    ///< one per generated token
};

}  // namespace swarmkv
