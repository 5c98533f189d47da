#include "pipeline/changes.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "pipeline/source_text.h"
#include "pipeline/yaml_bytes.h"
#include "pipeline/yaml_reader.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

using Keys = std::vector<std::string>;

std::string label_of(const std::string& flag, const std::string& key, const std::string& value) {
  constexpr std::size_t kMaxShown = 60;
  std::size_t end = 0;
  while (end < value.size() && end < kMaxShown) end += utf8_step(value, end).length;
  return flag + " " + key + "=" + value.substr(0, end) + (end < value.size() ? "..." : "");
}

std::optional<Keys> split(const std::string& path) {
  Keys keys;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t dot = std::min(path.find('.', begin), path.size());
    if (dot == begin) return std::nullopt;
    keys.push_back(path.substr(begin, dot - begin));
    if (keys.size() > static_cast<std::size_t>(kMaxDepth)) return std::nullopt;
    begin = dot + 1;
  }
  return keys;
}

class Overlay {
 public:
  Overlay(YamlTree& tree, DiagnosticList& diagnostics) : tree_(tree), diagnostics_(diagnostics) {}

  void set(const std::string& path, const std::string& value) {
    begin("--set", path, value);
    const std::optional<Keys> keys = split(path);
    if (!keys) return refuse("'" + path + "' is no path such as agents.risk.temperature");
    if (const YamlId node = add_value(value); node >= 0) place(*keys, node);
  }

  // Only one that the file has: anything else would be a slip that changes nothing.
  void set_var(const std::string& name, const std::string& value) {
    begin("--var", name, value);
    const Keys vars = keys_below(find(tree_.root, "vars"));
    if (std::find(vars.begin(), vars.end(), name) == vars.end()) {
      return refuse("the pipeline has no var '" + name + "'", nearest(name, vars));
    }
    if (const YamlId node = add_text(value, false); node >= 0) place({"vars", name}, node);
  }

  [[nodiscard]] std::vector<std::string> take_labels() { return std::move(labels_); }

 private:
  void begin(const std::string& flag, const std::string& key, const std::string& value) {
    labels_.push_back(label_of(flag, key, value));
  }
  [[nodiscard]] int origin() const { return static_cast<int>(labels_.size()); }
  YamlNode& at(YamlId id) { return tree_.nodes[static_cast<std::size_t>(id)]; }

  void refuse(std::string message, std::string hint = "", std::string code = "SK107") {
    diagnostics_.error(
        {std::move(code), std::move(message), SourcePos{labels_.back(), 0, 0}, 1, std::move(hint)});
  }

  static std::string nearest(const std::string& name, const Keys& candidates) {
    const auto found = nearest_name(name, candidates);
    return found ? "did you mean '" + *found + "'?" : "";
  }

  YamlId add(YamlNode node) {
    node.origin = origin();
    tree_.nodes.push_back(std::move(node));
    return static_cast<YamlId>(tree_.nodes.size() - 1);
  }

  YamlId add_text(const std::string& text, bool plain) {
    if (const auto bad = find_bad_byte(text)) {
      refuse(bad->what, bad->hint, "SK005");
      return -1;
    }
    YamlNode node;
    node.kind = YamlNode::Kind::kText;
    node.text = text;
    node.plain = plain;
    return add(std::move(node));
  }

  // Lists, mappings and quoted texts are YAML. Anything else is taken as it stands, since on a
  // command line a text with ": " or " #" in it means a text.
  YamlId add_value(const std::string& value) {
    const bool is_yaml = !value.empty() &&
                         std::string_view("[{\"'").find(value.front()) != std::string_view::npos &&
                         value.rfind("{{", 0) != 0;
    if (!is_yaml) return add_text(value, !value.empty());
    const SourceText source(value, labels_.back());
    DiagnosticList problems(&source);
    const std::optional<YamlTree> parsed = read_yaml(source, problems);
    const bool broken = problems.has_errors();
    for (const Diagnostic& problem : problems.take()) {
      if (problem.severity == Diagnostic::Severity::kError) {
        refuse(problem.message, problem.hint, problem.code);
      }
    }
    if (broken || !parsed) return -1;
    const auto shift = static_cast<YamlId>(tree_.nodes.size());
    for (YamlNode node : parsed->nodes) {
      for (YamlId& item : node.items) item += shift;
      add(std::move(node));
    }
    return parsed->root + shift;
  }

  // Where the value of `key` stands in its mapping's items, or -1.
  [[nodiscard]] int slot(YamlId map, const std::string& key) const {
    const YamlNode& node = tree_.at(map);
    if (node.kind != YamlNode::Kind::kMap) return -1;
    for (std::size_t i = 0; i + 1 < node.items.size(); i += 2) {
      const YamlNode& name = tree_.at(node.items[i]);
      if (name.kind == YamlNode::Kind::kText && name.text == key) return static_cast<int>(i) + 1;
    }
    return -1;
  }

  [[nodiscard]] YamlId find(YamlId map, const std::string& key) const {
    const int found = map < 0 ? -1 : slot(map, key);
    return found < 0 ? -1 : tree_.at(map).items[static_cast<std::size_t>(found)];
  }

  [[nodiscard]] Keys keys_below(YamlId map) const {
    Keys keys;
    if (map < 0 || tree_.at(map).kind != YamlNode::Kind::kMap) return keys;
    const std::vector<YamlId>& items = tree_.at(map).items;
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) keys.push_back(tree_.at(items[i]).text);
    return keys;
  }

  void place(const Keys& keys, YamlId value) {
    if (keys.front() == "agents" && keys.size() > 1) {
      const Keys agents = keys_below(find(tree_.root, "agents"));
      if (std::find(agents.begin(), agents.end(), keys[1]) == agents.end()) {
        return refuse("the pipeline has no agent '" + keys[1] + "'", nearest(keys[1], agents));
      }
    }
    YamlId map = tree_.root;
    std::string walked;
    for (std::size_t i = 0; i + 1 < keys.size(); ++i) {
      walked += (i > 0 ? "." : "") + keys[i];
      map = own_mapping(map, keys[i]);
      if (map < 0) return refuse("'" + walked + "' is no mapping, so nothing stands below it");
    }
    put(map, keys.back(), value);
  }

  // The mapping under `key`, made or copied: through an alias it may stand in several places, and
  // only this one is meant.
  YamlId own_mapping(YamlId map, const std::string& key) {
    const YamlId old = find(map, key);
    YamlNode node;
    node.kind = YamlNode::Kind::kMap;
    if (old >= 0 && tree_.at(old).kind == YamlNode::Kind::kMap) {
      node = tree_.at(old);
      tree_.nodes.push_back(std::move(node));
      const auto copy = static_cast<YamlId>(tree_.nodes.size() - 1);
      at(map).items[static_cast<std::size_t>(slot(map, key))] = copy;
      return copy;
    }
    if (old >= 0 && tree_.at(old).kind != YamlNode::Kind::kNull) return -1;
    const YamlId made = add(std::move(node));
    put(map, key, made);
    return made;
  }

  // The key is replaced with the value, so that diagnostics point at the change.
  void put(YamlId map, const std::string& key, YamlId value) {
    YamlNode name;
    name.kind = YamlNode::Kind::kText;
    name.text = key;
    const YamlId key_node = add(std::move(name));
    const int found = slot(map, key);
    std::vector<YamlId>& items = at(map).items;
    if (found < 0) {
      items.push_back(key_node);
      items.push_back(value);
    } else {
      items[static_cast<std::size_t>(found) - 1] = key_node;
      items[static_cast<std::size_t>(found)] = value;
    }
  }

  YamlTree& tree_;
  DiagnosticList& diagnostics_;
  std::vector<std::string> labels_;
};

}  // namespace

std::vector<std::string> apply_changes(const PipelineChanges& changes, YamlTree& tree,
                                       DiagnosticList& diagnostics) {
  if (tree.at(tree.root).kind != YamlNode::Kind::kMap) return {};
  Overlay overlay(tree, diagnostics);
  for (const auto& [path, value] : changes.sets) overlay.set(path, value);
  for (const auto& [name, value] : changes.vars) overlay.set_var(name, value);
  return overlay.take_labels();
}

}  // namespace swarmkv::internal
