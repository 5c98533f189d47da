// The campaign: which sample comes next, warm-up before them, and what they have in common.
#include "swarmkv/bench.h"

#include <algorithm>
#include <optional>
#include <thread>
#include <utility>

#include "api/bench_sample.h"
#include "api/model_impl.h"
#include "api/options.h"
#include "base/build_info.h"
#include "base/mutex.h"
#include "base/process_info.h"
#include "handoff/handoff.h"
#include "swarmkv/error.h"

namespace swarmkv {
namespace {

using internal::BenchStep;

// Enough to touch every weight and start every thread.
constexpr int kWarmupDocument = 256, kWarmupTokens = 4;

void require(bool holds, const std::string& what) {
  if (!holds) throw Error(ErrorCode::kInvalidArgument, "[bench] " + what);
}

void check_list(const char* name, const std::vector<int>& values, int min, int max) {
  require(!values.empty(), std::string(name) + " is empty");
  for (const int value : values) {
    require(value >= min && value <= max, std::string(name) + " is " + std::to_string(value) +
                                              ", must be " + std::to_string(min) + " to " +
                                              std::to_string(max));
  }
}

const BenchOptions& checked(const BenchOptions& o) {
  constexpr int kMostAgents = 10'000, kMostTokens = 1'000'000;
  check_list("agents", o.agents, 1, kMostAgents);
  check_list("output_tokens", o.output_tokens, 0, kMostTokens);
  check_list("suffix_tokens", o.suffix_tokens, 1, kMostTokens);
  if (!o.document_tokens.empty()) check_list("document_tokens", o.document_tokens, 1, 1 << 24);
  require(o.trials >= 1 && o.trials <= 100'000,
          "trials is " + std::to_string(o.trials) + ", must be 1 to 100000");
  require(o.warmup >= 0 && o.warmup <= 1000,
          "warmup is " + std::to_string(o.warmup) + ", must be 0 to 1000");
  require(!o.arms.empty(), "no arm is given");
  for (std::size_t i = 0; i < o.arms.size(); ++i) {
    (void)internal::handoff_named(o.arms[i]);
    const auto first = std::find(o.arms.begin(), o.arms.end(), o.arms[i]);
    require(first == o.arms.begin() + static_cast<std::ptrdiff_t>(i),
            "the arm '" + o.arms[i] + "' is given twice");
  }
  return o;
}

BenchSetup setup_of(const Model& model, const BenchOptions& o,
                    const internal::BenchPrompts& prompts) {
  const internal::BuildInfo& build = internal::build_info();
  const ModelDescription m = model.describe();
  BenchSetup s;
  s.swarmkv_version = build.version;
  s.llama_commit = build.llama_commit;
  s.compiler = build.compiler;
  s.machine = internal::cpu_name();
  s.os = internal::system_name();
  s.n_cores = static_cast<int>(std::thread::hardware_concurrency());
  s.device = m.device;
  s.model_path = m.path;
  s.model_name = m.name;
  s.model_fingerprint = model.impl().quick_fingerprint();
  s.quant = m.quant;
  s.document = prompts.document_name();
  s.document_digest = prompts.document_digest();
  s.prompts_digest = prompts.suffixes_digest();
  s.threads = o.engine.threads;
  s.threads_batch = o.engine.threads_batch;
  s.batch_size = o.engine.batch_size;
  s.ctx_size = o.engine.ctx_size;
  s.parallel = o.engine.parallel;
  s.cache_type_k = o.engine.cache_type_k;
  s.cache_type_v = o.engine.cache_type_v;
  s.flash_attn = o.engine.flash_attn;
  s.attention = o.engine.attention;
  s.attention_target = o.engine.attention_target;
  s.deterministic = o.engine.deterministic;
  s.ignore_eos = o.ignore_eos;
  s.n_gpu_layers = model.impl().options.n_gpu_layers;
  s.temperature = o.sampling.temperature;
  s.top_k = o.sampling.top_k;
  s.top_p = o.sampling.top_p;
  s.min_p = o.sampling.min_p;
  s.repeat_penalty = o.sampling.repeat_penalty;
  s.repeat_last_n = o.sampling.repeat_last_n;
  s.seed = o.seed;
  return s;
}

bool is_of(const BenchTrial& t, const BenchStep& step) {
  return t.arm == step.arm && t.n_document == step.n_document && t.n_agents == step.n_agents &&
         t.n_output == step.n_output && t.trial == step.trial;
}

// The sample of that step, taken out of `trials`.
std::optional<BenchTrial> take(std::vector<BenchTrial>& trials, const BenchStep& step) {
  const auto found = std::find_if(trials.begin(), trials.end(),
                                  [&](const BenchTrial& t) { return is_of(t, step); });
  if (found == trials.end()) return std::nullopt;
  BenchTrial out = std::move(*found);
  trials.erase(found);
  return out;
}

}  // namespace

struct Bench::Impl final : internal::SampleRequests {
  Impl(const Model& m, const BenchOptions& o)
      : model(m),
        options(checked(o)),
        prompts(m.impl().model, options),
        setup(setup_of(m, options, prompts)) {
    // Bad options are the caller's mistake, not a failure of every arm.
    constexpr int kAnyCells = 1;
    (void)internal::context_options(options.engine, m.impl().model->info(), kAnyCells);
    (void)m.impl().model->make_sampler(options.sampling);
  }

  // Case by case; within a case trial by trial, and each trial begins with another arm.
  [[nodiscard]] std::vector<BenchStep> steps() const {
    std::vector<BenchStep> out;
    const auto n_arms = static_cast<int>(options.arms.size());
    for (const int n_document : prompts.lengths()) {
      for (const int n_agents : options.agents) {
        for (const int n_output : options.output_tokens) {
          for (int trial = 0; trial < options.trials; ++trial) {
            for (int p = 0; p < n_arms; ++p) {
              const auto arm = static_cast<std::size_t>((trial + p) % n_arms);
              out.push_back({options.arms[arm], n_document, n_agents, n_output, trial, p});
            }
          }
        }
      }
    }
    return out;
  }

  [[nodiscard]] bool is_cancelled() {
    const internal::MutexLock lock(mutex);
    return cancelled;
  }

  // Under the lock, which waits for no engine: a request may run at once, and whoever cancels has
  // to find it.
  std::shared_ptr<internal::RequestTicket> submit(internal::RequestRunner& runner,
                                                  const Request& request) override {
    const internal::MutexLock lock(mutex);
    if (cancelled) throw Error(ErrorCode::kCancelled, "[bench] cancelled");
    in_progress.push_back(runner.submit(request));
    return in_progress.back();
  }

  void over() override {
    const internal::MutexLock lock(mutex);
    in_progress.clear();
  }

  BenchTrial sample(const BenchStep& step) {
    return internal::take_sample(model, options, prompts, step, *this);
  }

  void warm_up(const OnWarmup& on_warmup) {
    const auto least = [](const std::vector<int>& values) {
      return *std::min_element(values.begin(), values.end());
    };
    const int n_document = std::min(least(prompts.lengths()), kWarmupDocument);
    const int n_output = std::min(least(options.output_tokens), kWarmupTokens);
    for (int round = 0; round < options.warmup; ++round) {
      for (const std::string& arm : options.arms) {
        if (is_cancelled()) return;
        if (on_warmup) on_warmup(arm);
        (void)sample({arm, n_document, least(options.agents), n_output, -1, 0});
      }
    }
  }

  Model model;
  BenchOptions options;
  internal::BenchPrompts prompts;
  BenchSetup setup;
  internal::Mutex mutex;
  bool cancelled GUARDED_BY(mutex) = false;
  std::vector<std::shared_ptr<internal::RequestTicket>> in_progress GUARDED_BY(mutex);
};

Bench::Bench(const Model& model, const BenchOptions& options)
    : impl_(std::make_unique<Impl>(model, options)) {}
Bench::Bench(Bench&&) noexcept = default;
Bench& Bench::operator=(Bench&&) noexcept = default;
Bench::~Bench() = default;

const BenchSetup& Bench::setup() const { return impl_->setup; }
int Bench::n_trials() const { return static_cast<int>(impl_->steps().size()); }

std::vector<BenchTrial> Bench::known(std::vector<BenchTrial> trials) const {
  std::vector<BenchTrial> out;
  for (const BenchStep& step : impl_->steps()) {
    if (auto known = take(trials, step)) out.push_back(std::move(*known));
  }
  return out;
}

std::vector<BenchTrial> Bench::run(std::vector<BenchTrial> done, const OnTrial& on_trial,
                                   const OnWarmup& on_warmup) {
  std::vector<BenchTrial> out;
  bool is_warm = false;
  for (const BenchStep& step : impl_->steps()) {
    if (auto known = take(done, step)) {
      out.push_back(std::move(*known));
      continue;
    }
    if (!std::exchange(is_warm, true)) impl_->warm_up(on_warmup);
    if (impl_->is_cancelled()) continue;  // later ones may be known
    BenchTrial trial = impl_->sample(step);
    // What was broken off says nothing; what was finished at the last moment does.
    if (trial.status != "finished" && impl_->is_cancelled()) continue;
    if (on_trial) on_trial(trial);
    out.push_back(std::move(trial));
  }
  return out;
}

void Bench::cancel() {
  const internal::MutexLock lock(impl_->mutex);
  impl_->cancelled = true;
  for (const auto& ticket : impl_->in_progress) ticket->cancel();
}

}  // namespace swarmkv
