// The numbers of a run: counted once, and unknown ones are absent.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

//  scaffold of the fake template: start, turn "user\n" | document | "\n\n" prompt, end of turn "\n"
//  turn "assistant\n"
constexpr int kBefore = 1 + 1 + 5;
constexpr int kAround = 2 + 1 + 1 + 1 + 10;

int suffix_tokens(const std::string& prompt) { return kAround + static_cast<int>(prompt.size()); }

TEST(Report, TheDocumentIsComputedOnceAndTheRestIsReuse) {
  for (const int n : {1, 2, 8, 50, 300}) {
    EngineOptions options;
    options.ctx_size = 4000;
    Engine engine(fake_model(), options);
    std::vector<AgentSpec> agents;
    int n_suffixes = 0;
    for (int i = 0; i < n; ++i) {
      agents.push_back(agent("a" + std::to_string(i), std::to_string(i) + " is my question", 4));
      n_suffixes += suffix_tokens(agents.back().prompt);
    }
    const int n_document = kBefore + 400;

    const RunReport report = engine.run(pipeline_of(agents, std::string(400, 'x'))).wait();

    EXPECT_EQ(report.n_finished, n);
    EXPECT_EQ(report.prompt_tokens, n * n_document + n_suffixes);
    EXPECT_EQ(report.prompt_tokens_computed, n_document + n_suffixes);
    EXPECT_EQ(report.prompt_tokens_reused, (n - 1) * n_document);
    EXPECT_EQ(report.documents[0].computed_tokens, n_document);
    EXPECT_EQ(report.documents[0].source, "computed");
    for (const AgentReport& a : report.agents) {
      EXPECT_EQ(a.cached_tokens, n_document);
      EXPECT_EQ(*a.cached_tokens + *a.computed_tokens, *a.prompt_tokens);
    }
  }
}

TEST(Report, PeakCellsAreTheDocumentAndTheTails) {
  EngineOptions options;
  options.ctx_size = 4000;
  options.batch_size = 2048;
  Engine engine(fake_model(), options);
  std::vector<AgentSpec> agents;
  int n_tails = 0;
  for (int i = 0; i < 10; ++i) {
    agents.push_back(agent("a" + std::to_string(i), std::to_string(i), 20));
    agents.back().ignore_eos = true;
    n_tails += suffix_tokens("0") + 20 - 1;
  }
  // All ten are submitted while the document is still being computed, so their tails stand side by
  // side.
  const RunReport report = engine.run(pipeline_of(agents, std::string(1500, 'x'))).wait();

  EXPECT_LE(report.peak_kv_cells, kBefore + 1500 + n_tails);
  EXPECT_GE(report.peak_kv_cells, kBefore + 1500 + suffix_tokens("0") + 20 - 1);
  EXPECT_EQ(report.completion_tokens, 200);
  EXPECT_EQ(report.n_truncated, 0)
      << "whoever asks for exactly so many tokens is not told of a cut";
}

TEST(Report, AnUnknownNumberIsAbsent) {
  Engine engine(fake_model(), {});
  const auto fails = function("bad", {}, [](const Answers&) -> std::string { throw 1; });
  AgentSpec one = agent("one", "a single token", 1), none = agent("none", "no token", 0);
  one.ignore_eos = true;

  const RunReport report =
      engine.run(pipeline_of({one, none, fails, agent("never", "{{ bad }}")})).wait();

  const AgentReport &first = report.agents[0], &zero = report.agents[1],
                    &function_node = report.agents[2], &skipped = report.agents[3];
  EXPECT_TRUE(first.ttft_ms.has_value());
  EXPECT_FALSE(first.tpot_ms.has_value()) << "there is no time per token after the first of one";
  EXPECT_FALSE(first.itl_ms.p50.has_value());
  EXPECT_FALSE(first.output_tokens_per_s.has_value());
  EXPECT_EQ(zero.status, AgentStatus::kFinished);
  EXPECT_FALSE(zero.ttft_ms.has_value());
  EXPECT_TRUE(zero.e2e_ms.has_value());
  EXPECT_EQ(zero.completion_tokens, 0);
  EXPECT_FALSE(function_node.prompt_tokens.has_value());
  EXPECT_TRUE(function_node.e2e_ms.has_value());
  for (const auto& value :
       {skipped.e2e_ms, skipped.enqueued_ms, skipped.queue_ms, skipped.prefill_ms}) {
    EXPECT_FALSE(value.has_value());
  }
  EXPECT_FALSE(skipped.prompt_tokens.has_value());
  EXPECT_FALSE(report.ttft_ms.p95.has_value()) << "one sample has no 95th percentile";
}

TEST(Report, TimesAreInOrderAndAddUp) {
  ModelOptions slow;
  slow.fake_delay_ms = 1;
  Engine engine(fake_model(slow), {});
  std::vector<AgentSpec> agents;
  for (int i = 0; i < 4; ++i) {
    agents.push_back(agent("a" + std::to_string(i), "question " + std::to_string(i), 12));
    agents.back().ignore_eos = true;
  }

  const RunReport report = engine.run(pipeline_of(agents, std::string(600, 'x'))).wait();

  for (const AgentReport& a : report.agents) {
    EXPECT_LE(*a.enqueued_ms, *a.admitted_ms);
    EXPECT_LE(*a.admitted_ms, *a.prefix_ready_ms);
    EXPECT_LT(*a.prefix_ready_ms, *a.first_token_ms);
    EXPECT_LT(*a.first_token_ms, *a.finished_ms);
    EXPECT_LE(*a.finished_ms, report.duration_ms);
    EXPECT_EQ(a.itl_samples_ms.size(), 11u);
    EXPECT_GE(*a.tpot_ms, 1.0) << "every forward takes a millisecond";
    EXPECT_NEAR(*a.ttft_ms, *a.document_wait_ms + *a.ttft_warm_ms, 1e-6);
  }
  const EngineCounters& c = report.counters;
  EXPECT_GT(c.forward_s, 0.010);
  EXPECT_GT(c.n_decode_steps, 0u);
  EXPECT_EQ(c.n_forks, 4u);
}

//  document --> two questions that begin alike: what they share is no part of the document
TEST(Report, ADocumentThatWasThereIsCachedEvenIfQuestionsAreShared) {
  Engine engine(fake_model(), {});
  const std::string alike(50, 'q');
  const Pipeline pipeline =
      pipeline_of({agent("a", alike + "1"), agent("b", alike + "2")}, std::string(300, 'x'));
  const RunReport first = engine.run(pipeline).wait();
  const RunReport again = engine.run(pipeline).wait();

  EXPECT_EQ(first.documents[0].n_tokens, kBefore + 300);
  EXPECT_EQ(first.documents[0].computed_tokens, kBefore + 300);
  EXPECT_EQ(again.documents[0].source, "cached");
  EXPECT_EQ(again.documents[0].computed_tokens, 0);
  EXPECT_FALSE(again.documents[0].prefill_ms.has_value());
}

TEST(Report, AnAnswerCutAtItsLimitIsWarnedOfWithWhoUsedIt) {
  Engine engine(answering({{"long", "a long answer"}}), {});

  const RunReport report =
      engine.run(pipeline_of({agent("cut", "long", 6), agent("user", "take {{ cut }}", 40)}))
          .wait();

  EXPECT_EQ(report.agents[0].text, "a long");
  EXPECT_TRUE(report.agents[0].truncated);
  EXPECT_EQ(report.agents[0].finish_reason, FinishReason::kLength);
  const auto cut = std::find_if(report.warnings.begin(), report.warnings.end(),
                                [](const Warning& w) { return w.agent == "cut"; });
  ASSERT_NE(cut, report.warnings.end());
  EXPECT_NE(cut->message.find("max_tokens=6"), std::string::npos);
  EXPECT_NE(cut->message.find("user"), std::string::npos);
}

TEST(Report, SameSeedForAllStillGivesEachAgentItsOwnDraws) {
  Engine engine(fake_model(), {});
  std::vector<AgentSpec> agents = {agent("a", "same", 20), agent("b", "same", 20),
                                   agent("c", "same", 20), agent("d", "same", 20)};
  for (AgentSpec& a : agents) a.sampling.temperature = 1.0;
  agents[2].seed_is_own = agents[3].seed_is_own = true;

  const RunReport report = engine.run(pipeline_of(agents)).wait();

  EXPECT_NE(report.agents[0].seed, report.agents[1].seed);
  EXPECT_NE(report.agents[0].token_ids, report.agents[1].token_ids);
  EXPECT_EQ(report.agents[2].seed, 42u);
  EXPECT_EQ(report.agents[2].token_ids, report.agents[3].token_ids);
}

DocumentSpec document(const std::string& name, char letter, int n_tokens) {
  DocumentSpec spec;
  spec.name = name;
  spec.text = std::string(static_cast<std::size_t>(n_tokens), letter);
  return spec;
}

// On a model that takes two milliseconds for each forward of 64 tokens.
RunReport run_slowly(const Pipeline& pipeline) {
  ModelOptions slow;
  slow.fake_delay_ms = 2;
  EngineOptions options;
  options.ctx_size = 4000;
  options.batch_size = 64;
  options.parallel = 4;  // a forward has room for a token of each sequence id
  Engine engine(fake_model(slow), options);
  RunReport report = engine.run(pipeline).wait();
  EXPECT_EQ(report.exit_code, 0);
  return report;
}

AgentSpec reading(const std::string& name, std::vector<std::string> documents) {
  AgentSpec spec = agent(name, name + " asks", 4);
  spec.ignore_eos = true;
  spec.reads = std::move(documents);
  return spec;
}

//  contract (1000), annex (300) --> both
TEST(ReportOfSeveralDocuments, EachHasItsOwnPartOfTheTime) {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 'c', 1000), document("annex", 'a', 300),
                        document("spare", 's', 70)};
  pipeline.agents = {reading("both", {"contract", "annex"})};
  const RunReport report = run_slowly(pipeline);

  const DocumentReport &contract = report.documents[0], &annex = report.documents[1],
                       &spare = report.documents[2];
  EXPECT_EQ(contract.n_tokens, kBefore + 1000);
  EXPECT_EQ(annex.n_tokens, 2 + 300) << "and a blank line before it";
  EXPECT_EQ(annex.computed_tokens, annex.n_tokens);
  EXPECT_NEAR(*contract.prefill_ms, *contract.ready_ms - *report.agents[0].admitted_ms, 1e-6);
  EXPECT_NEAR(*annex.prefill_ms, *annex.ready_ms - *contract.ready_ms, 1e-6);
  EXPECT_GT(*contract.prefill_ms, 2 * (1000 / 64)) << "forwards of two milliseconds";
  EXPECT_GE(*annex.prefill_ms, 2 * (300 / 64));
  EXPECT_NEAR(*annex.prefill_tokens_per_s, 1000 * 302 / *annex.prefill_ms, 1e-6);
  EXPECT_EQ(spare.source, "unread");
  EXPECT_EQ(spare.computed_tokens, 0);
  EXPECT_FALSE(spare.prefill_ms || spare.ready_ms);
  EXPECT_NE(to_json(report).find("\"n_tokens\": null"), std::string::npos);

  EXPECT_EQ(report.critical_path,
            (std::vector<std::string>{"document:contract", "document:annex", "both"}));
  double sum = 0;
  for (const double ms : report.critical_path_ms) sum += ms;
  EXPECT_NEAR(sum, *report.agents[0].e2e_ms, 1e-6);
  EXPECT_NEAR(report.critical_path_ms[0], *contract.ready_ms - *report.agents[0].enqueued_ms, 1e-6);
}

//  contract --> short      annex --> long: the longest chain never waited for the contract
TEST(ReportOfSeveralDocuments, TheLongestChainNamesWhatItWaitedFor) {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 'c', 100), document("annex", 'a', 600)};
  pipeline.agents = {reading("short", {"contract"}), reading("long", {"annex"})};
  pipeline.agents[1].max_tokens = 60;

  EXPECT_EQ(run_slowly(pipeline).critical_path,
            (std::vector<std::string>{"document:annex", "long"}));
}

//  contract --> first --> second <-- annex, computed when nobody else is left
TEST(ReportOfSeveralDocuments, ALateReaderWaitsForItsDocumentInTheMiddleOfTheChain) {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 'c', 200), document("annex", 'a', 400)};
  pipeline.agents = {reading("first", {"contract"}), reading("second", {"annex"})};
  pipeline.agents[1].needs = {"first"};
  const RunReport report = run_slowly(pipeline);

  EXPECT_EQ(report.critical_path,
            (std::vector<std::string>{"document:contract", "first", "document:annex", "second"}));
  EXPECT_NEAR(*report.documents[1].prefill_ms,
              *report.documents[1].ready_ms - *report.agents[1].admitted_ms, 1e-6);
}

TEST(ReportOfSeveralDocuments, WhatNobodyGotToIsUnread) {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 'c', 200), document("annex", 'a', 400)};
  pipeline.agents = {reading("early", {"contract", "annex"}),
                     function("bad", {}, [](const Answers&) -> std::string { throw 1; }),
                     reading("never", {"annex"})};
  pipeline.agents[0].ready_after = {ReadyAfter::Kind::kTokens, 100, ""};
  pipeline.agents[2].needs = {"bad"};
  Engine engine(fake_model(), {});

  const RunReport report = engine.run(pipeline).wait();

  EXPECT_EQ(statuses(report), (std::vector<std::string>{"finished", "failed", "skipped"}));
  EXPECT_EQ(report.documents[0].source, "computed") << "as far as anybody read it";
  EXPECT_EQ(report.documents[0].computed_tokens, kBefore + 100);
  EXPECT_EQ(report.documents[1].source, "unread");
}

}  // namespace
}  // namespace swarmkv::testing
