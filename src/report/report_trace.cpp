// Chrome's trace event format: one object with traceEvents, times in microseconds. Every document
// and every agent is a thread of one process, so that viewers give each a track; slices of a track
// lie inside each other by their times alone.
#include <algorithm>
#include <string>

#include "report/json_values.h"
#include "report/readings.h"
#include "report/spans.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using internal::AgentSpans;
using internal::Json;
using internal::json_text;
using internal::json_texts;
using internal::Span;

constexpr int kProcess = 1;

std::int64_t us(double ms) {
  constexpr double kMost = 9e15;  // what a viewer's numbers hold exactly
  return std::llround(std::min(ms * 1000, kMost));
}

class Trace {
 public:
  void name(const char* what, int track, const std::string& text) {
    add({{"ph", "M"},
         {"name", what},
         {"pid", kProcess},
         {"tid", track},
         {"args", {{"name", json_text(text)}}}});
  }
  void order(int track) {
    add({{"ph", "M"},
         {"name", "thread_sort_index"},
         {"pid", kProcess},
         {"tid", track},
         {"args", {{"sort_index", track}}}});
  }
  // The end is rounded, not the length: what ends together must do so in microseconds, too.
  void slice(int track, const std::string& name, const char* category, const Span& span,
             Json args = Json::object()) {
    const std::int64_t begin = us(span.begin_ms);
    add({{"ph", "X"},
         {"name", json_text(name)},
         {"cat", category},
         {"pid", kProcess},
         {"tid", track},
         {"ts", begin},
         {"dur", std::max<std::int64_t>(0, us(span.end_ms) - begin)},
         {"args", std::move(args)}});
  }
  void instant(int track, const char* name, const char* category, double ms) {
    add({{"ph", "i"},
         {"name", name},
         {"cat", category},
         {"pid", kProcess},
         {"tid", track},
         {"ts", us(ms)},
         {"s", "t"}});
  }
  void counter(const char* name, const char* key, double ms, int value) {
    add({{"ph", "C"},
         {"name", name},
         {"pid", kProcess},
         {"tid", 0},
         {"ts", us(ms)},
         {"args", {{key, value}}}});
  }
  // An arrow between two tracks; it ends at the slice that begins then.
  void arrow(int id, int from, double from_ms, int to, double to_ms) {
    const Json both{{"name", "answer"}, {"cat", "needs"}, {"id", id}, {"pid", kProcess}};
    Json begin = both, end = both;
    begin.update({{"ph", "s"}, {"tid", from}, {"ts", us(from_ms)}});
    end.update({{"ph", "f"}, {"bp", "e"}, {"tid", to}, {"ts", us(to_ms)}});
    add(std::move(begin));
    add(std::move(end));
  }
  [[nodiscard]] Json take() { return std::move(events_); }

 private:
  void add(Json event) { events_.push_back(std::move(event)); }

  Json events_ = Json::array();
};

const char* phase_label(const Span& phase) {
  const std::string_view name = phase.name;
  if (name == "document") return "wait for document";
  if (name == "queue") return "queued";
  return phase.name;
}

Json agent_args(const AgentReport& a) {
  return Json{{"status", to_string(a.status)},
              {"needs", json_texts(a.needs)},
              {"prompt_tokens", internal::json_count(a.prompt_tokens)},
              {"cached_tokens", internal::json_count(a.cached_tokens)},
              {"completion_tokens", internal::json_count(a.completion_tokens)},
              {"error", internal::json_text_or_null(a.error)}};
}

void add_agent(Trace& trace, int track, const AgentReport& a, const AgentSpans& spans) {
  trace.slice(track, a.name, "agent", {"", spans.begin_ms(), spans.end_ms()}, agent_args(a));
  for (const Span& phase : spans.phases) trace.slice(track, phase_label(phase), "phase", phase);
  for (std::size_t i = 0; i < spans.tokens_ms.size(); ++i) {
    trace.instant(track, i == 0 ? "first token" : "token", "token", spans.tokens_ms[i]);
  }
  for (const double t : spans.preempted_ms) trace.instant(track, "preempted", "preemption", t);
}

}  // namespace

std::string to_trace(const RunReport& report) {
  const internal::RunSpans spans = internal::spans_of(report);
  Trace trace;
  trace.name("process_name", 0, "swarmkv: " + report.name);
  int track = 0;
  const auto new_track = [&](const std::string& label) {
    trace.name("thread_name", ++track, label);
    trace.order(track);
    return track;
  };
  for (std::size_t i = 0; i < report.documents.size(); ++i) {
    const DocumentReport& d = report.documents[i];
    const std::vector<DocumentReading> readings = internal::shown_readings(d);
    for (std::size_t j = 0; j < readings.size(); ++j) {
      const std::string name = internal::reading_name(d, readings[j]);
      const int own = new_track("document " + name);
      if (!spans.readings[i][j]) continue;
      trace.slice(own, "prefill " + name, "document", *spans.readings[i][j],
                  {{"n_tokens", readings[j].n_tokens},
                   {"computed_tokens", readings[j].computed_tokens},
                   {"restored_tokens", readings[j].restored_tokens}});
    }
  }
  const int before_agents = track;
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    const int own = new_track(report.agents[i].name);
    if (spans.agents[i].began()) add_agent(trace, own, report.agents[i], spans.agents[i]);
  }
  int n_arrows = 0;
  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    if (!spans.agents[i].began()) continue;
    const int own = before_agents + 1 + static_cast<int>(i);
    for (const std::size_t from : internal::needed_agents(report, i)) {
      if (!spans.agents[from].began()) continue;
      trace.arrow(++n_arrows, before_agents + 1 + static_cast<int>(from),
                  spans.agents[from].end_ms(), own, spans.agents[i].begin_ms());
    }
  }
  trace.counter("decoding agents", "agents", 0, 0);
  for (const auto& [t, n] : spans.decoding) trace.counter("decoding agents", "agents", t, n);

  // The events come first: some viewers know the format by the first key.
  const Json json{{"traceEvents", trace.take()},
                  {"displayTimeUnit", "ms"},
                  {"otherData",
                   {{"schema", "swarmkv.trace/1"},
                    {"run_id", json_text(report.run_id)},
                    {"started_at", json_text(report.started_at)}}}};
  return internal::json_dump(json, -1);
}

}  // namespace swarmkv
