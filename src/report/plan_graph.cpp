// A plan as a graph: what is computed once in boxes, agents in round shapes; dashed lines are
// forks, plain ones answers, thick ones conversations that go on.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "report/plan_labels.h"
#include "text/table.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::format_count;

// One line without anything that is not to be seen. Names are never part of the syntax: nodes have
// numbers, and what is shown stands in quotes.
std::string shown(const std::string& text) {
  std::string out = internal::escape_control(text);
  std::replace_if(
      out.begin(), out.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return out;
}

// Inside of double quotes DOT and YAML, which Mermaid's title is, escape alike.
std::string dot_text(const std::string& text) {
  std::string out;
  for (const char c : shown(text)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

// Mermaid has no escape inside of quotes but character numbers, and reads Markdown and HTML there.
std::string mermaid_text(const std::string& text) {
  std::string out;
  for (const char c : shown(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || std::isalnum(byte) != 0 || c == ' ' || c == ',' ||
                       c == '.' || c == '-' || c == '+' || c == ':' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("#{};", int{byte});
  }
  return out;
}

std::string tokens_of(const Plan::Agent& agent) {
  if (agent.is_function) return "function";
  return fmt::format("{}{} + {} tokens", internal::is_upper_bound(agent) ? "up to " : "",
                     format_count(agent.n_own_max), format_count(agent.max_tokens));
}

std::string size_of(const Plan::PrefixNode& node) {
  return format_count(node.end - node.begin) + " tokens";
}

enum class Edge { kChild, kFork, kAnswer, kOptional, kContinues };

// Walks over the graph in an order that does not depend on names.
template <typename Node, typename Agent, typename Line>
void visit(const Plan& plan, Node on_node, Agent on_agent, Line on_edge) {
  const auto prefix_id = [](int i) { return "p" + std::to_string(i); };
  const auto agent_id = [](int i) { return "a" + std::to_string(i); };
  for (std::size_t i = 0; i < plan.prefix.size(); ++i) {
    const Plan::PrefixNode& node = plan.prefix[i];
    const std::string id = prefix_id(static_cast<int>(i));
    on_node(id, node);
    if (node.parent >= 0) on_edge(prefix_id(node.parent), id, Edge::kChild, "");
  }
  for (std::size_t i = 0; i < plan.agents.size(); ++i) {
    const Plan::Agent& agent = plan.agents[i];
    const std::string id = agent_id(static_cast<int>(i));
    on_agent(id, agent);
    if (agent.continues < 0 && agent.prefix >= 0) {
      on_edge(prefix_id(agent.prefix), id, Edge::kFork,
              agent.ready_after ? format_count(*agent.ready_after) + " tokens" : "");
    }
    for (std::size_t k = 0; k < agent.needs.size(); ++k) {
      const bool continues = agent.needs[k] == agent.continues;
      on_edge(agent_id(agent.needs[k]), id,
              continues           ? Edge::kContinues
              : agent.optional[k] ? Edge::kOptional
                                  : Edge::kAnswer,
              "");
    }
  }
}

std::string dot_edge(Edge edge, const std::string& label) {
  switch (edge) {
    case Edge::kFork:
      return label.empty() ? " [style=dashed]" : " [style=dashed, label=\"" + label + "\"]";
    case Edge::kOptional:
      return " [style=dotted, label=\"may fail\"]";
    case Edge::kContinues:
      return " [style=bold, label=\"continues\"]";
    case Edge::kChild:
    case Edge::kAnswer:
      break;
  }
  return "";
}

std::string mermaid_edge(Edge edge, const std::string& label) {
  switch (edge) {
    case Edge::kFork:
      return label.empty() ? "-.->" : "-. \"" + label + "\" .->";
    case Edge::kOptional:
      return "-->|\"may fail\"|";
    case Edge::kContinues:
      return "==>|\"continues\"|";
    case Edge::kChild:
    case Edge::kAnswer:
      break;
  }
  return "-->";
}

}  // namespace

std::string to_dot(const Plan& plan) {
  std::string out = "digraph plan {\n  label=\"" + dot_text(plan.name) + "\";\n  rankdir=LR;\n";
  visit(
      plan,
      [&](const std::string& id, const Plan::PrefixNode& node) {
        out += fmt::format("  {} [shape=box, label=\"{}\\n{}\"];\n", id,
                           dot_text(internal::prefix_label(plan, node)), size_of(node));
      },
      [&](const std::string& id, const Plan::Agent& agent) {
        out += fmt::format("  {} [shape={}, label=\"{}\\n{}\"];\n", id,
                           agent.is_function ? "hexagon" : "ellipse", dot_text(agent.name),
                           tokens_of(agent));
      },
      [&](const std::string& from, const std::string& to, Edge edge, const std::string& label) {
        out += fmt::format("  {} -> {}{};\n", from, to, dot_edge(edge, label));
      });
  return out + "}\n";
}

std::string to_mermaid(const Plan& plan) {
  std::string out = "---\ntitle: \"" + dot_text(plan.name) + "\"\n---\nflowchart LR\n";
  visit(
      plan,
      [&](const std::string& id, const Plan::PrefixNode& node) {
        out += fmt::format("  {}[\"{}<br/>{}\"]\n", id,
                           mermaid_text(internal::prefix_label(plan, node)), size_of(node));
      },
      [&](const std::string& id, const Plan::Agent& agent) {
        const bool function = agent.is_function;
        out += fmt::format("  {}{}\"{}<br/>{}\"{}\n", id, function ? "{{" : "([",
                           mermaid_text(agent.name), tokens_of(agent), function ? "}}" : "])");
      },
      [&](const std::string& from, const std::string& to, Edge edge, const std::string& label) {
        out += fmt::format("  {} {} {}\n", from, mermaid_edge(edge, label), to);
      });
  return out;
}

}  // namespace swarmkv
