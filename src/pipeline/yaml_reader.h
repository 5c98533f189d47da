// From bytes to a YamlTree. The only part of the program that knows the YAML library.
#pragma once

#include <cstddef>
#include <optional>

#include "pipeline/diagnostic_list.h"
#include "pipeline/source_text.h"
#include "pipeline/yaml_tree.h"

namespace swarmkv::internal {

inline constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;
inline constexpr int kMaxDepth = 32;
inline constexpr std::size_t kMaxVisitedNodes = 100'000;
/// Aliases can repeat a long text very often without visiting many nodes.
inline constexpr std::size_t kMaxExpandedBytes = std::size_t{16} << 20;

/// Empty if the text is no single, bounded YAML document; the reason is then in `diagnostics`.
/// Duplicate keys, tags and merge keys are reported, too, but leave a usable tree.
std::optional<YamlTree> read_yaml(const SourceText& source, DiagnosticList& diagnostics);

}  // namespace swarmkv::internal
