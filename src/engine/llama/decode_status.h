// What llama_decode's answer means to us. The runtime's numbers stop here.
#pragma once

#include "engine/types.h"

namespace swarmkv::internal {

/// Ours, for an exception that came out of llama_decode; not a number it returns.
inline constexpr int kDecodeThrew = -1000;

/// `result` of llama_decode, for batches that make one ubatch:
///    0        done; the cache has advanced
///    1        no slot; the cache is as before
///    2        aborted; the ubatch was taken out again
///   -1        refused as malformed; the cache is as before
///   < -1      allocation or computation failed
///   > 2       not assigned; nothing may be assumed about the cache, so it counts as failed
[[nodiscard]] constexpr ForwardStatus forward_status(int result) {
  switch (result) {
    case 0:
      return ForwardStatus::kOk;
    case 1:
      return ForwardStatus::kNoSlot;
    case 2:
      return ForwardStatus::kAborted;
    case -1:
      return ForwardStatus::kBadBatch;
    default:
      return ForwardStatus::kFatal;
  }
}

/// After these the positions of the touched sequences have to be read again and tails dropped.
[[nodiscard]] constexpr bool leaves_cache_in_doubt(ForwardStatus status) {
  return status == ForwardStatus::kAborted || status == ForwardStatus::kFatal;
}

}  // namespace swarmkv::internal
