#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>
#include <system_error>

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

constexpr int kExitWrongUse = 2;
constexpr int kExitDoesNotFit = 4;
constexpr int kExitInternal = 70;

int dispatch(const std::vector<std::string>& words, const Environment& environment) {
  const Settings settings = parse_command_line(words, environment);
  if (settings.help) {
    write_all(STDOUT_FILENO, help_screen(settings.command), "standard output");
    return 0;
  }
  const Invocation invocation{words, environment};
  if (settings.command == "run") return command_run(settings, invocation);
  if (settings.command == "ask") return command_ask(settings, invocation);
  if (settings.command == "bench") return command_bench(settings, invocation);
  if (settings.command == "plan") return command_plan(settings, invocation);
  if (settings.command == "completion") return command_completion(settings);
  if (settings.command == "validate") return command_validate(settings);
  if (settings.command == "inspect") return command_inspect(settings);
  if (settings.command == "version") return command_version(settings);
  return command_help(settings);
}

std::string help_hint(const std::vector<std::string>& words) {
  const bool has_page = !words.empty() && !help_text(words.front()).empty();
  return "  see: swarmkv help" + (has_page ? " " + words.front() : "") + "\n";
}

int internal_error(const std::string& what) {
  say_error("internal error, please report it: " + what);
  return kExitInternal;
}

int no_memory() {
  say_error(
      "memory did not suffice; lower -c, -np or -b, or take a smaller model, a smaller document "
      "or fewer prompts");
  return kExitDoesNotFit;
}

// The system refused something; some of it is a limit that the user can change.
int refused_by_system(const std::system_error& error) {
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
  say_error(std::string(hint) + ": " + error.what());
  return kExitDoesNotFit;
}

}  // namespace

int run_app(const std::vector<std::string>& words, const Environment& environment) {
  try {
    return dispatch(words, environment);
  } catch (const UsageError& error) {
    say_error(error.what());
    say(help_hint(words));
    return kExitWrongUse;
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kInternal) return internal_error(error.what());
    say_error(error.what());
    return exit_code(error.code());
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

void prepare_process() {
  // A closed descriptor would be handed to the next file that is opened, and answers written into
  // it. The stand-in is for the wrong direction, so that using it is still an error.
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) == -1) ::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file at its size limit, too, is an error like a full disk
}

}  // namespace swarmkv::cli
