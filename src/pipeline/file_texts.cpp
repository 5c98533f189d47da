#include "pipeline/file_texts.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "fmt/format.h"
#include "pipeline/missing_file.h"
#include "pipeline/yaml_reader.h"
#include "swarmkv/error.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw Error(ErrorCode::kUnreadable, fmt::format("[pipeline.file] '{}' {}", path, why));
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

// Where the file really is, or an error if that is not below `folder`.
fs::path place_below(const std::string& folder, const std::string& path) {
  const fs::path given(path);
  if (path.empty()) refuse(path, "names no file");
  if (path.find('\0') != std::string::npos) refuse(path, "has a NUL in its name");
  if (given.is_absolute())
    refuse(path, "is absolute; file:// starts at the pipeline's folder: write file://NAME");
  std::error_code error;
  const fs::path root = fs::canonical(folder.empty() ? "." : folder, error);
  if (error) refuse(path, "is in a folder that cannot be read: " + error.message());
  fs::path place = fs::canonical(root / given, error);
  if (error) {
    const fs::path normal = given.lexically_normal();
    if (!normal.empty() && *normal.begin() == "..") refuse(path, "leaves the pipeline's folder");
    if (error == std::errc::no_such_file_or_directory) {
      const FileProblem missing = missing_file((root / given).string());
      refuse(path, "cannot be read: " + missing.problem +
                       (missing.hint.empty() ? "" : "; " + missing.hint));
    }
    refuse(path, "cannot be read: " + error.message());
  }
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), place.begin(), place.end());
  if (end != root.end()) refuse(path, "leaves the pipeline's folder");
  return place;
}

}  // namespace

std::string read_file_below(const std::string& folder, const std::string& path) {
  const fs::path place = place_below(folder, path);
  // A pipe would block the open, and a link that somebody puts there now would lead elsewhere.
  const Descriptor file(::open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat about {};
  if (file.get() < 0 || ::fstat(file.get(), &about) != 0) {
    refuse(path, std::string("cannot be read: ") + std::strerror(errno));
  }
  if (!S_ISREG(about.st_mode)) refuse(path, "is not a regular file");
  std::string text;
  std::array<char, 65536> buffer{};
  for (;;) {
    const ssize_t n = ::read(file.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) refuse(path, std::string("cannot be read: ") + std::strerror(errno));
    if (n == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(n));
    if (text.size() > kMaxFileBytes) {
      refuse(path, fmt::format("is larger than {} bytes", kMaxFileBytes));
    }
  }
}

FileTexts::Found FileTexts::find(const std::string& path) {
  Found found = read(path);
  n_bytes_ += found.text.size();
  if (n_bytes_ <= kMaxExpandedBytes) return found;
  return {
      {},
      fmt::format("the texts from files have more than {} MiB in all", kMaxExpandedBytes >> 20)};
}

std::vector<std::string> FileTexts::paths() const {
  std::vector<std::string> result;
  for (const auto& [path, text] : texts_) result.push_back(path);
  return result;
}

FileTexts::Found FileTexts::read(const std::string& path) {
  if (const auto known = texts_.find(path); known != texts_.end()) return {known->second, ""};
  if (const auto known = problems_.find(path); known != problems_.end()) return {{}, known->second};
  std::string problem;
  std::string text;
  try {
    if (!read_) throw Error(ErrorCode::kUnreadable, "no files are read here");
    text = read_(path);
    const ByteProblems bytes = find_problem_bytes(text);
    if (text.size() > kMaxFileBytes) {
      problem = fmt::format("'{}' is larger than {} bytes", path, kMaxFileBytes);
    } else if (bytes.any()) {
      problem =
          fmt::format("'{}' is not text: {} at byte {}", path,
                      bytes.n_invalid > 0 ? "invalid UTF-8 or NUL" : "NUL", bytes.first_offset);
    }
  } catch (const Error& error) {
    problem = error.what();
    // The operation in front is for programmers; here the place in the file says more.
    if (problem.rfind('[', 0) == 0) problem.erase(0, problem.find("] ") + 2);
  }
  if (!problem.empty()) return {{}, problems_.emplace(path, std::move(problem)).first->second};
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);
  return {texts_.emplace(path, std::move(text)).first->second, ""};
}

}  // namespace swarmkv::internal
