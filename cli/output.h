// Reading and writing descriptors: every byte arrives, or the reason is an Error.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::cli {

/// An open file. Move-only.
class File {
 public:
  File() = default;
  /// `flags` of open(2). fd() is negative, and errno set, if that fails.
  File(const std::string& path, int flags);
  /// Owns what open(2) and the like have answered.
  explicit File(int fd) : fd_(fd) {}
  File(File&& other) noexcept;
  File& operator=(File&& other) noexcept;
  ~File();
  [[nodiscard]] int fd() const { return fd_; }

 private:
  int fd_ = -1;
};

/// errors  kUnwritable  always; `reason` is an errno
[[noreturn]] void cannot_write(const std::string& name, int reason);

/// Writes everything. False if the reader has gone (a closed pipe), which is nobody's mistake.
/// errors  kUnwritable  `name` and the system's reason, for example a full disk
bool write_all(int fd, std::string_view text, const std::string& name);

/// At the end of a file, which is made if it is not there.  errors  kUnwritable
void append_file(const std::string& path, std::string_view text);

/// A file or pipe ("-" = standard input), whole, read once.
/// errors  kUnreadable, also for more than `limit` bytes
std::string read_whole(const std::string& path, std::size_t limit);

/// A pipe or device: what can be read only once.
bool is_special_file(const std::string& path);

/// Both exist and are one regular file, by whatever names.
bool is_same_file(const std::string& a, const std::string& b);

}  // namespace swarmkv::cli
