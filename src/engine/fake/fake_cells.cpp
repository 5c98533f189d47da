#include "engine/fake/fake_cells.h"

#include <fmt/format.h>

#include <algorithm>

#include "engine/fake/fake_text.h"

namespace swarmkv::internal {

FakeCells::FakeCells(int n_cells, int n_seq_max, ForkKind kind, int n_swa)
    : n_cells_(n_cells),
      n_swa_(n_swa),
      grows_(kind == ForkKind::kRecurrent),
      windowed_(kind == ForkKind::kWindow),
      sequences_(static_cast<std::size_t>(n_seq_max)) {
  clear();
}

void FakeCells::clear() {
  cells_.assign(static_cast<std::size_t>(n_cells_), FakeCell{});
  free_.resize(static_cast<std::size_t>(n_cells_));
  for (int i = 0; i < n_cells_; ++i) free_[static_cast<std::size_t>(i)] = n_cells_ - 1 - i;
  std::fill(sequences_.begin(), sequences_.end(), Sequence{});
  n_used_ = 0;
}

int FakeCells::take_free() {
  if (free_.empty()) {
    cells_.emplace_back();
    return static_cast<int>(cells_.size()) - 1;
  }
  const int cell = free_.back();
  free_.pop_back();
  return cell;
}

// First position of the window that the token at `next` looks back on.
Pos FakeCells::window_begin(Pos next) const { return std::max<Pos>(0, next - n_swa_ + 1); }

bool FakeCells::window_reaches(SeqId seq, Pos end) const {
  return !windowed_ || at(seq).window_min <= window_begin(end);
}

std::uint64_t FakeCells::hash_of(const Sequence& s, Pos pos) const {
  return fake_cell_hash(
      cells_[static_cast<std::size_t>(s.cells[static_cast<std::size_t>(pos)])].token, pos);
}

void FakeCells::append(SeqId seq, Token token) {
  Sequence& s = at(seq);
  const Pos pos = length(seq);
  const int index = take_free();
  FakeCell& cell = cells_[static_cast<std::size_t>(index)];
  cell = {token, pos, {}};
  cell.owners.set(static_cast<std::size_t>(seq));
  ++n_used_;
  s.cells.push_back(index);
  s.sum += fake_cell_hash(token, pos);
  if (!windowed_) return;
  s.window_sum += fake_cell_hash(token, pos);
  const Pos leaves = pos + 1 - n_swa_;  // seen by this token, but not by the next one
  if (leaves >= 0) s.window_sum -= hash_of(s, leaves);
}

FakeView FakeCells::view(SeqId seq) const {
  const Sequence& s = at(seq);
  const auto n = s.cells.size();
  std::uint64_t hash = fake_mix(s.sum ^ fake_mix(n));
  if (windowed_) hash = fake_mix(hash ^ s.window_sum);
  if (s.spoiled) hash = fake_mix(hash ^ 0xdead);
  FakeView view{hash, {}};
  for (std::size_t i = n > 8 ? n - 8 : 0; i < n; ++i) {
    view.tail.push_back(cells_[static_cast<std::size_t>(s.cells[i])].token);
  }
  return view;
}

std::vector<FakeCell> FakeCells::cells(SeqId seq) const {
  std::vector<FakeCell> cells;
  for (const int index : at(seq).cells) cells.push_back(cells_[static_cast<std::size_t>(index)]);
  return cells;
}

Tokens FakeCells::tokens(SeqId seq) const {
  Tokens tokens;
  tokens.reserve(at(seq).cells.size());
  for (const int index : at(seq).cells)
    tokens.push_back(cells_[static_cast<std::size_t>(index)].token);
  return tokens;
}

void FakeCells::fork(SeqId source, SeqId target, Pos end) {
  const Sequence& from = at(source);
  Sequence& to = at(target);
  to.cells.assign(from.cells.begin(), from.cells.begin() + end);
  for (const int index : to.cells) {
    cells_[static_cast<std::size_t>(index)].owners.set(static_cast<std::size_t>(target));
  }
  to.window_min = std::min(from.window_min, end);
  to.spoiled = from.spoiled;
  recompute(to);
}

void FakeCells::cut(SeqId seq, Pos from) {
  Sequence& s = at(seq);
  while (static_cast<Pos>(s.cells.size()) > from) {
    const int index = s.cells.back();
    s.cells.pop_back();
    FakeCell& cell = cells_[static_cast<std::size_t>(index)];
    cell.owners.reset(static_cast<std::size_t>(seq));
    if (cell.owners.any()) continue;
    cell = {};
    free_.push_back(index);
    --n_used_;
  }
  if (from == 0) {
    s = {};
  } else {
    recompute(s);
  }
}

void FakeCells::restore(SeqId seq, const Tokens& tokens, Pos window_min, bool spoiled) {
  for (const Token token : tokens) append(seq, token);
  Sequence& s = at(seq);
  // As in llama.cpp: of the window's part only the window itself was saved.
  if (windowed_) s.window_min = std::max(window_min, window_begin(length(seq)));
  s.spoiled = spoiled;
}

void FakeCells::drop_outside_window(SeqId seq) {
  Sequence& s = at(seq);
  s.window_min = std::max(s.window_min, window_begin(length(seq)));
}

void FakeCells::recompute(Sequence& s) const {
  s.sum = s.window_sum = 0;
  const auto n = static_cast<Pos>(s.cells.size());
  for (Pos p = 0; p < n; ++p) s.sum += hash_of(s, p);
  if (!windowed_) return;
  for (Pos p = window_begin(n); p < n; ++p) s.window_sum += hash_of(s, p);
}

std::string FakeCells::fault() const {
  std::vector<std::bitset<kFakeMaxSeqs>> owners(cells_.size());
  for (std::size_t id = 0; id < sequences_.size(); ++id) {
    const Sequence& s = sequences_[id];
    for (std::size_t p = 0; p < s.cells.size(); ++p) {
      const auto index = static_cast<std::size_t>(s.cells[p]);
      if (cells_[index].pos != static_cast<Pos>(p)) {
        return fmt::format("sequence {}: cell {} holds position {}, listed at {}", id, index,
                           cells_[index].pos, p);
      }
      owners[index].set(id);
    }
    Sequence again = s;
    recompute(again);
    if (again.sum != s.sum || again.window_sum != s.window_sum) {
      return fmt::format("sequence {}: running sums {:x}, {:x} are not its cells' {:x}, {:x}", id,
                         s.sum, s.window_sum, again.sum, again.window_sum);
    }
  }
  std::vector<char> is_free(cells_.size(), 0);
  for (const int index : free_) {
    if (is_free[static_cast<std::size_t>(index)]++)
      return fmt::format("cell {} is free twice", index);
  }
  int n_used = 0;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (owners[i] != cells_[i].owners)
      return fmt::format("cell {}: owners are not those that list it", i);
    if (owners[i].none() != (is_free[i] != 0)) {
      return fmt::format("cell {}: {} owners, free {}", i, owners[i].count(), is_free[i] != 0);
    }
    if (owners[i].any()) ++n_used;
  }
  if (n_used != n_used_) return fmt::format("{} cells have owners, counted {}", n_used, n_used_);
  return {};
}

}  // namespace swarmkv::internal
