#include "pipeline/diagnostic_list.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

namespace swarmkv::internal {

void DiagnosticList::error(Problem problem) {
  ++n_errors_;
  add(Diagnostic::Severity::kError, std::move(problem));
}

void DiagnosticList::warning(Problem problem) {
  add(Diagnostic::Severity::kWarning, std::move(problem));
}

void DiagnosticList::note(std::string message, SourcePos pos) {
  if (last_was_dropped_) return;
  Diagnostic note;
  note.severity = Diagnostic::Severity::kNote;
  note.message = std::move(message);
  note.pos = std::move(pos);
  entries_.back().notes.push_back(std::move(note));
}

void DiagnosticList::add(Diagnostic::Severity severity, Problem problem) {
  last_was_dropped_ = entries_.size() >= kMaxEntriesKept;
  if (last_was_dropped_) return;
  Entry entry;
  entry.diagnostic.severity = severity;
  entry.diagnostic.code = std::move(problem.code);
  entry.diagnostic.message = std::move(problem.message);
  entry.diagnostic.pos = std::move(problem.pos);
  entry.diagnostic.length = problem.length;
  entry.diagnostic.hint = std::move(problem.hint);
  entry.with_excerpt = problem.with_excerpt;
  entries_.push_back(std::move(entry));
}

std::vector<Diagnostic> DiagnosticList::take() {
  // The pipeline itself first, then the files its texts come from, then what has no place.
  const std::string own = source_ == nullptr ? "" : source_->file_name();
  const auto key = [&own](const Entry& entry) {
    const SourcePos& pos = entry.diagnostic.pos;
    const bool elsewhere = pos.line > 0 && pos.file != own;
    return std::make_tuple(pos.line == 0, elsewhere, elsewhere ? std::string_view(pos.file) : "",
                           pos.line, pos.column);
  };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return key(a) < key(b); });

  std::vector<Diagnostic> result;
  std::size_t n_shown = 0;
  for (Entry& entry : entries_) {
    const bool is_error = entry.diagnostic.severity == Diagnostic::Severity::kError;
    if (is_error && n_shown == kMaxErrorsShown) continue;
    n_shown += is_error ? 1 : 0;
    // Looked up only now: a hostile file can cause far more errors than are ever shown.
    // A position may also lie in a file that a prompt was taken from.
    if (entry.with_excerpt && source_ != nullptr &&
        entry.diagnostic.pos.file == source_->file_name()) {
      entry.diagnostic.excerpt = source_->line(entry.diagnostic.pos.line);
    }
    result.push_back(std::move(entry.diagnostic));
    for (Diagnostic& note : entry.notes) result.push_back(std::move(note));
  }
  if (n_errors_ > n_shown) {
    const std::size_t n_more = n_errors_ - n_shown;
    Diagnostic more;
    more.severity = Diagnostic::Severity::kNote;
    more.message = "and " + std::to_string(n_more) + " more error" + (n_more == 1 ? "" : "s");
    if (source_ != nullptr) more.pos.file = source_->file_name();
    result.push_back(std::move(more));
  }
  entries_.clear();
  n_errors_ = 0;
  last_was_dropped_ = true;
  return result;
}

}  // namespace swarmkv::internal
