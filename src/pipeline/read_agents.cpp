#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/keys.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/scalars.h"
#include "pipeline/yaml_json.h"

namespace swarmkv::internal {
namespace {

// Where each part of a schema stands, by the pointer that an engine calls it by:
// "json_schema#/properties/a".
void locate_parts(const ReadContext& context, const YamlNode& node, const std::string& pointer,
                  KeyPositions& positions, ReadNotes& notes) {
  const auto add = [&](const std::string& step, const YamlNode& place, const YamlNode& value) {
    if (notes.n_located++ >= kMaxLocated) return;
    const std::string part = pointer + "/" + step;
    positions[part] = context.pos(place);
    locate_parts(context, value, part, positions, notes);
  };
  if (node.kind == YamlNode::Kind::kMap) {
    for (const Entry& entry : entries_of(context, node)) {
      add(entry.key(), entry.key_node, entry.value);
    }
  } else if (node.kind == YamlNode::Kind::kSequence) {
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const YamlNode& item = context.tree.at(node.items[i]);
      add(std::to_string(i), item, item);
    }
  }
}

// What to write for an agent that is no mapping.
std::string mapping_hint(const YamlNode& value) {
  const std::size_t colon = value.text.find(':');
  if (value.kind == YamlNode::Kind::kText && colon != std::string::npos &&
      is_key_at(KeyLevel::kAgent, std::string_view(value.text).substr(0, colon))) {
    return "write a space behind '" + value.text.substr(0, colon + 1) + "'";
  }
  return "write { prompt: ... }";
}

class AgentReader {
 public:
  AgentReader(const ReadContext& context, AgentSpec& agent, ReadNotes& notes)
      : context_(context), agent_(agent), notes_(notes) {}

  void read(const Entry& entry) {
    const std::string& key = entry.key();
    agent_.key_pos[key] = context_.pos(entry.key_node);
    if (read_setting(context_, entry, agent_)) {
      reads_is_own_ = reads_is_own_ || key == "reads";
    } else if (key == "needs") {
      read_needs(context_, entry, agent_);
    } else if (key == "prompt") {
      prompt_is_broken_ = !read_template(entry, agent_.prompt);
    } else if (key == "system") {
      (void)read_template(entry, agent_.system);
    } else if (key == "json_schema") {
      read_schema(entry);
    } else if (key == "output_file") {
      agent_.output_file = read_name(entry);
    } else if (key == "continues") {
      agent_.continues = read_name(entry);
    } else if (key == "ready_after") {
      if (auto value = read_ready_after(context_, entry)) agent_.ready_after = std::move(*value);
    }
  }

  // After all keys; whether the prompt was reported.
  bool finish() {
    // What `defaults` say of all agents means those that begin a conversation of their own.
    if (!agent_.continues.empty() && !reads_is_own_) agent_.reads.reset();
    return prompt_is_broken_;
  }

 private:
  bool read_template(const Entry& entry, std::string& out) {
    auto found = read_text_or_file(context_, entry);
    if (!found) return false;
    out = std::move(found->text);
    locate_templates(context_, entry, out, found->path, agent_.key_pos, notes_);
    return true;
  }

  std::string read_name(const Entry& entry) {
    const auto text = read_text(context_, entry);
    if (text && text->empty()) {
      context_.error("SK105", "'" + entry.key() + "' is empty", entry.value_or_key(),
                     entry.key() == "continues" ? "write the name of an agent, or remove the key"
                                                : "write a path, or remove the key");
    }
    return text.value_or("");
  }

  // A mapping is a schema written in YAML.
  void read_schema(const Entry& entry) {
    if (entry.value.kind == YamlNode::Kind::kMap) {
      if (context_.is_bare_template(entry.value)) return;
      agent_.sampling.json_schema = yaml_to_json(context_, entry.value);
      locate_parts(context_, entry.value, entry.key() + "#", agent_.key_pos, notes_);
    } else if (auto found = read_text_or_file(context_, entry)) {
      agent_.sampling.json_schema = std::move(found->text);
      if (agent_.sampling.json_schema.empty()) {
        context_.error("SK109", "'json_schema' is empty", entry.value_or_key(),
                       "write a schema such as { type: object }, or remove the key");
      }
    }
  }

  const ReadContext& context_;
  AgentSpec& agent_;
  ReadNotes& notes_;
  bool prompt_is_broken_ = false;
  bool reads_is_own_ = false;
};

}  // namespace

// Braces survive YAML's quoting and folding unchanged, so the nth "{{" of the text is the nth of
// its source. Only an escape in double quotes can hide one; the search then ends with the quotes.
void locate_templates(const ReadContext& context, const Entry& entry, std::string_view text,
                      const std::string& path, KeyPositions& positions, ReadNotes& notes) {
  const YamlNode& node = entry.value;
  std::size_t at_text = text.find("{{");
  if (at_text == std::string_view::npos || notes.n_located >= kMaxLocated) return;
  if (!path.empty()) {
    const std::filesystem::path place(resolve_path(notes.folder, path));
    const SourceText file(text, place.lexically_normal().string());
    for (std::size_t n = 0; at_text != std::string_view::npos; ++n) {
      if (notes.n_located++ >= kMaxLocated) return;
      positions[template_key(entry.key(), n)] = file.pos(at_text);
      at_text = text.find("{{", at_text + 2);
    }
    return;
  }
  if (node.origin > 0) return;
  std::string_view source = context.source.text();
  const bool quoted = !node.plain && node.n_bytes > 1;
  if (quoted) source = source.substr(0, node.offset + node.n_bytes);
  std::size_t at_source = source.find("{{", node.offset);
  for (std::size_t n = 0; at_text != std::string_view::npos && at_source != std::string_view::npos;
       ++n) {
    if (notes.n_located++ >= kMaxLocated) return;
    positions[template_key(entry.key(), n)] = context.source.pos(at_source);
    at_text = text.find("{{", at_text + 2);
    at_source = source.find("{{", at_source + 2);
  }
}

void read_agent(const ReadContext& context, const Entry& entry, const AgentSpec& defaults,
                Pipeline& pipeline, ReadNotes& notes) {
  AgentSpec agent = defaults;
  agent.name = entry.key();
  agent.seed_is_own = false;
  agent.pos = context.pos(entry.key_node);
  bool prompt_is_broken = true;
  const std::string label = "agent '" + agent.name + "'";
  const bool is_elsewhere = notes.prompt_elsewhere.count(agent.name) > 0;
  if (entry.value.kind != YamlNode::Kind::kMap) {
    if (!is_elsewhere || entry.value.kind != YamlNode::Kind::kNull) {
      context.error("SK104", label + " must be a mapping with a 'prompt'", entry.value_or_key(),
                    mapping_hint(entry.value));
    }
  } else {
    AgentReader reader(context, agent, notes);
    StrayKeys strays;
    strays.advice = [&](const Entry& stray) -> std::string {
      if (!looks_like_agent(context, stray.value)) return "";
      notes.stray_agents.push_back(stray);
      return "it has a prompt like an agent; if it is one, it belongs beside '" + agent.name +
             "', not into it";
    };
    for (const Entry& item :
         known_entries(context, entry.value, KeyLevel::kAgent, " in " + label, &strays)) {
      reader.read(item);
    }
    prompt_is_broken = reader.finish();
    const bool has_prompt = agent.key_pos.count("prompt") > 0;
    if (!has_prompt) prompt_is_broken = strays.means("prompt") || is_elsewhere;
  }
  pipeline.agents.push_back(std::move(agent));
  notes.prompt_is_broken.push_back(prompt_is_broken);
}

}  // namespace swarmkv::internal
