#include "snapshot/evict.h"

#include <algorithm>
#include <tuple>

namespace swarmkv::internal {

Eviction evict_down_to(const OpenFolder& folder, std::uint64_t limit_bytes) {
  Eviction out;
  if (limit_bytes == UINT64_MAX) return out;  // no limit: no need to look
  std::vector<FolderEntry> entries = folder.entries();
  std::erase_if(entries, [](const FolderEntry& e) { return e.kind == NameKind::kTemporary; });
  std::sort(entries.begin(), entries.end(), [](const FolderEntry& a, const FolderEntry& b) {
    const auto rank = [](const FolderEntry& e) {
      return std::tuple<bool, std::int64_t, const std::string&>(e.kind != NameKind::kDamaged,
                                                                e.last_used_ns, e.name);
    };
    return rank(a) < rank(b);
  });

  for (const FolderEntry& entry : entries) out.bytes_left += entry.size_bytes;
  for (FolderEntry& entry : entries) {
    if (out.bytes_left <= limit_bytes) break;
    const Removed removed = folder.remove_unused(entry.name);
    if (removed == Removed::kYes || removed == Removed::kGone) out.bytes_left -= entry.size_bytes;
    if (removed == Removed::kInUse) out.bytes_in_use += entry.size_bytes;
    if (removed == Removed::kYes) out.removed.push_back(std::move(entry));
  }
  return out;
}

}  // namespace swarmkv::internal
