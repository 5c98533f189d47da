#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/batch_check.h"
#include "engine/context.h"
#include "engine/kv_state.h"
#include "engine/llama/attention_backend.h"
#include "engine/llama/llama_handle.h"
#include "engine/llama/llama_sampler.h"
#include "engine/row_workers.h"

namespace swarmkv::internal {

/// One unified KV cache. Keeps no book of lengths: the runtime's own positions are asked, so that
/// nothing can drift apart after a failure.
class LlamaContext final : public Context {
 public:
  LlamaContext(std::shared_ptr<const LoadedModel> model, const ModelInfo& info,
               const ContextOptions& options);

  [[nodiscard]] int n_cells() const override { return n_cells_; }
  [[nodiscard]] int n_seq_max() const override { return rules_.n_seq_max; }
  [[nodiscard]] BatchLimits batch_limits() const override { return rules_.limits; }
  [[nodiscard]] ForwardStatus forward(const Batch& batch) override;
  void sample(std::span<SampleRow> rows) override;
  [[nodiscard]] std::span<const float> logits(int batch_index) const override;
  [[nodiscard]] bool can_fork(SeqId source, Pos end) const override;
  void fork(SeqId source, SeqId target, Pos end) override;
  void release(SeqId seq) override;
  [[nodiscard]] bool truncate(SeqId seq, Pos from) override;
  [[nodiscard]] Pos length(SeqId seq) const override;
  [[nodiscard]] std::uint64_t state_size(SeqId seq, Where where) const override;
  [[nodiscard]] SequenceState save(SeqId seq, Where where) override;
  void load(const SequenceState& state, SeqId target) override;
  void load(StateBytes bytes, Pos length, SeqId target) override;
  [[nodiscard]] StateIdentity identity() override;
  void clear() override;
  void abort() override { abort_.store(true, std::memory_order_relaxed); }
  void synchronize() override { llama_synchronize(context_.get()); }
  [[nodiscard]] std::uint64_t kv_size_bytes() const override { return kv_size_bytes_; }
  [[nodiscard]] AttentionUse attention() const override;
  [[nodiscard]] ForwardCosts costs() const override;
  [[nodiscard]] bool batch_invariant() const override { return batch_invariant_; }

 private:
  void make(const ContextOptions& options);
  [[nodiscard]] std::string try_make(const llama_context_params& params);
  [[nodiscard]] std::string try_grouped(const ContextOptions& options, llama_context_params params);
  void settle_invariance(const ModelInfo& info, const ContextOptions& options);
  int decode(const Batch& batch);
  void repair(const std::vector<TouchedSeq>& touched, ForwardStatus status);
  void check_id(const char* operation, SeqId seq) const;
  void check_empty(SeqId target) const;
  void load_checked(StateBytes bytes, Pos length, SeqId target, Where where);
  [[nodiscard]] bool values_in_columns();
  [[nodiscard]] KvStateRules state_rules(Pos length) const;
  [[nodiscard]] bool window_reaches(SeqId seq, Pos end) const;
  [[nodiscard]] llama_memory_t memory() const { return llama_get_memory(context_.get()); }

  std::shared_ptr<const LoadedModel> model_;
  ForkKind kind_;
  int n_swa_;
  int n_cells_ = 0;
  std::uint64_t kv_size_bytes_ = 0;
  AttentionUse attention_;                         ///< as chosen
  std::shared_ptr<AttentionHook> attention_hook_;  ///< null with the runtime's own kernels
  std::atomic<bool> has_forwarded_{false};
  bool batch_invariant_ = false;
  BatchRules rules_;
  std::atomic<bool> abort_{false};  // the runtime's callback reads it: declared before the context
  LlamaContextPtr context_;

  std::vector<Token> tokens_;  // the batch as the runtime wants it
  std::vector<Pos> positions_;
  std::vector<SeqId> seqs_;
  std::vector<SeqId*> seq_pointers_;
  std::vector<std::int32_t> seq_counts_;
  std::vector<std::int8_t> wants_logits_;  // of the last forward that succeeded, else empty

  struct DeviceSave {
    std::uint64_t n_save = 0;
    std::size_t n_bytes = 0;
  };
  std::map<SeqId, DeviceSave> device_saves_;  // the runtime keeps one a sequence id
  std::uint64_t n_device_saves_ = 0;
  FlashAttention flash_attention_;  ///< as asked for
  StateIdentity state_identity_;    ///< but for the layout of V, which the runtime may choose
  std::shared_ptr<const char> identity_ =
      std::make_shared<const char>();  // not an address: those come back

  RowWorkers workers_;
  std::vector<SamplerScratch> scratch_;
};

}  // namespace swarmkv::internal
