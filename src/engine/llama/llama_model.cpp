#include "engine/llama/llama_model.h"

#include <algorithm>

#include "engine/kv_bytes.h"
#include "engine/kv_state.h"
#include "engine/llama/batch_invariance.h"
#include "engine/llama/llama_context.h"
#include "engine/llama/llama_sampler.h"
#include "engine/llama/state_identity.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

ForkKind fork_kind_of(const llama_model* model, int n_swa) {
  // The runtime's word, not the model's name.
  if (llama_model_is_recurrent(model) || llama_model_is_hybrid(model)) return ForkKind::kRecurrent;
  return n_swa > 0 ? ForkKind::kWindow : ForkKind::kFull;
}

// Encoders, embedding and ranking models answer vectors; diffusion models do not decode left to
// right.
bool can_generate(const llama_model* model, const GgufInfo& file) {
  if (llama_model_has_encoder(model) || !llama_model_has_decoder(model)) return false;
  if (llama_model_is_diffusion(model)) return false;
  if (file.number("attention.causal").value_or(1) == 0) return false;
  return file.number("pooling_type").value_or(0) == 0;  // 0: no pooling
}

ModelInfo describe(const LoadedModel& loaded) {
  const llama_model* model = loaded.model.get();
  const GgufInfo& file = loaded.file;
  ModelInfo info;
  info.path = file.path;
  info.name = file.name;
  info.arch = file.arch;
  info.quant = file.quant;
  info.n_vocab = llama_vocab_n_tokens(loaded.vocab);
  info.has_chat_template = llama_model_chat_template(model, nullptr) != nullptr;
  info.can_generate = can_generate(model, file);
  // Loading the vocabulary alone leaves the runtime's own numbers at 0.
  info.size_bytes = loaded.vocab_only ? file.size_bytes : llama_model_size(model);
  info.n_params = loaded.vocab_only ? file.n_params : llama_model_n_params(model);
  info.n_ctx_train = loaded.vocab_only ? file.n_ctx_train : llama_model_n_ctx_train(model);
  info.n_layers = loaded.vocab_only ? file.n_layers : llama_model_n_layer(model);
  info.n_swa = loaded.vocab_only ? file.n_swa : std::max(llama_model_n_swa(model), 0);
  info.fork_kind = fork_kind_of(model, info.n_swa);
  info.kv_bytes_per_token = kv_cell_bytes(file, info.fork_kind, KvType::kF16, KvType::kF16);
  return info;
}

std::string_view template_text(const llama_model* model) {
  const char* text = llama_model_chat_template(model, nullptr);
  return text == nullptr ? std::string_view() : text;
}

}  // namespace

LlamaModel::LlamaModel(std::shared_ptr<const LoadedModel> loaded)
    : loaded_(std::move(loaded)),
      info_(describe(*loaded_)),
      tokenizer_(loaded_->vocab, template_text(loaded_->model.get())),
      chat_(loaded_->model.get()) {}

Tokens LlamaModel::tokenize(std::string_view text, SpecialTokens special) const {
  return tokenizer_.tokenize(text, special);
}

std::optional<Token> LlamaModel::start_token() const {
  if (!llama_vocab_get_add_bos(loaded_->vocab)) return std::nullopt;
  const Token token = llama_vocab_bos(loaded_->vocab);
  return token == LLAMA_TOKEN_NULL ? std::nullopt : std::optional<Token>(token);
}

std::string LlamaModel::piece(Token token) const { return tokenizer_.piece(token); }

bool LlamaModel::is_end_of_generation(Token token) const {
  return token >= 0 && token < info_.n_vocab && llama_vocab_is_eog(loaded_->vocab, token);
}

bool LlamaModel::is_control(Token token) const {
  return token >= 0 && token < info_.n_vocab && llama_vocab_is_control(loaded_->vocab, token);
}

std::string LlamaModel::render_chat(std::span<const ChatMessage> messages,
                                    std::string_view date) const {
  return chat_.render(messages, date);
}

std::unique_ptr<Sampler> LlamaModel::make_sampler(const Sampling& sampling) const {
  return std::make_unique<LlamaSampler>(loaded_, sampling);
}

std::unique_ptr<Context> LlamaModel::make_context(const ContextOptions& options) const {
  return std::make_unique<LlamaContext>(loaded_, info_, options);
}

std::string LlamaModel::why_not_batch_invariant(const ContextOptions& options) const {
  return why_batch_dependent(*loaded_, info_.fork_kind, options);
}

std::uint64_t LlamaModel::kv_bytes_per_cell(KvType type_k, KvType type_v) const {
  return kv_cell_bytes(loaded_->file, info_.fork_kind, type_k, type_v);
}

void LlamaModel::check_state(StateBytes bytes, Pos length) const {
  const KvStateRules rules{info_.fork_kind, has_cell_ext(*loaded_), length};
  check_kv_numbers(bytes, read_kv_state(bytes, rules));
}

}  // namespace swarmkv::internal
