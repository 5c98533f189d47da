#pragma once

#include <memory>

#include "engine/llama/llama_chat.h"
#include "engine/llama/llama_handle.h"
#include "engine/llama/llama_tokenizer.h"
#include "engine/model.h"

namespace swarmkv::internal {

class LlamaModel final : public Model {
 public:
  explicit LlamaModel(std::shared_ptr<const LoadedModel> loaded);

  [[nodiscard]] const ModelInfo& info() const override { return info_; }
  [[nodiscard]] Tokens tokenize(std::string_view text, SpecialTokens special) const override;
  [[nodiscard]] std::optional<Token> start_token() const override;
  [[nodiscard]] std::string piece(Token token) const override;
  [[nodiscard]] bool is_end_of_generation(Token token) const override;
  [[nodiscard]] bool is_control(Token token) const override;
  [[nodiscard]] std::string render_chat(std::span<const ChatMessage> messages,
                                        std::string_view date) const override;
  [[nodiscard]] std::unique_ptr<Sampler> make_sampler(const Sampling& sampling) const override;
  [[nodiscard]] std::unique_ptr<Context> make_context(const ContextOptions& options) const override;
  [[nodiscard]] std::string why_not_batch_invariant(const ContextOptions& options) const override;
  [[nodiscard]] std::uint64_t kv_bytes_per_cell(KvType type_k, KvType type_v) const override;
  [[nodiscard]] std::string fingerprint() const override {
    return internal::fingerprint(loaded_->files);
  }
  void check_state(StateBytes bytes, Pos length) const override;

 private:
  std::shared_ptr<const LoadedModel> loaded_;
  ModelInfo info_;
  LlamaTokenizer tokenizer_;
  LlamaChat chat_;
};

}  // namespace swarmkv::internal
