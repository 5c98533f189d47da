// Shared by the readers of a pipeline file's parts: where they read from and where problems go.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/source_text.h"
#include "pipeline/yaml_tree.h"

namespace swarmkv::internal {

struct ReadContext {
  const SourceText& source;
  const YamlTree& tree;
  DiagnosticList& diagnostics;

  [[nodiscard]] SourcePos pos(const YamlNode& node) const { return source.pos(node.offset); }
  [[nodiscard]] int length(const YamlNode& node) const {
    return source.length_on_line(node.offset, node.n_bytes);
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
  /// Where to point at for the value; a missing value has no place of its own.
  [[nodiscard]] const YamlNode& value_or_key() const {
    return value.kind == YamlNode::Kind::kNull ? key_node : value;
  }
};

/// The entries whose key is text, in file order; of duplicate keys (already reported) the first.
std::vector<Entry> entries_of(const ReadContext& context, const YamlNode& map);

}  // namespace swarmkv::internal
