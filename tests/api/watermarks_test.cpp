// Every kind of place in a document at which an agent may start, on every kind of model: what it
// answers is what a run over that part alone does.
#include <gtest/gtest.h>

#include <ostream>
#include <tuple>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/fork_kinds.h"
#include "support/pipelines.h"
#include "support/sequential_runner.h"

namespace swarmkv::testing {
namespace {

using internal::ForkKind;

constexpr int kAll = 160, kFirst = 90;  // document tokens; of those in the first of two documents
constexpr int kBatch = 32;
constexpr int kHead = 7;  // what the template puts in front: start, turn, "user\n"

struct Mark {
  const char* name;
  int n_tokens;

  /// For lists of tests: a name would be an address.
  friend void PrintTo(const Mark& mark, std::ostream* out) { *out << mark.name; }
};

constexpr Mark kMarks[] = {{"Zero", 0},
                           {"One", 1},
                           {"OnAChunkBoundary", 2 * kBatch - kHead},
                           {"OffAChunkBoundary", 2 * kBatch - kHead + 5},
                           {"WhereTheFirstDocumentEnds", kFirst},
                           {"OneIntoTheSecondDocument", kFirst + 1},
                           {"OneBeforeTheEnd", kAll - 1},
                           {"End", kAll},
                           {"OneBehindTheEnd", kAll + 1}};

using Case = std::tuple<ForkKind, int, Mark>;  // the int: documents

class Watermarks : public ::testing::TestWithParam<Case> {
 protected:
  Watermarks() {
    options_.fork_kind = std::get<ForkKind>(GetParam());
    options_.n_swa = options_.fork_kind == ForkKind::kWindow ? 24 : 0;
  }

  [[nodiscard]] Model model() const {
    const auto impl = std::make_shared<Model::Impl>();
    const auto fake = internal::make_fake_model(options_);
    fake->faults().set_verify(true);
    impl->model = fake;
    impl->options.engine = "fake";
    return Model(impl);
  }

  internal::FakeOptions options_;
};

std::string text_of(int n, int salt) {
  std::string text;
  for (int i = 0; i < n; ++i) text += static_cast<char>('a' + (i * i + salt) % 23);
  return text;
}

AgentSpec reader(std::string name, std::string prompt) {
  AgentSpec spec = agent(std::move(name), std::move(prompt), 6);
  spec.ignore_eos = true;
  return spec;
}

//  documents ----*------------- all
//                 \-> early
//                  \-> twin
Pipeline early_ones(int n_documents, const Mark& mark, bool they_come_first) {
  AgentSpec early = reader("early", "What is it about?"), twin = reader("twin", "Whose is it?");
  for (AgentSpec* spec : {&early, &twin}) {
    spec->ready_after.kind = ReadyAfter::Kind::kTokens;
    spec->ready_after.value = mark.n_tokens;
  }
  const AgentSpec all = reader("all", "How does it end?");
  Pipeline pipeline =
      pipeline_of(they_come_first ? std::vector{early, twin, all} : std::vector{all, early, twin},
                  text_of(n_documents == 1 ? kAll : kFirst, 0));
  if (n_documents == 2) {
    pipeline.documents.push_back(pipeline.documents[0]);
    pipeline.documents[1].name = "more";
    pipeline.documents[1].text = text_of(kAll - kFirst, 5);
  }
  return pipeline;
}

void expect_as_alone(const RunReport& report, const std::map<std::string, PlainAnswer>& expected,
                     const Mark& mark) {
  const std::optional<int> waits =
      mark.n_tokens < kAll ? std::optional(mark.n_tokens) : std::nullopt;
  for (const AgentReport& a : report.agents) {
    const PlainAnswer& plain = expected.at(a.name);
    EXPECT_EQ(a.status, AgentStatus::kFinished) << a.name << ": " << a.error.value_or("");
    EXPECT_EQ(a.token_ids, plain.tokens) << a.name;
    EXPECT_EQ(a.text, plain.text) << a.name;
    EXPECT_EQ(a.prompt_tokens, static_cast<int>(plain.prompt.size())) << a.name;
    EXPECT_EQ(a.ready_after, a.name == "all" ? std::nullopt : waits) << a.name;
  }
  EXPECT_EQ(report.warnings.size(), mark.n_tokens > kAll ? 2U : 0U) << "one of each that cannot";
  for (const Warning& warning : report.warnings) EXPECT_EQ(warning.code, "SK606");
}

TEST_P(Watermarks, AnswerAsAPlainRunOverThatPart) {
  const auto& [kind, n_documents, mark] = GetParam();
  for (const bool they_come_first : {true, false}) {
    const Pipeline pipeline = early_ones(n_documents, mark, they_come_first);
    const auto expected = run_plainly(pipeline, options_);
    for (const bool deterministic : {false, true}) {
      SCOPED_TRACE(std::string(they_come_first ? "early ones first" : "early ones last") +
                   (deterministic ? ", deterministic" : ""));
      EngineOptions options;
      options.ctx_size = 1000;
      options.batch_size = kBatch;
      options.parallel = 3;  // a batch holds at least as many tokens as there are sequence ids
      options.deterministic = deterministic;
      Engine engine(model(), options);

      const RunReport report = engine.run(pipeline).wait();

      expect_as_alone(report, expected, mark);
      EXPECT_GT(report.counters.n_forwards, static_cast<std::uint64_t>(kAll / kBatch)) << "chunks";
      if (deterministic) continue;  // one at a time: what is not theirs leaves before they run
      for (const DocumentReport& document : report.documents) {
        EXPECT_EQ(document.computed_tokens, document.n_tokens) << document.name << ", once";
      }
    }
  }
}

std::string name_of(const ::testing::TestParamInfo<Case>& info) {
  const auto& [kind, n_documents, mark] = info.param;
  return internal::fork_kind_name({kind, 0}) + (n_documents == 1 ? "OneDocument" : "TwoDocuments") +
         mark.name;
}

INSTANTIATE_TEST_SUITE_P(Sweep, Watermarks,
                         ::testing::Combine(internal::every_fork_kind(), ::testing::Values(1, 2),
                                            ::testing::ValuesIn(kMarks)),
                         name_of);

}  // namespace
}  // namespace swarmkv::testing
