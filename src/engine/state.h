// The state of a sequence outside of any context: what it depends on, and who may judge its bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace swarmkv::internal {

/// What has to be equal before a state of one context means the same in another, besides the model
/// itself (Model::fingerprint). Compared as text; the runtime's own check covers a part of it only.
struct StateIdentity {
  std::string arch;
  std::string cache_type_k, cache_type_v;
  std::string value_layout;  ///< "rows" with flash attention, "columns" without
  /// "model": as its file says. Models with two sets of RoPE factors take one of them by the size
  /// of the context: "short", "long".
  std::string rope;
  std::string kv_rotation;   ///< of quantised caches: "model" or "off"; else "none"
  std::string lora;          ///< "none": this engine loads no adapters
  std::string engine;        ///< the runtime and its commit
  std::string state_format;  ///< version of its state format

  friend bool operator==(const StateIdentity&, const StateIdentity&) = default;
};

/// Bytes of a state that somebody else owns, for example a file in memory.
using StateBytes = std::span<const std::uint8_t>;

}  // namespace swarmkv::internal
