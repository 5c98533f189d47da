#include "cli/parse.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>

#include "cli/argv.h"
#include "cli/flags.h"
#include "cli/messages.h"
#include "cli/model_log.h"
#include "cli/numbers.h"

namespace swarmkv::cli {
namespace {

constexpr std::array kLaterCommands = {"retry", "shell", "serve"};

template <typename Names>
bool holds(const Names& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

unsigned command_bit(const std::string& name) {
  const std::vector<std::string>& names = command_names();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return 1U << static_cast<unsigned>(found - names.begin());
  refuse_command(name);
}

// Of `snapshot` the word behind it, which decides about flags as a command does.
unsigned verb_bit(const std::string& verb) {
  const std::vector<std::string>& verbs = snapshot_verbs();
  const auto found = std::find(verbs.begin(), verbs.end(), verb);
  if (found == verbs.end()) {
    throw UsageError("unknown word '" + verb + "' behind snapshot" + did_you_mean(verb, verbs));
  }
  return kSnapshotSave << static_cast<unsigned>(found - verbs.begin());
}

[[noreturn]] void refuse_flag(const std::string& word, const std::string& command, unsigned bit) {
  const std::string flag = word.substr(0, word.find('='));
  if (find_flag(flag) != nullptr) throw UsageError("'" + command + "' does not take " + flag);
  throw UsageError("unknown flag '" + flag + "'" + did_you_mean(flag, spellings(bit)));
}

// The option parser with our table in it; results are read by name afterwards.
struct Parser {
  CLI::App app;
  std::vector<std::pair<const Flag*, CLI::Option*>> options;

  explicit Parser(unsigned command) {
    app.set_help_flag("");
    app.allow_extras();
    for (const Flag& flag : flags()) {
      if ((flag.commands & command) == 0) continue;
      const std::string name = "--" + std::string(flag.name);
      CLI::Option* option = nullptr;
      if (flag.takes_value()) {
        option = app.add_option(name, CLI::callback_t([](const CLI::results_t&) { return true; }));
        option->type_size(1)->expected(1);
      } else {
        option = app.add_flag(name);
      }
      // Given twice: lists grow, of anything else the last one counts.
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      options.emplace_back(&flag, option);
    }
  }
};

void apply_environment(Settings& settings, unsigned command, const Environment& environment) {
  for (const Flag& flag : flags()) {
    if (!flag.environment || (flag.commands & command) == 0) continue;
    const std::string name = environment_name(flag);
    const std::optional<std::string> value = environment(name);
    if (!value) continue;
    const bool is_switch = !flag.takes_value();
    flag.apply(settings, is_switch ? (parse_bool(name, *value) ? "1" : "0") : *value, name);
    settings.from_environment.emplace(flag.name);
  }
}

void apply_flags(Settings& settings, const Parser& parser) {
  for (const auto& [flag, option] : parser.options) {
    const std::string source = "--" + std::string(flag->name);
    if (option->count() > 0) settings.from_environment.erase(std::string(flag->name));
    for (const std::string& value : option->results()) {
      const bool is_switch = !flag->takes_value();
      flag->apply(settings, is_switch ? (parse_bool(source, value) ? "1" : "0") : value, source);
    }
  }
}

void check_together(const Settings& s) {
  if (s.ubatch_size && s.batch_size && *s.ubatch_size != *s.batch_size) {
    throw UsageError("--batch-size " + std::to_string(*s.batch_size) + " and --ubatch-size " +
                     std::to_string(*s.ubatch_size) +
                     " differ: a forward is one ubatch here, so they must be equal");
  }
  const bool quantised_v = s.cache_type_v && s.cache_type_v->find('q') != std::string::npos;
  if (quantised_v && s.flash_attn == "off") {
    throw UsageError("--cache-type-v " + *s.cache_type_v +
                     " needs flash attention, but --flash-attn is off");
  }
  if (s.compat && s.output != "text") {
    throw UsageError("--compat is a format of its own: leave out --output " + s.output);
  }
  if (shows_model_log(s) && stderr_is_events(s)) {
    throw UsageError(std::string(s.verbosity ? "--verbosity" : "--verbose") +
                     " writes the model's log between the event lines of --progress jsonl");
  }
  // A plan streams nothing, whatever form it has.
  if (s.stream && s.output != "text" && s.command != "plan") {
    throw UsageError("--stream writes text as it comes, but --output is " + s.output);
  }
}

}  // namespace

const std::vector<std::string>& command_names() {
  // The order of enum Command.
  static const std::vector<std::string> names = {"run",     "ask",        "validate", "inspect",
                                                 "version", "help",       "bench",    "schema",
                                                 "plan",    "completion", "snapshot"};
  return names;
}

const std::vector<std::string>& snapshot_verbs() {
  static const std::vector<std::string> verbs = {"save", "list", "show", "verify", "rm", "prune"};
  return verbs;
}

void refuse_command(const std::string& name) {
  if (holds(kLaterCommands, name)) throw UsageError("'" + name + "' is not built yet");
  throw UsageError("unknown command '" + name + "'" + did_you_mean(name, command_names()));
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

Settings parse_command_line(const std::vector<std::string>& args, const Environment& environment) {
  Settings settings;
  std::string command = args.empty() ? "help" : args.front();
  if (command == "-h" || command == "--help") command = "help";
  if (command == "-V" || command == "--version") command = "version";
  if (command.starts_with("-")) {
    throw UsageError("the command comes first, for example: swarmkv ask " + command + " ...");
  }
  unsigned bit = command_bit(command);
  settings.command = command;
  if (args.empty()) throw UsageError("no command given");
  std::ptrdiff_t n_taken = 1;
  if (bit == kSnapshot && args.size() > 1 && !args[1].starts_with("-")) {
    settings.verb = args[1];
    bit = verb_bit(settings.verb);
    command += " " + settings.verb;
    n_taken = 2;
  }

  RewrittenArgs rewritten = rewrite_args({args.begin() + n_taken, args.end()});
  Parser parser(bit);
  std::reverse(rewritten.words.begin(), rewritten.words.end());  // the parser takes from the back
  try {
    parser.app.parse(rewritten.words);
  } catch (const CLI::ParseError&) {
    // The last word is a flag whose value is missing; nothing else can go wrong with long flags.
    throw UsageError((args.back()) + " needs a value");
  }
  for (std::string& word : parser.app.remaining()) {
    const bool flag_like = word.size() > 1 && word[0] == '-' && word[1] != ' ' && word[1] != '\n' &&
                           !(word[1] >= '0' && word[1] <= '9');
    if (flag_like) refuse_flag(word, command, bit);
    settings.arguments.push_back(std::move(word));
  }
  for (std::string& word : rewritten.after_dashes) settings.arguments.push_back(std::move(word));

  for (const auto& [flag, option] : parser.options) {
    if (flag->name == "help" && option->count() > 0) {
      settings.help = true;  // help must come whatever else is wrong
      return settings;
    }
  }
  apply_environment(settings, bit, environment);
  apply_flags(settings, parser);
  check_together(settings);
  return settings;
}

}  // namespace swarmkv::cli
