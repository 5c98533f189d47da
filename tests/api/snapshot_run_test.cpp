// A document read once stays read: runs of different processes, as new models and engines stand for
// them, share it through a folder of files.
#include <gtest/gtest.h>

#include "attention/grouped.h"
#include "support/snapshots.h"

namespace swarmkv::testing {
namespace {

std::string text_of(int n, int salt = 0) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + (i * i + salt * 7 + i / 11) % 25);
  return text;
}

std::vector<AgentSpec> questions(int n, int max_tokens = 12) {
  std::vector<AgentSpec> agents;
  for (int i = 0; i < n; ++i) {
    agents.push_back(agent("a" + std::to_string(i), "Question " + std::to_string(i), max_tokens));
    agents.back().ignore_eos = true;
  }
  return agents;
}

EngineOptions room(bool deterministic = false, int ctx_size = 4000) {
  EngineOptions options;
  options.ctx_size = ctx_size;
  options.deterministic = deterministic;
  return options;
}

/// As a process of its own would run it.
RunReport run_anew(const Pipeline& pipeline, const RunOptions& options,
                   const EngineOptions& engine_options = room(), const ModelOptions& model = {}) {
  Engine engine(fake_model(model), engine_options);
  return engine.run(pipeline, options).wait();
}

class SnapshotRun : public SnapshotTest {};

TEST_F(SnapshotRun, BitEqualAnswersNeedTheInstructionsThatTheStateWasComputedWith) {
  const Pipeline pipeline = pipeline_of(questions(2), text_of(700));
  EngineOptions forced = room(true);
  forced.attention_target = internal::grouped_attention_targets().back();
  (void)run_anew(pipeline, with_store(), room(true));
  EXPECT_EQ(run_anew(pipeline, with_store(), forced).documents[0].source, "computed");
  EXPECT_EQ(run_anew(pipeline, with_store(), forced).documents[0].source, "restored");
  EXPECT_EQ(run_anew(pipeline, with_store(), room(true)).documents[0].source, "restored");
  forced.deterministic = false;
  EXPECT_EQ(run_anew(pipeline, with_store(), forced).documents[0].source, "restored");
}

TEST_F(SnapshotRun, TheSecondProcessComputesNothingOfTheDocument) {
  for (const bool deterministic : {false, true}) {
    std::filesystem::remove_all(folder_);
    const Pipeline pipeline = pipeline_of(questions(8), text_of(700));
    const RunReport cold = run_anew(pipeline, {}, room(deterministic));
    const RunReport first = run_anew(pipeline, with_store(), room(deterministic));
    const auto log = std::make_shared<EventLog>();
    const RunReport second = run_anew(pipeline, with_store(log), room(deterministic));

    EXPECT_EQ(answers_of(first), answers_of(cold));
    EXPECT_EQ(answers_of(second), answers_of(cold));
    EXPECT_EQ(second.exit_code, 0);
    EXPECT_TRUE(second.warnings.empty());

    const DocumentReport &saved = first.documents[0], &restored = second.documents[0];
    ASSERT_TRUE(saved.snapshot && restored.snapshot);
    EXPECT_EQ(saved.source, "computed");
    EXPECT_EQ(saved.snapshot->state, "saved") << saved.snapshot->reason.value_or("");
    EXPECT_EQ(restored.source, "restored");
    EXPECT_EQ(restored.snapshot->state, "restored");
    EXPECT_EQ(restored.snapshot->path, only_file().string());
    EXPECT_EQ(saved.snapshot->path, restored.snapshot->path);
    EXPECT_EQ(restored.snapshot->size_bytes, std::filesystem::file_size(only_file()));
    EXPECT_EQ(restored.snapshot->n_tokens, restored.n_tokens);
    EXPECT_GT(restored.snapshot->ms, 0);
    EXPECT_EQ(restored.computed_tokens, 0);
    EXPECT_FALSE(restored.prefill_ms.has_value());

    EXPECT_EQ(cold.prompt_tokens_computed - second.prompt_tokens_computed, restored.n_tokens);
    EXPECT_EQ(second.prompt_tokens_reused, 8 * restored.n_tokens) << "the first agent's, too";
    for (const AgentReport& a : second.agents) EXPECT_EQ(a.cached_tokens, restored.n_tokens);

    int n_restored = 0, n_ready = 0;
    for (const Event& event : log->events()) {
      n_ready += event.type == EventType::kDocumentReady ? 1 : 0;
      EXPECT_NE(event.type, EventType::kSnapshotSaved);
      if (event.type != EventType::kSnapshotRestored) continue;
      ++n_restored;
      EXPECT_EQ(event.name, "doc");
      EXPECT_EQ(event.n_tokens, restored.n_tokens);
      EXPECT_EQ(event.n_total, restored.n_tokens);
      EXPECT_EQ(event.text, only_file().string());
      EXPECT_EQ(event.size_bytes, restored.snapshot->size_bytes);
      EXPECT_GT(event.ms, 0);
    }
    EXPECT_EQ(n_restored, 1);
    EXPECT_EQ(n_ready, 1);
    EXPECT_EQ(log->events().back().type, EventType::kRunFinished);
  }
}

TEST_F(SnapshotRun, SavingIsAnEventBeforeTheRunsLast) {
  const auto log = std::make_shared<EventLog>();
  (void)run_anew(pipeline_of(questions(1), text_of(100)), with_store(log));
  const auto events = log->events();
  ASSERT_GE(events.size(), 2u);
  EXPECT_EQ(events[events.size() - 2].type, EventType::kSnapshotSaved);
  EXPECT_EQ(events[events.size() - 2].text, only_file().string());
  EXPECT_EQ(events[events.size() - 2].size_bytes, std::filesystem::file_size(only_file()));
  EXPECT_GT(events[events.size() - 2].ms, 0);
}

TEST_F(SnapshotRun, OffIsTheDefaultAndSaysNothing) {
  RunOptions options = with_store();
  options.snapshot.use = "off";
  const RunReport report = run_anew(pipeline_of(questions(1), text_of(100)), options);
  EXPECT_FALSE(report.documents[0].snapshot.has_value());
  EXPECT_FALSE(std::filesystem::exists(folder_)) << "not even the folder";
  Pipeline pipeline = pipeline_of(questions(1), text_of(100));
  pipeline.documents[0].snapshot = "off";
  EXPECT_FALSE(run_anew(pipeline, with_store()).documents[0].snapshot.has_value());
}

// Saved with one agent; read with others, other sizes and other numbers of threads.
TEST_F(SnapshotRun, IsNotTiedToTheContextItWasMadeIn) {
  const std::string text = text_of(900);
  (void)run_anew(pipeline_of(questions(1), text), with_store());
  const auto size = std::filesystem::file_size(only_file());
  for (const int n : {8, 64}) {
    for (const int batch : {32, 2048}) {
      EngineOptions options = room(false, n == 64 ? 12000 : 3000);
      options.batch_size = batch;
      options.threads = 3;
      options.parallel = n;
      const Pipeline pipeline = pipeline_of(questions(n), text);
      const RunReport report = run_anew(pipeline, with_store(), options);
      EXPECT_EQ(report.documents[0].computed_tokens, 0);
      EXPECT_EQ(answers_of(report), answers_of(run_anew(pipeline, {}, options)));
    }
  }
  // And the reverse: a large pool makes the same file.
  std::filesystem::remove_all(folder_);
  (void)run_anew(pipeline_of(questions(64), text), with_store(), room(false, 100000));
  EXPECT_EQ(std::filesystem::file_size(only_file()), size);
  EXPECT_EQ(run_anew(pipeline_of(questions(1), text), with_store()).documents[0].computed_tokens,
            0);
}

TEST_F(SnapshotRun, APoolThatDoesNotHoldTheDocumentIsRefusedAsEver) {
  const Pipeline pipeline = pipeline_of(questions(1), text_of(900));
  (void)run_anew(pipeline, with_store());
  EXPECT_THROW((void)run_anew(pipeline, with_store(), room(false, 450)), Error);
}

//  one: [contract]   both: [contract][annex]
TEST_F(SnapshotRun, ALongerListStartsFromTheShorterOnesFile) {
  Pipeline one = pipeline_of(questions(2), text_of(500));
  Pipeline both = one;
  DocumentSpec annex;
  annex.name = "annex";
  annex.text = text_of(200, 5);
  both.documents.push_back(annex);
  for (const bool deterministic : {false, true}) {
    std::filesystem::remove_all(folder_);
    (void)run_anew(one, with_store(), room(deterministic));
    const RunReport report = run_anew(both, with_store(), room(deterministic));
    EXPECT_EQ(answers_of(report), answers_of(run_anew(both, {}, room(deterministic))));
    EXPECT_EQ(report.documents[0].computed_tokens, 0);
    EXPECT_EQ(report.documents[0].source, "restored");
    EXPECT_EQ(report.documents[1].computed_tokens, report.documents[1].n_tokens);
    EXPECT_EQ(report.documents[1].source, "computed");
    EXPECT_EQ(report.documents[1].snapshot->state, "saved");
    EXPECT_EQ(files().size(), 2u);
    EXPECT_EQ(run_anew(both, with_store(), room(deterministic)).documents[1].computed_tokens, 0);
  }
}

TEST_F(SnapshotRun, EachListOfDocumentsHasItsOwn) {
  Pipeline pipeline = pipeline_of(questions(3), text_of(300));
  DocumentSpec other;
  other.name = "other";
  other.text = text_of(200, 9);
  pipeline.documents.push_back(other);
  pipeline.agents[0].reads = {{"doc"}};
  pipeline.agents[1].reads = {{"other"}};
  pipeline.agents[2].reads = {{"other", "doc"}};
  for (const bool deterministic : {false, true}) {
    std::filesystem::remove_all(folder_);
    const RunReport cold = run_anew(pipeline, with_store(), room(deterministic));
    EXPECT_EQ(files().size(), 3u) << "thrown out half way or not: " << deterministic;
    const RunReport report = run_anew(pipeline, with_store(), room(deterministic));
    EXPECT_EQ(answers_of(report), answers_of(cold));
    for (const DocumentReport& d : report.documents) {
      EXPECT_EQ(d.computed_tokens, 0) << d.name << " " << deterministic;
      EXPECT_EQ(d.source, "restored");
    }
  }
}

TEST_F(SnapshotRun, EarlyStartsKeepTheirPlace) {
  Pipeline pipeline = pipeline_of(questions(4), text_of(600));
  pipeline.agents[1].ready_after = {ReadyAfter::Kind::kTokens, 50, {}};
  pipeline.agents[2].ready_after = {ReadyAfter::Kind::kPercent, 30, {}};
  for (const bool deterministic : {false, true}) {
    std::filesystem::remove_all(folder_);
    const RunReport cold = run_anew(pipeline, with_store(), room(deterministic));
    const RunReport report = run_anew(pipeline, with_store(), room(deterministic));
    EXPECT_EQ(answers_of(report), answers_of(cold));
    EXPECT_EQ(report.documents[0].computed_tokens, 0);
  }
}

// Bit-equal answers need the same pieces; anybody else may use what is there.
TEST_F(SnapshotRun, DeterministicRunsTakeOnlyWhatWasComputedInTheSamePieces) {
  const Pipeline pipeline = pipeline_of(questions(2), text_of(700));
  (void)run_anew(pipeline, with_store(), room(false));
  const RunReport first = run_anew(pipeline, with_store(), room(true));
  EXPECT_GT(first.documents[0].computed_tokens, 0) << "a default run's file is not good enough";
  EXPECT_EQ(first.documents[0].snapshot->state, "saved");
  EXPECT_EQ(files().size(), 2u);
  EXPECT_EQ(run_anew(pipeline, with_store(), room(true)).documents[0].computed_tokens, 0);
  EXPECT_EQ(run_anew(pipeline, with_store(), room(false)).documents[0].computed_tokens, 0);

  EngineOptions other_grid = room(true);
  other_grid.batch_size = 256;
  EXPECT_GT(run_anew(pipeline, with_store(), other_grid).documents[0].computed_tokens, 0);
  Pipeline other_points = pipeline;
  other_points.agents[0].ready_after = {ReadyAfter::Kind::kTokens, 50, {}};
  EXPECT_GT(run_anew(other_points, with_store(), room(true)).documents[0].computed_tokens, 0);
}

TEST_F(SnapshotRun, AnotherModelTypeOrLayoutIsAMissAndTheOriginalAHitAgain) {
  const Pipeline pipeline = pipeline_of(questions(2), text_of(300));
  ModelOptions other_model;
  other_model.fake_ctx_train = 9000;  // other weights under the same name
  EngineOptions q8 = room(), columns = room();
  q8.cache_type_k = "q8_0";
  columns.flash_attn = "off";
  struct Case {
    ModelOptions model;
    EngineOptions engine;
    std::string says;
  };
  for (const Case& c :
       {Case{other_model, room(), "fake-"}, Case{{}, q8, "q8_0"}, Case{{}, columns, "columns"}}) {
    std::filesystem::remove_all(folder_);
    (void)run_anew(pipeline, with_store());
    const auto log = std::make_shared<EventLog>();
    const RunReport miss = run_anew(pipeline, with_store(log), c.engine, c.model);
    EXPECT_GT(miss.documents[0].computed_tokens, 0) << c.says;
    EXPECT_EQ(miss.documents[0].snapshot->state, "saved");
    EXPECT_NE(miss.documents[0].snapshot->reason.value_or("").find(c.says), std::string::npos)
        << miss.documents[0].snapshot->reason.value_or("");
    EXPECT_TRUE(miss.warnings.empty()) << "it is sound, only somebody else's";
    bool told = false;
    for (const Event& event : log->events()) {
      told |= event.type == EventType::kSnapshotRejected;
    }
    EXPECT_TRUE(told);
    EXPECT_EQ(run_anew(pipeline, with_store(), c.engine, c.model).documents[0].computed_tokens, 0);
    EXPECT_EQ(run_anew(pipeline, with_store()).documents[0].computed_tokens, 0);
    EXPECT_EQ(files().size(), 2u);
  }
}

TEST_F(SnapshotRun, AnotherTemplateOrSystemTextIsAnotherPrefix) {
  Pipeline pipeline = pipeline_of(questions(1), text_of(300));
  (void)run_anew(pipeline, with_store());
  RunOptions plain = with_store();
  plain.use_chat_template = false;
  EXPECT_GT(run_anew(pipeline, plain).documents[0].computed_tokens, 0);
  pipeline.system = "Be brief.";
  EXPECT_GT(run_anew(pipeline, with_store()).documents[0].computed_tokens, 0);
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(SnapshotRun, OneEngineNeedsTheFileOnlyOnce) {
  const Pipeline pipeline = pipeline_of(questions(2), text_of(300));
  (void)run_anew(pipeline, with_store());
  Engine engine(fake_model(), room());
  EXPECT_EQ(engine.run(pipeline, with_store()).wait().documents[0].snapshot->state, "restored");
  const RunReport again = engine.run(pipeline, with_store()).wait();
  EXPECT_EQ(again.documents[0].snapshot->state, "skipped");
  EXPECT_EQ(again.documents[0].snapshot->reason, "it is stored already, and was not needed");
  EXPECT_EQ(again.documents[0].snapshot->path, only_file().string());
  EXPECT_EQ(again.documents[0].source, "cached");
}

TEST_F(SnapshotRun, OtherHandOffsDoNotUseThem) {
  EngineOptions recompute = room();
  recompute.handoff = "recompute";
  const RunReport report =
      run_anew(pipeline_of(questions(1), text_of(100)), with_store(), recompute);
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
  EXPECT_EQ(report.documents[0].snapshot->reason, "off: handoff is recompute");
  EXPECT_TRUE(files().empty());
}

// Everything thrown out again and again: what a small pool needs twice is read twice.
TEST_F(SnapshotRun, ASmallPoolReadsItAgainInsteadOfComputingIt) {
  Pipeline pipeline = pipeline_of(questions(4, 4), text_of(300));
  DocumentSpec other;
  other.name = "other";
  other.text = text_of(300, 3);
  pipeline.documents.push_back(other);
  for (std::size_t i = 0; i < 4; ++i) {
    pipeline.agents[i].reads = {{i % 2 == 0 ? "doc" : "other"}};
    if (i > 0) pipeline.agents[i].needs = {"a" + std::to_string(i - 1)};
  }
  const EngineOptions tight = room(false, 400);
  const RunReport cold = run_anew(pipeline, with_store(), tight);
  EXPECT_EQ(files().size(), 2u) << "kept before they were thrown out";
  const RunReport report = run_anew(pipeline, with_store(), tight);
  EXPECT_EQ(answers_of(report), answers_of(cold));
  for (const DocumentReport& d : report.documents) EXPECT_EQ(d.computed_tokens, 0) << d.name;
}

TEST_F(SnapshotRun, AnAgentWithoutTokensIsEnoughToKeepADocument) {
  AgentSpec reader = agent("reader", "x", 0);
  EXPECT_EQ(
      run_anew(pipeline_of({reader}, text_of(200)), with_store()).documents[0].snapshot->state,
      "saved");
  EXPECT_EQ(
      run_anew(pipeline_of(questions(3), text_of(200)), with_store()).documents[0].computed_tokens,
      0);
}

}  // namespace
}  // namespace swarmkv::testing
