// A campaign on the fake engine: which samples are taken, in which order, and what proves them.
#include "swarmkv/bench.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <set>

#include "api/model_impl.h"
#include "attention/grouped.h"
#include "engine/fake/fake_engine.h"
#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

struct Rig {
  Rig() {
    auto impl = std::make_shared<Model::Impl>();
    fake = internal::make_fake_model();
    impl->model = fake;
    impl->options.engine = "fake";
    model.emplace(impl);
  }
  std::shared_ptr<const internal::FakeModel> fake;
  std::optional<Model> model;
};

BenchOptions small() {
  BenchOptions o;
  o.document_tokens = {60};
  o.agents = {2};
  o.output_tokens = {5};
  o.suffix_tokens = {7};
  o.trials = 2;
  o.arms = {"recompute", "shared", "snapshot", "device"};
  return o;
}

std::vector<BenchTrial> run(const Model& model, const BenchOptions& options) {
  return Bench(model, options).run({}, {});
}

TEST(Bench, TakesEverySampleOfEveryCase) {
  Rig rig;
  BenchOptions o = small();
  o.document_tokens = {40, 60};
  o.agents = {1, 3};
  o.output_tokens = {0, 4};
  Bench bench(*rig.model, o);
  EXPECT_EQ(bench.n_trials(), 2 * 2 * 2 * 4 * 2);
  std::set<std::string> seen;
  int n_heard = 0;
  const auto trials = bench.run({}, [&](const BenchTrial&) { ++n_heard; });
  for (const BenchTrial& t : trials) {
    EXPECT_EQ(t.status, "finished") << t.error;
    seen.insert(t.arm + " " + std::to_string(t.n_document) + " " + std::to_string(t.n_agents) +
                " " + std::to_string(t.n_output) + " " + std::to_string(t.trial));
    EXPECT_EQ(t.agents.size(), static_cast<std::size_t>(t.n_agents));
    EXPECT_EQ(t.completion_tokens, t.n_agents * t.n_output) << "ends are ignored by default";
  }
  EXPECT_EQ(static_cast<int>(seen.size()), bench.n_trials());
  EXPECT_EQ(n_heard, bench.n_trials());
}

TEST(Bench, CountersProveWhatEachArmComputed) {
  Rig rig;
  BenchOptions o = small();
  o.agents = {1, 4};
  o.suffix_tokens = {3, 9};
  for (const BenchTrial& t : run(*rig.model, o)) {
    SCOPED_TRACE(t.arm + " with " + std::to_string(t.n_agents));
    const int n_suffixes = t.n_agents == 1 ? 3 : 24;
    EXPECT_TRUE(t.cache_was_empty);
    EXPECT_EQ(t.prompt_tokens, 60 * t.n_agents + n_suffixes);
    EXPECT_EQ(t.prompt_tokens_computed, (t.arm == "recompute" ? 60 * t.n_agents : 60) + n_suffixes);
    EXPECT_EQ(t.prompt_tokens_expected, t.prompt_tokens_computed);
    EXPECT_EQ(t.prompt_tokens_reused, t.prompt_tokens - t.prompt_tokens_computed);
    EXPECT_EQ(t.n_handoffs, t.arm == "recompute" ? 0U : static_cast<unsigned>(t.n_agents));
    EXPECT_GT(t.wall_ms, 0);
    EXPECT_GE(t.wall_ms, t.setup_ms);
    EXPECT_GT(t.peak_kv_bytes, 0U);
    EXPECT_GE(t.peak_kv_cells, 60);
    EXPECT_TRUE(t.decode_tokens_per_s.has_value());
    for (const BenchAgent& a : t.agents) {
      EXPECT_LE(t.setup_ms, *a.enqueued_ms + 1);
      EXPECT_LE(*a.prefix_ready_ms, *a.handed_over_ms);
      EXPECT_LE(*a.handed_over_ms, *a.first_token_ms);
      EXPECT_LE(*a.first_token_ms, *a.finished_ms);
      EXPECT_LE(*a.finished_ms, t.wall_ms);
    }
  }
}

TEST(Bench, EveryArmGetsTheSameTokenIdsAndAnswersTheSame) {
  Rig rig;
  std::set<std::string> answers;
  for (const BenchTrial& t : run(*rig.model, small())) answers.insert(t.token_ids_digest);
  EXPECT_EQ(answers.size(), 1U);
  BenchOptions other = small();
  other.seed = 7;
  answers.insert(run(*rig.model, other).front().token_ids_digest);
  EXPECT_EQ(answers.size(), 2U) << "another seed makes other prompts";
}

TEST(Bench, OwnPromptsBeginDifferentlyAndHaveTheLengthsAskedFor) {
  Rig rig;
  BenchOptions o = small();
  o.agents = {200};
  o.suffix_tokens = {1};
  o.trials = 1;
  o.arms = {"shared"};
  for (const BenchTrial& t : run(*rig.model, o)) {
    EXPECT_EQ(t.status, "finished") << t.error;
    EXPECT_EQ(t.prompt_tokens_computed, 60 + 200);
  }
  o.agents = {300};  // more than the fake vocabulary has ordinary tokens
  EXPECT_THROW(Bench(*rig.model, o), Error);
}

TEST(Bench, TheOrderOfTheArmsMovesOnWithEveryTrial) {
  Rig rig;
  BenchOptions o = small();
  o.trials = 4;
  std::vector<std::string> order;
  for (const BenchTrial& t : run(*rig.model, o)) {
    order.push_back(t.arm);
    EXPECT_EQ(t.position, static_cast<int>((order.size() - 1) % 4));
  }
  const std::vector<std::string> first(order.begin(), order.begin() + 4);
  EXPECT_EQ(first, o.arms);
  for (std::size_t trial = 0; trial < 4; ++trial) {
    EXPECT_EQ(order[4 * trial], o.arms[trial]) << "each arm is the first of one trial";
  }
}

TEST(Bench, WarmsUpApartAndOnlyIfSomethingIsMeasured) {
  Rig rig;
  BenchOptions o = small();
  o.warmup = 2;
  Bench bench(*rig.model, o);
  std::vector<std::string> warmed;
  bool measured = false;
  const auto trials = bench.run(
      {}, [&](const BenchTrial&) { measured = true; },
      [&](const std::string& arm) {
        EXPECT_FALSE(measured);
        warmed.push_back(arm);
      });
  EXPECT_EQ(warmed.size(), 8U);
  EXPECT_EQ(static_cast<int>(trials.size()), bench.n_trials()) << "warm-ups are not kept";
  warmed.clear();
  (void)bench.run(trials, {}, [&](const std::string& arm) { warmed.push_back(arm); });
  EXPECT_TRUE(warmed.empty());
}

TEST(Bench, EverySampleBeginsWithAnEmptyCache) {
  Rig rig;
  int n_contexts = 0;
  rig.fake->faults().on_context([&](internal::FakeContext& context) {
    EXPECT_EQ(context.n_used_cells(), 0);
    ++n_contexts;
  });
  BenchOptions o = small();
  o.warmup = 0;
  o.trials = 1;
  (void)run(*rig.model, o);
  // recompute: one an agent; shared and device: one; snapshot: one for the document, one an agent.
  EXPECT_EQ(n_contexts, 2 + 1 + 1 + 3);
}

TEST(Bench, AFailingArmIsKeptAndTheOthersGoOn) {
  Rig rig;
  rig.fake->faults().set_no_device(true);
  BenchOptions o = small();
  const auto trials = run(*rig.model, o);
  EXPECT_EQ(trials.size(), 8U);
  for (const BenchTrial& t : trials) {
    EXPECT_EQ(t.status, t.arm == "device" ? "failed" : "finished");
    EXPECT_EQ(t.error.empty(), t.arm != "device") << t.error;
  }
  const std::vector<BenchRow> rows = summarise(trials);
  EXPECT_EQ(rows.size(), 4U);
}

TEST(Bench, WhatDoesNotFitIsAFailedSampleWithBothNumbers) {
  Rig rig;
  BenchOptions o = small();
  o.engine.ctx_size = 20;
  for (const BenchTrial& t : run(*rig.model, o)) {
    EXPECT_EQ(t.status, "failed");
    EXPECT_NE(t.error.find("20"), std::string::npos) << t.error;
  }
}

// Positions must stay below the training context; all agents' cells together need not.
TEST(Bench, ThePoolMayHoldMoreCellsThanTheTrainingContext) {
  ModelOptions fake;
  fake.engine = "fake";
  fake.fake_ctx_train = 80;
  const Model model = Model::load(fake);
  BenchOptions o = small();
  o.document_tokens = {63};
  o.suffix_tokens = {1};
  o.agents = {50};
  o.output_tokens = {16, 17};
  o.arms = {"shared"};
  for (const BenchTrial& t : run(model, o)) {
    EXPECT_EQ(t.status, t.n_output == 16 ? "finished" : "failed") << t.n_output << t.error;
    if (t.status == "finished") {
      EXPECT_GT(t.peak_kv_cells, 10 * 80);
    }
  }
}

TEST(Bench, OptionsThatTheEngineRefusesAreRefusedBeforeTheFirstSample) {
  Rig rig;
  const auto refusal = [&](const std::string& attention, const std::string& target) {
    BenchOptions o = small();
    o.engine.attention = attention;
    o.engine.attention_target = target;
    try {
      return Bench(*rig.model, o).setup().attention_target;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
  };
  std::string known;
  for (const std::string& target : internal::grouped_attention_targets()) {
    EXPECT_EQ(refusal("grouped", target), target);
    EXPECT_EQ(refusal("auto", target), target);
    known += (known.empty() ? "" : ", ") + target;
  }
  EXPECT_EQ(refusal("stock", ""), "");
  EXPECT_EQ(
      refusal("auto", "AVX9"),
      "[engine.options] attention_target is 'AVX9', must be one of this processor's: " + known);
  EXPECT_EQ(refusal("stock", "AVX2"),
            "[engine.options] attention_target is 'AVX2', but attention is stock, which has none");
  EXPECT_NE(refusal("fast", "").find("must be auto, grouped or stock"), std::string::npos);
}

// The engine is made to lose the document once: it is computed again, which is not the arm's work.
TEST(Bench, WorkThatIsNotTheArmsIsAFailure) {
  Rig rig;
  BenchOptions o = small();
  o.arms = {"shared"};
  o.trials = 1;
  o.warmup = 0;
  o.engine.batch_size = 16;  // the document takes several forwards
  std::atomic<int> n{0};
  internal::FakeContext* context = nullptr;
  rig.fake->faults().on_context([&](internal::FakeContext& made) { context = &made; });
  rig.fake->faults().on_forward([&](int k, const internal::Batch&) {
    if (++n != 3) return;
    context->clear();
    rig.fake->faults().fail_at(k, internal::ForwardStatus::kNoSlot);
  });
  const auto trials = run(*rig.model, o);
  ASSERT_EQ(trials.size(), 1U);
  EXPECT_EQ(trials[0].status, "failed");
  EXPECT_NE(trials[0].error.find("74 are its work"), std::string::npos) << trials[0].error;
}

TEST(Bench, CancelKeepsWhatIsFinished) {
  Rig rig;
  Bench bench(*rig.model, small());
  int n_heard = 0;
  const auto trials = bench.run({}, [&](const BenchTrial&) {
    if (++n_heard == 3) bench.cancel();
  });
  EXPECT_EQ(n_heard, 3);
  EXPECT_EQ(trials.size(), 3U);
}

// In the first forward others of the sample may not be submitted yet; no later one may follow.
TEST(Bench, CancelEndsTheSampleInProgress) {
  for (const std::string& arm : small().arms) {
    for (const int at : {1, 20}) {
      SCOPED_TRACE(arm + " at forward " + std::to_string(at));
      Rig rig;
      BenchOptions o = small();
      o.arms = {arm};
      o.output_tokens = {1000};
      o.agents = {40};
      o.warmup = 0;
      Bench bench(*rig.model, o);
      std::atomic<int> n_forwards{0};
      rig.fake->faults().on_forward([&](int, const internal::Batch&) {
        if (++n_forwards == at) bench.cancel();
      });
      EXPECT_TRUE(bench.run({}, {}).empty());
      EXPECT_EQ(n_forwards, at);
    }
  }
}

TEST(Bench, GoesOnWhereItWasInterrupted) {
  Rig rig;
  const BenchOptions o = small();
  Bench whole(*rig.model, o);
  std::vector<BenchTrial> all = whole.run({}, {});
  for (BenchTrial& t : all) t.wall_ms += 1e6;  // as no new one will be
  std::vector<BenchTrial> half(all.begin() + 2, all.begin() + 5);
  std::vector<std::string> taken;
  const auto trials = Bench(*rig.model, o).run(half, [&](const BenchTrial& t) {
    taken.push_back(t.arm + std::to_string(t.trial));
  });
  EXPECT_EQ(taken.size(), all.size() - 3);
  ASSERT_EQ(trials.size(), all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(trials[i].arm, all[i].arm) << "in the order of the campaign";
    EXPECT_EQ(trials[i].trial, all[i].trial);
    const bool known = i >= 2 && i < 5;
    EXPECT_EQ(known, trials[i].wall_ms == all[i].wall_ms) << "known samples are not taken again";
  }
}

class DocumentFile {
 public:
  explicit DocumentFile(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("swarmkv_bench_" + std::to_string(::getpid()) + ".txt")) {
    std::ofstream(path_) << text;
  }
  ~DocumentFile() { std::filesystem::remove(path_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

TEST(Bench, TakesADocumentWholeOrItsBeginning) {
  Rig rig;
  const DocumentFile file(std::string(99, 'x'));
  BenchOptions o = small();
  o.document = file.path();
  o.document_tokens.clear();
  o.trials = 1;
  EXPECT_EQ(run(*rig.model, o).front().n_document, 100) << "the start token counts";
  o.document_tokens = {30};
  EXPECT_EQ(run(*rig.model, o).front().n_document, 30);
  o.document_tokens = {101};
  EXPECT_THROW(Bench(*rig.model, o), Error);
  o.document = "/nowhere.txt";
  EXPECT_THROW(Bench(*rig.model, o), Error);
}

TEST(Bench, AsksQuestionsInTurnAndNoneTwiceInTheSameWords) {
  Rig rig;
  BenchOptions o = small();
  o.questions = {"Who pays?", "When?"};
  o.agents = {5};
  for (const BenchTrial& t : run(*rig.model, o)) {
    EXPECT_EQ(t.status, "finished") << t.error;
    EXPECT_EQ(t.agents[0].suffix_tokens - t.agents[1].suffix_tokens, 4);
    EXPECT_EQ(t.agents[2].suffix_tokens - t.agents[0].suffix_tokens, 3) << "'2. ' stands before it";
  }
}

TEST(Bench, QuestionsWithALongCommonBeginningMayBeSharedFurther) {
  Rig rig;
  BenchOptions o = small();
  const std::string common(60, 'q');
  o.questions = {common + "1", common + "2"};
  o.trials = 1;
  for (const BenchTrial& t : run(*rig.model, o)) {
    EXPECT_EQ(t.status, "finished") << t.arm << ": " << t.error;
    // Only while the first question is still there when the second arrives.
    if (t.arm == "shared") {
      EXPECT_LE(t.prompt_tokens_computed, t.prompt_tokens_expected);
    } else {
      EXPECT_EQ(t.prompt_tokens_computed, t.prompt_tokens_expected) << t.arm;
    }
  }
}

TEST(Bench, ModelsOfEveryKindAreMeasured) {
  for (const auto kind : {internal::ForkKind::kWindow, internal::ForkKind::kRecurrent}) {
    auto impl = std::make_shared<Model::Impl>();
    internal::FakeOptions fake;
    fake.fork_kind = kind;
    fake.n_swa = kind == internal::ForkKind::kWindow ? 16 : 0;
    impl->model = internal::make_fake_model(fake);
    for (const bool deterministic : {false, true}) {
      BenchOptions o = small();
      o.agents = {3};
      o.trials = 1;
      o.engine.deterministic = deterministic;
      std::set<std::string> answers;
      for (const BenchTrial& t : run(Model(impl), o)) {
        EXPECT_EQ(t.status, "finished") << t.arm << ": " << t.error;
        answers.insert(t.token_ids_digest);
      }
      EXPECT_EQ(answers.size(), 1U);
    }
  }
}

TEST(Bench, RefusesWrongOptionsByName) {
  Rig rig;
  const auto refused = [&](const std::string& part, auto change) {
    BenchOptions o = small();
    change(o);
    try {
      Bench bench(*rig.model, o);
      ADD_FAILURE() << part;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  refused("agents", [](BenchOptions& o) { o.agents = {0}; });
  refused("agents is empty", [](BenchOptions& o) { o.agents.clear(); });
  refused("output_tokens", [](BenchOptions& o) { o.output_tokens = {-1}; });
  refused("suffix_tokens", [](BenchOptions& o) { o.suffix_tokens = {0}; });
  refused("document_tokens", [](BenchOptions& o) { o.document_tokens = {0}; });
  refused("neither a document", [](BenchOptions& o) { o.document_tokens.clear(); });
  refused("trials", [](BenchOptions& o) { o.trials = 0; });
  refused("warmup", [](BenchOptions& o) { o.warmup = -1; });
  refused("handoff is 'copy'", [](BenchOptions& o) { o.arms = {"copy"}; });
  refused("given twice", [](BenchOptions& o) { o.arms = {"shared", "shared"}; });
  refused("no arm", [](BenchOptions& o) { o.arms.clear(); });
  refused("temperature", [](BenchOptions& o) { o.sampling.temperature = -1; });
}

}  // namespace
}  // namespace swarmkv::testing
