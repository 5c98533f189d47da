#include <fmt/format.h>
#include <unistd.h>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/progress_render.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

void write_line(const std::string& line) {
  try {
    write_all(STDERR_FILENO, line + "\n", "standard error");
  } catch (const Error&) {
    // Nobody reads it; the answers matter more.
  }
}

class PlainProgress : public Progress {
 public:
  explicit PlainProgress(ProgressState state) : state_(std::move(state)) {
    write_line(header_line(state_));
  }

  void planned(const Plan& plan) override { apply_plan(state_, plan); }

  void model_loaded(const ModelDescription& model, double load_ms, int ctx_size) override {
    state_.model_loaded = true;
    write_line(fmt::format("{:7.1f} s  model loaded in {:.1f} s{}{}, KV {} cells", 0.0,
                           load_ms / 1000, model.device.empty() ? "" : " on ", model.device,
                           with_commas(ctx_size)));
  }

  void on_event(const Event& event) override {
    apply(state_, event);
    if (const auto line = plain_line(state_, event, memory_)) write_line(*line);
  }

  void finish() override {}

 private:
  ProgressState state_;
  PlainMemory memory_;
};

class NoProgress : public Progress {
 public:
  void planned(const Plan&) override {}
  void model_loaded(const ModelDescription&, double, int) override {}
  void on_event(const Event&) override {}
  void finish() override {}
};

}  // namespace

std::shared_ptr<Progress> make_plain_progress(ProgressState state) {
  return std::make_shared<PlainProgress>(std::move(state));
}

std::shared_ptr<Progress> make_progress(ProgressState state, const ProgressOptions& options) {
  switch (options.mode) {
    case ProgressMode::kNone:
      return std::make_shared<NoProgress>();
    case ProgressMode::kTty:
      return make_tty_progress(std::move(state), options);
    case ProgressMode::kPlain:
      break;
  }
  return make_plain_progress(std::move(state));
}

}  // namespace swarmkv::cli
