#include "swarmkv/error.h"

namespace swarmkv {

Error::Error(ErrorCode code, const std::string& message)
    : std::runtime_error(message), code_(code) {}
Error::~Error() = default;

std::string_view to_string(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return "invalid_argument";
    case ErrorCode::kUnreadable:
      return "unreadable";
    case ErrorCode::kUnwritable:
      return "unwritable";
    case ErrorCode::kCorrupt:
      return "corrupt";
    case ErrorCode::kMismatch:
      return "mismatch";
    case ErrorCode::kUnsupported:
      return "unsupported";
    case ErrorCode::kDoesNotFit:
      return "does_not_fit";
    case ErrorCode::kEngineFailed:
      return "engine_failed";
    case ErrorCode::kInternal:
      return "internal";
    case ErrorCode::kKvCacheFull:
      return "kv_cache_full";
    case ErrorCode::kTimeout:
      return "timeout";
    case ErrorCode::kCancelled:
      return "cancelled";
  }
  return "internal";
}

int exit_code(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::kInvalidArgument:
      return 2;
    case ErrorCode::kUnreadable:
    case ErrorCode::kUnwritable:
    case ErrorCode::kCorrupt:
    case ErrorCode::kMismatch:
    case ErrorCode::kUnsupported:
      return 3;
    case ErrorCode::kDoesNotFit:
      return 4;
    case ErrorCode::kEngineFailed:
      return 5;
    case ErrorCode::kInternal:
      return 70;
    case ErrorCode::kKvCacheFull:
    case ErrorCode::kTimeout:
    case ErrorCode::kCancelled:
      return 1;
  }
  return 70;
}

}  // namespace swarmkv
