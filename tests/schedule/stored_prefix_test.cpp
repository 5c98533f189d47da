// Prefixes that were computed elsewhere: loaded once, forked by all, never trusted, and kept when
// they would go.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/fork_kinds.h"

namespace swarmkv::internal {
namespace {

CoreHarness::Options options_of(ForkKind kind, bool deterministic = false) {
  CoreHarness::Options options;
  options.model.fork_kind = kind;
  options.model.n_swa = kind == ForkKind::kWindow ? 12 : 0;
  options.scheduler.deterministic = deterministic;
  options.scheduler.grid = 16;
  return options;
}

CoreHarness with_cells(ForkKind kind, int n_cells) {
  CoreHarness::Options options = options_of(kind);
  options.context.n_cells = n_cells;
  return CoreHarness(options);
}

const char* const kText = "a document of some length that many agents are to read";

/// The state of a prefix as some other process would have saved it.
std::shared_ptr<const std::vector<std::uint8_t>> saved_elsewhere(const CoreHarness& here,
                                                                 const Tokens& tokens) {
  const auto model = make_fake_model(here.model->options());
  const auto context = model->make_fake_context({.n_cells = 400, .n_seq_max = 2, .n_batch = 400});
  Batch batch;
  for (const Token token : tokens) {
    batch.push_back({token, static_cast<Pos>(batch.size()), 0, false});
  }
  EXPECT_EQ(context->forward(batch), ForwardStatus::kOk);
  return std::make_shared<std::vector<std::uint8_t>>(context->save(0, Where::kHost).bytes);
}

struct Told {
  int n_loaded = 0;
  std::string error;
};

StoredPrefix stored_of(std::shared_ptr<const Tokens> tokens,
                       std::shared_ptr<const std::vector<std::uint8_t>> bytes,
                       std::shared_ptr<Told> told = std::make_shared<Told>()) {
  StoredPrefix stored;
  stored.tokens = std::move(tokens);
  stored.state = *bytes;
  stored.owner = std::move(bytes);
  stored.on_restore = [told](double, const std::string& error) {
    told->n_loaded += error.empty() ? 1 : 0;
    if (!error.empty()) told->error = error;
  };
  return stored;
}

void offer(CoreHarness& h, std::uint64_t id, StoredPrefix stored) {
  h.model->check_state(stored.state, static_cast<Pos>(stored.tokens->size()));
  h.core->offer(id, std::make_shared<const StoredPrefix>(std::move(stored)));
}

class StoredPrefixes : public ::testing::TestWithParam<ForkKind> {};
INSTANTIATE_TEST_SUITE_P(Kinds, StoredPrefixes, every_fork_kind(), fork_kind_name);

TEST_P(StoredPrefixes, IsLoadedOnceForManyAgentsWhoseAnswersAreThoseOfAComputedOne) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  const auto told = std::make_shared<Told>();
  offer(h, 0, stored_of(document, saved_elsewhere(h, *document), told));
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 0; i < 8; ++i) requests.push_back(h.request(document, "q" + std::to_string(i)));
  for (const Request& request : requests) seen.push_back(h.submit(request));

  h.run();

  EXPECT_EQ(told->n_loaded, 1);
  EXPECT_EQ(h.core->stats().n_restores, 1);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 0);
  EXPECT_EQ(h.core->stats().prompt_tokens_computed, 8 * 2);
  for (std::size_t i = 0; i < seen.size(); ++i) {
    EXPECT_EQ(seen[i]->result.tokens, h.alone(requests[i]).tokens) << i;
    EXPECT_EQ(seen[i]->result.n_cached_tokens, static_cast<int>(document->size()));
    EXPECT_EQ(seen[i]->n_computed, static_cast<int>(document->size())) << "progress was told";
  }
}

// Two states, one the beginning of the other: loaded one by one they would lie in the cache twice.
TEST_P(StoredPrefixes, ALongerOneServesThoseWhoReadItsBeginningToo) {
  const bool cuts_anywhere = GetParam() == ForkKind::kFull;
  const std::string text = kText;
  CoreHarness h(options_of(GetParam()));
  const auto part = h.document(text.substr(0, 30)), whole = h.document(text);
  const auto told_part = std::make_shared<Told>(), told_whole = std::make_shared<Told>();
  offer(h, 0, stored_of(part, saved_elsewhere(h, *part), told_part));
  offer(h, 1, stored_of(whole, saved_elsewhere(h, *whole), told_whole));
  const Request short_one = h.request(part, "short?"), long_one = h.request(whole, "long?");
  const auto seen_short = h.submit(short_one), seen_long = h.submit(long_one);

  h.run();

  EXPECT_EQ(told_whole->n_loaded, 1);
  EXPECT_EQ(told_part->n_loaded, cuts_anywhere ? 0 : 1);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 0);
  EXPECT_EQ(seen_short->result.tokens, h.alone(short_one).tokens);
  EXPECT_EQ(seen_long->result.tokens, h.alone(long_one).tokens);
}

// Where there is no room for the longer one, the one that just serves is taken.
TEST(StoredPrefix, AShorterOneServesWhereTheLongerOneHasNoRoom) {
  const std::string text = kText;
  CoreHarness h = with_cells(ForkKind::kFull, 48);
  const auto part = h.document(text.substr(0, 24)), whole = h.document(text);
  const auto told_part = std::make_shared<Told>(), told_whole = std::make_shared<Told>();
  offer(h, 0, stored_of(part, saved_elsewhere(h, *part), told_part));
  offer(h, 1, stored_of(whole, saved_elsewhere(h, *whole), told_whole));
  const Request request = h.request(part, "short?", 4);
  const auto seen = h.submit(request);

  h.run();

  EXPECT_EQ(told_whole->n_loaded, 0);
  EXPECT_EQ(told_part->n_loaded, 1);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 0);
  EXPECT_EQ(seen->result.tokens, h.alone(request).tokens);
}

// Positions go on where the document ends, also for the shortest ones.
TEST_P(StoredPrefixes, EveryTokenStandsAtItsPlace) {
  for (const int n : {1, 2, 3, 11, 12, 13, 27}) {
    CoreHarness h(options_of(GetParam()));
    const auto document = h.document(std::string(kText).substr(0, static_cast<std::size_t>(n)));
    offer(h, 0, stored_of(document, saved_elsewhere(h, *document)));
    const Request request = h.request(document, "what?");
    const auto seen = h.submit(request);
    h.run();
    EXPECT_EQ(seen->result.tokens, h.alone(request).tokens) << n;
    const auto log = h.context->log();
    ASSERT_FALSE(log.empty());
    EXPECT_EQ(log.front().pos, n) << "nothing of the document is fed again, nothing is left out";
    EXPECT_EQ(h.core->stats().document_tokens_computed, 0) << n;
  }
}

// Ready is what can be forked: that is told before the first forward behind it, which may be long.
TEST_P(StoredPrefixes, IsToldToBeReadyWhenItIsForked) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  offer(h, 0, stored_of(document, saved_elsewhere(h, *document)));
  int n_told_before = -1;
  const auto seen = h.submit(h.request(document, "what?"));
  h.model->faults().on_forward([&](int k, const Batch&) {
    if (k == 1) n_told_before = seen->n_computed;
  });
  h.run();
  EXPECT_EQ(n_told_before, static_cast<int>(document->size()));
}

TEST_P(StoredPrefixes, ABeginningIsExtendedAndOnlyTheRestComputed) {
  CoreHarness h(options_of(GetParam()));
  const auto whole = h.document(kText);
  const auto begin = std::make_shared<const Tokens>(whole->begin(), whole->begin() + 30);
  offer(h, 0, stored_of(begin, saved_elsewhere(h, *begin)));
  const Request request = h.request(whole, "what?");
  const auto one = h.submit(request);
  const auto two = h.submit(request);
  h.run();
  EXPECT_EQ(h.core->stats().document_tokens_computed, static_cast<int>(whole->size()) - 30);
  for (const auto& seen : {one, two}) {
    EXPECT_EQ(seen->result.tokens, h.alone(request).tokens);
    EXPECT_EQ(seen->result.n_cached_tokens, static_cast<int>(whole->size()));
  }
}

TEST_P(StoredPrefixes, TheLongestOneOfSeveralIsTaken) {
  CoreHarness h(options_of(GetParam()));
  const auto whole = h.document(kText);
  const auto told = std::make_shared<Told>();
  for (const int n : {10, 40, 25}) {
    const auto begin = std::make_shared<const Tokens>(whole->begin(), whole->begin() + n);
    offer(h, static_cast<std::uint64_t>(n),
          stored_of(begin, saved_elsewhere(h, *begin), n == 40 ? told : std::make_shared<Told>()));
  }
  (void)h.submit(h.request(whole, "what?"));
  h.run();
  EXPECT_EQ(told->n_loaded, 1);
  EXPECT_EQ(h.core->stats().n_restores, 1);
}

TEST_P(StoredPrefixes, OfAnotherTextIsNotTouched) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  std::string other_text = kText;
  other_text.back() = 'x';  // equal but for the last token
  const auto other = h.document(other_text);
  offer(h, 0, stored_of(other, saved_elsewhere(h, *other)));
  const Request request = h.request(document, "what?");
  const auto seen = h.submit(request);
  h.run();
  EXPECT_EQ(h.core->stats().n_restores, 0);
  EXPECT_EQ(seen->result.tokens, h.alone(request).tokens);
}

TEST_P(StoredPrefixes, OneThatCannotBeLoadedIsToldOnceLeavesNothingAndIsComputed) {
  for (int round = 0; round < 20; ++round) {
    CoreHarness h(options_of(GetParam()));
    const auto document = h.document(kText);
    const auto told = std::make_shared<Told>();
    h.model->faults().short_load_at(1, 30, FakeFaults::kForever);
    offer(h, 0, stored_of(document, saved_elsewhere(h, *document), told));
    std::vector<std::shared_ptr<Seen>> seen;
    const Request request = h.request(document, "what?");
    for (int i = 0; i < 8; ++i) seen.push_back(h.submit(request));
    h.run();
    EXPECT_NE(told->error.find("cut off"), std::string::npos) << told->error;
    EXPECT_EQ(told->n_loaded, 0);
    EXPECT_EQ(h.core->stats().document_tokens_computed, static_cast<int>(document->size()));
    for (const auto& one : seen) EXPECT_EQ(one->result.tokens, h.alone(request).tokens);
  }
}

// What is cached of it goes for the state's sake, and then the state cannot be loaded.
TEST_P(StoredPrefixes, OneThatCannotBeLoadedMayHaveCostWhatWasThere) {
  CoreHarness h = with_cells(GetParam(), 80);
  const std::string text = kText;
  const auto part = h.document(text.substr(0, 30)), whole = h.document(text);
  const Request first = h.request(part, "one", 4), second = h.request(whole, "two", 4);
  const auto a = h.submit(first);
  h.run();
  const auto told = std::make_shared<Told>();
  h.model->faults().short_load_at(1, 30, FakeFaults::kForever);
  offer(h, 0, stored_of(whole, saved_elsewhere(h, *whole), told));
  const auto b = h.submit(second);

  h.run();

  EXPECT_NE(told->error, "") << "it was tried";
  EXPECT_EQ(a->result.tokens, h.alone(first).tokens);
  EXPECT_EQ(b->result.tokens, h.alone(second).tokens);
}

TEST(StoredPrefix, AfterOneThatCannotBeLoadedTheNextIsTried) {
  CoreHarness h(options_of(ForkKind::kFull));
  const std::string text = kText;
  const auto part = h.document(text.substr(0, 30)), whole = h.document(text);
  const auto told_part = std::make_shared<Told>(), told_whole = std::make_shared<Told>();
  h.model->faults().short_load_at(1, 30);
  offer(h, 0, stored_of(part, saved_elsewhere(h, *part), told_part));
  offer(h, 1, stored_of(whole, saved_elsewhere(h, *whole), told_whole));
  const auto seen = h.submit(h.request(part, "short?"));

  h.run();

  EXPECT_NE(told_whole->error, "");
  EXPECT_EQ(told_part->n_loaded, 1);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 0);
  EXPECT_TRUE(seen->done());
}

TEST_P(StoredPrefixes, ThrownOutForWantOfRoomItComesBackFromItsState) {
  CoreHarness h = with_cells(GetParam(), 100);
  const auto document = h.document(kText);
  const auto told = std::make_shared<Told>();
  offer(h, 0, stored_of(document, saved_elsewhere(h, *document), told));
  const Request first = h.request(document, "one"), last = h.request(document, "two");
  const auto a = h.submit(first);
  h.run();
  const auto big = h.submit(h.request(h.document(std::string(70, 'b')), "other", 4));
  h.run();
  const auto b = h.submit(last);
  h.run();
  EXPECT_EQ(told->n_loaded, 2);
  EXPECT_TRUE(big->done());
  EXPECT_EQ(a->result.tokens, h.alone(first).tokens);
  EXPECT_EQ(b->result.tokens, h.alone(last).tokens);
  EXPECT_EQ(h.core->stats().document_tokens_computed, 70);
}

TEST_P(StoredPrefixes, DoesNotFitAndIsThenLeftAlone) {
  const auto n = static_cast<int>(std::string(kText).size());
  CoreHarness h = with_cells(GetParam(), n + 20);
  const auto document = h.document(kText);
  const auto told = std::make_shared<Told>();
  // Something is computed first that must not go: an agent that is at work.
  const auto talker = h.submit(h.request(nullptr, "long talk", 50));
  for (int i = 0; i < 5; ++i) h.step();
  offer(h, 0, stored_of(document, saved_elsewhere(h, *document), told));
  const Request request = h.request(document, "what?", 4);
  const auto seen = h.submit(request);
  h.run();
  EXPECT_TRUE(talker->done());
  EXPECT_EQ(seen->result.tokens, h.alone(request).tokens);
  EXPECT_TRUE(told->error.empty()) << told->error;
}

TEST_P(StoredPrefixes, WithdrawnItIsNotUsed) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  offer(h, 7, stored_of(document, saved_elsewhere(h, *document)));
  h.core->withdraw(7);
  (void)h.submit(h.request(document, "what?"));
  h.run();
  EXPECT_EQ(h.core->stats().n_restores, 0);
}

CaptureRequest capture_of(std::shared_ptr<const Tokens> tokens, std::shared_ptr<Captured> to,
                          std::string refusal = {}) {
  to->reason = "not done";
  return {std::move(tokens), [refusal](std::uint64_t, double) { return refusal; },
          [to](Captured captured) {
            EXPECT_EQ(to->reason, "not done") << "called twice";
            *to = std::move(captured);
          }};
}

/// What a wish for the state comes to when it is asked for now.
Captured capture_now(CoreHarness& h, std::shared_ptr<const Tokens> tokens,
                     std::string refusal = {}) {
  const auto to = std::make_shared<Captured>();
  h.core->want(99, capture_of(std::move(tokens), to, std::move(refusal)));
  h.core->settle(99);
  return *to;
}

TEST_P(StoredPrefixes, WhatIsCapturedIsWhatAnotherProcessWouldHaveSaved) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  for (int i = 0; i < 3; ++i) (void)h.submit(h.request(document, "q" + std::to_string(i)));
  h.run();

  const Captured captured = capture_now(h, document);

  EXPECT_EQ(captured.reason, "");
  EXPECT_EQ(captured.state.length, static_cast<int>(document->size()));
  EXPECT_EQ(captured.state.bytes, *saved_elsewhere(h, *document));
  h.check();
}

TEST_P(StoredPrefixes, BeforeItIsThrownOutItIsCaptured) {
  CoreHarness h = with_cells(GetParam(), 100);
  const auto document = h.document(kText);
  const auto captured = std::make_shared<Captured>();
  h.core->want(1, capture_of(document, captured));
  (void)h.submit(h.request(document, "one"));
  (void)h.submit(h.request(h.document(std::string(80, 'b')), "other", 4));
  h.run();
  ASSERT_GT(h.core->stats().n_evictions, 0) << "the test has to throw it out";
  EXPECT_EQ(captured->reason, "");
  EXPECT_EQ(captured->state.bytes, *saved_elsewhere(h, *document));
  h.core->settle(1);  // it was done already
}

TEST_P(StoredPrefixes, WhatWasNeverThereOrIsRefusedHasAReason) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  (void)h.submit(h.request(document, "what?"));
  h.run();
  EXPECT_NE(capture_now(h, h.document("never read")).reason.find("not in the cache"),
            std::string::npos);
  EXPECT_EQ(capture_now(h, document, "too large").reason, "too large");
  EXPECT_TRUE(capture_now(h, document, "too large").state.bytes.empty());
  h.model->faults().short_save_at(1, 5);
  EXPECT_NE(capture_now(h, document).reason.find("wrote 5"), std::string::npos);
  h.check();
}

TEST_P(StoredPrefixes, WhatIsWantedNoMoreIsNotCaptured) {
  CoreHarness h(options_of(GetParam()));
  const auto document = h.document(kText);
  const auto captured = std::make_shared<Captured>();
  h.core->want(1, capture_of(document, captured));
  (void)h.submit(h.request(document, "what?"));
  h.run();
  h.core->want_no_more(1);
  h.core->settle(1);
  EXPECT_EQ(captured->reason, "not done");
}

//  [ contract ]-[ annex ]: what ends inside of a longer path can be kept where the model forks
//  there
TEST_P(StoredPrefixes, OneInsideOfALongerPathIsCapturedWhereTheModelForksThere) {
  CoreHarness h(options_of(GetParam()));
  const auto whole = h.document(kText);
  const auto begin = std::make_shared<const Tokens>(whole->begin(), whole->begin() + 20);
  Request request = h.request(whole, "what?");
  request.fork_points = {20, static_cast<int>(whole->size())};
  (void)h.submit(request);
  h.run();
  const Captured captured = capture_now(h, begin);
  EXPECT_EQ(captured.reason, "");
  // Of a window model's shared cells more is resident than a lone sequence would have kept.
  EXPECT_EQ(captured.state.length, 20);
  h.check();
}

//  One request at a time; another document throws the first one out each time.
TEST(StoredPrefixesInDeterministicMode, ReplaceEachOtherWithTheSameTokens) {
  for (const ForkKind kind : {ForkKind::kFull, ForkKind::kWindow, ForkKind::kRecurrent}) {
    const auto run = [&](bool offered) {
      CoreHarness h(options_of(kind, true));
      const auto one = h.document(kText);
      const auto two = h.document("another document, which is read in turns with the first");
      if (offered) {
        StoredPrefix first = stored_of(one, saved_elsewhere(h, *one));
        first.cuts = {20};
        offer(h, 1, std::move(first));
        offer(h, 2, stored_of(two, saved_elsewhere(h, *two)));
      }
      const auto first_state = std::make_shared<Captured>();
      const auto second_state = std::make_shared<Captured>();
      h.core->want(1, capture_of(one, first_state));
      h.core->want(2, capture_of(two, second_state));
      std::vector<std::shared_ptr<Seen>> seen;
      for (int i = 0; i < 4; ++i) {
        Request request = h.request(i % 2 == 0 ? one : two, "q" + std::to_string(i));
        if (i % 2 == 0) request.fork_points = {20};
        seen.push_back(h.submit(request));
      }
      h.run();
      std::vector<Tokens> tokens;
      for (const auto& each : seen) tokens.push_back(each->result.tokens);
      EXPECT_EQ(first_state->reason, "") << "captured before it was thrown out";
      EXPECT_EQ(second_state->reason, "");
      EXPECT_EQ(h.core->stats().document_tokens_computed == 0, offered);
      EXPECT_EQ(h.core->stats().n_restores, offered ? 4 : 0);
      return tokens;
    };
    EXPECT_EQ(run(true), run(false));
  }
}

// An agent that starts early sees a beginning of the document: a part of the same state where that
// can be cut, computed where it cannot.
TEST_P(StoredPrefixes, EarlyStartsAreRightAsWell) {
  for (const bool deterministic : {false, true}) {
    CoreHarness h(options_of(GetParam(), deterministic));
    const auto whole = h.document(kText);
    const auto begin = std::make_shared<const Tokens>(whole->begin(), whole->begin() + 20);
    StoredPrefix stored = stored_of(whole, saved_elsewhere(h, *whole));
    stored.cuts = {20};
    offer(h, 0, std::move(stored));
    Request early = h.request(begin, "early"), late = h.request(whole, "late");
    early.fork_points = {20};
    late.fork_points = {20};
    const auto a = h.submit(early);
    const auto b = h.submit(late);
    h.run();
    EXPECT_EQ(a->result.tokens, h.alone(early).tokens);
    EXPECT_EQ(b->result.tokens, h.alone(late).tokens);
    const bool cuts = GetParam() == ForkKind::kFull;
    EXPECT_EQ(h.core->stats().document_tokens_computed, cuts ? 0 : 20) << deterministic;
  }
}

}  // namespace
}  // namespace swarmkv::internal
