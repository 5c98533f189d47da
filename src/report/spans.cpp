#include "report/spans.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "report/readings.h"

namespace swarmkv::internal {
namespace {

// A report may be made by hand, and a picture must not be torn by one odd number in it.
std::optional<double> sane(const std::optional<double>& ms) {
  return ms && std::isfinite(*ms) ? std::optional(std::max(0.0, *ms)) : std::nullopt;
}

void add_phase(AgentSpans& out, const char* name, double begin, double end) {
  if (end > begin) out.phases.push_back({name, begin, end});
}

// As split by docs/metrics.md: document, queue, prefill and decode follow each other. What an agent
// was in when it ended lasts until then.
AgentSpans agent_spans(const AgentReport& a, double run_end) {
  AgentSpans out;
  const std::optional<double> enqueued = sane(a.enqueued_ms);
  if (!enqueued) return out;
  const double begin = *enqueued;
  const double end = std::max(begin, sane(a.finished_ms).value_or(run_end));
  if (a.kind != "llm") {
    out.phases.push_back({"function", begin, end});
    return out;
  }
  const auto limited = [&](const std::optional<double>& t, double from) {
    return std::clamp(sane(t).value_or(end), from, end);
  };
  // Without a document, or if it was restored by somebody else before, there is no wait for it.
  const bool waited = a.prefix_ready_ms || !a.reads.empty();
  const double ready = waited ? limited(a.prefix_ready_ms, begin) : begin;
  const double admitted = limited(a.admitted_ms, ready);
  const double first = limited(a.first_token_ms, admitted);
  add_phase(out, "document", begin, ready);
  add_phase(out, "queue", ready, admitted);
  add_phase(out, "prefill", admitted, first);
  add_phase(out, "decode", first, end);
  if (out.phases.empty()) out.phases.push_back({"decode", begin, end});

  if (sane(a.first_token_ms)) {
    double t = first;
    out.tokens_ms.push_back(t);
    for (const double gap : a.itl_samples_ms) {
      if (!std::isfinite(gap) || gap < 0) break;
      t += gap;
      out.tokens_ms.push_back(std::min(t, end));
    }
  }
  for (const double t : a.preempted_ms) {
    if (std::isfinite(t)) out.preempted_ms.push_back(std::clamp(t, begin, end));
  }
  return out;
}

template <typename Read>  // a document, or one of its readings
std::optional<Span> document_span(const Read& d) {
  const std::optional<double> took = sane(d.prefill_ms), ready = sane(d.ready_ms);
  if (!took || !ready || d.computed_tokens <= 0) return std::nullopt;
  return Span{"document", std::max(0.0, *ready - *took), *ready};
}

std::vector<std::pair<double, int>> decoding(const std::vector<AgentSpans>& agents) {
  std::map<double, int> changes;
  for (const AgentSpans& a : agents) {
    for (const Span& phase : a.phases) {
      if (std::string_view(phase.name) != "decode") continue;
      ++changes[phase.begin_ms];
      --changes[phase.end_ms];
    }
  }
  std::vector<std::pair<double, int>> out;
  int n = 0;
  for (const auto& [t, change] : changes) {
    if (change == 0) continue;
    n += change;
    out.emplace_back(t, n);
  }
  return out;
}

}  // namespace

RunSpans spans_of(const RunReport& report) {
  RunSpans out;
  out.end_ms = sane(report.duration_ms).value_or(0);
  for (const AgentReport& a : report.agents) {
    out.end_ms = std::max(out.end_ms, sane(a.finished_ms).value_or(0));
  }
  for (const AgentReport& a : report.agents) out.agents.push_back(agent_spans(a, out.end_ms));
  for (const DocumentReport& d : report.documents) {
    out.documents.push_back(document_span(d));
    std::vector<std::optional<Span>>& of_document = out.readings.emplace_back();
    for (const DocumentReading& r : shown_readings(d)) of_document.push_back(document_span(r));
  }
  out.decoding = decoding(out.agents);
  return out;
}

std::vector<std::size_t> needed_agents(const RunReport& report, std::size_t agent) {
  const AgentReport& a = report.agents[agent];
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    const std::string& name = report.agents[i].name;
    const bool needed = std::find(a.needs.begin(), a.needs.end(), name) != a.needs.end();
    if (i != agent && (needed || (!a.continues.empty() && a.continues == name))) out.push_back(i);
  }
  return out;
}

}  // namespace swarmkv::internal
