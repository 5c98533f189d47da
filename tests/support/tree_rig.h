// A prefix tree over a fake context, with the steps a scheduler would take.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "engine/fake/fake_engine.h"
#include "kv/prefix_tree.h"

namespace swarmkv::internal {

struct TreeRig {
  explicit TreeRig(ForkKind tree_kind = ForkKind::kFull, int n_cells = 4000, int n_seqs = 16,
                   int n_swa = 16)
      : kind(tree_kind),
        model(make_fake_model({.n_swa = tree_kind == ForkKind::kWindow ? n_swa : 0,
                               .fork_kind = tree_kind,
                               .forced = {}})),
        context(
            model->make_fake_context({.n_cells = n_cells, .n_seq_max = n_seqs, .n_batch = 4096})),
        cells(n_cells),
        seqs(n_seqs),
        tree(*context, tree_kind, cells, seqs) {}

  static Tokens tokens(const std::string& text) {
    return fake_tokenize(text, SpecialTokens::kPlainText);
  }

  /// Computes the next `n` tokens of a node, -1 = all that is left.
  void compute(PrefixNode* node, int n = -1) {
    ASSERT_EQ(tree.prepare_to_compute(node), PrefixTree::Ready::kYes);
    if (n < 0) n = node->end() - node->n_computed;
    Batch batch;
    for (int i = 0; i < n; ++i) {
      const Pos pos = node->n_computed + i;
      batch.push_back(
          {node->span[static_cast<std::size_t>(pos - node->start)], pos, node->holder, false});
    }
    ASSERT_EQ(context->forward(batch), ForwardStatus::kOk);
    tree.computed(node, n);
    check();
  }

  /// A computed and unpinned node below `parent`.
  PrefixNode* ready(PrefixNode* parent, const std::string& span) {
    PrefixNode* node = tree.extend(parent, tokens(span));
    tree.pin(node);
    compute(node);
    tree.unpin(node);
    check();
    return node;
  }

  PrefixTree::Match match(const std::string& prompt, int declared = 0, int min_gain = 32,
                          std::vector<PrefixNode*>* matched = nullptr) const {
    const Tokens all = tokens(prompt);
    return tree.match(PromptView({}, all), static_cast<int>(all.size()), declared, min_gain,
                      matched);
  }

  void check() const {
    ASSERT_NO_THROW(tree.check_integrity());
    ASSERT_EQ(context->integrity_fault(), "");
    ASSERT_EQ(cells.n_reserved(), tree.n_cells_reserved());
  }

  /// What a fork of the node holds, as text; releases it again.
  std::string forked_text(PrefixNode* node) {
    const SeqId seq = seqs.acquire();
    const bool ok = tree.fork(node, seq);
    const std::string text = ok ? fake_text(context->tokens(seq)) : "cannot fork";
    context->release(seq);
    seqs.give_back(seq);
    return text;
  }

  ForkKind kind;
  std::shared_ptr<const FakeModel> model;
  std::unique_ptr<FakeContext> context;
  CellPool cells;
  SeqPool seqs;
  PrefixTree tree;
};

}  // namespace swarmkv::internal
