// Standard output and report files: every byte arrives, or the reason is an Error.
#pragma once

#include <string>
#include <string_view>

namespace swarmkv::cli {

/// Writes everything. False if the reader has gone (a closed pipe), which is nobody's mistake.
/// errors  kUnwritable  `name` and the system's reason, for example a full disk
bool write_all(int fd, std::string_view text, const std::string& name);

/// A report's place, checked before hours of work go by. Leaves nothing behind.
/// errors  kUnwritable
void check_writable(const std::string& path);

/// Written under another name and renamed, so that a reader never sees half a file. Devices and
/// pipes are written directly. errors  kUnwritable
void write_file(const std::string& path, std::string_view text);

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
