#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

std::string counted(std::size_t n, const char* one, const char* many) {
  return fmt::format("{} {}", n, n == 1 ? one : many);
}

int validate_file(const std::string& path, const Settings& settings) {
  const ParsedPipeline parsed =
      load_pipeline(path, settings.changes, schema_check(settings.engine));
  if (!accept(parsed.diagnostics, settings)) return 2;
  if (settings.quiet) return 0;
  const Pipeline& pipeline = parsed.pipeline;
  const std::string line = fmt::format("{}: ok, {}, {}\n", path,
                                       counted(pipeline.documents.size(), "document", "documents"),
                                       counted(pipeline.agents.size(), "agent", "agents"));
  write_all(STDOUT_FILENO, escape_for_terminal(line), "standard output");
  return 0;
}

}  // namespace

int command_validate(const Settings& settings) {
  if (settings.arguments.empty()) throw UsageError("validate needs at least one FILE");
  int code = 0;
  for (const std::string& path : settings.arguments) {
    try {
      code = std::max(code, validate_file(path, settings));
    } catch (const Error& error) {
      say_error(error.what());  // the other files are worth a look all the same
      code = std::max(code, exit_code(error.code()));
    }
  }
  return code;
}

}  // namespace swarmkv::cli
