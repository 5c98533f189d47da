#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "pipeline/changes.h"
#include "pipeline/graph.h"
#include "pipeline/template.h"

namespace swarmkv::internal {
namespace {

class Selection {
 public:
  Selection(Pipeline& pipeline, DiagnosticList& diagnostics)
      : pipeline_(pipeline),
        diagnostics_(diagnostics),
        index_(index_agents(pipeline)),
        needs_(need_ids(pipeline)),
        kept_(pipeline.agents.size(), false) {}

  void select(const std::vector<std::string>& names) {
    if (names.empty()) kept_.assign(kept_.size(), true);
    for (const std::string& entry : names) {
      const bool with_needs = entry.rfind('+', 0) == 0;
      const NodeId node = find("--select", with_needs ? entry.substr(1) : entry);
      if (node < 0) continue;
      kept_[static_cast<std::size_t>(node)] = true;
      if (with_needs) keep_needs_of(node);
    }
  }

  void exclude(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      const NodeId node = find("--exclude", name);
      if (node >= 0) kept_[static_cast<std::size_t>(node)] = false;
    }
  }

  // Before anything is changed: an agent that stays must keep what it cannot do without.
  void check() {
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      const AgentSpec& agent = pipeline_.agents[i];
      const std::unordered_set<std::string> optional(agent.optional_needs.begin(),
                                                     agent.optional_needs.end());
      for (const NodeId need : needs_[i]) {
        const std::string& name = pipeline_.agents[static_cast<std::size_t>(need)].name;
        if (kept_[static_cast<std::size_t>(need)] || optional.count(name) > 0) continue;
        error("SK208", fmt::format("'{}' needs '{}', which was left out", agent.name, name),
              fmt::format("--select +{} takes all that it needs", agent.name));
      }
    }
    if (std::find(kept_.begin(), kept_.end(), true) == kept_.end()) {
      error("SK206", "no agent is left to run", "");
    }
  }

  void apply() {
    std::vector<AgentSpec> agents;
    for (std::size_t i = 0; i < kept_.size(); ++i) {
      if (!kept_[i]) continue;
      drop_needs(i);
      agents.push_back(std::move(pipeline_.agents[i]));
    }
    pipeline_.agents = std::move(agents);
    drop_documents();
  }

 private:
  void error(const char* code, std::string message, std::string hint) {
    diagnostics_.error({code, std::move(message), SourcePos{}, 1, std::move(hint)});
  }

  NodeId find(const std::string& flag, const std::string& name) {
    const auto found = index_.find(name);
    if (found != index_.end()) return found->second;
    std::vector<std::string> names;
    if (diagnostics_.wants_suggestions()) {
      for (const AgentSpec& agent : pipeline_.agents) names.push_back(agent.name);
    }
    const auto nearest = nearest_name(name, names);
    error("SK107", fmt::format("{}: the pipeline has no agent '{}'", flag, name),
          nearest ? "did you mean '" + *nearest + "'?" : "");
    return -1;
  }

  void keep_needs_of(NodeId node) {
    std::vector<NodeId> open{node};
    while (!open.empty()) {
      const NodeId next = open.back();
      open.pop_back();
      for (const NodeId need : needs_[static_cast<std::size_t>(next)]) {
        if (taken_.insert(need).second) open.push_back(need);
        kept_[static_cast<std::size_t>(need)] = true;
      }
    }
  }

  // All that are missing now are optional, and the prompt says what stands for each.
  void drop_needs(std::size_t i) {
    AgentSpec& agent = pipeline_.agents[i];
    std::unordered_set<std::string> gone;
    for (const NodeId need : needs_[i]) {
      const auto at = static_cast<std::size_t>(need);
      // An agent that is not kept was not moved away, so its name is still there.
      if (!kept_[at]) gone.insert(pipeline_.agents[at].name);
    }
    if (gone.empty()) return;
    const auto is_gone = [&](const std::string& name) { return gone.count(name) > 0; };
    std::erase_if(agent.needs, is_gone);
    std::erase_if(agent.optional_needs, is_gone);
    if (agent.function) return;
    std::string prompt;
    std::size_t at = 0;
    const Template parsed = Template::parse(agent.prompt);
    for (const TemplatePiece& piece : parsed.pieces()) {
      if (piece.kind != TemplatePiece::Kind::kReference || !is_gone(piece.text)) continue;
      prompt.append(agent.prompt, at, piece.offset - at);
      prompt += escape_template(render_reference(piece, nullptr));
      at = piece.offset + piece.length;
    }
    prompt.append(agent.prompt, at);
    agent.prompt = std::move(prompt);
  }

  // Documents that only the others read need not be computed.
  void drop_documents() {
    std::unordered_set<std::string> read;
    for (const AgentSpec& agent : pipeline_.agents) {
      if (!agent.continues.empty()) continue;
      if (!agent.reads) return;
      read.insert(agent.reads->begin(), agent.reads->end());
    }
    std::erase_if(pipeline_.documents,
                  [&](const DocumentSpec& document) { return read.count(document.name) == 0; });
  }

  Pipeline& pipeline_;
  DiagnosticList& diagnostics_;
  const AgentIndex index_;
  const std::vector<std::vector<NodeId>> needs_;
  std::vector<bool> kept_;
  std::unordered_set<NodeId> taken_;
};

}  // namespace

void select_agents(Pipeline& pipeline, const PipelineChanges& changes,
                   DiagnosticList& diagnostics) {
  if (changes.select.empty() && changes.exclude.empty()) return;
  Selection selection(pipeline, diagnostics);
  selection.select(changes.select);
  selection.exclude(changes.exclude);
  if (!diagnostics.has_errors()) selection.check();
  if (!diagnostics.has_errors()) selection.apply();
}

}  // namespace swarmkv::internal
