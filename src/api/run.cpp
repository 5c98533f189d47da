#include <fmt/chrono.h>

#include <algorithm>
#include <ctime>
#include <exception>
#include <map>
#include <new>
#include <utility>

#include "api/build_report.h"
#include "api/run_impl.h"
#include "base/deadline.h"
#include "base/digest.h"
#include "base/process_info.h"

namespace swarmkv {
namespace {

using internal::NodeId;

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::vector<std::vector<NodeId>> needs_of(const Pipeline& pipeline) {
  std::map<std::string, NodeId> ids;
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    ids[pipeline.agents[i].name] = static_cast<NodeId>(i);
  }
  std::vector<std::vector<NodeId>> needs;
  for (const AgentSpec& agent : pipeline.agents) {
    needs.emplace_back();
    for (const std::string& need : agent.needs) needs.back().push_back(ids.at(need));
  }
  return needs;
}

// Of the agent's needs, which it can do without.
std::vector<NodeId> optional_needs_of(const Pipeline& pipeline, const AgentSpec& agent,
                                      const std::vector<NodeId>& needs) {
  std::vector<NodeId> found;
  for (const NodeId need : needs) {
    const std::string& name = pipeline.agents[static_cast<std::size_t>(need)].name;
    const auto& optional = agent.optional_needs;
    if (std::find(optional.begin(), optional.end(), name) != optional.end()) found.push_back(need);
  }
  return found;
}

}  // namespace

Run::Impl::Impl(Engine::Impl& engine, std::shared_ptr<const internal::Prepared> prepared,
                const RunOptions& options, TimePoint clock_zero)
    : engine_(engine),
      prepared_(std::move(prepared)),
      pipeline_(prepared_->pipeline),
      options_(options),
      clock_zero_(clock_zero),
      started_at_(utc_now()),
      needs_(needs_of(pipeline_)) {
  const internal::Model& model = *engine_.model.impl().model;
  internal::check_budget(*prepared_, engine_.runner->n_cells(), model.info().kv_bytes_per_token);
  bus_ = std::make_shared<internal::EventBus>(options.observers, clock_zero_);
  runner_ =
      std::make_unique<internal::AgentRunner>(*prepared_, *engine_.runner, engine_.pool, bus_);
  snapshots_ = std::make_unique<internal::SnapshotUse>(
      internal::SnapshotContext{*prepared_, *engine_.runner, engine_.snapshot_writer,
                                engine_.snapshot_host, bus_, engine_.options.handoff,
                                engine_.options.deterministic, engine_.options.attention_target},
      options.snapshot);
  std::vector<internal::OrchestratorNode> nodes;
  for (std::size_t i = 0; i < pipeline_.agents.size(); ++i) {
    nodes.push_back({pipeline_.agents[i].name, needs_[i], pipeline_.agents[i].priority,
                     optional_needs_of(pipeline_, pipeline_.agents[i], needs_[i])});
  }
  orchestrator_ = std::make_unique<internal::Orchestrator>(
      std::move(nodes), *runner_, internal::OrchestratorOptions{options.fail_fast, options.timeout},
      this);
  engine_.enter(this);
  try {
    bus_->start();
    thread_ = std::thread([this] { execute(); });
  } catch (const std::system_error& e) {
    engine_.leave(this);
    throw Error(ErrorCode::kDoesNotFit,
                std::string("[engine.run] no thread could be started: ") + e.what() +
                    "; raise the limits on threads and memory (ulimit -u, -v)");
  } catch (...) {
    engine_.leave(this);
    throw;
  }
}

Run::Impl::~Impl() {
  cancel("cancelled: the run was dropped");
  thread_.join();
}

// An observer that drops its own run cannot wait for what comes after the observer.
void Run::Impl::drop(std::unique_ptr<Impl> run) {
  if (run == nullptr || !run->bus_->is_telling_here()) return;
  run->cancel("cancelled: the run was dropped");
  Engine::Impl& engine = run->engine_;
  engine.keep_until_over(std::move(run));
}

void Run::Impl::cancel(std::string reason) {
  orchestrator_->cancel(std::move(reason));
  snapshots_->cancel();
}

void Run::Impl::execute() {
  RunReport report;
  try {
    Event started;
    started.type = EventType::kRunStarted;
    started.name = pipeline_.name;
    bus_->send(started, clock_zero_);
    const internal::SchedulerStats before = engine_.runner->stats();
    snapshots_->begin();
    report = finish(orchestrator_->run(), before);
  } catch (const std::exception& e) {
    const bool lacks_memory = dynamic_cast<const std::bad_alloc*>(&e) != nullptr;
    report.status = "failed";
    report.exit_code = exit_code(lacks_memory ? ErrorCode::kDoesNotFit : ErrorCode::kInternal);
    report.warnings.push_back({"SK700", {}, {}, std::string("[engine.run] ") + e.what(), {}});
  }
  complete(std::move(report));
}

RunReport Run::Impl::finish(const internal::OrchestratorResult& outcome,
                            const internal::SchedulerStats& before) {
  const TimePoint finished = std::chrono::steady_clock::now();
  RunReport report = internal::build_report(
      {*prepared_, *runner_, outcome, needs_, clock_zero_, finished, before,
       engine_.runner->stats(), engine_.options.handoff == "recompute", bus_->document_times()});
  const ModelDescription model = engine_.model.describe();
  report.run_id =
      internal::digest64(started_at_ + std::to_string(clock_zero_.time_since_epoch().count()));
  report.started_at = started_at_;
  report.model_path = model.path;
  report.model_name = model.name;
  report.model_fingerprint = engine_.model.impl().quick_fingerprint();
  report.quant = model.quant;
  report.device = model.device;
  report.n_params = model.n_params;
  report.load_ms = engine_.model.load_ms();
  report.engine = engine_.model.impl().options.engine;
  report.handoff = engine_.options.handoff;
  const internal::AttentionUse attention = engine_.runner->attention();
  report.attention = attention.kernel;
  report.attention_note = attention.note;
  report.cache_type_k = engine_.options.cache_type_k;
  report.cache_type_v = engine_.options.cache_type_v;
  report.peak_threads = internal::n_threads_now();
  snapshots_->finish(report, outcome);
  return report;
}

// The last event, what observers made of it all, the report and whoever waits, in this order.
void Run::Impl::complete(RunReport report) {
  Event last;
  last.type = EventType::kRunFinished;
  last.name = pipeline_.name;
  last.code = report.status;
  last.exit_code = report.exit_code;
  bus_->finish(std::move(last));
  for (const std::string& error : bus_->observer_errors()) {
    report.warnings.push_back({"SK604", {}, {}, "an observer threw and was removed: " + error, {}});
  }
  engine_.leave(this);
  const internal::MutexLock lock(mutex_);
  report_ = std::move(report);
  done_ = true;
  completed_.notify_all();
}

RunReport Run::Impl::wait() {
  if (bus_->is_telling_here()) {
    throw Error(ErrorCode::kInvalidArgument,
                "[engine.wait] an observer cannot wait for the end of its own run");
  }
  const internal::MutexLock lock(mutex_);
  while (!done_) completed_.wait(mutex_);
  return report_;
}

bool Run::Impl::wait_for(std::chrono::milliseconds limit) {
  const auto until = internal::deadline_after(std::chrono::steady_clock::now(), limit);
  const internal::MutexLock lock(mutex_);
  while (!done_) {
    if (completed_.wait_until(mutex_, until) == std::cv_status::timeout) return done_;
  }
  return true;
}

void Run::Impl::send(EventType type, NodeId node, const internal::NodeOutcome& outcome) {
  Event event;
  event.type = type;
  event.name = pipeline_.agents[static_cast<std::size_t>(node)].name;
  event.text = type == EventType::kAgentFinished ? outcome.answer : outcome.error;
  if (type == EventType::kAgentFailed) event.code = std::string(to_string(outcome.error_code));
  if (const auto result = runner_->record(node).result) {
    event.n_tokens = static_cast<int>(result->tokens.size());
    if (type == EventType::kAgentFinished) event.code = to_string(result->finish_reason);
  }
  bus_->send(std::move(event));
  runner_->settled(node);
}

void Run::Impl::on_finished(NodeId node, const internal::NodeOutcome& outcome) {
  send(EventType::kAgentFinished, node, outcome);
}
void Run::Impl::on_failed(NodeId node, const internal::NodeOutcome& outcome) {
  send(EventType::kAgentFailed, node, outcome);
}
void Run::Impl::on_skipped(NodeId node, NodeId culprit) {
  internal::NodeOutcome outcome;
  outcome.error = "skipped because '" + pipeline_.agents[static_cast<std::size_t>(culprit)].name +
                  "' did not finish";
  send(EventType::kAgentSkipped, node, outcome);
}
void Run::Impl::on_cancelled(NodeId node, const internal::NodeOutcome& outcome) {
  send(EventType::kAgentCancelled, node, outcome);
}

Run::Run(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Run::Run(Run&&) noexcept = default;
Run& Run::operator=(Run&& other) noexcept {
  Impl::drop(std::exchange(impl_, std::move(other.impl_)));
  return *this;
}
Run::~Run() { Impl::drop(std::move(impl_)); }
void Run::cancel(std::string reason) { impl_->cancel(std::move(reason)); }
RunReport Run::wait() { return impl_->wait(); }
bool Run::wait_for(std::chrono::milliseconds limit) { return impl_->wait_for(limit); }

}  // namespace swarmkv
