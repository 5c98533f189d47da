// Shows a run on stderr while it goes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/progress_state.h"
#include "cli/terminal.h"
#include "swarmkv/engine.h"

namespace swarmkv::cli {

/// on_event comes on the run's observer thread, the rest on the main one. Failing writes are
/// ignored: a run does not end because nobody watches.
class Progress : public Observer {
 public:
  virtual void planned(const Plan& plan) = 0;
  virtual void model_loaded(const ModelDescription& model, double load_ms, int ctx_size) = 0;
  /// Removes what was drawn for the moment. Nothing is written afterwards. May be called twice.
  virtual void finish() = 0;
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::kPlain;
  bool color = false;
  /// Agents whose text goes to the same terminal: the first text of any ends the live region.
  std::vector<std::string> streamed;
};

/// The header line is written before this returns.
std::shared_ptr<Progress> make_progress(ProgressState state, const ProgressOptions& options);

std::shared_ptr<Progress> make_plain_progress(ProgressState state);
std::shared_ptr<Progress> make_tty_progress(ProgressState state, const ProgressOptions& options);

}  // namespace swarmkv::cli
