#include <algorithm>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "pipeline/template.h"
#include "swarmkv/error.h"
#include "text/trim.h"

namespace swarmkv::internal {
namespace {

// What a reference stands for while filters work on it.
struct Value {
  std::optional<std::string> text;
  bool is_json = false;  ///< a JSON value that is no text: it needs no quotes to be JSON
};

void apply(const TemplateFilter& filter, Value& value) {
  if (filter.kind == TemplateFilter::Kind::kDefault) {
    if (!value.text) value = {filter.text, false};
  } else if (!value.text) {
    return;  // nothing stays nothing until a default
  } else if (filter.kind == TemplateFilter::Kind::kTrim) {
    value.text = std::string(trim(*value.text));
  } else if (!value.is_json) {
    value = {quote_json(*value.text), true};
  }
}

Value part_of(const TemplatePiece& piece, const std::string& answer) {
  JsonPart part = find_in_json(answer, *piece.path);
  switch (part.state) {
    case JsonPart::State::kFound:
      return {std::move(part.value), !part.is_text};
    case JsonPart::State::kAbsent:
      if (piece.has_default()) return {};
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("[pipeline.render] the answer of '{}' has no {}: {}", piece.text,
                              path_text(*piece.path), part.problem));
    case JsonPart::State::kNoJson:
      break;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("[pipeline.render] the answer of '{}' is not JSON, so it has no {}; it "
                          "has {} bytes and may have been cut",
                          piece.text, path_text(*piece.path), answer.size()));
}

const std::string& var_of(const TemplatePiece& piece, const Vars& vars) {
  const auto var = vars.find(piece.text);
  if (var == vars.end()) {
    throw Error(ErrorCode::kInternal, "[pipeline.render] no var '" + piece.text + "' to insert");
  }
  return var->second;
}

}  // namespace

bool TemplatePiece::has_default() const {
  return std::any_of(filters.begin(), filters.end(), [](const TemplateFilter& filter) {
    return filter.kind == TemplateFilter::Kind::kDefault;
  });
}

std::string render_reference(const TemplatePiece& piece, const std::string* answer) {
  Value value;
  if (answer != nullptr) value = piece.path ? part_of(piece, *answer) : Value{*answer, false};
  for (const TemplateFilter& filter : piece.filters) apply(filter, value);
  if (value.text) return std::move(*value.text);
  throw Error(ErrorCode::kInternal,
              "[pipeline.render] no answer of '" + piece.text + "' to insert");
}

template <typename RenderAnswer>
std::string Template::render_pieces(const Vars& vars, RenderAnswer render_answer) const {
  std::string result;
  for (const TemplatePiece& piece : pieces_) {
    if (piece.kind == TemplatePiece::Kind::kLiteral) {
      result += piece.text;
    } else if (piece.kind == TemplatePiece::Kind::kVariable) {
      result += render_reference(piece, &var_of(piece, vars));
    } else {
      result += render_answer(piece);
    }
  }
  return result;
}

std::string Template::render(const Answers& answers, const Vars& vars) const {
  return render_pieces(vars, [&](const TemplatePiece& piece) {
    const auto answer = answers.find(piece.text);
    return render_reference(piece, answer == answers.end() ? nullptr : &answer->second);
  });
}

std::string Template::render_without_answers(const Vars& vars) const {
  return render_pieces(vars, [](const TemplatePiece& piece) {
    return piece.has_default() ? render_reference(piece, nullptr) : std::string();
  });
}

std::string render_vars(std::string_view text, const Vars& vars) {
  if (text.find("{{") == std::string_view::npos) return std::string(text);
  return Template::parse(text).render({}, vars);
}

}  // namespace swarmkv::internal
