// Early starts and continued conversations on real weights: nothing is read twice, and in
// deterministic mode the ids are those of a run that does nothing else.
#include <gtest/gtest.h>

#include "model/llama_fixture.h"
#include "schedule/core.h"
#include "support/core_harness.h"
#include "support/model_files.h"
#include "support/recording_context.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv {
namespace {

EngineOptions deterministic() {
  EngineOptions options;
  options.ctx_size = 2048;
  options.threads = 2;
  options.deterministic = true;
  return options;
}

AgentSpec asks(std::string name, std::string prompt) {
  AgentSpec spec;
  spec.name = std::move(name);
  spec.prompt = std::move(prompt);
  spec.max_tokens = 12;
  spec.ignore_eos = true;
  return spec;
}

Pipeline pipeline_of(std::vector<AgentSpec> agents) {
  Pipeline pipeline;
  DocumentSpec document;
  document.name = "licence";
  document.text = internal::licence_text(1800);
  pipeline.documents.push_back(std::move(document));
  pipeline.agents = std::move(agents);
  return pipeline;
}

const AgentReport& named(const RunReport& report, const std::string& name) {
  for (const AgentReport& agent : report.agents) {
    if (agent.name == name) return agent;
  }
  throw std::runtime_error("no agent " + name);
}

Request asked(const Model& model, int max_tokens) {
  Request request;
  request.prefix = std::make_shared<const Tokens>(model.tokenize(internal::licence_text(900)));
  request.suffix = model.tokenize("\nWhat is a contribution?");
  request.max_tokens = max_tokens;
  request.ignore_eos = true;
  return request;
}

Request next_turn(const Model& model, const Request& before, const Result& said) {
  Request request = before;
  request.suffix.insert(request.suffix.end(), said.tokens.begin(), said.tokens.end());
  const Tokens turn = model.tokenize("\nAnd who is a contributor?");
  request.suffix.insert(request.suffix.end(), turn.begin(), turn.end());
  request.fork_points = {said.n_cache_tokens};
  return request;
}

struct Turns {
  Result first, second;
  int n_turn;
};

Turns talk(const std::string& path, bool deterministic_mode) {
  const Model model = Model::load({.path = path});
  EngineOptions options = deterministic();
  options.deterministic = deterministic_mode;
  Engine engine(model, options);
  Request request = asked(model, 12);
  request.keep = true;
  RequestHandle handle = engine.submit(request);
  Turns turns{handle.wait(), {}, 0};
  const Request next = next_turn(model, request, turns.first);
  turns.n_turn = next.n_prompt() - request.n_prompt() - 12;
  turns.second = engine.submit(next).wait();
  return turns;
}

Tokens talk_anew(const std::string& path, const Result& said) {
  const Model model = Model::load({.path = path});
  Engine engine(model, deterministic());
  return engine.submit(next_turn(model, asked(model, 12), said)).wait().tokens;
}

void expect_continues(const std::string& path) {
  const Turns turns = talk(path, true);
  EXPECT_EQ(turns.second.n_computed_tokens, 1 + turns.n_turn);
  EXPECT_EQ(turns.second.n_cached_tokens, turns.first.n_cache_tokens);
  EXPECT_EQ(turns.second.tokens, talk_anew(path, turns.first))
      << "a context that is fed the same ids answers otherwise";
}

TEST(Continuing, ComputesTheNewTurnOnlyAndAnswersTheSameWithSmolLM2) {
  expect_continues(internal::smollm2_path());
}
TEST(Continuing, ComputesTheNewTurnOnlyAndAnswersTheSameWithGemma3) {
  expect_continues(internal::gemma3_path());
}
TEST(Continuing, ComputesTheNewTurnOnlyOnEveryKindOfModel) {
  for (const char* kind : {"llama", "gemma3", "mamba", "lfm2"}) {
    const Turns turns = talk(internal::tiny_path(kind), false);
    EXPECT_EQ(turns.second.n_computed_tokens, 1 + turns.n_turn) << kind;
    EXPECT_EQ(turns.second.tokens.size(), 12u) << kind;
  }
}

// One engine's loop in deterministic mode, and the logits behind every token of its last request.
class LogitsRig {
 public:
  using Logits = std::vector<std::vector<float>>;
  explicit LogitsRig(std::shared_ptr<const internal::Model> model)
      : model_(std::move(model)),
        log_(std::make_shared<internal::LogitsLog>()),
        context_(model_->make_context(options()), log_),
        core_(*model_, context_, {.deterministic = true}, [this] { return now_; }) {}

  std::pair<Result, Logits> run(const Request& request) {
    core_.check(request);
    auto sampler = model_->make_sampler(request.sampling);
    auto seen = std::make_shared<internal::Seen>();
    const internal::Sampler* const key = sampler.get();
    log_->erase(key);
    core_.submit(std::make_unique<internal::Branch>(next_id_++, request, std::move(sampler), seen));
    while (!core_.idle()) core_.step();
    core_.check_integrity();
    return {seen->result, log_->at(key)};
  }

 private:
  static internal::ContextOptions options() {
    internal::ContextOptions o = internal::small_context(1024, 4, 512);
    o.n_threads = o.n_threads_batch = 2;
    o.flash_attention = internal::FlashAttention::kOn;
    o.deterministic = true;
    return o;
  }

  std::shared_ptr<const internal::Model> model_;
  std::shared_ptr<internal::LogitsLog> log_;
  internal::RecordingContext context_;
  TimePoint now_{};
  internal::SchedulerCore core_;
  std::uint64_t next_id_ = 0;
};

//  question, answer, next question in one cache   against   the same ids in an empty one
TEST(Continuing, EveryBitOfTheLogitsIsThatOfAPlainContextFedTheSameIds) {
  const Model words = Model::load({.path = internal::smollm2_path()});
  Request request = asked(words, 12);
  request.keep = true;
  LogitsRig talk(internal::smollm2()), anew(internal::smollm2());

  const auto [said, before] = talk.run(request);
  const Request next = next_turn(words, request, said);
  const auto [continued, continued_logits] = talk.run(next);
  const auto [plain, plain_logits] = anew.run(next);

  EXPECT_EQ(continued.n_cached_tokens, said.n_cache_tokens);
  EXPECT_EQ(plain.n_cached_tokens, next.n_prefix()) << "the control reads everything itself";
  ASSERT_EQ(continued_logits.size(), 12U);
  ASSERT_EQ(plain_logits.size(), 12U);
  for (std::size_t i = 0; i < 12; ++i) {
    EXPECT_TRUE(continued_logits[i] == plain_logits[i])
        << "token " << i << " differs by "
        << internal::largest_difference(continued_logits[i], plain_logits[i]);
  }
  Request other = next;  // the comparison notices one other id in the conversation
  other.suffix[request.suffix.size()] += 1;
  LogitsRig control(internal::smollm2());
  EXPECT_FALSE(control.run(other).second[0] == continued_logits[0]);
}

TEST(EarlyStart, SeesTheSameAsARunOverItsPart) {
  const Model model = Model::load({.path = internal::smollm2_path()});
  AgentSpec early = asks("early", "What is this?");
  early.ready_after.kind = ReadyAfter::Kind::kTokens;
  early.ready_after.value = 128;
  Engine alone(model, deterministic()), beside(model, deterministic());

  const RunReport by_itself = alone.run(pipeline_of({early})).wait();
  const RunReport with_others =
      beside.run(pipeline_of({asks("all", "Who may change it?"), early})).wait();

  EXPECT_EQ(named(with_others, "early").token_ids, named(by_itself, "early").token_ids);
  EXPECT_LT(by_itself.documents[0].computed_tokens, 160) << "with what the template puts in front";
}

TEST(EarlyStart, ReadsTheDocumentOnce) {
  const Model model = Model::load({.path = internal::smollm2_path()});
  AgentSpec early = asks("early", "What is this?");
  early.ready_after.kind = ReadyAfter::Kind::kPercent;
  early.ready_after.value = 25;
  EngineOptions options = deterministic();
  options.deterministic = false;
  options.batch_size = 64;
  Engine engine(model, options);

  const RunReport report =
      engine.run(pipeline_of({early, asks("all", "Who may change it?")})).wait();

  EXPECT_EQ(report.n_finished, 2);
  EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens);
  EXPECT_LT(*named(report, "early").first_token_ms, *named(report, "all").prefix_ready_ms);
}

}  // namespace
}  // namespace swarmkv
