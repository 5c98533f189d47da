#include "api/agent_runner.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "text/reasoning.h"

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

/// Where a document, with what is put in front of it, stands in a prefix.
struct DocumentRange {
  std::string name;
  int begin = 0, end = 0;
};

std::vector<DocumentRange> ranges_of(const Prepared& prepared, std::size_t agent) {
  const ReadList& list = prepared.reads_of(agent);
  std::vector<DocumentRange> ranges;
  for (std::size_t i = 0; i < list.documents.size(); ++i) {
    ranges.push_back({prepared.documents[list.documents[i]].name, list.begin(i), list.end(i)});
  }
  return ranges;
}

}  // namespace

struct AgentRunner::Shared {
  Mutex mutex;
  std::vector<NodeRecord> records GUARDED_BY(mutex);
};

// One agent's request on the event thread.
class AgentRunner::Listener final : public RequestListener {
 public:
  Listener(NodeId node, std::string name, std::vector<DocumentRange> documents,
           bool opens_reasoning, std::shared_ptr<EventBus> bus, std::shared_ptr<Shared> shared,
           Done done)
      : node_(node),
        name_(std::move(name)),
        documents_(std::move(documents)),
        opens_reasoning_(opens_reasoning),
        bus_(std::move(bus)),
        shared_(std::move(shared)),
        done_(std::move(done)) {}

  void on_admitted(TimePoint t) override {
    bus_->deliver(agent_event(EventType::kAgentStarted, name_), t);
  }
  void on_prefix_progress(int n_computed, int, TimePoint t) override {
    for (const DocumentRange& document : documents_) {
      const int n = std::min(n_computed, document.end) - document.begin;
      if (n >= 0) bus_->document_progress(document.name, n, document.end - document.begin, t);
    }
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
    auto kept = std::make_shared<const Result>(result);
    {
      const MutexLock lock(shared_->mutex);
      shared_->records[static_cast<std::size_t>(node_)].result = std::move(kept);
    }
    NodeOutcome outcome;
    switch (result.state) {
      case RequestState::kFinished:
        outcome = {NodeOutcome::Status::kFinished,
                   split_reasoning(result.text, opens_reasoning_).answer,
                   {},
                   {}};
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
  const std::string name_;
  const std::vector<DocumentRange> documents_;
  const bool opens_reasoning_;
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
  for (const PreparedAgent& agent : prepared_.agents) {
    if (agent.continues >= 0) ++n_continuations_[agent.continues];
  }
}

Request AgentRunner::request_of(NodeId node, const Answers& answers) const {
  const auto i = static_cast<std::size_t>(node);
  const AgentSpec& agent = pipeline_.agents[i];
  Request request;
  request.label = agent.name;
  request.prefix = prepared_.agents[i].prefix;
  request.keep = prepared_.agents[i].is_continued;
  request.sampling = sampling_of(agent);
  request.max_tokens = agent.max_tokens;
  request.stop = agent.stop;
  request.ignore_eos = agent.ignore_eos;
  request.priority = agent.priority;
  request.timeout = agent.timeout;
  add_question(request, node, answers);
  return request;
}

// A new conversation begins with its question; one that goes on repeats, token by token, what the
// cache holds of it.
void AgentRunner::add_question(Request& request, NodeId node, const Answers& answers) const {
  const auto i = static_cast<std::size_t>(node);
  const PreparedAgent& agent = prepared_.agents[i];
  const std::string prompt = agent.prompt.render(answers, pipeline_.vars);
  if (agent.continues < 0) {
    request.fork_points = agent.fork_points;
    request.suffix =
        prepared_.prompts->suffix(agent.system, prompt, !prepared_.reads_of(i).documents.empty());
    return;
  }
  const Asked& before = asked_.at(agent.continues);
  const std::shared_ptr<const Result> said = record(agent.continues).result;
  const Tokens turn = prepared_.prompts->next_turn(agent.system, prompt);
  request.suffix = before.suffix;
  request.suffix.insert(request.suffix.end(), said->tokens.begin(), said->tokens.end());
  request.suffix.insert(request.suffix.end(), turn.begin(), turn.end());
  request.fork_points = before.fork_points;
  const int n_before = request.fork_points.empty() ? 0 : request.fork_points.back();
  if (n_before < said->n_cache_tokens) {
    request.fork_points.push_back(said->n_cache_tokens);
  }
}

void AgentRunner::start(NodeId node, const Answers& answers, Done done) {
  const auto i = static_cast<std::size_t>(node);
  const AgentSpec& agent = pipeline_.agents[i];
  bus_->send(agent_event(EventType::kAgentEnqueued, agent.name));
  if (agent.function) return start_function(node, answers, std::move(done));
  try {
    Request request = request_of(node, answers);
    if (request.keep) asked_[node] = {request.suffix, request.fork_points};
    tickets_[node] = requests_.submit(
        std::move(request),
        std::make_shared<Listener>(node, agent.name, ranges_of(prepared_, i),
                                   prepared_.prompts->opens_reasoning(), bus_, shared_, done));
  } catch (const Error& e) {
    done(node, failed(e.code(), e.what()));
  } catch (const std::exception& e) {
    done(node, failed(ErrorCode::kInternal, std::string("[run.submit] ") + e.what()));
  }
}

// A conversation that everybody has continued, or never will, need not be kept any longer.
void AgentRunner::settled(NodeId node) {
  const NodeId continued = prepared_.agents[static_cast<std::size_t>(node)].continues;
  if (continued < 0 || --n_continuations_[continued] > 0) return;
  tickets_.erase(continued);
  asked_.erase(continued);
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
