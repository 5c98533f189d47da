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
    if (!contains(keys_at(place.level), key)) continue;
    return "'" + std::string(key) + "' belongs " + place.words;
  }
  return "";
}

std::string suggestion(std::string_view key, std::span<const std::string> candidates) {
  for (const OtherWord& word : kOtherWords) {
    if (word.theirs == key && contains(candidates, word.ours)) {
      return "did you mean '" + std::string(word.ours) + "'?";
    }
  }
  if (const std::string hint = place_hint(key); !hint.empty()) return hint;
  const std::optional<std::string> nearest = nearest_name(key, candidates);
  return nearest ? "did you mean '" + *nearest + "'?" : "";
}

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
                                 std::string_view where) {
  const std::vector<std::string> built = keys_at(level);
  std::vector<Entry> result;
  for (const Entry& entry : entries_of(context, map)) {
    const std::string& key = entry.key();
    if (contains(built, key)) {
      result.push_back(entry);
    } else if (std::find(kPlannedKeys.begin(), kPlannedKeys.end(), key) != kPlannedKeys.end()) {
      context.error("SK102", "'" + key + "' is not built yet", entry.key_node);
    } else if (key.rfind("x-", 0) != 0) {
      context.error("SK101", "unknown key '" + key + "'" + std::string(where), entry.key_node,
                    context.diagnostics.wants_suggestions() ? suggestion(key, built) : "");
    }
  }
  return result;
}

}  // namespace swarmkv::internal
