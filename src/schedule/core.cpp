#include "schedule/core.h"

#include <algorithm>
#include <string>

namespace swarmkv::internal {

SchedulerCore::SchedulerCore(const Model& model, Context& context, SchedulerOptions options,
                             Clock now)
    : model_(model),
      context_(context),
      options_(options),
      now_(std::move(now)),
      limits_(context.batch_limits()),
      cells_(context.n_cells()),
      seqs_(context.n_seq_max()),
      tree_(context, model.info().fork_kind, cells_, seqs_),
      n_budget_(limits_.n_tokens) {
  stats_.n_cells = context.n_cells();
}

SchedulerCore::~SchedulerCore() { cancel_all("[schedule] the engine was shut down"); }

void SchedulerCore::check(const Request& request) const {
  const auto refuse = [&](ErrorCode code, const std::string& what) {
    throw Error(code, "[engine.submit] request '" + request.label + "': " + what);
  };
  const int n_prompt = request.n_prompt();
  const int n_vocab = model_.info().n_vocab;
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
    if (at <= previous || at > request.n_prefix()) {
      refuse(ErrorCode::kInvalidArgument, "fork point " + std::to_string(at) +
                                              " is not ascending within the prefix of " +
                                              std::to_string(request.n_prefix()) + " tokens");
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
  if (n_max > model_.info().n_ctx_train) {
    refuse(ErrorCode::kDoesNotFit,
           numbers(n_max, model_.info().n_ctx_train, "the model's training context"));
  }
  if (n_cells_needed > cells_.n_cells()) {
    refuse(ErrorCode::kDoesNotFit, numbers(n_cells_needed, cells_.n_cells(), "the KV cache"));
  }
}

void SchedulerCore::submit(std::unique_ptr<Branch> branch) {
  Branch& b = *branch;
  b.rank = static_cast<std::int64_t>(b.request.priority) * kAgingSteps -
           static_cast<std::int64_t>(n_steps_);
  branches_.emplace(b.id, std::move(branch));
  if (stats_.engine_failed) {
    fail(b, ErrorCode::kEngineFailed, "[engine.submit] the engine failed earlier");
    return;
  }
  if (b.deadline) deadlines_.emplace(*b.deadline, b.id);
  waiting_.insert(&b);
  admission_may_help_ = true;
}

bool SchedulerCore::step() {
  ++n_steps_;
  if (stats_.engine_failed) {
    fail_everyone("[schedule] the engine failed earlier");
    return false;
  }
  expire_deadlines();
  if (branches_.empty()) return false;
  top_up_oldest();
  admit();
  compose();
  if (batch_.empty()) {
    if (!admitted_.empty()) {
      break_stall();
    } else if (!waiting_.empty() && !admission_may_help_) {
      Branch& head = **waiting_.begin();
      fail(head, ErrorCode::kKvCacheFull,
           "[schedule.admit] '" + head.request.label + "' does not fit an empty cache of " +
               std::to_string(cells_.n_cells()) + " cells");
    }
    return true;
  }
  std::string error;
  const ForwardStatus status = forward(error);
  if (status == ForwardStatus::kOk) {
    deliver();
  } else {
    recover(status, error);
  }
  return true;
}

void SchedulerCore::check_integrity() const {
  const auto require = [](bool holds, const std::string& what) {
    if (!holds) throw Error(ErrorCode::kInternal, "[schedule.check_integrity] " + what);
  };
  tree_.check_integrity();
  int n_reserved = tree_.n_cells_reserved();
  int n_ids = 0;
  for (const auto& [id, owned] : branches_) {
    const Branch& b = *owned;
    const std::string who = "'" + b.request.label + "' ";
    const bool admitted = admitted_.count(owned.get()) != 0;
    require(admitted != (waiting_.count(owned.get()) != 0), who + "is not in exactly one list");
    if (!admitted) {
      require(b.base == nullptr && b.seq == kNoSeq && b.n_reserved == 0,
              who + "waits but owns something");
      continue;
    }
    ++n_ids;
    n_reserved += b.n_reserved;
    require(b.base->n_pins > 0, who + "does not pin its base");
    require(b.n_private() <= b.n_reserved, who + "uses more cells than it reserved");
    require(context_.length(b.seq) == (b.forked ? b.n_past : 0), who + "sequence length is wrong");
  }
  require(n_reserved == cells_.n_reserved(), "reserved cells differ from the sum of all owners");
  require(cells_.n_reserved() <= cells_.n_cells(), "more cells are reserved than exist");
  require(n_ids + seqs_.n_free() <= seqs_.n_ids(), "more sequence ids in use than exist");
}

}  // namespace swarmkv::internal
