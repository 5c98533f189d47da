#include <string>
#include <utility>
#include <vector>

#include "pipeline/keys.h"
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
      context.error("SK105", "a stop text must not be empty", *item, "write a text, or remove it");
    } else {
      stop.push_back(item->text);
    }
  }
}

void read_reads(const ReadContext& context, const Entry& entry, AgentSpec& agent) {
  const auto items = read_text_list(context, entry,
                                    {"name", "names", "write reads: NAME, or reads: [NAME, NAME]"});
  if (!items) return;
  agent.reads.emplace();
  for (const YamlNode* item : *items) {
    agent.reads->push_back(item->text);
    // Of a document that is named twice the second place counts: that is the one to remove.
    agent.key_pos["reads." + item->text] = context.pos(*item);
  }
}

}  // namespace

bool read_setting(const ReadContext& context, const Entry& entry, AgentSpec& agent) {
  const std::string& key = entry.key();
  Sampling& sampling = agent.sampling;
  const auto set_int = [&](int& target) {
    if (const auto value = read_integer(context, entry)) target = static_cast<int>(*value);
  };
  const auto set_real = [&](double& target) {
    target = read_real(context, entry).value_or(target);
  };

  if (key == "reads") {
    read_reads(context, entry, agent);
  } else if (key == "max_tokens") {
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
  // What an agent says itself takes the place of what `defaults` said, changed or not.
  agent.changed_keys.erase(key);
  if (entry.is_change()) agent.changed_keys.insert(key);
  return true;
}

void read_defaults(const ReadContext& context, const Entry& entry, AgentSpec& defaults) {
  if (entry.value.kind != YamlNode::Kind::kMap) {
    wrong_type(context, entry, "a mapping", "write defaults: { max_tokens: 300 }");
    return;
  }
  for (const Entry& item :
       known_entries(context, entry.value, KeyLevel::kDefaults, " in 'defaults'")) {
    read_setting(context, item, defaults);
  }
}

}  // namespace swarmkv::internal
