// A file's whole name from its beginning.
#include <fmt/format.h>

#include <algorithm>

#include "snapshot/shown.h"
#include "snapshot/snapshot_folder.h"

namespace swarmkv::internal {
namespace {

constexpr std::size_t kMostCandidates = 20;

// NAME.damaged begins as the NAME that took its place: who means it says all of it.
void drop_twins(std::vector<std::string>& names) {
  const std::vector<std::string> all = names;
  std::erase_if(names, [&](const std::string& name) {
    if (kind_of_name(name) != NameKind::kDamaged) return false;
    const std::string twin = name.substr(0, name.size() - kDamagedSuffix.size());
    return std::find(all.begin(), all.end(), twin) != all.end();
  });
}

// Whole and a line each, to be copied.
std::string candidates_text(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostCandidates); ++i) {
    out += "\n   " + shown(names[i], names[i].size());
  }
  if (names.size() > kMostCandidates) {
    out += fmt::format("\n   and {} more", names.size() - kMostCandidates);
  }
  return out;
}

}  // namespace

std::string SnapshotFolder::full_name(const std::string& name) const {
  check_snapshot_name(name);
  std::vector<std::string> found;
  for (std::string& other : folder_.names()) {
    if (!is_listed_name(other)) continue;
    if (other == name) return name;
    if (other.starts_with(name)) found.push_back(std::move(other));
  }
  drop_twins(found);
  if (found.size() == 1) return found.front();
  std::sort(found.begin(), found.end());
  throw Error(
      ErrorCode::kUnreadable,
      found.empty()
          ? fmt::format("[snapshot.name] no snapshot '{}' in '{}'; 'swarmkv snapshot list' shows "
                        "the beginnings of names",
                        shown(name), path())
          : fmt::format("[snapshot.name] {} snapshots begin with '{}':{}", found.size(),
                        shown(name), candidates_text(found)));
}

}  // namespace swarmkv::internal
