#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <system_error>

#include "cli/commands.h"
#include "cli/event_sinks.h"
#include "cli/flags.h"
#include "cli/help_text.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

constexpr int kExitWrongUse = 2;
constexpr int kExitDoesNotFit = 4;
constexpr int kExitInternal = 70;

int dispatch(const Settings& settings, const Invocation& invocation) {
  if (settings.help) {
    write_all(STDOUT_FILENO, help_screen(settings.command), "standard output");
    return 0;
  }
  if (settings.command == "run") return command_run(settings, invocation);
  if (settings.command == "ask") return command_ask(settings, invocation);
  if (settings.command == "bench") return command_bench(settings, invocation);
  if (settings.command == "plan") return command_plan(settings, invocation);
  if (settings.command == "snapshot") return command_snapshot(settings, invocation);
  if (settings.command == "completion") return command_completion(settings);
  if (settings.command == "validate") return command_validate(settings);
  if (settings.command == "inspect") return command_inspect(settings, invocation);
  if (settings.command == "schema") return command_schema(settings);
  if (settings.command == "version") return command_version(settings);
  return command_help(settings);
}

std::string help_hint(const std::vector<std::string>& words) {
  const bool has_page = !words.empty() && !help_text(words.front()).empty();
  return "  see: swarmkv help" + (has_page ? " " + words.front() : "") + "\n";
}

// Variables are easily forgotten, and what a limit of theirs refuses names no flag that was given.
std::string limits_of_environment(const Settings& settings) {
  std::string names;
  for (const char* flag : {"--ctx-size", "--parallel", "--batch-size", "--ubatch-size", "--predict",
                           "--threads", "--threads-batch", "--cache-type-k", "--cache-type-v"}) {
    if (settings.from_environment.count(std::string_view(flag).substr(2)) == 0) continue;
    names +=
        (names.empty() ? "; set by the environment: " : ", ") + environment_name(*find_flag(flag));
  }
  return names;
}

struct Failure {
  int exit_code = kExitInternal;
  std::string message, hint;
};

Failure internal_error(const std::string& what) {
  return {kExitInternal, "internal error, please report it: " + what, ""};
}

Failure no_memory() {
  return {
      kExitDoesNotFit,
      "memory did not suffice; lower -c, -np or -b, or take a smaller model, a smaller document "
      "or fewer prompts",
      ""};
}

// The system refused something; some of it is a limit that the user can change.
Failure refused_by_system(const std::system_error& error) {
  const std::error_code& code = error.code();
  if (code == std::errc::not_enough_memory) return no_memory();
  const char* hint = nullptr;
  if (code == std::errc::resource_unavailable_try_again) {  // what starting a thread fails with
    hint =
        "no thread could be started; raise the limits (ulimit -u, ulimit -v) or lower -t and -tb";
  } else if (code == std::errc::too_many_files_open ||
             code == std::errc::too_many_files_open_in_system) {
    hint = "too many files are open; raise the limit (ulimit -n)";
  }
  if (hint == nullptr) return internal_error(error.what());
  return {kExitDoesNotFit, std::string(hint) + ": " + error.what(), ""};
}

// What the exception means that is being handled.
Failure explain(const std::vector<std::string>& words) {
  try {
    throw;
  } catch (const UsageError& error) {
    return {kExitWrongUse, error.what(), help_hint(words)};
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) return internal_error(error.what());
    return {exit_code(error.code()), error.what(), ""};
  } catch (const std::bad_alloc&) {
    return no_memory();
  } catch (const std::system_error& error) {
    return refused_by_system(error);
  } catch (const std::exception& error) {
    return internal_error(error.what());
  } catch (...) {
    return internal_error("something was thrown that is not an exception");
  }
}

// Memory for telling that there is none: given up once, before the first std::bad_alloc is thrown.
// So large that the C library gives it back to the system. A handler takes no argument, so this one
// is a global.
constexpr std::size_t kReserve = std::size_t{1} << 18;
std::atomic<char*> reserve;

void give_up_reserve() {
  delete[] reserve.exchange(nullptr);
  throw std::bad_alloc();
}

std::unique_ptr<EventLog> event_log(const EventSinks& sinks) {
  const bool wanted = sinks.on_stdout || sinks.on_stderr || sinks.kept;
  return wanted ? std::make_unique<EventLog>(sinks) : nullptr;
}

}  // namespace

int run_app(const std::vector<std::string>& words, const Environment& environment) {
  std::unique_ptr<EventLog> events;
  std::optional<Settings> settings;
  try {
    // Until the command line is understood, what it seems to want has to do.
    events = event_log(guess_event_sinks(words, environment));
    settings = parse_command_line(words, environment);
    events = event_log(event_sinks(*settings));
    const int code = dispatch(*settings, {words, environment, events.get()});
    if (events) events->finish(code == 0 ? "finished" : "failed", code);
    return code;
  } catch (...) {
    Failure failure = explain(words);
    if (settings && failure.exit_code == kExitDoesNotFit) {
      failure.message += limits_of_environment(*settings);
    }
    if (!events || !events->sinks().on_stderr) {
      say_error(failure.message);
      if (!failure.hint.empty()) say(failure.hint);
    }
    if (events) events->finish("failed", failure.exit_code, failure.message);
    return failure.exit_code;
  }
}

void prepare_process() {
  reserve = new (std::nothrow) char[kReserve];
  std::set_new_handler(give_up_reserve);
  // A closed descriptor would be handed to the next file that is opened, and answers written into
  // it. The stand-in is for the wrong direction, so that using it is still an error.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit, too, is an error like a full disk
}

}  // namespace swarmkv::cli
