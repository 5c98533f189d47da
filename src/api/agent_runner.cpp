#include "api/agent_runner.h"

#include <exception>
#include <utility>

#include "api/agent_listener.h"

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

AgentRunner::AgentRunner(const Prepared& prepared, RequestRunner& requests, FunctionPool& pool,
                         std::shared_ptr<EventBus> bus)
    : prepared_(prepared),
      pipeline_(prepared.pipeline),
      requests_(requests),
      pool_(pool),
      bus_(std::move(bus)),
      records_(std::make_shared<NodeRecords>(pipeline_.agents.size())) {
  for (std::size_t i = 0; i < prepared_.agents.size(); ++i) {
    if (prepared_.agents[i].is_continued) ++n_users_[static_cast<NodeId>(i)];
    if (prepared_.agents[i].continues >= 0) ++n_users_[prepared_.agents[i].continues];
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
        std::move(request), std::make_shared<AgentListener>(node, prepared_, bus_, records_, done));
  } catch (const Error& e) {
    done(node, failed(e.code(), e.what()));
  } catch (const std::exception& e) {
    done(node, failed(ErrorCode::kInternal, std::string("[run.submit] ") + e.what()));
  }
}

// A conversation that everybody has continued, or never will, need not be kept any longer. While it
// is still going on itself it can be cancelled, so it counts among those who need its ticket.
void AgentRunner::settled(NodeId node) {
  const auto no_longer_used = [this](NodeId kept) {
    const auto users = n_users_.find(kept);
    if (users == n_users_.end() || --users->second > 0) return;
    tickets_.erase(kept);
    asked_.erase(kept);
  };
  no_longer_used(node);
  no_longer_used(prepared_.agents[static_cast<std::size_t>(node)].continues);
}

void AgentRunner::start_function(NodeId node, const Answers& answers, Done done) {
  const AgentSpec& agent = pipeline_.agents[static_cast<std::size_t>(node)];
  tasks_[node] = pool_.submit(
      agent.name,
      [records = records_, bus = bus_, node, name = agent.name, function = agent.function,
       answers] {
        records->change(
            node, [](NodeRecord& record) { record.started = std::chrono::steady_clock::now(); });
        bus->send(agent_event(EventType::kAgentStarted, name));
        return function(answers);
      },
      [records = records_, node, done = std::move(done)](NodeOutcome outcome) {
        records->change(
            node, [](NodeRecord& record) { record.finished = std::chrono::steady_clock::now(); });
        done(node, std::move(outcome));
      });
}

void AgentRunner::cancel(NodeId node) {
  if (const auto ticket = tickets_.find(node); ticket != tickets_.end()) ticket->second->cancel();
  if (const auto task = tasks_.find(node); task != tasks_.end()) (void)pool_.cancel(task->second);
}

NodeRecord AgentRunner::record(NodeId node) const { return records_->of(node); }

}  // namespace swarmkv::internal
