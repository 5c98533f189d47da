#include "cli/save_pipeline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/messages.h"
#include "cli/pipeline_yaml.h"
#include "cli/report_file.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

// Standard input has a name that the next run can use, too; a pipe of a shell has not.
void refuse_pipes(const Pipeline& pipeline) {
  for (const DocumentSpec& document : pipeline.documents) {
    if (document.path == "-" || !is_special_file(document.path)) continue;
    throw UsageError("--save: '" + document.path +
                     "' is a pipe, which a pipeline cannot read again; use -f - or a file");
  }
}

}  // namespace

void save_pipeline(const Pipeline& pipeline, const Settings& settings, const ModelChoice& model) {
  namespace fs = std::filesystem;
  const std::string& path = *settings.save;
  refuse_pipes(pipeline);
  std::error_code ignored;
  const bool is_there = fs::exists(path, ignored);
  ReportFile file(path);
  const fs::path folder = fs::weakly_canonical(fs::absolute(path).parent_path());
  const std::string yaml = pipeline_yaml(pipeline, settings, model, folder);
  if (const std::string lost = lost_in_yaml(pipeline, yaml); !lost.empty()) {
    throw UsageError("--save: this cannot stand in a pipeline file as it is: " + lost);
  }
  file.write(yaml);
  if (settings.quiet || stderr_is_events(settings)) return;
  const std::vector<std::string> flags = flags_beside_pipeline(settings);
  say(escape_for_terminal(fmt::format("{}: {}   again: swarmkv run {}{}{}",
                                      is_there ? "replaced" : "saved", path, path,
                                      flags.empty() ? "" : " ", fmt::join(flags, " "))) +
      "\n");
}

}  // namespace swarmkv::cli
