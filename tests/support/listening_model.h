// A model whose contexts note every token that they are given.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "support/forwarding_context.h"
#include "support/forwarding_model.h"

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

class ListeningModel final : public ForwardingModel {
 public:
  using ForwardingModel::ForwardingModel;

  [[nodiscard]] Tokens heard() const { return heard_->all(); }

  std::unique_ptr<Context> make_context(const ContextOptions& o) const override {
    return std::make_unique<ListeningContext>(ForwardingModel::make_context(o), heard_);
  }

 private:
  std::shared_ptr<HeardTokens> heard_ = std::make_shared<HeardTokens>();
};

}  // namespace swarmkv::internal
