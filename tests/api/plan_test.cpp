// A plan's numbers against those of the run that follows.
#include <gtest/gtest.h>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

std::string text_of(int n, int salt = 0) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + (i * i + salt * (i + 3)) % 23);
  return text;
}

// Prompts part at their first letter, so that nothing is shared by accident.
AgentSpec asking(int i, int max_tokens = 6) {
  AgentSpec spec = agent("a" + std::to_string(i), static_cast<char>('A' + i) + text_of(40, i));
  spec.max_tokens = max_tokens;
  spec.ignore_eos = true;
  return spec;
}

AgentSpec early(int i, int n_tokens) {
  AgentSpec spec = asking(i);
  spec.ready_after.kind = ReadyAfter::Kind::kTokens;
  spec.ready_after.value = n_tokens;
  return spec;
}

AgentSpec next(int i, const std::string& parent) {
  AgentSpec spec = asking(i);
  spec.continues = parent;
  spec.needs = {parent};
  return spec;
}

DocumentSpec document(const std::string& name, int n_tokens, int salt) {
  DocumentSpec spec;
  spec.name = name;
  spec.text = text_of(n_tokens, salt);
  return spec;
}

struct Tried {
  Plan plan;
  RunReport report;
};

Tried try_out(const Pipeline& pipeline, EngineOptions options = {}) {
  const Model model = fake_model();
  Tried tried;
  tried.plan = make_plan(model, pipeline, options);
  options.ctx_size = tried.plan.ctx_size;
  options.parallel = tried.plan.parallel;
  options.batch_size = 64;
  Engine engine(model, options);
  tried.report = engine.run(tried.plan).wait();
  EXPECT_EQ(tried.report.exit_code, 0);
  EXPECT_LE(tried.report.peak_kv_cells, tried.plan.n_cells_concurrent);
  EXPECT_EQ(tried.report.ctx_size, tried.plan.ctx_size);
  return tried;
}

void expect_sums(const Tried& tried) {
  EXPECT_EQ(tried.report.prompt_tokens, tried.plan.n_prompt_tokens);
  EXPECT_EQ(tried.report.prompt_tokens_computed, tried.plan.n_prompt_computed);
  EXPECT_EQ(tried.report.prompt_tokens_reused, tried.plan.n_prompt_reused);
  for (std::size_t i = 0; i < tried.plan.agents.size(); ++i) {
    const AgentReport& real = tried.report.agents[i];
    const Plan::Agent& planned = tried.plan.agents[i];
    EXPECT_EQ(real.prompt_tokens, planned.n_prompt_max) << real.name;
    EXPECT_EQ(real.computed_tokens, planned.n_own_max) << real.name;
    EXPECT_EQ(real.reads, planned.reads) << real.name;
    EXPECT_EQ(real.ready_after, planned.ready_after) << real.name;
  }
}

void expect_exact(const Tried& tried) {
  EXPECT_EQ(tried.plan.sums, Plan::Sums::kExact);
  EXPECT_TRUE(tried.plan.reasons.empty());
  expect_sums(tried);
}

TEST(Plan, SaysExactlyWhatAgentsOfOneDocumentCompute) {
  for (const int n : {1, 2, 20}) {
    std::vector<AgentSpec> agents;
    for (int i = 0; i < n; ++i) agents.push_back(asking(i));
    const Tried tried = try_out(pipeline_of(agents, text_of(500)));

    expect_exact(tried);
    EXPECT_EQ(tried.plan.documents[0].n_tokens, 500);
    EXPECT_EQ(tried.plan.documents[0].n_readers, n);
    EXPECT_EQ(tried.report.documents[0].computed_tokens, tried.plan.n_document_tokens);
    EXPECT_EQ(tried.plan.waves.size(), 1u);
  }
}

TEST(Plan, SaysExactlyWhatEarlyStartsCompute) {
  std::vector<AgentSpec> agents{asking(0)};
  for (const int n : {0, 1, 200, 200, 499, 500}) {
    agents.push_back(early(static_cast<int>(agents.size()), n));
  }
  const Tried tried = try_out(pipeline_of(agents, text_of(500)));

  expect_exact(tried);
  // head | 1 | 200 | 499 | 500
  ASSERT_EQ(tried.plan.prefix.size(), 5u);
  int at = 0;
  for (std::size_t i = 0; i < 5; ++i) {
    const Plan::PrefixNode& node = tried.plan.prefix[i];
    EXPECT_EQ(node.parent, static_cast<int>(i) - 1);
    EXPECT_EQ(node.begin, at);
    at = node.end;
  }
  EXPECT_EQ(at, tried.plan.n_document_tokens);
  EXPECT_EQ(tried.plan.prefix[0].n_agents, 7);
  EXPECT_EQ(tried.plan.prefix[2].parts[0].document, "doc");
  EXPECT_EQ(tried.plan.prefix[2].parts[0].begin, 1);
  EXPECT_EQ(tried.plan.prefix[2].parts[0].end, 200);
  EXPECT_EQ(tried.plan.prefix[2].n_agents, 5);
  EXPECT_EQ(tried.plan.prefix[4].n_agents, 2);
}

TEST(Plan, NeedsWithoutInsertedAnswersAreExact) {
  AgentSpec last = asking(2);
  last.needs = {"a0", "a1"};
  expect_exact(try_out(pipeline_of({asking(0), asking(1), last}, text_of(100))));
}

TEST(Plan, BoundsWhatInsertedAnswersMake) {
  AgentSpec memo = agent("memo", "Join {{ a0 }} and {{ a1 }}.", 30);
  const Tried tried = try_out(pipeline_of({asking(0, 25), asking(1, 5), memo}, text_of(300)));

  EXPECT_EQ(tried.plan.sums, Plan::Sums::kUpperBound);
  EXPECT_EQ(tried.plan.reasons, std::vector<std::string>{"answers are inserted"});
  EXPECT_FALSE(tried.plan.agents[0].inserts);
  EXPECT_TRUE(tried.plan.agents[2].inserts);
  EXPECT_GE(tried.plan.n_prompt_tokens, tried.report.prompt_tokens);
  EXPECT_GE(tried.plan.n_prompt_computed, tried.report.prompt_tokens_computed);
  EXPECT_GE(tried.plan.n_prompt_reused, tried.report.prompt_tokens_reused);
  EXPECT_EQ(tried.report.agents[0].prompt_tokens, tried.plan.agents[0].n_prompt_max);
  EXPECT_GE(tried.plan.agents[2].n_own_max, *tried.report.agents[2].computed_tokens);
}

TEST(Plan, AConversationOfFullLengthIsWhatWasPlanned) {
  AgentSpec none = next(3, "a0");
  none.max_tokens = 0;  // reads only: its last token is in the cache
  const Tried tried = try_out(
      pipeline_of({asking(0), next(1, "a0"), next(2, "a1"), none, next(4, "a3")}, text_of(300)));

  EXPECT_EQ(tried.plan.sums, Plan::Sums::kUpperBound);
  EXPECT_EQ(tried.plan.agents[2].continues, 1);
  expect_sums(tried);
}

TEST(Plan, AConversationThatEndsEarlyIsLess) {
  const Model model = answering({{"A", "Short."}});
  AgentSpec first = asking(0, 200);
  first.ignore_eos = false;
  const Pipeline pipeline = pipeline_of({first, next(1, "a0")}, text_of(300));
  const Plan plan = make_plan(model, pipeline, {});
  EngineOptions options;
  options.ctx_size = plan.ctx_size;
  Engine engine(model, options);
  const RunReport report = engine.run(plan).wait();

  EXPECT_LT(report.prompt_tokens, plan.n_prompt_tokens);
  EXPECT_LE(report.prompt_tokens_computed, plan.n_prompt_computed);
  EXPECT_LE(report.prompt_tokens_reused, plan.n_prompt_reused);
}

TEST(Plan, QuestionsThatBeginAlikeMakeItABound) {
  const std::string common = text_of(60);
  const Tried tried = try_out(
      pipeline_of({agent("a", common + " A?", 4), agent("b", common + " B?", 4)}, text_of(300)));

  EXPECT_EQ(tried.plan.sums, Plan::Sums::kUpperBound);
  EXPECT_GE(tried.plan.n_prompt_computed, tried.report.prompt_tokens_computed);
}

TEST(Plan, RecomputingReusesNothing) {
  EngineOptions options;
  options.handoff = "recompute";
  const Tried tried = try_out(pipeline_of({asking(0), asking(1)}, text_of(100)), options);

  EXPECT_EQ(tried.plan.n_prompt_reused, 0);
  EXPECT_EQ(tried.plan.n_prompt_computed, tried.report.prompt_tokens_computed);
  EXPECT_EQ(tried.plan.n_together, 1);
}

TEST(Plan, AFunctionHasNoTokens) {
  AgentSpec after = asking(1);
  after.needs = {"sum"};
  const Tried tried = try_out(
      pipeline_of({asking(0), function("sum", {"a0"}, [](const Answers&) { return "x"; }), after}));

  EXPECT_TRUE(tried.plan.agents[1].is_function);
  EXPECT_EQ(tried.plan.agents[1].prefix, -1);
  EXPECT_EQ(tried.plan.waves.size(), 3u);
  EXPECT_EQ(tried.plan.waves[1].n_cells, 0);
  EXPECT_EQ(tried.plan.n_prompt_tokens, tried.report.prompt_tokens);
  EXPECT_EQ(tried.plan.n_prompt_computed, tried.report.prompt_tokens_computed);
}

TEST(Plan, AgentsThatDoNotFitTogetherQueue) {
  std::vector<AgentSpec> agents;
  for (int i = 0; i < 5; ++i) agents.push_back(asking(i));
  agents[4].priority = 1;
  EngineOptions options;
  options.parallel = 2;
  const Plan two = make_plan(fake_model(), pipeline_of(agents, text_of(100)), options);

  ASSERT_EQ(two.waves.size(), 3u);
  EXPECT_EQ(two.waves[0].agents, (std::vector<int>{4, 0})) << "priority goes first";
  EXPECT_EQ(two.waves[2].agents, std::vector<int>{3});
  EXPECT_EQ(two.agents[3].wave, 2);
  EXPECT_EQ(two.waves[2].stage, 0);

  options.parallel = 0;
  options.ctx_size = two.waves[0].n_cells;
  const Plan cells = make_plan(fake_model(), pipeline_of(agents, text_of(100)), options);
  EXPECT_EQ(cells.waves.size(), 3u) << "there is room for two";
  EXPECT_EQ(cells.sums, Plan::Sums::kEstimate);
  EXPECT_LE(cells.waves[0].n_cells, options.ctx_size);
}

TEST(Plan, KeepsAConversationInTheCacheUntilItsLastContinuation) {
  AgentSpec late = next(3, "a0");
  late.needs = {"a0", "a2"};
  const Plan plan = make_plan(
      fake_model(), pipeline_of({asking(0), asking(1), next(2, "a0"), late}, text_of(100)), {});

  ASSERT_EQ(plan.waves.size(), 3u);
  const int n_prefix = plan.n_document_tokens;
  const int n_first = plan.agents[0].n_total_max - n_prefix;
  EXPECT_EQ(plan.waves[1].n_cells,
            n_prefix + n_first + (plan.agents[2].n_total_max - plan.agents[0].n_total_max));
  EXPECT_EQ(plan.waves[2].n_cells,
            n_prefix + n_first + (plan.agents[3].n_total_max - plan.agents[0].n_total_max));
}

TEST(Plan, FindsTheLongestChainInTokens) {
  AgentSpec slow = asking(0, 100), quick = asking(1, 3);
  AgentSpec last = asking(2, 10);
  last.needs = {"a0", "a1"};
  const Plan plan = make_plan(fake_model(), pipeline_of({quick, slow, last}, text_of(200)), {});

  ASSERT_EQ(plan.critical_path.size(), 2u);
  EXPECT_EQ(plan.critical_path[0].agent, "a0");
  EXPECT_EQ(plan.critical_path[0].n_prefix, plan.n_document_tokens);
  EXPECT_EQ(plan.critical_path[0].n_output, 100);
  EXPECT_EQ(plan.critical_path[1].agent, "a2");
  EXPECT_EQ(plan.critical_path[1].n_prefix, 0) << "it is in the cache by then";
  EXPECT_EQ(plan.critical_path[1].n_tokens(), plan.agents[2].n_own_max + 10);
}

TEST(Plan, DraftsWhatDoesNotFit) {
  EngineOptions options;
  options.ctx_size = 100;
  const Pipeline pipeline = pipeline_of({asking(0)}, text_of(500));
  const Plan plan = draft_plan(fake_model(), pipeline, options);

  EXPECT_NE(plan.misfit.find("[SK401]"), std::string::npos) << plan.misfit;
  EXPECT_EQ(plan.documents[0].n_tokens, 500);
  try {
    (void)make_plan(fake_model(), pipeline, options);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDoesNotFit);
    EXPECT_EQ(e.what(), plan.misfit);
  }
  Engine engine(fake_model(), options);
  EXPECT_THROW((void)engine.run(plan), Error);
}

//  contract ---> a0, a1 (early)      contract, annex ---> a2      annex ---> a3      none ---> a4
Pipeline of_several_documents() {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 400, 1), document("annex", 150, 2),
                        document("unread", 70, 3)};
  pipeline.agents = {asking(0), early(1, 120), asking(2), asking(3), asking(4)};
  pipeline.agents[0].reads = pipeline.agents[1].reads = {"contract"};
  pipeline.agents[2].reads = {"contract", "annex"};
  pipeline.agents[3].reads = {"annex"};
  pipeline.agents[4].reads = std::vector<std::string>{};
  return pipeline;
}

TEST(PlanOfSeveralDocuments, SaysExactlyWhatIsComputed) {
  const Tried tried = try_out(of_several_documents());

  expect_exact(tried);
  ASSERT_EQ(tried.plan.documents.size(), 3u);
  EXPECT_EQ(tried.plan.documents[1].n_tokens, 150);
  EXPECT_EQ(tried.plan.documents[1].n_readers, 2);
  EXPECT_EQ(tried.plan.documents[2].n_tokens, 70) << "counted, though nobody reads it";
  EXPECT_EQ(tried.plan.documents[2].n_readers, 0);
}

TEST(PlanOfSeveralDocuments, ASharedSystemTextIsComputedOnceForAll) {
  Pipeline pipeline = of_several_documents();
  pipeline.system = text_of(80, 9);
  const Tried tried = try_out(pipeline);

  expect_exact(tried);
  ASSERT_FALSE(tried.plan.prefix.empty());
  EXPECT_EQ(tried.plan.prefix[0].n_agents, 5);
  EXPECT_EQ(tried.plan.prefix[0].parts.size(), 1u);
  EXPECT_EQ(tried.plan.prefix[0].parts[0].document, "");
}

TEST(PlanOfSeveralDocuments, ALateReaderComputesItsDocumentOnTheCriticalPath) {
  Pipeline pipeline = of_several_documents();
  pipeline.agents[2].needs = {"a0"};
  pipeline.agents.erase(pipeline.agents.begin() + 3, pipeline.agents.end());
  const Tried tried = try_out(pipeline);

  expect_exact(tried);
  ASSERT_EQ(tried.plan.critical_path.size(), 2u);
  EXPECT_EQ(tried.plan.critical_path[1].n_prefix, 152) << "annex, and a blank line before it";
}

TEST(PlanOfSeveralDocuments, GoesOnWithConversations) {
  Pipeline pipeline = of_several_documents();
  pipeline.agents.push_back(next(5, "a2"));
  pipeline.agents.push_back(next(6, "a1"));
  const Tried tried = try_out(pipeline);

  expect_sums(tried);
  EXPECT_EQ(tried.plan.agents[5].reads, (std::vector<std::string>{"contract", "annex"}));
}

//  30 documents --> an agent each --> nobody else needs the model --> an agent each over the same
Pipeline of_many_documents(int n) {
  Pipeline pipeline;
  for (int i = 0; i < n; ++i) {
    pipeline.documents.push_back(document("d" + std::to_string(i), 60 + i, i + 2));
    pipeline.documents.back().text->insert(0, std::to_string(i));  // no two begin alike
  }
  for (int i = 0; i < 2 * n; ++i) {
    pipeline.agents.push_back(asking(i));
    pipeline.agents.back().prompt = std::to_string(i) + text_of(20, i);
    pipeline.agents.back().reads = {"d" + std::to_string(i % n)};
    if (i >= n) pipeline.agents.back().needs = {"a" + std::to_string(n - 1)};
  }
  return pipeline;
}

TEST(PlanOfSequenceIds, ManyPrefixesMakeItAnEstimate) {
  EngineOptions options;
  options.parallel = 1;
  const Tried tried = try_out(of_many_documents(30), options);

  EXPECT_EQ(tried.plan.n_seqs, 17);
  EXPECT_EQ(tried.plan.n_seqs_concurrent, 1 + 30);
  EXPECT_EQ(tried.plan.sums, Plan::Sums::kEstimate);
  ASSERT_EQ(tried.plan.reasons.size(), 1u);
  EXPECT_NE(tried.plan.reasons[0].find("sequence ids"), std::string::npos);
  EXPECT_GT(tried.report.prompt_tokens_computed, tried.plan.n_prompt_computed)
      << "documents are read again: without a reason to say so this test is worth nothing";
}

TEST(PlanOfSequenceIds, AsManyPrefixesAsThereAreIdsAreExact) {
  EngineOptions options;
  options.parallel = 1;
  const Tried tried = try_out(of_many_documents(16), options);

  EXPECT_EQ(tried.plan.n_seqs_concurrent, tried.plan.n_seqs);
  expect_exact(tried);
}

TEST(PlanOfSequenceIds, ConversationsTakeOneForTheirEndOnly) {
  EngineOptions options;
  options.parallel = 1;
  std::vector<AgentSpec> chain{asking(0)};
  for (int i = 1; i < 60; ++i) chain.push_back(next(i, "a" + std::to_string(i - 1)));
  const Plan line = make_plan(fake_model(), pipeline_of(chain, text_of(100)), options);

  EXPECT_EQ(line.n_seqs_concurrent, 1 + 1 + 1) << "an agent, the document, a conversation";
  EXPECT_EQ(line.sums, Plan::Sums::kUpperBound);

  std::vector<AgentSpec> many;
  for (int i = 0; i < 20; ++i) many.push_back(asking(i));
  for (int i = 0; i < 20; ++i) many.push_back(next(20 + i, "a" + std::to_string(i)));
  const Plan side_by_side = make_plan(fake_model(), pipeline_of(many, text_of(100)), options);

  EXPECT_EQ(side_by_side.n_seqs_concurrent, 1 + 1 + 20);
  EXPECT_EQ(side_by_side.sums, Plan::Sums::kEstimate);
}

TEST(PlanOfWaves, AConversationKeepsAllThatWasSaidBefore) {
  const Plan plan = make_plan(
      fake_model(), pipeline_of({asking(0), next(1, "a0"), next(2, "a1")}, text_of(100)), {});

  ASSERT_EQ(plan.waves.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(plan.waves[i].n_cells, plan.agents[i].n_total_max) << i;
    EXPECT_FALSE(plan.waves[i].exceeds_pool);
  }
}

//  contract --> a0 ........ continued by a2 in the last wave
//  annex -----> a1, in the wave between them
TEST(PlanOfWaves, AConversationKeepsItsDocument) {
  Pipeline pipeline;
  pipeline.documents = {document("contract", 400, 1), document("annex", 150, 2)};
  pipeline.agents = {asking(0), asking(1), next(2, "a0")};
  pipeline.agents[0].reads = {"contract"};
  pipeline.agents[1].reads = {"annex"};
  pipeline.agents[1].needs = {"a0"};
  pipeline.agents[2].needs = {"a0", "a1"};
  const Plan plan = make_plan(fake_model(), pipeline, {});

  ASSERT_EQ(plan.waves.size(), 3u);
  EXPECT_EQ(plan.waves[1].n_cells, plan.agents[0].n_total_max + plan.agents[1].n_total_max);

  EngineOptions options;
  options.ctx_size = plan.waves[1].n_cells - 2;
  const Plan tight = make_plan(fake_model(), pipeline, options);
  EXPECT_EQ(tight.misfit, "");
  EXPECT_TRUE(tight.waves[1].exceeds_pool);
  EXPECT_FALSE(tight.waves[0].exceeds_pool);
  EXPECT_EQ(tight.sums, Plan::Sums::kEstimate);
  const std::string text = to_text(tight, false);
  EXPECT_NE(text.find("3 agents \u00b7 tight\n"), std::string::npos) << text;
  EXPECT_EQ(text.find("\nfits"), std::string::npos) << text;
  EXPECT_NE(text.find("wave 2 may need"), std::string::npos) << text;
  EXPECT_NE(to_json(tight).find("\"exceeds_pool\": true"), std::string::npos);

  options.ctx_size = plan.waves[1].n_cells - 1;  // its last token is never fed
  EXPECT_FALSE(make_plan(fake_model(), pipeline, options).waves[1].exceeds_pool);
}

}  // namespace
}  // namespace swarmkv::testing
