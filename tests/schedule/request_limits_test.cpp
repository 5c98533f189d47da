// Where an answer ends, whose sampler chose it, and what is refused before anything runs.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

CoreHarness::Options saying(std::string answer) {
  CoreHarness::Options options;
  options.model.has_chat_template = false;
  options.model.eog_every = 0;
  options.model.forced = {{"speak", std::move(answer)}};
  return options;
}

TEST(RequestLimits, NoTokenAndOneToken) {
  for (const int max_tokens : {0, 1}) {
    CoreHarness h(saying("abcdef"));
    const auto document = h.document(letters(50, 1));
    const auto with = h.submit(h.request(document, "speak", max_tokens));
    const auto alone = h.submit(h.request(document, "", max_tokens));
    h.run();

    EXPECT_EQ(with->result.text, max_tokens == 0 ? "" : "a");
    for (const auto& seen : {with, alone}) {
      EXPECT_EQ(seen->result.state, RequestState::kFinished) << seen->result.error;
      EXPECT_EQ(seen->result.finish_reason, FinishReason::kLength);
      EXPECT_EQ(static_cast<int>(seen->result.tokens.size()), max_tokens);
      EXPECT_EQ(seen->n_first, max_tokens);
      EXPECT_EQ(seen->n_computed, 50) << "the document is reported as ready";
    }
  }
}

TEST(RequestLimits, AStopStringMaySpanTokensAndIsNotShown) {
  CoreHarness h(saying("abc STOP tail"));
  Request request = h.request(nullptr, "speak", 40);
  request.stop = {"STOP", "tail"};
  const auto seen = h.submit(request);
  while (!h.core->idle()) {
    h.step();
    EXPECT_EQ(seen->text_so_far.find('S'), std::string::npos)
        << "the beginning of a stop string was shown";
  }

  EXPECT_EQ(seen->result.text, "abc ");
  EXPECT_EQ(seen->text_so_far, "abc ");
  EXPECT_EQ(seen->result.stop_string, "STOP");
  EXPECT_EQ(seen->result.finish_reason, FinishReason::kStop);
  EXPECT_EQ(h.context->n_used_cells(), 0);
}

TEST(RequestLimits, AnEndOfGenerationTokenEndsTheAnswerUnlessItIsIgnored) {
  CoreHarness h(saying("abc"));
  const auto ends = h.submit(h.request(nullptr, "speak", 12));
  Request on = h.request(nullptr, "speak", 12);
  on.ignore_eos = true;
  const auto goes_on = h.submit(on);
  h.run();

  EXPECT_EQ(ends->result.text, "abc");
  EXPECT_EQ(ends->result.finish_reason, FinishReason::kStop);
  EXPECT_EQ(goes_on->result.tokens.size(), 12u);
  EXPECT_EQ(goes_on->result.finish_reason, FinishReason::kLength);
}

//              /-> greedy
//  document --|--> seed 1, seed 2, seed 1 again     same text, same step
//              \-> JSON only
TEST(RequestLimits, SiblingsDoNotShareASampler) {
  CoreHarness::Options options;
  options.model.eog_every = 0;
  CoreHarness probe(options);
  const auto document = probe.document(letters(40, 1));
  std::vector<Request> kinds(5, probe.request(document, "same question", 16));
  kinds[1].sampling.temperature = kinds[2].sampling.temperature = kinds[3].sampling.temperature =
      0.9;
  kinds[1].sampling.seed = kinds[3].sampling.seed = 1;
  kinds[2].sampling.seed = 2;
  kinds[4].sampling.json_schema = R"({"type":"array","items":{"type":"integer"},"minItems":3})";

  for (int round = 0; round < 5; ++round) {
    CoreHarness h(options);
    std::vector<std::shared_ptr<Seen>> seen(5);
    for (int i = 0; i < 5; ++i) {
      const auto which = static_cast<std::size_t>((i + round) % 5);
      seen[which] = h.submit(kinds[which]);
    }
    h.run();

    for (std::size_t i = 0; i < 5; ++i)
      EXPECT_EQ(seen[i]->result.tokens, h.alone(kinds[i]).tokens) << i;
    EXPECT_EQ(seen[1]->result.tokens, seen[3]->result.tokens);
    EXPECT_NE(seen[0]->result.tokens, seen[1]->result.tokens);
    EXPECT_NE(seen[1]->result.tokens, seen[2]->result.tokens);
    EXPECT_EQ(seen[4]->result.text.front(), '[');
  }
}

struct Refused {
  ErrorCode code;
  std::vector<std::string> says;
  void (*spoil)(Request&);
};

TEST(RequestLimits, WhatCannotRunIsRefusedWithBothNumbers) {
  CoreHarness::Options options;
  options.model.n_ctx_train = 300;
  options.context.n_cells = 200;
  CoreHarness h(options);
  const Refused cases[] = {
      {ErrorCode::kDoesNotFit, {"201", "200", "KV cache"}, [](Request& r) { r.max_tokens = 192; }},
      {ErrorCode::kDoesNotFit, {"301", "300", "training"}, [](Request& r) { r.max_tokens = 291; }},
      {ErrorCode::kDoesNotFit, {"training"}, [](Request& r) { r.max_tokens = 2147483647; }},
      {ErrorCode::kInvalidArgument, {"no token"}, [](Request& r) { r.suffix.clear(); }},
      {ErrorCode::kInvalidArgument, {"-1", "max_tokens"}, [](Request& r) { r.max_tokens = -1; }},
      {ErrorCode::kInvalidArgument,
       {"stop"},
       [](Request& r) {
         r.stop = {"x", ""};
       }},
      {ErrorCode::kInvalidArgument, {"262", "at 3"}, [](Request& r) { r.suffix[3] = 262; }},
      {ErrorCode::kInvalidArgument, {"-5", "262"}, [](Request& r) { r.suffix[0] = -5; }},
      {ErrorCode::kInvalidArgument,
       {"timeout"},
       [](Request& r) { r.timeout = std::chrono::milliseconds(-1); }},
      {ErrorCode::kInvalidArgument, {"1000001"}, [](Request& r) { r.priority = 1000001; }},
      {ErrorCode::kInvalidArgument,
       {"fork point 11", "10"},
       [](Request& r) { r.fork_points = {11}; }},
  };
  for (const Refused& c : cases) {
    Request request = h.request(nullptr, "ten chars.", 5);
    c.spoil(request);
    try {
      h.submit(request);
      ADD_FAILURE() << "accepted: " << c.says[0];
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), c.code) << e.what();
      for (const std::string& part : c.says)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
  for (const std::vector<int>& points :
       std::vector<std::vector<int>>{{0}, {5, 5}, {6, 5}, {12}, {-3}}) {
    Request request = h.request(h.document("ten chars."), "q", 5);
    request.fork_points = points;
    EXPECT_THROW(h.submit(request), Error);
  }
  EXPECT_TRUE(h.core->idle());
}

TEST(RequestLimits, WhatJustFitsRuns) {
  CoreHarness::Options options;
  options.model.n_ctx_train = 201;
  options.model.eog_every = 0;
  options.context.n_cells = 200;
  CoreHarness h(options);
  const Request request =
      h.request(nullptr, "ten chars.", 191);  // the last token is never fed: 200 cells
  const auto seen = h.submit(request);
  h.run();

  EXPECT_EQ(seen->result.state, RequestState::kFinished) << seen->result.error;
  EXPECT_EQ(seen->result.tokens, h.alone(request).tokens);
  EXPECT_EQ(h.context->peak_used_cells(), 200);
}

}  // namespace
}  // namespace swarmkv::internal
