#include "schedule/request_runner.h"

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void refuse() {
  throw Error(ErrorCode::kUnsupported,
              "[schedule] only the shared cache takes and gives prefixes of other runs");
}

}  // namespace

StateIdentity RequestRunner::state_identity() { refuse(); }

// Those who override them keep what they are given.
// NOLINTBEGIN(performance-unnecessary-value-param)
std::shared_ptr<const void> RequestRunner::offer(StoredPrefix) { refuse(); }

std::shared_ptr<CaptureTicket> RequestRunner::capture_later(CaptureRequest) { refuse(); }
// NOLINTEND(performance-unnecessary-value-param)

}  // namespace swarmkv::internal
