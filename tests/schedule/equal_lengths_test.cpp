// Models that take one length per forward: hybrid ones without any order of ids still decode
// together.
#include <gtest/gtest.h>

#include "engine/fake/fake_engine.h"
#include "schedule/scheduler.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

TEST(EqualLengths, BranchesOfAHybridModelDecodeInOneBatch) {
  constexpr int kBranches = 4, kTokens = 32;
  FakeOptions options;
  options.fork_kind = ForkKind::kRecurrent;
  options.hybrid = true;
  options.eog_every = 0;
  const auto model = make_fake_model(options);
  Scheduler scheduler(model, model->make_context({.n_cells = 2000, .n_seq_max = 16, .n_batch = 64}),
                      {});
  const auto document =
      std::make_shared<const Tokens>(model->tokenize(letters(200, 1), SpecialTokens::kPlainText));
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  for (int i = 0; i < kBranches; ++i) {
    Request request;
    request.prefix = document;
    request.suffix = model->tokenize(question(i), SpecialTokens::kPlainText);
    request.max_tokens = kTokens;
    tickets.push_back(scheduler.submit(std::move(request)));
  }
  for (const auto& ticket : tickets) {
    const Result result = ticket->wait();
    EXPECT_EQ(result.tokens.size(), static_cast<std::size_t>(kTokens)) << result.error;
  }
  const EngineCounters counters = scheduler.stats().counters;
  EXPECT_LT(counters.n_decode_steps * 2, counters.n_decode_rows) << "one row a forward";
}

}  // namespace
}  // namespace swarmkv::internal
