// What the command line and the environment ask for. Unset = not given: a pipeline file or a
// default decides.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

/// The command was called wrongly; ends in exit code 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Settings {
  std::string command;
  std::string verb;                    ///< of `snapshot`: "list"; empty if none was given
  std::vector<std::string> arguments;  ///< what is left when flags are taken out
  bool help = false;
  /// Flags, by their long names, whose value a variable gave and no flag.
  std::set<std::string, std::less<>> from_environment;

  // Model and engine.
  std::optional<std::string> model;
  std::string engine = "llama", handoff = "shared", attention = "auto";
  std::string attention_target;  ///< empty = the best
  std::optional<int> ctx_size, n_gpu_layers, threads, threads_batch, batch_size, ubatch_size,
      parallel;
  std::optional<std::string> flash_attn, cache_type_k, cache_type_v;
  std::vector<std::pair<std::string, std::string>> fake_answers;
  int fake_delay_ms = 0, fake_ctx_train = 0, fake_cells_limit = 0, fake_fail_at_forward = 0;

  // Sampling, for every agent.
  std::optional<int> max_tokens, top_k;
  std::optional<double> temperature, top_p, min_p, repeat_penalty;
  std::optional<std::uint32_t> seed;
  std::vector<std::string> stop;
  std::optional<bool> ignore_eos;

  // Input.
  PipelineChanges changes;
  std::vector<std::string> files;
  std::optional<std::string> questions, system;
  std::optional<std::string> save;  ///< the pipeline file that ask writes
  bool no_chat_template = false;
  std::optional<std::string> template_date;

  // Snapshots.
  std::optional<std::string> snapshot;  ///< "auto", "off" or a file
  std::optional<std::string> snapshot_dir;
  std::optional<std::uint64_t> snapshot_limit;
  bool all = false;

  // Output.
  std::string output = "text", print = "final", progress = "auto", color = "auto";
  std::vector<std::string> reports;
  bool stream = false, quiet = false, verbose = false;
  std::optional<int> verbosity;  ///< llama.cpp's threshold of its log; beats `verbose`

  // bench; empty = not given: a scenario file or a default decides.
  std::vector<int> document_tokens, suffix_tokens, agents, output_tokens;
  std::vector<std::string> arms, thresholds;
  std::optional<int> trials, warmup;
  std::optional<std::string> resume, label;
  bool compat = false;

  // The run.
  bool strict = false, fail_fast = false, deterministic = false;
  std::chrono::milliseconds timeout{0};
};

/// Whether what was given for `flag` counts for `key` of a pipeline. A flag always does; a variable
/// not where --set has given the key, which stands on the command line like a flag.
inline bool reaches(const Settings& settings, std::string_view flag, const std::string& key,
                    const std::set<std::string>& changed_keys) {
  return changed_keys.count(key) == 0 || settings.from_environment.count(flag) == 0;
}

/// Standard error is read by a program: it gets event lines and nothing else. A plan has none.
inline bool stderr_is_events(const Settings& settings) {
  return settings.progress == "jsonl" && !settings.quiet && settings.command != "plan";
}

/// As in a pipeline file: what is none of our words has a slash or a dot in it, so that a slip is
/// not taken for the name of a file.
inline bool is_snapshot_file(std::string_view use) {
  return use.find_first_of("./") != std::string_view::npos;
}

/// The pipeline that run and plan take.
/// errors  UsageError  several are given
inline std::string pipeline_file(const Settings& settings) {
  const std::vector<std::string>& given = settings.arguments;
  if (given.size() > 1) {
    throw UsageError(settings.command + " takes one pipeline file, but got " +
                     std::to_string(given.size()) + ": '" + given[0] + "', '" + given[1] + "'");
  }
  return settings.arguments.empty() ? "swarmkv.yaml" : settings.arguments.front();
}

}  // namespace swarmkv::cli
