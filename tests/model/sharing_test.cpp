// The document is computed once, whatever the number of agents and the moment they come.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "support/model_files.h"
#include "swarmkv/swarmkv.h"

namespace swarmkv {
namespace {

std::shared_ptr<const Tokens> document(const Model& model, std::size_t n_bytes) {
  return std::make_shared<const Tokens>(model.tokenize(internal::licence_text(n_bytes)));
}

Request request(const Model& model, std::shared_ptr<const Tokens> prefix, int i, int max_tokens) {
  Request r;
  r.label = "q" + std::to_string(i);
  r.prefix = std::move(prefix);
  r.suffix = model.tokenize("\n" + std::to_string(i) + " Why?");
  r.max_tokens = max_tokens;
  r.ignore_eos = true;
  return r;
}

// Independent of the product: every distinct beginning of a prompt is one token of work, accidental
// common beginnings of suffixes are below the 32 tokens from which they would be shared.
std::int64_t expected(const std::vector<Request>& requests) {
  std::int64_t n = requests.front().n_prefix();
  for (const Request& r : requests) n += static_cast<std::int64_t>(r.suffix.size());
  return n;
}

std::int64_t computed(const std::vector<Request>& requests, const std::vector<Result>& results,
                      const EngineCounters& counters) {
  std::int64_t n_decoded = 0, n_private = 0;
  for (const Result& r : results) {
    n_decoded += static_cast<std::int64_t>(r.tokens.size()) - 1;
    n_private += r.n_computed_tokens;
  }
  EXPECT_EQ(n_private, expected(requests) - requests.front().n_prefix());
  return static_cast<std::int64_t>(counters.n_forward_tokens) - n_decoded;
}

int threads_now() {
  std::ifstream in("/proc/self/status");
  std::string word;
  while (in >> word) {
    int n = 0;
    if (word == "Threads:" && in >> n) return n;
  }
  return 0;
}

void share(int n_agents, std::size_t n_bytes) {
  const Model model = Model::load({.path = internal::smollm2_path()});
  Engine engine(model, {.ctx_size = 4096, .threads = 2});
  const auto prefix = document(model, n_bytes);
  std::vector<Request> requests;
  std::atomic<int> most_threads{0};
  std::vector<RequestHandle> handles;
  for (int i = 0; i < n_agents; ++i) {
    requests.push_back(request(model, prefix, i, n_agents > 8 ? 1 : 2));
    handles.push_back(engine.submit(requests.back(), [&](std::string_view) {
      most_threads = std::max(most_threads.load(), threads_now());
    }));
  }
  std::vector<Result> results;
  for (RequestHandle& handle : handles) results.push_back(handle.wait());
  EXPECT_LE(most_threads.load(), 16) << "threads grow with agents";
  for (const Result& r : results) ASSERT_EQ(r.state, RequestState::kFinished) << r.error;
  EXPECT_EQ(computed(requests, results, engine.counters()), expected(requests));
}

TEST(Sharing, OneAgentComputesTheDocumentOnce) { share(1, 2000); }
TEST(Sharing, TwoAgentsComputeTheDocumentOnce) { share(2, 2000); }
TEST(Sharing, EightAgentsComputeTheDocumentOnce) { share(8, 2000); }
TEST(Sharing, FiftyAgentsComputeTheDocumentOnce) { share(50, 800); }
TEST(Sharing, ThreeHundredAgentsInWavesComputeTheDocumentOnce) { share(300, 200); }

TEST(Sharing, AgentsOneAfterAnotherComputeTheDocumentOnce) {
  const Model model = Model::load({.path = internal::smollm2_path()});
  Engine engine(model, {.ctx_size = 2048, .threads = 2});
  const auto prefix = document(model, 2000);
  std::vector<Request> requests;
  std::vector<Result> results;
  for (int i = 0; i < 5; ++i) {
    requests.push_back(request(model, prefix, i, 2));
    results.push_back(engine.submit(requests.back()).wait());
  }
  EXPECT_EQ(computed(requests, results, engine.counters()), expected(requests));
}

TEST(Sharing, AgentsThatComeWhileTheDocumentIsPrefilledWaitForIt) {
  const Model model = Model::load({.path = internal::smollm2_path()});
  Engine engine(model, {.ctx_size = 4096, .batch_size = 64, .threads = 2});
  const auto prefix = document(model, 2400);
  std::vector<Request> requests{request(model, prefix, 0, 2)};
  std::vector<RequestHandle> handles;
  handles.push_back(engine.submit(requests[0]));
  for (int i = 1; i < 8; ++i) {
    while (engine.counters().n_forwards < static_cast<std::uint64_t>(i)) {
      // counters() itself waits for the step in progress
    }
    requests.push_back(request(model, prefix, i, 2));
    handles.push_back(engine.submit(requests.back()));
  }
  std::vector<Result> results;
  for (RequestHandle& handle : handles) results.push_back(handle.wait());
  EXPECT_EQ(computed(requests, results, engine.counters()), expected(requests));
}

}  // namespace
}  // namespace swarmkv
