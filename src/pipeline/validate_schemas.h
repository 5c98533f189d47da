// The JSON Schemas of agents: what can be said of them here, and what an engine says.
#pragma once

#include <map>
#include <string>
#include <utility>

#include "pipeline/diagnostic_list.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

class SchemaChecker {
 public:
  /// `check` may be empty. Keeps a reference to `diagnostics`.
  SchemaChecker(SchemaCheck check, DiagnosticList& diagnostics)
      : check_(std::move(check)), diagnostics_(diagnostics) {}

  void check(const AgentSpec& agent);

 private:
  [[nodiscard]] std::string problem_of(const std::string& schema) const;

  const SchemaCheck check_;
  DiagnosticList& diagnostics_;
  std::map<std::string, std::string> known_;  ///< problems by schema: many agents may share one
};

}  // namespace swarmkv::internal
