// The live region: a few lines at the cursor, drawn over ten times a second by a thread of its own,
// so that no observer of the run ever waits for a terminal.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "cli/output.h"
#include "cli/progress.h"
#include "cli/progress_render.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kRedrawEvery{100};

void write_raw(const std::string& text) {
  try {
    write_all(STDERR_FILENO, text, "standard error");
  } catch (const Error&) {
    // Nobody reads it; the answers matter more.
  }
}

class TtyProgress : public Progress {
 public:
  TtyProgress(ProgressState state, const ProgressOptions& options)
      : options_(options), state_(std::move(state)) {
    draw();
    thread_ = std::thread([this] { loop(); });
  }
  TtyProgress(const TtyProgress&) = delete;
  TtyProgress& operator=(const TtyProgress&) = delete;

  ~TtyProgress() override {
    finish();
    thread_.join();
  }

  void planned(const Plan& plan) override {
    const std::lock_guard lock(state_mutex_);
    apply_plan(state_, plan);
  }

  void model_loaded(const ModelDescription& model, double load_ms, int ctx_size) override {
    const std::lock_guard lock(state_mutex_);
    state_.model_loaded = true;
    state_.load_ms = load_ms;
    state_.device = model.device;
    state_.ctx_size = ctx_size;
  }

  void on_event(const Event& event) override {
    {
      const std::lock_guard lock(state_mutex_);
      apply(state_, event);
    }
    const bool text_begins = event.type == EventType::kAgentDelta && !event.text.empty() &&
                             std::find(options_.streamed.begin(), options_.streamed.end(),
                                       event.name) != options_.streamed.end();
    if (text_begins) finish();
  }

  void finish() override {
    const std::lock_guard lock(write_mutex_);
    if (finished_) return;
    finished_ = true;
    write_raw(to_top(terminal_size(STDERR_FILENO).columns) + "\x1b[J");
    ended_.notify_all();
  }

 private:
  void loop() {
    for (;;) {
      {
        std::unique_lock lock(write_mutex_);
        if (ended_.wait_for(lock, kRedrawEvery, [this] { return finished_; })) return;
      }
      draw();
    }
  }

  // Rendered under one lock and written under the other: a terminal that stands still (Ctrl-S) must
  // not hold up the events. One write for the whole region: several would flicker.
  void draw() {
    const TerminalSize size = terminal_size(STDERR_FILENO);
    const std::chrono::duration<double> elapsed = Clock::now() - begin_;
    const LiveView view{size.columns, size.rows, options_.color, elapsed.count()};
    std::vector<std::string> lines;
    {
      const std::lock_guard lock(state_mutex_);
      lines = render_live(state_, view);
    }
    const std::lock_guard lock(write_mutex_);
    if (finished_) return;
    std::string out = to_top(size.columns);
    for (const std::string& line : lines) out += "\x1b[2K" + line + "\n";
    out += "\x1b[J";
    drawn_.clear();
    for (const std::string& line : lines) drawn_.push_back(shown_columns(line));
    write_raw(out);
  }

  // Terminals break lines anew when they become narrower: what was one row may be several now.
  [[nodiscard]] std::string to_top(int columns) const {
    const std::size_t n_rows = rows_when_reflowed(drawn_, columns);
    return n_rows == 0 ? "" : fmt::format("\r\x1b[{}A", n_rows);
  }

  const ProgressOptions options_;
  const Clock::time_point begin_ = Clock::now();

  std::mutex state_mutex_;
  ProgressState state_;

  std::mutex write_mutex_;
  std::condition_variable ended_;
  std::vector<std::size_t> drawn_;  // columns of each line that is on the screen
  bool finished_ = false;
  std::thread thread_;
};

}  // namespace

std::shared_ptr<Progress> make_tty_progress(ProgressState state, const ProgressOptions& options) {
  return std::make_shared<TtyProgress>(std::move(state), options);
}

}  // namespace swarmkv::cli
