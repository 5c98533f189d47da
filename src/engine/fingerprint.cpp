#include "engine/fingerprint.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <map>
#include <optional>

#include "base/cache_folder.h"
#include "base/digest.h"
#include "base/mutex.h"
#include "engine/fingerprint_memo.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// Process-wide because files are: a program that loads a model again need not read it again.
struct Known {
  Mutex mutex;
  std::map<std::vector<ModelFile>, std::string> fingerprints GUARDED_BY(mutex);
};

Known& known() {
  static Known known;
  return known;
}

[[noreturn]] void unreadable(const std::string& path, const std::string& what) {
  throw Error(ErrorCode::kUnreadable, fmt::format("[engine.model_file] '{}': {}", path, what));
}

std::int64_t nanoseconds(const timespec& t) {
  return t.tv_sec * std::int64_t{1'000'000'000} + t.tv_nsec;
}

std::int64_t nanoseconds_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

FingerprintMemo memo_on_disk() {
  const std::string folder = cache_folder();
  return FingerprintMemo(folder.empty() ? "" : folder + "/fingerprints");
}

ModelFile look_at(const std::string& path) {
  struct stat s {};
  if (::stat(path.c_str(), &s) != 0) unreadable(path, std::strerror(errno));
  return {path,
          s.st_dev,
          s.st_ino,
          static_cast<std::uint64_t>(s.st_size),
          nanoseconds(s.st_mtim),
          nanoseconds(s.st_ctim)};
}

void check_unchanged(const ModelFile& file, std::uint64_t n_bytes) {
  if (n_bytes != file.size_bytes || look_at(file.path) != file) {
    unreadable(file.path, "it has changed since it was loaded");
  }
}

void add_content(RunningDigest& digest, const ModelFile& file, std::vector<char>& buffer) {
  std::ifstream in(file.path, std::ios::binary);
  if (!in) unreadable(file.path, "cannot open it");
  std::uint64_t n_read = 0;
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    const auto n = static_cast<std::size_t>(in.gcount());
    digest.add({buffer.data(), n});
    n_read += n;
  }
  // Asked afterwards, so that a change while we were reading shows as well.
  check_unchanged(file, n_read);
}

std::string of_content(const std::vector<ModelFile>& files) {
  RunningDigest digest;
  std::vector<char> buffer(std::size_t{1} << 18);  // stays in the second-level cache
  std::uint64_t size_bytes = 0;
  for (const ModelFile& file : files) {
    add_content(digest, file, buffer);
    size_bytes += file.size_bytes;
  }
  return fmt::format("{}-{}", digest.digest(), size_bytes);
}

}  // namespace

std::vector<ModelFile> model_files(const GgufInfo& info) {
  const auto suffix = [&](int part) {
    return fmt::format("-{:05}-of-{:05}.gguf", part, info.n_parts);
  };
  const std::string first = suffix(1);
  std::vector<ModelFile> files{look_at(info.path)};
  if (info.n_parts < 2 || !info.path.ends_with(first)) return files;
  const std::string stem = info.path.substr(0, info.path.size() - first.size());
  for (int part = 2; part <= info.n_parts; ++part) files.push_back(look_at(stem + suffix(part)));
  return files;
}

std::string fingerprint(const std::vector<ModelFile>& files) {
  Known& k = known();
  {
    const MutexLock lock(k.mutex);
    const auto found = k.fingerprints.find(files);
    if (found != k.fingerprints.end()) return found->second;
  }
  const FingerprintMemo memo = memo_on_disk();
  std::optional<std::string> text = memo.find(files);
  if (text) {
    for (const ModelFile& file : files) check_unchanged(file, file.size_bytes);
  } else {
    text = of_content(files);
    memo.remember(files, *text, nanoseconds_now());
  }
  const MutexLock lock(k.mutex);
  return k.fingerprints.emplace(files, *text).first->second;
}

}  // namespace swarmkv::internal
