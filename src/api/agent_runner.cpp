#include "api/agent_runner.h"

#include <exception>
#include <utility>

namespace swarmkv::internal {
namespace {

Event agent_event(EventType type, std::string name) {
  Event event;
  event.type = type;
  event.name = std::move(name);
  return event;
}

NodeOutcome failed(ErrorCode code, std::string error) {
  return {NodeOutcome::Status::kFailed, {}, code, std::move(error)};
}

}  // namespace

struct AgentRunner::Shared {
  Mutex mutex;
  std::vector<NodeRecord> records GUARDED_BY(mutex);
};

// One agent's request on the event thread.
class AgentRunner::Listener final : public RequestListener {
 public:
  Listener(NodeId node, std::string name, std::string document, std::shared_ptr<EventBus> bus,
           std::shared_ptr<Shared> shared, Done done)
      : node_(node),
        name_(std::move(name)),
        document_(std::move(document)),
        bus_(std::move(bus)),
        shared_(std::move(shared)),
        done_(std::move(done)) {}

  void on_admitted(TimePoint t) override {
    bus_->deliver(agent_event(EventType::kAgentStarted, name_), t);
  }
  void on_prefix_progress(int n_computed, int n_total, TimePoint t) override {
    if (!document_.empty()) bus_->document_progress(document_, n_computed, n_total, t);
  }
  void on_first_token(TimePoint t) override {
    bus_->deliver(agent_event(EventType::kAgentFirstToken, name_), t);
  }
  void on_text(std::string_view delta, int n_generated) override {
    Event event = agent_event(EventType::kAgentDelta, name_);
    event.text = std::string(delta);
    event.n_tokens = n_generated;
    bus_->deliver(std::move(event), std::chrono::steady_clock::now());
  }
  void on_preempted() override {
    const TimePoint now = std::chrono::steady_clock::now();
    {
      const MutexLock lock(shared_->mutex);
      shared_->records[static_cast<std::size_t>(node_)].preempted.push_back(now);
    }
    bus_->deliver(agent_event(EventType::kAgentPreempted, name_), now);
  }
  void on_finished(const Result& result) override {
    {
      const MutexLock lock(shared_->mutex);
      shared_->records[static_cast<std::size_t>(node_)].result = result;
    }
    NodeOutcome outcome;
    switch (result.state) {
      case RequestState::kFinished:
        outcome = {NodeOutcome::Status::kFinished, result.text, {}, {}};
        break;
      case RequestState::kCancelled:
        outcome = {NodeOutcome::Status::kCancelled, {}, ErrorCode::kCancelled, result.error};
        break;
      default:
        outcome = failed(result.error_code, result.error);
    }
    done_(node_, std::move(outcome));
  }

 private:
  const NodeId node_;
  const std::string name_, document_;
  const std::shared_ptr<EventBus> bus_;
  const std::shared_ptr<Shared> shared_;
  const Done done_;
};

AgentRunner::AgentRunner(const Prepared& prepared, RequestRunner& requests, FunctionPool& pool,
                         std::shared_ptr<EventBus> bus)
    : prepared_(prepared),
      pipeline_(prepared.pipeline),
      requests_(requests),
      pool_(pool),
      bus_(std::move(bus)),
      shared_(std::make_shared<Shared>()) {
  const MutexLock lock(shared_->mutex);
  shared_->records.resize(pipeline_.agents.size());
}

Request AgentRunner::request_of(NodeId node, const Answers& answers) const {
  const auto i = static_cast<std::size_t>(node);
  const AgentSpec& agent = pipeline_.agents[i];
  Request request;
  request.label = agent.name;
  request.prefix = prepared_.prefix.tokens;
  request.fork_points = prepared_.prefix.document_ends;
  request.suffix = prepared_.prompts->suffix(agent.system, prepared_.templates[i].render(answers),
                                             !prepared_.documents.empty());
  request.sampling = sampling_of(agent);
  request.max_tokens = agent.max_tokens;
  request.stop = agent.stop;
  request.ignore_eos = agent.ignore_eos;
  request.priority = agent.priority;
  request.timeout = agent.timeout;
  return request;
}

void AgentRunner::start(NodeId node, const Answers& answers, Done done) {
  const AgentSpec& agent = pipeline_.agents[static_cast<std::size_t>(node)];
  bus_->send(agent_event(EventType::kAgentEnqueued, agent.name));
  if (agent.function) return start_function(node, answers, std::move(done));
  try {
    const std::string document =
        prepared_.documents.empty() ? std::string() : prepared_.documents.back().name;
    tickets_[node] = requests_.submit(
        request_of(node, answers),
        std::make_shared<Listener>(node, agent.name, document, bus_, shared_, done));
  } catch (const Error& e) {
    done(node, failed(e.code(), e.what()));
  } catch (const std::exception& e) {
    done(node, failed(ErrorCode::kInternal, std::string("[run.submit] ") + e.what()));
  }
}

void AgentRunner::start_function(NodeId node, const Answers& answers, Done done) {
  const AgentSpec& agent = pipeline_.agents[static_cast<std::size_t>(node)];
  const auto i = static_cast<std::size_t>(node);
  tasks_[node] = pool_.submit(
      agent.name,
      [shared = shared_, bus = bus_, i, name = agent.name, function = agent.function, answers] {
        {
          const MutexLock lock(shared->mutex);
          shared->records[i].started = std::chrono::steady_clock::now();
        }
        bus->send(agent_event(EventType::kAgentStarted, name));
        return function(answers);
      },
      [shared = shared_, i, node, done = std::move(done)](NodeOutcome outcome) {
        {
          const MutexLock lock(shared->mutex);
          shared->records[i].finished = std::chrono::steady_clock::now();
        }
        done(node, std::move(outcome));
      });
}

void AgentRunner::cancel(NodeId node) {
  if (const auto ticket = tickets_.find(node); ticket != tickets_.end()) ticket->second->cancel();
  if (const auto task = tasks_.find(node); task != tasks_.end()) (void)pool_.cancel(task->second);
}

NodeRecord AgentRunner::record(NodeId node) const {
  const MutexLock lock(shared_->mutex);
  return shared_->records[static_cast<std::size_t>(node)];
}

}  // namespace swarmkv::internal
