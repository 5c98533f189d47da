// What a branch computes is the same bits whoever else is in its forwards, in which order, in which
// cells, and however its prompt was cut: with the grouped attention kernel, on models whose weights
// are multiplied row by row.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "attention/grouped.h"
#include "model/company_rig.h"

namespace swarmkv::internal {
namespace {

/// With one instruction set, the best one if `target` is empty.
void expect_equal(const Company& company, const std::string& what, const std::string& target = {}) {
  static std::map<std::string, std::vector<float>> alone_with;
  if (!alone_with.contains(target)) {
    alone_with[target] = logits_in(*smollm2(), {}, AttentionKernel::kGrouped, target);
  }
  const std::vector<float>& alone = alone_with[target];
  const std::vector<float> is = logits_in(*smollm2(), company, AttentionKernel::kGrouped, target);
  ASSERT_EQ(is.size(), alone.size());
  std::size_t n = 0, first = is.size();
  for (std::size_t i = 0; i < is.size(); ++i) {
    if (is[i] == alone[i]) continue;
    ++n;
    first = std::min(first, i);
  }
  const std::size_t n_vocab = is.size() / (CompanyRig::kSteps + 1);
  EXPECT_EQ(n, 0U) << what << ": " << n << " of " << is.size() << " logits differ, first after "
                   << first / n_vocab << " of our tokens, by at most "
                   << largest_difference(is, alone);
}

void expect_equal_among_siblings(const std::string& target) {
  for (const int n : {1, 2, 7, 49}) {
    Company company;
    company.n_siblings = n;
    company.place = n / 2;
    expect_equal(company, "among " + std::to_string(n), target);
  }
  for (const int place : {0, 7}) {
    Company company;
    company.n_siblings = 7;
    company.place = place;
    expect_equal(company, "at place " + std::to_string(place), target);
  }
}

TEST(BatchInvariance, HoldsAmongSiblings) { expect_equal_among_siblings(""); }

// Half as many lanes and registers as AVX-512: blocks are cut elsewhere. Without AVX2 the runtime's
// matrix products are not known to be independent of the batch, so there is nothing to ask.
TEST(BatchInvariance, HoldsAmongSiblingsWithAvx2) {
  const std::vector<std::string> targets = grouped_attention_targets();
  if (std::find(targets.begin(), targets.end(), "AVX2") == targets.end()) {
    GTEST_SKIP() << "this processor has no AVX2";
  }
  expect_equal_among_siblings("AVX2");
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
  EXPECT_NE(logits_in(*smollm2(), company, AttentionKernel::kStock),
            logits_in(*smollm2(), {}, AttentionKernel::kStock))
      << "if these are equal, nothing here sees a difference";
}

}  // namespace
}  // namespace swarmkv::internal
