// Models that take one length per forward: hybrid ones, which take their ids in any order, still
// decode together.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

TEST(EqualLengths, BranchesOfAHybridModelDecodeInOneBatch) {
  constexpr int kBranches = 4, kTokens = 32;
  CoreHarness::Options options;
  options.model.fork_kind = ForkKind::kRecurrent;
  options.model.hybrid = true;
  options.model.eog_every = 0;
  options.context = {.n_cells = 2000, .n_seq_max = 16, .n_batch = 64};
  CoreHarness h(options);
  const auto document = h.document(letters(200, 1));
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 0; i < kBranches; ++i) {
    requests.push_back(h.request(document, question(i), kTokens));
    seen.push_back(h.submit(requests.back()));
  }
  h.run();

  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens) << seen[i]->result.error;
  }
  const EngineCounters& counters = h.core->stats().counters;
  EXPECT_EQ(counters.n_decode_rows, static_cast<std::uint64_t>(kBranches * (kTokens - 1)));
  EXPECT_LT(counters.n_decode_steps * 2, counters.n_decode_rows) << "one row a forward";
}

}  // namespace
}  // namespace swarmkv::internal
