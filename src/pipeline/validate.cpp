#include "pipeline/validate.h"

#include <string>
#include <unordered_set>
#include <utility>

#include "fmt/format.h"
#include "pipeline/names.h"
#include "pipeline/validate_needs.h"
#include "pipeline/validate_schemas.h"
#include "pipeline/validate_texts.h"
#include "text/trim.h"

namespace swarmkv::internal {
namespace {

// Something has to be computed for the agent, and by one of two ways.
bool has_work(const AgentSpec& agent, DiagnosticList& diagnostics) {
  if (agent.function) {
    if (agent.prompt.empty()) return true;
    diagnostics.error({"SK207", fmt::format("agent '{}' has a function and a prompt", agent.name),
                       agent.pos, marked_length(agent.name), "one of them would be ignored"});
    return false;
  }
  if (!trim(agent.prompt).empty()) return true;
  const bool given = agent.key_pos.count("prompt") > 0;
  diagnostics.error(
      {"SK207",
       given ? fmt::format("the prompt of agent '{}' is empty", agent.name)
             : fmt::format("agent '{}' has no prompt", agent.name),
       key_position(agent, "prompt"), marked_length(given ? "prompt" : agent.name),
       given ? "write the question" : "write prompt: and the question, below its name"});
  return false;
}

void check_vars(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  for (const auto& [name, text] : pipeline.vars) {
    if (has_name_form(name)) continue;
    diagnostics.error({"SK201", fmt::format("var name '{}' is not allowed", name), SourcePos{}, 1,
                       name_form_hint(name)});
  }
}

}  // namespace

void validate_into(Pipeline& pipeline, const ValidateOptions& options,
                   DiagnosticList& diagnostics) {
  check_documents(pipeline, diagnostics);
  check_names(pipeline, diagnostics);
  check_model(pipeline.model, diagnostics);
  if (pipeline.agents.empty() && !options.from_file) {
    diagnostics.error({"SK206", "the pipeline has no agents", SourcePos{}, 1, "add one"});
  }
  if (!options.from_file) check_vars(pipeline, diagnostics);
  check_reads(pipeline, diagnostics);
  check_output_files(pipeline, diagnostics);
  AgentNames names(pipeline, diagnostics);
  TextCheck texts(pipeline, names, diagnostics);
  texts.check_shared_system(options.top_pos);
  SchemaChecker schemas(options.check_schema, diagnostics);
  bool all_texts_seen = true;
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    AgentSpec& agent = pipeline.agents[i];
    check_ranges(agent, diagnostics);
    schemas.check(agent);
    std::unordered_set<std::string> needs = check_needs(agent, names, diagnostics);
    const bool broken = i < options.prompt_is_broken.size() && options.prompt_is_broken[i];
    if (!agent.function) texts.check_system(agent);
    if (broken || !has_work(agent, diagnostics)) {
      all_texts_seen = false;
    } else if (!agent.function) {
      texts.check_prompt(agent, std::move(needs));
    }
  }
  if (all_texts_seen && !pipeline.agents.empty()) texts.warn_of_unused_vars(options.top_pos);
  check_circles(pipeline, diagnostics);
}

}  // namespace swarmkv::internal

namespace swarmkv {

std::vector<Diagnostic> validate(Pipeline& pipeline, const SchemaCheck& check_schema) {
  internal::DiagnosticList diagnostics;
  internal::ValidateOptions options;
  options.check_schema = check_schema;
  internal::validate_into(pipeline, options, diagnostics);
  return diagnostics.take();
}

}  // namespace swarmkv
