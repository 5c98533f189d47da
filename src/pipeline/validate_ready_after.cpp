// Texts before which an agent starts, looked for while the pipeline is checked: before a model is
// loaded, and together with everything else.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "fmt/format.h"
#include "pipeline/agent_names.h"
#include "pipeline/prompt_positions.h"
#include "pipeline/validate.h"
#include "text/utf8.h"

namespace swarmkv::internal {
namespace {

class TextSearch {
 public:
  explicit TextSearch(const Pipeline& pipeline) : pipeline_(pipeline) {}

  /// Whether a document of the agent holds what it starts before; none that can be read only once
  /// (a pipe, standard input) rules that out.
  bool may_hold(const AgentSpec& agent) {
    const auto& reads = agent.reads;
    return std::any_of(
        pipeline_.documents.begin(), pipeline_.documents.end(), [&](const DocumentSpec& document) {
          if (reads && std::find(reads->begin(), reads->end(), document.name) == reads->end()) {
            return false;
          }
          return may_hold(document, agent.ready_after.text);
        });
  }

 private:
  // Many agents may name one text: it is looked for once.
  bool may_hold(const DocumentSpec& document, const std::string& wanted) {
    const auto [place, is_new] = found_.try_emplace({document.name, wanted}, false);
    if (is_new) {
      const std::optional<std::string>& text = text_of(document);
      place->second = !text || text->find(wanted) != std::string::npos;
    }
    return place->second;
  }

  const std::optional<std::string>& text_of(const DocumentSpec& document) {
    if (document.text) return document.text;
    const auto [place, is_new] = files_.try_emplace(document.path);
    if (!is_new || document.path == "-") return place->second;
    const std::string path = resolve_path(pipeline_.folder, document.path);
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      std::ifstream in(path, std::ios::binary);
      place->second.emplace(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
    }
    return place->second;
  }

  const Pipeline& pipeline_;
  std::map<std::string, std::optional<std::string>> files_;    // by path
  std::map<std::pair<std::string, std::string>, bool> found_;  // by document and text
};

// Enough to know it by.
std::string beginning_of(const std::string& text) {
  constexpr std::size_t kMost = 80;
  return text.size() <= kMost ? text : sanitize_utf8(text.substr(0, kMost)) + "...";
}

}  // namespace

void check_ready_after(const Pipeline& pipeline, DiagnosticList& diagnostics) {
  TextSearch search(pipeline);
  for (const AgentSpec& agent : pipeline.agents) {
    const bool looks = agent.ready_after.kind == ReadyAfter::Kind::kBefore;
    if (!looks || !agent.continues.empty() || search.may_hold(agent)) continue;
    const bool reads_none = agent.reads && agent.reads->empty();
    const char* where =
        reads_none ? "but reads no document" : "which stands in none of its documents";
    const char* hint = reads_none ? "name its documents in 'reads', or remove it"
                                  : "it has to stand there letter for letter, line breaks included";
    diagnostics.error({"SK402",
                       fmt::format("'{}' starts before '{}', {}", agent.name,
                                   beginning_of(agent.ready_after.text), where),
                       key_position(agent, "ready_after"), 1, hint});
  }
}

}  // namespace swarmkv::internal
