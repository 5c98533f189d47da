// The sequence ids of one context, handed out lowest first so that ids stay dense.
#pragma once

#include <set>

#include "engine/types.h"

namespace swarmkv::internal {

class SeqPool {
 public:
  explicit SeqPool(int n_ids) : n_ids_(n_ids) {
    for (SeqId id = 0; id < n_ids; ++id) free_.insert(free_.end(), id);
  }

  [[nodiscard]] int n_free() const { return static_cast<int>(free_.size()); }
  [[nodiscard]] int n_ids() const { return n_ids_; }

  /// kNoSeq if none is free.
  SeqId acquire() {
    if (free_.empty()) return kNoSeq;
    const SeqId id = *free_.begin();
    free_.erase(free_.begin());
    return id;
  }

  void give_back(SeqId id) { free_.insert(id); }

 private:
  int n_ids_;
  std::set<SeqId> free_;
};

}  // namespace swarmkv::internal
