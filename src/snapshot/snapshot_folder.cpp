#include "snapshot/snapshot_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "snapshot/evict.h"
#include "snapshot/shown.h"
#include "snapshot/snapshot_error.h"

namespace swarmkv::internal {
namespace {

ListedSnapshot listed(const OpenFolder& folder, const FolderEntry& entry) {
  ListedSnapshot out{.name = entry.name,
                     .path = folder.path_of(entry.name),
                     .size_bytes = entry.size_bytes,
                     .last_used_ns = entry.last_used_ns};
  if (entry.kind == NameKind::kDamaged) {
    out.problem = "was found damaged and set aside";
    return out;
  }
  if (entry.kind == NameKind::kTemporary) {
    out.problem = "left over by a writer that ended early";
    return out;
  }
  try {
    const FileHandle file = folder.open(entry.name);
    out.in_use = !lock_alone(file);
    unlock(file);
    out.header = read_snapshot_header(file, out.path);
  } catch (const SnapshotError& error) {
    out.code = error.code();
    out.problem = error.text();
  }
  return out;
}

}  // namespace

SnapshotFolder::SnapshotFolder(const std::string& path, const SystemCalls& calls)
    : folder_(path, calls) {
  folder_.remove_leftovers();
}

std::vector<ListedSnapshot> SnapshotFolder::list() const {
  std::vector<ListedSnapshot> out;
  for (const FolderEntry& entry : folder_.entries()) {
    if (is_listed_name(entry.name)) out.push_back(listed(folder_, entry));
  }
  std::sort(out.begin(), out.end(), [](const ListedSnapshot& a, const ListedSnapshot& b) {
    if (a.last_used_ns != b.last_used_ns) return a.last_used_ns > b.last_used_ns;
    return a.name < b.name;
  });
  return out;
}

ListedSnapshot SnapshotFolder::look_at(const std::string& name) const {
  check_snapshot_name(name);
  const auto entry = folder_.entry(name);
  if (!entry || !is_listed_name(name)) {
    throw Error(ErrorCode::kUnreadable,
                fmt::format("[snapshot.name] no snapshot '{}' in '{}'", shown(name), path()));
  }
  return listed(folder_, *entry);
}

std::string SnapshotFolder::find_damage(const std::string& name) const {
  check_snapshot_name(name);
  return internal::find_damage(folder_.open(name), folder_.path_of(name));
}

SnapshotFile SnapshotFolder::open(const std::string& name) const {
  check_snapshot_name(name);
  return SnapshotFile(folder_.open(name), folder_.path_of(name));
}

void SnapshotFolder::remove(const std::string& name) const {
  check_snapshot_name(name);
  const auto fail = [&](ErrorCode code, const std::string& why) {
    throw Error(code, fmt::format("[snapshot.remove] '{}': {}", folder_.path_of(name), why));
  };
  if (!is_listed_name(name)) fail(ErrorCode::kUnreadable, "is no snapshot");
  switch (folder_.remove_unused(name)) {
    case Removed::kYes:
      return;
    case Removed::kGone:
      return fail(ErrorCode::kUnreadable, "no such snapshot");
    case Removed::kInUse:
      return fail(ErrorCode::kUnwritable, "in use by some process; try again when it has ended");
    case Removed::kNo:
      return fail(ErrorCode::kUnwritable, error_text(errno));
  }
}

std::vector<ListedSnapshot> SnapshotFolder::prune(std::uint64_t limit_bytes) const {
  std::vector<ListedSnapshot> out;
  for (const FolderEntry& entry : folder_.remove_leftovers()) {
    out.push_back(listed(folder_, entry));
  }
  const std::vector<ListedSnapshot> before = list();
  for (const ListedSnapshot& file : before) {
    if (!file.is_damaged()) continue;
    if (folder_.remove_unused(file.name) == Removed::kYes) out.push_back(file);
  }
  for (const FolderEntry& entry : evict_down_to(folder_, limit_bytes).removed) {
    const auto known = std::find_if(before.begin(), before.end(), [&](const ListedSnapshot& file) {
      return file.name == entry.name;
    });
    out.push_back(known != before.end()
                      ? *known
                      : ListedSnapshot{.name = entry.name, .size_bytes = entry.size_bytes});
  }
  return out;
}

}  // namespace swarmkv::internal
