#include <string>
#include <string_view>
#include <unordered_map>

#include "pipeline/limits.h"
#include "pipeline/names.h"
#include "pipeline/validate.h"

namespace swarmkv::internal {
namespace {

struct Named {
  const std::string& name;
  const SourcePos& pos;
  const char* kind;
};

Problem name_problem(const Named& named, std::string message, std::string hint) {
  Problem problem;
  problem.code = "SK201";
  problem.message = std::move(message);
  problem.pos = named.pos;
  problem.length = static_cast<int>(count_characters(named.name));
  problem.hint = std::move(hint);
  return problem;
}

void check_form(const Named& named, DiagnosticList& diagnostics) {
  const std::string label = std::string(named.kind) + " name '" + named.name + "'";
  if (!has_name_form(named.name)) {
    diagnostics.error(name_problem(named, label + " is not allowed", name_form_hint(named.name)));
  } else if (is_reserved_name(named.name)) {
    diagnostics.error(
        name_problem(named, label + " is reserved",
                     "choose another: vars, documents and agents have a meaning in {{ }}"));
  }
}

}  // namespace

void check_documents(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  const DocumentSpec* piped = nullptr;
  for (const DocumentSpec& document : pipeline.documents) {
    if (!document.snapshot.empty() && !is_snapshot_setting(document.snapshot)) {
      diagnostics.error({"SK105",
                         "the snapshot of document '" + document.name +
                             "' must be 'off', 'auto' or a file, not '" + document.snapshot + "'",
                         document.pos, static_cast<int>(count_characters(document.name))});
    }
    if (document.path == "-" && !document.text) {
      if (piped == nullptr) {
        piped = &document;
        continue;
      }
      diagnostics.error({"SK105",
                         "documents '" + piped->name + "' and '" + document.name +
                             "' cannot both come from standard input",
                         document.pos, static_cast<int>(count_characters(document.name)),
                         "give one of them a file"});
    }
    if (!document.path.empty() || document.text) continue;
    diagnostics.error({"SK103", "document '" + document.name + "' has neither a path nor a text",
                       document.pos, 1, "give it one of them"});
  }
}

void check_names(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  std::unordered_map<std::string_view, Named> seen;
  const auto check = [&](const Named& named) {
    check_form(named, diagnostics);
    const auto [first, is_new] = seen.emplace(named.name, named);
    if (is_new) return;
    Problem problem =
        name_problem(named,
                     std::string(named.kind) + " '" + named.name + "' has the name of " +
                         (std::string_view(named.kind) == first->second.kind ? "another " : "a ") +
                         first->second.kind,
                     "give one of them another name");
    problem.code = "SK205";
    diagnostics.error(std::move(problem));
    diagnostics.note("the " + std::string(first->second.kind) + " '" + named.name + "' is here",
                     first->second.pos);
  };
  for (const DocumentSpec& document : pipeline.documents) {
    check({document.name, document.pos, "document"});
  }
  for (const AgentSpec& agent : pipeline.agents) check({agent.name, agent.pos, "agent"});
}

}  // namespace swarmkv::internal
