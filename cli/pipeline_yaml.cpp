#include "cli/pipeline_yaml.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

// In double quotes no line of the text can be taken for structure.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      out += "\\n";
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

// A text with this in front is the name of a file. A template has no words of its own but two
// braces, so the first word comes from a var.
constexpr std::string_view kFileScheme = "file://";
constexpr const char* kVars = "vars: { file: \"file\" }";

std::string as_own_text(const std::string& text) {
  return text.starts_with(kFileScheme) ? "{{ vars.file }}" + text.substr(4) : text;
}

bool needs_vars(const Pipeline& pipeline) {
  const auto is_needed = [](const AgentSpec& agent) {
    return agent.prompt.starts_with(kFileScheme);
  };
  return pipeline.system.starts_with(kFileScheme) ||
         std::any_of(pipeline.agents.begin(), pipeline.agents.end(), is_needed);
}

std::string path_from(const fs::path& folder, const std::string& path) {
  if (path == "-") return path;
  const fs::path given = fs::absolute(path);
  // The last name stays, also of a link: it may lead elsewhere tomorrow.
  const fs::path place = fs::weakly_canonical(given.parent_path()) / given.filename();
  const fs::path below = place.lexically_relative(folder);
  if (below.empty() || *below.begin() == "..") return place.string();
  // A bare word could be "-", or of a snapshot "auto".
  const bool is_word = below.string().find_first_of("./") == std::string::npos;
  return (is_word ? "./" : "") + below.string();
}

class Lines {
 public:
  // A mapping without keys is not written at all.
  void section(std::string_view name) { pending_ = std::string(name) + ":\n"; }
  void add(std::string_view key, const std::string& value) {
    out_ += std::exchange(pending_, "");
    out_ += fmt::format("  {}: {}\n", key, value);
  }
  template <typename T>
  void number(std::string_view key, const std::optional<T>& value) {
    if (value) add(key, fmt::format("{}", *value));
  }
  void text(std::string_view key, const std::optional<std::string>& value) {
    if (value) add(key, quoted(*value));
  }
  void line(const std::string& text) { out_ += text + "\n"; }
  std::string take() { return std::move(out_); }

 private:
  std::string out_, pending_;
};

// 0 = the library chooses, which a file says by saying nothing.
std::optional<int> unless_auto(const std::optional<int>& n) { return n == 0 ? std::nullopt : n; }

void add_model(Lines& out, const Settings& s, const ModelChoice& model, const fs::path& folder) {
  constexpr int kAllLayers = 10'000;  // as in the table of flags
  out.section("model");
  if (!model.path.empty() && !model.is_default) out.text("path", path_from(folder, model.path));
  out.number("ctx_size", unless_auto(s.ctx_size));
  if (s.n_gpu_layers == kAllLayers) {
    out.add("n_gpu_layers", "all");
  } else if (s.n_gpu_layers && *s.n_gpu_layers >= 0) {
    out.number("n_gpu_layers", s.n_gpu_layers);
  }
  out.number("threads", unless_auto(s.threads));
  out.number("threads_batch", unless_auto(s.threads_batch));
  out.number("batch_size", s.batch_size ? s.batch_size : s.ubatch_size);
  out.number("parallel", unless_auto(s.parallel));
  out.text("cache_type_k", s.cache_type_k);
  out.text("cache_type_v", s.cache_type_v);
  out.text("flash_attn", s.flash_attn);
}

void add_documents(Lines& out, const Pipeline& pipeline, const fs::path& folder) {
  out.section("documents");
  for (const DocumentSpec& document : pipeline.documents) {
    const std::string path = quoted(path_from(folder, document.path));
    const std::string& use = document.snapshot;
    const std::string snapshot = is_snapshot_file(use) ? path_from(folder, use) : use;
    out.add(
        quoted(document.name),
        use.empty() ? path : fmt::format("{{ path: {}, snapshot: {} }}", path, quoted(snapshot)));
  }
}

void add_defaults(Lines& out, const Settings& s) {
  out.section("defaults");
  out.number("max_tokens", s.max_tokens);
  out.number("temperature", s.temperature);
  out.number("top_k", s.top_k);
  out.number("top_p", s.top_p);
  out.number("min_p", s.min_p);
  out.number("repeat_penalty", s.repeat_penalty);
  out.number("seed", s.seed);
  if (!s.stop.empty()) {
    std::vector<std::string> texts;
    for (const std::string& text : s.stop) texts.push_back(quoted(text));
    out.add("stop", fmt::format("[{}]", fmt::join(texts, ", ")));
  }
  out.number("ignore_eos", s.ignore_eos);
}

}  // namespace

std::vector<std::string> flags_beside_pipeline(const Settings& s) {
  std::vector<std::string> out;
  if (s.engine != Settings().engine) out.push_back("--engine " + s.engine);
  if (s.no_chat_template) out.emplace_back("--no-chat-template");
  if (s.template_date) out.push_back("--template-date " + *s.template_date);
  if (s.deterministic) out.emplace_back("--deterministic");
  if (s.handoff != Settings().handoff) out.push_back("--handoff " + s.handoff);
  if (s.attention != Settings().attention) out.push_back("--attention " + s.attention);
  return out;
}

std::string pipeline_yaml(const Pipeline& pipeline, const Settings& settings,
                          const ModelChoice& model, const fs::path& folder) {
  Lines out;
  out.line("# Written by swarmkv ask --save.");
  const std::vector<std::string> flags = flags_beside_pipeline(settings);
  if (!flags.empty()) {
    out.line(fmt::format("# For the same answers swarmkv run needs: {}", fmt::join(flags, " ")));
  }
  out.line("version: 1");
  add_model(out, settings, model, folder);
  add_documents(out, pipeline, folder);
  if (needs_vars(pipeline)) out.line(kVars);
  if (!pipeline.system.empty()) out.line("system: " + quoted(as_own_text(pipeline.system)));
  add_defaults(out, settings);
  out.line("agents:");
  for (const AgentSpec& agent : pipeline.agents) {
    out.line("  " + agent.name + ":");
    out.line("    prompt: " + quoted(as_own_text(agent.prompt)));
  }
  return out.take();
}

std::string lost_in_yaml(const Pipeline& pipeline, const std::string& yaml) {
  const ParsedPipeline parsed = parse_pipeline(yaml, "saved.yaml");
  if (!parsed.ok()) return parsed.diagnostics.front().message;
  const Pipeline& read = parsed.pipeline;
  if (read.system != as_own_text(pipeline.system)) return "the system text";
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    const AgentSpec& agent = pipeline.agents[i];
    const bool is_there = i < read.agents.size() && read.agents[i].name == agent.name;
    if (!is_there || read.agents[i].prompt != as_own_text(agent.prompt)) {
      return "the prompt of '" + agent.name + "'";
    }
    if (read.agents[i].stop != agent.stop) return "a stop text";
  }
  for (std::size_t i = 0; i < pipeline.documents.size(); ++i) {
    const fs::path name = fs::path(pipeline.documents[i].path).filename();
    if (i >= read.documents.size() || fs::path(read.documents[i].path).filename() != name) {
      return "the name of document '" + pipeline.documents[i].name + "'";
    }
  }
  return "";
}

}  // namespace swarmkv::cli
