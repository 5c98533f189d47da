// The one table of flags. Parsing, the environment, spelling hints and the tests of the help all
// read it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/settings.h"

namespace swarmkv::cli {

enum Command : unsigned {
  kRun = 1,
  kAsk = 2,
  kValidate = 4,
  kInspect = 8,
  kVersion = 16,
  kHelp = 32,
  kBench = 64,
  kSchema = 128,
  kPlan = 256,
  kCompletion = 512,
  kSnapshot = 1024,
  // What stands behind `snapshot`; a flag that one of them takes has both bits.
  kSnapshotSave = 1 << 11,
  kSnapshotList = 1 << 12,
  kSnapshotShow = 1 << 13,
  kSnapshotVerify = 1 << 14,
  kSnapshotRemove = 1 << 15,
  kSnapshotPrune = 1 << 16
};

struct Flag {
  enum class Kind { kSwitch, kValue, kList } kind;
  std::string_view name;   ///< long, without dashes
  char letter;             ///< single-letter short form, 0 = none
  std::string_view alias;  ///< multi-letter short form as llama.cpp has it ("ngl"), empty = none
  std::string_view other_name;  ///< second long form, empty = none
  unsigned commands;            ///< which take it
  bool environment;             ///< may come from SWARMKV_<NAME>
  bool shown;                   ///< stands in the help
  /// Checks and stores the value. `source` is the flag or variable it came from. Switches get "1"
  /// or "0".
  void (*apply)(Settings& settings, const std::string& value, const std::string& source);

  [[nodiscard]] bool takes_value() const { return kind != Kind::kSwitch; }
};

std::span<const Flag> flags();

/// "ctx-size" -> "SWARMKV_CTX_SIZE".
std::string environment_name(const Flag& flag);

/// By any of its spellings, dashes included: "-c", "--ctx-size", "-ngl".
const Flag* find_flag(std::string_view spelling);

/// All of one flag, dashes included, the long name first and its letter last.
std::vector<std::string> spellings_of(const Flag& flag);

/// What `command` takes, for "did you mean": without letters, which are near to everything.
std::vector<std::string> spellings(unsigned command);

}  // namespace swarmkv::cli
