// Fingerprints of model files that this user has had read before, on disk: a start need not read a
// gigabyte to find out what it knew yesterday.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/fingerprint.h"
#include "engine/memo_folder.h"

namespace swarmkv::internal {

/// One entry a model, found by path, size, times, inode and device of all of its parts; a file
/// that was replaced or written to, and be it with size and modification time kept, is another one.
/// Whatever goes wrong here costs reading the model again, and nothing else. Thread-safe, and any
/// number of processes may use one folder.
class FingerprintMemo {
 public:
  /// An empty folder: nothing is found and nothing remembered. It is made when it is needed.
  explicit FingerprintMemo(std::string folder)
      : memo_(std::move(folder), "swarmkv fingerprint 1") {}

  [[nodiscard]] std::optional<std::string> find(const std::vector<ModelFile>& files) const;

  /// A file whose times are younger than two seconds at `now_ns` (since 1970) is not remembered: it
  /// could be written to once more and keep them.
  void remember(const std::vector<ModelFile>& files, const std::string& fingerprint,
                std::int64_t now_ns) const;

 private:
  MemoFolder memo_;
};

}  // namespace swarmkv::internal
