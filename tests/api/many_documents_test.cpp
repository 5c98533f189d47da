// More documents than sequence ids: what is read again is as little as can be, and the report says
// it.
#include <gtest/gtest.h>

#include "api/model_impl.h"
#include "engine/fake/fake_engine.h"
#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

constexpr int kDocuments = 20;

std::string name_of(int document) { return "d" + std::to_string(document); }

AgentSpec reading(int document, int question) {
  AgentSpec spec = agent(name_of(document) + "q" + std::to_string(question), "What?", 4);
  spec.ignore_eos = true;
  spec.reads = {name_of(document)};
  return spec;
}

//  Everybody asks a first question about a document of their own, then a second one.
Pipeline two_rounds() {
  Pipeline pipeline;
  for (int i = 0; i <= kDocuments; ++i) {
    DocumentSpec document;
    document.name = name_of(i);
    document.text = std::string(30, static_cast<char>('a' + i));
    pipeline.documents.push_back(std::move(document));
  }
  for (const int question : {1, 2}) {
    for (int i = 0; i < kDocuments; ++i) pipeline.agents.push_back(reading(i, question));
  }
  pipeline.agents.push_back(reading(kDocuments, 1));
  pipeline.agents.back().name = "last";
  return pipeline;
}

TEST(ManyDocuments, AreReadAgainAsLittleAsCanBeAndTheReportSaysSo) {
  const auto impl = std::make_shared<Model::Impl>();
  const auto fake = internal::make_fake_model();
  impl->model = fake;
  impl->options.engine = "fake";
  Gate all_wait;  // the last one is enqueued after all others were submitted
  fake->faults().on_forward([&](int k, const internal::Batch&) {
    if (k == 1) {
      EXPECT_TRUE(all_wait.wait());
    }
  });
  const auto log = std::make_shared<EventLog>([&](const Event& e) {
    if (e.type == EventType::kAgentEnqueued && e.name == "last") all_wait.open();
  });
  EngineOptions options;
  options.ctx_size = 4000;
  options.parallel = 1;  // 17 ids: one running and 16 documents
  Engine engine(Model(impl), options);

  const RunReport report = engine.run(two_rounds(), observed_by(log)).wait();

  EXPECT_EQ(report.n_finished, 2 * kDocuments + 1);
  int n_read_again = 0;
  for (const DocumentReport& document : report.documents) {
    EXPECT_EQ(document.computed_tokens % document.n_tokens, 0) << document.name;
    n_read_again += document.computed_tokens / document.n_tokens - 1;
  }
  // The first round ends with d0 to d14 and d19 in the cache: the others had to take turns.
  EXPECT_EQ(n_read_again, 4);
  std::int64_t n_computed = 0;
  for (const AgentReport& a : report.agents) {
    n_computed += a.computed_tokens.value_or(0) + a.prefix_computed_tokens.value_or(0);
  }
  EXPECT_EQ(report.prompt_tokens_computed, n_computed);
}

}  // namespace
}  // namespace swarmkv::testing
