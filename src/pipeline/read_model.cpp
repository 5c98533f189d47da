#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/keys.h"
#include "pipeline/limits.h"
#include "pipeline/read_settings.h"
#include "pipeline/read_values.h"
#include "pipeline/scalars.h"
#include "text/nearest.h"

namespace swarmkv::internal {
namespace {

// Of a document whose path was reported: no file, so that it clashes with nothing.
constexpr const char* kNoPath = ".";

constexpr const char* kSnapshotValues = "'off', 'auto' or a file";

std::string read_snapshot(const ReadContext& context, const Entry& entry) {
  const ScalarType type = scalar_type(entry.value);
  const std::string& text = entry.value.text;
  if (type != ScalarType::kText) {
    const bool is_number = type == ScalarType::kInt || type == ScalarType::kFloat;
    const std::string word = text == "false" ? "off" : "auto";
    wrong_type(context, entry, kSnapshotValues,
               is_number ? "a file of that name is written ./" + text : "write snapshot: " + word);
    return "";
  }
  if (is_snapshot_setting(text)) return text;
  const std::optional<std::string> nearest = nearest_name(text, choices_of("snapshot"));
  context.error("SK105",
                "'snapshot' must be " + std::string(kSnapshotValues) + ", not '" + text + "'",
                entry.value,
                nearest        ? "did you mean '" + *nearest + "'?"
                : text.empty() ? ""
                               : "a file of that name is written ./" + text);
  return "";
}

void read_document_parts(const ReadContext& context, const Entry& entry, DocumentSpec& document,
                         ReadNotes& notes) {
  const auto read_path = [&](const Entry& path) {
    const std::optional<std::string> text = read_text(context, path);
    document.path = text.value_or(kNoPath);
    if (text && !text->empty()) {
      notes.top_pos["documents." + document.name] = context.pos(path.value_or_key());
    }
  };
  if (entry.value.kind != YamlNode::Kind::kMap) {
    read_path(entry);
  } else {
    bool has_path = false;
    const std::string where = " in document '" + document.name + "'";
    StrayKeys strays;
    for (const Entry& item :
         known_entries(context, entry.value, KeyLevel::kDocument, where, &strays)) {
      if (item.key() == "snapshot") {
        document.snapshot = read_snapshot(context, item);
        if (item.is_change()) document.changed_keys.insert(item.key());
        continue;
      }
      has_path = true;
      read_path(item);
    }
    if (!has_path) {
      document.path = kNoPath;
      if (!strays.means("path")) {
        context.error("SK103", "document '" + document.name + "' has no 'path'", entry.key_node,
                      "write { path: FILE }");
      }
    }
  }
  if (document.path.empty()) {
    context.error("SK105", "the path of document '" + document.name + "' is empty",
                  entry.value_or_key(), "write the name of a file, or - for standard input");
    document.path = kNoPath;
  }
}

// `contract:` with nothing behind it and its keys in its own column. Answers how many those are.
std::size_t report_stray_keys(const ReadContext& context, const std::vector<Entry>& entries,
                              std::size_t i) {
  std::size_t n = 0;
  if (entries[i].value.kind != YamlNode::Kind::kNull) return n;
  for (++i; i < entries.size() && is_key_at(KeyLevel::kDocument, entries[i].key()); ++i, ++n) {
    context.error("SK101",
                  "'" + entries[i].key() +
                      "' is a key of a document, but stands in the column of the documents' names",
                  entries[i].key_node,
                  "indent it further, under '" + entries[i - n - 1].key() + "'");
  }
  return n;
}

// { lease: lease.txt, annex: annex.txt }: no key is one of a document, or nearly.
bool holds_names(const ReadContext& context, const YamlNode& value) {
  if (value.kind != YamlNode::Kind::kMap) return false;
  const std::vector<Entry> entries = entries_of(context, value);
  const std::string keys[] = {"path", "snapshot"};
  return !entries.empty() && std::none_of(entries.begin(), entries.end(), [&](const Entry& entry) {
    return nearest_name(entry.key(), keys).has_value();
  });
}

}  // namespace

void read_model(const ReadContext& context, const Entry& entry, ModelSpec& model) {
  model.pos = context.pos(entry.key_node);
  if (entry.value.kind != YamlNode::Kind::kMap) {
    wrong_type(context, entry, "a mapping", "write model: { path: FILE.gguf }");
    return;
  }
  const auto set_int = [&](const Entry& item, std::optional<int>& target) {
    if (const auto value = read_integer(context, item)) target = static_cast<int>(*value);
  };
  for (const Entry& item : known_entries(context, entry.value, KeyLevel::kModel, " in 'model'")) {
    const std::string& key = item.key();
    if (item.is_change()) model.changed_keys.insert(key);
    if (key == "path") {
      model.path = read_text(context, item).value_or("");
    } else if (key == "ctx_size") {
      const auto value = read_integer_or_word(context, item, choices_of(key));
      if (value) model.ctx_size = value->word ? 0 : static_cast<int>(value->value);
    } else if (key == "n_gpu_layers") {
      const auto value = read_integer_or_word(context, item, choices_of(key));
      if (!value) continue;
      model.n_gpu_layers = static_cast<int>(value->value);
      if (value->word) model.n_gpu_layers = *value->word == 0 ? kAutoLayers : kAllLayers;
    } else if (key == "threads") {
      set_int(item, model.threads);
    } else if (key == "threads_batch") {
      set_int(item, model.threads_batch);
    } else if (key == "batch_size") {
      set_int(item, model.batch_size);
    } else if (key == "parallel") {
      set_int(item, model.parallel);
    } else if (key == "cache_type_k") {
      model.cache_type_k = read_choice(context, item, choices_of(key)).value_or("");
    } else if (key == "cache_type_v") {
      model.cache_type_v = read_choice(context, item, choices_of(key)).value_or("");
    } else if (key == "flash_attn") {
      model.flash_attn = read_choice(context, item, choices_of(key)).value_or("");
    }
  }
}

void read_document(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
                   ReadNotes& notes) {
  if (holds_names(context, entry.value)) {
    context.error("SK104", "'document' is one document; here are names of several", entry.key_node,
                  "write documents:");
    read_documents(context, entry, pipeline, notes);
    return;
  }
  DocumentSpec document;
  document.name = "document";
  document.pos = context.pos(entry.key_node);
  read_document_parts(context, entry, document, notes);
  pipeline.documents.push_back(std::move(document));
}

void read_documents(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
                    ReadNotes& notes) {
  if (entry.value.kind != YamlNode::Kind::kMap) {
    wrong_type(context, entry, "a mapping of names to paths",
               "write documents: { contract: contract.txt }");
    return;
  }
  const std::vector<Entry> entries = entries_of(context, entry.value);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& item = entries[i];
    if (item.key().rfind("x-", 0) == 0) continue;
    DocumentSpec document;
    document.name = item.key();
    document.pos = context.pos(item.key_node);
    if (const std::size_t n = report_stray_keys(context, entries, i); n > 0) {
      document.path = kNoPath;
      i += n;
    } else {
      read_document_parts(context, item, document, notes);
    }
    pipeline.documents.push_back(std::move(document));
  }
}

}  // namespace swarmkv::internal
