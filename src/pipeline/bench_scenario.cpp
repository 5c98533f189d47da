// A scenario file of `swarmkv bench`: the same strict reading as a pipeline's.
#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <utility>

#include "pipeline/bounded_file.h"
#include "pipeline/keys.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/yaml_reader.h"
#include "swarmkv/bench.h"

namespace swarmkv {
namespace {

using internal::Entry;
using internal::ReadContext;
using internal::YamlNode;

// One whole number, or a list of them.
void read_numbers(const ReadContext& context, const Entry& entry, std::vector<int>& out) {
  std::vector<int> numbers;
  if (entry.value.kind != YamlNode::Kind::kSequence) {
    if (const auto n = internal::read_integer(context, entry)) {
      numbers.push_back(static_cast<int>(*n));
    }
  } else if (entry.value.items.empty()) {
    context.error("SK105", "'" + entry.key() + "' is an empty list", entry.value_or_key());
  }
  if (entry.value.kind == YamlNode::Kind::kSequence) {
    for (const internal::YamlId id : entry.value.items) {
      const Entry item{entry.key_node, context.tree.at(id)};
      if (const auto n = internal::read_integer(context, item)) {
        numbers.push_back(static_cast<int>(*n));
      }
    }
  }
  if (!numbers.empty()) out = std::move(numbers);
}

void read_number(const ReadContext& context, const Entry& entry, int& out) {
  if (const auto n = internal::read_integer(context, entry)) out = static_cast<int>(*n);
}

void read_texts(const ReadContext& context, const Entry& entry, std::vector<std::string>& out) {
  const auto items = internal::read_text_list(context, entry);
  if (!items) return;
  out.clear();
  for (const YamlNode* item : *items) {
    out.push_back(item->text);
    if (item->text.empty())
      context.error("SK105", "'" + entry.key() + "' holds an empty text", *item);
  }
}

void read_arms(const ReadContext& context, const Entry& entry, std::vector<std::string>& out) {
  static const std::array<std::string, 4> arms{"shared", "recompute", "snapshot", "device"};
  const auto items = internal::read_text_list(context, entry);
  if (!items) return;
  out.clear();
  for (const YamlNode* item : *items) {
    if (const auto arm = internal::read_choice(context, {entry.key_node, *item}, arms)) {
      out.push_back(*arm);
    }
  }
}

class ScenarioReader {
 public:
  ScenarioReader(const ReadContext& context, BenchScenario& scenario, std::string folder)
      : context_(context), scenario_(scenario), folder_(std::move(folder)) {}

  void read(const YamlNode& top) {
    for (const Entry& entry :
         internal::known_entries(context_, top, internal::KeyLevel::kBench, "")) {
      read_entry(entry, scenario_.options);
    }
  }

 private:
  void read_entry(const Entry& entry, BenchOptions& o) {
    const std::string& key = entry.key();
    if (key == "version") {
      (void)internal::read_integer(context_, entry);
    } else if (key == "name") {
      (void)internal::read_text(context_, entry);
    } else if (key == "model") {
      internal::read_model(context_, entry, scenario_.model);
      // Relative to the file, as in a pipeline.
      if (!scenario_.model.path.empty()) scenario_.model.path = beside(scenario_.model.path);
    } else if (key == "document") {
      const auto path = internal::read_text(context_, entry);
      if (path) o.document = beside(*path);
    } else if (key == "document_tokens") {
      read_numbers(context_, entry, o.document_tokens);
    } else if (key == "suffix_tokens") {
      read_numbers(context_, entry, o.suffix_tokens);
    } else if (key == "agents") {
      read_numbers(context_, entry, o.agents);
    } else if (key == "output_tokens") {
      read_numbers(context_, entry, o.output_tokens);
    } else if (key == "questions") {
      read_texts(context_, entry, o.questions);
    } else if (key == "arms") {
      read_arms(context_, entry, o.arms);
    } else if (key == "trials") {
      read_number(context_, entry, o.trials);
    } else if (key == "warmup") {
      read_number(context_, entry, o.warmup);
    } else if (key == "ignore_eos") {
      o.ignore_eos = internal::read_bool(context_, entry).value_or(o.ignore_eos);
    } else if (key == "seed") {
      if (const auto seed = internal::read_integer(context_, entry)) {
        o.seed = static_cast<std::uint32_t>(*seed);
      }
    }
  }

  [[nodiscard]] std::string beside(const std::string& path) const {
    const std::filesystem::path given(path);
    return given.is_absolute() ? path : (std::filesystem::path(folder_) / given).string();
  }

  const ReadContext& context_;
  BenchScenario& scenario_;
  const std::string folder_;
};

}  // namespace

bool BenchScenario::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
    return d.severity == Diagnostic::Severity::kError;
  });
}

BenchScenario load_bench_scenario(const std::string& path, BenchOptions defaults) {
  BenchScenario out;
  out.options = std::move(defaults);
  const std::string yaml = internal::read_bounded_file(path);
  const internal::SourceText source(yaml, path);
  internal::DiagnosticList diagnostics(&source);
  if (const auto tree = internal::read_yaml(source, diagnostics)) {
    const ReadContext context{source, *tree, diagnostics};
    const YamlNode& top = tree->at(tree->root);
    if (top.kind == YamlNode::Kind::kMap) {
      ScenarioReader(context, out, std::filesystem::path(path).parent_path().string()).read(top);
    } else {
      context.error("SK104", "a scenario file is a mapping of keys to values", top,
                    "start with 'agents: [1, 2, 8]'");
    }
  }
  out.diagnostics = diagnostics.take();
  return out;
}

}  // namespace swarmkv
