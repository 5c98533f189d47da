// Prompts with {{ agent }} in them: parsed once into pieces, rendered once. What is inserted is
// never looked at again, so an answer cannot become a template.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

struct TemplatePiece {
  enum class Kind { kLiteral, kReference } kind = Kind::kLiteral;
  std::string text;        ///< the literal, or the name of the agent whose answer goes here
  std::size_t offset = 0;  ///< of the piece in the prompt, in bytes
  std::size_t length = 0;  ///< bytes it takes there
};

/// Something in a prompt that cannot be rendered.
struct TemplateIssue {
  std::string code, message, hint;
  std::size_t offset = 0, length = 0;
};

/// Immutable after parse().
class Template {
 public:
  /// Never throws for bad text; what is wrong is in issues(), and such parts stay literal. Linear.
  static Template parse(std::string_view text);

  /// In order; literals are never empty and never stand side by side.
  [[nodiscard]] const std::vector<TemplatePiece>& pieces() const { return pieces_; }
  [[nodiscard]] const std::vector<TemplateIssue>& issues() const { return issues_; }

  /// The text with every reference replaced by its answer, verbatim.
  /// errors  kInternal  an answer is missing (validation makes sure that none is)
  [[nodiscard]] std::string render(const Answers& answers) const;

 private:
  void add_literal(std::string_view text, std::size_t offset, std::size_t length);
  void add_expression(std::string_view body, std::size_t offset, std::size_t length);
  void add_issue(const char* code, std::string message, std::string hint, std::size_t offset,
                 std::size_t length);

  std::vector<TemplatePiece> pieces_;
  std::vector<TemplateIssue> issues_;
};

/// A template that renders to exactly `text`, whatever braces it holds.
std::string escape_template(std::string_view text);

}  // namespace swarmkv::internal
