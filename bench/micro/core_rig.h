// The scheduler's loop with many branches, none of which anybody listens to.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "engine/fake/fake_engine.h"
#include "schedule/core.h"

namespace swarmkv::internal {

struct CountingSink final : BranchSink {
  int n_first = 0, n_finished = 0;

  void admitted(TimePoint) override {}
  void prefix_progress(const PrefixProgress&) override {}
  void first_token(TimePoint) override { ++n_first; }
  void text(std::string, int) override {}
  void preempted() override {}
  void finished(Result result) override {
    if (result.state == RequestState::kFinished) ++n_finished;
  }
};

struct CoreRig {
  CoreRig(std::unique_ptr<Context> c, int n_parallel)
      : model(make_fake_model({.eog_every = 0, .forced = {}})),
        context(std::move(c)),
        core(*model, *context, {.n_parallel = n_parallel},
             [] { return std::chrono::steady_clock::now(); }) {}

  /// A branch with a short prompt of its own after the document, if there is one.
  void submit(const std::shared_ptr<const Tokens>& document, const std::vector<int>& fork_points,
              int max_tokens) {
    Request request;
    request.label = "agent";
    request.prefix = document;
    request.fork_points = fork_points;
    for (const char digit : std::to_string(10'000'000 + n_submitted)) {
      request.suffix.push_back(static_cast<unsigned char>(digit));
    }
    request.max_tokens = max_tokens;
    request.ignore_eos = true;
    core.check(request);
    auto sampler = model->make_sampler(request.sampling);
    core.submit(std::make_unique<Branch>(static_cast<std::uint64_t>(n_submitted++),
                                         std::move(request), std::move(sampler), sink));
  }

  void run_to_end() {
    while (core.step()) {
    }
    if (sink->n_finished != n_submitted) throw std::logic_error("a branch did not finish");
  }

  std::shared_ptr<const FakeModel> model;
  std::unique_ptr<Context> context;
  std::shared_ptr<CountingSink> sink = std::make_shared<CountingSink>();
  int n_submitted = 0;
  SchedulerCore core;
};

}  // namespace swarmkv::internal
