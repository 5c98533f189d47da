#include "pipeline/validate_schemas.h"

#include <string_view>

#include "fmt/format.h"
#include "pipeline/agent_names.h"
#include "pipeline/json_text.h"
#include "pipeline/prompt_positions.h"

namespace swarmkv::internal {
namespace {

struct Place {
  const SourcePos& pos;
  int length;
};

// Engines name a part of a schema by its pointer: "#/properties/a: ...". Of one that the file does
// not show (it stands in a text, or the engine made it up) the next larger part.
Place place_of(const AgentSpec& agent, const std::string& problem) {
  constexpr std::string_view kKey = "json_schema";
  const std::size_t begin = problem.find("#/");
  if (begin != std::string::npos) {
    std::string pointer = problem.substr(begin, problem.find(": ", begin) - begin);
    while (!pointer.empty() && pointer != "#") {
      const std::size_t last = pointer.rfind('/');
      if (last == std::string::npos) break;
      const auto found = agent.key_pos.find(std::string(kKey) + pointer);
      if (found != agent.key_pos.end()) {
        return {found->second, marked_length(std::string_view(pointer).substr(last + 1))};
      }
      pointer.erase(last);
    }
  }
  return {key_position(agent, std::string(kKey)), marked_length(kKey)};
}

}  // namespace

std::string SchemaChecker::problem_of(const std::string& schema) const {
  const std::string problem = json_object_problem(schema);
  if (!problem.empty()) return "is no schema: " + problem;
  const std::string refusal = check_ ? check_(schema) : "";
  return refusal.empty() ? "" : "cannot bind an answer: " + refusal;
}

void SchemaChecker::check(const AgentSpec& agent) {
  const std::string& schema = agent.sampling.json_schema;
  if (schema.empty()) return;
  const auto [known, is_new] = known_.emplace(schema, std::string());
  if (is_new) known->second = problem_of(schema);
  if (known->second.empty()) return;
  Problem problem;
  problem.code = "SK109";
  problem.message = fmt::format("'json_schema' of agent '{}' {}", agent.name, known->second);
  const Place place = place_of(agent, known->second);
  problem.pos = place.pos;
  problem.length = place.length;
  if (known->second.rfind("is no schema", 0) == 0) {
    problem.hint = "write { type: object, properties: { ... } }";
  }
  diagnostics_.error(std::move(problem));
}

}  // namespace swarmkv::internal
