#include "pipeline/keys.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_set>
#include <utility>

#include "text/nearest.h"

namespace swarmkv::internal {
namespace {

struct KnownKey {
  KeyLevel level;
  std::string_view name;
};

constexpr std::array<std::string_view, 13> kAgentSettings{
    "reads",   "max_tokens",     "temperature",   "top_k", "top_p",
    "min_p",   "repeat_penalty", "repeat_last_n", "seed",  "stop",
    "timeout", "priority",       "ignore_eos"};

constexpr std::array<KnownKey, 31> kOwnKeys{{
    {KeyLevel::kTop, "version"},        {KeyLevel::kTop, "name"},
    {KeyLevel::kTop, "model"},          {KeyLevel::kTop, "document"},
    {KeyLevel::kTop, "documents"},      {KeyLevel::kTop, "system"},
    {KeyLevel::kTop, "vars"},           {KeyLevel::kTop, "defaults"},
    {KeyLevel::kTop, "agents"},         {KeyLevel::kDocument, "path"},
    {KeyLevel::kDocument, "snapshot"},  {KeyLevel::kModel, "path"},
    {KeyLevel::kModel, "ctx_size"},     {KeyLevel::kModel, "n_gpu_layers"},
    {KeyLevel::kModel, "threads"},      {KeyLevel::kModel, "threads_batch"},
    {KeyLevel::kModel, "batch_size"},   {KeyLevel::kModel, "parallel"},
    {KeyLevel::kModel, "cache_type_k"}, {KeyLevel::kModel, "cache_type_v"},
    {KeyLevel::kModel, "flash_attn"},   {KeyLevel::kAgent, "prompt"},
    {KeyLevel::kAgent, "system"},       {KeyLevel::kAgent, "needs"},
    {KeyLevel::kAgent, "ready_after"},  {KeyLevel::kAgent, "continues"},
    {KeyLevel::kAgent, "json_schema"},  {KeyLevel::kAgent, "output_file"},
    {KeyLevel::kNeed, "agent"},         {KeyLevel::kNeed, "required"},
    {KeyLevel::kReadyAfter, "before"},
}};

// Part of the format, but of a later version of the program. Refused, never ignored.
constexpr std::array<std::string_view, 5> kPlannedKeys{"run", "uses", "with", "assert", "retries"};

// What users of other tools type; too far from our words for an edit distance.
struct OtherWord {
  std::string_view theirs, ours;
};
constexpr std::array<OtherWord, 14> kOtherWords{{{"depends_on", "needs"},
                                                 {"variables", "vars"},
                                                 {"response_format", "json_schema"},
                                                 {"schema", "json_schema"},
                                                 {"output", "output_file"},
                                                 {"documents", "reads"},
                                                 {"document", "reads"},
                                                 {"dependencies", "needs"},
                                                 {"after", "needs"},
                                                 {"n_predict", "max_tokens"},
                                                 {"max_new_tokens", "max_tokens"},
                                                 {"temp", "temperature"},
                                                 {"n_ctx", "ctx_size"},
                                                 {"system_prompt", "system"}}};

// Of a scenario file for `swarmkv bench`, which is no pipeline.
constexpr std::array<std::string_view, 14> kBenchKeys{
    "version", "name",   "model",  "document", "document_tokens", "questions",  "suffix_tokens",
    "agents",  "trials", "warmup", "arms",     "output_tokens",   "ignore_eos", "seed"};

bool contains(std::span<const std::string> keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

// "'temperature' belongs ..." for a right key in the wrong place; "" if it is right nowhere.
std::string place_hint(std::string_view key) {
  struct Place {
    KeyLevel level;
    const char* words;
  };
  constexpr std::array<Place, 5> kPlaces{{{KeyLevel::kDefaults, "under 'defaults' or in an agent"},
                                          {KeyLevel::kAgent, "in an agent"},
                                          {KeyLevel::kModel, "under 'model'"},
                                          {KeyLevel::kTop, "at the top level"},
                                          {KeyLevel::kDocument, "in a document"}}};
  for (const Place& place : kPlaces) {
    if (!is_key_at(place.level, key)) continue;
    return "'" + std::string(key) + "' belongs " + place.words;
  }
  return "";
}

// The key of a level that another word stands for.
std::optional<std::string> own_word(std::string_view key, std::span<const std::string> candidates) {
  for (const OtherWord& word : kOtherWords) {
    if (word.theirs == key && contains(candidates, word.ours)) return std::string(word.ours);
  }
  return std::nullopt;
}

// A text after '|' or '>' ends where a line is indented too little; if that line has a colon, it is
// taken for a key.
bool is_block_text(const ReadContext& context, const YamlNode& node) {
  const std::string_view source = context.source.text();
  return node.kind == YamlNode::Kind::kText && node.origin == 0 && !node.plain &&
         node.offset < source.size() && (source[node.offset] == '|' || source[node.offset] == '>');
}

class Suggestion {
 public:
  Suggestion(const ReadContext& context, std::span<const std::string> candidates, StrayKeys* strays)
      : context_(context), candidates_(candidates), strays_(strays) {}

  // `before` is the entry in front of it, or null.
  [[nodiscard]] std::string of(const Entry& entry, const Entry* before) const {
    const std::string& key = entry.key();
    if (const auto word = own_word(key, candidates_)) return did_you_mean(*word);
    if (strays_ != nullptr && strays_->advice) {
      if (std::string advice = strays_->advice(entry); !advice.empty()) return advice;
    }
    if (std::string hint = place_hint(key); !hint.empty()) return hint;
    if (const auto nearest = nearest_name(key, candidates_)) return did_you_mean(*nearest);
    if (before != nullptr && is_block_text(context_, before->value)) {
      return "if it is a line of the text above, indent it further than '" + before->key() + "'";
    }
    if (entry.value.kind == YamlNode::Kind::kNull && key.find(' ') != std::string::npos) {
      return "if it is the rest of a text, put the whole text in quotes: between { } a comma ends "
             "it";
    }
    constexpr std::size_t kFew = 3;
    if (candidates_.size() > kFew) return "remove it; keys of your own begin with 'x-'";
    std::string list;
    for (const std::string& each : candidates_) list += (list.empty() ? "'" : ", '") + each + "'";
    return (candidates_.size() == 1 ? "the key here is " : "the keys here are ") + list;
  }

 private:
  [[nodiscard]] std::string did_you_mean(const std::string& key) const {
    if (strays_ != nullptr) strays_->meant.push_back(key);
    return "did you mean '" + key + "'?";
  }

  const ReadContext& context_;
  const std::span<const std::string> candidates_;
  StrayKeys* const strays_;
};

}  // namespace

std::vector<std::string> keys_at(KeyLevel level) {
  std::vector<std::string> result;
  if (level == KeyLevel::kBench) result.assign(kBenchKeys.begin(), kBenchKeys.end());
  for (const KnownKey& key : kOwnKeys) {
    if (key.level == level) result.emplace_back(key.name);
  }
  if (level == KeyLevel::kAgent || level == KeyLevel::kDefaults) {
    result.insert(result.end(), kAgentSettings.begin(), kAgentSettings.end());
  }
  return result;
}

bool is_key_at(KeyLevel level, std::string_view key) { return contains(keys_at(level), key); }

bool StrayKeys::means(std::string_view key) const { return contains(meant, key); }

std::vector<Entry> entries_of(const ReadContext& context, const YamlNode& map) {
  std::vector<Entry> result;
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
    const YamlNode& key = context.tree.at(map.items[i]);
    if (key.kind != YamlNode::Kind::kText || (key.plain && key.text == "<<")) continue;
    if (seen.insert(key.text).second) result.push_back({key, context.tree.at(map.items[i + 1])});
  }
  return result;
}

std::vector<Entry> known_entries(const ReadContext& context, const YamlNode& map, KeyLevel level,
                                 std::string_view where, StrayKeys* strays) {
  const std::vector<std::string> built = keys_at(level);
  const Suggestion suggestion(context, built, strays);
  std::vector<Entry> result;
  const std::vector<Entry> entries = entries_of(context, map);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& entry = entries[i];
    const std::string& key = entry.key();
    if (contains(built, key)) {
      result.push_back(entry);
    } else if (std::find(kPlannedKeys.begin(), kPlannedKeys.end(), key) != kPlannedKeys.end()) {
      context.error("SK102", "'" + key + "' is not built yet", entry.key_node,
                    "remove it: this version cannot do it");
      // Both would stand in the place of a prompt.
      if (strays != nullptr && (key == "run" || key == "uses"))
        strays->meant.emplace_back("prompt");
    } else if (key.rfind("x-", 0) != 0) {
      std::string hint;
      if (context.diagnostics.wants_suggestions()) {
        hint = suggestion.of(entry, i == 0 ? nullptr : &entries[i - 1]);
      }
      context.error("SK101", "unknown key '" + key + "'" + std::string(where), entry.key_node,
                    std::move(hint));
    }
  }
  return result;
}

}  // namespace swarmkv::internal
