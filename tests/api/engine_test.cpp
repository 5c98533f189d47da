// Requests straight to the engine.
#include <gtest/gtest.h>

#include <optional>
#include <thread>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

Request ask(const Model& model, const std::string& text, int max_tokens = 12) {
  Request request;
  request.label = text;
  request.suffix = model.tokenize(text);
  request.max_tokens = max_tokens;
  return request;
}

TEST(Engine, AnswersARequestAndStreamsItsText) {
  const Model model = fake_model();
  Engine engine(model, {});
  std::string streamed;

  const Result result =
      engine.submit(ask(model, "hello", 40), [&](std::string_view delta) { streamed += delta; })
          .wait();

  EXPECT_EQ(result.state, RequestState::kFinished);
  EXPECT_FALSE(result.text.empty());
  EXPECT_EQ(streamed, result.text);
}

TEST(Engine, TakesCallsFromEightThreads) {
  const Model model = fake_model();
  const auto text_of = [&](Engine& engine, int i) {
    return engine.submit(ask(model, "question " + std::to_string(i))).wait().text;
  };
  std::vector<std::string> expected;
  for (int i = 0; i < 8; ++i) {
    Engine lone(model, {});
    expected.push_back(text_of(lone, i));
  }
  Engine engine(model, {}), other(model, {});
  std::atomic<int> n_right{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 10; ++i) {
        const int which = (i + c) % 8;
        n_right +=
            text_of(i % 2 ? engine : other, which) == expected[static_cast<std::size_t>(which)] ? 1
                                                                                                : 0;
      }
      if (c % 2 == 0) (void)engine.run(pipeline_of({agent("a", "hi", 4)})).wait();
      (void)engine.counters();
      (void)engine.ctx_size();
    });
  }
  for (std::thread& client : clients) client.join();

  EXPECT_EQ(n_right, 80);
}

TEST(Engine, DroppingAHandleCancelsWithoutWaiting) {
  const Model model = fake_model();
  Engine engine(model, room_for_talkers());
  Request endless = ask(model, "talk", 100000);
  endless.ignore_eos = true;
  (void)engine.submit(endless);
  std::optional<RequestHandle> kept(engine.submit(endless));
  *kept = engine.submit(ask(model, "short"));  // the one it held is cancelled, too

  EXPECT_EQ(kept->wait().state, RequestState::kFinished);
  EXPECT_LT(engine.counters().n_decode_steps, 100000u);
}

TEST(Engine, AHandleOutlivesItsEngine) {
  const Model model = fake_model();
  std::optional<Engine> engine(std::in_place, model, room_for_talkers());
  Request endless = ask(model, "talk", 100000);
  endless.ignore_eos = true;
  RequestHandle handle = engine->submit(endless);
  engine.reset();

  EXPECT_EQ(handle.wait().state, RequestState::kCancelled);
  EXPECT_TRUE(handle.wait_for(std::chrono::milliseconds(0)));
  handle.cancel();
}

TEST(Engine, AThrowingTextCallbackDoesNotDisturbItsRequest) {
  const Model model = fake_model();
  Engine engine(model, {});

  const Result result =
      engine.submit(ask(model, "hello", 40), [](std::string_view) { throw 42; }).wait();

  EXPECT_EQ(result.state, RequestState::kFinished);
  EXPECT_EQ(result.text, engine.submit(ask(model, "hello", 40)).wait().text);
}

TEST(Engine, AnEngineThatIsMovedKeepsItsRequestsAndRuns) {
  const Model model = fake_model();
  Engine first(model, {});
  swarmkv::Run run = first.run(pipeline_of({agent("a", "hello"), agent("b", "{{ a }}")}));
  Engine second(std::move(first));

  EXPECT_EQ(run.wait().exit_code, 0);
  EXPECT_EQ(second.submit(ask(model, "hello")).wait().state, RequestState::kFinished);
}

TEST(Engine, ARequestThatCannotFitIsRefusedWhenItIsSubmitted) {
  const Model model = fake_model();
  EngineOptions options;
  options.ctx_size = 100;
  Engine engine(model, options);
  EXPECT_EQ(engine.ctx_size(), 100);
  try {
    (void)engine.submit(ask(model, "0123456789", 92));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDoesNotFit);
    EXPECT_NE(std::string(e.what()).find("need 101, the KV cache is 100"), std::string::npos)
        << e.what();
  }
}

TEST(Engine, SamplingThatMakesNoSenseIsRefused) {
  const Model model = fake_model();
  Engine engine(model, {});
  Request request = ask(model, "hello");
  request.sampling.temperature = -1;
  EXPECT_THROW((void)engine.submit(request), Error);
  request = ask(model, "hello");
  request.sampling.json_schema = "{";
  EXPECT_THROW((void)engine.submit(request), Error);
}

}  // namespace
}  // namespace swarmkv::testing
