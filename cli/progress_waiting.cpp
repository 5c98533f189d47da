// What an agent waits for: others, what it reads, or room.
#include "cli/progress_render.h"

namespace swarmkv::cli {
namespace {

// Of an early start, as many tokens as it wants to see; else whole documents.
std::string missing_documents(const ProgressState& state, const AgentProgress& a) {
  std::string names;
  int n_there = 0;
  for (const auto& [name, reading] : a.reads) {
    const DocumentProgress* d = state.document(name, reading);
    if (d != nullptr) n_there += d->n_tokens;
    if (d != nullptr && d->ready) continue;
    names += (names.empty() ? "" : ", ") + (name == "document" ? "the " + name : name);
  }
  if (!a.ready_after) return names;
  if (a.n_prefix > 0 && n_there >= a.n_prefix) return "";
  return "the first " + with_commas(*a.ready_after) + " tokens";
}

}  // namespace

std::string waiting_text(const ProgressState& state, const AgentProgress& a) {
  std::string others;
  for (const std::string& need : a.needs) {
    const AgentProgress* other = state.agent(need);
    if (other == nullptr || other->done()) continue;
    others += (others.empty() ? "waits for " : ", ") + need;
  }
  if (!others.empty()) return others;
  if (!a.enqueued && !a.ready_after) return "waits";
  const std::string documents = missing_documents(state, a);
  return "waits for " + (documents.empty() ? "room" : documents);
}

}  // namespace swarmkv::cli
