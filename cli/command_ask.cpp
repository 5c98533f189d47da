#include <algorithm>

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

void refuse_standard_input_twice(const Settings& settings) {
  const auto n = std::count(settings.files.begin(), settings.files.end(), "-");
  if (n > 1) {
    throw UsageError("-f -: standard input is one document, but is named " + std::to_string(n) +
                     " times");
  }
  if (n > 0 && settings.questions == "-") {
    throw UsageError("document and questions cannot both come from standard input");
  }
}

// Before the model is loaded, which takes its time, and all of them at once.
void refuse_unreadable(const std::vector<std::string>& files) {
  std::string problems;
  for (const std::string& file : files) {
    const FileProblem found = check_document(".", file);
    if (found.problem.empty()) continue;
    const std::string hint = found.hint.empty() ? "" : "; " + found.hint;
    problems += (problems.empty() ? "'" : "\n  '") + file + "': " + found.problem + hint;
  }
  if (!problems.empty()) throw Error(ErrorCode::kUnreadable, "[document.load] " + problems);
}

}  // namespace

int command_ask(const Settings& settings, const Invocation& invocation) {
  if (settings.files.empty()) throw UsageError("ask needs a document: -f FILE");
  std::vector<DocumentSpec> documents;
  for (const std::string& file : settings.files) documents.push_back(ask_document(file));
  refuse_standard_input_twice(settings);
  refuse_unreadable(settings.files);
  Pipeline pipeline = ask_pipeline(documents, all_questions(settings));
  if (!accept(validate(pipeline), settings, invocation.events)) return 2;
  return execute(std::move(pipeline), title_of_documents(settings.files), settings, invocation);
}

}  // namespace swarmkv::cli
