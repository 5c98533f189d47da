#include <chrono>
#include <thread>

#include "api/model_impl.h"
#include "base/build_info.h"
#include "engine/fake/fake_engine.h"
#include "engine/fingerprint.h"
#include "engine/gguf.h"
#include "engine/kv_bytes.h"
#include "engine/llama_engine.h"

namespace swarmkv {
namespace {

constexpr std::uint64_t kQuicklyRead = 1ULL << 30;

const char* name_of(internal::ForkKind kind) {
  switch (kind) {
    case internal::ForkKind::kFull:
      return "full";
    case internal::ForkKind::kWindow:
      return "window";
    case internal::ForkKind::kRecurrent:
      return "recurrent";
  }
  return "full";
}

std::shared_ptr<const internal::Model> make_fake(const ModelOptions& options) {
  internal::FakeOptions fake;
  for (const auto& [when, answer] : options.fake_answers) fake.forced.push_back({when, answer});
  if (options.fake_ctx_train > 0) fake.n_ctx_train = options.fake_ctx_train;
  auto model = internal::make_fake_model(fake);
  if (options.fake_delay_ms > 0) {
    const std::chrono::milliseconds delay(options.fake_delay_ms);
    model->faults().on_forward(
        [delay](int, const internal::Batch&) { std::this_thread::sleep_for(delay); });
  }
  if (options.fake_fail_at_forward > 0) {
    model->faults().fail_at(options.fake_fail_at_forward, internal::ForwardStatus::kFatal,
                            internal::FakeFaults::kForever);
  }
  return model;
}

}  // namespace

Model::Model(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}

Model Model::load(const ModelOptions& options) {
  const auto before = std::chrono::steady_clock::now();
  auto impl = std::make_shared<Impl>();
  impl->options = options;
  if (options.engine == "fake") {
    impl->model = make_fake(options);
  } else if (options.engine == "llama") {
    if (options.path.empty()) {
      throw Error(ErrorCode::kInvalidArgument,
                  "[model.load] no model: ModelOptions::path is empty");
    }
    impl->model = internal::load_llama_model(
        {options.path, options.n_gpu_layers, options.vocab_only, options.log});
  } else {
    throw Error(ErrorCode::kInvalidArgument,
                "[model.load] unknown engine '" + options.engine + "': llama or fake");
  }
  if (!impl->model->info().can_generate) {
    throw Error(ErrorCode::kUnsupported, "[model.load] '" + options.path + "' (" +
                                             impl->model->info().arch +
                                             ") computes embeddings and cannot write text");
  }
  impl->load_ms =
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - before).count();
  return Model(std::move(impl));
}

ModelDescription Model::describe() const {
  const internal::ModelInfo& info = impl_->model->info();
  ModelDescription out;
  out.path = info.path;
  out.name = info.name;
  out.arch = info.arch;
  out.quant = info.quant;
  out.fork_kind = name_of(info.fork_kind);
  out.fingerprint = info.fingerprint;
  out.device = internal::build_info().with_cuda ? "CUDA" : "CPU";
  out.size_bytes = info.size_bytes;
  out.n_params = info.n_params;
  out.kv_bytes_per_token = info.kv_bytes_per_token;
  out.n_vocab = info.n_vocab;
  out.n_ctx_train = info.n_ctx_train;
  out.n_layers = info.n_layers;
  out.n_window = info.n_swa;
  out.has_chat_template = info.has_chat_template;
  return out;
}

double Model::load_ms() const { return impl_->load_ms; }

Tokens Model::tokenize(std::string_view text) const {
  return impl_->model->tokenize(text, internal::SpecialTokens::kPlainText);
}

const char* version() noexcept { return internal::build_info().version.data(); }
std::string llama_version() { return internal::llama_version(); }

std::string Model::Impl::quick_fingerprint() const {
  if (model->info().size_bytes > kQuicklyRead) return {};
  try {
    return model->fingerprint();
  } catch (const Error&) {
    return {};
  }
}

ModelDescription inspect_model(const std::string& path) {
  const internal::GgufInfo info = internal::read_gguf(path);
  ModelDescription out;
  out.path = path;
  out.name = info.name;
  out.arch = info.arch;
  out.quant = info.quant;
  out.size_bytes = info.size_bytes;
  out.n_params = info.n_params;
  out.n_vocab = info.n_vocab;
  out.n_ctx_train = info.n_ctx_train;
  out.n_layers = info.n_layers;
  out.n_window = info.n_swa;
  out.has_chat_template = info.has_chat_template;
  std::optional<internal::ForkKind> kind;
  if (const auto outlook = internal::llama_outlook(path)) {
    kind = outlook->fork_kind;
    out.fork_kind = name_of(*kind);
    out.attention = outlook->why_not_grouped.empty() ? "grouped, " + outlook->grouped_target
                                                     : "stock: " + outlook->why_not_grouped;
    out.deterministic = outlook->why_not_batch_invariant.empty()
                            ? "many agents at once"
                            : "one agent at a time: " + outlook->why_not_batch_invariant;
  }
  // Of an unknown kind only what the file says layer by layer is sure.
  out.kv_bytes_per_token =
      internal::kv_cell_bytes(info, kind.value_or(internal::ForkKind::kRecurrent),
                              internal::KvType::kF16, internal::KvType::kF16);
  if (info.n_parts == 1 && info.size_bytes <= kQuicklyRead) {
    out.fingerprint = internal::fingerprint(internal::model_files(info));
  }
  return out;
}

}  // namespace swarmkv
