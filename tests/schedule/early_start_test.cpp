// A request whose prefix ends inside of another one's document, step by step.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/fork_kinds.h"

namespace swarmkv::internal {
namespace {

class EarlyStart : public ::testing::TestWithParam<ForkKind> {};

TEST_P(EarlyStart, AnswersWhileTheRestIsStillRead) {
  for (const bool early_comes_first : {true, false}) {
    CoreHarness::Options options;
    options.model.fork_kind = GetParam();
    options.model.n_swa = GetParam() == ForkKind::kWindow ? 1000 : 0;
    options.context = {.n_cells = 1000, .n_seq_max = 16, .n_batch = 16};
    CoreHarness h(options);
    const auto document = h.document(std::string(600, 'd'));
    Request all = h.request(document, " all of it?", 6);
    all.fork_points = {40};
    Request early = h.request(
        std::make_shared<const Tokens>(document->begin(), document->begin() + 40), " soon?", 6);
    early.ignore_eos = all.ignore_eos = true;

    std::shared_ptr<Seen> soon, whole;
    if (early_comes_first) soon = h.submit(early);
    whole = h.submit(all);
    if (!early_comes_first) soon = h.submit(early);
    while (!soon->done()) ASSERT_NO_THROW(h.step());
    EXPECT_LT(whole->n_computed, 600 * 2 / 5) << "of the document, when the early one was done";
    EXPECT_EQ(whole->n_first, 0);
    h.run();

    EXPECT_EQ(soon->result.tokens, h.alone(early).tokens);
    EXPECT_EQ(whole->result.tokens, h.alone(all).tokens);
    EXPECT_EQ(h.core->stats().prompt_tokens_computed, 600 + 6 + 11);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, EarlyStart, every_fork_kind(), fork_kind_name);

}  // namespace
}  // namespace swarmkv::internal
