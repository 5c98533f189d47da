#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "pipeline/agent_names.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/validate.h"

namespace swarmkv::internal {
namespace {

class ReadsCheck {
 public:
  ReadsCheck(const Pipeline& pipeline, DiagnosticList& diagnostics)
      : pipeline_(pipeline), diagnostics_(diagnostics) {
    for (const DocumentSpec& document : pipeline.documents) documents_.insert(document.name);
  }

  void check_agent(const AgentSpec& agent) {
    if (!agent.continues.empty()) return;  // it reads what that agent reads
    if (!agent.reads) {
      all_are_read_ = true;
      return;
    }
    std::unordered_set<std::string_view> own;
    for (const std::string& name : *agent.reads) {
      const SourcePos& pos = position(agent, name);
      if (documents_.count(name) == 0) {
        // Without any document the mistake is one, however many agents read.
        const bool is_told = has_unknown_ && pipeline_.documents.empty();
        has_unknown_ = true;
        if (!is_told && is_new("unknown", name, pos)) unknown(agent, name, pos);
      } else if (!own.insert(name).second) {
        if (!is_new("twice", name, pos)) continue;
        error("SK204", fmt::format("'{}' reads '{}' twice", agent.name, name), name, pos,
              "remove one of them");
      }
      read_.insert(name);
    }
  }

  void warn_of_unread() {
    // A document may be unread because the name in 'reads' is the wrong one.
    if (all_are_read_ || has_unknown_ || pipeline_.agents.empty()) return;
    for (const DocumentSpec& document : pipeline_.documents) {
      if (read_.count(document.name) > 0) continue;
      Problem problem;
      problem.code = "SK602";
      problem.message = fmt::format("no agent reads document '{}'", document.name);
      problem.pos = document.pos;
      problem.length = marked_length(document.name);
      problem.hint = "name it in 'reads', or remove it";
      diagnostics_.warning(std::move(problem));
    }
  }

 private:
  static const SourcePos& position(const AgentSpec& agent, const std::string& name) {
    const auto found = agent.key_pos.find("reads." + name);
    return found == agent.key_pos.end() ? key_position(agent, "reads") : found->second;
  }

  // What stands under `defaults` is wrong once, not once for every agent.
  bool is_new(const std::string& what, const std::string& name, const SourcePos& pos) {
    return pos.file.empty() ||
           reported_.emplace(what + name, pos.file, pos.line, pos.column).second;
  }

  void unknown(const AgentSpec& agent, const std::string& name, const SourcePos& pos) {
    std::string hint;
    if (diagnostics_.wants_suggestions()) {
      std::vector<std::string> names;
      for (const DocumentSpec& document : pipeline_.documents) names.push_back(document.name);
      hint = list_hint("reads", name);
      if (hint.empty()) {
        hint =
            name_hint(name, names, names.size() > 1 ? "the documents are" : "the only document is");
      }
      if (hint.empty() && names.empty())
        hint = "write documents: { " + name + ": FILE } at the top";
    }
    error("SK210", fmt::format("'{}' reads '{}', which is not a document", agent.name, name), name,
          pos, std::move(hint));
  }

  void error(const char* code, std::string message, const std::string& name, const SourcePos& pos,
             std::string hint) {
    diagnostics_.error({code, std::move(message), pos, marked_length(name), std::move(hint)});
  }

  const Pipeline& pipeline_;
  DiagnosticList& diagnostics_;
  std::unordered_set<std::string_view> documents_, read_;
  std::set<std::tuple<std::string, std::string, int, int>> reported_;
  bool all_are_read_ = false;
  bool has_unknown_ = false;
};

}  // namespace

void check_reads(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  ReadsCheck check(pipeline, diagnostics);
  for (const AgentSpec& agent : pipeline.agents) check.check_agent(agent);
  check.warn_of_unread();
}

}  // namespace swarmkv::internal
