// A model that passes everything on, for tests that change one of its answers.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "api/model_impl.h"
#include "engine/model.h"

namespace swarmkv::internal {

class ForwardingModel : public Model {
 public:
  explicit ForwardingModel(std::shared_ptr<const Model> inner) : inner_(std::move(inner)) {}

  const ModelInfo& info() const override { return inner_->info(); }
  Tokens tokenize(std::string_view text, SpecialTokens special) const override {
    return inner_->tokenize(text, special);
  }
  std::optional<Token> start_token() const override { return inner_->start_token(); }
  std::string piece(Token token) const override { return inner_->piece(token); }
  bool is_end_of_generation(Token token) const override {
    return inner_->is_end_of_generation(token);
  }
  bool is_control(Token token) const override { return inner_->is_control(token); }
  std::string render_chat(std::span<const ChatMessage> messages,
                          std::string_view date) const override {
    return inner_->render_chat(messages, date);
  }
  std::unique_ptr<Sampler> make_sampler(const Sampling& s) const override {
    return inner_->make_sampler(s);
  }
  std::unique_ptr<Context> make_context(const ContextOptions& o) const override {
    return inner_->make_context(o);
  }
  std::uint64_t kv_bytes_per_cell(KvType k, KvType v) const override {
    return inner_->kv_bytes_per_cell(k, v);
  }
  std::string fingerprint() const override { return inner_->fingerprint(); }
  void check_state(StateBytes bytes, Pos length) const override {
    inner_->check_state(bytes, length);
  }

 private:
  const std::shared_ptr<const Model> inner_;
};

/// As the library hands it out. `engine`: as in ModelOptions.
inline swarmkv::Model as_loaded(std::shared_ptr<const Model> model, std::string engine = "fake") {
  const auto impl = std::make_shared<swarmkv::Model::Impl>();
  impl->model = std::move(model);
  impl->options.engine = std::move(engine);
  return swarmkv::Model(impl);
}

}  // namespace swarmkv::internal
