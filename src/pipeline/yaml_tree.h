// A YAML document as we keep it: every node knows where it stands, keys stay in file order.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace swarmkv::internal {

using YamlId = int;

struct YamlNode {
  enum class Kind { kNull, kText, kSequence, kMap } kind = Kind::kNull;
  bool plain = false;         ///< text without quotes: may be a number or a boolean
  std::string text;           ///< of kText
  std::size_t offset = 0;     ///< first byte in the source
  std::size_t n_bytes = 1;    ///< of a text's source, as far as it is on one line (best effort)
  std::vector<YamlId> items;  ///< sequence: its values; map: key, value, key, value, ...
  /// 0: stands in the file. Else the nth change from outside put it there, and `offset` says
  /// nothing.
  int origin = 0;
};

/// Acyclic; a node reached through an alias is shared, not copied. A walk of everything below the
/// root visits at most kMaxVisitedNodes nodes and is at most kMaxDepth deep.
struct YamlTree {
  std::vector<YamlNode> nodes;
  YamlId root = -1;

  [[nodiscard]] const YamlNode& at(YamlId id) const { return nodes[static_cast<std::size_t>(id)]; }
};

}  // namespace swarmkv::internal
