// What is refused before the runtime sees a batch.
//   sequence 0 holds 5 tokens, 1 holds none, 2 holds 7
#include <gtest/gtest.h>

#include <string>

#include "engine/batch_check.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

Pos held(SeqId seq) { return seq == 0 ? 5 : seq == 2 ? 7 : 0; }

BatchRules rules() {
  BatchRules rules;
  rules.limits.n_tokens = 6;
  rules.n_seq_max = 4;
  rules.n_outputs_max = 2;
  rules.n_vocab = 100;
  return rules;
}

void expect_refused(const Batch& batch, const std::string& part, BatchRules with = rules()) {
  try {
    (void)check_batch(batch, with, held);
    ADD_FAILURE() << "accepted, expected: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(BatchCheck, NamesTheTouchedSequencesInOrderWithTheirLengths) {
  const auto touched =
      check_batch({{1, 7, 2, false}, {1, 5, 0, true}, {1, 8, 2, true}}, rules(), held);
  ASSERT_EQ(touched.size(), 2u);
  EXPECT_EQ(touched[0].seq, 2);
  EXPECT_EQ(touched[0].length, 7);
  EXPECT_EQ(touched[0].n_tokens, 2);
  EXPECT_EQ(touched[1].seq, 0);
  EXPECT_EQ(touched[1].n_tokens, 1);
}

TEST(BatchCheck, RefusesAnEmptyBatchAndOneThatIsTooLong) {
  expect_refused({}, "empty");
  Batch batch;
  for (Pos i = 0; i < 7; ++i) batch.push_back({1, i, 1, false});
  expect_refused(batch, "7 tokens, at most 6");
}

TEST(BatchCheck, RefusesIdsAndTokensOutOfRange) {
  expect_refused({{1, 0, 4, false}}, "4 is not in [0, 4)");
  expect_refused({{1, 0, -1, false}}, "-1 is not in [0, 4)");
  expect_refused({{1, 0, 100000, false}}, "100000 is not in [0, 4)");
  expect_refused({{100, 0, 1, false}}, "token 100 is not in [0, 100)");
  expect_refused({{-1, 0, 1, false}}, "token -1");
}

TEST(BatchCheck, RefusesPositionsThatDoNotContinueTheirSequence) {
  expect_refused({{1, 5, 1, false}}, "position 5 does not continue sequence 1, whose next is 0");
  expect_refused({{1, 6, 0, false}}, "whose next is 5");
  expect_refused({{1, 4, 0, false}}, "whose next is 5");
  expect_refused({{1, 0, 1, false}, {1, 2, 1, false}}, "whose next is 1");
  expect_refused({{1, 0, 1, false}, {1, 0, 1, false}}, "whose next is 1");
}

TEST(BatchCheck, RefusesMoreOutputsThanThereAreRowsFor) {
  expect_refused({{1, 0, 1, true}, {1, 1, 1, true}, {1, 2, 1, true}},
                 "3 rows of logits, at most 2");
}

TEST(BatchCheck, AsksForEqualLengthsOnlyWhereTheyMatter) {
  const Batch batch = {{1, 0, 1, false}, {1, 7, 2, false}, {1, 8, 2, false}};
  EXPECT_EQ(check_batch(batch, rules(), held).size(), 2u);
  BatchRules strict = rules();
  strict.limits.equal_lengths = true;
  expect_refused(batch, "same number of tokens", strict);
}

TEST(BatchCheck, AsksForConsecutiveIdsOnlyWhereTheyMatter) {
  const Batch batch = {{1, 5, 0, false}, {1, 7, 2, false}};
  EXPECT_EQ(check_batch(batch, rules(), held).size(), 2u);
  BatchRules strict = rules();
  strict.limits.equal_lengths = strict.limits.consecutive_ids = true;
  expect_refused(batch, "consecutive sequence ids", strict);
  EXPECT_EQ(
      check_batch({{1, 5, 0, false}, {1, 0, 1, false}, {1, 7, 2, false}}, strict, held).size(), 3u);
}

}  // namespace
}  // namespace swarmkv::internal
