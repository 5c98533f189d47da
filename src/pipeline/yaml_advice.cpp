#include "pipeline/yaml_advice.h"

#include <optional>

#include "fmt/format.h"

namespace swarmkv::internal {
namespace {

constexpr const char* kQuoteOrBlock =
    "put the whole text in quotes, or after '|' on lines of its own";
constexpr const char* kSameColumn = "keys of one mapping start in the same column";

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '-';
}

// A line as far as its layout tells what it is.
struct Line {
  int number = 0;
  std::size_t indent = 0;
  std::string_view text;  ///< without blanks around it
  std::string_view key;   ///< of "key:" and "key: value"; empty if it is no such line

  [[nodiscard]] bool is_blank() const { return text.empty() || text.front() == '#'; }
  /// Ends in '|' or '>': a text follows.
  [[nodiscard]] bool opens_text() const {
    if (key.empty()) return false;
    const std::size_t mark = text.find_last_of("|>");
    if (mark == std::string_view::npos || text[mark - 1] != ' ') return false;
    return text.find_first_not_of("+-0123456789", mark + 1) == std::string_view::npos;
  }
  /// Nothing but one word: a key whose colon was forgotten.
  [[nodiscard]] bool is_word() const {
    for (const char c : text) {
      if (!is_word_character(c)) return false;
    }
    return !text.empty();
  }
};

Line line_of(const SourceText& source, int number) {
  Line line;
  line.number = number;
  const std::string_view whole = source.line(number);
  const std::size_t last = whole.find_last_not_of(" \t");
  if (last == std::string_view::npos) return line;
  line.indent = whole.find_first_not_of(' ');
  line.text = whole.substr(line.indent, last + 1 - line.indent);
  std::size_t end = 0;
  while (end < line.text.size() && is_word_character(line.text[end])) ++end;
  const bool is_key = end > 0 && end < line.text.size() && line.text[end] == ':' &&
                      (end + 1 == line.text.size() || line.text[end + 1] == ' ');
  if (is_key) line.key = line.text.substr(0, end);
  return line;
}

// The nearest line above that says something; number 0 if there is none.
Line line_above(const SourceText& source, int number) {
  for (--number; number > 0; --number) {
    if (Line line = line_of(source, number); !line.is_blank()) return line;
  }
  return {};
}

// The line with '|' whose text goes to just above `line`, which is indented too little for it.
std::optional<Line> text_that_ends_at(const SourceText& source, const Line& line) {
  constexpr int kMostLines = 2'000;  // a text may be long, and the search is for a hint
  std::size_t least = std::string_view::npos;
  for (Line above = line_above(source, line.number);
       above.number > 0 && line.number - above.number < kMostLines;
       above = line_above(source, above.number)) {
    if (above.opens_text() && above.indent < least && line.indent <= above.indent) return above;
    if (above.indent < least) least = above.indent;
    if (least == 0) break;
  }
  return std::nullopt;
}

class Advice {
 public:
  Advice(const SourceText& source, const SourcePos& pos, std::string_view what)
      : source_(source),
        what_(what),
        problem_{"SK001", fmt::format("not valid YAML: {}", what), pos},
        line_(line_of(source, pos.line)),
        above_(line_above(source, pos.line)) {}

  Problem give() && {
    const bool known = of_braces() || of_first_character() || of_quotes() || of_colons() ||
                       of_text_end() || of_missing_colon() || of_columns();
    if (!known)
      problem_.hint = "look at the columns, colons and quotes of this line and of the one above";
    return std::move(problem_);
  }

 private:
  bool hint(std::string text) {
    problem_.hint = std::move(text);
    return true;
  }

  // Says it in other words than the parser, and of another place.
  bool say(const Line& line, std::string message, std::string text) {
    problem_.message = std::move(message);
    problem_.pos = SourcePos{source_.file_name(), line.number, static_cast<int>(line.indent) + 1};
    problem_.length = static_cast<int>(count_characters(line.key.empty() ? line.text : line.key));
    return hint(std::move(text));
  }

  [[nodiscard]] bool complains_of(std::string_view words) const {
    return what_.find(words) != std::string_view::npos;
  }

  // What stands `back` characters in front of where the parser gave up.
  [[nodiscard]] char character(std::size_t back = 0) const {
    const std::string_view line = source_.line(problem_.pos.line);
    const std::size_t at = static_cast<std::size_t>(problem_.pos.column) - 1;
    return at >= back && at - back < line.size() ? line[at - back] : ' ';
  }

  // A text without quotes that begins with {{ }}, or holds braces within braces.
  bool of_braces() {
    const std::string_view line = source_.line(problem_.pos.line);
    const std::size_t braces = line.find("{{");
    if (braces == std::string_view::npos) return false;
    const std::size_t before = line.find_last_not_of(" \t", braces == 0 ? 0 : braces - 1);
    const bool starts = braces == 0 || before == std::string_view::npos || line[before] == ':';
    return (starts || line.find('{') < braces) && hint(kQuoteOrBlock);
  }

  bool of_first_character() {
    if (complains_of("anchor") || complains_of("alias")) {
      const char mark = character() == '*' || character() == '&' ? character() : character(1);
      if (mark != '*' && mark != '&') return false;
      return hint(fmt::format("a text that starts with '{}' needs quotes", mark));
    }
    if (complains_of("unknown token")) {
      return hint(fmt::format("a text that starts with '{}' needs quotes", character()));
    }
    if (complains_of("block scalar")) {
      return hint("the text goes on the lines below; one that starts with '|' or '>' needs quotes");
    }
    return false;
  }

  bool of_quotes() {
    if (complains_of("escape character")) {
      return hint("in double quotes '\\' is written '\\\\'; in single quotes it means itself");
    }
    std::size_t back = 1;
    while (character(back) == ' ' && back < static_cast<std::size_t>(problem_.pos.column)) ++back;
    const char last = character(back);
    if (!complains_of("end of map") || (last != '"' && last != '\'')) return false;
    return hint("the text ends with its second quote; " + std::string(kQuoteOrBlock));
  }

  bool of_colons() {
    const std::string_view line = source_.line(problem_.pos.line);
    const std::size_t colon = line.find(": ");
    const bool second =
        colon != std::string_view::npos && line.find(": ", colon + 2) != std::string_view::npos;
    if (second || complains_of("flow")) return hint(kQuoteOrBlock);
    const bool tab = line.find('\t') < line.find_first_not_of(" \t");
    return tab && hint("indent with spaces, not with tabs");
  }

  // The line itself, or the one above it, was meant to belong to the text after '|'.
  bool of_text_end() {
    for (const Line* line : {&above_, &line_}) {
      if (line->number == 0 || !line->key.empty()) continue;
      const std::optional<Line> opener = text_that_ends_at(source_, *line);
      if (!opener) continue;
      return say(*line,
                 fmt::format("this line is indented too little for the text of '{}' in line {}",
                             opener->key, opener->number),
                 fmt::format("indent it further than '{}'", opener->key));
    }
    return false;
  }

  bool of_missing_colon() {
    if (above_.number == 0 || !above_.is_word() || above_.indent >= line_.indent) return false;
    return say(above_, fmt::format("'{}' has no ':' behind it", above_.text),
               fmt::format("write '{}:'", above_.text));
  }

  bool of_columns() {
    if (above_.number == 0 || line_.key.empty() || above_.key.empty()) return false;
    if (line_.indent > above_.indent) {
      if (above_.text.size() == above_.key.size() + 1 || above_.opens_text()) return false;
      return say(
          line_,
          fmt::format("'{}' is indented further than '{}' above it, which has a value already",
                      line_.key, above_.key),
          kSameColumn);
    }
    if (line_.indent == above_.indent) return false;
    return say(line_, fmt::format("'{}' starts in a column of its own", line_.key),
               fmt::format("{}: '{}' above starts in column {}", kSameColumn, above_.key,
                           above_.indent + 1));
  }

  const SourceText& source_;
  const std::string_view what_;
  Problem problem_;
  const Line line_, above_;
};

}  // namespace

Problem explain_syntax(const SourceText& source, const SourcePos& pos, std::string_view what) {
  return Advice(source, pos, what).give();
}

}  // namespace swarmkv::internal
