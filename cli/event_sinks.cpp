#include "cli/event_sinks.h"

#include <algorithm>

#include "cli/argv.h"

namespace swarmkv::cli {
namespace {

bool has_events(const std::string& command) { return command == "run" || command == "ask"; }

}  // namespace

EventSinks event_sinks(const Settings& settings) {
  if (settings.help || !has_events(settings.command)) return {};
  EventSinks sinks;
  sinks.on_stdout = settings.output == "jsonl";
  sinks.on_stderr = stderr_is_events(settings);
  sinks.kept = std::any_of(settings.reports.begin(), settings.reports.end(),
                           [](const std::string& path) { return path.ends_with(".jsonl"); });
  return sinks;
}

EventSinks guess_event_sinks(const std::vector<std::string>& words,
                             const Environment& environment) {
  if (words.empty() || !has_events(words.front())) return {};
  Settings settings;
  settings.command = words.front();
  settings.progress = environment("SWARMKV_PROGRESS").value_or("");
  const std::vector<std::string> flags = rewrite_args({words.begin() + 1, words.end()}).words;
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const bool has_value = i + 1 < flags.size();
    if (flags[i] == "--help") settings.help = true;
    if (flags[i] == "--quiet") settings.quiet = true;
    if (flags[i] == "--output" && has_value) settings.output = flags[i + 1];
    if (flags[i] == "--progress" && has_value) settings.progress = flags[i + 1];
  }
  return event_sinks(settings);
}

}  // namespace swarmkv::cli
