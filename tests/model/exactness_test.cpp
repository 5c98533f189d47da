// Did a branch see exactly its cells? Asked where rounding cannot hide a fault: F32 weights and KV,
// no flash attention. Logits of a shared, forked, crowded run against lone runs fed the same ids.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "engine/llama_engine.h"
#include "schedule/core.h"
#include "support/core_harness.h"
#include "support/model_files.h"
#include "support/recording_context.h"

namespace swarmkv::internal {
namespace {

constexpr float kBound = 1e-3f;

ContextOptions exact_options(int n_cells, int n_seq_max) {
  ContextOptions options;
  options.n_cells = n_cells;
  options.n_seq_max = n_seq_max;
  options.n_batch = 64;
  options.n_threads = 2;
  options.type_k = options.type_v = KvType::kF32;
  options.flash_attention = FlashAttention::kOff;
  return options;
}

// Teacher-forced: the logits after prompt, prompt + 1 token, ... Leaves out position `hole` if >=
// 0.
std::vector<std::vector<float>> lone_logits(const Model& model, const Request& request,
                                            const Tokens& generated, int hole = -1) {
  const auto context = model.make_context(exact_options(1024, 4));
  Tokens prompt;
  for (int i = 0; i < request.n_prompt(); ++i) {
    if (i != hole) prompt.push_back(request.prompt_token(i));
  }
  std::vector<std::vector<float>> out;
  const auto feed = [&](const Tokens& tokens, bool logits) {
    Batch batch;
    for (const Token token : tokens) {
      batch.push_back({token, context->length(0) + static_cast<Pos>(batch.size()), 0, false});
    }
    batch.back().logits = logits;
    EXPECT_EQ(context->forward(batch), ForwardStatus::kOk);
    if (!logits) return;
    const auto row = context->logits(static_cast<int>(batch.size()) - 1);
    out.emplace_back(row.begin(), row.end());
  };
  for (std::size_t i = 0; i < prompt.size(); i += 64) {
    const std::size_t end = std::min(prompt.size(), i + 64);
    feed({prompt.begin() + static_cast<std::ptrdiff_t>(i),
          prompt.begin() + static_cast<std::ptrdiff_t>(end)},
         end == prompt.size());
  }
  for (const Token token : generated) feed({token}, true);
  out.resize(std::max<std::size_t>(1, generated.size()));
  return out;
}

float difference(const std::vector<std::vector<float>>& a,
                 const std::vector<std::vector<float>>& b) {
  float most = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    for (std::size_t j = 0; j < a[i].size(); ++j) {
      const float d = std::abs(a[i][j] - b[i][j]);
      if (!(d <= most)) most = d;  // NaN counts
    }
  }
  return most;
}

struct Case {
  const char* kind;
  int n_cells;
  int abort_at;
};

class Exactness : public ::testing::TestWithParam<Case> {};

TEST_P(Exactness, SharedBranchesSeeTheCellsOfALoneRun) {
  const Case c = GetParam();
  const auto model = load_llama_model({.path = tiny_path(c.kind), .n_gpu_layers = 0, .log = {}});
  auto log = std::make_shared<LogitsLog>();
  RecordingContext context(model->make_context(exact_options(c.n_cells, 12)), log);
  context.abort_at = c.abort_at;
  TimePoint now{};
  SchedulerCore core(*model, context, {}, [&now] { return now; });

  // A document much longer than the window, with a planned fork in its middle.
  std::mt19937 rng(7);
  const auto random_tokens = [&](int n) {
    Tokens out;
    for (int i = 0; i < n; ++i) out.push_back(static_cast<Token>(5 + rng() % 200));
    return out;
  };
  const auto document = std::make_shared<const Tokens>(random_tokens(150));
  const auto half = std::make_shared<const Tokens>(document->begin(), document->begin() + 70);
  struct Sent {
    const Sampler* sampler;
    std::shared_ptr<Seen> seen;
    Request request;
  };
  std::vector<Sent> sent;
  for (std::uint64_t i = 0; i < 6; ++i) {
    Request r;
    r.label = std::to_string(i);
    r.prefix = i % 3 == 2 ? half : document;
    if (i % 3 != 2) r.fork_points = {70};
    r.suffix = random_tokens(5 + static_cast<int>(i) * 7);
    r.max_tokens = 12;
    r.ignore_eos = true;
    core.check(r);
    auto sampler = model->make_sampler(r.sampling);
    auto seen = std::make_shared<Seen>();
    sent.push_back({sampler.get(), seen, r});
    core.submit(std::make_unique<Branch>(i, r, std::move(sampler), seen));
    core.step();
    core.check_integrity();
  }
  for (int steps = 0; !core.idle(); ++steps) {
    ASSERT_LT(steps, 5000);
    core.step();
    ASSERT_NO_THROW(core.check_integrity());
  }

  for (const Sent& s : sent) {
    const Result& result = s.seen->result;
    ASSERT_EQ(result.state, RequestState::kFinished) << result.error;
    ASSERT_EQ(result.tokens.size(), 12u);
    const auto& got = (*log)[s.sampler];
    const auto want = lone_logits(*model, s.request, result.tokens);
    EXPECT_LT(difference(got, want), kBound) << c.kind << " request " << s.request.label;
    // Negative control: the same comparison must notice a single missing cell.
    for (const int hole : {3, 69, 120}) {
      if (hole >= s.request.n_prompt()) continue;
      const bool outside_window = std::string(c.kind) == "gemma3";
      if (outside_window && hole < s.request.n_prompt() - 30) continue;
      EXPECT_GT(difference(got, lone_logits(*model, s.request, result.tokens, hole)), kBound)
          << "a missing cell at " << hole << " goes unnoticed";
    }
  }
}

std::string name_of(const Case& c) {
  return std::string(c.kind) + (c.n_cells < 1024 ? "CrowdedCache" : "") +
         (c.abort_at > 0 ? "Aborted" : "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Exactness,
                         ::testing::Values(Case{"llama", 1024, 0}, Case{"llama", 230, 0},
                                           Case{"llama", 1024, 4}, Case{"gemma3", 1024, 0},
                                           Case{"gemma3", 230, 0}, Case{"gemma3", 1024, 4},
                                           Case{"mamba", 1024, 0}, Case{"mamba", 1024, 5},
                                           Case{"lfm2", 1024, 0}, Case{"lfm2", 260, 0},
                                           Case{"lfm2", 1024, 5}),
                         [](const auto& each) { return name_of(each.param); });

}  // namespace
}  // namespace swarmkv::internal
