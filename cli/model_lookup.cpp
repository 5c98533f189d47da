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

std::string label_of(const std::string& path) {
  const fs::path name = fs::path(path).filename();
  return name.extension() == ".gguf" ? name.stem().string() : name.string();
}

}  // namespace

ModelChoice choose_model(const Settings& settings, const Pipeline& pipeline,
                         const Environment& environment) {
  if (settings.engine == "fake") return {"", "fake engine", false};
  if (settings.model) return {*settings.model, label_of(*settings.model), false};
  if (!pipeline.model.path.empty()) {
    const std::string path = (fs::path(pipeline.folder) / pipeline.model.path).string();
    return {path, label_of(path), false};
  }
  const fs::path folder = cache_folder(environment);
  if (!folder.empty()) {
    const fs::path path = folder / "models" / kDefaultModel;
    std::error_code ignored;
    if (fs::exists(path, ignored)) return {path.string(), label_of(path.string()), true};
  }
  throw UsageError(
      "no model: give one with -m FILE or SWARMKV_MODEL, or fetch a small one with "
      "scripts/get-models ('make demo' does it, too)");
}

}  // namespace swarmkv::cli
