// Sequence ids run out before cells do: what holds one, who gives it back, and what goes when none
// is left.
#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "support/core_harness.h"
#include "support/fork_kinds.h"

namespace swarmkv::internal {
namespace {

CoreHarness make(ForkKind kind, int n_seq_max, int n_parallel, int n_cells = 6000) {
  CoreHarness::Options options;
  options.model.fork_kind = kind;
  options.model.n_swa = kind == ForkKind::kWindow ? 100000 : 0;
  options.context = {.n_cells = n_cells, .n_seq_max = n_seq_max, .n_batch = 64};
  options.scheduler.n_parallel = n_parallel;
  options.scheduler.min_accidental_match = 1000;
  return CoreHarness(options);
}

int n_ids_in_use(const CoreHarness& h) {
  int n = 0;
  for (SeqId id = 0; id < h.context->n_seq_max(); ++id) n += h.context->length(id) > 0 ? 1 : 0;
  return n;
}

/// One turn of a conversation, and what became of it.
struct Turn {
  Request request;
  std::shared_ptr<Seen> seen;
  std::uint64_t id = 0;
  int n_open = 0;  ///< turns that continue it and are not over yet
  Turn* parent = nullptr;
};

Turn first_turn(CoreHarness& h, const std::string& question) {
  Turn turn;
  turn.request = h.request(h.document("The document is read once."), question, 4);
  turn.request.ignore_eos = true;
  turn.request.keep = true;
  return turn;
}

// The parent's prompt and answer with another question behind them.
Turn next_turn(CoreHarness& h, Turn& parent, const std::string& question) {
  Turn turn = parent;
  turn.parent = &parent;
  const Result& said = parent.seen->result;
  const Tokens own = h.tokens(question);
  Tokens& suffix = turn.request.suffix;
  suffix.insert(suffix.end(), said.tokens.begin(), said.tokens.end());
  suffix.insert(suffix.end(), own.begin(), own.end());
  turn.request.fork_points.push_back(said.n_cache_tokens);
  turn.request.label = question;
  return turn;
}

void submit(CoreHarness& h, Turn& turn) {
  turn.seen = h.submit(turn.request);
  turn.id = h.last_id();
}

class SequenceIds : public ::testing::TestWithParam<ForkKind> {
 protected:
  [[nodiscard]] bool is_recurrent() const { return GetParam() == ForkKind::kRecurrent; }
};
INSTANTIATE_TEST_SUITE_P(Kinds, SequenceIds, every_fork_kind(), fork_kind_name);

//  document -- turn 1 -- turn 2 -- ... -- turn 300: any descendant's sequence owns the whole path
TEST_P(SequenceIds, AChainOfTurnsNeedsAFewHoweverLongItIs) {
  CoreHarness h = make(GetParam(), 4, 2);
  const int n_turns = is_recurrent() ? 20 : 300;
  std::deque<Turn> turns{first_turn(h, " What?")};
  for (int i = 0; i < n_turns; ++i) {
    if (i > 0) turns.push_back(next_turn(h, turns.back(), " Why?"));
    submit(h, turns.back());
    h.run();  // nothing is let go of: everything could be continued once more
    ASSERT_TRUE(turns.back().seen->done());
    if (i == 0 || is_recurrent()) continue;
    ASSERT_EQ(turns.back().seen->result.n_computed_tokens, 1 + 5) << "turn " << i;
  }
  const Turn& last = turns.back();
  EXPECT_EQ(last.seen->result.tokens, h.alone(last.request).tokens);
  if (is_recurrent()) return;  // every turn's frozen state has an id of its own: they make room
  EXPECT_EQ(h.core->stats().n_evictions, 0);

  Turn other = next_turn(h, turns[turns.size() / 2], " Or how?");
  submit(h, other);
  h.run();
  EXPECT_EQ(other.seen->result.n_computed_tokens, 1 + 8) << "the middle can still be continued";
  EXPECT_EQ(other.seen->result.tokens, h.alone(other.request).tokens);
}

TEST(SequenceIdsOfFullAttention, OnFullAttentionAHolderIsGivenBackAsSoonAsADescendantServes) {
  CoreHarness h = make(ForkKind::kFull, 16, 2);
  std::deque<Turn> turns{first_turn(h, " What?")};
  for (int i = 0; i < 30; ++i) {
    if (i > 0) turns.push_back(next_turn(h, turns.back(), " Why?"));
    submit(h, turns.back());
    h.run();
    ASSERT_EQ(n_ids_in_use(h), 1) << "turn " << i;
  }
  for (const Turn& turn : turns) h.core->let_go(turn.id);
  h.check();
  EXPECT_EQ(h.context->n_used_cells(), turns[0].request.n_prefix()) << "the document alone stays";
  EXPECT_EQ(n_ids_in_use(h), 1);
}

//  Every turn is continued by two others, five levels deep: 63 turns, 31 of which are continued.
TEST_P(SequenceIds, ATreeOfTurnsIsLedToItsEndBranchByBranch) {
  CoreHarness h = make(GetParam(), is_recurrent() ? 16 : 8, 2);
  constexpr int kLevels = 5;
  std::deque<Turn> turns{first_turn(h, " What?")};
  submit(h, turns.back());
  int n_steps = 0, n_read_again = 0;
  std::size_t n_over = 0;
  std::vector<Turn*> open{&turns.front()};
  std::map<const Turn*, int> level;
  while (!open.empty()) {
    ASSERT_LT(++n_steps, 20000) << "turns wait for each other";
    ASSERT_NO_THROW(h.step());
    std::vector<Turn*> still;
    for (Turn* turn : open) {
      if (!turn->seen->done()) {
        still.push_back(turn);
        continue;
      }
      ++n_over;
      if (turn->parent != nullptr) {
        n_read_again += turn->seen->result.n_computed_tokens > 1 + 6 ? 1 : 0;
        if (--turn->parent->n_open == 0) h.core->let_go(turn->parent->id);
      }
      if (level[turn] == kLevels) continue;
      for (const char* question : {" Why ?", " How ?"}) {
        turns.push_back(next_turn(h, *turn, question));
        Turn& next = turns.back();
        level[&next] = level[turn] + 1;
        next.n_open = 0;
        next.request.keep = level[&next] < kLevels;
        ++turn->n_open;
        submit(h, next);
        still.push_back(&next);
      }
    }
    open = std::move(still);
  }
  EXPECT_EQ(n_over, 63U);
  for (std::size_t i = 0; i < turns.size(); i += 7) {
    EXPECT_EQ(turns[i].seen->result.tokens, h.alone(turns[i].request).tokens);
  }
  EXPECT_EQ(n_read_again, 0);
}

//  More documents than ids: what nobody waits for goes first, and it is never more than one.
TEST_P(SequenceIds, AnUnwantedPrefixMakesRoomBeforeAWantedOne) {
  CoreHarness h = make(GetParam(), 5, 1);
  std::vector<std::shared_ptr<const Tokens>> documents;
  for (char c = 'a'; c < 'h'; ++c) documents.push_back(h.document(std::string(30, c)));
  for (int i = 0; i < 4; ++i) h.submit(h.request(documents[static_cast<std::size_t>(i)], " 1?"));
  h.run();
  ASSERT_EQ(h.core->stats().n_evictions, 0) << "four holders and one running request";

  // The oldest is wanted by somebody who stands behind the new one.
  h.submit(h.request(documents[4], " 2?"));
  const auto wants_the_first = h.submit(h.request(documents[0], " 2?"));
  h.run();

  EXPECT_EQ(wants_the_first->result.n_prefix_computed_tokens, 0);
  EXPECT_EQ(h.core->stats().n_evictions, 1);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 5 * 30);
}

//  Everything is wanted: whoever is wanted last goes, so that the least is read again.
TEST_P(SequenceIds, OfWantedPrefixesTheOneWantedLastMakesRoom) {
  CoreHarness h = make(GetParam(), 5, 1);
  std::vector<std::shared_ptr<const Tokens>> documents;
  for (char c = 'a'; c < 'k'; ++c) documents.push_back(h.document(std::string(30, c)));
  for (const char* question : {" 1?", " 2?", " 3?"}) {
    for (const auto& document : documents) h.submit(h.request(document, question));
  }
  h.run();

  // Ten documents in four holders, three rounds. Least recently used would read all of them in
  // every round. The least that anybody could do: round 1 leaves a, b, c and j; round 2 goes
  // without c and reads d to i; round 3 finds a, b, i and j.
  EXPECT_EQ(h.core->stats().document_tokens_computed, (10 + 6 + 6) * 30);
}

//  contract -- annex: the two share one sequence, so the annex alone gives no id back.
TEST(SequenceIdsOfFullAttention, ALeafThatGivesNoIdBackIsLeftAlone) {
  CoreHarness h = make(ForkKind::kFull, 4, 1);
  const auto contract = h.document(std::string(30, 'c'));
  const auto both = h.document(std::string(30, 'c') + std::string(20, 'x'));
  const auto other = h.document(std::string(40, 'o'));
  h.submit(h.request(contract, " 1?"));
  h.run();
  h.submit(h.request(both, " 2?"));
  h.run();
  h.submit(h.request(other, " 3?"));
  h.run();
  h.submit(h.request(contract, " 4?"));  // used last, and the annex with it the least
  h.run();
  h.submit(h.request(h.document(std::string(30, 'n')), " 5?"));
  h.run();
  h.submit(h.request(h.document(std::string(30, 'm')), " 6?"));
  h.run();
  // Ids: contract + annex, other, n | running. m needs one: `other` was used least.
  const auto again = h.submit(h.request(both, " 7?"));
  h.run();
  EXPECT_EQ(again->result.n_prefix_computed_tokens, 0) << "the annex went without giving an id";
}

//  What cannot make enough room takes nothing away.
TEST(SequenceIdsOfFullAttention, WhereNoIdCanBeFreedNothingIsEvicted) {
  CoreHarness h = make(ForkKind::kFull, 3, 8);
  const auto idle = h.document(std::string(30, 'i'));
  const auto leaf = h.document(std::string(30, 'i') + std::string(30, 'l'));
  h.submit(h.request(leaf, " 1?"));
  h.run();
  Request slow = h.request(idle, " slow?", 60);
  slow.ignore_eos = true;
  h.submit(slow);
  slow.suffix = h.tokens(" also slow?");
  h.submit(slow);  // both pin the upper half: its only sequence is the leaf's
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(h.step());
  const auto next = h.submit(h.request(h.document(std::string(30, 'n')), " 2?"));
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(h.step());
  EXPECT_EQ(next->n_admitted, 0);
  EXPECT_EQ(h.core->stats().n_evictions, 0);
  h.run();
  EXPECT_EQ(next->result.state, RequestState::kFinished);
}

}  // namespace
}  // namespace swarmkv::internal
