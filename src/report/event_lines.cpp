// Deltas are merged in windows: the first one that is held back opens a window of 50 ms, and what
// came in it is written when it closes, or before the next other event of its agent. So a line is
// at most that late, two deltas of an agent are never closer, and lines stand in the order of their
// times, because a delta bears the time at which its window closed.
#include <algorithm>
#include <utility>

#include "swarmkv/event.h"

namespace swarmkv {
namespace {

constexpr double kWindowMs = 50;

}  // namespace

std::string EventLines::line(Event event) {
  event.seq = n_lines_++;
  return to_json_line(event);
}

std::vector<Event>::iterator EventLines::held_of(const std::string& agent) {
  return std::find_if(held_.begin(), held_.end(),
                      [&agent](const Event& e) { return e.name == agent; });
}

void EventLines::hold(const Event& delta) {
  if (held_.empty()) held_since_ms_ = delta.t_ms;
  const auto same = held_of(delta.name);
  if (same == held_.end()) {
    held_.push_back(delta);
    return;
  }
  same->text += delta.text;
  same->reasoning += delta.reasoning;
  same->n_tokens = delta.n_tokens;
}

std::string EventLines::add(const Event& event) {
  std::string out;
  if (const auto due = due_ms(); due && event.t_ms >= *due) out = flush();
  if (event.type == EventType::kAgentDelta) {
    hold(event);
    return out;
  }
  if (event.type == EventType::kRunFinished) out += write_held(event.t_ms);
  if (const auto own = held_of(event.name); own != held_.end()) {
    own->t_ms = event.t_ms;
    out += line(std::move(*own));
    held_.erase(own);
  }
  return out += line(event);
}

std::optional<double> EventLines::due_ms() const {
  return held_.empty() ? std::nullopt : std::optional(held_since_ms_ + kWindowMs);
}

std::string EventLines::flush() { return write_held(held_since_ms_ + kWindowMs); }

std::string EventLines::write_held(double t_ms) {
  std::string out;
  for (Event& event : std::exchange(held_, {})) {
    event.t_ms = t_ms;
    out += line(std::move(event));
  }
  return out;
}

}  // namespace swarmkv
