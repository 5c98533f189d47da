#include "cli/print_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "cli/messages.h"
#include "cli/settings.h"

namespace swarmkv::cli {
namespace {

std::vector<std::string> all_names(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const AgentSpec& agent : pipeline.agents) names.push_back(agent.name);
  return names;
}

std::set<std::string> split_names(const std::string& list) {
  std::set<std::string> names;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t comma = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, comma - begin);
    if (name.empty()) throw UsageError("--print '" + list + "': a name is empty");
    if (!names.insert(name).second) {
      throw UsageError(
          fmt::format("--print '{}': '{}' is named twice; an answer is printed once, in file order",
                      list, name));
    }
    begin = comma + 1;
  }
  return names;
}

std::vector<std::string> finals(const Pipeline& pipeline) {
  std::set<std::string> needed;
  for (const AgentSpec& agent : pipeline.agents)
    needed.insert(agent.needs.begin(), agent.needs.end());
  std::vector<std::string> names;
  for (const AgentSpec& agent : pipeline.agents) {
    if (!needed.contains(agent.name)) names.push_back(agent.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> agents_to_print(const std::string& choice, const Pipeline& pipeline) {
  if (choice == "none") return {};
  std::vector<std::string> known = all_names(pipeline);
  if (choice == "all") return known;
  if (choice == "final") return finals(pipeline);
  const std::set<std::string> wanted = split_names(choice);
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError("--print: no agent '" + name + "'" + did_you_mean(name, known));
  }
  std::vector<std::string> names;
  std::copy_if(known.begin(), known.end(), std::back_inserter(names),
               [&](const std::string& name) { return wanted.contains(name); });
  return names;
}

std::string answers_text(const RunReport& report, const std::vector<std::string>& names,
                         bool for_terminal) {
  const std::set<std::string> wanted(names.begin(), names.end());
  std::string out;
  for (const AgentReport& agent : report.agents) {
    if (!wanted.contains(agent.name) || agent.status != AgentStatus::kFinished) continue;
    if (names.size() > 1) out += (out.empty() ? "# " : "\n# ") + agent.name + "\n";
    out += for_terminal ? escape_for_terminal(agent.text) : agent.text;
    if (!out.empty() && out.back() != '\n') out += '\n';
  }
  return out;
}

}  // namespace swarmkv::cli
