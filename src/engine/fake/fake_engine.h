// The fake engine: an exact, deterministic and instant stand-in for a model runtime. Its next token
// is a function of every visible cell and its position, so a wrong, missing or extra cell changes
// the text.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/fake/fake_context.h"
#include "engine/fake/fake_faults.h"
#include "engine/fake/fake_options.h"
#include "engine/fake/fake_sampler.h"
#include "engine/fake/fake_vocab.h"
#include "engine/model.h"

namespace swarmkv::internal {

/// Immutable like every Model, except for `faults()`, the switchboard all of its contexts look at.
class FakeModel final : public Model {
 public:
  explicit FakeModel(FakeOptions options);

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
  [[nodiscard]] std::uint64_t kv_bytes_per_cell(KvType type_k, KvType type_v) const override;
  [[nodiscard]] std::string fingerprint() const override { return info_.fingerprint; }
  void check_state(StateBytes bytes, Pos length) const override;

  /// As make_context, but for tests: the type that has the counters, and with a log.
  [[nodiscard]] std::unique_ptr<FakeContext> make_fake_context(const ContextOptions& options,
                                                               FakeLog log = FakeLog::kKeep) const;

  [[nodiscard]] const FakeOptions& options() const { return *options_; }
  [[nodiscard]] FakeFaults& faults() const { return *faults_; }

 private:
  std::shared_ptr<const FakeOptions> options_;
  std::shared_ptr<FakeFaults> faults_;
  ModelInfo info_;
};

[[nodiscard]] std::shared_ptr<const FakeModel> make_fake_model(FakeOptions options = {});

}  // namespace swarmkv::internal
