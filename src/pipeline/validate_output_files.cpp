#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "pipeline/agent_names.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/validate.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

// Why `path` cannot be written below the pipeline's folder; links in the way are found when it is.
std::string path_problem(const std::string& path) {
  const fs::path given(path);
  const bool has_control = std::any_of(path.begin(), path.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
  });
  if (has_control) return "holds a control character";
  if (given.is_absolute()) return "is absolute; it must stay below the pipeline's folder";
  if (std::find(given.begin(), given.end(), "..") != given.end()) {
    return "has '..' in it; it must stay below the pipeline's folder";
  }
  const fs::path name = given.lexically_normal().filename();
  return name.empty() || name == "." ? "names no file" : "";
}

}  // namespace

void check_output_files(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  std::unordered_map<std::string, const AgentSpec*> seen;
  std::unordered_map<std::string, std::string> inputs;
  const auto key = [](const std::string& path) {
    return fs::path(path).lexically_normal().string();
  };
  for (const AgentSpec& agent : pipeline.agents) {
    if (agent.output_file.empty()) continue;
    if (inputs.empty()) {  // most pipelines write no files
      inputs.emplace(key(fs::path(agent.pos.file).filename().string()), "the pipeline");
      for (const DocumentSpec& document : pipeline.documents) {
        if (document.text || document.path.empty()) continue;
        inputs.emplace(key(document.path), "document '" + document.name + "'");
      }
      for (const std::string& file : pipeline.text_files)
        inputs.emplace(key(file), "a text of the pipeline");
      if (!pipeline.model.path.empty()) inputs.emplace(key(pipeline.model.path), "the model");
    }
    const SourcePos& pos = key_position(agent, "output_file");
    const auto error = [&](const std::string& why) {
      diagnostics.error(
          {"SK211",
           fmt::format("'output_file' of '{}': '{}' {}", agent.name, agent.output_file, why), pos,
           marked_length("output_file"),
           "write a path of its own, such as out/" + agent.name + ".md"});
    };
    if (const std::string problem = path_problem(agent.output_file); !problem.empty()) {
      error(problem);
      continue;
    }
    const std::string path = key(agent.output_file);
    if (const auto input = inputs.find(path); input != inputs.end()) {
      error("would replace " + input->second);
    }
    const auto [first, is_new] = seen.emplace(path, &agent);
    if (is_new) continue;
    error(fmt::format("is also that of '{}'", first->second->name));
    diagnostics.note("it was first named here", key_position(*first->second, "output_file"));
  }
}

}  // namespace swarmkv::internal
