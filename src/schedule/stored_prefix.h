// Prefixes whose state lies outside of the cache: offered to the scheduler instead of computing
// them, and asked of it in order to be kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/context.h"

namespace swarmkv::internal {

/// A prefix that somebody computed earlier. While it is offered, a request that begins with it and
/// finds nothing as long in the cache gets it from here: once into a sequence of its own, from
/// which all fork. Thrown out for want of room, it comes back the same way.
struct StoredPrefix {
  std::shared_ptr<const Tokens> tokens;  ///< just those that the state holds
  StateBytes state;                      ///< has passed Model::check_state
  std::shared_ptr<const void> owner;     ///< of the bytes; kept as long as the offer
  std::vector<int> cuts;  ///< inside it, ascending: between which forwards it was computed
  /// Hears on the engine thread that it was loaded, or why not; then it is not tried again. Must be
  /// quick and must not throw.
  std::function<void(double ms, const std::string& error)> on_restore;
};

/// What came of a wish for a state.
struct Captured {
  SequenceState state;  ///< empty if there is a reason
  double ms = 0;        ///< the engine thread's time for it
  std::string reason;   ///< why there is no state
};

/// A prefix that is to be kept when it is there. Both functions run on the engine thread, must be
/// quick and must not throw.
struct CaptureRequest {
  std::shared_ptr<const Tokens> tokens;
  /// Why a state of so many bytes, which took so long to compute, is not wanted; empty = it is.
  std::function<std::string(std::uint64_t size_bytes, double compute_ms)> refuse;
  std::function<void(Captured)> done;  ///< called once, unless the ticket is dropped before
};

/// One wish for a state. Dropping it withdraws it.
class CaptureTicket {
 public:
  virtual ~CaptureTicket() = default;
  /// If the state was not captured before, because it would have been thrown out, it is now. When
  /// this returns `done` was called.  cost: waits for at most one forward and one save
  virtual void settle() = 0;
};

}  // namespace swarmkv::internal
