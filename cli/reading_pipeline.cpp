#include "cli/reading_pipeline.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "cli/ask_document.h"
#include "cli/inputs.h"
#include "cli/options.h"

namespace swarmkv::cli {
namespace {

// What an agent has in front of its prompt, and nothing of what it does.
AgentSpec reader(const AgentSpec& agent, const ReadyAfter& ready_after) {
  AgentSpec out;
  out.prompt = "?";
  out.reads = agent.reads;
  out.ready_after = ready_after;
  out.max_tokens = 0;
  return out;
}

bool reads_documents(const AgentSpec& agent) { return !agent.reads || !agent.reads->empty(); }

// For each list of documents one that reads all of it. Early starts, and the system text alone of
// those who read nothing, are cuts of the computation, which deterministic mode looks for.
std::vector<AgentSpec> readers_of(const Pipeline& pipeline) {
  std::vector<AgentSpec> out;
  const auto add = [&out](AgentSpec one) {
    const auto same = std::find_if(out.begin(), out.end(), [&](const AgentSpec& other) {
      return other.reads == one.reads && other.ready_after == one.ready_after;
    });
    if (same == out.end()) out.push_back(std::move(one));
  };
  for (const AgentSpec& agent : pipeline.agents) {
    if (agent.function || !agent.continues.empty()) continue;
    add(reader(agent, {}));
    add(reader(agent, agent.ready_after));
  }
  return out;
}

// "reader_1", ...: other names than those of documents.
void name_all(std::vector<AgentSpec>& readers, const std::vector<DocumentSpec>& documents) {
  int n = 0;
  for (AgentSpec& one : readers) {
    const auto is_taken = [&one](const DocumentSpec& document) {
      return document.name == one.name;
    };
    do {
      one.name = "reader_" + std::to_string(++n);
    } while (std::any_of(documents.begin(), documents.end(), is_taken));
  }
}

// A run looks for what stands before the last document with a snapshot: what the pipeline says
// about that has to stay. A file that it names is read there, not made.
void choose_snapshots(std::vector<DocumentSpec>& documents) {
  const auto is_auto = [](const DocumentSpec& document) { return document.snapshot == "auto"; };
  const bool says_so = std::any_of(documents.begin(), documents.end(), is_auto);
  for (DocumentSpec& document : documents) {
    if (!says_so || is_snapshot_file(document.snapshot)) document.snapshot = "auto";
  }
}

}  // namespace

Pipeline reading_of_document(const std::string& file, const Settings& settings) {
  Pipeline pipeline = ask_pipeline(ask_document(file), {"?"});
  override_pipeline(pipeline, settings);
  pipeline.documents.front().snapshot = "auto";
  pipeline.agents.front().max_tokens = 0;
  take_pipes(pipeline);
  return pipeline;
}

Pipeline reading_of_pipeline(Pipeline pipeline, const Settings& settings) {
  override_pipeline(pipeline, settings);
  choose_snapshots(pipeline.documents);
  pipeline.agents = readers_of(pipeline);
  const bool any = std::any_of(pipeline.agents.begin(), pipeline.agents.end(), reads_documents);
  if (pipeline.documents.empty() || !any) {
    throw UsageError("'" + settings.arguments.front() + "': no agent reads a document");
  }
  name_all(pipeline.agents, pipeline.documents);
  take_pipes(pipeline);
  return pipeline;
}

}  // namespace swarmkv::cli
