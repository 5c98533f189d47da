#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/title.h"

namespace swarmkv::cli {
int command_run(const Settings& settings, const Invocation& invocation) {
  if (settings.arguments.size() > 1) {
    throw UsageError("run takes one pipeline file, but got " +
                     std::to_string(settings.arguments.size()) + ": '" + settings.arguments[0] +
                     "', '" + settings.arguments[1] + "'");
  }
  const std::string file = pipeline_file(settings);
  ParsedPipeline parsed = load_pipeline(file, settings.changes);
  if (!accept(parsed.diagnostics, settings, invocation.events)) return 2;
  return execute(parsed.pipeline, title_of(parsed.pipeline, file), settings, invocation);
}

}  // namespace swarmkv::cli
