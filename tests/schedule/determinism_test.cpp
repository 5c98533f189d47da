// Deterministic mode: a prefix is shared only if a lone run would have cut it at the same places.
#include <gtest/gtest.h>

#include "support/core_harness.h"

namespace swarmkv::internal {
namespace {

// Lengths of the pieces in which [0, end) went through forwards, in order.
std::vector<int> pieces(const FakeContext& context, std::size_t from, int end) {
  std::vector<int> out;
  int last_forward = -1;
  const auto log = context.log();
  for (std::size_t i = from; i < log.size(); ++i) {
    if (log[i].pos >= end) continue;
    if (log[i].k != last_forward) out.push_back(0);
    last_forward = log[i].k;
    ++out.back();
  }
  return out;
}

CoreHarness::Options deterministic() {
  CoreHarness::Options options;
  options.scheduler.deterministic = true;
  options.scheduler.grid = 32;
  return options;
}

// A log that grew: v1 ends at 40, inside the piece [32, 64) of v2.
TEST(CoreDeterminism, AnotherDocumentsEndIsNoCutOfThisOne) {
  const std::string text(100, 'a');
  CoreHarness h(deterministic());
  h.submit(h.request(h.document(text.substr(0, 40)), "?"));
  h.run();
  const std::size_t before = h.context->log().size();

  h.submit(h.request(h.document(text), "?"));
  h.run();

  EXPECT_EQ(pieces(*h.context, before, 100), (std::vector<int>{32, 32, 32, 4}));
}

TEST(CoreDeterminism, ALongerDocumentsPiecesAreNotTakenForAShorterOne) {
  const std::string text(100, 'a');
  CoreHarness h(deterministic());
  h.submit(h.request(h.document(text), "?"));
  h.run();
  const std::size_t before = h.context->log().size();

  h.submit(h.request(h.document(text.substr(0, 40)), "?"));
  h.run();

  EXPECT_EQ(pieces(*h.context, before, 40), (std::vector<int>{32, 8}));
}

TEST(CoreDeterminism, TheSameDocumentIsStillComputedOnce) {
  CoreHarness h(deterministic());
  const auto document = h.document(std::string(100, 'a'));
  h.submit(h.request(document, "one"));
  h.submit(h.request(document, "two"));
  h.run();

  EXPECT_EQ(h.core->stats().prompt_tokens_computed, 106);
}

// Half a piece would be other arithmetic.
TEST(CoreDeterminism, ACrowdedCacheDoesNotMoveTheCuts) {
  CoreHarness h(deterministic());
  h.model->faults().fail_at(2, ForwardStatus::kNoSlot);
  const Request request = h.request(h.document(std::string(100, 'a')), "?");
  const auto seen = h.submit(request);
  h.run();

  EXPECT_EQ(seen->result.tokens, h.alone(request).tokens) << seen->result.error;
  EXPECT_EQ(pieces(*h.context, 0, 100), (std::vector<int>{32, 32, 32, 4}));
}

}  // namespace
}  // namespace swarmkv::internal
