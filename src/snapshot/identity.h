// What has to be equal before a saved state may be used.
#pragma once

#include <optional>
#include <string>

namespace swarmkv::internal {

/// What a state means depends on all of this: with any field different, the same bytes are other
/// keys and values. Fields are short texts that only have to be equal; who makes them decides what
/// stands in them.
struct SnapshotIdentity {
  std::string model_fingerprint{};  ///< of weights and metadata
  std::string arch{};
  std::string cache_type_k{}, cache_type_v{};
  std::string value_layout{};  ///< how V lies in the cache: flash attention on or off
  std::string rope{};          ///< RoPE settings, those that depend on the context size included
  std::string kv_rotation{};   ///< of quantised keys and values
  std::string lora{};
  std::string engine{};        ///< runtime and its commit
  std::string state_format{};  ///< the runtime's own version of its states

  friend bool operator==(const SnapshotIdentity&, const SnapshotIdentity&) = default;
};

/// What the bits of a state depend on besides: compared only where answers have to be bit-equal to
/// those of a run that computes everything itself.
struct SnapshotArithmetic {
  bool deterministic = false;  ///< saved by a run in that mode
  std::string recipe{};        ///< how it computed: "grid=512 points=512,3684 attention=stock"

  friend bool operator==(const SnapshotArithmetic&, const SnapshotArithmetic&) = default;
};

/// The first field that differs, with both values, the file's first: "KV type of keys q8_0, here
/// f16". Nothing if all are equal. Texts from files are made safe to show.
[[nodiscard]] std::optional<std::string> first_difference(const SnapshotIdentity& file,
                                                          const SnapshotIdentity& here);

/// The same for what bit-equal answers need.
[[nodiscard]] std::optional<std::string> first_difference(const SnapshotArithmetic& file,
                                                          const SnapshotArithmetic& here);

}  // namespace swarmkv::internal
