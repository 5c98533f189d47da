// Prompts with {{ agent }} and {{ vars.name }} in them: parsed once into pieces, rendered once.
// What is inserted is never looked at again, so an answer cannot become a template.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/json_text.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

using Vars = std::map<std::string, std::string>;

/// Of a text with everything in it that it inserts: more than any model's context holds.
inline constexpr std::size_t kMaxRenderedBytes = std::size_t{16} << 20;

struct TemplateFilter {
  enum class Kind { kDefault, kTrim, kJson } kind = Kind::kTrim;
  std::string text = {};  ///< of kDefault
};

struct TemplatePiece {
  enum class Kind { kLiteral, kReference, kVariable } kind = Kind::kLiteral;
  std::string text;        ///< the literal, or the name of the agent or of the var
  std::size_t offset = 0;  ///< of the piece in the prompt, in bytes
  std::size_t length = 0;  ///< bytes it takes there
  /// Of a reference: where in the answer, which is JSON. Empty path = all of it, as JSON.
  std::optional<std::vector<JsonStep>> path = {};
  std::vector<TemplateFilter> filters = {};  ///< in the order they are applied

  [[nodiscard]] bool has_default() const;
};

/// Something in a prompt that cannot be rendered.
struct TemplateIssue {
  std::string code, message, hint;
  std::size_t offset = 0, length = 0;
  std::string word = {};  ///< what stands where a name is expected, to look for one near it
};

/// Immutable after parse().
class Template {
 public:
  /// Never throws for bad text; what is wrong is in issues(), and such parts stay literal. Linear.
  static Template parse(std::string_view text);

  /// In order; literals are never empty and never stand side by side.
  [[nodiscard]] const std::vector<TemplatePiece>& pieces() const { return pieces_; }
  [[nodiscard]] const std::vector<TemplateIssue>& issues() const { return issues_; }

  /// The text with every reference replaced by what it stands for.
  /// errors  kInvalidArgument  without a default: an answer that should be JSON is not, or lacks
  ///                           what a path names; more than kMaxRenderedBytes
  ///         kInternal         an answer or a var is missing (validation makes sure that none is)
  [[nodiscard]] std::string render(const Answers& answers, const Vars& vars = {}) const;

  /// What is known before there are answers: literals, vars and default texts. For budgets.
  /// errors  kInvalidArgument  more than kMaxRenderedBytes
  [[nodiscard]] std::string render_without_answers(const Vars& vars) const;

  /// The size of that, without making it. A var that is not there counts as empty.
  [[nodiscard]] std::size_t n_fixed_bytes(const Vars& vars) const;

 private:
  template <typename RenderAnswer>
  [[nodiscard]] std::string render_pieces(const Vars& vars, RenderAnswer render_answer) const;
  void add_literal(std::string_view text, std::size_t offset, std::size_t length);
  void add_issue(TemplateIssue issue);

  std::vector<TemplatePiece> pieces_;
  std::vector<TemplateIssue> issues_;
};

/// The text of a piece that refers to something; `answer` is null if there is none.
/// errors  as Template::render
std::string render_reference(const TemplatePiece& piece, const std::string* answer);

/// `text`, which may hold {{ vars.name }} and no answers, as it is meant: a system text.
std::string render_vars(std::string_view text, const Vars& vars);

}  // namespace swarmkv::internal
