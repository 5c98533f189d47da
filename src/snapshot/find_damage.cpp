#include "base/digest.h"
#include "snapshot/snapshot_error.h"
#include "snapshot/snapshot_file.h"
#include "snapshot/snapshot_name.h"

namespace swarmkv::internal {
namespace {

// What the name says, whether the file was set aside or not; nothing if it says nothing.
std::optional<SnapshotName> said_by(std::string_view path) {
  std::string_view name = path.substr(path.find_last_of('/') + 1);
  if (name.ends_with(kDamagedSuffix)) name.remove_suffix(kDamagedSuffix.size());
  return parse_snapshot_name(name);
}

}  // namespace

std::string find_damage(FileHandle handle, const std::string& path) {
  try {
    const SnapshotFile file(std::move(handle), path);
    const auto name = said_by(path);
    if (name && (name->n_tokens != file.header().n_tokens ||
                 !file.header().token_digest.starts_with(name->token_digest))) {
      return std::string("tokens: ") + kNotAsNamed;
    }
    file.verify();
    return {};
  } catch (const SnapshotError& error) {
    return error.text();
  }
}

}  // namespace swarmkv::internal
