// Random mixes of requests on tiny caches against plain lone runs: any wrong, missing or extra cell
// changes a text. Documents read in part, prompts made of answers, conversations that go on,
// priorities, cancellations, pools that one request fills to the last cell; all books are checked
// after every step, and the steps are counted. Over all kinds 5,040 programs.
#include <gtest/gtest.h>

#include <random>

#include "support/core_harness.h"

namespace swarmkv::internal {
namespace {

std::string random_text(std::mt19937_64& rng, int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + rng() % 3);
  return text;
}

int pick(std::mt19937_64& rng, int low, int high) {
  return low + static_cast<int>(rng() % static_cast<std::uint64_t>(high - low + 1));
}

struct Mix {
  ForkKind kind;
  bool drop_window;
  bool faults;
};

std::string name_of(const Mix& mix) {
  const std::string kind = mix.kind == ForkKind::kFull     ? "Full"
                           : mix.kind == ForkKind::kWindow ? "Window"
                                                           : "Recurrent";
  return kind + (mix.drop_window ? "Dropping" : "") + (mix.faults ? "Faults" : "");
}

class RandomMix : public ::testing::TestWithParam<Mix> {};

void run_one(const Mix& mix, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  CoreHarness::Options options;
  options.model.fork_kind = mix.kind;
  options.model.n_swa = mix.kind == ForkKind::kWindow ? pick(rng, 4, 40) : 0;
  options.model.eog_every = pick(rng, 5, 60);
  options.context.n_cells = pick(rng, 120, 400);
  options.context.n_seq_max = pick(rng, 2, 12);
  options.context.n_batch = std::max(options.context.n_seq_max, pick(rng, 4, 64));
  options.scheduler.n_parallel = pick(rng, 1, 12);
  options.scheduler.min_accidental_match = pick(rng, 1, 40);
  options.scheduler.deterministic = rng() % 8 == 0;
  options.scheduler.grid = pick(rng, 3, 64);
  CoreHarness h(options);
  h.model->faults().set_drop_outside_window(mix.drop_window);
  h.model->faults().set_verify(true);

  std::vector<std::shared_ptr<const Tokens>> documents;
  std::string text = random_text(rng, pick(rng, 20, 60));
  for (int i = 0; i < pick(rng, 1, 3); ++i) {
    documents.push_back(h.document(text));
    text = rng() % 2 ? text + random_text(rng, 15) : random_text(rng, pick(rng, 1, 70));
  }
  struct Submitted {
    std::shared_ptr<Seen> seen;
    Request request;
    std::uint64_t id;
    bool cancelled = false;
  };
  // The next turn after a request that has finished: its prompt, its answer and some more.
  const auto go_on = [&](Request& r, const Submitted& parent) {
    const Result& said = parent.seen->result;
    Tokens suffix = parent.request.suffix;
    suffix.insert(suffix.end(), said.tokens.begin(), said.tokens.end());
    suffix.insert(suffix.end(), r.suffix.begin(), r.suffix.end());
    r.prefix = parent.request.prefix;
    r.suffix = std::move(suffix);
    r.fork_points = parent.request.fork_points;
    if (r.fork_points.empty() || r.fork_points.back() < said.n_cache_tokens) {
      r.fork_points.push_back(said.n_cache_tokens);
    }
  };
  std::vector<Submitted> all;
  std::vector<int> watermarks;
  // Answers of one or two others stand in its prompt.
  const auto join = [&](Request& r) {
    for (int i = pick(rng, 1, 2); i > 0; --i) {
      const Seen& need = *all[rng() % all.size()].seen;
      if (need.result.state != RequestState::kFinished) continue;
      const Tokens answer = h.tokens(need.result.text);
      r.suffix.insert(r.suffix.end(), answer.begin(), answer.end());
    }
  };
  const int n = pick(rng, 1, 24);
  int fault_at = mix.faults ? pick(rng, 1, 40) : 0;
  if (fault_at > 0) {
    const ForwardStatus kinds[] = {ForwardStatus::kAborted, ForwardStatus::kNoSlot,
                                   ForwardStatus::kFatal};
    h.model->faults().fail_at(fault_at, kinds[rng() % 3], pick(rng, 1, 2));
  }
  int left = n;
  // A step that has something to do brings somebody at least one token further. Whoever stepped
  // back twice comes back with room for everything, and only its documents may go once more.
  constexpr int kTimes = 4;
  int steps = 0, most_steps = 10;  // what is found out about an engine that fails
  while (left > 0 || !h.core->idle()) {
    if (!h.core->idle()) ++steps;
    ASSERT_LE(steps, most_steps) << "the run does not end";
    while (left > 0 && rng() % 3 == 0) {
      --left;
      auto prefix = rng() % 5 == 0 ? nullptr : documents[rng() % documents.size()];
      // An early start: only a part of it, and whoever reads more may know of the place.
      if (prefix && rng() % 5 == 0) {
        watermarks.push_back(pick(rng, 1, static_cast<int>(prefix->size())));
        prefix =
            std::make_shared<const Tokens>(prefix->begin(), prefix->begin() + watermarks.back());
      }
      Request r =
          h.request(prefix, random_text(rng, pick(rng, prefix ? 0 : 1, 50)), pick(rng, 0, 40));
      if (prefix && prefix->size() > 8 && rng() % 3 == 0) {
        const int end = static_cast<int>(prefix->size());
        const int known = watermarks.empty() ? end : watermarks[rng() % watermarks.size()];
        r.fork_points = {rng() % 2 == 0 ? std::min(known, end) : pick(rng, 1, end)};
      }
      if (!all.empty() && rng() % 4 == 0) join(r);
      r.keep = rng() % 3 == 0;
      if (!all.empty() && rng() % 3 == 0) {
        const Submitted& parent = all[rng() % all.size()];
        if (parent.seen->done() && parent.seen->result.state == RequestState::kFinished) {
          go_on(r, parent);
        }
      }
      // Exactly what the pool holds.
      if (rng() % 12 == 0) r.max_tokens = std::max(0, h.context->n_cells() - r.n_prompt() + 1);
      r.ignore_eos = rng() % 8 == 0;
      r.priority = pick(rng, -1, 1);
      r.sampling.temperature = rng() % 3 == 0 ? 0.8 : 0.0;
      r.sampling.seed = static_cast<std::uint32_t>(rng());
      if (rng() % 4 == 0) r.stop = {random_text(rng, 1)};
      try {
        auto seen = h.submit(r);
        all.push_back({seen, r, h.last_id()});
        most_steps += kTimes * (r.n_prompt() + r.max_tokens) + 1;
      } catch (const Error& e) {
        ASSERT_EQ(e.code(), ErrorCode::kDoesNotFit) << e.what();
        ASSERT_GT(r.n_prompt() + std::max(0, r.max_tokens - 1), h.context->n_cells());
      }
    }
    if (!all.empty() && rng() % 25 == 0) {
      Submitted& victim = all[rng() % all.size()];
      h.core->cancel(victim.id, "test");
      victim.cancelled = true;
    }
    if (!all.empty() && rng() % 20 == 0) h.core->let_go(all[rng() % all.size()].id);
    ASSERT_NO_THROW(h.step());
  }
  for (const Submitted& s : all) {
    ASSERT_EQ(s.seen->n_finished, 1) << s.id;
    const Result& got = s.seen->result;
    EXPECT_EQ(s.seen->text_so_far, got.text);
    const Result want = h.alone(s.request);
    if (got.state == RequestState::kFinished) {
      EXPECT_EQ(got.tokens, want.tokens) << "request " << s.id << " differs from a lone run";
      EXPECT_EQ(got.text, want.text);
    } else {
      EXPECT_TRUE(got.state == RequestState::kCancelled ? s.cancelled : mix.faults) << got.error;
      // What was said before the end is still a beginning of the right answer.
      ASSERT_LE(got.tokens.size(), want.tokens.size());
      EXPECT_TRUE(std::equal(got.tokens.begin(), got.tokens.end(), want.tokens.begin()));
    }
  }
}

TEST_P(RandomMix, AnswersAsEachRequestAlone) {
  const std::uint64_t seed = test_seed();
  for (std::uint64_t i = 0; i < n_programs(720) && !HasFatalFailure(); ++i) {
    SCOPED_TRACE("SWARMKV_TEST_SEED=" + std::to_string(seed) + " program " + std::to_string(i));
    run_one(GetParam(), seed * 1000003 + i);
    if (HasFailure()) break;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, RandomMix,
    ::testing::Values(Mix{ForkKind::kFull, false, false}, Mix{ForkKind::kFull, false, true},
                      Mix{ForkKind::kWindow, false, false}, Mix{ForkKind::kWindow, true, false},
                      Mix{ForkKind::kWindow, true, true}, Mix{ForkKind::kRecurrent, false, false},
                      Mix{ForkKind::kRecurrent, false, true}),
    [](const auto& mix) { return name_of(mix.param); });

}  // namespace
}  // namespace swarmkv::internal
