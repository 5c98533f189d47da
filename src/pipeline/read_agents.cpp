#include <string>
#include <string_view>

#include "pipeline/keys.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"

namespace swarmkv::internal {
namespace {

void read_stop(const ReadContext& context, const Entry& entry, std::vector<std::string>& stop) {
  const auto items = read_text_list(context, entry);
  if (!items) return;
  stop.clear();
  for (const YamlNode* item : *items) {
    if (item->text.empty()) {
      context.error("SK105", "a stop text must not be empty", *item);
    } else {
      stop.push_back(item->text);
    }
  }
}

// What agents and `defaults` have in common. False if `entry` is none of it.
bool read_setting(const ReadContext& context, const Entry& entry, AgentSpec& agent) {
  const std::string& key = entry.key();
  Sampling& sampling = agent.sampling;
  const auto set_int = [&](int& target) {
    if (const auto value = read_integer(context, entry)) target = static_cast<int>(*value);
  };
  const auto set_real = [&](double& target) {
    target = read_real(context, entry).value_or(target);
  };

  if (key == "max_tokens") {
    set_int(agent.max_tokens);
  } else if (key == "temperature") {
    set_real(sampling.temperature);
  } else if (key == "top_k") {
    set_int(sampling.top_k);
  } else if (key == "top_p") {
    set_real(sampling.top_p);
  } else if (key == "min_p") {
    set_real(sampling.min_p);
  } else if (key == "repeat_penalty") {
    set_real(sampling.repeat_penalty);
  } else if (key == "repeat_last_n") {
    set_int(sampling.repeat_last_n);
  } else if (key == "seed") {
    if (const auto value = read_integer(context, entry)) {
      sampling.seed = static_cast<std::uint32_t>(*value);
      agent.seed_is_own = true;
    }
  } else if (key == "stop") {
    read_stop(context, entry, agent.stop);
  } else if (key == "timeout") {
    agent.timeout = read_duration(context, entry).value_or(agent.timeout);
  } else if (key == "priority") {
    set_int(agent.priority);
  } else if (key == "ignore_eos") {
    agent.ignore_eos = read_bool(context, entry).value_or(agent.ignore_eos);
  } else {
    return false;
  }
  return true;
}

void read_needs(const ReadContext& context, const Entry& entry, AgentSpec& agent) {
  if (entry.value.kind == YamlNode::Kind::kSequence) {
    for (const YamlId id : entry.value.items) {
      const YamlNode& item = context.tree.at(id);
      if (item.kind != YamlNode::Kind::kMap) continue;
      context.error("SK102", "optional needs are not built yet", item,
                    "write the agent's name alone");
      return;
    }
  }
  const auto items = read_text_list(context, entry);
  if (!items) return;
  for (const YamlNode* item : *items) {
    const auto [first, is_new] = agent.key_pos.emplace("needs." + item->text, context.pos(*item));
    if (is_new) {
      agent.needs.push_back(item->text);
      continue;
    }
    context.error("SK204", "'" + agent.name + "' needs '" + item->text + "' twice", *item);
    context.diagnostics.note("it was first named here", first->second);
  }
}

// A text in a file that only points at another file.
bool is_file_reference(const ReadContext& context, const Entry& entry) {
  if (entry.value.text.rfind("file://", 0) != 0) return false;
  context.error("SK102", "'file://' in '" + entry.key() + "' is not built yet", entry.value,
                "write the text itself, after '|' if it has several lines");
  return true;
}

// Braces survive YAML's quoting and folding unchanged, so the nth "{{" of the text is the nth of
// its source. Only an escape in double quotes can hide one; the search then ends with the quotes.
void locate_templates(const ReadContext& context, const YamlNode& prompt, AgentSpec& agent,
                      ReadNotes& notes) {
  constexpr std::size_t kMaxLocated = 50'000;  // in a file; aliases multiply prompts
  std::string_view source = context.source.text();
  const bool quoted = !prompt.plain && prompt.n_bytes > 1;
  if (quoted) source = source.substr(0, prompt.offset + prompt.n_bytes);
  std::size_t at_text = prompt.text.find("{{");
  std::size_t at_source = source.find("{{", prompt.offset);
  for (std::size_t n = 0; at_text != std::string::npos && at_source != std::string_view::npos;
       ++n) {
    if (notes.n_located++ >= kMaxLocated) return;
    agent.key_pos.emplace(template_key(n), context.source.pos(at_source));
    at_text = prompt.text.find("{{", at_text + 2);
    at_source = source.find("{{", at_source + 2);
  }
}

}  // namespace

void read_defaults(const ReadContext& context, const Entry& entry, AgentSpec& defaults) {
  if (entry.value.kind != YamlNode::Kind::kMap) {
    wrong_type(context, entry, "a mapping");
    return;
  }
  for (const Entry& item :
       known_entries(context, entry.value, KeyLevel::kDefaults, " in 'defaults'")) {
    read_setting(context, item, defaults);
  }
}

void read_agent(const ReadContext& context, const Entry& entry, const AgentSpec& defaults,
                Pipeline& pipeline, ReadNotes& notes) {
  AgentSpec agent = defaults;
  agent.name = entry.key();
  agent.seed_is_own = false;
  agent.pos = context.pos(entry.key_node);
  bool prompt_is_broken = false;
  const std::string label = "agent '" + agent.name + "'";
  if (entry.value.kind != YamlNode::Kind::kMap) {
    prompt_is_broken = true;
    context.error("SK104", label + " must be a mapping with a 'prompt'", entry.value_or_key(),
                  "write { prompt: ... }");
  } else {
    for (const Entry& item :
         known_entries(context, entry.value, KeyLevel::kAgent, " in " + label)) {
      const std::string& key = item.key();
      agent.key_pos.emplace(key, context.pos(item.key_node));
      if (read_setting(context, item, agent)) continue;
      if (key == "needs") {
        read_needs(context, item, agent);
        continue;
      }
      const auto text = read_text(context, item);
      const bool usable = text && !is_file_reference(context, item);
      if (key == "system") {
        if (usable) agent.system = *text;
        continue;
      }
      prompt_is_broken = !usable;
      if (!usable) continue;
      agent.prompt = *text;
      locate_templates(context, item.value, agent, notes);
    }
  }
  pipeline.agents.push_back(std::move(agent));
  notes.prompt_is_broken.push_back(prompt_is_broken);
}

}  // namespace swarmkv::internal
