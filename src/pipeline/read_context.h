// Shared by the readers of a pipeline file's parts: where they read from and where problems go.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/source_text.h"
#include "pipeline/yaml_tree.h"

namespace swarmkv::internal {

class FileTexts;

struct ReadContext {
  const SourceText& source;
  const YamlTree& tree;
  DiagnosticList& diagnostics;
  std::span<const std::string> origins = {};  ///< what stands for a place in nodes of a change
  FileTexts* files = nullptr;                 ///< for file://, null where there is none

  [[nodiscard]] SourcePos pos(const YamlNode& node) const {
    if (node.origin > 0) return {origins[static_cast<std::size_t>(node.origin) - 1], 0, 0};
    return source.pos(node.offset);
  }
  [[nodiscard]] int length(const YamlNode& node) const {
    return node.origin > 0 ? 1 : source.length_on_line(node.offset, node.n_bytes);
  }
  /// A template without quotes, which YAML takes for a mapping; reported where it was read.
  [[nodiscard]] bool is_bare_template(const YamlNode& node) const {
    return node.kind == YamlNode::Kind::kMap && node.origin == 0 &&
           source.text().substr(node.offset, 2) == "{{";
  }
  /// Underlines the whole node.
  void error(const char* code, std::string message, const YamlNode& node,
             std::string hint = "") const {
    diagnostics.error({code, std::move(message), pos(node), length(node), std::move(hint)});
  }
};

/// One `key: value` of a mapping.
struct Entry {
  const YamlNode& key_node;
  const YamlNode& value;

  [[nodiscard]] const std::string& key() const { return key_node.text; }
  /// It was set from outside, and does not stand in the file.
  [[nodiscard]] bool is_change() const { return key_node.origin > 0; }
  /// Where to point at for the value; a missing value has no place of its own.
  [[nodiscard]] const YamlNode& value_or_key() const {
    return value.kind == YamlNode::Kind::kNull ? key_node : value;
  }
};

/// The entries whose key is text, in file order; of duplicate keys (already reported) the first.
std::vector<Entry> entries_of(const ReadContext& context, const YamlNode& map);

}  // namespace swarmkv::internal
