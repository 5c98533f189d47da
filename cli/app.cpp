#include "cli/app.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <new>

#include "cli/commands.h"
#include "cli/help_text.h"
#include "cli/messages.h"
#include "cli/output.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

constexpr int kExitWrongUse = 2;
constexpr int kExitInternal = 70;

int dispatch(const std::vector<std::string>& words, const Environment& environment) {
  const Settings settings = parse_command_line(words, environment);
  if (settings.help) {
    write_all(STDOUT_FILENO, help_text(settings.command), "standard output");
    return 0;
  }
  const Invocation invocation{words, environment};
  if (settings.command == "run") return command_run(settings, invocation);
  if (settings.command == "ask") return command_ask(settings, invocation);
  if (settings.command == "bench") return command_bench(settings, invocation);
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
    say_error("out of memory");
    return kExitInternal;
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
}

}  // namespace swarmkv::cli
