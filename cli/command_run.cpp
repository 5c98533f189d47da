#include "cli/commands.h"
#include "cli/execute.h"

namespace swarmkv::cli {

int command_run(const Settings& settings, const Invocation& invocation) {
  if (settings.arguments.size() > 1) {
    throw UsageError("run takes one pipeline file, but got " +
                     std::to_string(settings.arguments.size()) + ": '" + settings.arguments[0] +
                     "', '" + settings.arguments[1] + "'");
  }
  const std::string file = settings.arguments.empty() ? "swarmkv.yaml" : settings.arguments[0];
  ParsedPipeline parsed = load_pipeline(file);
  if (!accept(parsed.diagnostics, settings)) return 2;
  return execute(parsed.pipeline, parsed.pipeline.name, settings, invocation);
}

}  // namespace swarmkv::cli
