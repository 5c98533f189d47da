#include "cli/inputs.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <vector>

#include "cli/answer_files.h"
#include "cli/output.h"

namespace swarmkv::cli {

namespace {

// Where a file is, or will be, however its path is spelled: links are followed as far as they
// exist.
std::string place_of(const std::string& path) {
  std::error_code failed;
  // What does not exist at all would stay relative.
  const auto place =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, failed), failed);
  return failed ? path : place.string();
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
  // Also if the fake engine has no use for it.
  if (settings.model) inputs.push_back(*settings.model);
  for (const DocumentSpec& document : pipeline.documents) {
    if (!document.text) inputs.push_back(resolve_path(pipeline.folder, document.path));
    if (is_snapshot_file(document.snapshot)) {
      inputs.push_back(resolve_path(pipeline.folder, document.snapshot));
    }
  }
  for (const std::string& file : pipeline.text_files) {
    inputs.push_back(resolve_path(pipeline.folder, file));
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
  std::map<std::string, std::string> owners;  // of places, who writes there
  if (settings.save) {
    refuse("--save", *settings.save);
    owners.emplace(place_of(*settings.save), "--save '" + *settings.save + "'");
  }
  for (const std::string& report : settings.reports) {
    const auto [owner, is_new] = owners.emplace(place_of(report), "--report '" + report + "'");
    if (is_new || !owner->second.starts_with("--save")) continue;
    throw UsageError(
        fmt::format("{} and --report '{}' would replace each other", owner->second, report));
  }
  for (const AgentSpec& agent : pipeline.agents) {
    if (agent.output_file.empty()) continue;
    const std::string answer = answer_path(pipeline, agent);
    refuse("output_file", answer);
    const auto [owner, is_new] =
        owners.emplace(place_of(answer), "the answer of '" + agent.name + "'");
    if (is_new) continue;
    throw UsageError(fmt::format("{} and the answer of '{}' would replace each other: '{}'",
                                 owner->second, agent.name, answer));
  }
}

}  // namespace swarmkv::cli
