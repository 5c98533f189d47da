#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/title.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {

int command_run(const Settings& settings, const Invocation& invocation) {
  const std::string file = pipeline_file(settings);
  ParsedPipeline parsed =
      load_pipeline(file, settings.changes, schema_check(settings.engine), check_document);
  if (!accept(parsed.diagnostics, settings, invocation.events)) {
    return refusal_code(parsed.diagnostics);
  }
  return execute(parsed.pipeline, title_of(parsed.pipeline, file), settings, invocation);
}

}  // namespace swarmkv::cli
