#include "pipeline/yaml_builder.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "fmt/format.h"
#include "pipeline/yaml_bytes.h"
#include "pipeline/yaml_reader.h"

namespace swarmkv::internal {

YamlBuilder::YamlBuilder(const SourceText& source, std::size_t skipped_bytes,
                         DiagnosticList& diagnostics)
    : source_(source), skipped_bytes_(skipped_bytes), diagnostics_(diagnostics) {}

SourcePos YamlBuilder::pos(YamlId node) const { return source_.pos(tree_.at(node).offset); }

void YamlBuilder::stop(const char* code, std::string message, std::size_t offset,
                       std::string hint) {
  diagnostics_.error({code, std::move(message), source_.pos(offset), 1, std::move(hint)});
  throw YamlStopped{};
}

void YamlBuilder::begin_document(std::size_t offset) {
  offset += skipped_bytes_;
  if (++n_documents_ == 1) return;
  const std::string_view before = source_.text().substr(0, offset);
  const std::size_t last = before.find_last_not_of(" \t\r\n");
  const bool marked = last != std::string_view::npos && last >= 2 &&
                      (before.substr(last - 2, 3) == "---" || before.substr(last - 2, 3) == "...");
  if (marked || source_.text().substr(offset, 3) == "---") {
    stop("SK003", "a second YAML document starts here", offset, "one file holds one pipeline");
  }
  stop("SK001", "this does not continue what stands before it", offset,
       "keys of one mapping start in the same column");
}

YamlId YamlBuilder::add_node(YamlNode::Kind kind, std::size_t offset, Anchor anchor) {
  const auto id = static_cast<YamlId>(tree_.nodes.size());
  if (tree_.nodes.size() >= kMaxVisitedNodes) {
    stop("SK004", fmt::format("more than {} YAML nodes", kMaxVisitedNodes), offset);
  }
  YamlNode node;
  node.kind = kind;
  node.offset = offset;
  tree_.nodes.push_back(std::move(node));
  weights_.emplace_back();
  if (anchor != 0) {
    if (anchors_.size() <= anchor) anchors_.resize(anchor + 1, -1);
    anchors_[anchor] = id;
  }
  if (tree_.root < 0) tree_.root = id;
  return id;
}

// Adds a complete node to the innermost open collection and to its weight.
void YamlBuilder::attach(YamlId node) {
  weights_[static_cast<std::size_t>(node)].complete = true;
  if (open_.empty()) return;
  YamlNode& parent = tree_.nodes[static_cast<std::size_t>(open_.back())];
  Weight& weight = weights_[static_cast<std::size_t>(open_.back())];
  const Weight& added = weights_[static_cast<std::size_t>(node)];
  parent.items.push_back(node);
  weight.n_nodes = std::min(weight.n_nodes + added.n_nodes, kMaxVisitedNodes + 1);
  weight.n_bytes = std::min(weight.n_bytes + added.n_bytes, kMaxExpandedBytes + 1);
  weight.height = std::max(weight.height, added.height + 1);
}

void YamlBuilder::add_null(std::size_t offset, Anchor anchor) {
  attach(add_node(YamlNode::Kind::kNull, offset + skipped_bytes_, anchor));
}

void YamlBuilder::add_text(std::size_t offset, const std::string& tag, Anchor anchor,
                           const std::string& text) {
  offset += skipped_bytes_;
  check_tag(offset, tag);
  const YamlId id = add_node(YamlNode::Kind::kText, offset, anchor);
  YamlNode& node = tree_.nodes[static_cast<std::size_t>(id)];
  node.plain = tag == "?";
  node.text = unhide_question_marks(text);
  weights_[static_cast<std::size_t>(id)].n_bytes = text.size();
  if (node.plain) {
    node.n_bytes = std::max<std::size_t>(1, text.size());
  } else {
    const auto end = find_quote_end(source_.text(), offset);
    if (!end) {
      stop("SK001", "this quoted text never ends", offset,
           "close it with the quote it began with; '' in single quotes and \\\" in double ones are "
           "quotes of the text");
    }
    node.n_bytes = std::max<std::size_t>(1, *end - offset);
  }
  attach(id);
}

void YamlBuilder::add_alias(std::size_t offset, Anchor target) {
  offset += skipped_bytes_;
  const YamlId id = target < anchors_.size() ? anchors_[target] : -1;
  if (id < 0) {
    stop("SK001", "an alias to nothing", offset, "a text that starts with '*' needs quotes");
  }
  const Weight& weight = weights_[static_cast<std::size_t>(id)];
  if (!weight.complete) stop("SK004", "an alias inside of what it stands for", offset);
  if (static_cast<int>(open_.size()) + weight.height > kMaxDepth) {
    stop("SK004", fmt::format("nested deeper than {} levels through this alias", kMaxDepth),
         offset);
  }
  attach(id);
  // Checked here and not at the end, so that a small file cannot make us build a large tree.
  if (open_.empty()) return;
  const Weight& sum = weights_[static_cast<std::size_t>(open_.back())];
  if (sum.n_nodes > kMaxVisitedNodes) {
    stop("SK004", fmt::format("aliases expand to more than {} nodes", kMaxVisitedNodes), offset);
  }
  if (sum.n_bytes > kMaxExpandedBytes) {
    stop("SK004", fmt::format("aliases expand to more than {} MiB", kMaxExpandedBytes >> 20),
         offset);
  }
}

void YamlBuilder::begin_collection(YamlNode::Kind kind, std::size_t offset, const std::string& tag,
                                   Anchor anchor) {
  offset += skipped_bytes_;
  if (static_cast<int>(open_.size()) >= kMaxDepth) {
    stop("SK004", fmt::format("nested deeper than {} levels", kMaxDepth), offset);
  }
  check_tag(offset, tag);
  open_.push_back(add_node(kind, offset, anchor));
}

void YamlBuilder::end_collection() {
  const YamlId id = open_.back();
  open_.pop_back();
  if (tree_.at(id).kind == YamlNode::Kind::kMap) check_keys(id);
  attach(id);
  const Weight& weight = weights_[static_cast<std::size_t>(open_.empty() ? id : open_.back())];
  if (weight.n_nodes > kMaxVisitedNodes || weight.n_bytes > kMaxExpandedBytes) {
    stop("SK004",
         fmt::format("aliases expand to more than {} nodes or {} MiB", kMaxVisitedNodes,
                     kMaxExpandedBytes >> 20),
         tree_.at(id).offset);
  }
}

// The parser says "?" for no tag on plain text and collections, "!" on quoted text; everything else
// was written by hand.
void YamlBuilder::check_tag(std::size_t offset, const std::string& tag) {
  const bool written = (tag != "?" && tag != "!") || source_.text().substr(offset, 1) == "!";
  if (!written) return;
  diagnostics_.error({"SK003", "YAML tags are not allowed", source_.pos(offset), 1,
                      "remove the word that starts with '!', or quote the text"});
}

void YamlBuilder::check_keys(YamlId map) {
  if (source_.text().substr(tree_.at(map).offset, 2) == "{{") {
    diagnostics_.error({"SK003", "'{{' without quotes opens a YAML mapping", pos(map), 2,
                        "put the whole text in quotes, or after '|' on lines of its own"});
    return;
  }
  std::unordered_map<std::string_view, YamlId> seen;
  const std::vector<YamlId>& items = tree_.at(map).items;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const YamlNode& key = tree_.at(items[i]);
    if (key.kind != YamlNode::Kind::kText) {
      diagnostics_.error({"SK003", "a key must be text", pos(items[i]), 1,
                          "write 'name:' with the value behind it or below"});
    } else if (key.plain && key.text == "<<") {
      diagnostics_.error({"SK003", "the merge key '<<' is not allowed", pos(items[i]), 2,
                          "put shared settings under 'defaults'"});
    } else if (const auto [first, is_new] = seen.emplace(key.text, items[i]); !is_new) {
      diagnostics_.error({"SK002", "key '" + key.text + "' is given twice", pos(items[i]),
                          source_.length_on_line(key.offset, key.n_bytes), "remove one of them"});
      diagnostics_.note("'" + key.text + "' was first given here", pos(first->second));
    }
  }
}

}  // namespace swarmkv::internal
