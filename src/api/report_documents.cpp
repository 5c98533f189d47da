// What became of the documents: what was computed of each in each of its places, and when.
#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "api/build_report.h"

namespace swarmkv::internal {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// A reading, and what the report does not say about it. Times are ms since run clock 0.
struct Place {
  DocumentReading* reading = nullptr;
  double admitted_ms = kNever;  ///< the first agent that gets to it
  double began_ms = kNever;     ///< the first forward that computed a part of it
};

// By document and reading.
using Places = std::vector<std::vector<Place>>;

// The agent because of which there is a list: the first of the file that has these documents.
std::vector<std::string> readers_of(const Prepared& prepared) {
  std::vector<std::string> readers(prepared.read_lists.size());
  for (std::size_t i = 0; i < prepared.agents.size(); ++i) {
    const AgentSpec& spec = prepared.pipeline.agents[i];
    if (spec.function || prepared.agents[i].continues >= 0) continue;
    std::string& reader = readers[prepared.agents[i].reads];
    if (reader.empty()) reader = spec.name;
  }
  return readers;
}

Places add_readings(RunReport& report, const Prepared& prepared) {
  for (const LoadedDocument& document : prepared.documents) {
    DocumentReport& out = report.documents.emplace_back();
    out.name = document.name;
    out.digest = document.digest;
    out.source = "unread";
  }
  const std::vector<std::string> readers = readers_of(prepared);
  for (std::size_t l = 0; l < prepared.read_lists.size(); ++l) {
    const ReadList& list = prepared.read_lists[l];
    for (std::size_t d = 0; d < list.documents.size(); ++d) {
      std::vector<DocumentReading>& known = report.documents[list.documents[d]].readings;
      if (list.readings[d] < static_cast<int>(known.size())) continue;
      DocumentReading& reading = known.emplace_back();
      if (d > 0) reading.after = prepared.documents[list.documents[d - 1]].name;
      reading.reader = readers[l];
      reading.n_tokens = list.end(d) - list.begin(d);
    }
  }
  Places places;
  for (DocumentReport& document : report.documents) {
    std::vector<Place>& of_document = places.emplace_back();
    for (DocumentReading& reading : document.readings) of_document.push_back({&reading});
  }
  return places;
}

Place& place_in(Places& places, const ReadList& list, std::size_t d) {
  return places[list.documents[d]][static_cast<std::size_t>(list.readings[d])];
}

// Computed tokens may be more than there are: what left the cache was computed again.
void count_range(Places& places, const ReadList& list, const ComputedRange& range,
                 double began_ms) {
  const auto end =
      list.prefix.document_ends.begin() + static_cast<std::ptrdiff_t>(list.documents.size());
  const auto first = std::upper_bound(list.prefix.document_ends.begin(), end, range.begin);
  for (auto d = static_cast<std::size_t>(first - list.prefix.document_ends.begin());
       d < list.documents.size() && list.begin(d) < range.end; ++d) {
    Place& place = place_in(places, list, d);
    place.reading->computed_tokens +=
        std::min(range.end, list.end(d)) - std::max(range.begin, list.begin(d));
    place.reading->source = "computed";
    place.began_ms = std::min(place.began_ms, began_ms);
  }
}

// Each computed token belongs to one document: what stands in front of a document counts with it.
void count_agent(Places& places, const RunRecord& record, std::size_t agent) {
  const auto result = record.runner.record(static_cast<NodeId>(agent)).result;
  if (!result) return;
  const ReadList& list = record.prepared.reads_of(agent);
  const auto n_prefix = static_cast<int>(record.prepared.agents[agent].prefix->size());
  for (std::size_t d = 0; d < list.documents.size() && list.begin(d) < n_prefix; ++d) {
    Place& place = place_in(places, list, d);
    if (result->admitted) {
      place.admitted_ms =
          std::min(place.admitted_ms, ms_between(record.clock_zero, *result->admitted));
    }
    if (result->prefix_ready && place.reading->computed_tokens == 0) {
      place.reading->source = "cached";
    }
  }
  for (const ComputedRange& range : result->prefix_computed_ranges) {
    count_range(places, list, range, ms_between(record.clock_zero, range.began));
  }
}

// A document is worked at from when an agent that reads it was admitted, or from when what was
// computed before it was ready; where both were computed side by side, from its first forward on.
void add_prefill_times(std::vector<Place> computed) {
  std::sort(computed.begin(), computed.end(),
            [](const Place& a, const Place& b) { return a.began_ms < b.began_ms; });
  double ready_before = -kNever, ready_until_now = -kNever, began_ms = -kNever;
  for (const Place& place : computed) {
    DocumentReading& reading = *place.reading;
    if (place.began_ms > began_ms) ready_before = ready_until_now;
    began_ms = place.began_ms;
    ready_until_now = std::max(ready_until_now, reading.ready_ms.value_or(kNever));
    const double from = std::max(place.admitted_ms, std::min(began_ms, ready_before));
    if (!reading.ready_ms || from > *reading.ready_ms) continue;
    reading.prefill_ms = *reading.ready_ms - from;
    // Computed again later, it was not that fast.
    const int n = std::min(reading.computed_tokens, reading.n_tokens);
    if (*reading.prefill_ms > 0) reading.prefill_tokens_per_s = 1000.0 * n / *reading.prefill_ms;
  }
}

}  // namespace

void sum_up(DocumentReport& document) {
  const auto rank = [](const std::string& source) {
    return source == "restored" ? 3 : source == "computed" ? 2 : source == "cached" ? 1 : 0;
  };
  document.computed_tokens = document.restored_tokens = 0;
  const DocumentReading* first = nullptr;
  for (const DocumentReading& reading : document.readings) {
    document.computed_tokens += reading.computed_tokens;
    document.restored_tokens += reading.restored_tokens;
    if (rank(reading.source) > rank(document.source)) document.source = reading.source;
    const bool is_earlier = reading.ready_ms && (!first || *reading.ready_ms < *first->ready_ms);
    if (is_earlier) first = &reading;
  }
  if (!document.readings.empty()) document.n_tokens = document.readings.front().n_tokens;
  if (first == nullptr) return;
  document.ready_ms = first->ready_ms;
  document.prefill_ms = first->prefill_ms;
  document.prefill_tokens_per_s = first->prefill_tokens_per_s;
}

void add_documents(RunReport& report, const RunRecord& record) {
  Places places = add_readings(report, record.prepared);
  for (std::size_t i = 0; i < report.agents.size(); ++i) count_agent(places, record, i);
  for (DocumentReport& document : report.documents) {
    for (std::size_t i = 0; i < document.readings.size(); ++i) {
      const auto known = record.document_times.find({document.name, static_cast<int>(i)});
      if (known == record.document_times.end() || !known->second.ready) continue;
      document.readings[i].ready_ms = ms_between(record.clock_zero, *known->second.ready);
    }
  }
  std::vector<Place> computed;
  for (const std::vector<Place>& of_document : places) {
    for (const Place& place : of_document) {
      if (place.began_ms < kNever) computed.push_back(place);
    }
  }
  add_prefill_times(std::move(computed));
  for (DocumentReport& document : report.documents) sum_up(document);
}

}  // namespace swarmkv::internal
