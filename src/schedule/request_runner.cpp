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

std::shared_ptr<const void> RequestRunner::offer(StoredPrefix) { refuse(); }

std::shared_ptr<CaptureTicket> RequestRunner::capture_later(CaptureRequest) { refuse(); }

}  // namespace swarmkv::internal
