// Like a full disk, but for this process alone; and the signal that comes with it ends programs.
#pragma once

#include <sys/resource.h>

namespace swarmkv::testing {

class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit low{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &low);
  }
  ~FileSizeLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;

 private:
  rlimit before_{};
};

}  // namespace swarmkv::testing
