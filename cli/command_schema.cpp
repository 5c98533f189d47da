#include <unistd.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::cli {

int command_schema(const Settings& settings) {
  if (!settings.arguments.empty()) {
    throw UsageError("schema takes no argument, but got '" + settings.arguments.front() + "'");
  }
  write_all(STDOUT_FILENO, pipeline_schema(), "standard output");
  return 0;
}

}  // namespace swarmkv::cli
