// Room in the KV cache as promised, not as used: whoever will fill cells reserves them first, so a
// forward never finds the cache full. Reserved by tree nodes (their whole span) and by running
// branches (their tails).
#pragma once

#include <cassert>

namespace swarmkv::internal {

class CellPool {
 public:
  explicit CellPool(int n_cells) : n_cells_(n_cells) {}

  [[nodiscard]] int n_cells() const { return n_cells_; }
  [[nodiscard]] int n_reserved() const { return n_reserved_; }
  [[nodiscard]] int n_free() const { return n_cells_ - n_reserved_; }

  [[nodiscard]] bool try_reserve(int n) {
    if (n > n_free()) return false;
    n_reserved_ += n;
    return true;
  }

  void give_back(int n) {
    n_reserved_ -= n;
    assert(n_reserved_ >= 0);
  }

 private:
  int n_cells_;
  int n_reserved_ = 0;
};

}  // namespace swarmkv::internal
