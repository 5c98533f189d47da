#include <set>
#include <span>
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

class DocumentNames {
 public:
  // The name itself where it can be one and nobody has it; else one like it.
  std::string take(const std::string& wanted) {
    const bool is_usable = internal::has_name_form(wanted) && !internal::is_reserved_name(wanted) &&
                           !is_question_name(wanted);
    const std::string base = is_usable ? wanted : "document";
    std::string name = base;
    for (int n = 2; !taken_.insert(name).second; ++n) {
      constexpr std::size_t kMost = 64;
      const std::string number = "_" + std::to_string(n);
      name = base.substr(0, kMost - number.size()) + number;
    }
    return name;
  }

 private:
  std::set<std::string> taken_;
};

}  // namespace

Pipeline ask_pipeline(std::span<const DocumentSpec> documents,
                      const std::vector<std::string>& questions) {
  Pipeline pipeline;
  pipeline.name = "ask";
  DocumentNames names;
  for (const DocumentSpec& document : documents) {
    pipeline.documents.push_back(document);
    pipeline.documents.back().name = names.take(document.name);
  }
  for (std::size_t i = 0; i < questions.size(); ++i) {
    AgentSpec agent;
    agent.name = "q" + std::to_string(i + 1);
    // A question is plain text: braces in it mean braces.
    agent.prompt = escape_template(questions[i]);
    pipeline.agents.push_back(std::move(agent));
  }
  return pipeline;
}

Pipeline ask_pipeline(DocumentSpec document, const std::vector<std::string>& questions) {
  return ask_pipeline(std::span<const DocumentSpec>(&document, 1), questions);
}

}  // namespace swarmkv
