#include "engine/memo_folder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>
#include <vector>

#include "base/digest.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostFiles = 64;

// Models come and go; what was not written for longest goes first.
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

MemoFolder::MemoFolder(std::string folder, std::string_view kind)
    : folder_(std::move(folder)), head_(std::string(kind) + "\n") {}

std::optional<std::string> MemoFolder::find(std::string_view key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream in(fs::path(folder_) / digest128(key), std::ios::binary);
  char bytes[256];
  in.read(bytes, sizeof bytes);
  std::string_view text(bytes, static_cast<std::size_t>(in.gcount()));
  if (!text.starts_with(head_)) return std::nullopt;
  text.remove_prefix(head_.size());
  if (!text.ends_with('\n')) return std::nullopt;
  text.remove_suffix(1);
  return std::string(text);
}

// Written under a name of its own and renamed, so that nobody reads half of it.
void MemoFolder::remember(std::string_view key, std::string_view text) const {
  if (folder_.empty()) return;
  static std::atomic<unsigned> n_writes{0};
  const fs::path folder(folder_);
  const std::string name = digest128(key);
  const fs::path temporary = folder / fmt::format("{}.{}.{}", name, ::getpid(), n_writes++);
  std::error_code error;
  fs::create_directories(folder, error);
  std::ofstream out(temporary, std::ios::binary);
  out << head_ << text << '\n';
  out.close();
  if (out.good()) fs::rename(temporary, folder / name, error);
  if (!out.good() || error) fs::remove(temporary, error);
  forget_oldest(folder);
}

}  // namespace swarmkv::internal
