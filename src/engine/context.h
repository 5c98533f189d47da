// The seam to a model runtime, second half: one KV cache and the forwards that fill it. Engine
// thread only, except abort(). Calls whose preconditions do not hold throw Error(kInvalidArgument)
// before the runtime sees them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/model.h"
#include "engine/state.h"

namespace swarmkv::internal {

/// One row to sample after a forward.
struct SampleRow {
  int batch_index;      ///< in: index of a `logits` token in the batch of the last forward
  Sampler* sampler;     ///< in: made by this context's model
  Token token = -1;     ///< out
  std::string error{};  ///< out: why this row, and no other, has no token; empty = it has one
};

/// What all forwards of a context so far have cost, as far as the engine knows.
struct ForwardCosts {
  double mask_s = 0;                  ///< working out for our attention kernel what tokens see
  std::uint64_t n_graphs_reused = 0;  ///< forwards that took the graph of the one before
};

/// Where the keys and values of a saved sequence are kept.
enum class Where {
  kHost,    ///< in `bytes`, whole: for any context of the same model and options, and for files
  kDevice,  ///< beside the context's cache, without a way through host memory
};

/// What a sequence held when it was saved. Plain data: a reader of a file fills it in by hand.
struct SequenceState {
  Where where = Where::kHost;
  Pos length = 0;                   ///< positions; load() proves that so many came back
  std::vector<std::uint8_t> bytes;  ///< the engine's own format; kDevice: only what describes it
  std::uint64_t size_bytes = 0;     ///< of keys and values, wherever they are
  /// kDevice only: the context that keeps them, and which of its saves this is.
  std::shared_ptr<const void> keeper{};
  std::uint64_t n_save = 0;
};

class Context {
 public:
  virtual ~Context() = default;

  [[nodiscard]] virtual int n_cells() const = 0;    ///< total cells of the pool
  [[nodiscard]] virtual int n_seq_max() const = 0;  ///< valid ids are [0, n_seq_max)
  [[nodiscard]] virtual BatchLimits batch_limits() const = 0;

  /// Evaluates the batch as one ubatch: all or nothing. Positions of each sequence continue it
  /// without a gap. errors  kInvalidArgument  empty or too long, id out of range, a position that
  /// does not continue its sequence
  ///         (checked here: llama.cpp answers nonsense for a decode at N on an empty sequence)
  [[nodiscard]] virtual ForwardStatus forward(const Batch& batch) = 0;

  /// Chooses and accepts one token per row, for rows of the last forward; splits rows over threads
  /// from 8 on.
  virtual void sample(std::span<SampleRow> rows) = 0;

  /// Raw logits of a row of the last forward, n_vocab floats (tests and measurements).
  [[nodiscard]] virtual std::span<const float> logits(int batch_index) const = 0;

  /// True if [0, end) of `source` can be forked now. Metadata only.
  [[nodiscard]] virtual bool can_fork(SeqId source, Pos end) const = 0;

  /// Makes `target` (empty) share the cells [0, end) of `source`. No cell is copied.
  /// errors  kInvalidArgument  target not empty, end > length, or !can_fork
  virtual void fork(SeqId source, SeqId target, Pos end) = 0;

  /// Gives back the sequence: cells nobody else owns become free.
  virtual void release(SeqId seq) = 0;

  /// Drops [from, end) of the sequence. False (and nothing done) where the model cannot cut there.
  [[nodiscard]] virtual bool truncate(SeqId seq, Pos from) = 0;

  /// Number of positions present: 0 = empty. Read from the runtime, not from our books.
  [[nodiscard]] virtual Pos length(SeqId seq) const = 0;

  /// Bytes that save() of this sequence makes, asked of what it holds now: an empty one has next to
  /// none.
  [[nodiscard]] virtual std::uint64_t state_size(SeqId seq, Where where) const = 0;

  /// Copies the sequence's cells out of the cache; `seq` stays as it is. A kDevice state lives
  /// until the same id is saved there again, or the context ends. errors  kInvalidArgument  the
  /// sequence is empty
  ///         kEngineFailed     the runtime wrote other than it announced (both counts in the
  ///         message) kUnsupported      this runtime cannot keep states on its device
  [[nodiscard]] virtual SequenceState save(SeqId seq, Where where) = 0;

  /// Gives `target` (empty) cells of its own with what was saved; they are not shared with anybody.
  /// No logits come back: at least one token has to be evaluated. After an error `target` is empty.
  /// errors  kInvalidArgument  target not empty; a kDevice state of another context, or overwritten
  ///         kCorrupt          fewer bytes or positions came back than the state has (both counts)
  virtual void load(const SequenceState& state, SeqId target) = 0;

  /// The same for the bytes of a host state that came from outside of this process: nothing is
  /// copied but into the cache. They have passed Model::check_state.
  /// errors  kInvalidArgument  target not empty
  ///         kCorrupt          they are not what such a context writes, or fewer bytes or
  ///         positions came back than they have; the target is empty again
  virtual void load(StateBytes bytes, Pos length, SeqId target) = 0;

  /// What a state of this context depends on. The first call may evaluate a token in a sequence
  /// that is empty before and after.
  /// errors  kEngineFailed  the runtime did not tell
  [[nodiscard]] virtual StateIdentity identity() = 0;

  /// Scrubs everything, freed cells included.
  virtual void clear() = 0;

  /// Makes a running or the next forward return kAborted. Any thread. Cleared by the forward that
  /// obeyed it.
  virtual void abort() = 0;

  /// Waits for device work, so that a clock read afterwards is honest.
  virtual void synchronize() = 0;

  /// Bytes of the KV cache buffers, 0 if unknown.
  [[nodiscard]] virtual std::uint64_t kv_size_bytes() const = 0;

  /// Which attention kernel the forwards use.
  [[nodiscard]] virtual AttentionUse attention() const { return {}; }

  [[nodiscard]] virtual ForwardCosts costs() const { return {}; }

  /// What a sequence computes are the same bits whatever else is in its forwards, in which order,
  /// in which cells, and however its tokens were cut into forwards. Only in deterministic mode.
  [[nodiscard]] virtual bool batch_invariant() const { return false; }
};

}  // namespace swarmkv::internal
