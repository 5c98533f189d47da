#include <algorithm>
#include <string>

#include "fmt/format.h"
#include "pipeline/graph.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/validate.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kMaxNames = 12;  // of a longer circle the first and the last are shown

void report(const Pipeline& pipeline, const std::vector<NodeId>& circle,
            DiagnosticList& diagnostics) {
  const auto agent = [&](NodeId node) -> const AgentSpec& {
    return pipeline.agents[static_cast<std::size_t>(node)];
  };
  const std::size_t n = circle.size();
  const std::size_t n_hidden = n > kMaxNames ? n - kMaxNames : 0;
  std::string path;
  for (std::size_t i = 0; i < n; ++i) {
    if (n_hidden > 0 && i == kMaxNames / 2) {
      path += fmt::format("({} more) -> ", n_hidden);
      i += n_hidden;
    }
    path += agent(circle[i]).name + " -> ";
  }
  path += agent(circle.front()).name;
  Problem problem;
  problem.code = "SK203";
  problem.message = "circle: " + path;
  problem.hint = "each waits for the next; one of them has to do without that answer";
  const SourcePos pos = agent(circle.front()).pos;
  problem.pos = pos;
  problem.with_excerpt = false;  // the notes show the lines that matter
  diagnostics.error(std::move(problem));
  for (std::size_t i = 0; i < std::min(n, kMaxNames); ++i) {
    const AgentSpec& from = agent(circle[i]);
    const std::string& need = agent(circle[(i + 1) % n]).name;
    diagnostics.note(fmt::format("'{}' needs '{}' here", from.name, need),
                     key_position(from, "needs." + need));
  }
  if (n_hidden > 0) diagnostics.note(fmt::format("and {} more needs", n_hidden), pos);
}

}  // namespace

void check_circles(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  for (const std::vector<NodeId>& circle : find_circles(need_ids(pipeline))) {
    report(pipeline, circle, diagnostics);
  }
}

}  // namespace swarmkv::internal
