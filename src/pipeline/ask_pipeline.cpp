#include <string>
#include <utility>
#include <vector>

#include "pipeline/names.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

// Agents are called q1, q2, ...: a document of such a name would clash.
bool is_question_name(const std::string& name) {
  return name.size() > 1 && name[0] == 'q' &&
         name.find_first_not_of("0123456789", 1) == std::string::npos;
}

}  // namespace

Pipeline ask_pipeline(DocumentSpec document, const std::vector<std::string>& questions) {
  Pipeline pipeline;
  pipeline.name = "ask";
  if (!internal::has_name_form(document.name) || internal::is_reserved_name(document.name) ||
      is_question_name(document.name)) {
    document.name = "document";
  }
  pipeline.documents.push_back(std::move(document));
  for (std::size_t i = 0; i < questions.size(); ++i) {
    AgentSpec agent;
    agent.name = "q" + std::to_string(i + 1);
    // A question is plain text: braces in it mean braces.
    agent.prompt = escape_template(questions[i]);
    pipeline.agents.push_back(std::move(agent));
  }
  return pipeline;
}

}  // namespace swarmkv
