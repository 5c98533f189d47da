// What may stand between "{{" and "}}":
//
//   name [ .json { .key | [0] } ] { | filter }      an agent's answer or a part of it
//   vars.name { | filter }                          a var
//   filter: default('text')  trim  json
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "pipeline/template.h"

namespace swarmkv::internal {

struct TemplateExpression {
  std::optional<TemplatePiece> piece;  ///< without offset and length; empty: see `issue`
  std::size_t end = 0;                 ///< behind the "}}"; where reading stopped if it failed
  TemplateIssue issue;                 ///< code, message and hint; message empty: `body` is no name
};

/// Reads the expression that starts at `from`, behind "{{". Looks at no more of `text` than the
/// expression is long, and a bounded number of bytes.
TemplateExpression parse_expression(std::string_view text, std::size_t from);

/// What to say of `body`, all that stands between two pairs of braces, when it starts with nothing
/// that could be meant.
TemplateIssue explain_body(std::string_view body);

}  // namespace swarmkv::internal
