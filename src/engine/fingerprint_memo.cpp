#include "engine/fingerprint_memo.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/digest.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHead = "swarmkv fingerprint 1\n";
constexpr std::int64_t kTooYoungNs = 2'000'000'000;
constexpr std::size_t kMostFiles = 64;

std::string name_of(const std::vector<ModelFile>& files) {
  std::string all;
  for (const ModelFile& f : files) {
    all += fmt::format("{}:{}|{}|{}|{}|{}|{}\n", f.path.size(), f.path, f.size_bytes, f.mtime_ns,
                       f.ctime_ns, f.inode, f.device);
  }
  return digest128(all);
}

// 32 hex digits, a dash, and the bytes of these very files.
bool is_plausible(std::string_view text, const std::vector<ModelFile>& files) {
  std::uint64_t size_bytes = 0;
  for (const ModelFile& file : files) size_bytes += file.size_bytes;
  const std::string end = fmt::format("-{}", size_bytes);
  return text.size() == 32 + end.size() && text.ends_with(end) &&
         text.find_first_not_of("0123456789abcdef") == 32;
}

// Models come and go; what was not used for longest goes first.
void forget_oldest(const fs::path& folder) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> all;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::error_code none;
    all.emplace_back(it->last_write_time(none), it->path());
  }
  if (all.size() <= kMostFiles) return;
  std::sort(all.begin(), all.end());
  for (std::size_t i = 0; i + kMostFiles < all.size(); ++i) fs::remove(all[i].second, error);
}

}  // namespace

std::optional<std::string> FingerprintMemo::find(const std::vector<ModelFile>& files) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream in(fs::path(folder_) / name_of(files), std::ios::binary);
  char bytes[256];
  in.read(bytes, sizeof bytes);
  std::string_view text(bytes, static_cast<std::size_t>(in.gcount()));
  if (!text.starts_with(kHead) || !text.ends_with('\n')) return std::nullopt;
  text.remove_prefix(kHead.size());
  text.remove_suffix(1);
  if (!is_plausible(text, files)) return std::nullopt;
  return std::string(text);
}

// Written under a name of its own and renamed, so that nobody reads half of it.
void FingerprintMemo::remember(const std::vector<ModelFile>& files, const std::string& fingerprint,
                               std::int64_t now_ns) const {
  if (folder_.empty()) return;
  for (const ModelFile& file : files) {
    if (std::max(file.mtime_ns, file.ctime_ns) > now_ns - kTooYoungNs) return;
  }
  static std::atomic<unsigned> n_writes{0};
  const fs::path folder(folder_);
  const fs::path temporary =
      folder / fmt::format("{}.{}.{}", name_of(files), ::getpid(), n_writes++);
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream out(temporary, std::ios::binary);
  out << kHead << fingerprint << '\n';
  out.close();
  if (out.good()) fs::rename(temporary, folder / name_of(files), error);
  if (!out.good() || error) fs::remove(temporary, error);
  forget_oldest(folder);
}

}  // namespace swarmkv::internal
