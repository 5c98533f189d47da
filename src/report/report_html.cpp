// The page is always the same; a run is data in it. The data stands in a script element that is not
// run, so nothing in it may end that element, and the page's own script makes text of it, never
// markup.
#include <algorithm>
#include <string>
#include <string_view>

#include "report/page_parts.h"
#include "report/report_json.h"
#include "report/spans.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

using internal::Json;
using internal::json_number;
using internal::Span;

// More marks than this cannot be told apart.
constexpr std::size_t kMostMarks = 4000;

Json span_json(const Span& span) {
  return Json::array({span.name, json_number(span.begin_ms), json_number(span.end_ms)});
}

Json times_json(const std::vector<double>& times) {
  const std::size_t step = 1 + times.size() / kMostMarks;
  Json out = Json::array();
  for (std::size_t i = 0; i < times.size(); i += step) out.push_back(json_number(times[i]));
  return out;
}

Json agent_json(const internal::AgentSpans& agent, std::vector<std::size_t> waits_for) {
  Json phases = Json::array();
  for (const Span& phase : agent.phases) phases.push_back(span_json(phase));
  return Json{{"phases", std::move(phases)},
              {"tokens", times_json(agent.tokens_ms)},
              {"preempted", times_json(agent.preempted_ms)},
              {"waits_for", std::move(waits_for)}};
}

Json timeline_json(const RunReport& report) {
  const internal::RunSpans spans = internal::spans_of(report);
  Json documents = Json::array(), agents = Json::array(), decoding = Json::array();
  Json readings = Json::array();
  const auto json_of = [](const std::optional<Span>& span) {
    return span ? span_json(*span) : Json(nullptr);
  };
  for (const auto& document : spans.documents) documents.push_back(json_of(document));
  for (const auto& of_document : spans.readings) {
    Json all = Json::array();
    for (const auto& reading : of_document) all.push_back(json_of(reading));
    readings.push_back(std::move(all));
  }
  for (std::size_t i = 0; i < spans.agents.size(); ++i) {
    agents.push_back(agent_json(spans.agents[i], internal::needed_agents(report, i)));
  }
  for (const auto& [t, n] : spans.decoding) decoding.push_back({json_number(t), n});
  return Json{{"end_ms", json_number(spans.end_ms)},
              {"documents", std::move(documents)},
              {"readings", std::move(readings)},
              {"agents", std::move(agents)},
              {"decoding", std::move(decoding)}};
}

// The gaps between tokens of all agents, for a picture of how they spread.
Json gaps_json(const RunReport& report) {
  std::vector<double> gaps;
  for (const AgentReport& a : report.agents) {
    gaps.insert(gaps.end(), a.itl_samples_ms.begin(), a.itl_samples_ms.end());
  }
  std::sort(gaps.begin(), gaps.end());
  return times_json(gaps);
}

// `<` could begin a tag or a comment; the two separators are line ends to some readers of scripts.
std::string without_markup(const std::string& json) {
  std::string out;
  out.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i) {
    const std::string_view three = std::string_view(json).substr(i, 3);
    if (json[i] == '<') {
      out += "\\u003c";
    } else if (three == "\xe2\x80\xa8" || three == "\xe2\x80\xa9") {
      out += three.back() == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += json[i];
    }
  }
  return out;
}

}  // namespace

std::string to_html(const RunReport& report) {
  Json path = Json::array();
  for (const double ms : report.critical_path_ms) path.push_back(json_number(ms));
  const Json data{{"report", internal::report_json(report)},
                  {"model_name", internal::json_text_or_null(report.model_name)},
                  {"timeline", timeline_json(report)},
                  {"gaps_ms", gaps_json(report)},
                  {"critical_path_ms", std::move(path)}};
  const internal::PageParts page = internal::page_parts();
  std::string out(page.before);
  out += without_markup(internal::json_dump(data, -1));
  out += page.after;
  return out;
}

}  // namespace swarmkv
