// The fake KV cache: every cell with its token, position and owners, and per sequence the sum of
// hashes that the next token is made from.
#pragma once

#include <bitset>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

inline constexpr int kFakeMaxSeqs = 256;

struct FakeCell {
  Token token = -1;
  Pos pos = -1;
  std::bitset<kFakeMaxSeqs> owners;  ///< none = free

  friend bool operator==(const FakeCell&, const FakeCell&) = default;
};

/// What one row sees after its own token was added.
struct FakeView {
  std::uint64_t hash = 0;
  std::vector<Token> tail;  ///< the last tokens, up to 8, oldest first
};

// Invariants, recomputed by fault():
// (1) a cell is in the free list if and only if it has no owner
// (2) sequence s owns exactly the cells it lists, the i-th of them at position i
// (3) sum == sum of fake_cell_hash over the listed cells; window_sum the same over [size - n_swa +
// 1, size)
/// Checks no arguments: FakeContext does. Window models keep all base cells (as with the full-size
/// window cache); what may be lost is the window's part of them, kept as `window_min`.
class FakeCells {
 public:
  FakeCells(int n_cells, int n_seq_max, ForkKind kind, int n_swa);

  [[nodiscard]] int n_cells() const { return n_cells_; }
  [[nodiscard]] int n_used() const { return n_used_; }
  /// Room for n more tokens; recurrent models keep a state per sequence, so cells never run out
  /// there.
  [[nodiscard]] bool has_room(int n) const { return grows_ || n <= n_cells_ - n_used_; }
  [[nodiscard]] Pos length(SeqId seq) const { return static_cast<Pos>(at(seq).cells.size()); }
  [[nodiscard]] Pos window_min(SeqId seq) const { return at(seq).window_min; }
  [[nodiscard]] std::vector<FakeCell> cells(SeqId seq) const;
  [[nodiscard]] Tokens tokens(SeqId seq) const;
  [[nodiscard]] bool window_reaches(SeqId seq, Pos end) const;

  void append(SeqId seq, Token token);
  [[nodiscard]] FakeView view(SeqId seq) const;
  void fork(SeqId source, SeqId target, Pos end);
  void cut(SeqId seq, Pos from);
  /// A sequence that came back from a saved state.
  void restore(SeqId seq, const Tokens& tokens, Pos window_min, bool spoiled);
  [[nodiscard]] bool spoiled(SeqId seq) const { return at(seq).spoiled; }
  void drop_outside_window(SeqId seq);
  /// Marks a recurrent state as advanced by an aborted forward: everything said from it is wrong.
  void spoil(SeqId seq) { at(seq).spoiled = true; }
  void clear();

  /// The first broken invariant in words; empty if none.
  [[nodiscard]] std::string fault() const;

 private:
  struct Sequence {
    std::vector<int> cells;  ///< by position
    std::uint64_t sum = 0, window_sum = 0;
    Pos window_min = 0;
    bool spoiled = false;
  };
  Sequence& at(SeqId seq) { return sequences_[static_cast<std::size_t>(seq)]; }
  const Sequence& at(SeqId seq) const { return sequences_[static_cast<std::size_t>(seq)]; }
  [[nodiscard]] std::uint64_t hash_of(const Sequence& s, Pos pos) const;
  [[nodiscard]] Pos window_begin(Pos next) const;
  void recompute(Sequence& s) const;
  int take_free();

  int n_cells_, n_swa_, n_used_ = 0;
  bool grows_, windowed_;
  std::vector<FakeCell> cells_;
  std::vector<int> free_;  ///< lowest index last, so that the pool fills from the bottom
  std::vector<Sequence> sequences_;
};

}  // namespace swarmkv::internal
