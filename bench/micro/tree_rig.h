// A prefix tree with its pools over some context, and the steps a scheduler takes to fill it.
#pragma once

#include <memory>
#include <stdexcept>
#include <utility>

#include "engine/fake/fake_engine.h"
#include "kv/prefix_tree.h"
#include "micro/quiet_context.h"

namespace swarmkv::internal {

inline constexpr int kTreeSeqs = 256;    // the most an engine has
inline constexpr int kTreeBatch = 4096;  // tokens in one forward

inline std::unique_ptr<Context> fake_context(int n_cells) {
  return make_fake_model()->make_context(
      {.n_cells = n_cells, .n_seq_max = kTreeSeqs, .n_batch = kTreeBatch});
}

inline std::unique_ptr<Context> quiet_context(int n_cells) {
  return std::make_unique<QuietContext>(n_cells, kTreeSeqs, kTreeBatch);
}

/// `n` tokens that look like nothing else with another `salt`. The fake model knows all of them.
inline Tokens some_tokens(int n, int salt = 0) {
  Tokens tokens;
  tokens.reserve(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    const std::uint64_t mixed =
        fake_mix((static_cast<std::uint64_t>(salt) << 32) ^ static_cast<std::uint64_t>(i));
    tokens.push_back(static_cast<Token>(mixed % 256));
  }
  return tokens;
}

struct TreeRig {
  explicit TreeRig(std::unique_ptr<Context> c)
      : context(std::move(c)),
        cells(context->n_cells()),
        seqs(context->n_seq_max()),
        tree(*context, ForkKind::kFull, cells, seqs) {}

  /// Computed nodes of `n_per_node` tokens one below the other, the first below `parent`; the last
  /// is returned.
  PrefixNode* add_chain(PrefixNode* parent, const Tokens& tokens, int n_per_node) {
    for (std::size_t from = 0; from < tokens.size();) {
      const std::size_t n = std::min(tokens.size() - from, static_cast<std::size_t>(n_per_node));
      const auto begin = tokens.begin() + static_cast<std::ptrdiff_t>(from);
      parent = tree.extend(parent, Tokens(begin, begin + static_cast<std::ptrdiff_t>(n)));
      compute(parent);
      from += n;
    }
    return parent;
  }

  void compute(PrefixNode* node) {
    if (tree.prepare_to_compute(node) != PrefixTree::Ready::kYes) {
      throw std::logic_error("more leaves than sequences");
    }
    while (!node->ready()) {
      Batch batch;
      const int n = std::min(kTreeBatch, node->end() - node->n_computed);
      for (int i = 0; i < n; ++i) {
        const Pos pos = node->n_computed + i;
        const Token token = node->span[static_cast<std::size_t>(pos - node->start)];
        batch.push_back({token, pos, node->holder, false});
      }
      if (context->forward(batch) != ForwardStatus::kOk) throw std::logic_error("no cells");
      tree.computed(node, n);
    }
  }

  std::unique_ptr<Context> context;
  CellPool cells;
  SeqPool seqs;
  PrefixTree tree;
};

}  // namespace swarmkv::internal
