#include <algorithm>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipeline/changes.h"
#include "pipeline/file_texts.h"
#include "pipeline/keys.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/validate.h"
#include "pipeline/yaml_reader.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace internal {
namespace {

class PipelineReader {
 public:
  PipelineReader(const ReadContext& context, Pipeline& pipeline)
      : context_(context), pipeline_(pipeline) {
    notes_.folder = pipeline.folder;
  }

  void read(const YamlNode& top) {
    StrayKeys strays;
    strays.advice = [&](const Entry& stray) { return advice(stray, top); };
    const std::vector<Entry> entries = known_entries(context_, top, KeyLevel::kTop, "", &strays);
    check_version(find(entries, "version"), strays);
    AgentSpec defaults;
    // First, wherever it stands: agents are copied from it.
    if (const Entry* entry = find(entries, "defaults")) read_defaults(context_, *entry, defaults);
    for (const Entry& entry : entries) read_entry(entry);

    const Entry* one = find(entries, "document");
    const Entry* several = find(entries, "documents");
    if (one != nullptr && several != nullptr) {
      context_.error("SK105", "'document' and 'documents' are both given", several->key_node,
                     "keep one of them");
    }
    const Entry* agents = find(entries, "agents");
    read_agents(context_, agents, defaults, pipeline_, notes_);
    if (agents == nullptr && pipeline_.agents.empty() && !strays.means("agents")) missing("agents");
    pipeline_.text_files = context_.files->paths();
  }

  // What was read besides the pipeline; agents are never reported missing twice.
  [[nodiscard]] ValidateOptions validate_options() && {
    return {std::move(notes_.prompt_is_broken), true, std::move(notes_.top_pos)};
  }

 private:
  static const Entry* find(const std::vector<Entry>& entries, std::string_view key) {
    const auto found = std::find_if(entries.begin(), entries.end(),
                                    [&](const Entry& entry) { return entry.key() == key; });
    return found == entries.end() ? nullptr : &*found;
  }

  // What stands at the top and belongs into an agent, or is one: a line indented too little.
  std::string advice(const Entry& stray, const YamlNode& top) {
    const std::string& key = stray.key();
    if (looks_like_agent(context_, stray.value)) {
      notes_.stray_agents.push_back(stray);
      return "it has a prompt like an agent; if it is one, indent it under 'agents'";
    }
    if (!is_key_at(KeyLevel::kAgent, key)) return "";
    const std::string agent = last_agent_above(stray.key_node, top);
    if (agent.empty()) return "";
    if (key == "prompt") notes_.prompt_elsewhere.insert(agent);
    return "'" + key + "' belongs in an agent: indent it under '" + agent + "'" +
           (is_key_at(KeyLevel::kDefaults, key) ? ", or under 'defaults'" : "");
  }

  // The agent that a line at the top would go on with; "" if there is none.
  [[nodiscard]] std::string last_agent_above(const YamlNode& line, const YamlNode& top) const {
    for (std::size_t i = 0; i + 1 < top.items.size(); i += 2) {
      const YamlNode& key = context_.tree.at(top.items[i]);
      const YamlNode& agents = context_.tree.at(top.items[i + 1]);
      if (key.text != "agents" || key.origin != 0 || key.offset > line.offset) continue;
      if (line.origin != 0 || agents.kind != YamlNode::Kind::kMap || agents.items.empty()) continue;
      return context_.tree.at(agents.items[agents.items.size() - 2]).text;
    }
    return "";
  }

  void missing(const std::string& key) {
    Problem problem;
    problem.code = "SK103";
    problem.message = "'" + key + "' is missing";
    problem.pos = SourcePos{context_.source.file_name(), 0, 0};
    problem.hint = key == "version" ? "write 'version: 1' at the top"
                                    : "write agents: { summary: { prompt: ... } }";
    context_.diagnostics.error(std::move(problem));
  }

  void check_version(const Entry* entry, const StrayKeys& strays) {
    if (entry == nullptr) {
      if (!strays.means("version")) missing("version");
    } else if (entry->value.kind != YamlNode::Kind::kText || !entry->value.plain ||
               entry->value.text != "1") {
      context_.error("SK106", "this program reads version 1 of the pipeline format",
                     entry->value_or_key(), "write 'version: 1'");
    }
  }

  void read_entry(const Entry& entry) {
    const std::string& key = entry.key();
    if (key == "name") {
      const auto name = read_text(context_, entry);
      if (name && name->empty()) {
        context_.error("SK105", "'name' is empty", entry.value, "write one, or remove the key");
      }
      if (name) pipeline_.name = *name;
    } else if (key == "system") {
      read_system(entry);
    } else if (key == "vars") {
      read_vars(context_, entry, pipeline_, notes_);
    } else if (key == "model") {
      read_model(context_, entry, pipeline_.model);
    } else if (key == "document") {
      read_document(context_, entry, pipeline_, notes_);
    } else if (key == "documents") {
      read_documents(context_, entry, pipeline_, notes_);
    }
  }

  void read_system(const Entry& entry) {
    notes_.top_pos["system"] = context_.pos(entry.key_node);
    if (entry.is_change()) pipeline_.changed_keys.insert(entry.key());
    auto found = read_text_or_file(context_, entry);
    if (!found) return;
    pipeline_.system = std::move(found->text);
    locate_templates(context_, entry, pipeline_.system, found->path, notes_.top_pos, notes_);
  }

  const ReadContext& context_;
  Pipeline& pipeline_;
  ReadNotes notes_;
};

}  // namespace
}  // namespace internal

ParsedPipeline parse_pipeline(std::string_view yaml, const std::string& file_name,
                              const PipelineChanges& changes, const FileReader& read_file,
                              const SchemaCheck& check_schema,
                              const DocumentCheck& check_document) {
  ParsedPipeline result;
  const std::string folder = std::filesystem::path(file_name).parent_path().string();
  result.pipeline.folder = folder.empty() ? "." : folder;

  const internal::SourceText source(yaml, file_name);
  internal::DiagnosticList diagnostics(&source);
  if (auto tree = internal::read_yaml(source, diagnostics)) {
    const std::vector<std::string> origins = internal::apply_changes(changes, *tree, diagnostics);
    internal::FileTexts files(read_file);
    const internal::ReadContext context{source, *tree, diagnostics, origins, &files};
    const internal::YamlNode& top = tree->at(tree->root);
    if (top.kind == internal::YamlNode::Kind::kMap) {
      internal::PipelineReader reader(context, result.pipeline);
      reader.read(top);
      internal::ValidateOptions options = std::move(reader).validate_options();
      options.check_schema = check_schema;
      internal::validate_into(result.pipeline, options, diagnostics);
      // What is left out of a pipeline must not hide what is wrong with it.
      const bool selects = !changes.select.empty() || !changes.exclude.empty();
      if (!diagnostics.has_errors()) {
        internal::select_agents(result.pipeline, changes, diagnostics);
      }
      // But a document that nobody is left to read need not be there.
      if (check_document && !(selects && diagnostics.has_errors())) {
        internal::check_document_files(result.pipeline, check_document, options.top_pos,
                                       diagnostics);
        if (!diagnostics.has_errors()) internal::check_ready_after(result.pipeline, diagnostics);
      }
    } else {
      context.error("SK104", "a pipeline file is a mapping of keys to values", top,
                    "start with 'version: 1'");
    }
  }
  result.diagnostics = diagnostics.take();
  return result;
}

}  // namespace swarmkv
