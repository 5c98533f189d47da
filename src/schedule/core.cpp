#include "schedule/core.h"

#include <algorithm>
#include <string>

#include "schedule/request_check.h"

namespace swarmkv::internal {
namespace {

constexpr int kMostTurnsAhead = 8;  // further ones do not come sooner, so that nobody starves

// Of the conversation that it continues.
int n_turns_before(const Request& request) {
  return static_cast<int>(std::count_if(request.fork_points.begin(), request.fork_points.end(),
                                        [&](int at) { return at > request.n_prefix(); }));
}

}  // namespace

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
  stats_.peak_kv_bytes = context.kv_size_bytes();
}

SchedulerCore::~SchedulerCore() { cancel_all("[schedule] the engine was shut down"); }

void SchedulerCore::check(const Request& request) const {
  check_request(request, model_.info(), cells_.n_cells());
}

void SchedulerCore::submit(std::unique_ptr<Branch> branch) {
  Branch& b = *branch;
  b.rank = static_cast<std::int64_t>(b.request.priority) * kAgingSteps -
           static_cast<std::int64_t>(n_steps_);
  // What it continues holds cells and a sequence for it: conversations are led to their end first,
  // and of those the longest, so that few are open at a time.
  b.rank += std::int64_t{kAgingSteps} * std::min(n_turns_before(b.request), kMostTurnsAhead);
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
