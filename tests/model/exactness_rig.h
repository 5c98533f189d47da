// Did a branch see exactly its cells? Asked where rounding cannot hide a fault: F32 weights and KV,
// no flash attention. Logits of a shared, forked, crowded run against lone runs fed the same ids.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/llama_engine.h"
#include "schedule/core.h"
#include "support/core_harness.h"
#include "support/recording_context.h"

namespace swarmkv::internal {

struct ExactnessCase {
  Tokens document;
  int fork_at;             ///< where some requests leave the document
  std::vector<int> holes;  ///< each, taken out of a lone run, must be noticed
  int reach = 1 << 20;     ///< how far back from a prompt's end a hole can be seen
  int n_cells = 1024;
  int abort_at = 0;     ///< that forward, counted from 1
  float bound = 1e-3f;  ///< between rounding and the absence of a cell
};

/// Ordinary ids of any vocabulary.
inline Tokens random_ids(std::mt19937& rng, int n) {
  Tokens out;
  for (int i = 0; i < n; ++i) out.push_back(static_cast<Token>(5 + rng() % 200));
  return out;
}

class ExactnessRig {
 public:
  static constexpr int kGenerated = 12;

  explicit ExactnessRig(const Model& model) : model_(model) {}

  void expect_exact(const ExactnessCase& c) {
    log_->clear();
    sent_.clear();
    ASSERT_NO_FATAL_FAILURE(share(c));
    for (const Sent& s : sent_) ASSERT_NO_FATAL_FAILURE(compare(s, c));
  }

 private:
  using Logits = std::vector<std::vector<float>>;
  struct Sent {
    const Sampler* sampler;
    std::shared_ptr<Seen> seen;
    Request request;
  };

  static ContextOptions options(int n_cells, int n_seq_max) {
    ContextOptions options;
    options.n_cells = n_cells;
    options.n_seq_max = n_seq_max;
    options.n_batch = 64;
    options.n_threads = 2;
    options.type_k = options.type_v = KvType::kF32;
    options.flash_attention = FlashAttention::kOff;
    return options;
  }

  // Six requests that come one after another, while earlier ones are at work.
  void share(const ExactnessCase& c) {
    RecordingContext context(model_.make_context(options(c.n_cells, 12)), log_);
    context.abort_at = c.abort_at;
    TimePoint now{};
    SchedulerCore core(model_, context, {}, [&now] { return now; });
    std::mt19937 rng(7);
    const auto document = std::make_shared<const Tokens>(c.document);
    const auto half =
        std::make_shared<const Tokens>(document->begin(), document->begin() + c.fork_at);
    for (std::uint64_t i = 0; i < 6; ++i) {
      Request r;
      r.label = std::to_string(i);
      r.prefix = i % 3 == 2 ? half : document;
      if (i % 3 != 2) r.fork_points = {c.fork_at};
      r.suffix = random_ids(rng, 5 + static_cast<int>(i) * 7);
      r.max_tokens = kGenerated;
      r.ignore_eos = true;
      core.check(r);
      auto sampler = model_.make_sampler(r.sampling);
      auto seen = std::make_shared<Seen>();
      sent_.push_back({sampler.get(), seen, r});
      core.submit(std::make_unique<Branch>(i, r, std::move(sampler), seen));
      core.step();
      core.check_integrity();
    }
    for (int steps = 0; !core.idle(); ++steps) {
      ASSERT_LT(steps, 5000);
      core.step();
      ASSERT_NO_THROW(core.check_integrity());
    }
  }

  void compare(const Sent& s, const ExactnessCase& c) {
    const Result& result = s.seen->result;
    ASSERT_EQ(result.state, RequestState::kFinished) << result.error;
    ASSERT_EQ(result.tokens.size(), static_cast<std::size_t>(kGenerated));
    const Logits& got = (*log_)[s.sampler];
    EXPECT_LT(difference(got, lone_logits(s.request, result.tokens)), c.bound)
        << "request " << s.request.label;
    // Negative control: the same comparison must notice a single missing cell.
    for (const int hole : c.holes) {
      if (hole >= s.request.n_prompt() || hole < s.request.n_prompt() - c.reach) continue;
      EXPECT_GT(difference(got, lone_logits(s.request, result.tokens, hole)), c.bound)
          << "a missing cell at " << hole << " goes unnoticed by request " << s.request.label;
    }
  }

  // Teacher-forced: the logits after prompt, prompt + 1 token, ... Leaves out position `hole` if
  // >= 0.
  Logits lone_logits(const Request& request, const Tokens& generated, int hole = -1) const {
    const auto context = model_.make_context(options(1024, 4));
    Tokens prompt;
    for (int i = 0; i < request.n_prompt(); ++i) {
      if (i != hole) prompt.push_back(request.prompt_token(i));
    }
    Logits out;
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

  static float difference(const Logits& a, const Logits& b) {
    float most = 0;
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
      for (std::size_t j = 0; j < a[i].size(); ++j) {
        const float d = std::abs(a[i][j] - b[i][j]);
        if (!(d <= most)) most = d;  // NaN counts
      }
    }
    return most;
  }

  const Model& model_;
  std::shared_ptr<LogitsLog> log_ = std::make_shared<LogitsLog>();
  std::vector<Sent> sent_;
};

}  // namespace swarmkv::internal
