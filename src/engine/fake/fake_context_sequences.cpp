// The half of FakeContext that answers for the seam's preconditions and the bookkeeping of
// sequences.
#include <fmt/format.h>

#include <map>

#include "engine/fake/fake_context.h"
#include "engine/fake/fake_vocab.h"

namespace swarmkv::internal {
namespace {

template <typename... Args>
[[noreturn]] void invalid(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::kInvalidArgument, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace

void FakeContext::check_seq(SeqId seq, const char* operation) const {
  if (seq >= 0 && seq < options_.n_seq_max) return;
  invalid("[engine.{}] sequence id {} is outside of [0, {})", operation, seq, options_.n_seq_max);
}

void FakeContext::check_batch(const Batch& batch) const {
  if (batch.empty()) invalid("[engine.forward] the batch is empty");
  if (static_cast<int>(batch.size()) > options_.n_batch) {
    invalid("[engine.forward] {} tokens, at most {} in one batch", batch.size(), options_.n_batch);
  }
  std::map<SeqId, int> n_per_seq;
  int n_outputs = 0;
  for (const BatchToken& t : batch) {
    check_seq(t.seq, "forward");
    if (t.token < 0 || t.token >= kFakeVocabSize) {
      invalid("[engine.forward] token {} is outside of [0, {})", t.token, kFakeVocabSize);
    }
    const Pos expected = cells_.length(t.seq) + n_per_seq[t.seq];
    if (t.pos != expected) {
      invalid("[engine.forward] position {} does not continue sequence {}: expected {}", t.pos,
              t.seq, expected);
    }
    ++n_per_seq[t.seq];
    n_outputs += t.logits ? 1 : 0;
  }
  if (n_outputs > options_.n_seq_max) {
    invalid("[engine.forward] {} rows of logits, at most n_seq_max = {}", n_outputs,
            options_.n_seq_max);
  }
  if (model_->fork_kind == ForkKind::kRecurrent) check_recurrent_batch(n_per_seq);
}

void FakeContext::check_recurrent_batch(const std::map<SeqId, int>& n_per_seq) const {
  const auto [first, n_first] = *n_per_seq.begin();
  SeqId expected = first;
  for (const auto& [seq, n] : n_per_seq) {
    if (n != n_first) {
      invalid("[engine.forward] recurrent: sequence {} has {} tokens, sequence {} has {}", first,
              n_first, seq, n);
    }
    if (seq != expected && !model_->hybrid) {
      invalid("[engine.forward] recurrent: ids must be consecutive: {} where {} belongs", seq,
              expected);
    }
    ++expected;
  }
}

bool FakeContext::can_fork(SeqId source, Pos end) const {
  check_seq(source, "can_fork");
  const Pos n = cells_.length(source);
  if (end < 0 || end > n) return false;
  if (model_->fork_kind == ForkKind::kRecurrent) return end == n;
  return cells_.window_reaches(source, end);
}

void FakeContext::fork(SeqId source, SeqId target, Pos end) {
  check_seq(source, "fork");
  check_seq(target, "fork");
  if (source == target) invalid("[engine.fork] source and target are both {}", source);
  if (cells_.length(target) > 0) {
    invalid("[engine.fork] target {} is not empty: it has {} positions", target,
            cells_.length(target));
  }
  if (!can_fork(source, end)) {
    invalid(
        "[engine.fork] sequence {} cannot be forked at {}: it has positions [0, {}), window from "
        "{}",
        source, end, cells_.length(source), cells_.window_min(source));
  }
  cells_.fork(source, target, end);
  ++n_forks_;
}

void FakeContext::release(SeqId seq) {
  check_seq(seq, "release");
  cells_.cut(seq, 0);
  note_use();
}

bool FakeContext::truncate(SeqId seq, Pos from) {
  check_seq(seq, "truncate");
  if (from < 0) invalid("[engine.truncate] sequence {}: position {} is negative", seq, from);
  const Pos n = cells_.length(seq);
  if (from >= n) return true;
  if (from > 0) {
    if (model_->fork_kind == ForkKind::kRecurrent) return false;
    if (!cells_.window_reaches(seq, from)) return false;
  }
  cells_.cut(seq, from);
  note_use();
  return true;
}

Pos FakeContext::length(SeqId seq) const {
  check_seq(seq, "length");
  return cells_.length(seq);
}

void FakeContext::clear() {
  cells_.clear();
  rows_.clear();
  logits_.clear();
  note_use();
}

std::uint64_t FakeContext::kv_size_bytes() const {
  return kv_bytes_per_cell_ * static_cast<std::uint64_t>(cells_.n_cells());
}

std::vector<FakeCell> FakeContext::cells(SeqId seq) const {
  check_seq(seq, "cells");
  return cells_.cells(seq);
}

Tokens FakeContext::tokens(SeqId seq) const {
  check_seq(seq, "tokens");
  return cells_.tokens(seq);
}

Pos FakeContext::window_min(SeqId seq) const {
  check_seq(seq, "window_min");
  return cells_.window_min(seq);
}

std::vector<FakeLogEntry> FakeContext::log() const {
  const std::lock_guard lock(log_m_);
  return log_;
}

std::vector<FakeLogEntry> FakeContext::log(SeqId seq) const {
  std::vector<FakeLogEntry> mine;
  for (const FakeLogEntry& entry : log()) {
    if (entry.seq == seq) mine.push_back(entry);
  }
  return mine;
}

}  // namespace swarmkv::internal
