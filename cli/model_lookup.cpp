#include "cli/model_lookup.h"

#include <filesystem>
#include <system_error>

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultModel = "SmolLM2-135M-Instruct.Q4_1.gguf";

// Empty if neither the cache nor a home is known.
fs::path cache_folder(const Environment& environment) {
  if (const auto cache = environment("SWARMKV_CACHE")) return *cache;
  if (const auto xdg = environment("XDG_CACHE_HOME")) return fs::path(*xdg) / "swarmkv";
  if (const auto home = environment("HOME")) return fs::path(*home) / ".cache" / "swarmkv";
  return {};
}

// The script that fetches the default model, if this program lies in the tree it was built in.
std::string fetch_script() {
  constexpr int kMostFolders = 5;  // build/release/cli, and what others call their build folder
  std::error_code unknown;
  fs::path folder = fs::read_symlink("/proc/self/exe", unknown).parent_path();
  for (int i = 0; i < kMostFolders && folder.has_relative_path(); ++i) {
    const fs::path script = folder / "scripts" / "get-models";
    if (fs::exists(script, unknown) && fs::exists(folder / "CMakeLists.txt", unknown)) {
      return script.string();
    }
    folder = folder.parent_path();
  }
  return "";
}

std::string no_model(const fs::path& looked_for) {
  std::string out = "no model: give -m FILE or set SWARMKV_MODEL";
  if (looked_for.empty()) return out;
  out += "; without them '" + looked_for.string() + "' is used, but is not there";
  const std::string script = fetch_script();
  return script.empty() ? out : out + " (" + script + " fetches it)";
}

std::string label_of(const std::string& path) {
  const fs::path name = fs::path(path).filename();
  return name.extension() == ".gguf" ? name.stem().string() : name.string();
}

}  // namespace

ModelChoice choose_model(const Settings& settings, const Pipeline& pipeline,
                         const Environment& environment) {
  if (settings.engine == "fake") return {"", "fake engine", false};
  if (settings.model && reaches(settings, "model", "path", pipeline.model.changed_keys)) {
    return {*settings.model, label_of(*settings.model), false};
  }
  if (!pipeline.model.path.empty()) {
    const std::string path = resolve_path(pipeline.folder, pipeline.model.path);
    return {path, label_of(path), false};
  }
  const fs::path folder = cache_folder(environment);
  const fs::path path = folder.empty() ? folder : folder / "models" / kDefaultModel;
  std::error_code ignored;
  if (!path.empty() && fs::exists(path, ignored)) return {path.string(), label_of(path), true};
  throw UsageError(no_model(path));
}

}  // namespace swarmkv::cli
