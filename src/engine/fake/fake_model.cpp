#include <fmt/format.h>

#include <algorithm>

#include "engine/fake/fake_engine.h"
#include "engine/kv_bytes.h"

namespace swarmkv::internal {
namespace {

constexpr int kLayers = 2, kValuesPerLayer = 64;

std::string fingerprint_of(const FakeOptions& o) {
  std::uint64_t h = fake_mix(kFakeVocabSize);
  for (const std::int64_t part :
       {std::int64_t{o.n_ctx_train}, std::int64_t{o.n_swa}, static_cast<std::int64_t>(o.fork_kind),
        std::int64_t{o.add_start_token}, std::int64_t{o.eog_every}}) {
    h = fake_mix(h ^ static_cast<std::uint64_t>(part));
  }
  for (const FakeOptions::Forced& f : o.forced) {
    for (const char c : f.when + '\0' + f.answer + '\0')
      h = fake_mix(h ^ static_cast<unsigned char>(c));
  }
  return fmt::format("fake-{:016x}", h);
}

}  // namespace

FakeModel::FakeModel(FakeOptions options) : faults_(std::make_shared<FakeFaults>()) {
  if (options.fork_kind == ForkKind::kWindow && options.n_swa < 1) {
    throw Error(ErrorCode::kInvalidArgument,
                fmt::format("[fake.model] a window model needs n_swa >= 1: got {}", options.n_swa));
  }
  options_ = std::make_shared<const FakeOptions>(std::move(options));
  info_.path = info_.name = info_.arch = "fake";
  info_.quant = "F16";
  info_.size_bytes = 1U << 20;
  info_.n_params = (1U << 20) / 2;
  info_.n_vocab = kFakeVocabSize;
  info_.n_ctx_train = options_->n_ctx_train;
  info_.n_layers = kLayers;
  info_.n_swa = options_->n_swa;
  info_.fork_kind = options_->fork_kind;
  info_.has_chat_template = options_->has_chat_template;
  info_.can_generate = options_->can_generate;
  info_.kv_bytes_per_token = FakeModel::kv_bytes_per_cell(KvType::kF16, KvType::kF16);
  info_.fingerprint = fingerprint_of(*options_);
}

Tokens FakeModel::tokenize(std::string_view text, SpecialTokens special) const {
  return fake_tokenize(text, special);
}

std::optional<Token> FakeModel::start_token() const {
  return options_->add_start_token ? std::optional<Token>(kFakeStart) : std::nullopt;
}

std::string FakeModel::piece(Token token) const {
  if (token < 0 || token >= kFakeVocabSize) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("[engine.piece] token {} is outside of [0, {})", token, kFakeVocabSize));
  }
  return fake_is_byte(token) ? std::string(1, static_cast<char>(token)) : std::string();
}

bool FakeModel::is_end_of_generation(Token token) const {
  return token == kFakeEndTurn || token == kFakeEndText;
}

bool FakeModel::is_control(Token token) const { return token >= 256 && token < kFakeVocabSize; }

std::string FakeModel::render_chat(std::span<const ChatMessage> messages, std::string_view) const {
  if (!options_->has_chat_template) {
    throw Error(ErrorCode::kUnsupported, "[engine.render_chat] model 'fake' has no chat template");
  }
  return fake_render_chat(messages);
}

std::unique_ptr<Sampler> FakeModel::make_sampler(const Sampling& sampling) const {
  return std::make_unique<FakeSampler>(sampling);
}

std::unique_ptr<FakeContext> FakeModel::make_fake_context(const ContextOptions& options,
                                                          FakeLog log) const {
  auto context = std::make_unique<FakeContext>(
      options_, faults_, options, kv_bytes_per_cell(options.type_k, options.type_v), log);
  faults_->context_made(*context);
  return context;
}

std::unique_ptr<Context> FakeModel::make_context(const ContextOptions& options) const {
  return make_fake_context(options, FakeLog::kNone);
}

std::uint64_t FakeModel::kv_bytes_per_cell(KvType type_k, KvType type_v) const {
  if (options_->fork_kind == ForkKind::kRecurrent) return 0;
  return kLayers * (kv_row_bytes(type_k, kValuesPerLayer) + kv_row_bytes(type_v, kValuesPerLayer));
}

std::shared_ptr<const FakeModel> make_fake_model(FakeOptions options) {
  return std::make_shared<const FakeModel>(std::move(options));
}

}  // namespace swarmkv::internal
