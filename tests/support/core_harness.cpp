#include "support/core_harness.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>

namespace swarmkv::internal {

CoreHarness::CoreHarness(Options options) : options_(std::move(options)) {
  model = make_fake_model(options_.model);
  context = model->make_fake_context(options_.context);
  core =
      std::make_unique<SchedulerCore>(*model, *context, options_.scheduler, [this] { return now; });
}

Tokens CoreHarness::tokens(const std::string& text) const {
  return model->tokenize(text, SpecialTokens::kPlainText);
}

std::shared_ptr<const Tokens> CoreHarness::document(const std::string& text) const {
  return std::make_shared<const Tokens>(tokens(text));
}

Request CoreHarness::request(std::shared_ptr<const Tokens> prefix, const std::string& suffix,
                             int max_tokens) const {
  Request r;
  r.label = suffix;
  r.prefix = std::move(prefix);
  r.suffix = tokens(suffix);
  r.max_tokens = max_tokens;
  return r;
}

std::shared_ptr<Seen> CoreHarness::submit(Request request) {
  core->check(request);
  auto seen = std::make_shared<Seen>();
  auto sampler = model->make_sampler(request.sampling);
  auto branch = std::make_unique<Branch>(next_id_++, std::move(request), std::move(sampler), seen);
  branch->result.enqueued = now;
  if (branch->request.timeout.count() > 0) branch->deadline = now + branch->request.timeout;
  core->submit(std::move(branch));
  return seen;
}

bool CoreHarness::step() {
  now += std::chrono::milliseconds(1);
  const bool more = core->step();
  check();
  return more;
}

void CoreHarness::check() {
  core->check_integrity();
  ASSERT_EQ(context->integrity_fault(), "");
  ASSERT_LE(context->n_used_cells(), context->n_cells());
}

void CoreHarness::run(int most) {
  while (!core->idle()) {
    ASSERT_GT(most--, 0) << "the run does not end";
    ASSERT_NO_THROW(step());
  }
}

Result CoreHarness::alone(const Request& request) const {
  ContextOptions roomy = options_.context;
  roomy.n_cells = request.n_prompt() + request.max_tokens + 1;
  roomy.n_seq_max = 4;
  roomy.n_batch = roomy.n_cells;
  const auto own_model =
      make_fake_model(options_.model);  // without the faults of the one under test
  const auto lone = own_model->make_fake_context(roomy);
  const auto sampler = own_model->make_sampler(request.sampling);
  TextStream stream(request.stop);
  Result result;
  Batch batch;
  for (int i = 0; i < request.n_prompt(); ++i) {
    batch.push_back({request.prompt_token(i), i, 0, i + 1 == request.n_prompt()});
  }
  while (static_cast<int>(result.tokens.size()) < request.max_tokens) {
    EXPECT_EQ(lone->forward(batch), ForwardStatus::kOk);
    SampleRow row{static_cast<int>(batch.size()) - 1, sampler.get()};
    lone->sample({&row, 1});
    if (own_model->is_end_of_generation(row.token) && !request.ignore_eos) break;
    result.tokens.push_back(row.token);
    (void)stream.push(own_model->piece(row.token));
    if (stream.stopped()) break;
    batch = {{row.token, lone->length(0), 0, true}};
  }
  (void)stream.finish();
  result.text = stream.text();
  return result;
}

std::int64_t tokens_of_tree(const std::vector<Request>& requests) {
  std::set<Tokens> prefixes;
  std::int64_t n_last = 0;
  for (const Request& r : requests) {
    Tokens path;
    for (int i = 0; i + 1 < r.n_prompt(); ++i) {
      path.push_back(r.prompt_token(i));
      prefixes.insert(path);
    }
    ++n_last;
  }
  return static_cast<std::int64_t>(prefixes.size()) + n_last;
}

std::uint64_t test_seed() {
  const char* given = std::getenv("SWARMKV_TEST_SEED");
  const std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : 20260501;
  ::testing::Test::RecordProperty("seed", std::to_string(seed));
  return seed;
}

}  // namespace swarmkv::internal
