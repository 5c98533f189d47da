// Collects what is wrong with a pipeline while it is read, so that one pass lists everything.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "pipeline/source_text.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

inline constexpr std::size_t kMaxErrorsShown = 20;
/// Beyond this many entries errors are only counted: a hostile file must not fill the memory.
inline constexpr std::size_t kMaxEntriesKept = 1000;

/// What an error says; the optional parts have usable defaults.
struct Problem {
  std::string code;
  std::string message;
  SourcePos pos;
  int length = 1;
  std::string hint = {};
  bool with_excerpt = true;  ///< false where the line itself would explain nothing
};

class DiagnosticList {
 public:
  /// `source` gives the excerpts; null for pipelines built in C++. Must outlive the list.
  explicit DiagnosticList(const SourceText* source = nullptr) : source_(source) {}

  void error(Problem problem);
  void warning(Problem problem);
  /// Belongs to the error or warning added last and stays below it.
  void note(std::string message, SourcePos pos);

  [[nodiscard]] bool has_errors() const { return n_errors_ > 0; }
  /// False once there are so many errors that a suggestion would hardly be seen (finding one is not
  /// free).
  [[nodiscard]] bool wants_suggestions() const { return n_errors_ < 5 * kMaxErrorsShown; }

  /// Everything in file order, entries without a position last; errors beyond the first 20 become
  /// one "and N more". Leaves the list empty.
  [[nodiscard]] std::vector<Diagnostic> take();

 private:
  struct Entry {
    Diagnostic diagnostic;
    bool with_excerpt = false;
    std::vector<Diagnostic> notes;
  };
  void add(Diagnostic::Severity severity, Problem problem);

  const SourceText* source_;
  std::size_t n_errors_ = 0;
  std::vector<Entry> entries_;
  bool last_was_dropped_ = true;  // its notes are dropped, too
};

}  // namespace swarmkv::internal
