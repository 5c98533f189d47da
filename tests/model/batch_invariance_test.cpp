// What a branch computes is the same bits whoever else is in its forwards, in which order, in which
// cells, and however its prompt was cut: with the grouped attention kernel, on models whose weights
// are multiplied row by row.
#include <numeric>
#include <random>
#include <vector>

#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

constexpr int kDocument = 300;
constexpr int kSuffix = 9;
constexpr int kSteps = 6;

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

class Rig {
 public:
  Rig(const Model& model, const Company& company, AttentionKernel kernel)
      : model_(model), company_(company) {
    ContextOptions options = small_context(4096, 64, 512);
    options.n_threads = company.n_threads;
    options.attention = kernel;
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

std::vector<float> ours(const Company& company,
                        AttentionKernel kernel = AttentionKernel::kGrouped) {
  return Rig(*smollm2(), company, kernel).run();
}

void expect_equal(const Company& company, const std::string& what) {
  static const std::vector<float> alone = ours({});
  const std::vector<float> is = ours(company);
  ASSERT_EQ(is.size(), alone.size());
  std::size_t n = 0, first = is.size();
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (is[i] == alone[i]) continue;
    ++n;
    first = std::min(first, i);
  }
  const std::size_t n_vocab = is.size() / (kSteps + 1);
  EXPECT_EQ(n, 0U) << what << ": " << n << " of " << is.size() << " logits differ, first after "
                   << first / n_vocab << " of our tokens, by at most "
                   << largest_difference(is, alone);
}

TEST(BatchInvariance, HoldsAmongSiblings) {
  for (const int n : {1, 2, 7, 49}) {
    Company company;
    company.n_siblings = n;
    company.place = n / 2;
    expect_equal(company, "among " + std::to_string(n));
  }
  for (const int place : {0, 7}) {
    Company company;
    company.n_siblings = 7;
    company.place = place;
    expect_equal(company, "at place " + std::to_string(place));
  }
}

TEST(BatchInvariance, HoldsHoweverPromptsAreCut) {
  for (const int chunk : {299, 63, 7}) {
    Company company;
    company.chunk = chunk;
    expect_equal(company, "pieces of " + std::to_string(chunk));
  }
  for (const int chunk : {1, 4}) {
    Company company;
    company.suffix_chunk = chunk;
    expect_equal(company, "own pieces of " + std::to_string(chunk));
  }
}

TEST(BatchInvariance, HoldsWhereverTheCellsLie) {
  Company company;
  company.behind = true;
  expect_equal(company, "own cells before the document's");
  company.restored = true;
  expect_equal(company, "a document that was saved and loaded");
  company.restored = false;
  company.n_siblings = 7;
  company.leave_early = true;
  expect_equal(company, "in cells that others left");
  company.recomputed = true;
  expect_equal(company, "read again");
}

TEST(BatchInvariance, HoldsWithAnyNumberOfThreads) {
  for (const int n_threads : {1, 3}) {
    Company company;
    company.n_threads = n_threads;
    expect_equal(company, std::to_string(n_threads) + " threads");
    company.n_siblings = 7;
    expect_equal(company, std::to_string(n_threads) + " threads, among siblings");
  }
}

TEST(BatchInvariance, IsNotWhatTheRuntimesOwnKernelDoes) {
  Company company;
  company.n_siblings = 7;
  EXPECT_NE(ours(company, AttentionKernel::kStock), ours({}, AttentionKernel::kStock))
      << "if these are equal, nothing here sees a difference";
}

}  // namespace
}  // namespace swarmkv::internal
