#include "cli/completion.h"

#include <algorithm>
#include <array>

#include "cli/flag_values.h"
#include "cli/parse.h"

namespace swarmkv::cli {
namespace {

struct Summary {
  std::string_view command, text;
};

// No quotes and no colons: they stand in quotes, and zsh ends the name at a colon.
constexpr std::array kSummaries = {
    Summary{"run", "run a pipeline"},
    Summary{"ask", "one agent for each prompt over documents"},
    Summary{"plan", "what a pipeline will need"},
    Summary{"validate", "check pipelines without a model"},
    Summary{"bench", "measure the ways to hand a document to agents"},
    Summary{"inspect", "what a model, a snapshot or a report is"},
    Summary{"snapshot", "documents that were read, kept on disk"},
    Summary{"schema", "JSON Schema of a pipeline, for editors"},
    Summary{"completion", "completion for a shell"},
    Summary{"version", "version of swarmkv and of llama.cpp"},
    Summary{"help", "the page of a command"},
};

std::string_view summary_of(std::string_view command) {
  for (const Summary& summary : kSummaries) {
    if (summary.command == command) return summary.text;
  }
  return command;
}

std::vector<CompletedCommand::Option> options_of(Command command, unsigned verb) {
  std::vector<CompletedCommand::Option> options;
  for (const Flag& flag : flags()) {
    if ((flag.commands & verb) == 0 || !flag.shown) continue;
    options.push_back({spellings_of(flag), flag.takes_value(), takes_file(flag), takes_folder(flag),
                       flag.kind == Flag::Kind::kList, flag_values(flag, command)});
  }
  return options;
}

void add_verbs(CompletedCommand& snapshot) {
  snapshot.words = snapshot_verbs();
  for (std::size_t i = 0; i < snapshot_verbs().size(); ++i) {
    const auto bit = static_cast<Command>(kSnapshotSave << i);
    CompletedCommand verb{snapshot_verbs()[i], "", options_of(kSnapshot, bit), {}};
    verb.takes_snapshots = bit == kSnapshotShow || bit == kSnapshotVerify || bit == kSnapshotRemove;
    snapshot.verbs.push_back(std::move(verb));
  }
}

}  // namespace

std::string with_snapshot_files(std::string_view script) {
  constexpr std::string_view kMark = "@SNAPSHOTS@";
  std::string out(script);
  return out.replace(out.find(kMark), kMark.size(), "*.swkv");
}

std::vector<CompletedCommand> completed_commands() {
  constexpr std::array<std::string_view, 4> kWithFiles = {"run", "plan", "validate", "inspect"};
  std::vector<CompletedCommand> commands;
  for (std::size_t i = 0; i < command_names().size(); ++i) {
    const auto bit = static_cast<Command>(1U << i);
    CompletedCommand command{
        command_names()[i], summary_of(command_names()[i]), options_of(bit, bit), {}};
    command.takes_files = bit == kBench || std::find(kWithFiles.begin(), kWithFiles.end(),
                                                     command.name) != kWithFiles.end();
    if (bit == kSnapshot) add_verbs(command);
    if (bit == kHelp) command.words = command_names();
    if (bit == kCompletion) command.words = {"bash", "zsh", "fish"};
    commands.push_back(std::move(command));
  }
  return commands;
}

}  // namespace swarmkv::cli
