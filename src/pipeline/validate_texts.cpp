#include "pipeline/validate_texts.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmt/format.h"

namespace swarmkv::internal {

// One agent's prompt.
class TextCheck::Prompt {
 public:
  Prompt(TextCheck& check, AgentSpec& agent, std::unordered_set<std::string> needs)
      : check_(check),
        agent_(agent),
        positions_(agent.prompt, "prompt", agent.key_pos, agent.pos),
        needs_(std::move(needs)),
        optional_(agent.optional_needs.begin(), agent.optional_needs.end()) {}

  void check() {
    const Template prompt = Template::parse(agent_.prompt);
    check_.report_issues(prompt, agent_.prompt, positions_, false);
    check_.check_size(prompt, "the prompt of '" + agent_.name + "'", key_position(agent_, "prompt"),
                      "prompt");
    // Collected first: positions_ looks into the map that implied needs are added to.
    for (const TemplatePiece& piece : prompt.pieces()) {
      if (piece.kind != TemplatePiece::Kind::kLiteral) warn_of_dollar(piece);
      if (piece.kind == TemplatePiece::Kind::kVariable) {
        check_.use_var(piece.text, "'" + agent_.name + "'", positions_.at(piece.offset),
                       source(piece));
      } else if (piece.kind == TemplatePiece::Kind::kReference) {
        check_reference(piece);
      }
    }
    warn_of_unused();
  }

 private:
  [[nodiscard]] std::string source(const TemplatePiece& piece) const {
    return agent_.prompt.substr(piece.offset, piece.length);
  }

  // As other programs write it; here the sign would stand before the answer.
  void warn_of_dollar(const TemplatePiece& piece) {
    if (piece.offset == 0 || agent_.prompt[piece.offset - 1] != '$') return;
    if (!reported_.insert("$").second) return;
    Problem problem;
    problem.code = "SK609";
    problem.message = fmt::format("'${{{{ {0} }}}}' puts '$' before the text", piece.text);
    problem.pos = positions_.at(piece.offset - 1);
    problem.length = 1;
    problem.hint = "write {{ " + piece.text + " }}";
    check_.diagnostics_.warning(std::move(problem));
  }

  void check_reference(const TemplatePiece& piece) {
    const std::string& name = piece.text;
    const AgentSpec* target = check_.names_.find(name);
    const SourcePos& pos = positions_.at(piece.offset);
    const bool first = used_.insert(name).second;
    if (first && needs_.insert(name).second) {
      if (target == nullptr) {
        std::string hint = check_.names_.template_hint(name);
        if (hint.empty()) hint = check_.names_.hint(name, agent_.name);
        error("SK302", fmt::format("'{}' needs '{}', which is not an agent", agent_.name, name),
              piece, std::move(hint));
        return;
      }
      agent_.needs.push_back(name);
      agent_.key_pos.emplace("needs." + name, SourcePos(pos));
    }
    if (target == nullptr) return;
    if (piece.path && !target->function && target->sampling.json_schema.empty() &&
        reported_.insert(name + " json").second) {
      error("SK305",
            fmt::format("'{}' looks into the answer of '{}', which has no 'json_schema'",
                        agent_.name, name),
            piece, "an answer is sure to be JSON only with one");
    }
    check_default(piece);
  }

  void check_default(const TemplatePiece& piece) {
    const std::string& name = piece.text;
    const bool is_optional = optional_.count(name) > 0;
    if (is_optional && !piece.has_default() && reported_.insert(name + " default").second) {
      error("SK304",
            fmt::format("'{}' may run without '{}', but the prompt has no text for that case",
                        agent_.name, name),
            piece, fmt::format("write {{{{ {} | default('none') }}}}", name));
    }
    // With a path the text may also stand for a part that the answer lacks.
    if (is_optional || !piece.has_default() || piece.path) return;
    Problem problem;
    problem.code = "SK603";
    problem.message = fmt::format(
        "the default for '{}' is never used: '{}' does not run without it", name, agent_.name);
    problem.pos = positions_.at(piece.offset);
    problem.length = marked_length(source(piece));
    problem.hint = fmt::format("write needs: [{{ agent: {}, required: false }}]", name);
    check_.diagnostics_.warning(std::move(problem));
  }

  void warn_of_unused() {
    for (const std::string& need : agent_.needs) {
      const bool is_used = used_.count(need) > 0 || need == agent_.continues;
      if (is_used || check_.names_.find(need) == nullptr || need == agent_.name) continue;
      Problem problem;
      problem.pos = key_position(agent_, "needs." + need);
      problem.length = marked_length(need);
      if (optional_.count(need) > 0) {
        problem.code = "SK304";
        problem.message = fmt::format(
            "'{}' may run without '{}', and its prompt does not use the answer", agent_.name, need);
        problem.hint = fmt::format("insert it with {{{{ {} | default('none') }}}}", need);
        check_.diagnostics_.error(std::move(problem));
        continue;
      }
      problem.code = "SK602";
      problem.message = fmt::format("'{}' waits for '{}', but its prompt does not use the answer",
                                    agent_.name, need);
      problem.hint = "insert it with {{ " + need + " }}";
      check_.diagnostics_.warning(std::move(problem));
    }
  }

  void error(const char* code, std::string message, const TemplatePiece& piece, std::string hint) {
    check_.diagnostics_.error({code, std::move(message), positions_.at(piece.offset),
                               marked_length(source(piece)), std::move(hint)});
  }

  TextCheck& check_;
  AgentSpec& agent_;
  const TemplatePositions positions_;
  std::unordered_set<std::string> needs_;
  const std::unordered_set<std::string> optional_;
  std::unordered_set<std::string> used_, reported_;
};

void TextCheck::check_prompt(AgentSpec& agent, std::unordered_set<std::string> needs) {
  Prompt(*this, agent, std::move(needs)).check();
}

// A system text and where it stands; both names of it begin a sentence.
struct TextCheck::System {
  std::string_view text;
  std::string user;   ///< who uses what is in it
  std::string title;  ///< what the text itself is called
  const KeyPositions& positions;
  SourcePos fallback;
};

void TextCheck::check_system(const AgentSpec& agent) {
  const std::string name = "'" + agent.name + "'";
  check({agent.system, name, "the system text of " + name, agent.key_pos, agent.pos});
}

void TextCheck::check_shared_system(const KeyPositions& top_pos) {
  const std::string name = "the shared system text";
  check({pipeline_.system, name, name, top_pos, {}});
}

void TextCheck::check(const System& system) {
  const std::string_view text = system.text;
  if (text.find("{{") == std::string_view::npos) return;
  const Template parsed = Template::parse(text);
  const TemplatePositions places(text, "system", system.positions, system.fallback);
  report_issues(parsed, text, places, true);
  const auto key = system.positions.find("system");
  check_size(parsed, system.title, key != system.positions.end() ? key->second : system.fallback,
             "system");
  for (const TemplatePiece& piece : parsed.pieces()) {
    const SourcePos& pos = places.at(piece.offset);
    const std::string_view source = text.substr(piece.offset, piece.length);
    if (piece.kind == TemplatePiece::Kind::kVariable) {
      use_var(piece.text, system.user, pos, source);
    } else if (piece.kind == TemplatePiece::Kind::kReference) {
      diagnostics_.error({"SK306",
                          fmt::format("{} inserts '{}', but only vars may stand in 'system'",
                                      system.user, piece.text),
                          pos, marked_length(source), "insert answers in 'prompt'"});
    }
  }
}

void TextCheck::report_issues(const Template& text, std::string_view source,
                              const TemplatePositions& positions, bool only_vars) {
  for (const TemplateIssue& issue : text.issues()) {
    std::string hint = issue.word.empty() ? "" : names_.template_hint(issue.word, only_vars);
    if (hint.empty()) hint = issue.hint;
    diagnostics_.error({issue.code, issue.message, positions.at(issue.offset),
                        marked_length(source.substr(issue.offset, issue.length)), std::move(hint)});
  }
}

void TextCheck::check_size(const Template& text, const std::string& what, const SourcePos& pos,
                           std::string_view marked) {
  constexpr std::size_t kMostInAll = 16 * kMaxRenderedBytes;
  const auto too_much = [&](const std::string& of, std::size_t n, std::size_t most) {
    diagnostics_.error(
        {"SK307",
         fmt::format("{} {} bytes with vars filled in, at most {} are allowed", of, n, most), pos,
         marked_length(marked), "a long text is better read as a document"});
  };
  const std::size_t n = text.n_fixed_bytes(pipeline_.vars);
  if (n > kMaxRenderedBytes) return too_much(what + " has", n, kMaxRenderedBytes);
  const bool has_vars = std::any_of(
      text.pieces().begin(), text.pieces().end(),
      [](const TemplatePiece& piece) { return piece.kind == TemplatePiece::Kind::kVariable; });
  if (!has_vars || n_bytes_ > kMostInAll) return;  // told once
  n_bytes_ += n;
  if (n_bytes_ > kMostInAll) too_much("up to " + what + " all texts have", n_bytes_, kMostInAll);
}

void TextCheck::use_var(const std::string& name, const std::string& owner, const SourcePos& pos,
                        std::string_view marked) {
  if (!used_vars_.insert(name).second || pipeline_.vars.count(name) > 0) return;
  std::vector<std::string> names;
  if (diagnostics_.wants_suggestions()) {
    for (const auto& [var, text] : pipeline_.vars) names.push_back(var);
  }
  const auto nearest = nearest_name(name, names);
  diagnostics_.error(
      {"SK303", fmt::format("{} uses var '{}', which is not there", owner, name), pos,
       marked_length(marked),
       nearest ? "did you mean '" + *nearest + "'?" : "write it under 'vars' at the top"});
}

void TextCheck::warn_of_unused_vars(const KeyPositions& top_pos) {
  for (const auto& [name, text] : pipeline_.vars) {
    if (used_vars_.count(name) > 0) continue;
    const auto pos = top_pos.find("vars." + name);
    Problem problem;
    problem.code = "SK602";
    problem.message = fmt::format("no prompt and no system text uses var '{}'", name);
    if (pos != top_pos.end()) problem.pos = pos->second;
    problem.length = marked_length(name);
    problem.hint = "insert it with {{ vars." + name + " }}";
    diagnostics_.warning(std::move(problem));
  }
}

}  // namespace swarmkv::internal
