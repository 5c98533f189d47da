// Documents that cannot be read, found while the pipeline is checked: before a model is loaded, and
// together with everything else.
#include <string>
#include <utility>

#include "pipeline/agent_names.h"
#include "pipeline/validate.h"
#include "text/utf8.h"

namespace swarmkv::internal {

void check_document_files(const Pipeline& pipeline, const DocumentCheck& check,
                          const KeyPositions& top_pos, DiagnosticList& diagnostics) {
  for (const DocumentSpec& document : pipeline.documents) {
    // One whose path was reported has no place.
    const auto pos = top_pos.find("documents." + document.name);
    if (document.text || pos == top_pos.end()) continue;
    FileProblem found = check(pipeline.folder, document.path);
    if (found.problem.empty()) continue;
    const bool is_the_only = document.name == "document";  // "document: PATH"
    diagnostics.error({"SK110",
                       (is_the_only ? "the document" : "document '" + document.name + "'") +
                           " cannot be read: '" + sanitize_utf8(document.path) +
                           "': " + found.problem,
                       pos->second, marked_length(document.path), std::move(found.hint)});
  }
}

}  // namespace swarmkv::internal
