#include "schedule/branch.h"

#include <exception>
#include <utility>

namespace swarmkv::internal {

std::string timeout_message(const Branch& branch) {
  return "'" + branch.request.label + "' ran out of time: limit " +
         std::to_string(branch.request.timeout.count()) + " ms, " +
         std::to_string(branch.n_generated()) + " tokens generated";
}

ForwardStatus evaluate(Context& context, const Batch& batch, EngineCounters& counters,
                       std::string& error) {
  ForwardStatus status = ForwardStatus::kFatal;
  const ForwardCosts before = context.costs();
  try {
    status = context.forward(batch);
    context.synchronize();
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "unknown exception";
  }
  const ForwardCosts after = context.costs();
  counters.mask_s += after.mask_s - before.mask_s;
  counters.n_graphs_reused += after.n_graphs_reused - before.n_graphs_reused;
  ++counters.n_forwards;
  if (status == ForwardStatus::kOk) counters.n_forward_tokens += batch.size();
  if (status == ForwardStatus::kFatal && error.empty()) error = "the runtime gave no reason";
  return status;
}

void count_prefix(Result& result, int piece, int from, int to, TimePoint began) {
  result.n_prefix_computed_tokens += to - from;
  std::vector<ComputedRange>& ranges = result.prefix_computed_ranges;
  if (from > piece && !ranges.empty() && ranges.back().end == from) {
    ranges.back().end = to;
  } else {
    ranges.push_back({from, to, began});
  }
}

std::optional<FinishReason> accept_token(Branch& branch, const Model& model, Token token,
                                         TimePoint t) {
  branch.state = RequestState::kDecoding;
  if (model.is_end_of_generation(token) && !branch.request.ignore_eos) return FinishReason::kStop;
  branch.result.tokens.push_back(token);
  branch.result.token_times.push_back(t);
  if (!branch.result.first_token) {
    branch.result.first_token = t;
    branch.sink->first_token(t);
  }
  std::string delta = branch.stream.push(model.piece(token));
  if (!delta.empty()) branch.sink->text(std::move(delta), branch.n_generated());
  if (branch.stream.stopped()) return FinishReason::kStop;
  if (branch.n_generated() >= branch.request.max_tokens) return FinishReason::kLength;
  return std::nullopt;
}

void conclude(Branch& branch, RequestState state, FinishReason reason, ErrorCode code,
              const std::string& error, TimePoint t) {
  Result& result = branch.result;
  std::string rest = branch.stream.finish();
  if (!rest.empty()) branch.sink->text(std::move(rest), branch.n_generated());
  result.text = branch.stream.text();
  result.n_cut_bytes = branch.stream.n_cut_bytes();
  if (branch.stream.stopped()) result.stop_string = branch.stream.stop_string();
  result.state = state;
  result.finish_reason = reason;
  result.error_code = code;
  result.error = error;
  result.n_prompt_tokens = branch.n_prompt();
  result.finished = t;
  branch.sink->finished(std::move(result));
}

}  // namespace swarmkv::internal
