// The place of a report: checked before hours of work go by, written whole when they are over.
#pragma once

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
  void replace(std::string_view text);
  File open_temporary();
  void remove_temporary() noexcept;

  const std::string path_;  ///< as it was given, for messages
  std::string target_;      ///< what a link points at; empty for a pipe or device
  File special_;
  bool unnamed_;
  std::mutex mutex_;
  std::string temporary_;  ///< that has a name now; changed under the mutex
};

}  // namespace swarmkv::cli
