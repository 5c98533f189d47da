// Writes one agent's text to standard output as it comes.
#pragma once

#include <exception>
#include <functional>
#include <string>

#include "swarmkv/event.h"

namespace swarmkv::cli {

/// Event thread while the run goes; finish() and failed() afterwards.
class AnswerStream : public Observer {
 public:
  /// `on_broken` is called once when nothing more can be written.
  AnswerStream(std::string agent, bool for_terminal, std::function<void()> on_broken);

  void on_event(const Event& event) override;

  /// Ends the last line.
  /// errors  kUnwritable  what writing failed with, now or earlier
  void finish();

 private:
  void write(const std::string& text);

  const std::string agent_;
  const bool for_terminal_;
  std::function<void()> on_broken_;
  bool broken_ = false, wrote_ = false, at_line_begin_ = true;
  std::exception_ptr failure_;
};

}  // namespace swarmkv::cli
