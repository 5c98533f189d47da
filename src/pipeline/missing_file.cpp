#include "pipeline/missing_file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <optional>
#include <system_error>
#include <vector>

#include "fmt/format.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

// Pipelines, models and snapshots are no documents and no prompts.
bool is_of_another_kind(const fs::path& found, const fs::path& wanted) {
  const std::string kind = found.extension().string();
  const bool is_ours = kind == ".yaml" || kind == ".yml" || kind == ".gguf" || kind == ".swkv";
  return is_ours && kind != wanted.extension().string();
}

// The name in `folder` that `name` was probably meant to be; "" if there is none.
std::string near_name(const fs::path& folder, const std::string& name, bool wants_folder) {
  constexpr std::size_t kMostNames = 10'000;
  std::error_code error;
  std::vector<std::string> names;
  std::string same_stem;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_directory(ignored) != wants_folder) continue;
    if (!wants_folder && is_of_another_kind(entry->path(), name)) continue;
    if (entry->path().filename() == name) continue;  // a link that leads nowhere
    names.push_back(entry->path().filename().string());
    if (fs::path(names.back()).stem() == fs::path(name).stem() &&
        (same_stem.empty() || names.back() < same_stem)) {
      same_stem = names.back();
    }
    if (names.size() >= kMostNames) break;
  }
  if (!same_stem.empty()) return same_stem;
  // Folders are listed in no order; of equally near names the first is taken.
  std::sort(names.begin(), names.end());
  return nearest_name(name, names).value_or("");
}

}  // namespace

FileProblem missing_file(const std::string& path) {
  std::error_code error;
  const fs::path whole = fs::absolute(path, error).lexically_normal();
  const fs::path relative = whole.relative_path();
  fs::path folder = whole.root_path();
  for (auto part = relative.begin(); part != relative.end(); ++part) {
    const std::string name = part->string();
    if (fs::exists(folder / *part, error)) {
      folder /= *part;
      continue;
    }
    const bool is_file = std::next(part) == relative.end();
    const std::string where = sanitize_utf8(folder.string());
    if (!fs::is_directory(folder, error)) return {"'" + where + "' is no folder", ""};
    if (fs::is_symlink(fs::symlink_status(folder / *part, error))) {
      return {fmt::format("'{}' in {} is a link to what is not there", sanitize_utf8(name), where),
              ""};
    }
    const std::string near = near_name(folder, name, !is_file);
    return {is_file ? "no such file in " + where
                    : fmt::format("no folder '{}' in {}", sanitize_utf8(name), where),
            near.empty() ? "" : "did you mean '" + sanitize_utf8(near) + "'?"};
  }
  return {"no such file", ""};
}

}  // namespace swarmkv::internal
