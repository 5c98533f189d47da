#include <fmt/format.h>

#include <cmath>

#include "cli/progress_render.h"
#include "cli/snapshot_text.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

constexpr double kPrefillEveryMs = 2000;
constexpr std::size_t kTextColumns = 160;

std::string safe(const std::string& text) { return fit_for_terminal(text, kTextColumns); }

std::string stamped(const Event& event, const std::string& text) {
  return fmt::format("{:7.1f} s  {}", event.t_ms / 1000, text);
}

// "document contract"; one that is called document already says what it is.
std::string label(const Event& event) {
  if (!event.after.empty()) return "document " + safe(event.name + " after " + event.after);
  return event.name == "document" ? event.name : "document " + safe(event.name);
}

std::optional<std::string> prefill_line(const ProgressState& state, const Event& event,
                                        PlainMemory& memory) {
  // The last piece is told by the event that the document is ready.
  if (event.n_tokens <= 0 || event.n_tokens == event.n_total) return std::nullopt;
  const auto said = memory.last_prefill_ms.find({event.name, event.reading});
  if (said != memory.last_prefill_ms.end() && event.t_ms - said->second < kPrefillEveryMs) {
    return std::nullopt;
  }
  const DocumentProgress* d = state.document(event.name, event.reading);
  if (d == nullptr || d->ready) return std::nullopt;
  memory.last_prefill_ms[{event.name, event.reading}] = event.t_ms;
  const int percent = d->n_total > 0 ? static_cast<int>(100L * d->n_tokens / d->n_total) : 0;
  const auto per_s = static_cast<long>(std::lround(d->tokens_per_s()));
  return stamped(event, fmt::format("{}: {} of {} tokens ({} %){}", label(event),
                                    with_commas(d->n_tokens), with_commas(d->n_total), percent,
                                    per_s > 0 ? ", " + with_commas(per_s) + " tok/s" : ""));
}

std::string ready_line(const ProgressState& state, const Event& event) {
  const DocumentProgress* d = state.document(event.name, event.reading);
  if (d == nullptr) return stamped(event, label(event) + ": ready");
  return stamped(event, fmt::format("{}: ready, {} tokens", label(event), with_commas(d->n_total)));
}

// "document contract: restored 3,684 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)".
std::string snapshot_line(const Event& event) {
  return stamped(event, label(event) + ": " + safe(snapshot_news(event)));
}

// Only if it takes a while: where all is there the next line says that it started.
std::optional<std::string> waiting_line(const ProgressState& state, const Event& event) {
  const AgentProgress* agent = state.agent(event.name);
  if (agent == nullptr || agent->reads.empty()) return std::nullopt;
  const std::string text = waiting_text(state, *agent);
  if (text == "waits for room") return std::nullopt;
  return stamped(event, safe(event.name + ": " + text));
}

std::string started_line(const ProgressState& state, const Event& event) {
  const AgentProgress* agent = state.agent(event.name);
  std::string text = safe(event.name) + ": started";
  if (agent != nullptr && agent->ready_after) text += ", " + early_text(*agent->ready_after);
  return stamped(event, text);
}

std::string finished_line(const ProgressState& state, const Event& event) {
  const AgentProgress* agent = state.agent(event.name);
  const std::string how = event.code.empty() ? "" : " (" + safe(event.code) + ")";
  const int n_tokens = agent == nullptr ? event.n_tokens : agent->n_tokens;
  return stamped(event, fmt::format("{}: finished{}, {} tokens", safe(event.name), how,
                                    with_commas(n_tokens)));
}

std::string ended_line(const Event& event, const char* how) {
  return stamped(event, safe(event.name) + ": " + safe(ended_text(how, event.text)));
}

}  // namespace

std::string header_line(const ProgressState& state) {
  const std::size_t n = state.agents.size();
  std::string out = safe(state.title) + " \u00b7 " + safe(state.model);
  if (!state.device.empty()) out += " \u00b7 " + safe(state.device);
  if (n == 0) return out;
  return out + fmt::format(" \u00b7 {} {}", with_commas(static_cast<long>(n)),
                           n == 1 ? "agent" : "agents");
}

std::optional<std::string> plain_line(const ProgressState& state, const Event& event,
                                      PlainMemory& memory) {
  switch (event.type) {
    case EventType::kDocumentProgress:
      return prefill_line(state, event, memory);
    case EventType::kDocumentReady:
      return ready_line(state, event);
    case EventType::kSnapshotRestored:
    case EventType::kSnapshotSaved:
    case EventType::kSnapshotRejected:
      return snapshot_line(event);
    case EventType::kAgentEnqueued:
      return waiting_line(state, event);
    case EventType::kAgentStarted:
      return started_line(state, event);
    case EventType::kAgentPreempted:
      return stamped(event, safe(event.name) + ": preempted, will go on when there is room");
    case EventType::kAgentFinished:
      return finished_line(state, event);
    case EventType::kAgentFailed:
      return ended_line(event, "failed");
    case EventType::kAgentSkipped:
      return ended_line(event, "skipped");
    case EventType::kAgentCancelled:
      return ended_line(event, "cancelled");
    default:
      return std::nullopt;  // warnings stand in the final table
  }
}

std::string ended_text(const std::string& how, const std::string& why) {
  if (why.empty() || why.starts_with(how)) return why.empty() ? how : why;
  return how + ": " + why;
}

std::string early_text(int n_tokens) { return "first " + with_commas(n_tokens) + " tokens only"; }

std::string short_count(long n) {
  if (n < 10'000) return with_commas(n);
  if (n < 9'950'000) return fmt::format("{:.1f}k", static_cast<double>(n) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(n) / 1e6);
}

std::string with_commas(long n) {
  std::string digits = std::to_string(n);
  for (std::size_t i = digits.size(); i > (n < 0 ? 4U : 3U); i -= 3) digits.insert(i - 3, ",");
  return digits;
}

}  // namespace swarmkv::cli
