// Builds a YamlTree from a parser's events and keeps it bounded while it grows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/source_text.h"
#include "pipeline/yaml_tree.h"

namespace swarmkv::internal {

/// Thrown out of the parser to stop it; the diagnostic has been recorded.
struct YamlStopped {};

class YamlBuilder {
 public:
  using Anchor = std::size_t;  ///< 0 = none

  YamlBuilder(const SourceText& source, std::size_t skipped_bytes, DiagnosticList& diagnostics);

  // Each throws YamlStopped at a limit.
  void begin_document(std::size_t offset);
  void add_null(std::size_t offset, Anchor anchor);
  void add_text(std::size_t offset, const std::string& tag, Anchor anchor, const std::string& text);
  void add_alias(std::size_t offset, Anchor target);
  void begin_collection(YamlNode::Kind kind, std::size_t offset, const std::string& tag,
                        Anchor anchor);
  void end_collection();

  [[nodiscard]] YamlTree take() { return std::move(tree_); }

 private:
  // What a walk of the node costs, aliases expanded; saturates far above the limits.
  struct Weight {
    std::size_t n_nodes = 1, n_bytes = 0;
    int height = 1;
    bool complete = false;
  };

  YamlId add_node(YamlNode::Kind kind, std::size_t offset, Anchor anchor);
  void attach(YamlId node);
  void check_tag(std::size_t offset, const std::string& tag);
  void check_keys(YamlId map);
  [[noreturn]] void stop(const char* code, std::string message, std::size_t offset,
                         std::string hint = "");
  [[nodiscard]] SourcePos pos(YamlId node) const;

  const SourceText& source_;
  std::size_t skipped_bytes_;
  DiagnosticList& diagnostics_;
  YamlTree tree_;
  std::vector<Weight> weights_;
  std::vector<YamlId> open_;     // collections not yet ended, outermost first
  std::vector<YamlId> anchors_;  // by Anchor; -1 = unknown
  int n_documents_ = 0;
};

}  // namespace swarmkv::internal
