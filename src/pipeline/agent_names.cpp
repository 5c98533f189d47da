#include "pipeline/agent_names.h"

#include <algorithm>
#include <cctype>
#include <optional>

namespace swarmkv::internal {
namespace {

std::string did_you_mean(const std::string& name) { return "did you mean '" + name + "'?"; }

bool is_part_of_name(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte >= 0x80 || std::isalnum(byte) != 0 || c == '_' || c == '-';
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(c < 0x80 ? std::tolower(c) : c); });
  return text;
}

// What stands behind "agents." or "agent.": people take an agent for a member.
std::string without_prefix(const std::string& word) {
  for (const std::string_view prefix : {"agents.", "agent."}) {
    if (lower(word).rfind(prefix, 0) == 0) return word.substr(prefix.size());
  }
  return word;
}

}  // namespace

std::string name_hint(std::string_view name, const std::vector<std::string>& names,
                      std::string_view what) {
  constexpr std::size_t kFew = 5;
  if (const auto nearest = nearest_name(name, names)) return did_you_mean(*nearest);
  if (names.empty() || names.size() > kFew) return "";
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "'" : ", '") + each + "'";
  return std::string(what) + " " + list;
}

std::string list_hint(std::string_view key, std::string_view text) {
  std::string list;
  std::size_t n = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_part_of_name(text[end])) ++end;
    if (end > at) {
      list += (n++ == 0 ? "" : ", ") + std::string(text.substr(at, end - at));
    } else if (std::string_view(", \t;").find(text[at]) == std::string_view::npos) {
      return "";
    }
    at = std::max(end, at + 1);
  }
  return n < 2 ? "" : "a list is written " + std::string(key) + ": [" + list + "]";
}

const std::vector<std::string>& AgentNames::names() {
  if (names_.empty()) {
    for (const AgentSpec& agent : pipeline_.agents) names_.push_back(agent.name);
  }
  return names_;
}

std::vector<std::string> AgentNames::vars() const {
  std::vector<std::string> names;
  for (const auto& [name, text] : pipeline_.vars) names.push_back(name);
  return names;
}

std::string AgentNames::document_hint(const std::string& name) const {
  const bool is_one =
      std::any_of(pipeline_.documents.begin(), pipeline_.documents.end(),
                  [&](const DocumentSpec& document) { return document.name == lower(name); });
  return is_one ? "documents are not inserted: 'reads' puts them in front of a prompt" : "";
}

std::string AgentNames::hint(const std::string& name, const std::string& asker) {
  if (std::string hint = document_hint(name); !hint.empty()) return hint;
  if (!diagnostics_.wants_suggestions()) return "";
  if (const auto nearest = nearest_name(name, names())) return did_you_mean(*nearest);
  constexpr std::size_t kFew = 6;
  if (names().size() > kFew) return "";
  std::vector<std::string> others = names();
  std::erase(others, asker);  // it cannot need itself
  return name_hint(name, others, others.size() > 1 ? "the other agents are" : "the other agent is");
}

std::string AgentNames::template_hint(const std::string& word, bool only_vars) {
  if (!diagnostics_.wants_suggestions()) return "";
  const std::string plain = without_prefix(word);
  const std::size_t dot = std::min(plain.find_first_of(".["), plain.size());
  const std::string head = plain.substr(0, dot);
  const std::string tail = dot < plain.size() && plain[dot] == '.' ? plain.substr(dot + 1) : "";
  const std::string lower_head = lower(head);
  if (lower_head == "documents" || lower_head == "document") {
    return "documents are not inserted: 'reads' puts them in front of a prompt";
  }
  if (std::string hint = document_hint(head); !hint.empty()) return hint;
  if (lower_head == "vars" || lower_head == "var") {
    const auto var = nearest_name(tail, vars());
    return var ? did_you_mean("vars." + *var) : "";
  }
  if (plain == word && find(head) != nullptr) return "";  // that is no slip of the name
  if (!only_vars) {
    if (const auto agent = nearest_name(head, names())) return did_you_mean(*agent);
  }
  const auto var = nearest_name(head, vars());
  return var ? did_you_mean("vars." + *var) : "";
}

}  // namespace swarmkv::internal
