// Writes agents' text to standard output as it comes.
#pragma once

#include <exception>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "swarmkv/event.h"

namespace swarmkv::cli {

/// One agent's text stands bare, piece by piece; of several, each whole line stands behind its
/// agent's name. Event thread while the run goes; finish() afterwards.
class AnswerStream : public Observer {
 public:
  /// `on_broken` is called once when nothing more can be written.
  AnswerStream(std::vector<std::string> agents, bool for_terminal, std::function<void()> on_broken);

  void on_event(const Event& event) override;

  /// Ends the last line, or writes those that have no end yet.
  /// errors  kUnwritable  what writing failed with, now or earlier
  void finish();

 private:
  void write(const std::string& text);
  void write_line(const std::string& agent, const std::string& line);
  void write_lines(const std::string& agent, std::string& open);

  const std::vector<std::string> agents_;
  const bool for_terminal_;
  std::function<void()> on_broken_;
  std::size_t name_size_ = 0;                      ///< of the longest name
  std::map<std::string, std::string> open_lines_;  ///< what stands behind an agent's last newline
  bool broken_ = false, wrote_ = false, at_line_begin_ = true;
  std::exception_ptr failure_;
};

}  // namespace swarmkv::cli
