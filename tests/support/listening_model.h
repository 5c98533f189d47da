// A model whose contexts note every token that they are given.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "api/model_impl.h"
#include "engine/model.h"
#include "support/forwarding_context.h"

namespace swarmkv::internal {

/// Tokens in the order of the forwards; thread-safe.
class HeardTokens {
 public:
  void add(const Batch& batch) {
    const std::lock_guard lock(mutex_);
    for (const BatchToken& row : batch) tokens_.push_back(row.token);
  }
  [[nodiscard]] Tokens all() const {
    const std::lock_guard lock(mutex_);
    return tokens_;
  }

 private:
  mutable std::mutex mutex_;
  Tokens tokens_;
};

class ListeningContext final : public ForwardingContext {
 public:
  ListeningContext(std::unique_ptr<Context> inner, std::shared_ptr<HeardTokens> heard)
      : ForwardingContext(std::move(inner)), heard_(std::move(heard)) {}
  ForwardStatus forward(const Batch& batch) override {
    heard_->add(batch);
    return inner().forward(batch);
  }

 private:
  std::shared_ptr<HeardTokens> heard_;
};

class ListeningModel final : public Model {
 public:
  explicit ListeningModel(std::shared_ptr<const Model> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] Tokens heard() const { return heard_->all(); }

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
    return std::make_unique<ListeningContext>(inner_->make_context(o), heard_);
  }
  std::uint64_t kv_bytes_per_cell(KvType k, KvType v) const override {
    return inner_->kv_bytes_per_cell(k, v);
  }
  std::string fingerprint() const override { return inner_->fingerprint(); }
  void check_state(StateBytes bytes, Pos length) const override {
    inner_->check_state(bytes, length);
  }

 private:
  std::shared_ptr<const Model> inner_;
  std::shared_ptr<HeardTokens> heard_ = std::make_shared<HeardTokens>();
};

/// The same for the public API. `engine`: as in ModelOptions.
inline swarmkv::Model public_model(std::shared_ptr<const Model> model, std::string engine) {
  const auto impl = std::make_shared<swarmkv::Model::Impl>();
  impl->model = std::move(model);
  impl->options.engine = std::move(engine);
  return swarmkv::Model(impl);
}

}  // namespace swarmkv::internal
