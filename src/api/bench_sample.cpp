#include "api/bench_sample.h"

#include <algorithm>
#include <cmath>

#include "api/make_runner.h"
#include "api/model_impl.h"
#include "api/options.h"
#include "base/clock.h"
#include "base/digest.h"
#include "base/process_info.h"
#include "handoff/handoff.h"

namespace swarmkv::internal {
namespace {

// Whole microseconds, as they stand in the file: what is derived from them is the same from both.
double whole_us_in_ms(TimePoint from, TimePoint to) {
  const double us = std::chrono::duration<double, std::micro>(to - from).count();
  return std::round(us) / 1000;
}

EngineOptions engine_options(const swarmkv::Model& model, const BenchOptions& options,
                             const BenchPrompts& prompts, const BenchStep& step) {
  EngineOptions out = options.engine;
  out.handoff = step.arm;
  const bool together = runs_together(out, *model.impl().model);
  if (out.parallel == 0) out.parallel = std::min(step.n_agents, 240);
  if (out.ctx_size > 0) return out;
  std::int64_t n_all = 0, n_most = 0;
  for (int i = 0; i < step.n_agents; ++i) {
    const auto n = static_cast<std::int64_t>(prompts.suffix(i).size()) + step.n_output;
    n_all += n;
    n_most = std::max(n_most, n);
  }
  const std::int64_t n_cells = step.n_document + (together ? n_all : n_most);
  out.ctx_size = static_cast<int>(std::min<std::int64_t>(n_cells, 1 << 30));
  return out;
}

Request request_of(const BenchOptions& options, const BenchPrompts& prompts, const BenchStep& step,
                   const std::shared_ptr<const Tokens>& document, int i) {
  Request request;
  request.label = "agent" + std::to_string(i + 1);
  request.prefix = document;
  request.fork_points = {step.n_document};
  request.suffix = prompts.suffix(i);
  request.sampling = options.sampling;
  request.sampling.seed = static_cast<std::uint32_t>(hash64(request.label, options.seed));
  request.max_tokens = step.n_output;
  request.ignore_eos = options.ignore_eos;
  return request;
}

BenchAgent agent_of(const Result& r, const Request& request, TimePoint zero) {
  const auto at = [&](const std::optional<TimePoint>& t) {
    return t ? std::optional(whole_us_in_ms(zero, *t)) : std::nullopt;
  };
  BenchAgent out;
  out.prompt_tokens = request.n_prompt();
  out.suffix_tokens = static_cast<int>(request.suffix.size());
  out.cached_tokens = r.n_cached_tokens;
  out.computed_tokens = r.n_computed_tokens;
  out.completion_tokens = static_cast<int>(r.tokens.size());
  out.enqueued_ms = at(r.enqueued);
  out.admitted_ms = at(r.admitted);
  out.prefix_ready_ms = at(r.prefix_ready);
  out.handed_over_ms = at(r.handed_over);
  out.first_token_ms = at(r.first_token);
  out.finished_ms = at(r.finished);
  out.token_ids_digest = digest64(bytes_of(r.tokens));
  return out;
}

// Once every agent has its first token nobody reads a prompt any more: what follows is decoding.
std::optional<double> decode_speed(const std::vector<Result>& results) {
  std::optional<TimePoint> from, to;
  for (const Result& r : results) {
    if (r.token_times.empty()) return std::nullopt;
    from = std::max(from.value_or(r.token_times.front()), r.token_times.front());
    to = std::max(to.value_or(r.token_times.back()), r.token_times.back());
  }
  if (!from || *to <= *from) return std::nullopt;
  std::int64_t n = 0;
  for (const Result& r : results) {
    n += std::count_if(r.token_times.begin(), r.token_times.end(),
                       [&](TimePoint t) { return t > *from; });
  }
  return 1000.0 * static_cast<double>(n) / whole_us_in_ms(*from, *to);
}

void add_results(BenchTrial& out, const std::vector<Result>& results,
                 const std::vector<Request>& requests, TimePoint zero) {
  Tokens all;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Result& r = results[i];
    out.agents.push_back(agent_of(r, requests[i], zero));
    out.prompt_tokens += requests[i].n_prompt();
    out.completion_tokens += static_cast<std::int64_t>(r.tokens.size());
    if (r.finished) out.wall_ms = std::max(out.wall_ms, whole_us_in_ms(zero, *r.finished));
    all.push_back(static_cast<Token>(r.tokens.size()));
    all.insert(all.end(), r.tokens.begin(), r.tokens.end());
    if (r.state == RequestState::kFinished) continue;
    if (out.status == "finished") out.error = r.error;
    out.status = "failed";
  }
  out.token_ids_digest = digest64(bytes_of(all));
  out.decode_tokens_per_s = decode_speed(results);
}

void add_stats(BenchTrial& out, const SchedulerStats& stats) {
  const EngineCounters& c = stats.counters;
  out.prompt_tokens_computed = stats.prompt_tokens_computed;
  out.prompt_tokens_reused =
      std::max<std::int64_t>(0, out.prompt_tokens - out.prompt_tokens_computed);
  out.forward_ms = 1000 * c.forward_s;
  out.sample_ms = 1000 * c.sample_s;
  out.handoff_ms = 1000 * c.fork_s;
  out.n_forwards = c.n_forwards;
  out.n_handoffs = c.n_forks;
  out.peak_kv_cells = stats.peak_used_cells;
  out.peak_kv_bytes = stats.peak_kv_bytes;
}

// What makes a figure: the cache held nothing before, and exactly the arm's work was done.
void check_counters(BenchTrial& out, const BenchPrompts& prompts) {
  if (out.status != "finished") return;
  const auto fail = [&](std::string why) {
    out.status = "failed";
    out.error = std::move(why);
  };
  if (!out.cache_was_empty) return fail("[bench] the new engine's cache was not empty");
  const bool fewer_is_right = out.arm == "shared" && !prompts.differ_early();
  const bool right = out.prompt_tokens_computed == out.prompt_tokens_expected ||
                     (fewer_is_right && out.prompt_tokens_computed < out.prompt_tokens_expected);
  if (!right) {
    fail("[bench] " + out.arm + " computed " + std::to_string(out.prompt_tokens_computed) +
         " prompt tokens, " + std::to_string(out.prompt_tokens_expected) + " are its work");
  }
}

void run_agents(BenchTrial& out, RequestRunner& runner, const std::vector<Request>& requests,
                TimePoint zero, SampleRequests& in_progress) {
  const SchedulerStats before = runner.stats();
  out.cache_was_empty = before.used_cells == 0 && before.counters.n_forward_tokens == 0;
  out.setup_ms = whole_us_in_ms(zero, now());
  std::vector<std::shared_ptr<RequestTicket>> tickets;
  tickets.reserve(requests.size());
  for (const Request& request : requests) tickets.push_back(in_progress.submit(runner, request));
  std::vector<Result> results;
  results.reserve(tickets.size());
  for (const auto& ticket : tickets) results.push_back(ticket->wait());
  in_progress.over();
  add_results(out, results, requests, zero);
  add_stats(out, runner.stats());
}

}  // namespace

BenchTrial take_sample(const swarmkv::Model& model, const BenchOptions& options,
                       const BenchPrompts& prompts, const BenchStep& step,
                       SampleRequests& in_progress) {
  BenchTrial out;
  out.arm = step.arm;
  out.n_document = step.n_document;
  out.n_agents = step.n_agents;
  out.n_output = step.n_output;
  out.trial = step.trial;
  out.position = step.position;
  const auto document = prompts.document(step.n_document);
  std::vector<Request> requests;
  for (int i = 0; i < step.n_agents; ++i) {
    requests.push_back(request_of(options, prompts, step, document, i));
    out.prompt_tokens_expected += static_cast<std::int64_t>(requests.back().suffix.size());
  }
  out.prompt_tokens_expected +=
      static_cast<std::int64_t>(step.n_document) * (step.arm == "recompute" ? step.n_agents : 1);
  const bool rss_known = reset_peak_rss();
  const TimePoint zero = now();
  try {
    const auto runner = make_runner(model, engine_options(model, options, prompts, step));
    run_agents(out, *runner, requests, zero, in_progress);
    check_counters(out, prompts);
  } catch (const std::exception& e) {
    in_progress.over();
    out.status = "failed";
    out.error = e.what();
  }
  if (rss_known) out.peak_rss_bytes = peak_rss_bytes();
  return out;
}

}  // namespace swarmkv::internal
