#include "cli/options.h"

#include <unistd.h>

#include <filesystem>

#include "cli/model_log.h"
#include "cli/output.h"

namespace swarmkv::cli {
namespace {

// The first of the two that is given; else `out` keeps its default.
template <typename T>
void choose(T& out, const std::optional<T>& flag, const std::optional<T>& file) {
  if (flag) {
    out = *flag;
  } else if (file) {
    out = *file;
  }
}

std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

void write_to_stderr(std::string_view text) {
  try {
    write_all(STDERR_FILENO, text, "standard error");
  } catch (const Error&) {
    // The log is a courtesy.
  }
}

}  // namespace

ModelOptions model_options(const Settings& settings, const Pipeline& pipeline,
                           const ModelChoice& model) {
  ModelOptions out;
  out.path = model.path;
  out.engine = settings.engine;
  const bool has_flag =
      reaches(settings, "n-gpu-layers", "n_gpu_layers", pipeline.model.changed_keys);
  choose(out.n_gpu_layers, has_flag ? settings.n_gpu_layers : std::nullopt,
         pipeline.model.n_gpu_layers);
  out.log = model_log(settings, write_to_stderr);
  out.fake_answers = settings.fake_answers;
  out.fake_delay_ms = settings.fake_delay_ms;
  out.fake_ctx_train = settings.fake_ctx_train;
  out.fake_cells_limit = settings.fake_cells_limit;
  out.fake_fail_at_forward = settings.fake_fail_at_forward;
  return out;
}

EngineOptions engine_options(const Settings& settings, const ModelSpec& file) {
  EngineOptions out;
  const auto given_for = [&](const char* flag, const auto& value, const char* key) {
    return reaches(settings, flag, key, file.changed_keys) ? value : std::nullopt;
  };
  const auto batch_size = given_for("batch-size", settings.batch_size, "batch_size");
  const auto ubatch_size = given_for("ubatch-size", settings.ubatch_size, "batch_size");
  choose(out.ctx_size, given_for("ctx-size", settings.ctx_size, "ctx_size"), file.ctx_size);
  choose(out.parallel, given_for("parallel", settings.parallel, "parallel"), file.parallel);
  choose(out.batch_size, batch_size ? batch_size : ubatch_size, file.batch_size);
  choose(out.threads, given_for("threads", settings.threads, "threads"), file.threads);
  choose(out.threads_batch, given_for("threads-batch", settings.threads_batch, "threads_batch"),
         file.threads_batch);
  choose(out.cache_type_k, given_for("cache-type-k", settings.cache_type_k, "cache_type_k"),
         given(file.cache_type_k));
  choose(out.cache_type_v, given_for("cache-type-v", settings.cache_type_v, "cache_type_v"),
         given(file.cache_type_v));
  choose(out.flash_attn, given_for("flash-attn", settings.flash_attn, "flash_attn"),
         given(file.flash_attn));
  if (out.cache_type_v.find('q') != std::string::npos && out.flash_attn == "off") {
    throw UsageError("cache_type_v is " + out.cache_type_v +
                     ", which needs flash attention, but flash_attn is off");
  }
  out.deterministic = settings.deterministic;
  out.handoff = settings.handoff;
  out.attention = settings.attention;
  out.attention_target = settings.attention_target;
  return out;
}

RunOptions run_options(const Settings& settings) {
  RunOptions out;
  out.use_chat_template = !settings.no_chat_template;
  replace(out.template_date, settings.template_date);
  out.fail_fast = settings.fail_fast;
  out.strict = settings.strict;
  out.timeout = settings.timeout;
  out.snapshot = snapshot_options(settings);
  return out;
}

SnapshotOptions snapshot_options(const Settings& settings) {
  SnapshotOptions out;
  if (settings.snapshot_dir)
    out.folder = std::filesystem::absolute(*settings.snapshot_dir).string();
  replace(out.limit_bytes, settings.snapshot_limit);
  return out;
}

void override_sampling(Sampling& sampling, const Settings& settings,
                       const std::set<std::string>& changed_keys) {
  const auto set = [&](auto& out, const char* flag, const auto& value, const char* key) {
    if (reaches(settings, flag, key, changed_keys)) replace(out, value);
  };
  set(sampling.temperature, "temp", settings.temperature, "temperature");
  set(sampling.top_k, "top-k", settings.top_k, "top_k");
  set(sampling.top_p, "top-p", settings.top_p, "top_p");
  set(sampling.min_p, "min-p", settings.min_p, "min_p");
  set(sampling.repeat_penalty, "repeat-penalty", settings.repeat_penalty, "repeat_penalty");
}

void override_pipeline(Pipeline& pipeline, const Settings& settings) {
  if (settings.snapshot) {
    // A file of the command line starts at the folder that the command was called in.
    std::string use = *settings.snapshot;
    if (is_snapshot_file(use)) use = std::filesystem::absolute(use).string();
    for (DocumentSpec& document : pipeline.documents) {
      if (reaches(settings, "snapshot", "snapshot", document.changed_keys)) document.snapshot = use;
    }
  }
  // A text from the command line is no template: braces in it are braces.
  if (settings.system && reaches(settings, "system", "system", pipeline.changed_keys)) {
    pipeline.system = escape_template(*settings.system);
  }
  for (AgentSpec& agent : pipeline.agents) {
    if (agent.function) continue;
    const auto reaches_agent = [&](const char* flag, const char* key) {
      return reaches(settings, flag, key, agent.changed_keys);
    };
    if (settings.max_tokens && reaches_agent("predict", "max_tokens")) {
      agent.max_tokens = *settings.max_tokens;
      // Where the value stands now: what is said about it must not point into the file.
      const bool by_flag = settings.from_environment.count("predict") == 0;
      agent.key_pos["max_tokens"] = {by_flag ? "--predict" : "SWARMKV_PREDICT", 0, 0};
      agent.changed_keys.erase("max_tokens");
    }
    override_sampling(agent.sampling, settings, agent.changed_keys);
    if (settings.seed && reaches_agent("seed", "seed")) {
      agent.sampling.seed = *settings.seed;
      agent.seed_is_own = false;  // agents still differ: each derives its own from this one
    }
    if (!settings.stop.empty()) agent.stop = settings.stop;
    if (reaches_agent("ignore-eos", "ignore_eos")) replace(agent.ignore_eos, settings.ignore_eos);
  }
}

}  // namespace swarmkv::cli
