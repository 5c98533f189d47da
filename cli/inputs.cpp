#include "cli/inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <vector>

#include "cli/answer_files.h"
#include "cli/output.h"

namespace swarmkv::cli {

namespace {

bool is_same_place(const std::string& a, const std::string& b) {
  std::error_code failed;
  const auto first = std::filesystem::weakly_canonical(a, failed);
  if (failed) return false;
  const auto second = std::filesystem::weakly_canonical(b, failed);
  return !failed && first == second;
}

}  // namespace

void take_pipes(Pipeline& pipeline) {
  constexpr std::size_t kLargestDocument = std::size_t{1} << 30;
  for (DocumentSpec& document : pipeline.documents) {
    if (document.text) continue;
    const std::string path = resolve_path(pipeline.folder, document.path);
    if (path != "-" && !is_special_file(path)) continue;
    document.text = read_whole(path, kLargestDocument);
    document.path.clear();
  }
}

void refuse_inputs_as_reports(const Pipeline& pipeline, const Settings& settings,
                              const std::string& model) {
  std::vector<std::string> inputs{model};
  for (const DocumentSpec& document : pipeline.documents) {
    if (!document.text) inputs.push_back(resolve_path(pipeline.folder, document.path));
  }
  if (settings.questions) inputs.push_back(*settings.questions);
  if (settings.command == "run") inputs.push_back(pipeline_file(settings));
  const auto refuse = [&inputs](const std::string& what, const std::string& output) {
    for (const std::string& input : inputs) {
      if (!is_same_file(output, input)) continue;
      throw UsageError(
          fmt::format("{} '{}' would replace an input of this run: '{}'", what, output, input));
    }
  };
  for (const std::string& report : settings.reports) refuse("--report", report);
  for (const AgentSpec& agent : pipeline.agents) {
    if (agent.output_file.empty()) continue;
    const std::string answer = answer_path(pipeline, agent);
    refuse("output_file", answer);
    for (const std::string& report : settings.reports) {
      if (!is_same_place(report, answer)) continue;
      throw UsageError(
          fmt::format("--report '{}' would replace the answer of '{}'", report, agent.name));
    }
  }
}

}  // namespace swarmkv::cli
