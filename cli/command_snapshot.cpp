// What `snapshot` does with the folder; reading documents into it stands in snapshot_save.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <optional>

#include "cli/commands.h"
#include "cli/file_json.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress_render.h"
#include "cli/snapshot_save.h"
#include "cli/snapshot_table.h"
#include "cli/terminal.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

void show(const std::string& text) { write_all(STDOUT_FILENO, text, "standard output"); }

// In full, as the paths that are told.
std::string folder_of(const Settings& settings) {
  const std::string folder = snapshot_options(settings).folder;
  return folder.empty() ? SnapshotStore::default_folder() : folder;
}

// Looking must not make a folder. Unset: nothing was ever saved there, as in an empty one.
std::optional<SnapshotStore> store_of(const Settings& settings) {
  const std::string folder = folder_of(settings);
  std::error_code unknown;
  if (std::filesystem::exists(folder, unknown) || unknown) return SnapshotStore(folder);
  return std::nullopt;
}

// " --snapshot-dir kept", as a shell reads it; "" where nobody chose a folder.
std::string folder_flag(const Settings& settings) {
  if (!settings.snapshot_dir) return "";
  std::string quoted;
  for (const char c : *settings.snapshot_dir) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '/' || c == '.' || c == '_' ||
           c == '-';
  };
  const bool plain = std::all_of(quoted.begin(), quoted.end(), is_plain);
  return " --snapshot-dir " + (plain ? quoted : "'" + quoted + "'");
}

// errors  kUnreadable  always
[[noreturn]] void no_snapshot(const Settings& settings) {
  throw Error(ErrorCode::kUnreadable, "[cli.snapshot] no snapshot '" + settings.arguments.front() +
                                          "': there are none in " + folder_of(settings));
}

std::vector<SnapshotInfo> all_of(const std::optional<SnapshotStore>& store) {
  return store ? store->list() : std::vector<SnapshotInfo>{};
}

void refuse_arguments(const Settings& settings) {
  if (settings.arguments.empty()) return;
  throw UsageError("snapshot " + settings.verb + " takes no argument, but got '" +
                   settings.arguments.front() + "'");
}

int list(const Settings& settings) {
  refuse_arguments(settings);
  const std::vector<SnapshotInfo> snapshots = all_of(store_of(settings));
  const std::string folder = folder_of(settings);
  if (settings.output == "json") {
    show(to_json(snapshots, folder));
    return 0;
  }
  const int columns = is_terminal(STDOUT_FILENO) ? terminal_size(STDOUT_FILENO).columns : 0;
  show(snapshot_table(snapshots, static_cast<std::size_t>(columns)) +
       store_line(snapshots, folder) + prune_line(snapshots, folder_flag(settings)));
  return 0;
}

int show_one(const Settings& settings) {
  if (settings.arguments.size() != 1) {
    throw UsageError("snapshot show takes one NAME, but got " +
                     std::to_string(settings.arguments.size()));
  }
  const std::optional<SnapshotStore> store = store_of(settings);
  if (!store) no_snapshot(settings);
  const SnapshotInfo snapshot = store->show(settings.arguments.front());
  show(settings.output == "json" ? to_json(snapshot) : snapshot_details(snapshot));
  return 0;
}

// Does `what` with each of them; one that fails does not keep the others from it.
template <typename Action>
int for_each(const std::vector<std::string>& names, Action what) {
  int code = 0;
  for (const std::string& name : names) {
    try {
      what(name);
    } catch (const Error& error) {
      say_error(error.what());
      code = std::max(code, exit_code(error.code()));
    }
  }
  return code;
}

// Listing and pruning look at headers only, so who has found out must be told what to do.
SnapshotInfo verified(const SnapshotStore& store, const std::string& name) {
  try {
    return store.verify(name);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kCorrupt) throw;
    throw Error(error.code(), fmt::format("{}; 'swarmkv snapshot rm {}' removes it, and a run that "
                                          "meets it sets it aside",
                                          error.what(), name));
  }
}

int verify(const Settings& settings) {
  if (settings.all != settings.arguments.empty()) {
    throw UsageError(settings.all ? "snapshot verify takes NAMEs or --all, not both"
                                  : "snapshot verify needs a NAME, or --all");
  }
  const std::optional<SnapshotStore> store = store_of(settings);
  std::vector<std::string> names = settings.arguments;
  for (const SnapshotInfo& s : settings.all ? all_of(store) : std::vector<SnapshotInfo>{}) {
    names.push_back(s.name);
  }
  if (!store && !names.empty()) no_snapshot(settings);
  return for_each(names, [&](const std::string& name) {
    const SnapshotInfo s = verified(*store, name);
    show(escape_for_terminal(fmt::format("{}: ok, {} tokens, {}", s.name, with_commas(s.n_tokens),
                                         bytes_text(s.size_bytes))) +
         "\n");
  });
}

std::string removed_line(const SnapshotInfo& s) {
  const std::string why = s.problem.empty() ? "" : ", unusable: " + s.problem;
  return fit_for_terminal(fmt::format("removed {}, {}{}", s.name, bytes_text(s.size_bytes), why),
                          400) +
         "\n";
}

int remove(const Settings& settings) {
  if (settings.arguments.empty()) throw UsageError("snapshot rm needs a NAME");
  std::optional<SnapshotStore> store = store_of(settings);
  if (!store) no_snapshot(settings);
  return for_each(settings.arguments,
                  [&](const std::string& name) { show(removed_line(store->remove(name))); });
}

int prune(const Settings& settings) {
  refuse_arguments(settings);
  std::optional<SnapshotStore> store = store_of(settings);
  const std::uint64_t limit = snapshot_options(settings).limit_bytes;
  const std::vector<SnapshotInfo> gone = store ? store->prune(limit) : std::vector<SnapshotInfo>{};
  const std::string folder = folder_of(settings);
  if (settings.output == "json") {
    show(to_json(gone, folder));
    return 0;
  }
  std::string text;
  std::uint64_t bytes = 0;
  for (const SnapshotInfo& s : gone) {
    text += removed_line(s);
    bytes += s.size_bytes;
  }
  const std::vector<SnapshotInfo> left = all_of(store);
  show(text + fmt::format("{} removed, {}; ", gone.size(), bytes_text(bytes)) +
       store_line(left, folder));
  const auto n_useless =
      std::count_if(left.begin(), left.end(), [](const SnapshotInfo& s) { return s.damaged; });
  if (n_useless == 0) return 0;
  say_error(
      fmt::format("{} of no use had to stay: in use, or they cannot be removed; 'swarmkv "
                  "snapshot rm NAME' says why",
                  n_useless));
  return exit_code(ErrorCode::kUnwritable);
}

}  // namespace

int command_snapshot(const Settings& settings, const Invocation& invocation) {
  if (settings.verb == "save") return save_snapshots(settings, invocation);
  if (settings.verb == "list") return list(settings);
  if (settings.verb == "show") return show_one(settings);
  if (settings.verb == "verify") return verify(settings);
  if (settings.verb == "rm") return remove(settings);
  if (settings.verb == "prune") return prune(settings);
  throw UsageError("snapshot needs one of save, list, show, verify, rm, prune right behind it");
}

}  // namespace swarmkv::cli
