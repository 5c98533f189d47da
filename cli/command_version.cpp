#include <fmt/format.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/output.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {

int command_version(const Settings& /*settings*/) {
  write_all(STDOUT_FILENO, fmt::format("swarmkv {} (llama.cpp {})\n", version(), llama_version()),
            "standard output");
  return 0;
}

}  // namespace swarmkv::cli
