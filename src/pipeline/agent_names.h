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

/// "did you mean 'risk'?", else all of `names` if they are few, with `what` in front, else "".
std::string name_hint(std::string_view name, const std::vector<std::string>& names,
                      std::string_view what);

/// For "a, b" where a list was meant: "write reads: [a, b]". "" if `text` is one word.
std::string list_hint(std::string_view key, std::string_view text);

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

  /// What to say of a name under `needs` or `continues` of `asker` that is no agent; may be empty.
  [[nodiscard]] std::string hint(const std::string& name, const std::string& asker);

  /// The same of what stands between braces, which may also be meant as a var. `only_vars`: in a
  /// system text.
  [[nodiscard]] std::string template_hint(const std::string& word, bool only_vars = false);

 private:
  [[nodiscard]] const std::vector<std::string>& names();
  [[nodiscard]] std::vector<std::string> vars() const;
  [[nodiscard]] std::string document_hint(const std::string& name) const;

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
