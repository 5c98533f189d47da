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
      if (piece.has_default()) return {};  // whatever keeps the part from being there
      throw Error(ErrorCode::kInvalidArgument,
                  fmt::format("[pipeline.render] the answer of '{}' has no {}: {}", piece.text,
                              path_text(*piece.path), part.problem));
    case JsonPart::State::kNoJson:
      if (piece.has_default()) return {};
      break;
  }
  throw Error(ErrorCode::kInvalidArgument,
              fmt::format("[pipeline.render] the answer of '{}' is not JSON, so it has no {}; it "
                          "has {} bytes and may have been cut",
                          piece.text, path_text(*piece.path), answer.size()));
}

// The texts of vars in one prompt. What filters make of one is worked out once, however often the
// prompt has it.
class VarTexts {
 public:
  explicit VarTexts(const Vars& vars) : vars_(vars) {}

  /// Null if there is no such var. Valid until the next call.
  const std::string* find(const TemplatePiece& piece) {
    const auto var = vars_.find(piece.text);
    if (var == vars_.end()) return nullptr;
    if (piece.filters.empty()) return &var->second;
    std::string key = piece.text;
    for (const TemplateFilter& filter : piece.filters) {
      key += filter.kind == TemplateFilter::Kind::kTrim ? "|trim" : "|json";
    }
    const auto [known, is_new] = filtered_.emplace(std::move(key), std::string());
    if (is_new) known->second = render_reference(piece, &var->second);
    return &known->second;
  }

  const std::string& get(const TemplatePiece& piece) {
    const std::string* text = find(piece);
    if (text != nullptr) return *text;
    throw Error(ErrorCode::kInternal, "[pipeline.render] no var '" + piece.text + "' to insert");
  }

 private:
  const Vars& vars_;
  std::map<std::string, std::string> filtered_;
};

// Checked before it is allocated: a short file can say very much by saying it often.
void append(std::string& result, std::string_view part) {
  if (part.size() > kMaxRenderedBytes - result.size()) {
    throw Error(
        ErrorCode::kInvalidArgument,
        fmt::format("[pipeline.render] the text has {} bytes or more with what is inserted; "
                    "at most {} are allowed",
                    result.size() + part.size(), kMaxRenderedBytes));
  }
  result += part;
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
  VarTexts texts(vars);
  for (const TemplatePiece& piece : pieces_) {
    if (piece.kind == TemplatePiece::Kind::kLiteral) {
      append(result, piece.text);
    } else if (piece.kind == TemplatePiece::Kind::kVariable) {
      append(result, texts.get(piece));
    } else {
      append(result, render_answer(piece));
    }
  }
  return result;
}

std::size_t Template::n_fixed_bytes(const Vars& vars) const {
  std::size_t n = 0;
  VarTexts texts(vars);
  for (const TemplatePiece& piece : pieces_) {
    if (piece.kind == TemplatePiece::Kind::kLiteral) {
      n += piece.text.size();
    } else if (piece.kind == TemplatePiece::Kind::kVariable) {
      if (const std::string* text = texts.find(piece)) n += text->size();
    } else if (piece.has_default()) {
      n += render_reference(piece, nullptr).size();
    }
  }
  return n;
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
