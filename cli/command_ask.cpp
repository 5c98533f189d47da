#include "cli/ask_document.h"
#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/questions.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

std::vector<std::string> all_questions(const Settings& settings) {
  std::vector<std::string> questions = settings.arguments;
  for (std::size_t i = 0; i < questions.size(); ++i) {
    if (is_blank(questions[i])) throw UsageError("prompt " + std::to_string(i + 1) + " is empty");
  }
  if (settings.questions) {
    const std::vector<std::string> more = read_questions(*settings.questions);
    questions.insert(questions.end(), more.begin(), more.end());
  }
  if (questions.empty()) {
    throw UsageError(settings.questions
                         ? "no question: '" + *settings.questions + "' has no line with text"
                         : "no question: give a PROMPT or --questions FILE");
  }
  return questions;
}

// Before the model is loaded, which takes its time.
void refuse_unreadable(const std::string& file) {
  const FileProblem found = check_document(".", file);
  if (found.problem.empty()) return;
  const std::string hint = found.hint.empty() ? "" : "; " + found.hint;
  throw Error(ErrorCode::kUnreadable, "[document.load] '" + file + "': " + found.problem + hint);
}

}  // namespace

int command_ask(const Settings& settings, const Invocation& invocation) {
  if (settings.files.empty()) throw UsageError("ask needs a document: -f FILE");
  if (settings.files.size() > 1) {
    throw UsageError("ask reads one document, but -f was given " +
                     std::to_string(settings.files.size()) +
                     " times: write a pipeline with 'documents' (swarmkv run), or make one file of "
                     "them (cat A B | swarmkv ask -f - ...)");
  }
  const std::string& file = settings.files.front();
  DocumentSpec document = ask_document(file);
  if (file == "-" && settings.questions == "-") {
    throw UsageError("document and questions cannot both come from standard input");
  }
  refuse_unreadable(file);
  Pipeline pipeline = ask_pipeline(std::move(document), all_questions(settings));
  if (!accept(validate(pipeline), settings, invocation.events)) return 2;
  return execute(std::move(pipeline), document_title(file), settings, invocation);
}

}  // namespace swarmkv::cli
