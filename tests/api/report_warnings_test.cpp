// Warnings that a run itself gives rise to, and their codes.
#include <gtest/gtest.h>

#include <functional>
#include <new>
#include <stdexcept>

#include "engine/fake/fake_engine.h"
#include "support/forwarding_model.h"
#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

// Documents of which only the beginning is the same: where they part a recurrent model has no state
// to go on from.
TEST(ReportWarnings, TellOfTextThatWasReadAgainForWantOfAFork) {
  for (const auto kind : {internal::ForkKind::kRecurrent, internal::ForkKind::kFull}) {
    internal::FakeOptions fake;
    fake.fork_kind = kind;
    Engine engine(internal::as_loaded(internal::make_fake_model(fake)), {});
    Pipeline pipeline = pipeline_of({agent("a", "what?", 0)}, std::string(200, 'x') + "one");
    EXPECT_TRUE(engine.run(pipeline).wait().warnings.empty());
    pipeline.documents[0].text = std::string(200, 'x') + "two";

    const RunReport report = engine.run(pipeline).wait();

    EXPECT_EQ(report.exit_code, 0);
    const bool cannot_fork = kind == internal::ForkKind::kRecurrent;
    EXPECT_EQ(report.agents[0].fork_fell_back, cannot_fork);
    ASSERT_EQ(report.warnings.size(), cannot_fork ? 1u : 0u);
    if (!cannot_fork) continue;
    EXPECT_EQ(report.warnings[0].code, "SK605");
    EXPECT_EQ(report.warnings[0].agent, "a");
  }
}

class FaultyModel final : public internal::ForwardingModel {
 public:
  explicit FaultyModel(std::function<void()> fault)
      : ForwardingModel(internal::make_fake_model()), fault_(std::move(fault)) {}
  std::string fingerprint() const override { return fault_(), std::string(); }

 private:
  std::function<void()> fault_;
};

// What nobody foresaw ends the run, not the process, and observers hear of its end.
TEST(ReportWarnings, TellWhyARunFailedByItself) {
  struct Case {
    std::function<void()> fault;
    std::string message;
    int code;
  };
  for (const Case& c : {Case{[] { throw std::logic_error("a bug"); }, "a bug", 70},
                        Case{[] { throw std::bad_alloc(); }, "bad_alloc", 4}}) {
    Engine engine(internal::as_loaded(std::make_shared<FaultyModel>(c.fault)), {});
    const auto log = std::make_shared<EventLog>();

    const RunReport report =
        engine.run(pipeline_of({agent("a", "hello")}), observed_by(log)).wait();

    EXPECT_EQ(report.status, "failed");
    EXPECT_EQ(report.exit_code, c.code);
    ASSERT_EQ(report.warnings.size(), 1u);
    EXPECT_EQ(report.warnings[0].code, "SK700");
    EXPECT_NE(report.warnings[0].message.find(c.message), std::string::npos)
        << report.warnings[0].message;
    EXPECT_EQ(log->events().back().type, EventType::kRunFinished);
    EXPECT_EQ(log->events().back().exit_code, c.code);
  }
}

}  // namespace
}  // namespace swarmkv::testing
