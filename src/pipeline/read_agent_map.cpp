// The mapping under `agents`, with what is indented too little in it or stands beside it.
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "pipeline/keys.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"

namespace swarmkv::internal {
namespace {

constexpr const char* kAgentsHint = "write agents: { summary: { prompt: ... } }";

// A key of an agent in the column of the agents' names. Some of them are good names, too.
bool is_stray_key(const ReadContext& context, const Entry& entry) {
  const std::string& key = entry.key();
  if (!is_key_at(KeyLevel::kAgent, key)) return false;
  if (entry.value.kind != YamlNode::Kind::kMap) return true;
  const bool may_be_mapping = key == "needs" || key == "ready_after" || key == "json_schema";
  return may_be_mapping && !looks_like_agent(context, entry.value);
}

void report_stray_key(const ReadContext& context, const Entry& entry, const std::string& agent) {
  context.error(
      "SK101",
      "'" + entry.key() + "' is a key of an agent, but stands in the column of the agents' names",
      entry.key_node,
      agent.empty() ? "write the agent's name above it, and indent it under that"
                    : "indent it further, under '" + agent + "'");
}

bool is_own_key(std::string_view key) { return key.rfind("x-", 0) == 0; }

// Whether a key was reported.
bool read_map(const ReadContext& context, const YamlNode& map, const AgentSpec& defaults,
              Pipeline& pipeline, ReadNotes& notes) {
  bool is_told = false;
  const std::vector<Entry> entries = entries_of(context, map);
  std::string above;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (is_own_key(entries[i].key())) continue;
    if (is_stray_key(context, entries[i])) {
      report_stray_key(context, entries[i], above);
      is_told = true;
      continue;
    }
    above = entries[i].key();
    for (std::size_t j = i + 1; j < entries.size() && is_stray_key(context, entries[j]); ++j) {
      // Without a value of its own the agent has all its keys here.
      const bool is_empty = entries[i].value.kind == YamlNode::Kind::kNull;
      if (is_empty || entries[j].key() == "prompt") notes.prompt_elsewhere.insert(above);
    }
    read_agent(context, entries[i], defaults, pipeline, notes);
  }
  return is_told;
}

}  // namespace

bool looks_like_agent(const ReadContext& context, const YamlNode& node) {
  if (node.kind != YamlNode::Kind::kMap || context.is_bare_template(node)) return false;
  for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
    if (context.tree.at(node.items[i]).text == "prompt") return true;
  }
  return false;
}

void read_agents(const ReadContext& context, const Entry* entry, const AgentSpec& defaults,
                 Pipeline& pipeline, ReadNotes& notes) {
  const auto kind = entry == nullptr ? YamlNode::Kind::kNull : entry->value.kind;
  bool is_told = entry == nullptr;
  if (kind == YamlNode::Kind::kMap) {
    is_told = read_map(context, entry->value, defaults, pipeline, notes);
  } else if (kind != YamlNode::Kind::kNull) {
    wrong_type(context, *entry, "a mapping of names to agents",
               kind == YamlNode::Kind::kSequence
                   ? "write each agent as 'name:' without '-', and its keys below it"
                   : kAgentsHint);
    return;
  }
  std::unordered_set<std::string> names;
  for (const AgentSpec& agent : pipeline.agents) names.insert(agent.name);
  // Reading one may find more in it.
  for (std::size_t i = 0; i < notes.stray_agents.size(); ++i) {
    const Entry stray = notes.stray_agents[i];
    if (names.insert(stray.key()).second) read_agent(context, stray, defaults, pipeline, notes);
  }
  if (pipeline.agents.empty() && !is_told) {
    context.error("SK206", "the pipeline has no agents", entry->key_node, kAgentsHint);
  }
}

}  // namespace swarmkv::internal
