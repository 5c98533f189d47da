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
    const std::vector<Entry> entries = known_entries(context_, top, KeyLevel::kTop, "");
    check_version(find(entries, "version"));
    AgentSpec defaults;
    // First, wherever it stands: agents are copied from it.
    if (const Entry* entry = find(entries, "defaults")) read_defaults(context_, *entry, defaults);
    for (const Entry& entry : entries) read_entry(entry, defaults);

    const Entry* one = find(entries, "document");
    const Entry* several = find(entries, "documents");
    if (one != nullptr && several != nullptr) {
      context_.error("SK105", "'document' and 'documents' are both given", several->key_node,
                     "keep one of them");
    }
    if (find(entries, "agents") == nullptr) missing("agents");
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

  void missing(const std::string& key) {
    Problem problem;
    problem.code = "SK103";
    problem.message = "'" + key + "' is missing";
    problem.pos = SourcePos{context_.source.file_name(), 0, 0};
    problem.hint = key == "version" ? "write 'version: 1' at the top"
                                    : "write 'agents:' with a name and a prompt for each";
    context_.diagnostics.error(std::move(problem));
  }

  void check_version(const Entry* entry) {
    if (entry == nullptr) {
      missing("version");
    } else if (entry->value.kind != YamlNode::Kind::kText || !entry->value.plain ||
               entry->value.text != "1") {
      context_.error("SK106", "this program reads version 1 of the pipeline format",
                     entry->value_or_key(), "write 'version: 1'");
    }
  }

  void read_entry(const Entry& entry, const AgentSpec& defaults) {
    const std::string& key = entry.key();
    if (key == "name") {
      const auto name = read_text(context_, entry);
      if (name && name->empty()) context_.error("SK105", "'name' is empty", entry.value);
      if (name) pipeline_.name = *name;
    } else if (key == "system") {
      read_system(entry);
    } else if (key == "vars") {
      read_vars(context_, entry, pipeline_, notes_);
    } else if (key == "model") {
      read_model(context_, entry, pipeline_.model);
    } else if (key == "document") {
      read_document(context_, entry, pipeline_);
    } else if (key == "documents") {
      read_documents(context_, entry, pipeline_);
    } else if (key == "agents") {
      read_agents(entry, defaults);
    }
  }

  void read_system(const Entry& entry) {
    notes_.top_pos["system"] = context_.pos(entry.key_node);
    auto found = read_text_or_file(context_, entry);
    if (!found) return;
    pipeline_.system = std::move(found->text);
    locate_templates(context_, entry, pipeline_.system, found->path, notes_.top_pos, notes_);
  }

  void read_agents(const Entry& entry, const AgentSpec& defaults) {
    if (entry.value.kind != YamlNode::Kind::kMap) {
      if (entry.value.kind == YamlNode::Kind::kNull) {
        context_.error("SK206", "the pipeline has no agents", entry.key_node);
      } else {
        wrong_type(context_, entry, "a mapping of names to agents",
                   "write agents: { summary: { prompt: ... } }");
      }
      return;
    }
    for (const Entry& item : entries_of(context_, entry.value)) {
      if (item.key().rfind("x-", 0) == 0) continue;
      read_agent(context_, item, defaults, pipeline_, notes_);
    }
    if (pipeline_.agents.empty()) {
      context_.error("SK206", "the pipeline has no agents", entry.key_node);
    }
  }

  const ReadContext& context_;
  Pipeline& pipeline_;
  ReadNotes notes_;
};

}  // namespace
}  // namespace internal

ParsedPipeline parse_pipeline(std::string_view yaml, const std::string& file_name,
                              const PipelineChanges& changes, const FileReader& read_file,
                              const SchemaCheck& check_schema) {
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
      if (!diagnostics.has_errors()) {
        internal::select_agents(result.pipeline, changes, diagnostics);
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
