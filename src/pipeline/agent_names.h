// Agents by name while a pipeline is checked, and what a name was probably meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/graph.h"
#include "pipeline/source_text.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

class AgentNames {
 public:
  /// Keeps references to both.
  AgentNames(const Pipeline& pipeline, const DiagnosticList& diagnostics)
      : pipeline_(pipeline), diagnostics_(diagnostics), index_(index_agents(pipeline)) {}

  /// Null if there is none; of agents with the same name the first.
  [[nodiscard]] const AgentSpec* find(std::string_view name) const {
    const auto found = index_.find(name);
    return found == index_.end() ? nullptr
                                 : &pipeline_.agents[static_cast<std::size_t>(found->second)];
  }

  /// What to say of a name that is no agent; may be empty.
  [[nodiscard]] std::string hint(const std::string& name) {
    for (const DocumentSpec& document : pipeline_.documents) {
      if (document.name == name)
        return "documents are not inserted: 'reads' puts them in front of a prompt";
    }
    if (!diagnostics_.wants_suggestions()) return "";
    if (names_.empty()) {
      for (const AgentSpec& agent : pipeline_.agents) names_.push_back(agent.name);
    }
    const auto nearest = nearest_name(name, names_);
    return nearest ? "did you mean '" + *nearest + "'?" : "";
  }

 private:
  const Pipeline& pipeline_;
  const DiagnosticList& diagnostics_;
  AgentIndex index_;
  std::vector<std::string> names_;  // only made for the first suggestion
};

/// How many characters to underline for what is written as `marked`.
inline int marked_length(std::string_view marked) {
  const int n = static_cast<int>(count_characters(marked.substr(0, marked.find('\n'))));
  return n < 1 ? 1 : n;
}

}  // namespace swarmkv::internal
