#include "pipeline/template_expression.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/names.h"
#include "text/trim.h"

namespace swarmkv::internal {
namespace {

constexpr std::string_view kEscapeHint = "a literal '{{' is written {{ '{{' }}";
constexpr const char* kFilterHint = "filters are default('text'), trim and json";
constexpr const char* kDefaultHint = "write default('text')";
// Bounds how far a quote that is never closed is searched for, and how often that can be.
constexpr std::size_t kMaxDefaultBytes = 2'000;

std::string shown(std::string_view text) {
  constexpr std::size_t kMaxShown = 60;
  if (text.size() <= kMaxShown) return std::string(text);
  std::size_t end = kMaxShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "...";
}

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Parser {
 public:
  Parser(std::string_view text, std::size_t from) : text_(text), at_(from) {}

  TemplateExpression parse() {
    TemplatePiece piece;
    skip_blank();
    if (read_head(piece) && read_filters(piece)) {
      skip_blank();
      if (text_.substr(at_, 2) == "}}") {
        result_.piece = std::move(piece);
        at_ += 2;
      } else if (!piece.filters.empty() || piece.path) {
        fail("'" + word_here() + "' is not expected here", kFilterHint);
      }  // else "{{ two words }}", better explained as a whole
    }
    result_.end = at_;
    return std::move(result_);
  }

 private:
  bool fail(std::string message, std::string hint) {
    result_.issue.code = "SK301";
    result_.issue.message = std::move(message);
    result_.issue.hint = std::move(hint);
    return false;
  }

  bool read_head(TemplatePiece& piece) {
    const std::string_view name = take_word();
    if (name == "vars") return read_var(piece);
    if (!has_name_form(name)) return fail("", "");
    const bool has_more = at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[');
    if (has_more && is_reserved_name(name)) return fail("", "");
    piece.kind = TemplatePiece::Kind::kReference;
    piece.text = std::string(name);
    if (!has_more) return true;
    if (text_.substr(at_, 5) != ".json" || (at_ + 5 < text_.size() && is_word(text_[at_ + 5]))) {
      return no_parts(name);
    }
    at_ += 5;
    return read_path(piece);
  }

  bool read_var(TemplatePiece& piece) {
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      const std::string_view name = take_word();
      piece.kind = TemplatePiece::Kind::kVariable;
      piece.text = std::string(name);
      if (has_name_form(name)) return true;
      result_.issue.word = "vars." + shown(name);
    }
    return fail("'vars' needs the name of a var", "write {{ vars.name }}");
  }

  bool no_parts(std::string_view name) {
    const std::size_t begin = at_ - name.size();
    while (at_ < text_.size() &&
           (is_word(text_[at_]) || text_[at_] == '.' || text_[at_] == '[' || text_[at_] == ']')) {
      ++at_;
    }
    result_.issue.word = shown(text_.substr(begin, at_ - begin));
    return fail("an answer has no parts: '" + result_.issue.word + "'",
                "{{ " + std::string(name) + " }} inserts all of it, {{ " + std::string(name) +
                    ".json.key }} a part of an answer that is JSON");
  }

  bool read_path(TemplatePiece& piece) {
    piece.path.emplace();
    while (at_ < text_.size() && (text_[at_] == '.' || text_[at_] == '[')) {
      const bool is_key = text_[at_++] == '.';
      const std::size_t begin = at_;
      while (at_ < text_.size() && (is_word(text_[at_]) || (is_key && text_[at_] == '-'))) ++at_;
      const std::string_view word = text_.substr(begin, at_ - begin);
      if (is_key) {
        if (word.empty()) return bad_path();
        piece.path->push_back({std::string(word), {}});
        continue;
      }
      constexpr std::size_t kMaxDigits = 9;
      const bool digits =
          std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (word.empty() || !digits || word.size() > kMaxDigits) return bad_path();
      if (at_ >= text_.size() || text_[at_] != ']') return bad_path();
      ++at_;
      piece.path->push_back({"", static_cast<std::size_t>(std::stoul(std::string(word)))});
    }
    return true;
  }

  bool bad_path() {
    return fail("a path into an answer that cannot be read",
                "write it as .json.key[0].key, with whole numbers from 0 on in brackets");
  }

  bool read_filters(TemplatePiece& piece) {
    for (skip_blank(); at_ < text_.size() && text_[at_] == '|'; skip_blank()) {
      ++at_;
      skip_blank();
      const std::string_view name = take_word();
      TemplateFilter filter;
      if (name == "default") {
        if (piece.kind == TemplatePiece::Kind::kVariable) {
          return fail("a var is always there, 'default' would never be used",
                      "the text under 'vars' is the default, --var replaces it");
        }
        filter.kind = TemplateFilter::Kind::kDefault;
        if (!read_default(filter.text)) return false;
      } else if (name == "trim") {
        filter.kind = TemplateFilter::Kind::kTrim;
      } else if (name == "json") {
        filter.kind = TemplateFilter::Kind::kJson;
      } else {
        return fail("unknown filter '" + shown(name.empty() ? word_here() : name) + "'",
                    kFilterHint);
      }
      if (filter.kind != TemplateFilter::Kind::kDefault && at_ < text_.size() &&
          text_[at_] == '(') {
        return fail("filter '" + std::string(name) + "' takes nothing in brackets", kFilterHint);
      }
      piece.filters.push_back(std::move(filter));
    }
    return true;
  }

  bool read_default(std::string& out) {
    skip_blank();
    if (!take('(')) return fail("'default' needs a text in brackets and quotes", kDefaultHint);
    skip_blank();
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') {
      return fail("'default' needs a text in quotes", kDefaultHint);
    }
    ++at_;
    if (!read_quoted(quote, out)) return false;
    skip_blank();
    if (!take(')')) return fail("'default' needs one text and ')'", kDefaultHint);
    return true;
  }

  bool read_quoted(char quote, std::string& out) {
    const std::size_t last = std::min(text_.size(), at_ + kMaxDefaultBytes);
    for (; at_ < last; ++at_) {
      char c = text_[at_];
      if (c == quote) {
        ++at_;
        return true;
      }
      if (c == '\\') {
        constexpr std::string_view kEscapes = "\\'\"nt", kMeant = "\\'\"\n\t";
        const std::size_t escape = at_ + 1 < last ? kEscapes.find(text_[at_ + 1]) : kEscapes.npos;
        if (escape == std::string_view::npos) {
          return fail("a '\\' that stands for nothing", "\\\\ \\' \\\" \\n and \\t are there");
        }
        c = kMeant[escape];
        ++at_;
      }
      out += c;
    }
    return fail("the text of 'default' is not closed, or longer than 2,000 bytes", kDefaultHint);
  }

  bool take(char c) {
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  std::string_view take_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }

  // What stands at the cursor, for messages.
  [[nodiscard]] std::string word_here() const {
    const std::string_view rest = text_.substr(at_, 60);
    return std::string(rest.substr(0, std::min(rest.find_first_of(" \t\r\n}{|"), rest.size())));
  }

  void skip_blank() {
    while (at_ < text_.size() && kBlank.find(text_[at_]) != std::string_view::npos) ++at_;
  }

  std::string_view text_;
  std::size_t at_;
  TemplateExpression result_;
};

}  // namespace

TemplateExpression parse_expression(std::string_view text, std::size_t from) {
  return Parser(text, from).parse();
}

TemplateIssue explain_body(std::string_view body) {
  constexpr std::size_t kMaxWord = 80;  // longer than a name with something in front
  body = trim(body);
  TemplateIssue issue;
  issue.code = "SK301";
  issue.message = body.empty() ? "'{{ }}' names nothing" : "'" + shown(body) + "' is not a name";
  issue.hint = body.empty() ? std::string(kEscapeHint)
                            : "write {{ name }} for an agent's answer; " + std::string(kEscapeHint);
  const std::string_view word = trim(body.substr(0, body.find('|')));
  if (word.size() > kMaxWord) return issue;
  for (const char c : word) issue.word += kBlank.find(c) == std::string_view::npos ? c : '_';
  return issue;
}

}  // namespace swarmkv::internal
