#include "snapshot/open_folder.h"

#include <dirent.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "snapshot/shown.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

[[noreturn]] void unusable(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kUnwritable, fmt::format("[snapshot.folder] '{}': {}", shown(path), why));
}

struct CloseStream {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

void make_folders(const std::string& path, const SystemCalls& calls) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    // What is there already may be a link or read-only: opening it will tell.
    if (calls.make_folder(part.c_str(), 0700) != 0 && errno != EEXIST && end == std::string::npos) {
      const int error = errno;
      struct stat about {};
      if (calls.stat_at(AT_FDCWD, part.c_str(), &about) != 0) {
        unusable(path, "cannot be made: " + error_text(error));
      }
    }
    if (end == std::string::npos) return;
  }
}

FileHandle open_folder(const std::string& path, const SystemCalls& calls) {
  struct stat about {};
  if (calls.stat_at(AT_FDCWD, path.c_str(), &about) == 0 && S_ISLNK(about.st_mode)) {
    unusable(path, "is a link; name the folder itself");
  }
  FileHandle folder(
      calls.open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0),
      calls);
  if (!folder.is_open()) unusable(path, "cannot be opened: " + error_text(errno));
  if (calls.stat_of(folder.fd(), &about) != 0) unusable(path, error_text(errno));
  if (about.st_uid != ::geteuid()) {
    unusable(path,
             fmt::format("belongs to user {}, this process to user {}", about.st_uid, ::geteuid()));
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    unusable(path, fmt::format("others can write in it (mode {:o}): take that away with chmod go-w "
                               "'{}'",
                               about.st_mode & 07777, path));
  }
  return folder;
}

std::string without_slashes_at_the_end(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();  // "link/" would be followed
  return path;
}

}  // namespace

OpenFolder::OpenFolder(const std::string& path, const SystemCalls& calls)
    : calls_(&calls), path_(without_slashes_at_the_end(path)) {
  if (path_.empty() || path_.find('\0') != std::string::npos) unusable(path_, "is no path");
  make_folders(path_, calls);
  folder_ = open_folder(path_, calls);
}

std::vector<std::string> OpenFolder::names() const {
  const auto unreadable = [&](int error) {
    throw Error(ErrorCode::kUnreadable,
                fmt::format("[snapshot.folder] '{}': {}", path_, error_text(error)));
  };
  const int fd = calls_->open_at(folder_.fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) unreadable(errno);
  const std::unique_ptr<DIR, CloseStream> stream(::fdopendir(fd));
  if (!stream) {
    const int error = errno;
    ::close(fd);
    unreadable(error);
  }
  std::vector<std::string> out;
  errno = 0;
  while (const dirent* item = ::readdir(stream.get())) {
    if (kind_of_name(item->d_name) != NameKind::kOther) out.emplace_back(item->d_name);
    errno = 0;
  }
  if (errno != 0) unreadable(errno);
  return out;
}

std::vector<FolderEntry> OpenFolder::entries() const {
  std::vector<FolderEntry> out;
  for (const std::string& name : names()) {
    if (auto found = entry(name)) out.push_back(std::move(*found));
  }
  return out;
}

std::optional<FolderEntry> OpenFolder::entry(const std::string& name) const {
  struct stat about {};
  if (calls_->stat_at(folder_.fd(), name.c_str(), &about) != 0) return std::nullopt;
  return FolderEntry{
      .name = name,
      .kind = kind_of_name(name),
      .size_bytes = static_cast<std::uint64_t>(about.st_size),
      .last_used_ns = about.st_mtim.tv_sec * std::int64_t{1'000'000'000} + about.st_mtim.tv_nsec};
}

FileHandle OpenFolder::open(const std::string& name) const {
  return open_regular(folder_.fd(), name, false, path_of(name), *calls_);
}

Removed OpenFolder::remove_unused(const std::string& name) const noexcept {
  struct stat named {};
  if (calls_->stat_at(folder_.fd(), name.c_str(), &named) != 0) {
    return errno == ENOENT ? Removed::kGone : Removed::kNo;
  }
  FileHandle file;
  if (S_ISREG(named.st_mode)) {
    file = FileHandle(calls_->open_at(folder_.fd(), name.c_str(),
                                      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0),
                      *calls_);
    if (!file.is_open()) return errno == ENOENT ? Removed::kGone : Removed::kNo;
    if (!lock_alone(file)) return Removed::kInUse;
    // Between the two looks another writer may have put a new file under this name.
    struct stat opened {};
    if (calls_->stat_of(file.fd(), &opened) != 0) return Removed::kNo;
    if (calls_->stat_at(folder_.fd(), name.c_str(), &named) != 0) return Removed::kGone;
    if (opened.st_ino != named.st_ino || opened.st_dev != named.st_dev) return Removed::kInUse;
  }
  if (calls_->unlink_at(folder_.fd(), name.c_str()) == 0) return Removed::kYes;
  return errno == ENOENT ? Removed::kGone : Removed::kNo;
}

std::vector<FolderEntry> OpenFolder::remove_leftovers() const noexcept {
  std::vector<FolderEntry> out;
  try {
    for (const std::string& name : names()) {
      if (kind_of_name(name) != NameKind::kTemporary) continue;
      auto found = entry(name);
      if (found && remove_unused(name) == Removed::kYes) out.push_back(std::move(*found));
    }
  } catch (...) {  // they take room, and nothing else: the next one tries again
  }
  return out;
}

}  // namespace swarmkv::internal
