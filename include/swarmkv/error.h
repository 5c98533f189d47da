#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "swarmkv/export.h"

namespace swarmkv {

/// What went wrong, in terms of what the caller can do about it.
enum class ErrorCode {
  kInvalidArgument,  ///< the request itself is wrong: fix the flag, file or call
  kUnreadable,       ///< a file cannot be read: check path and permissions
  kUnwritable,       ///< a file cannot be written
  kCorrupt,          ///< a file is damaged or truncated: fetch or create it again
  kMismatch,         ///< two things that must belong together do not
  kUnsupported,      ///< well formed, but this build or model cannot do it
  kDoesNotFit,       ///< needs more context, memory or threads than there are; nothing was run
  kEngineFailed,     ///< the model runtime failed and its context is not usable any more
  kInternal,         ///< a bug of ours
  kKvCacheFull,      ///< inside a run: no free cells, and nothing could be evicted or preempted
  kTimeout,          ///< inside a run: the request's or run's time is over
  kCancelled,        ///< inside a run: cancelled by its owner
};

/// The code's stable lower-case name, for example "does_not_fit".
SWARMKV_API std::string_view to_string(ErrorCode code) noexcept;

/// The exit code the command line maps `code` to (docs/exit_codes in README).
SWARMKV_API int exit_code(ErrorCode code) noexcept;

/// Thrown to callers of the public API. `what()` names the operation in brackets, then what failed
/// and the two values in conflict: "[engine.load] no such file: 'x.gguf'".
class SWARMKV_API Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message);
  ~Error() override;

  [[nodiscard]] ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace swarmkv
