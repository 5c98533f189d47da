#include "report/plan_labels.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/table.h"

namespace swarmkv::internal {
namespace {

std::string document_label(const Plan& plan, const Plan::PrefixNode::Part& part) {
  const auto document =
      std::find_if(plan.documents.begin(), plan.documents.end(),
                   [&](const Plan::Document& d) { return d.name == part.document; });
  const int n_tokens = document == plan.documents.end() ? part.end : document->n_tokens;
  if (part.begin == 0 && part.end == n_tokens) return part.document;
  if (part.begin == 0) {
    return fmt::format("{}, first {} tokens", part.document, format_count(part.end));
  }
  if (part.end == n_tokens) {
    return fmt::format("{}, from token {} on", part.document, format_count(part.begin + 1));
  }
  return fmt::format("{}, tokens {} to {}", part.document, format_count(part.begin + 1),
                     format_count(part.end));
}

}  // namespace

std::string prefix_label(const Plan& plan, const Plan::PrefixNode& node) {
  std::string out;
  for (const Plan::PrefixNode::Part& part : node.parts) {
    // Blank lines between documents are not worth a word.
    if (part.document.empty() && (node.begin > 0 || !out.empty())) continue;
    out += out.empty() ? "" : " + ";
    out += part.document.empty() ? "system and template" : document_label(plan, part);
  }
  return out.empty() ? "blank line" : out;
}

std::string starts_after(const Plan& plan, const Plan::Agent& agent) {
  std::string out;
  if (agent.continues >= 0) {
    out = plan.agents[static_cast<std::size_t>(agent.continues)].name + ", continued";
  }
  for (std::size_t i = 0; i < agent.needs.size(); ++i) {
    if (agent.needs[i] == agent.continues) continue;
    out += (out.empty() ? "" : ", ") + plan.agents[static_cast<std::size_t>(agent.needs[i])].name;
    if (agent.optional[i]) out += " (may fail)";
  }
  if (agent.ready_after && agent.continues < 0) {
    out += (out.empty() ? "" : "; ") +
           fmt::format("first {} tokens", format_count(*agent.ready_after));
  }
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string agent_names(const Plan& plan, const std::vector<int>& agents) {
  std::vector<std::string> names;
  names.reserve(agents.size());
  for (const int agent : agents) names.push_back(plan.agents[static_cast<std::size_t>(agent)].name);
  return joined(names);
}

std::string counted(std::int64_t n, const char* one) {
  return fmt::format("{} {}{}", format_count(n), one, n == 1 ? "" : "s");
}

}  // namespace swarmkv::internal
