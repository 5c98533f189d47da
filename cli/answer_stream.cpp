#include "cli/answer_stream.h"

#include <unistd.h>

#include "cli/output.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

AnswerStream::AnswerStream(std::string agent, bool for_terminal, std::function<void()> on_broken)
    : agent_(std::move(agent)), for_terminal_(for_terminal), on_broken_(std::move(on_broken)) {}

void AnswerStream::on_event(const Event& event) {
  if (event.type != EventType::kAgentDelta || event.name != agent_ || event.text.empty()) return;
  write(for_terminal_ ? escape_for_terminal(event.text) : event.text);
  at_line_begin_ = event.text.back() == '\n';
}

void AnswerStream::write(const std::string& text) {
  if (broken_) return;
  try {
    broken_ = !write_all(STDOUT_FILENO, text, "standard output");
  } catch (...) {
    // An observer that throws is dropped without its reason; the reason is for the end of the run.
    failure_ = std::current_exception();
    broken_ = true;
  }
  wrote_ = true;
  if (broken_ && on_broken_) on_broken_();
}

void AnswerStream::finish() {
  on_broken_ = nullptr;  // the run is over
  if (wrote_ && !at_line_begin_) write("\n");
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace swarmkv::cli
