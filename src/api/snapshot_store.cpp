#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <utility>

#include "base/cache_folder.h"
#include "snapshot/layout.h"
#include "snapshot/snapshot_error.h"
#include "snapshot/snapshot_folder.h"
#include "swarmkv/snapshot.h"

namespace swarmkv {
namespace {

// "2026-11-30T10:15:00Z"; years that no file was made in stay numbers.
std::string utc(std::int64_t seconds) {
  const std::time_t time = seconds;
  std::tm parts{};
  if (::gmtime_r(&time, &parts) == nullptr) return fmt::format("{} s since 1970", seconds);
  std::array<char, 64> text{};
  const std::size_t n = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), n};
}

SnapshotInfo info_of(const internal::SnapshotHeader& header) {
  const internal::SnapshotAbout& about = header.about;
  SnapshotInfo out;
  out.format_version = static_cast<int>(header.format_version);
  out.model_name = about.model_name;
  out.model_fingerprint = about.identity.model_fingerprint;
  out.arch = about.identity.arch;
  out.cache_type_k = about.identity.cache_type_k;
  out.cache_type_v = about.identity.cache_type_v;
  out.engine = about.identity.engine;
  out.document = about.document;
  out.n_tokens = static_cast<int>(header.n_tokens);
  out.token_digest = header.token_digest;
  out.deterministic = about.arithmetic.deterministic;
  out.size_bytes = header.file_bytes;
  out.state_bytes = header.state_bytes;
  out.created_at = utc(about.created_at_s);
  return out;
}

SnapshotInfo info_of(const internal::ListedSnapshot& listed) {
  SnapshotInfo out = listed.header ? info_of(*listed.header) : SnapshotInfo{};
  out.name = listed.name;
  out.path = listed.path;
  out.size_bytes = listed.size_bytes;
  out.last_used_at = utc(listed.last_used_ns / 1'000'000'000);
  out.in_use = listed.in_use;
  out.problem = listed.problem;
  out.damaged = listed.is_damaged();
  return out;
}

std::string base_name(const std::string& path) { return path.substr(path.find_last_of('/') + 1); }

// The engine looks at a state's numbers, too, and no checksum tells about those.
std::string set_aside_text(const std::string& damage) {
  return damage.empty() ? "was set aside: its bytes are whole, but no state that the engine takes"
                        : "was found damaged and set aside: " + damage;
}

bool is_set_aside(const std::string& path) {
  return internal::kind_of_name(base_name(path)) == internal::NameKind::kDamaged;
}

SnapshotInfo info_of_set_aside(const std::string& path) {
  const internal::SystemCalls& calls = internal::system_calls();
  auto file = internal::open_regular(AT_FDCWD, path, true, path, calls);
  SnapshotInfo out;
  try {
    out = info_of(internal::read_snapshot_header(file, path));
  } catch (const internal::SnapshotError&) {  // find_damage tells of it
  }
  out.damaged = true;
  out.problem = set_aside_text(internal::find_damage(std::move(file), path));
  return out;
}

std::vector<SnapshotInfo> infos_of(const std::vector<internal::ListedSnapshot>& all) {
  std::vector<SnapshotInfo> out;
  out.reserve(all.size());
  for (const internal::ListedSnapshot& listed : all) out.push_back(info_of(listed));
  return out;
}

}  // namespace

struct SnapshotStore::Impl {
  internal::SnapshotFolder folder;
};

SnapshotStore::SnapshotStore(const std::string& folder)
    : impl_(std::make_unique<Impl>(
          Impl{internal::SnapshotFolder(folder.empty() ? default_folder() : folder)})) {}
SnapshotStore::SnapshotStore(SnapshotStore&&) noexcept = default;
SnapshotStore& SnapshotStore::operator=(SnapshotStore&&) noexcept = default;
SnapshotStore::~SnapshotStore() = default;

std::string SnapshotStore::default_folder() {
  const std::string cache = internal::cache_folder();
  if (cache.empty()) {
    throw Error(ErrorCode::kUnwritable,
                "[snapshot.folder] none of SWARMKV_CACHE, XDG_CACHE_HOME and HOME is set: name a "
                "folder");
  }
  return cache + "/snapshots";
}

const std::string& SnapshotStore::folder() const { return impl_->folder.path(); }

std::vector<SnapshotInfo> SnapshotStore::list() const { return infos_of(impl_->folder.list()); }

SnapshotInfo SnapshotStore::show(const std::string& name) const {
  const internal::ListedSnapshot listed = impl_->folder.look_at(impl_->folder.full_name(name));
  if (!listed.problem.empty()) {
    const bool is_aside = internal::kind_of_name(listed.name) == internal::NameKind::kDamaged;
    throw Error(listed.code,
                fmt::format("[snapshot.show] '{}': {}", listed.path,
                            is_aside ? set_aside_text(impl_->folder.find_damage(listed.name))
                                     : listed.problem));
  }
  return info_of(listed);
}

SnapshotInfo SnapshotStore::verify(const std::string& name) const {
  // Asked first: the file is in use while it is verified.
  SnapshotInfo info = show(name);
  impl_->folder.open(info.name).verify();
  return info;
}

SnapshotInfo SnapshotStore::remove(const std::string& name) {
  const std::string full = impl_->folder.full_name(name);
  SnapshotInfo gone = info_of(impl_->folder.look_at(full));
  impl_->folder.remove(full);
  return gone;
}

std::vector<SnapshotInfo> SnapshotStore::prune(std::uint64_t limit_bytes) {
  return infos_of(impl_->folder.prune(limit_bytes));
}

SnapshotInfo inspect_snapshot(const std::string& path) {
  const internal::SystemCalls& calls = internal::system_calls();
  const auto file = internal::open_regular(AT_FDCWD, path, true, path, calls);
  SnapshotInfo out = is_set_aside(path) ? info_of_set_aside(path)
                                        : info_of(internal::read_snapshot_header(file, path));
  out.name = base_name(path);
  out.path = path;
  struct stat about {};
  if (calls.stat_of(file.fd(), &about) == 0) {
    out.size_bytes = static_cast<std::uint64_t>(about.st_size);
    out.last_used_at = utc(about.st_mtim.tv_sec);
  }
  out.in_use = !internal::lock_alone(file);
  return out;
}

bool is_snapshot(const std::string& path) {
  try {
    const internal::SystemCalls& calls = internal::system_calls();
    const auto file = internal::open_regular(AT_FDCWD, path, true, path, calls);
    std::array<std::uint8_t, internal::kSnapshotMagic.size()> first{};
    if (is_set_aside(path)) return true;
    return internal::read_up_to(file, first.data(), first.size(), 0, path) == first.size() &&
           first == internal::kSnapshotMagic;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace swarmkv
