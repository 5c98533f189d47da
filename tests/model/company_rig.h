// One branch's logits over a document, in company of every kind.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "model/llama_fixture.h"

namespace swarmkv::internal {

struct Company {
  int n_siblings = 0;
  int place = 0;           ///< ours among the rows of a forward
  int chunk = 512;         ///< pieces of the document
  int suffix_chunk = 512;  ///< pieces of our own prompt
  bool behind = false;     ///< others read and left before us: our cells lie before the document's
  bool leave_early = false;  ///< siblings begin before us and go one by one; their cells are reused
  bool recomputed = false;   ///< half way we are preempted, and read again
  bool restored = false;     ///< the document is saved, dropped and loaded again
  int n_threads = 2;
};

class CompanyRig {
 public:
  static constexpr int kDocument = 300, kSuffix = 9, kSteps = 6;

  CompanyRig(const Model& model, const Company& company, AttentionKernel kernel,
             const std::string& target)
      : model_(model), company_(company) {
    ContextOptions options = small_context(4096, 64, 512);
    options.n_threads = company.n_threads;
    options.attention = kernel;
    options.attention_target = target;
    context_ = model.make_context(options);
  }

  /// Logits after our prompt and after each of our own tokens, one after another.
  std::vector<float> run() {
    if (company_.behind) read(kOther, some_tokens(model_, 200, 5), 512);
    read(kHolder, some_tokens(model_, kDocument), company_.chunk);
    if (company_.behind) context_->release(kOther);
    if (company_.restored) {
      const SequenceState state = context_->save(kHolder, Where::kHost);
      context_->release(kHolder);
      context_->load(state, kHolder);
    }
    for (int i = 0; i < company_.n_siblings; ++i) {
      context_->fork(kHolder, sibling(i), kDocument);
      siblings_.push_back(i);
    }
    if (company_.leave_early) {
      for (int step = 0; step < 5; ++step) forward(/*us=*/false);
    }
    context_->fork(kHolder, kUs, kDocument);
    read(kUs, suffix(), company_.suffix_chunk);
    keep();
    for (int step = 0; step < kSteps; ++step) {
      if (company_.leave_early && step % 2 == 1 && siblings_.size() > 1) leave();
      if (company_.recomputed && step == kSteps / 2) read_again(step);
      forward(/*us=*/true);
    }
    return logits_;
  }

 private:
  static constexpr SeqId kHolder = 0, kUs = 1, kOther = 63;
  static SeqId sibling(int i) { return 2 + i; }

  [[nodiscard]] Tokens suffix() const { return some_tokens(model_, kSuffix, 77); }
  [[nodiscard]] Token own(int step) const { return some_tokens(model_, 1, 200 + step).front(); }

  void read(SeqId seq, std::span<const Token> tokens, int chunk) {
    while (!tokens.empty()) {
      const auto n = std::min(static_cast<std::size_t>(chunk), tokens.size());
      const Batch batch = next_tokens(*context_, seq, tokens.first(n));
      ASSERT_EQ(context_->forward(batch), ForwardStatus::kOk);
      row_ = static_cast<int>(batch.size()) - 1;
      tokens = tokens.subspan(n);
    }
  }

  void keep() {
    const auto row = context_->logits(row_);
    logits_.insert(logits_.end(), row.begin(), row.end());
  }

  void leave() {
    context_->release(sibling(siblings_.front()));
    siblings_.erase(siblings_.begin());
  }

  void read_again(int step) {
    context_->release(kUs);
    context_->fork(kHolder, kUs, kDocument);
    Tokens known = suffix();
    for (int i = 0; i < step; ++i) known.push_back(own(i));
    read(kUs, known, company_.suffix_chunk);
    // The last token's logits are those of the step before.
    const auto row = context_->logits(row_);
    EXPECT_TRUE(
        std::equal(row.begin(), row.end(), logits_.end() - static_cast<std::ptrdiff_t>(row.size())))
        << "reading again changed the logits";
  }

  void forward(bool us) {
    Batch batch;
    const auto add_us = [&] {
      row_ = static_cast<int>(batch.size());
      batch.push_back({own(n_own_++), context_->length(kUs), kUs, true});
    };
    for (std::size_t i = 0; i < siblings_.size(); ++i) {
      if (us && static_cast<int>(i) == company_.place) add_us();
      const SeqId seq = sibling(siblings_[i]);
      const Token token = some_tokens(model_, 1, 31 * n_forwards_ + seq).front();
      batch.push_back({token, context_->length(seq), seq, true});
    }
    if (us && (siblings_.empty() || company_.place >= static_cast<int>(siblings_.size()))) add_us();
    ++n_forwards_;
    ASSERT_EQ(context_->forward(batch), ForwardStatus::kOk);
    if (us) keep();
  }

  const Model& model_;
  const Company company_;
  std::unique_ptr<Context> context_;
  std::vector<int> siblings_;
  std::vector<float> logits_;
  int row_ = 0, n_own_ = 0, n_forwards_ = 0;
};

/// The logits of our branch after its prompt and after each of its tokens. target: instruction set
/// of the grouped kernel; empty: the best one.
inline std::vector<float> logits_in(const Model& model, const Company& company,
                                    AttentionKernel kernel = AttentionKernel::kGrouped,
                                    const std::string& target = {}) {
  return CompanyRig(model, company, kernel, target).run();
}

}  // namespace swarmkv::internal
