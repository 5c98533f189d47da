// What a finished request leaves in the cache for those that go on with its conversation.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/fork_kinds.h"

namespace swarmkv::internal {
namespace {

class Continue : public ::testing::TestWithParam<ForkKind> {
 protected:
  CoreHarness make(int n_cells = 512) const {
    CoreHarness::Options options;
    options.model.fork_kind = GetParam();
    options.model.n_swa = GetParam() == ForkKind::kWindow ? 1000 : 0;
    options.context.n_cells = n_cells;
    return CoreHarness(options);
  }
};

Request parent_of(const CoreHarness& h) {
  Request r = h.request(h.document("The document is read once."), " What is it?", 12);
  r.ignore_eos = true;
  r.keep = true;
  return r;
}

// The parent's prompt and answer with another turn behind them.
Request next_turn(const CoreHarness& h, const Request& parent, const Result& said,
                  const std::string& turn) {
  Request r = h.request(parent.prefix, "", 6);
  r.label = turn;
  r.suffix = parent.suffix;
  r.suffix.insert(r.suffix.end(), said.tokens.begin(), said.tokens.end());
  const Tokens own = h.tokens(turn);
  r.suffix.insert(r.suffix.end(), own.begin(), own.end());
  r.fork_points = {said.n_cache_tokens};
  r.ignore_eos = true;
  return r;
}

TEST_P(Continue, ComputesTheLastTokenAndTheNewTurnOnly) {
  CoreHarness h = make();
  const Request parent = parent_of(h);
  const auto first = h.submit(parent);
  h.run();
  EXPECT_EQ(first->result.n_cache_tokens, parent.n_prompt() + 12 - 1);

  const Request turn = next_turn(h, parent, first->result, " And why?");
  const auto second = h.submit(turn);
  h.run();
  EXPECT_EQ(second->result.tokens, h.alone(turn).tokens);
  EXPECT_EQ(second->result.n_computed_tokens, 1 + 9);
  EXPECT_EQ(second->result.n_cached_tokens, first->result.n_cache_tokens);
  EXPECT_EQ(h.core->stats().prompt_tokens_computed, parent.n_prompt() + 10);
}

TEST_P(Continue, SeveralGoOnFromOneAndFromEachOther) {
  CoreHarness h = make();
  const Request parent = parent_of(h);
  const auto first = h.submit(parent);
  h.run();
  std::vector<Request> turns;
  std::vector<std::shared_ptr<Seen>> seen;
  for (const char* text : {" And why?", " Or how?", " Not so?"}) {
    turns.push_back(next_turn(h, parent, first->result, text));
    turns.back().keep = true;
    seen.push_back(h.submit(turns.back()));
  }
  h.run();
  Request third = next_turn(h, turns[1], seen[1]->result, " Really?");
  third.fork_points = {first->result.n_cache_tokens, seen[1]->result.n_cache_tokens};
  const auto last = h.submit(third);
  h.run();
  for (std::size_t i = 0; i < turns.size(); ++i) {
    EXPECT_EQ(seen[i]->result.tokens, h.alone(turns[i]).tokens) << turns[i].label;
    EXPECT_LE(seen[i]->result.n_computed_tokens, 10) << turns[i].label;
  }
  EXPECT_EQ(last->result.tokens, h.alone(third).tokens);
  EXPECT_EQ(last->result.n_computed_tokens, 1 + 8);
}

TEST_P(Continue, WhatIsLetGoLeavesTheCache) {
  CoreHarness h = make();
  const Request parent = parent_of(h);
  const auto first = h.submit(parent);
  const std::uint64_t id = h.last_id();
  h.run();
  EXPECT_EQ(h.context->n_used_cells(), first->result.n_cache_tokens);
  h.core->let_go(id);
  h.check();
  EXPECT_EQ(h.context->n_used_cells(), parent.n_prefix()) << "the document alone stays";
}

TEST_P(Continue, LetGoBeforeTheEndKeepsNothing) {
  CoreHarness h = make();
  const Request parent = parent_of(h);
  h.submit(parent);
  ASSERT_TRUE(h.step());
  h.core->let_go(h.last_id());
  h.run();
  EXPECT_EQ(h.context->n_used_cells(), parent.n_prefix());
}

TEST_P(Continue, UnderPressureItGoesAndIsComputedAgain) {
  CoreHarness h = make(70);  // parent: 26 + 12 + 12 - 1
  const Request parent = parent_of(h);
  const auto first = h.submit(parent);
  h.run();
  const Request other = h.request(h.document(std::string(50, 'z')), " And?", 8);
  const auto big = h.submit(other);
  h.run();
  EXPECT_EQ(big->result.tokens, h.alone(other).tokens);
  const Request turn = next_turn(h, parent, first->result, " And why?");
  const auto second = h.submit(turn);
  h.run();
  EXPECT_EQ(second->result.tokens, h.alone(turn).tokens);
  EXPECT_GT(second->result.n_computed_tokens, 10) << "the parent had to make room";
}

// Kept conversations hold sequence ids; those that continue them come while others still wait.
TEST_P(Continue, ManyConversationsDoNotShutEachOtherOut) {
  CoreHarness::Options options;
  options.model.fork_kind = GetParam();
  options.model.n_swa = GetParam() == ForkKind::kWindow ? 1000 : 0;
  options.context = {.n_cells = 4000, .n_seq_max = 20, .n_batch = 64};
  options.scheduler.n_parallel = 4;
  options.scheduler.min_accidental_match = 1000;
  CoreHarness h(options);
  struct Talk {
    Request first, second;
    std::shared_ptr<Seen> said, done;
    std::uint64_t id = 0;
    bool over = false;
  };
  std::vector<Talk> talks(60);
  for (std::size_t i = 0; i < talks.size(); ++i) {
    Talk& talk = talks[i];
    talk.first = parent_of(h);
    talk.first.suffix = h.tokens(std::to_string(i) + " is my question");
    talk.said = h.submit(talk.first);
    talk.id = h.last_id();
  }
  int n_steps = 0;
  std::size_t n_left = talks.size();
  while (n_left > 0) {
    ASSERT_LT(++n_steps, 6000) << "conversations wait for each other";
    ASSERT_NO_THROW(h.step());
    for (Talk& talk : talks) {
      if (talk.said->done() && talk.done == nullptr) {
        talk.second = next_turn(h, talk.first, talk.said->result, " And why?");
        talk.done = h.submit(talk.second);
      } else if (talk.done != nullptr && talk.done->done() && !talk.over) {
        h.core->let_go(talk.id);
        talk.over = true;
        --n_left;
      }
    }
  }
  int n_read_again = 0;
  for (const Talk& talk : talks) {
    EXPECT_EQ(talk.done->result.tokens, h.alone(talk.second).tokens);
    n_read_again += talk.done->result.n_computed_tokens > 10 ? 1 : 0;
  }
  // A frozen state takes an id of its own on recurrent models, so a few have to make room there.
  EXPECT_LE(n_read_again, GetParam() == ForkKind::kRecurrent ? 10 : 0);
}

TEST_P(Continue, ACancelledRequestKeepsNothing) {
  CoreHarness h = make();
  const Request parent = parent_of(h);
  h.submit(parent);
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(h.step());
  h.core->cancel(h.last_id(), "test");
  h.run();
  EXPECT_LE(h.context->n_used_cells(), parent.n_prefix());
}

// It loses its cells on the way and gets them again; what it leaves in the end is as good.
TEST_P(Continue, APreemptedRequestIsContinuedAllTheSame) {
  CoreHarness h = make(180);
  Request other = h.request(h.document("The document is read once."), " Go on", 70);
  other.ignore_eos = true;
  h.submit(other);  // the oldest holds all that it may need: 26 + 6 + 69
  ASSERT_TRUE(h.step());
  Request parent = parent_of(h);
  parent.max_tokens = 80;  // begins with 64 of them
  const auto first = h.submit(parent);
  h.run();
  ASSERT_GE(first->n_preempted, 1);
  EXPECT_EQ(first->result.tokens, h.alone(parent).tokens);
  EXPECT_EQ(first->result.n_cache_tokens, parent.n_prompt() + 80 - 1);

  const Request turn = next_turn(h, parent, first->result, " And why?");
  const auto second = h.submit(turn);
  h.run();
  EXPECT_EQ(second->result.n_computed_tokens, 1 + 9);
  EXPECT_EQ(second->result.tokens, h.alone(turn).tokens);
}

INSTANTIATE_TEST_SUITE_P(Kinds, Continue, every_fork_kind(), fork_kind_name);

}  // namespace
}  // namespace swarmkv::internal
