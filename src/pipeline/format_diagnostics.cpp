// The text of diagnostics, drawn like a compiler's:
//
//   review.yaml:31:5: error: unknown key 'max_token' in agent 'risk' [SK101]
//      31 |     max_token: 500
//         |     ^~~~~~~~~ did you mean 'max_tokens'?
//   review.yaml: error: does not fit: ... [SK401]
//      help: ...                                     (a hint without a line to point at)
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/pipeline.h"
#include "text/utf8.h"

namespace swarmkv {
namespace {

using internal::escape_control;
using internal::utf8_step;

constexpr std::size_t kMaxLineShown = 120;  // characters of an excerpt
constexpr std::size_t kContextBefore = 40;  // characters kept before the mark in a cut line

// Names and lines come from files of strangers: nothing in them may drive the terminal or start a
// line.
std::string one_line(std::string_view text) {
  std::string result;
  for (const char c : escape_control(text)) {
    if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else {
      result += c;
    }
  }
  return result;
}

std::vector<std::string> split_characters(std::string_view text) {
  std::vector<std::string> result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_step(text, at).length;
    result.emplace_back(text.substr(at, length));
    at += length;
  }
  return result;
}

void append_excerpt(std::string& out, const Diagnostic& diagnostic) {
  const std::vector<std::string> characters = split_characters(diagnostic.excerpt);
  const std::size_t column =
      std::min(static_cast<std::size_t>(std::max(1, diagnostic.pos.column)) - 1, characters.size());
  std::size_t first = 0;
  std::size_t last = characters.size();
  if (characters.size() > kMaxLineShown) {
    first = column > kContextBefore ? column - kContextBefore : 0;
    last = std::min(characters.size(), first + kMaxLineShown);
  }

  std::string text = first > 0 ? "..." : "";
  std::string pad = first > 0 ? "   " : "";
  for (std::size_t i = first; i < last; ++i) {
    const std::string shown = escape_control(characters[i]);
    text += shown;
    if (i >= column) continue;
    // A tab is repeated, so that the mark stands below its text whatever the tab width is.
    pad += shown == "\t" ? shown : std::string(shown == characters[i] ? 1 : shown.size(), ' ');
  }
  if (last < characters.size()) text += "...";

  const std::size_t room = last > column ? last - column : 1;
  const std::size_t length =
      std::clamp<std::size_t>(static_cast<std::size_t>(std::max(1, diagnostic.length)), 1, room);
  out += fmt::format("{:5} | {}\n", diagnostic.pos.line, text);
  out += fmt::format("      | {}^{}", pad, std::string(length - 1, '~'));
  if (!diagnostic.hint.empty()) out += " " + one_line(diagnostic.hint);
  out += '\n';
}

std::string_view severity_name(Diagnostic::Severity severity) {
  switch (severity) {
    case Diagnostic::Severity::kError:
      return "error";
    case Diagnostic::Severity::kWarning:
      return "warning";
    case Diagnostic::Severity::kNote:
      return "note";
  }
  return "error";
}

}  // namespace

std::string to_string(const SourcePos& pos) {
  if (pos.line == 0) return {};
  return pos.file + ":" + std::to_string(pos.line) + ":" + std::to_string(pos.column);
}

std::string format(const std::vector<Diagnostic>& diagnostics) {
  std::string out;
  for (const Diagnostic& diagnostic : diagnostics) {
    const SourcePos& pos = diagnostic.pos;
    if (!pos.file.empty()) {
      out += one_line(pos.file);
      if (pos.line > 0) out += fmt::format(":{}:{}", pos.line, pos.column);
      out += ": ";
    }
    out += severity_name(diagnostic.severity);
    out += ": " + one_line(diagnostic.message);
    if (!diagnostic.code.empty()) out += " [" + diagnostic.code + "]";
    out += '\n';
    if (!diagnostic.excerpt.empty() && pos.line > 0) {
      append_excerpt(out, diagnostic);
    } else if (!diagnostic.hint.empty()) {
      out += "   help: " + one_line(diagnostic.hint) + "\n";
    }
  }
  return out;
}

bool ParsedPipeline::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.severity == Diagnostic::Severity::kError;
  });
}

}  // namespace swarmkv
