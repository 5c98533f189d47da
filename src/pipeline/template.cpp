#include "pipeline/template.h"

#include <optional>
#include <utility>

#include "pipeline/template_expression.h"
#include "text/trim.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kOpen = "{{";
constexpr std::string_view kClose = "}}";
constexpr std::string_view kEscapeHint = "a literal '{{' is written {{ '{{' }}";

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
    TemplateExpression expression = parse_expression(text, open + 2);
    if (expression.piece) {
      expression.piece->offset = open;
      expression.piece->length = expression.end - open;
      result.pieces_.push_back(std::move(*expression.piece));
      at = expression.end;
      continue;
    }
    const std::size_t close = find_delimiter(text, open + 2);
    if (close == std::string_view::npos || text[close] == '{') {
      result.add_issue({"SK301", "'{{' is never closed", std::string(kEscapeHint), open, 2});
      at = open + 2;
      continue;
    }
    TemplateIssue issue = expression.issue.message.empty()
                              ? explain_body(text.substr(open + 2, close - open - 2))
                              : std::move(expression.issue);
    issue.offset = open;
    issue.length = close + 2 - open;
    result.add_issue(std::move(issue));
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

void Template::add_issue(TemplateIssue issue) {
  constexpr std::size_t kMaxIssues = 100;  // nobody reads more, and every two braces could be one
  if (issues_.size() < kMaxIssues) issues_.push_back(std::move(issue));
}

}  // namespace swarmkv::internal

namespace swarmkv {

std::string escape_template(std::string_view text) {
  constexpr std::string_view kOpen = "{{";
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

}  // namespace swarmkv
