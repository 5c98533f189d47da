#include "cli/folder_below.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

namespace swarmkv::cli {
namespace {

// A place to go on from; it is not read.
constexpr int kStep = O_PATH | O_DIRECTORY | O_CLOEXEC;

}  // namespace

FolderBelow::FolderBelow(const std::string& root) : root_(root.empty() ? "." : root, kStep) {
  if (root_.fd() < 0) cannot_write(root, errno);
}

File FolderBelow::walk(const std::vector<std::string>& names, bool make) const {
  File at(::openat(root_.fd(), ".", kStep));
  for (const std::string& name : names) {
    if (at.fd() < 0) return at;
    if (make && ::mkdirat(at.fd(), name.c_str(), 0777) != 0 && errno != EEXIST) return File();
    File next(::openat(at.fd(), name.c_str(), kStep | O_NOFOLLOW));
    at = std::move(next);
  }
  return at;
}

}  // namespace swarmkv::cli
