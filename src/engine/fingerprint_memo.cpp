#include "engine/fingerprint_memo.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace swarmkv::internal {
namespace {

constexpr std::int64_t kTooYoungNs = 2'000'000'000;

std::string key_of(const std::vector<ModelFile>& files) {
  std::string all;
  for (const ModelFile& f : files) {
    all += fmt::format("{}:{}|{}|{}|{}|{}|{}\n", f.path.size(), f.path, f.size_bytes, f.mtime_ns,
                       f.ctime_ns, f.inode, f.device);
  }
  return all;
}

// 32 hex digits, a dash, and the bytes of these very files.
bool is_plausible(std::string_view text, const std::vector<ModelFile>& files) {
  std::uint64_t size_bytes = 0;
  for (const ModelFile& file : files) size_bytes += file.size_bytes;
  const std::string end = fmt::format("-{}", size_bytes);
  return text.size() == 32 + end.size() && text.ends_with(end) &&
         text.find_first_not_of("0123456789abcdef") == 32;
}

}  // namespace

std::optional<std::string> FingerprintMemo::find(const std::vector<ModelFile>& files) const {
  std::optional<std::string> text = memo_.find(key_of(files));
  if (text && !is_plausible(*text, files)) text.reset();
  return text;
}

void FingerprintMemo::remember(const std::vector<ModelFile>& files, const std::string& fingerprint,
                               std::int64_t now_ns) const {
  for (const ModelFile& file : files) {
    if (std::max(file.mtime_ns, file.ctime_ns) > now_ns - kTooYoungNs) return;
  }
  memo_.remember(key_of(files), fingerprint);
}

}  // namespace swarmkv::internal
