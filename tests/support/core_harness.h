// The scheduler's loop on the fake engine, one step at a time, with every invariant checked after
// each step.
#pragma once

#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "engine/fake/fake_engine.h"
#include "schedule/core.h"
#include "support/n_programs.h"

namespace swarmkv::internal {

/// What a client saw of one request.
struct Seen final : BranchSink {
  int n_admitted = 0, n_first = 0, n_preempted = 0, n_finished = 0;
  int n_computed = 0, n_total = 0;
  std::vector<PrefixProgress> progress;
  std::string text_so_far;
  Result result;

  void admitted(TimePoint) override { ++n_admitted; }
  void prefix_progress(const PrefixProgress& p) override {
    n_computed = p.n_computed;
    n_total = p.n_total;
    progress.push_back(p);
  }
  void first_token(TimePoint) override { ++n_first; }
  void text(std::string delta, int) override { text_so_far += delta; }
  void preempted() override { ++n_preempted; }
  void finished(Result r) override {
    ++n_finished;
    result = std::move(r);
  }
  [[nodiscard]] bool done() const { return n_finished > 0; }
};

class CoreHarness {
 public:
  struct Options {
    FakeOptions model;
    ContextOptions context{.n_cells = 512, .n_seq_max = 16, .n_batch = 64};
    SchedulerOptions scheduler;
  };
  explicit CoreHarness(Options options);

  /// Tokens of plain text, as a shared prefix or a suffix.
  [[nodiscard]] Tokens tokens(const std::string& text) const;
  [[nodiscard]] std::shared_ptr<const Tokens> document(const std::string& text) const;
  [[nodiscard]] Request request(std::shared_ptr<const Tokens> prefix, const std::string& suffix,
                                int max_tokens = 8) const;

  std::shared_ptr<Seen> submit(Request request);
  std::uint64_t last_id() const { return next_id_ - 1; }

  bool step();                  ///< one step, then all checks
  void run(int most = 100000);  ///< until idle; fails the test if that takes more steps
  void check();

  /// What the same request answers alone in a fresh context.
  [[nodiscard]] Result alone(const Request& request) const;

  std::shared_ptr<const FakeModel> model;
  std::unique_ptr<FakeContext> context;
  std::unique_ptr<SchedulerCore> core;
  TimePoint now{};  ///< moves 1 ms a step

 private:
  Options options_;
  std::uint64_t next_id_ = 0;
};

/// The tokens that a tree of all these prompts holds, each prompt's last token apart: what must be
/// computed when nothing is ever evicted. Written independently of the product: a plain set of
/// prefixes.
std::int64_t tokens_of_tree(const std::vector<Request>& requests);

/// A seed for random tests: SWARMKV_TEST_SEED or a fixed one; recorded in the test's output.
std::uint64_t test_seed();

}  // namespace swarmkv::internal
