#include "engine/llama/llama_context.h"

#include <algorithm>
#include <string>

#include "engine/kv_bytes.h"
#include "engine/llama/context_params.h"
#include "engine/llama/decode_status.h"
#include "engine/llama/state_identity.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse(const std::string& operation, const std::string& what) {
  throw Error(ErrorCode::kInvalidArgument, "[engine." + operation + "] " + what);
}

// What makes one ubatch of a batch, read in the runtime's splitting code:
// - attention caches, windowed ones too, take the tokens of a unified batch in order, whatever
// their
//   sequences;
// - hybrid memories take as many tokens of each sequence as the shortest has, then start another
//   ubatch: all sequences must bring the same number;
// - purely recurrent memories do the same and, besides, only go on to a sequence whose id is the
// last
//   one's plus one, in order of first appearance.
BatchLimits limits_of(const llama_model* model, int n_batch) {
  const bool recurrent = llama_model_is_recurrent(model);
  return {n_batch, recurrent || llama_model_is_hybrid(model), recurrent};
}

}  // namespace

LlamaContext::LlamaContext(std::shared_ptr<const LoadedModel> model, const ModelInfo& info,
                           const ContextOptions& options)
    : model_(std::move(model)),
      kind_(info.fork_kind),
      n_swa_(info.n_swa),
      workers_(std::min(prefill_threads(options), 8)) {
  check_context_options(*model_, info, options);
  make(options);
  n_cells_ = static_cast<int>(llama_n_ctx(context_.get()));
  flash_attention_ = options.deterministic ? FlashAttention::kOn : options.flash_attention;
  state_identity_ = state_identity(*model_, options, n_cells_);
  rules_.limits = limits_of(model_->model.get(), static_cast<int>(llama_n_ubatch(context_.get())));
  rules_.n_seq_max = options.n_seq_max;
  rules_.n_outputs_max = options.n_seq_max;
  rules_.n_vocab = info.n_vocab;
  kv_size_bytes_ = static_cast<std::uint64_t>(n_cells_) *
                   kv_cell_bytes(model_->file, kind_, options.type_k, options.type_v);
  scratch_.resize(static_cast<std::size_t>(workers_.n_threads()));
  if (options.deterministic && attention_hook_ != nullptr) settle_invariance(info, options);
}

ForwardStatus LlamaContext::forward(const Batch& batch) {
  const std::vector<TouchedSeq> touched =
      check_batch(batch, rules_, [this](SeqId seq) { return length(seq); });
  wants_logits_.clear();
  if (abort_.exchange(false)) return ForwardStatus::kAborted;
  const ForwardStatus status = forward_status(decode(batch));
  if (status == ForwardStatus::kAborted) abort_.store(false);
  if (leaves_cache_in_doubt(status)) repair(touched, status);
  if (status == ForwardStatus::kOk) {
    has_forwarded_.store(true, std::memory_order_relaxed);
    for (const BatchToken& item : batch) wants_logits_.push_back(item.logits ? 1 : 0);
  }
  return status;
}

int LlamaContext::decode(const Batch& batch) {
  const std::size_t n = batch.size();
  tokens_.resize(n);
  positions_.resize(n);
  seqs_.resize(n);
  seq_pointers_.resize(n + 1);  // the runtime's own batches end with a null
  seq_counts_.assign(n, 1);
  std::vector<std::int8_t> wants(n);
  for (std::size_t i = 0; i < n; ++i) {
    tokens_[i] = batch[i].token;
    positions_[i] = batch[i].pos;
    seqs_[i] = batch[i].seq;
    seq_pointers_[i] = &seqs_[i];
    wants[i] = batch[i].logits ? 1 : 0;
  }
  seq_pointers_[n] = nullptr;
  llama_batch view{};
  view.n_tokens = static_cast<std::int32_t>(n);
  view.token = tokens_.data();
  view.pos = positions_.data();
  view.n_seq_id = seq_counts_.data();
  view.seq_id = seq_pointers_.data();
  view.logits = wants.data();
  if (attention_hook_ != nullptr) attention_hook_->layouts.begin_forward();
  try {
    return llama_decode(context_.get(), view);
  } catch (...) {
    return kDecodeThrew;
  }
}

ForwardCosts LlamaContext::costs() const {
  const double mask_s = attention_hook_ ? attention_hook_->layouts.seconds_spent() : 0.0;
  return {mask_s, static_cast<std::uint64_t>(llama_perf_context(context_.get()).n_reused)};
}

// After an abort or a failure the cache must again hold what it held before the batch.
void LlamaContext::repair(const std::vector<TouchedSeq>& touched, ForwardStatus status) {
  if (kind_ == ForkKind::kRecurrent) {
    // States cannot be rolled back, and those of bystanders may have been moved half way: see
    // make().
    if (status == ForwardStatus::kFatal) clear();
    return;
  }
  for (const TouchedSeq& seq : touched) {
    if (length(seq.seq) > seq.length) {
      (void)llama_memory_seq_rm(memory(), seq.seq, seq.length, -1);
    }
  }
}

std::span<const float> LlamaContext::logits(int batch_index) const {
  const auto i = static_cast<std::size_t>(batch_index);
  if (batch_index < 0 || i >= wants_logits_.size() || wants_logits_[i] == 0) {
    refuse("logits", "row " + std::to_string(batch_index) +
                         " is no logits row of the last forward, which has " +
                         std::to_string(wants_logits_.size()) + " tokens");
  }
  const float* row = llama_get_logits_ith(context_.get(), batch_index);
  if (row == nullptr) {
    throw Error(ErrorCode::kEngineFailed,
                "[engine.logits] llama.cpp has no logits for row " + std::to_string(batch_index));
  }
  return {row, static_cast<std::size_t>(rules_.n_vocab)};
}

// Measured per row of 49,152 logits: arg-max 10 us, a draw from the 40 best 55 us, a grammar that
// refuses the 256 best 5 ms. Waking the workers costs some 20 us, so few rows stay on this thread.
void LlamaContext::sample(std::span<SampleRow> rows) {
  constexpr std::size_t kRowsWorthSplitting = 8;
  std::vector<std::span<const float>> logits_of(rows.size());
  std::vector<LlamaSampler*> samplers(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    // Asked here and not by the workers: the first call reorders the runtime's rows.
    logits_of[i] = logits(rows[i].batch_index);
    samplers[i] = dynamic_cast<LlamaSampler*>(rows[i].sampler);
    if (samplers[i] == nullptr || samplers[i]->model() != model_.get()) {
      refuse("sample", "the sampler of row " + std::to_string(rows[i].batch_index) +
                           " was not made by this context's model");
    }
  }
  const auto choose = [&](int row, int worker) {
    const auto i = static_cast<std::size_t>(row);
    try {
      rows[i].token = samplers[i]->sample(logits_of[i], scratch_[static_cast<std::size_t>(worker)]);
    } catch (const std::exception& e) {
      rows[i].error = e.what();  // a grammar at its end or poisoned logits: this row's own trouble
    }
  };
  if (rows.size() >= kRowsWorthSplitting && workers_.n_threads() > 1) {
    auto sorted = samplers;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) {
      refuse("sample", "two rows share one sampler");
    }
    workers_.run(static_cast<int>(rows.size()), choose);
  } else {
    for (std::size_t i = 0; i < rows.size(); ++i) choose(static_cast<int>(i), 0);
  }
}

}  // namespace swarmkv::internal
