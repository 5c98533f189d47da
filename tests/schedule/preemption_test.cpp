// When the cache is full, the youngest steps back and goes on later as if nothing had happened.
#include <gtest/gtest.h>

#include <map>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

constexpr int kDocument = 100;
constexpr int kMaxTokens = 200;

//  100 document + 8 branches that want up to 209 cells each, in a pool for two and a half of them
struct Crowd {
  explicit Crowd(ForkKind kind = ForkKind::kFull) : h(options(kind)) {
    const auto document = h.document(letters(kDocument, 1));
    for (int i = 0; i < 8; ++i) {
      requests.push_back(h.request(document, std::to_string(i) + letters(9, 7), kMaxTokens));
      seen.push_back(h.submit(requests.back()));
    }
  }
  static CoreHarness::Options options(ForkKind kind) {
    CoreHarness::Options options;
    options.model.eog_every = 0;
    options.model.fork_kind = kind;
    options.model.n_swa = kind == ForkKind::kWindow ? 16 : 0;
    options.context = {.n_cells = kDocument + 520, .n_seq_max = 12, .n_batch = 64};
    return options;
  }
  CoreHarness h;
  std::vector<Request> requests;
  std::vector<std::shared_ptr<Seen>> seen;
};

TEST(Preemption, KeepsWhatWasGeneratedAndChangesNoText) {
  for (const ForkKind kind : {ForkKind::kFull, ForkKind::kWindow, ForkKind::kRecurrent}) {
    Crowd crowd(kind);
    std::vector<std::size_t> n_said(8, 0);
    while (!crowd.h.core->idle()) {
      ASSERT_NO_THROW(crowd.h.step());
      for (std::size_t i = 0; i < 8; ++i) {
        ASSERT_GE(crowd.seen[i]->text_so_far.size(), n_said[i]);
        n_said[i] = crowd.seen[i]->text_so_far.size();
      }
    }

    EXPECT_GT(crowd.h.core->stats().n_preemptions, 0) << "the test wants a pool that is too small";
    EXPECT_GT(crowd.h.core->stats().tokens_recomputed, 0);
    for (std::size_t i = 0; i < 8; ++i) {
      const Result& result = crowd.seen[i]->result;
      ASSERT_EQ(result.state, RequestState::kFinished) << result.error;
      EXPECT_EQ(result.tokens, crowd.h.alone(crowd.requests[i]).tokens);
      EXPECT_EQ(crowd.seen[i]->text_so_far, result.text);
      EXPECT_EQ(crowd.seen[i]->n_preempted, result.n_preemptions);
      EXPECT_EQ(crowd.seen[i]->n_first, 1);
      EXPECT_EQ(result.token_times.size(), result.tokens.size());
      EXPECT_EQ(result.n_computed_tokens, static_cast<int>(crowd.requests[i].suffix.size()))
          << "what is computed again is counted apart";
    }
  }
}

TEST(Preemption, NeverTakesCellsFromTheOldest) {
  Crowd crowd;
  crowd.h.run();

  EXPECT_EQ(crowd.seen[0]->result.n_preemptions, 0);
  for (std::size_t i = 1; i < 8; ++i) {
    EXPECT_LE(*crowd.seen[0]->result.finished, *crowd.seen[i]->result.finished);
  }
}

// Answers how often somebody came back who had stepped back twice before.
int returns_of_the_unlucky(int n_cells) {
  CoreHarness::Options options = Crowd::options(ForkKind::kFull);
  options.context.n_cells = n_cells;
  CoreHarness h(options);
  std::vector<std::shared_ptr<Seen>> seen;
  std::map<Token, std::size_t> owner_of;  // first letter of a question -> who asks
  for (std::size_t i = 0; i < 8; ++i) {
    const Request request = h.request(nullptr, std::to_string(i) + letters(9, 7), kMaxTokens);
    owner_of[request.suffix[0]] = i;
    seen.push_back(h.submit(request));
  }
  int n_returns = 0;
  // Position 0 of a request goes into a forward when it starts or comes back.
  h.model->faults().on_forward([&](int, const Batch& batch) {
    for (const BatchToken& row : batch) {
      if (row.pos != 0 || seen[owner_of.at(row.token)]->n_preempted < 2) continue;
      ++n_returns;
      EXPECT_LE(h.context->n_used_cells() + 10 + kMaxTokens - 1, n_cells) << "no room to its end";
    }
  });
  h.run();
  for (const auto& s : seen) EXPECT_EQ(s->result.state, RequestState::kFinished) << s->result.error;
  return n_returns;
}

TEST(Preemption, WhoSteppedBackTwiceComesBackWithRoomToItsEnd) {
  int n_returns = 0;
  for (int n_cells = 250; n_cells < 1000; n_cells += 25)
    n_returns += returns_of_the_unlucky(n_cells);

  EXPECT_GT(n_returns, 0) << "the test wants somebody preempted twice";
}

TEST(Preemption, TakesTheLowestRankFirst) {
  CoreHarness::Options options = Crowd::options(ForkKind::kFull);
  options.context.n_cells = 450;
  CoreHarness h(options);
  std::vector<std::shared_ptr<Seen>> seen;
  for (int i = 0; i < 3; ++i) {
    Request request = h.request(nullptr, std::to_string(i) + letters(9, 7), kMaxTokens);
    request.priority = i == 1 ? -1 : 0;
    seen.push_back(h.submit(request));
  }
  h.run();

  EXPECT_EQ(seen[0]->n_preempted, 0);
  EXPECT_GT(seen[1]->n_preempted, 0);
  EXPECT_EQ(seen[2]->n_preempted, 0);
}

}  // namespace
}  // namespace swarmkv::internal
