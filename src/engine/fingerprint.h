// What identifies a model: the content of its files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/gguf.h"

namespace swarmkv::internal {

/// A file as it was when it was looked at: replaced or written to, it differs.
struct ModelFile {
  std::string path;
  std::uint64_t device = 0, inode = 0, size_bytes = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;  ///< shows a change by somebody who kept size and modification time

  friend auto operator<=>(const ModelFile&, const ModelFile&) = default;
};

/// The file that `info` was read from and, of a split model, the parts that follow it.
/// errors  kUnreadable  one of them is missing
[[nodiscard]] std::vector<ModelFile> model_files(const GgufInfo& info);

/// xxh3-128 over the content of the files, a dash, and their bytes in all. Reads them once and
/// remembers the answer for the life of the process, and for others in `fingerprints` of the cache
/// folder. Thread-safe.
/// errors  kUnreadable  a file is gone or has changed since model_files
[[nodiscard]] std::string fingerprint(const std::vector<ModelFile>& files);

}  // namespace swarmkv::internal
