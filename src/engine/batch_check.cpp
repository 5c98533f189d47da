#include "engine/batch_check.h"

#include <string>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[engine.forward] " + what);
}

std::string number(std::int64_t value) { return std::to_string(value); }

void check_one_ubatch(const std::vector<TouchedSeq>& touched, const BatchLimits& limits) {
  for (std::size_t i = 1; i < touched.size(); ++i) {
    const TouchedSeq &before = touched[i - 1], &now = touched[i];
    if (limits.equal_lengths && now.n_tokens != before.n_tokens) {
      refuse("this model takes the same number of tokens from every sequence, got " +
             number(before.n_tokens) + " of sequence " + number(before.seq) + " and " +
             number(now.n_tokens) + " of sequence " + number(now.seq));
    }
    if (limits.consecutive_ids && now.seq != before.seq + 1) {
      refuse("this model takes consecutive sequence ids in rising order, got " +
             number(before.seq) + " and then " + number(now.seq));
    }
  }
}

}  // namespace

std::vector<TouchedSeq> check_batch(const Batch& batch, const BatchRules& rules,
                                    const std::function<Pos(SeqId)>& length) {
  if (batch.empty()) refuse("the batch is empty");
  if (batch.size() > static_cast<std::size_t>(rules.limits.n_tokens)) {
    refuse("the batch has " + std::to_string(batch.size()) + " tokens, at most " +
           number(rules.limits.n_tokens) + " fit");
  }
  std::vector<TouchedSeq> touched;
  std::vector<int> slot(static_cast<std::size_t>(rules.n_seq_max), -1);  // sequence -> touched
  int n_outputs = 0;
  for (const BatchToken& item : batch) {
    if (item.seq < 0 || item.seq >= rules.n_seq_max) {
      refuse("sequence id " + number(item.seq) + " is not in [0, " + number(rules.n_seq_max) + ")");
    }
    if (item.token < 0 || item.token >= rules.n_vocab) {
      refuse("token " + number(item.token) + " is not in [0, " + number(rules.n_vocab) + ")");
    }
    int& at = slot[static_cast<std::size_t>(item.seq)];
    if (at < 0) {
      at = static_cast<int>(touched.size());
      touched.push_back({item.seq, length(item.seq), 0});
    }
    TouchedSeq& seq = touched[static_cast<std::size_t>(at)];
    if (item.pos != seq.length + seq.n_tokens) {
      refuse("position " + number(item.pos) + " does not continue sequence " + number(item.seq) +
             ", whose next is " + number(seq.length + seq.n_tokens));
    }
    ++seq.n_tokens;
    if (item.logits) ++n_outputs;
  }
  if (n_outputs > rules.n_outputs_max) {
    refuse("the batch asks for " + number(n_outputs) + " rows of logits, at most " +
           number(rules.n_outputs_max) + " can be had");
  }
  check_one_ubatch(touched, rules.limits);
  return touched;
}

}  // namespace swarmkv::internal
