// The half of LlamaContext that keeps sequences: what they hold, where they may be forked and cut.
#include <algorithm>
#include <string>

#include "engine/llama/llama_context.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse(const std::string& operation, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[engine." + operation + "] " + what);
}

}  // namespace

void LlamaContext::check_id(const char* operation, SeqId seq) const {
  // Beyond its limits the runtime asserts, or on hybrid models quietly does nothing.
  if (seq >= 0 && seq < rules_.n_seq_max) return;
  refuse(operation, "sequence id " + std::to_string(seq) + " is not in [0, " +
                        std::to_string(rules_.n_seq_max) + ")");
}

Pos LlamaContext::length(SeqId seq) const {
  check_id("length", seq);
  return llama_memory_seq_pos_max(memory(), seq) + 1;
}

bool LlamaContext::window_reaches(SeqId seq, Pos end) const {
  // What follows position `end` looks back n_swa - 1 tokens; cells before that may be recycled.
  return end == 0 || n_swa_ <= 0 ||
         llama_memory_seq_pos_min(memory(), seq) <= std::max(0, end - n_swa_ + 1);
}

bool LlamaContext::can_fork(SeqId source, Pos end) const {
  check_id("can_fork", source);
  const Pos present = length(source);
  if (end < 0 || end > present) return false;
  if (kind_ == ForkKind::kRecurrent) return end == present;
  return window_reaches(source, end);
}

void LlamaContext::fork(SeqId source, SeqId target, Pos end) {
  check_id("fork", source);
  check_id("fork", target);
  if (source == target) refuse("fork", "source and target are both " + std::to_string(source));
  if (const Pos held = length(target); held != 0) {
    refuse("fork", "target " + std::to_string(target) + " is not empty: it holds " +
                       std::to_string(held) + " tokens");
  }
  if (!can_fork(source, end)) {
    refuse("fork", "sequence " + std::to_string(source) + " of " + std::to_string(length(source)) +
                       " tokens cannot be forked at " + std::to_string(end));
  }
  if (end > 0) llama_memory_seq_cp(memory(), source, target, 0, end);
}

void LlamaContext::release(SeqId seq) {
  check_id("release", seq);
  (void)llama_memory_seq_rm(memory(), seq, -1, -1);  // a whole sequence can always go
}

bool LlamaContext::truncate(SeqId seq, Pos from) {
  check_id("truncate", seq);
  if (from < 0) refuse("truncate", "position " + std::to_string(from) + " is negative");
  const Pos present = length(seq);
  if (from >= present) return true;
  if (from == 0) {
    release(seq);
    return true;
  }
  if (kind_ == ForkKind::kRecurrent || !window_reaches(seq, from)) return false;
  return llama_memory_seq_rm(memory(), seq, from, -1);
}

void LlamaContext::clear() {
  wants_logits_.clear();
  llama_memory_clear(memory(), /*data=*/true);
}

}  // namespace swarmkv::internal
