#include "pipeline/validate_schemas.h"

#include <string_view>

#include "fmt/format.h"
#include "pipeline/json_text.h"
#include "pipeline/prompt_positions.h"

namespace swarmkv::internal {

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
  problem.pos = key_position(agent, "json_schema");
  problem.length = static_cast<int>(std::string_view("json_schema").size());
  diagnostics_.error(std::move(problem));
}

}  // namespace swarmkv::internal
