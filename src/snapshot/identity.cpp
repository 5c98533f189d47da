#include "snapshot/identity.h"

#include <fmt/format.h>

#include "snapshot/shown.h"

namespace swarmkv::internal {
namespace {

std::optional<std::string> difference(const char* field, const std::string& file,
                                      const std::string& here) {
  if (file == here) return std::nullopt;
  const auto value = [](const std::string& text) { return text.empty() ? "none" : shown(text); };
  return fmt::format("{} {}, here {}", field, value(file), value(here));
}

}  // namespace

std::optional<std::string> first_difference(const SnapshotIdentity& file,
                                            const SnapshotIdentity& here) {
  // What a user can change comes before what only tells two builds apart.
  struct Field {
    const char* name;
    std::string SnapshotIdentity::*value;
  };
  static constexpr Field kFields[] = {
      {"architecture", &SnapshotIdentity::arch},
      {"model fingerprint", &SnapshotIdentity::model_fingerprint},
      {"KV type of keys", &SnapshotIdentity::cache_type_k},
      {"KV type of values", &SnapshotIdentity::cache_type_v},
      {"layout of values", &SnapshotIdentity::value_layout},
      {"RoPE settings", &SnapshotIdentity::rope},
      {"KV rotation", &SnapshotIdentity::kv_rotation},
      {"LoRA", &SnapshotIdentity::lora},
      {"engine", &SnapshotIdentity::engine},
      {"state format", &SnapshotIdentity::state_format},
  };
  for (const Field& field : kFields) {
    if (auto found = difference(field.name, file.*field.value, here.*field.value)) return found;
  }
  return std::nullopt;
}

std::optional<std::string> first_difference(const SnapshotArithmetic& file,
                                            const SnapshotArithmetic& here) {
  if (file.deterministic != here.deterministic) {
    return fmt::format("saved {} deterministic mode, here {} it",
                       file.deterministic ? "in" : "without",
                       here.deterministic ? "in" : "without");
  }
  return difference("recipe", file.recipe, here.recipe);
}

}  // namespace swarmkv::internal
