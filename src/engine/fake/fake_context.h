// The fake engine's context: FakeCells behind the seam, with every precondition enforced, counters
// and a log.
#pragma once

#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/context.h"
#include "engine/fake/fake_cells.h"
#include "engine/fake/fake_faults.h"
#include "engine/fake/fake_options.h"

namespace swarmkv::internal {

/// One token that went through a forward which answered kOk.
struct FakeLogEntry {
  int k;  ///< which forward, from 1
  Token token;
  Pos pos;
  SeqId seq;

  friend bool operator==(const FakeLogEntry&, const FakeLogEntry&) = default;
};

/// The log holds every token for good, so only tests keep one: other contexts live for days.
enum class FakeLog { kNone, kKeep };

/// Engine thread only, like every Context, but for abort(), the counters and the log, which any
/// thread may read at any time.
class FakeContext final : public Context {
 public:
  /// errors  kInvalidArgument  options out of range; kUnsupported  quantised V without flash
  /// attention
  FakeContext(std::shared_ptr<const FakeOptions> model, std::shared_ptr<FakeFaults> faults,
              const ContextOptions& options, std::uint64_t kv_bytes_per_cell, FakeLog log);

  [[nodiscard]] int n_cells() const override { return cells_.n_cells(); }
  [[nodiscard]] int n_seq_max() const override { return options_.n_seq_max; }
  [[nodiscard]] BatchLimits batch_limits() const override;
  [[nodiscard]] ForwardStatus forward(const Batch& batch) override;
  void sample(std::span<SampleRow> rows) override;
  [[nodiscard]] std::span<const float> logits(int batch_index) const override;
  [[nodiscard]] bool can_fork(SeqId source, Pos end) const override;
  void fork(SeqId source, SeqId target, Pos end) override;
  void release(SeqId seq) override;
  [[nodiscard]] bool truncate(SeqId seq, Pos from) override;
  [[nodiscard]] Pos length(SeqId seq) const override;
  [[nodiscard]] std::uint64_t state_size(SeqId seq, Where where) const override;
  [[nodiscard]] SequenceState save(SeqId seq, Where where) override;
  void load(const SequenceState& state, SeqId target) override;
  void load(StateBytes bytes, Pos length, SeqId target) override;
  [[nodiscard]] StateIdentity identity() override;
  void clear() override;
  void abort() override;
  void synchronize() override {}
  [[nodiscard]] std::uint64_t kv_size_bytes() const override;

  // For tests.
  [[nodiscard]] FakeFaults& faults() const { return *faults_; }
  [[nodiscard]] std::vector<FakeCell> cells(SeqId seq) const;  ///< in position order
  [[nodiscard]] Tokens tokens(SeqId seq) const;                ///< of those cells
  [[nodiscard]] Pos window_min(SeqId seq) const;  ///< first position the window part still holds
  [[nodiscard]] bool check_integrity() const { return integrity_fault().empty(); }
  [[nodiscard]] std::string integrity_fault() const { return cells_.fault(); }
  [[nodiscard]] int n_used_cells() const { return n_used_; }
  [[nodiscard]] int peak_used_cells() const { return n_peak_; }
  [[nodiscard]] int n_forwards() const { return n_forwards_; }  ///< attempts, failed ones too
  [[nodiscard]] int n_forks() const { return n_forks_; }
  [[nodiscard]] std::int64_t n_tokens_forwarded() const { return n_tokens_; }  ///< in kOk forwards
  [[nodiscard]] std::vector<FakeLogEntry> log() const;  ///< empty with FakeLog::kNone
  [[nodiscard]] std::vector<FakeLogEntry> log(SeqId seq) const;

 private:
  struct Row {
    FakeView view;
    std::optional<Token> forced;
  };
  void check_seq(SeqId seq, const char* operation) const;
  void check_batch(const Batch& batch) const;
  void check_device(Where where, const char* operation) const;
  void check_empty(SeqId target) const;
  void load_whole(StateBytes whole, Pos length, SeqId target);
  [[nodiscard]] std::vector<std::uint8_t> whole_state(SeqId seq) const;
  void check_recurrent_batch(const std::map<SeqId, int>& n_per_seq) const;
  [[nodiscard]] bool wait_or_abort(std::chrono::microseconds time);
  void apply(const Batch& batch, std::size_t n, const FakeFaults::Plan& plan);
  void spoil_touched(const Batch& batch);
  void verify(const FakeFaults::Plan& plan) const;
  void note_use();
  [[nodiscard]] const Row& row(int batch_index, const char* operation) const;

  std::shared_ptr<const FakeOptions> model_;
  std::shared_ptr<FakeFaults> faults_;
  ContextOptions options_;
  std::uint64_t kv_bytes_per_cell_;
  FakeLog keeps_log_;
  FakeCells cells_;
  std::map<int, Row> rows_;  ///< of the last forward
  mutable std::map<int, std::vector<float>> logits_;
  int n_samples_ = 0;

  std::map<SeqId, std::vector<std::uint8_t>> device_;  ///< states kept "on the device"
  std::map<SeqId, std::uint64_t> device_saves_;
  std::uint64_t n_device_saves_ = 0;
  std::shared_ptr<const char> identity_ = std::make_shared<const char>();

  std::atomic<int> n_used_{0}, n_peak_{0}, n_forwards_{0}, n_forks_{0};
  std::atomic<std::int64_t> n_tokens_{0};

  mutable std::mutex log_m_;
  std::vector<FakeLogEntry> log_;

  std::mutex abort_m_;
  std::condition_variable abort_cv_;
  bool abort_ = false;
};

}  // namespace swarmkv::internal
