// A folder and what lies below it, reached name by name and never through a link. A pipeline may
// come from somebody else, and so may what runs at the same time: a path that was checked may lead
// elsewhere by the time it is opened.
#pragma once

#include <string>
#include <vector>

#include "cli/output.h"

namespace swarmkv::cli {

/// Immutable. Keeps one descriptor open.
class FolderBelow {
 public:
  /// `root` itself may be reached by links.  errors  kUnwritable
  explicit FolderBelow(const std::string& root);

  /// The folder at `names`, one below the other. fd() is negative, and errno set, if there is none,
  /// or a link in its place.
  [[nodiscard]] File open(const std::vector<std::string>& names) const {
    return walk(names, false);
  }
  /// The same; those that are missing are made.
  [[nodiscard]] File make(const std::vector<std::string>& names) const { return walk(names, true); }

 private:
  [[nodiscard]] File walk(const std::vector<std::string>& names, bool make) const;

  File root_;
};

}  // namespace swarmkv::cli
