// What a run tells of its snapshots while it goes on: events, and warnings for the report.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "api/snapshot_use.h"

namespace swarmkv::internal {

std::vector<std::string> SnapshotUse::names_of(std::size_t target) const {
  const SnapshotTarget& t = plan_.targets[target];
  return names_in(context_.prepared, t, t.n_tokens());
}

void SnapshotUse::warn(const char* code, std::string message, std::string hint) {
  warnings_.push_back({code, {}, {}, std::move(message), std::move(hint)});
}

void SnapshotUse::warn_not_used(const std::string& path, const std::string& reason,
                                const std::string& name, bool is_set_aside) {
  warn("SK607", fmt::format("snapshot '{}' is not used: {}", path, reason),
       is_set_aside ? "it was set aside as '" + name + ".damaged'" : "");
}

void SnapshotUse::send(EventType type, std::size_t target, int n_tokens, std::string text) {
  Event event = event_of(target, n_tokens);
  event.type = type;
  event.text = std::move(text);
  context_.bus->send(std::move(event));
}

// Of the first `n_tokens` of a target: it bears the name of the last document that ends in them, or
// of the first one.
Event SnapshotUse::event_of(std::size_t i, int n_tokens) const {
  const SnapshotTarget& target = plan_.targets[i];
  const Prepared& prepared = context_.prepared;
  const ReadList& list = prepared.read_lists[target.list];
  std::size_t last = target.document_ends.size() - 1;
  while (last > 0 && target.document_ends[last] > n_tokens) --last;
  const std::size_t document = list.documents[last];
  Event event;
  event.name = prepared.documents[document].name;
  event.n_tokens = n_tokens;
  event.n_total = target.n_tokens();
  event.reading = list.readings[last];
  if (last > 0 && prepared.n_readings[document] > 1) {
    event.after = prepared.documents[list.documents[last - 1]].name;
  }
  return event;
}

bool SnapshotUse::is_news(const std::string& path) {
  if (std::find(told_.begin(), told_.end(), path) != told_.end()) return false;
  told_.push_back(path);
  return true;
}

}  // namespace swarmkv::internal
