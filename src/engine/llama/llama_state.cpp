// The half of LlamaContext that copies sequences out of the cache and back.
//
// What the runtime leaves to its caller, read in its source:
// - the size is that of the filled sequence; a short buffer or a damaged state answers 0, or
// throws;
// - a blob says nothing about its model; who takes one from a file has compared that before;
// - a restore that fails half way may leave cells behind, on window models even with length 0;
// - ON_DEVICE: the tensors belong to the context and to the sequence id they were saved from, and a
//   state that does not fit them ends the process. So only the last save of an id is let through.
#include <exception>
#include <optional>
#include <string>

#include "engine/llama/llama_context.h"
#include "engine/llama/llama_log.h"
#include "engine/llama/state_identity.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void fail(ErrorCode code, const std::string& operation, const std::string& what) {
  throw Error(code, "[engine." + operation + "] " + what);
}

llama_state_seq_flags flags_of(Where where) {
  return where == Where::kDevice ? LLAMA_STATE_SEQ_FLAGS_ON_DEVICE : LLAMA_STATE_SEQ_FLAGS_NONE;
}

// `call` returns a byte count; what it throws becomes 0 and the reason.
template <typename Call>
std::size_t counted(std::string& reason, Call call) {
  (void)take_first_complaint();
  std::size_t n = 0;
  try {
    n = call();
  } catch (const std::exception& error) {
    reason = error.what();
  } catch (...) {
    reason = "unknown exception";
  }
  if (reason.empty()) reason = take_first_complaint();
  if (!reason.empty()) reason = ": " + reason;
  return n;
}

std::string named(SeqId seq, Pos length) {
  return "sequence " + std::to_string(seq) + " of " + std::to_string(length) + " tokens";
}

}  // namespace

std::uint64_t LlamaContext::state_size(SeqId seq, Where where) const {
  check_id("state_size", seq);
  return llama_state_seq_get_size_ext(context_.get(), seq, flags_of(where));
}

SequenceState LlamaContext::save(SeqId seq, Where where) {
  check_id("save", seq);
  SequenceState state;
  state.where = where;
  state.length = length(seq);
  if (state.length == 0) {
    fail(ErrorCode::kInvalidArgument, "save", "sequence " + std::to_string(seq) + " is empty");
  }
  synchronize();
  state.size_bytes = state_size(seq, Where::kHost);
  state.bytes.resize(state_size(seq, where));
  if (where == Where::kDevice) device_saves_.erase(seq);  // its tensors go, whatever comes of this
  std::string reason;
  const std::size_t n = counted(reason, [&] {
    return llama_state_seq_get_data_ext(context_.get(), state.bytes.data(), state.bytes.size(), seq,
                                        flags_of(where));
  });
  if (n == 0 || n != state.bytes.size()) {
    fail(ErrorCode::kEngineFailed, "save",
         named(seq, state.length) + ": llama.cpp announced " + std::to_string(state.bytes.size()) +
             " bytes and wrote " + std::to_string(n) + reason);
  }
  synchronize();
  if (where == Where::kDevice) {
    state.keeper = identity_;
    state.n_save = ++n_device_saves_;
    device_saves_[seq] = {state.n_save, state.bytes.size()};
  }
  return state;
}

void LlamaContext::load(const SequenceState& state, SeqId target) {
  check_empty(target);
  if (state.where == Where::kDevice) {
    bool current = false;
    for (const auto& [seq, save] : device_saves_) {
      current = current || (save.n_save == state.n_save && save.n_bytes == state.bytes.size());
    }
    if (state.keeper != identity_ || !current) {
      fail(ErrorCode::kInvalidArgument, "load",
           "this state is on the device of another context, or its place was saved over");
    }
  }
  load_checked(state.bytes, state.length, target, state.where);
}

void LlamaContext::load(StateBytes bytes, Pos length, SeqId target) {
  check_empty(target);
  (void)read_kv_state(bytes, state_rules(length));
  load_checked(bytes, length, target, Where::kHost);
}

void LlamaContext::check_empty(SeqId target) const {
  check_id("load", target);
  const Pos held = length(target);
  if (held == 0) return;
  fail(ErrorCode::kInvalidArgument, "load", "target " + named(target, held) + " is not empty");
}

void LlamaContext::load_checked(StateBytes bytes, Pos positions, SeqId target, Where where) {
  if (bytes.empty()) fail(ErrorCode::kCorrupt, "load", "the state has 0 bytes");
  std::string reason;
  const std::size_t n = counted(reason, [&] {
    return llama_state_seq_set_data_ext(context_.get(), bytes.data(), bytes.size(), target,
                                        flags_of(where));
  });
  synchronize();
  const Pos restored = length(target);
  if (n == bytes.size() && restored == positions) return;
  release(target);
  if (n != bytes.size()) {
    fail(ErrorCode::kCorrupt, "load",
         "the state has " + std::to_string(bytes.size()) + " bytes, llama.cpp read " +
             std::to_string(n) + reason);
  }
  fail(ErrorCode::kCorrupt, "load",
       "the state has " + std::to_string(positions) + " positions, " + std::to_string(restored) +
           " came back from its " + std::to_string(n) + " bytes");
}

KvStateRules LlamaContext::state_rules(Pos length) const {
  return {kind_, has_cell_ext(*model_), length};
}

StateIdentity LlamaContext::identity() {
  if (state_identity_.value_layout.empty()) {
    state_identity_.value_layout = values_in_columns() ? "columns" : "rows";
  }
  return state_identity_;
}

// V lies in rows for flash attention and in columns without it. Where that was left to the runtime
// no call tells what it chose, but the state of a single token does.
bool LlamaContext::values_in_columns() {
  if (flash_attention_ == FlashAttention::kOff) return true;
  if (flash_attention_ == FlashAttention::kOn || attention_hook_ != nullptr) return false;
  SeqId seq = 0;
  while (seq < rules_.n_seq_max && length(seq) > 0) ++seq;
  wants_logits_.clear();
  const bool is_mine = seq < rules_.n_seq_max && decode({{0, 0, seq, false}}) == 0;
  if (!is_mine) seq = 0;  // a full cache: then there is a sequence to ask
  std::string reason;
  std::optional<bool> columns;
  try {
    const SequenceState state = save(seq, Where::kHost);
    const auto shape = read_kv_state(state.bytes, state_rules(state.length));
    columns = shape.transposed_values.value_or(false);
  } catch (const Error& e) {
    reason = e.what();
  }
  if (is_mine) release(seq);
  if (columns) return *columns;
  fail(ErrorCode::kEngineFailed, "identity", "llama.cpp does not tell how V lies: " + reason);
}

}  // namespace swarmkv::internal
