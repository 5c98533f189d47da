// The texts that a pipeline takes from other files (file://), read once and bounded.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

class FileTexts {
 public:
  /// `read` may be empty: then there are no files.
  explicit FileTexts(FileReader read) : read_(std::move(read)) {}

  struct Found {
    std::string_view text;  ///< valid as long as this object
    std::string problem;    ///< empty if it was read
  };
  /// At most kMaxFileBytes of UTF-8 without NUL; what is handed out in all is bounded, too.
  Found find(const std::string& path);

  /// Of all files that were read.
  [[nodiscard]] std::vector<std::string> paths() const;

 private:
  Found read(const std::string& path);

  FileReader read_;
  std::map<std::string, std::string> texts_;
  std::map<std::string, std::string> problems_;
  std::size_t n_bytes_ = 0;
};

/// Reads a file for file://: `path` must be relative and lead to a regular file below `folder`,
/// symbolic links resolved. At most kMaxFileBytes.
/// errors  kUnreadable
std::string read_file_below(const std::string& folder, const std::string& path);

}  // namespace swarmkv::internal
