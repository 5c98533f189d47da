// The place of a report: checked before hours of work go by, written whole when they are over.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <string_view>

#include "cli/output.h"

namespace swarmkv::cli {

/// write() on one thread; abandon() from any.
class ReportFile {
 public:
  /// kNamed is for file systems that have no files without a name; it is found out, and here for
  /// tests.
  enum class While { kUnnamed, kNamed };

  /// Finds out whether `path` can be written and leaves nothing there. A pipe or a device is opened
  /// now and stays open: its reader would take a close for the end.
  /// errors  kUnwritable, also for a pipe that nobody reads
  explicit ReportFile(std::string path, While writing = While::kUnnamed);

  /// A name in a folder that is opened anew for each look at it. A link is never followed.
  struct Place {
    std::string path;  ///< for messages
    std::function<File()> open_folder;
    std::string name;
  };
  explicit ReportFile(Place place, While writing = While::kUnnamed);
  ReportFile(const ReportFile&) = delete;
  ReportFile& operator=(const ReportFile&) = delete;
  ~ReportFile();

  /// A file is replaced at once, so that no reader sees half of it, and keeps its mode; a link
  /// stays a link. Whatever fails, nothing else is left in the folder. errors  kUnwritable, also if
  /// the reader of a pipe goes away
  void write(std::string_view text);

  /// For the last moment of a process: removes what is half written. No write() can end after it.
  void abandon() noexcept;

 private:
  void try_out();
  [[nodiscard]] File open_folder() const;
  void replace(std::string_view text);
  File open_temporary(const File& folder);
  void remove_temporary() noexcept;

  Place place_;
  File special_;  ///< a pipe or device; its place is not used
  bool unnamed_;
  std::mutex mutex_;
  std::string temporary_;  ///< that has a name now, in this folder; both change under the mutex
  File temporary_folder_;
};

}  // namespace swarmkv::cli
