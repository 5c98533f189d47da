#include "engine/llama/batch_invariance.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "engine/llama/attention_heads.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace swarmkv::internal {
namespace {

// Types whose products are one chain for each element in every kernel the runtime has for them on
// x86 with AVX2 and FMA, read in its sources: Q4_1 has a dot product and nothing else; what
// llamafile's kernels do for blocks of Q8_0 are the same operations in the same order as its dot
// product. K-quants change at 8 rows, Q4_0 is repacked, F16 and F32 change at 2 rows.
bool is_row_by_row(std::uint32_t type) { return type == GGML_TYPE_Q4_1 || type == GGML_TYPE_Q8_0; }

bool is_known_processor() {
  return ggml_cpu_has_avx2() != 0 && ggml_cpu_has_fma() != 0 && ggml_cpu_has_amx_int8() == 0;
}

std::string name_of(std::uint32_t type) {
  if (type >= GGML_TYPE_COUNT) return "type " + std::to_string(type);
  return ggml_type_name(static_cast<ggml_type>(type));
}

class Probe {
 public:
  Probe(Context& context, int n_vocab)
      : context_(context),
        n_vocab_(n_vocab),
        n_tokens_(std::min({24, context.batch_limits().n_tokens - 4, context.n_cells() / 4})),
        n_compared_(std::min({8, n_tokens_, context.n_seq_max()})) {}

  std::string run() {
    if (n_tokens_ < 2) return "forwards are too short to try it";
    const bool beside = context_.n_seq_max() >= 2;
    const std::vector<float> whole = in_one_forward();
    if (in_pieces(false) != whole) return "logits depend on how a prompt is cut";
    if (beside && in_pieces(true) != whole) return "logits depend on the other rows of a forward";
    return failed_ ? "a forward failed" : "";
  }

 private:
  [[nodiscard]] Token token(SeqId seq, Pos pos) const {
    return (1000 + 37 * pos + 501 * seq) % n_vocab_;
  }

  void add(Batch& batch, SeqId seq, int n, bool logits) const {
    Pos pos = context_.length(seq);
    for (int i = 0; i < n; ++i, ++pos) batch.push_back({token(seq, pos), pos, seq, logits});
  }

  void forward(const Batch& batch) {
    failed_ = failed_ || context_.forward(batch) != ForwardStatus::kOk;
  }

  void keep(std::vector<float>& rows, int row) {
    if (failed_) return;
    const auto logits = context_.logits(row);
    rows.insert(rows.end(), logits.begin(), logits.end());
  }

  std::vector<float> in_one_forward() {
    std::vector<float> rows;
    Batch batch;
    add(batch, 0, n_tokens_, false);
    const int first = n_tokens_ - n_compared_;
    for (int i = first; i < n_tokens_; ++i) batch[static_cast<std::size_t>(i)].logits = true;
    forward(batch);
    for (int i = first; i < n_tokens_; ++i) keep(rows, i);
    context_.release(0);
    return rows;
  }

  // A longer piece, then single tokens; beside = among rows of another sequence.
  std::vector<float> in_pieces(bool beside) {
    std::vector<float> rows;
    Batch batch;
    if (beside) add(batch, 1, 3, false);
    add(batch, 0, n_tokens_ - n_compared_, false);
    if (!batch.empty()) forward(batch);
    for (int i = 0; i < n_compared_ && !failed_; ++i) {
      batch.clear();
      if (beside) add(batch, 1, 1, n_compared_ > 1);
      add(batch, 0, 1, true);
      forward(batch);
      keep(rows, static_cast<int>(batch.size()) - 1);
    }
    context_.release(0);
    if (beside) context_.release(1);
    return rows;
  }

  Context& context_;
  const int n_vocab_, n_tokens_, n_compared_;
  bool failed_ = false;
};

}  // namespace

std::string why_batch_dependent(const LoadedModel& model, ForkKind kind,
                                const ContextOptions& options) {
  if (options.attention == AttentionKernel::kStock) return "llama.cpp's attention depends on it";
  if (model.offloads) return "layers may be on a GPU";
  if (kind != ForkKind::kFull) return "a model with windows or recurrent states";
  if (options.type_k != KvType::kF16 || options.type_v != KvType::kF16) {
    return "the cache is not F16";
  }
  if (!is_known_processor()) return "matrix products are not known on this processor";
  const std::string not_grouped = why_no_grouped_attention(model.file);
  if (!not_grouped.empty()) return not_grouped;
  if (model.file.number("expert_count").value_or(0) > 0) return "a model with experts";
  if (model.file.matrix_types.empty()) return "the types of the weights are not known";
  for (const std::uint32_t type : model.file.matrix_types) {
    if (!is_row_by_row(type)) return "matrix products of " + name_of(type) + " depend on it";
  }
  return {};
}

std::string find_batch_dependence(Context& context, int n_vocab) {
  return Probe(context, n_vocab).run();
}

}  // namespace swarmkv::internal
