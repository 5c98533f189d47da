#include "pipeline/validate_needs.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "pipeline/prompt_positions.h"

namespace swarmkv::internal {
namespace {

class NeedsCheck {
 public:
  NeedsCheck(AgentSpec& agent, AgentNames& names, DiagnosticList& diagnostics)
      : agent_(agent), names_(names), diagnostics_(diagnostics) {}

  std::unordered_set<std::string> check() && {
    std::vector<std::string> given = std::exchange(agent_.needs, {});
    for (const std::string& need : given) {
      if (!add(need)) {
        error("SK204", fmt::format("'{}' needs '{}' twice", agent_.name, need), "needs." + need,
              need, "remove one of them");
      }
    }
    // Built in C++, an optional need may stand in its own list alone.
    for (const std::string& need : agent_.optional_needs) add(need);
    if (!agent_.continues.empty()) check_continues();
    return std::move(needs_);
  }

 private:
  bool add(const std::string& need) {
    if (!needs_.insert(need).second) return false;
    agent_.needs.push_back(need);
    if (names_.find(need) == nullptr) {
      error("SK202", fmt::format("'{}' needs '{}', which is not an agent", agent_.name, need),
            "needs." + need, need, list_hint_or(need, "needs"));
    }
    return true;
  }

  void check_continues() {
    const std::string& other = agent_.continues;
    const AgentSpec* target = names_.find(other);
    if (target == nullptr) {
      error("SK202", fmt::format("'{}' continues '{}', which is not an agent", agent_.name, other),
            "continues", "continues", names_.hint(other, agent_.name));
      return;
    }
    if (agent_.function || target->function) {
      error("SK209",
            fmt::format("'{}' continues '{}', but '{}' is a function and has no conversation",
                        agent_.name, other, agent_.function ? agent_.name : other),
            "continues", "continues",
            target->function ? "insert its answer: {{ " + other + " }}" : "write a prompt for it");
    }
    const bool reads = agent_.reads.has_value();
    if (reads || agent_.ready_after.kind != ReadyAfter::Kind::kEnd) {
      const std::string key = reads ? "reads" : "ready_after";
      error("SK105",
            fmt::format("'{}' has both 'continues' and '{}': it sees what '{}' has seen",
                        agent_.name, key, other),
            key, key, "remove one of them");
    }
    if (contains(agent_.optional_needs, other)) {
      error("SK105",
            fmt::format("'{}' continues '{}', so it cannot run without it", agent_.name, other),
            "needs." + other, other, "remove it from 'needs'");
    }
    if (needs_.insert(other).second) {
      agent_.needs.push_back(other);
      agent_.key_pos.emplace("needs." + other, key_position(agent_, "continues"));
    }
  }

  std::string list_hint_or(const std::string& need, const char* key) {
    std::string hint = list_hint(key, need);
    return hint.empty() ? names_.hint(need, agent_.name) : hint;
  }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  void error(const char* code, std::string message, const std::string& key, std::string_view marked,
             std::string hint = "") {
    diagnostics_.error({code, std::move(message), key_position(agent_, key), marked_length(marked),
                        std::move(hint)});
  }

  AgentSpec& agent_;
  AgentNames& names_;
  DiagnosticList& diagnostics_;
  std::unordered_set<std::string> needs_;
};

}  // namespace

std::unordered_set<std::string> check_needs(AgentSpec& agent, AgentNames& names,
                                            DiagnosticList& diagnostics) {
  return NeedsCheck(agent, names, diagnostics).check();
}

}  // namespace swarmkv::internal
