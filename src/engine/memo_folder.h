// Small things that took long to find out, kept on disk for the next process.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace swarmkv::internal {

/// One small file for each key, of the 64 that were written last. Whatever goes wrong here means
/// that nothing is found and nothing else. Thread-safe, and any number of processes may use one
/// folder.
class MemoFolder {
 public:
  /// An empty folder: nothing is found and nothing remembered. It is made when it is needed.
  /// in  kind: the first line of every file, so that files of another format are not taken for ours
  MemoFolder(std::string folder, std::string_view kind);

  /// in  key: everything that what is remembered depends on
  /// out  what was remembered last; the caller checks that it makes sense
  [[nodiscard]] std::optional<std::string> find(std::string_view key) const;

  /// in  text: one line, at most 200 bytes
  void remember(std::string_view key, std::string_view text) const;

 private:
  std::string folder_, head_;
};

}  // namespace swarmkv::internal
