#include <optional>
#include <string>
#include <vector>

#include "pipeline/keys.h"
#include "pipeline/limits.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/scalars.h"

namespace swarmkv::internal {
namespace {

constexpr const char* kNeedForm = "write a name, or { agent: NAME, required: false }";
constexpr const char* kReadyForm = "write 4000 (tokens), \"25%\" or { before: \"text\" }";

void add_need(const ReadContext& context, const YamlNode& name, bool required, AgentSpec& agent) {
  const auto [first, is_new] = agent.key_pos.emplace("needs." + name.text, context.pos(name));
  if (is_new) {
    agent.needs.push_back(name.text);
    if (!required) agent.optional_needs.push_back(name.text);
    return;
  }
  context.error("SK204", "'" + agent.name + "' needs '" + name.text + "' twice", name,
                "remove one of them");
  context.diagnostics.note("it was first named here", first->second);
}

// { agent: NAME, required: false }
void read_long_need(const ReadContext& context, const Entry& entry, const YamlNode& map,
                    AgentSpec& agent) {
  if (context.is_bare_template(map)) return;
  const YamlNode* name = nullptr;
  bool required = true;
  bool has_agent = false;
  StrayKeys strays;
  for (const Entry& item : known_entries(context, map, KeyLevel::kNeed, " in 'needs'", &strays)) {
    if (item.key() == "required") {
      required = read_bool(context, item).value_or(true);
    } else {
      has_agent = true;
      if (read_text(context, item)) name = &item.value;
    }
  }
  if (name != nullptr) return add_need(context, *name, required, agent);
  if (!has_agent && !strays.means("agent")) {
    context.error("SK103", "a need of '" + agent.name + "' names no 'agent'",
                  map.items.empty() ? entry.key_node : map, kNeedForm);
  }
}

}  // namespace

void read_needs(const ReadContext& context, const Entry& entry, AgentSpec& agent) {
  std::vector<const YamlNode*> items{&entry.value};
  const bool is_list = entry.value.kind == YamlNode::Kind::kSequence;
  if (is_list) {
    items.clear();
    for (const YamlId id : entry.value.items) items.push_back(&context.tree.at(id));
  }
  for (const YamlNode* item : items) {
    const ScalarType type = scalar_type(*item);
    if (type == ScalarType::kText) {
      add_need(context, *item, true, agent);
    } else if (type == ScalarType::kMap) {
      read_long_need(context, entry, *item, agent);
    } else if (!is_list) {
      wrong_type(context, entry, "a name or a list of names", kNeedForm);
    } else {
      context.error("SK104", "'needs' must hold names, found " + describe(*item),
                    type == ScalarType::kNull ? entry.key_node : *item, kNeedForm);
    }
  }
}

std::optional<ReadyAfter> read_ready_after(const ReadContext& context, const Entry& entry) {
  ReadyAfter result;
  const YamlNode& value = entry.value;
  const ScalarType type = scalar_type(value);
  if (type == ScalarType::kInt) {
    const auto tokens = read_integer(context, entry);
    if (!tokens) return std::nullopt;
    result.kind = ReadyAfter::Kind::kTokens;
    result.value = static_cast<double>(*tokens);
    return result;
  }
  if (type == ScalarType::kMap && !context.is_bare_template(value)) {
    bool has_text = false;
    StrayKeys strays;
    for (const Entry& item :
         known_entries(context, value, KeyLevel::kReadyAfter, " in 'ready_after'", &strays)) {
      has_text = true;
      const auto text = read_text(context, item);
      if (!text) return std::nullopt;
      result.kind = ReadyAfter::Kind::kBefore;
      result.text = *text;
      if (!text->empty()) continue;
      context.error("SK105", "'before' is empty", item.value_or_key(), kReadyForm);
      return std::nullopt;
    }
    if (has_text) return result;
    if (strays.means("before")) return std::nullopt;
    context.error("SK103", "'ready_after' has no 'before'", entry.key_node, kReadyForm);
    return std::nullopt;
  }
  if (type != ScalarType::kText || value.text.empty() || value.text.back() != '%') {
    wrong_type(context, entry, "a number of tokens, a percentage or a text to stop before",
               kReadyForm);
    return std::nullopt;
  }
  const auto number = std::string_view(value.text).substr(0, value.text.size() - 1);
  const auto percent = parse_real(number);
  // Nobody writes 1e1%, and an editor would not know it.
  if (!percent || number.find_first_of("eE+") != std::string_view::npos) {
    wrong_type(context, entry, "a percentage such as \"25%\"", kReadyForm);
    return std::nullopt;
  }
  if (*percent < 0 || *percent > 100) {
    context.error("SK105", "'ready_after' must be between 0% and 100%, not " + value.text, value);
    return std::nullopt;
  }
  result.kind = ReadyAfter::Kind::kPercent;
  result.value = *percent;
  return result;
}

}  // namespace swarmkv::internal
