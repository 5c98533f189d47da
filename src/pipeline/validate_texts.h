// The checks of prompts and system texts.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>

#include "pipeline/agent_names.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/template.h"

namespace swarmkv::internal {

class TextCheck {
 public:
  /// Keeps references to all.
  TextCheck(const Pipeline& pipeline, AgentNames& names, DiagnosticList& diagnostics)
      : pipeline_(pipeline), names_(names), diagnostics_(diagnostics) {}

  /// Adds the needs that the prompt implies to those of the agent, which are `needs`.
  void check_prompt(AgentSpec& agent, std::unordered_set<std::string> needs);

  void check_system(const AgentSpec& agent);
  /// That of all agents.
  void check_shared_system(const KeyPositions& top_pos);

  /// Vars that no text uses. After all texts.
  void warn_of_unused_vars(const KeyPositions& top_pos);

 private:
  class Prompt;
  struct System;

  void check(const System& system);
  void report_issues(const Template& text, std::string_view source,
                     const TemplatePositions& positions, bool only_vars);
  /// `what` begins the sentence.
  void check_size(const Template& text, const std::string& what, const SourcePos& pos,
                  std::string_view marked);
  void use_var(const std::string& name, const std::string& owner, const SourcePos& pos,
               std::string_view marked);

  const Pipeline& pipeline_;
  AgentNames& names_;
  DiagnosticList& diagnostics_;
  std::unordered_set<std::string> used_vars_;
  std::size_t n_bytes_ = 0;  ///< of all texts with vars in them
};

}  // namespace swarmkv::internal
