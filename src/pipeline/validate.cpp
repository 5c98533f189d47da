#include "pipeline/validate.h"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "fmt/format.h"
#include "pipeline/graph.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/template.h"
#include "text/nearest.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

class NeedsCheck {
 public:
  NeedsCheck(Pipeline& pipeline, DiagnosticList& diagnostics)
      : pipeline_(pipeline), diagnostics_(diagnostics), index_(index_agents(pipeline)) {}

  // The agent's own needs first, then those its prompt implies.
  void check_agent(AgentSpec& agent, bool prompt_is_broken) {
    std::unordered_set<std::string> needs;
    std::vector<std::string> kept;
    for (const std::string& need : agent.needs) {
      if (!needs.insert(need).second) {
        error("SK204", fmt::format("'{}' needs '{}' twice", agent.name, need),
              key_position(agent, "needs." + need), need);
        continue;
      }
      kept.push_back(need);
      if (index_.count(need) == 0)
        unknown("SK202", agent, need, key_position(agent, "needs." + need));
    }
    agent.needs = std::move(kept);
    if (agent.function) {
      if (!agent.prompt.empty()) {
        error("SK207", fmt::format("agent '{}' has a function and a prompt", agent.name), agent.pos,
              agent.name, "one of them would be ignored");
      }
      return;
    }
    if (!prompt_is_broken) check_prompt(agent, std::move(needs));
    if (agent.system.find("{{") != std::string::npos) {
      error("SK102", "'{{ }}' in 'system' is not built yet", key_position(agent, "system"),
            "system", "insert answers in 'prompt'");
    }
  }

 private:
  void check_prompt(AgentSpec& agent, std::unordered_set<std::string> needs) {
    if (agent.prompt.find_first_not_of(kBlank) == std::string::npos) {
      const bool given = agent.key_pos.count("prompt") > 0;
      error("SK207",
            given ? fmt::format("the prompt of agent '{}' is empty", agent.name)
                  : fmt::format("agent '{}' has no prompt", agent.name),
            key_position(agent, "prompt"), given ? "prompt" : agent.name);
      return;
    }
    const Template prompt = Template::parse(agent.prompt);
    const PromptPositions positions(agent);
    for (const TemplateIssue& issue : prompt.issues()) {
      const std::string_view source =
          std::string_view(agent.prompt).substr(issue.offset, issue.length);
      error(issue.code.c_str(), issue.message, positions.at(issue.offset),
            std::string(source.substr(0, source.find('\n'))), issue.hint);
    }

    std::unordered_set<std::string> used;
    for (const TemplatePiece& piece : prompt.pieces()) {
      if (piece.kind != TemplatePiece::Kind::kReference || !used.insert(piece.text).second)
        continue;
      const SourcePos& pos = positions.at(piece.offset);
      if (!needs.insert(piece.text).second) continue;
      if (index_.count(piece.text) == 0) {
        unknown("SK302", agent, piece.text, pos, agent.prompt.substr(piece.offset, piece.length));
        continue;
      }
      agent.needs.push_back(piece.text);
      agent.key_pos.emplace("needs." + piece.text, pos);
    }
    warn_of_unused(agent, used);
  }

  void warn_of_unused(const AgentSpec& agent, const std::unordered_set<std::string>& used) {
    for (const std::string& need : agent.needs) {
      if (used.count(need) > 0 || index_.count(need) == 0 || need == agent.name) continue;
      Problem problem;
      problem.code = "SK602";
      problem.message = fmt::format("'{}' waits for '{}', but its prompt does not use the answer",
                                    agent.name, need);
      problem.pos = key_position(agent, "needs." + need);
      problem.length = static_cast<int>(need.size());
      problem.hint = "insert it with {{ " + need + " }}";
      diagnostics_.warning(std::move(problem));
    }
  }

  void unknown(const char* code, const AgentSpec& agent, const std::string& name,
               const SourcePos& pos, const std::string& marked = "") {
    std::string hint;
    const bool is_document =
        std::any_of(pipeline_.documents.begin(), pipeline_.documents.end(),
                    [&](const DocumentSpec& document) { return document.name == name; });
    if (is_document) {
      hint = "the document stands before every prompt already";
    } else if (diagnostics_.wants_suggestions()) {
      if (const auto nearest = nearest_name(name, agent_names())) {
        hint = "did you mean '" + *nearest + "'?";
      }
    }
    error(code, fmt::format("'{}' needs '{}', which is not an agent", agent.name, name), pos,
          marked.empty() ? name : marked, std::move(hint));
  }

  void error(const char* code, std::string message, const SourcePos& pos, std::string_view marked,
             std::string hint = "") {
    const int length = std::max(1, static_cast<int>(count_characters(marked)));
    diagnostics_.error({code, std::move(message), pos, length, std::move(hint)});
  }

  const std::vector<std::string>& agent_names() {
    if (names_.empty()) {
      for (const AgentSpec& agent : pipeline_.agents) names_.push_back(agent.name);
    }
    return names_;
  }

  Pipeline& pipeline_;
  DiagnosticList& diagnostics_;
  AgentIndex index_;
  std::vector<std::string> names_;  // only made for the first suggestion
};

}  // namespace

void validate_into(Pipeline& pipeline, const ValidateOptions& options,
                   DiagnosticList& diagnostics) {
  check_documents(pipeline, diagnostics);
  check_names(pipeline, diagnostics);
  check_model(pipeline.model, diagnostics);
  if (pipeline.agents.empty() && !options.agents_are_reported) {
    diagnostics.error({"SK206", "the pipeline has no agents", SourcePos{}});
  }
  NeedsCheck needs(pipeline, diagnostics);
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    const bool broken = i < options.prompt_is_broken.size() && options.prompt_is_broken[i];
    check_ranges(pipeline.agents[i], diagnostics);
    needs.check_agent(pipeline.agents[i], broken);
  }
  check_circles(pipeline, diagnostics);
}

}  // namespace swarmkv::internal

namespace swarmkv {

std::vector<Diagnostic> validate(Pipeline& pipeline) {
  internal::DiagnosticList diagnostics;
  internal::validate_into(pipeline, {}, diagnostics);
  return diagnostics.take();
}

}  // namespace swarmkv
