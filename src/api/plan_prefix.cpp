// The prefix tree of a plan.
#include <algorithm>
#include <map>

#include "api/plan_parts.h"
#include "api/plan_tree.h"
#include "schedule/scheduler.h"

namespace swarmkv::internal {
namespace {

using Part = Plan::PrefixNode::Part;

// What stands at [begin, end) of a list: documents, and the scaffold around them.
std::vector<Part> parts_of(const Prepared& prepared, const ReadList& list, int begin, int end) {
  std::vector<Part> parts;
  const auto add = [&](const std::string& name, int from, int to, int origin) {
    from = std::max(from, begin);
    to = std::min(to, end);
    if (from < to) parts.push_back({name, from - origin, to - origin});
  };
  int at = 0;
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    const int first = list.prefix.document_begins[i];
    add("", at, first, at);
    at = list.prefix.document_ends[i];
    add(prepared.documents[list.documents[i]].name, first, at, first);
  }
  add("", at, list.n_tokens(), at);
  for (Part& part : parts) {
    if (part.document.empty()) part = {"", 0, part.end - part.begin};
  }
  return parts;
}

}  // namespace

int accidental_match() { return SchedulerOptions{}.min_accidental_match; }

void plan_prefix(Plan& plan, const Stages& stages) {
  const Prepared& prepared = *plan.prepared;
  PlanTree tree(accidental_match());
  std::map<const Tokens*, std::size_t> reads;  // the list that a prompt of the tree is the begin of
  std::vector<int> ends(plan.agents.size(), -1);
  for (const int i : stages.order) {
    const PreparedAgent& agent = prepared.agents[static_cast<std::size_t>(i)];
    if (plan.agents[static_cast<std::size_t>(i)].is_function || agent.continues >= 0) continue;
    reads.emplace(agent.prefix.get(), agent.reads);
    ends[static_cast<std::size_t>(i)] = tree.add(agent.prefix, agent.fork_points);
  }

  std::vector<int> place(tree.nodes().size(), -1);
  for (const int number : tree.in_order()) {
    const PlanTree::Node& node = tree.nodes()[static_cast<std::size_t>(number)];
    place[static_cast<std::size_t>(number)] = static_cast<int>(plan.prefix.size());
    const int parent = node.parent < 0 ? -1 : place[static_cast<std::size_t>(node.parent)];
    const ReadList& list = prepared.read_lists[reads.at(node.tokens.get())];
    plan.prefix.push_back(
        {parent, node.begin, node.end, parts_of(prepared, list, node.begin, node.end), 0});
  }
  plan.n_document_tokens = tree.n_tokens();

  // A continuation has the documents of the conversation's first agent before it.
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    auto first = static_cast<int>(i);
    while (plan.agents[static_cast<std::size_t>(first)].continues >= 0) {
      first = plan.agents[static_cast<std::size_t>(first)].continues;
    }
    const int end = ends[static_cast<std::size_t>(first)];
    if (end < 0) continue;
    plan.agents[i].prefix = place[static_cast<std::size_t>(end)];
    for (int node = plan.agents[i].prefix; node >= 0;
         node = plan.prefix[static_cast<std::size_t>(node)].parent) {
      ++plan.prefix[static_cast<std::size_t>(node)].n_agents;
    }
  }
}

}  // namespace swarmkv::internal
