#include "cli/answer_stream.h"

#include <unistd.h>

#include <algorithm>

#include "cli/output.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {

AnswerStream::AnswerStream(std::vector<std::string> agents, bool for_terminal,
                           std::function<void()> on_broken)
    : agents_(std::move(agents)), for_terminal_(for_terminal), on_broken_(std::move(on_broken)) {
  for (const std::string& agent : agents_) name_size_ = std::max(name_size_, agent.size());
}

void AnswerStream::on_event(const Event& event) {
  const bool is_text = event.type == EventType::kAgentDelta && !event.text.empty();
  const bool is_end = event.type == EventType::kAgentFinished ||
                      event.type == EventType::kAgentFailed ||
                      event.type == EventType::kAgentCancelled;
  if (!is_text && !is_end) return;
  if (std::find(agents_.begin(), agents_.end(), event.name) == agents_.end()) return;
  if (agents_.size() == 1) {
    if (!is_text) return;
    write(for_terminal_ ? escape_for_terminal(event.text) : event.text);
    at_line_begin_ = event.text.back() == '\n';
    return;
  }
  std::string& open = open_lines_[event.name];
  if (is_text) open += event.text;
  if (is_end && !open.empty()) open += '\n';
  write_lines(event.name, open);
}

// Lines of several agents would run into each other, so only whole ones are written.
void AnswerStream::write_lines(const std::string& agent, std::string& open) {
  std::size_t begin = 0;
  for (std::size_t end; (end = open.find('\n', begin)) != std::string::npos; begin = end + 1) {
    write_line(agent, open.substr(begin, end - begin));
  }
  open.erase(0, begin);
}

void AnswerStream::write_line(const std::string& agent, const std::string& line) {
  const std::string padding(name_size_ - agent.size(), ' ');
  write(agent + padding + " | " + (for_terminal_ ? escape_for_terminal(line) : line) + "\n");
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
  for (const auto& [agent, line] : open_lines_) {
    if (!line.empty()) write_line(agent, line);
  }
  open_lines_.clear();
  if (wrote_ && !at_line_begin_) write("\n");
  if (failure_) std::rethrow_exception(failure_);
}

}  // namespace swarmkv::cli
