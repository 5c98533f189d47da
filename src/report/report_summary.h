// The lines above and below the agent table.
#pragma once

#include <string>
#include <string_view>

#include "swarmkv/report.h"

namespace swarmkv::internal {

/// Puts terminal colours around a text, or nothing if colours are off.
class Paint {
 public:
  static constexpr const char* kPlain = "";
  static constexpr const char* kBold = "\x1b[1m";
  static constexpr const char* kRed = "\x1b[31m";
  static constexpr const char* kYellow = "\x1b[33m";

  explicit Paint(bool on) : on_(on) {}
  std::string operator()(const char* color, std::string_view text) const;

 private:
  bool on_;
};

/// Where texts begin behind their labels, in the lines of report and plan.
inline constexpr std::size_t kLabelColumns = 16;
/// "label   text"; further lines of the text stand below its first one.
std::string labelled_line(const Paint& paint, const char* color, const char* label,
                          std::string text);

/// What was run, how its agents ended and how long it took.
std::string title_line(const RunReport& report, const Paint& paint);

/// Prompt tokens, throughput, where the time went, critical path; a line is left out if it would
/// say nothing.
std::string summary_lines(const RunReport& report);

}  // namespace swarmkv::internal
