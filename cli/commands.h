// The commands. Each returns the process's exit code or throws: UsageError = 2, Error by its code.
#pragma once

#include <string>
#include <vector>

#include "cli/event_log.h"
#include "cli/parse.h"
#include "cli/settings.h"

namespace swarmkv::cli {

struct Invocation {
  std::vector<std::string> words;  ///< as typed, without the program's name
  Environment environment;
  EventLog* events = nullptr;  ///< null if nobody wants them
};

int command_run(const Settings& settings, const Invocation& invocation);
int command_bench(const Settings& settings, const Invocation& invocation);
int command_ask(const Settings& settings, const Invocation& invocation);
int command_plan(const Settings& settings, const Invocation& invocation);
int command_snapshot(const Settings& settings, const Invocation& invocation);
int command_completion(const Settings& settings);
int command_validate(const Settings& settings);
int command_inspect(const Settings& settings, const Invocation& invocation);
int command_schema(const Settings& settings);
int command_version(const Settings& settings);
int command_help(const Settings& settings);

}  // namespace swarmkv::cli
