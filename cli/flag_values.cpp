#include "cli/flag_values.h"

#include <algorithm>
#include <array>

namespace swarmkv::cli {
namespace {

struct Values {
  std::string_view flag;
  unsigned commands;
  std::vector<std::string_view> words;
};

constexpr unsigned kAll = ~0U;

const std::vector<Values>& table() {
  static const std::vector<std::string_view> cache_types = {"f32",  "f16",  "bf16", "q8_0",
                                                            "q5_1", "q5_0", "q4_1", "q4_0"};
  static const std::vector<Values> all = {
      {"ctx-size", kAll, {"auto"}},
      {"threads", kAll, {"auto"}},
      {"threads-batch", kAll, {"auto"}},
      {"parallel", kAll, {"auto"}},
      {"n-gpu-layers", kAll, {"auto", "all"}},
      {"flash-attn", kAll, {"on", "off", "auto"}},
      {"attention", kAll, {"auto", "grouped", "stock"}},
      {"cache-type-k", kAll, cache_types},
      {"cache-type-v", kAll, cache_types},
      {"engine", kAll, {"llama", "fake"}},
      {"handoff", kAll, {"shared", "recompute", "snapshot", "device"}},
      {"arms", kAll, {"shared", "recompute", "snapshot", "device"}},
      {"output", kBench, {"md", "json", "jsonl", "csv"}},
      {"output", kPlan, {"text", "json", "jsonl", "dot", "mermaid"}},
      {"output", kRun | kAsk, {"text", "json", "jsonl"}},
      {"output", kInspect | kSnapshot, {"text", "json"}},
      {"print", kAll, {"final", "all", "none"}},
      {"snapshot", kAll, {"auto", "off"}},
      {"progress", kSnapshot, {"auto", "tty", "plain", "none"}},
      {"progress", kAll, {"auto", "tty", "plain", "jsonl", "none"}},
      {"color", kAll, {"auto", "always", "never"}}};
  return all;
}

}  // namespace

std::vector<std::string_view> flag_values(const Flag& flag, Command command) {
  for (const Values& values : table()) {
    if (values.flag == flag.name && (values.commands & command) != 0) return values.words;
  }
  return {};
}

bool takes_file(const Flag& flag) {
  constexpr std::array<std::string_view, 7> kFiles = {"model",  "file",     "questions", "report",
                                                      "resume", "snapshot", "save"};
  return std::find(kFiles.begin(), kFiles.end(), flag.name) != kFiles.end();
}

bool takes_folder(const Flag& flag) { return flag.name == "snapshot-dir"; }

}  // namespace swarmkv::cli
