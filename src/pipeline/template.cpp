#include "pipeline/template.h"

#include <optional>
#include <utility>

#include "pipeline/names.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kEscapeHint = "a literal '{{' is written {{ '{{' }}";

std::string_view trim(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  if (text.size() <= kMaxShown) return std::string(text);
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

// The first "{{" or "}}" at or after `from`.
std::size_t find_delimiter(std::string_view text, std::size_t from) {
  for (std::size_t i = from; i + 1 < text.size(); ++i) {
    if ((text[i] == '{' || text[i] == '}') && text[i + 1] == text[i]) return i;
  }
  return std::string_view::npos;
}

struct QuotedBraces {
  std::string_view text;
  std::size_t end;  // after the closing "}}"
};

// {{ '{{' }} and {{ '}}' }}, the way to write braces that are only braces. `from` is after the
// "{{".
std::optional<QuotedBraces> match_quoted_braces(std::string_view text, std::size_t from) {
  const std::size_t quote = text.find_first_not_of(kBlank, from);
  if (quote == std::string_view::npos || quote + 3 >= text.size()) return std::nullopt;
  if ((text[quote] != '\'' && text[quote] != '"') || text[quote + 3] != text[quote]) {
    return std::nullopt;
  }
  const std::string_view braces = text.substr(quote + 1, 2);
  if (braces != kOpen && braces != kClose) return std::nullopt;
  const std::size_t close = text.find_first_not_of(kBlank, quote + 4);
  if (close == std::string_view::npos || text.substr(close, 2) != kClose) return std::nullopt;
  return QuotedBraces{braces, close + 2};
}

bool is_planned_filter(std::string_view name) {
  for (const std::string_view planned : {"default", "trim", "json"}) {
    if (name == planned) return true;
  }
  return false;
}

}  // namespace

Template Template::parse(std::string_view text) {
  Template result;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t open = text.find(kOpen, at);
    if (open == std::string_view::npos) break;
    result.add_literal(text.substr(at, open - at), at, open - at);
    if (const auto quoted = match_quoted_braces(text, open + 2)) {
      result.add_literal(quoted->text, open, quoted->end - open);
      at = quoted->end;
      continue;
    }
    const std::size_t close = find_delimiter(text, open + 2);
    if (close == std::string_view::npos || text[close] == '{') {
      result.add_issue("SK301", "'{{' is never closed", std::string(kEscapeHint), open, 2);
      at = open + 2;
      continue;
    }
    result.add_expression(trim(text.substr(open + 2, close - open - 2)), open, close + 2 - open);
    at = close + 2;
  }
  if (at < text.size()) result.add_literal(text.substr(at), at, text.size() - at);
  return result;
}

void Template::add_literal(std::string_view text, std::size_t offset, std::size_t length) {
  if (text.empty()) return;
  if (!pieces_.empty() && pieces_.back().kind == TemplatePiece::Kind::kLiteral) {
    pieces_.back().text += text;
    pieces_.back().length = offset + length - pieces_.back().offset;
    return;
  }
  pieces_.push_back({TemplatePiece::Kind::kLiteral, std::string(text), offset, length});
}

void Template::add_expression(std::string_view body, std::size_t offset, std::size_t length) {
  if (has_name_form(body) && body != "vars") {
    pieces_.push_back({TemplatePiece::Kind::kReference, std::string(body), offset, length});
    return;
  }
  const std::string text = shown(body);
  if (body.empty()) {
    add_issue("SK301", "'{{ }}' names nothing", std::string(kEscapeHint), offset, length);
    return;
  }
  if (const std::size_t bar = body.find('|'); bar != std::string_view::npos) {
    const std::string_view tail = trim(body.substr(bar + 1));
    const std::string_view filter = tail.substr(0, tail.find_first_of(" \t\r\n(|"));
    if (is_planned_filter(filter)) {
      add_issue("SK102", "filter '" + std::string(filter) + "' is not built yet", "", offset,
                length);
    } else {
      add_issue("SK301", "unknown filter '" + shown(filter) + "'", "", offset, length);
    }
    return;
  }
  const std::size_t dot = body.find_first_of(".[");
  const std::string_view head = body.substr(0, dot);
  if (head == "vars") {
    add_issue("SK102", "'vars' is not built yet", "", offset, length);
    return;
  }
  if (dot != std::string_view::npos && has_name_form(head)) {
    if (body.substr(dot, 5) == ".json") {
      add_issue("SK102", "a part of an answer ('" + text + "') is not built yet",
                "{{ " + std::string(head) + " }} inserts the whole answer", offset, length);
    } else {
      add_issue("SK301", "an answer has no parts: '" + text + "'",
                "{{ " + std::string(head) + " }} inserts the whole answer", offset, length);
    }
    return;
  }
  add_issue("SK301", "'" + text + "' is not a name",
            "write {{ name }} for an agent's answer; " + std::string(kEscapeHint), offset, length);
}

void Template::add_issue(const char* code, std::string message, std::string hint,
                         std::size_t offset, std::size_t length) {
  constexpr std::size_t kMaxIssues = 100;  // nobody reads more, and every two braces could be one
  if (issues_.size() == kMaxIssues) return;
  issues_.push_back({code, std::move(message), std::move(hint), offset, length});
}

std::string Template::render(const Answers& answers) const {
  std::string result;
  for (const TemplatePiece& piece : pieces_) {
    if (piece.kind == TemplatePiece::Kind::kLiteral) {
      result += piece.text;
      continue;
    }
    const auto answer = answers.find(piece.text);
    if (answer == answers.end()) {
      throw Error(ErrorCode::kInternal,
                  "[pipeline.render] no answer of '" + piece.text + "' to insert");
    }
    result += answer->second;
  }
  return result;
}

std::string escape_template(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  for (std::size_t open = text.find(kOpen); open != std::string_view::npos;
       open = text.find(kOpen, at)) {
    result += text.substr(at, open - at);
    result += "{{ '{{' }}";
    at = open + 2;
  }
  result += text.substr(at);
  return result;
}

}  // namespace swarmkv::internal
