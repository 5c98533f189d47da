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

/// Standard input, whole.
/// errors  kUnreadable
std::string read_standard_input();

}  // namespace swarmkv::cli
