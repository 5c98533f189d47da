// A request while the scheduler has it: what is known, what is in the cache, what it may still
// take.
//
//   prompt                                      generated
//   |------ base (tree, shared) ------|-- tail --|----------|
//   0                          base->end()   n_prompt    n_known
//   In the cache: [0, n_past). The last generated token is known but not in the cache until it is
//   fed.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/context.h"
#include "kv/prefix_tree.h"
#include "schedule/request_runner.h"
#include "swarmkv/report.h"
#include "swarmkv/request.h"
#include "text/text_stream.h"

namespace swarmkv::internal {

/// Hears of one branch, on the engine thread; must be quick and must not throw.
class BranchSink {
 public:
  virtual ~BranchSink() = default;
  virtual void admitted(TimePoint) = 0;
  virtual void prefix_progress(const PrefixProgress& progress) = 0;
  virtual void first_token(TimePoint) = 0;
  virtual void text(std::string delta, int n_generated) = 0;
  virtual void preempted() = 0;
  virtual void finished(Result result) = 0;  ///< exactly once, the last call
};

/// Cells a running branch takes at a time.
inline constexpr int kGrowth = 64;

struct Branch {
  Branch(std::uint64_t branch_id, Request r, std::unique_ptr<Sampler> s,
         std::shared_ptr<BranchSink> to)
      : id(branch_id),
        request(std::move(r)),
        keep(request.keep),
        sampler(std::move(s)),
        stream(request.stop),
        sink(std::move(to)) {}

  const std::uint64_t id;  ///< submit order
  const Request request;
  bool keep;  ///< still wanted: its client may let go before it has finished
  std::unique_ptr<Sampler> sampler;
  TextStream stream;
  std::shared_ptr<BranchSink> sink;
  std::optional<TimePoint> deadline;
  std::int64_t rank =
      0;  ///< higher runs first; fixed at submit, so waiting raises it against later ones

  RequestState state = RequestState::kWaiting;
  PrefixNode* base = nullptr;  ///< pinned while admitted
  /// What of the way to its base was last seen not ready, from the base up: see next_unready().
  std::vector<PrefixNode*> unready;
  SeqId seq = kNoSeq;  ///< its own, empty until forked
  bool forked = false;
  int n_past = 0;      ///< positions in `seq`
  int n_reserved = 0;  ///< private cells promised to it
  std::uint64_t admit_order = 0;
  int n_evaluated =
      0;  ///< prompt tokens ever evaluated privately or found cached (high-water mark)
  int last_progress = -1;
  std::uint64_t last_step = 0;
  Result result;

  [[nodiscard]] int n_prompt() const { return request.n_prompt(); }
  /// Of the declared prefix; a prompt's last token is always evaluated by itself.
  [[nodiscard]] int n_shareable() const { return std::min(request.n_prefix(), n_prompt() - 1); }
  [[nodiscard]] int n_generated() const { return static_cast<int>(result.tokens.size()); }
  [[nodiscard]] int n_known() const { return n_prompt() + n_generated(); }
  [[nodiscard]] int n_to_feed() const { return n_known() - n_past; }
  [[nodiscard]] bool decoding() const { return state == RequestState::kDecoding; }
  [[nodiscard]] Token token_at(int i) const {
    return i < n_prompt() ? request.prompt_token(i)
                          : result.tokens[static_cast<std::size_t>(i - n_prompt())];
  }
  [[nodiscard]] int n_private() const { return forked ? n_past - base->end() : 0; }

  /// Private cells to the very end when based at `base_end`; the last token is never fed.
  [[nodiscard]] int n_full(int base_end) const {
    return n_prompt() - base_end + std::max(0, request.max_tokens - 1);
  }
  /// Of those, what it begins with.
  [[nodiscard]] int n_first(int base_end) const {
    return std::min(n_full(base_end), n_known() - base_end + kGrowth);
  }
};

/// Forwards that fail for good, in a row, until an engine is not trusted any more.
inline constexpr int kMostFatalInARow = 3;

/// What a branch hears when its time is over, without who says it.
[[nodiscard]] std::string timeout_message(const Branch& branch);

/// Forwards the batch, waits for the device, and adds what the engine says of it to `counters`, but
/// no time: whose clock that is, the caller knows. Nothing is thrown: a failure is kFatal and has a
/// reason in `error`.
[[nodiscard]] ForwardStatus evaluate(Context& context, const Batch& batch, EngineCounters& counters,
                                     std::string& error);

/// Positions [from, to) of the branch's declared prefix were computed on its behalf, in a forward
/// that began at `began`. `piece`: where the piece begins, up to the next cut, that they are part
/// of.
void count_prefix(Result& result, int piece, int from, int to, TimePoint began);

/// A token was chosen for the branch: tells its client. Answers why the branch ends with it, if it
/// does.
[[nodiscard]] std::optional<FinishReason> accept_token(Branch& branch, const Model& model,
                                                       Token token, TimePoint t);
/// The branch's last words: what its text stream held back, and the result. Nothing may follow.
void conclude(Branch& branch, RequestState state, FinishReason reason, ErrorCode code,
              const std::string& error, TimePoint t);

/// Priority, then submit order; one step of priority is worth kAgingSteps steps of waiting.
inline constexpr int kAgingSteps = 256;
struct RanksBefore {
  bool operator()(const Branch* a, const Branch* b) const {
    return a->rank != b->rank ? a->rank > b->rank : a->id < b->id;
  }
};

}  // namespace swarmkv::internal
