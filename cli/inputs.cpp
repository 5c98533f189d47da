#include "cli/inputs.h"

#include <fmt/format.h>

#include <vector>

#include "cli/output.h"

namespace swarmkv::cli {

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
  for (const std::string& report : settings.reports) {
    for (const std::string& input : inputs) {
      if (!is_same_file(report, input)) continue;
      throw UsageError(
          fmt::format("--report '{}' would replace an input of this run: '{}'", report, input));
    }
  }
}

}  // namespace swarmkv::cli
