#include <fmt/format.h>

#include <algorithm>

#include "base/digest.h"
#include "snapshot/digest_bytes.h"
#include "snapshot/evict.h"
#include "snapshot/snapshot_folder.h"
#include "snapshot/temporary_file.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

// True if the file of that name holds just this, whole. Anything else is written over.
bool is_there(const OpenFolder& folder, const std::string& name, const SnapshotAbout& about,
              std::span<const std::int32_t> tokens) {
  if (!folder.exists(name)) return false;
  try {
    const SnapshotFile file(folder.open(name), folder.path_of(name));
    const auto stored = file.tokens();
    if (file.header().about.identity != about.identity ||
        file.header().about.arithmetic != about.arithmetic ||
        !std::equal(stored.begin(), stored.end(), tokens.begin(), tokens.end())) {
      return false;
    }
    file.verify();
    file.touch();
    return true;
  } catch (const Error&) {
    return false;
  }
}

// errors  kUnwritable
Eviction make_room(const OpenFolder& folder, std::uint64_t limit_bytes) {
  try {
    return evict_down_to(folder, limit_bytes);
  } catch (const Error& error) {  // somebody who saves is told that he cannot
    throw Error(ErrorCode::kUnwritable, error.what());
  }
}

[[noreturn]] void does_not_fit(std::uint64_t size_bytes, std::uint64_t limit_bytes,
                               std::uint64_t in_use_bytes) {
  std::string text =
      fmt::format("[snapshot.save] too large: {} bytes, the limit of all snapshots is {}",
                  size_bytes, limit_bytes);
  if (in_use_bytes > 0) text += fmt::format(", and files of {} bytes are in use", in_use_bytes);
  throw Error(ErrorCode::kDoesNotFit, text);
}

}  // namespace

SavedSnapshot SnapshotFolder::save(const SnapshotAbout& about, std::span<const std::int32_t> tokens,
                                   std::span<const std::uint8_t> state,
                                   const SaveOptions& options) const {
  SavedSnapshot out;
  out.name = snapshot_name(about, digest128(bytes_of(tokens)), tokens.size());
  out.path = folder_.path_of(out.name);
  out.size_bytes = snapshot_file_bytes(about, tokens.size(), state.size());
  if (out.size_bytes > options.limit_bytes) does_not_fit(out.size_bytes, options.limit_bytes, 0);
  const auto note = [&](const Eviction& eviction) {
    for (const FolderEntry& entry : eviction.removed) out.evicted.push_back(entry.name);
  };

  folder_.remove_leftovers();
  if (is_there(folder_, out.name, about, tokens)) {
    out.was_there = true;
    note(make_room(folder_, options.limit_bytes));
    return out;
  }
  const std::vector<std::uint8_t> head =
      encode_snapshot_head(about, tokens, state.size(), digest_of(state));
  const Eviction before = make_room(folder_, options.limit_bytes - out.size_bytes);
  note(before);
  if (before.bytes_left > options.limit_bytes - out.size_bytes) {
    does_not_fit(out.size_bytes, options.limit_bytes, before.bytes_in_use);
  }
  TemporaryFile file(folder_);
  file.write(head, options.cancelled);
  file.write(state, options.cancelled);
  file.commit(out.name);
  try {
    note(evict_down_to(folder_, options.limit_bytes));  // others saved at the same time
  } catch (const Error&) {  // the file is there; whoever saves next makes room
  }
  return out;
}

}  // namespace swarmkv::internal
