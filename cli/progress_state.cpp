#include "cli/progress_state.h"

#include <algorithm>
#include <utility>

#include "cli/snapshot_text.h"

namespace swarmkv::cli {
namespace {

using Stage = AgentProgress::Stage;

constexpr double kRateWindowMs = 2000;
// Enough to fill the widest terminal with one-byte characters.
constexpr std::size_t kTailBytes = 400;

DocumentProgress& document_of(ProgressState& state, const Event& event) {
  const auto [place, is_new] =
      state.document_index.emplace(std::pair(event.name, event.reading), state.documents.size());
  if (is_new) {
    state.documents.push_back({.name = event.name, .reading = event.reading});
    const DocumentProgress* first = state.document(event.name, 0);
    state.documents.back().keeps = first != nullptr && first->keeps;
  }
  DocumentProgress& document = state.documents[place->second];
  document.after = event.after;
  return document;
}

void append_tail(std::string& tail, const std::string& text) {
  tail += text;
  if (tail.size() <= kTailBytes) return;
  std::size_t begin = tail.size() - kTailBytes;
  // Not in the middle of a character.
  while (begin < tail.size() && (static_cast<unsigned char>(tail[begin]) & 0xC0) == 0x80) ++begin;
  tail.erase(0, begin);
}

void count_tokens(ProgressState& state, AgentProgress& agent, int n_tokens, double t_ms) {
  if (n_tokens <= agent.n_tokens) return;
  state.n_tokens += n_tokens - agent.n_tokens;
  agent.n_tokens = n_tokens;
  state.recent.emplace_back(t_ms, state.n_tokens);
  while (state.recent.size() > 2 && t_ms - state.recent.front().first > kRateWindowMs) {
    state.recent.pop_front();
  }
}

void apply_snapshot(DocumentProgress& document, const Event& event) {
  document.snapshot = snapshot_note(event);
  document.saved = document.saved || event.type == EventType::kSnapshotSaved;
  if (event.type != EventType::kSnapshotRestored) return;
  document.n_restored = std::max(document.n_restored, event.n_tokens);
}

void finish(AgentProgress& agent, Stage stage, const Event& event) {
  agent.stage = stage;
  agent.note = event.text.empty() ? event.code : event.text;
}

void apply_to_agent(ProgressState& state, AgentProgress& agent, const Event& event) {
  agent.t_ms = event.t_ms;
  switch (event.type) {
    case EventType::kAgentEnqueued:
      agent.enqueued = true;
      break;
    case EventType::kAgentStarted:
      agent.stage = Stage::kStarted;
      agent.started_ms = event.t_ms;
      break;
    case EventType::kAgentFirstToken:
      agent.stage = Stage::kDecoding;
      agent.first_token_ms = event.t_ms;
      count_tokens(state, agent, std::max(1, event.n_tokens), event.t_ms);
      break;
    case EventType::kAgentDelta:
      agent.stage = Stage::kDecoding;  // again, if it had to step back
      count_tokens(state, agent, event.n_tokens, event.t_ms);
      append_tail(agent.tail, event.reasoning);
      if (!event.text.empty() && !std::exchange(agent.has_text, true)) agent.tail.clear();
      append_tail(agent.tail, event.text);
      break;
    case EventType::kAgentPreempted:
      agent.stage = Stage::kWaiting;
      break;
    case EventType::kAgentFinished:
      count_tokens(state, agent, event.n_tokens, event.t_ms);
      finish(agent, Stage::kFinished, event);
      agent.note = event.code;  // the text of a finished agent is its answer, not news
      break;
    case EventType::kAgentFailed:
      finish(agent, Stage::kFailed, event);
      break;
    case EventType::kAgentSkipped:
      finish(agent, Stage::kSkipped, event);
      break;
    case EventType::kAgentCancelled:
      finish(agent, Stage::kCancelled, event);
      break;
    default:
      break;
  }
}

}  // namespace

double AgentProgress::tokens_per_s() const {
  const double ms = t_ms - first_token_ms;
  return ms > 0 && n_tokens > 1 ? 1000.0 * (n_tokens - 1) / ms : 0;
}

const AgentProgress* ProgressState::agent(const std::string& name) const {
  const auto found = agent_index.find(name);
  return found == agent_index.end() ? nullptr : &agents[found->second];
}

const DocumentProgress* ProgressState::document(const std::string& name, int reading) const {
  const auto found = document_index.find({name, reading});
  return found == document_index.end() ? nullptr : &documents[found->second];
}

int ProgressState::n_decoding() const {
  return static_cast<int>(std::count_if(agents.begin(), agents.end(), [](const AgentProgress& a) {
    return a.stage == Stage::kDecoding;
  }));
}

bool ProgressState::is_saving() const {
  const bool all_done =
      std::all_of(agents.begin(), agents.end(), [](const AgentProgress& a) { return a.done(); });
  return all_done && std::any_of(documents.begin(), documents.end(), [](const DocumentProgress& d) {
           return d.keeps && d.ready && d.n_computed() > 0 && !d.saved;
         });
}

double ProgressState::tokens_per_s() const {
  if (recent.size() < 2) return 0;
  const double ms = recent.back().first - recent.front().first;
  return ms > 0 ? 1000.0 * static_cast<double>(recent.back().second - recent.front().second) / ms
                : 0;
}

long ProgressState::n_cells_used() const {
  long n = 0;
  for (const DocumentProgress& document : documents) n += document.n_tokens;
  for (const AgentProgress& a : agents) {
    if (a.stage != Stage::kStarted && a.stage != Stage::kDecoding) continue;
    long n_own = a.n_own_max;
    for (const std::string& need : a.needs) {  // their answers were shorter than planned for
      const AgentProgress* other = a.inserts && need != a.continues ? agent(need) : nullptr;
      if (other != nullptr) n_own -= other->max_tokens - other->n_tokens;
    }
    n += std::max(0L, n_own) + a.n_tokens;
  }
  return n;
}

// Every agent that has begun to write found its documents in the cache, but for what was computed
// in this run.
long ProgressState::n_prompt_reused() const {
  long n = 0;
  for (const AgentProgress& a : agents) {
    if (a.first_token_ms > 0) n += a.n_prefix;
  }
  long n_computed = 0;
  for (const DocumentProgress& d : documents) n_computed += d.n_tokens - d.n_restored;
  return std::max(0L, n - std::max(0L, n_computed));
}

bool is_snapshot_news(EventType type) {
  return type == EventType::kSnapshotRestored || type == EventType::kSnapshotSaved ||
         type == EventType::kSnapshotRejected;
}

void apply(ProgressState& state, const Event& event) {
  state.t_ms = std::max(state.t_ms, event.t_ms);
  if (event.type == EventType::kDocumentProgress || event.type == EventType::kDocumentReady) {
    DocumentProgress& document = document_of(state, event);
    document.n_tokens = std::max(document.n_tokens, event.n_tokens);
    document.n_total = std::max({document.n_total, event.n_total, document.n_tokens});
    document.ms = event.ms;
    document.ready = document.ready || event.type == EventType::kDocumentReady;
    return;
  }
  if (is_snapshot_news(event.type)) return apply_snapshot(document_of(state, event), event);
  if (event.type == EventType::kWarning) {
    state.warnings.push_back(event.text);
    return;
  }
  const auto found = state.agent_index.find(event.name);
  if (found != state.agent_index.end()) apply_to_agent(state, state.agents[found->second], event);
}

}  // namespace swarmkv::cli
