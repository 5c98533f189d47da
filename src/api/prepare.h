// From a valid pipeline to token ids and numbers: what planning and running share.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "api/documents.h"
#include "engine/prompt.h"
#include "orchestrate/node_runner.h"
#include "pipeline/template.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

/// Documents in the order in which some agents read them, as token ids.
struct ReadList {
  std::vector<std::size_t> documents;  ///< indices into Prepared::documents
  PromptBuilder::Prefix prefix;
  std::vector<int> fork_points;  ///< document ends and everybody's early starts, ascending
  std::vector<int> readings;     ///< by document: which of its readings this is, from 0

  [[nodiscard]] int n_tokens() const { return static_cast<int>(prefix.tokens->size()); }
  /// Where document `i` of this list begins, with what is put in front of it.
  [[nodiscard]] int begin(std::size_t i) const { return i == 0 ? 0 : prefix.document_ends[i - 1]; }
  [[nodiscard]] int end(std::size_t i) const { return prefix.document_ends[i]; }
};

/// One agent, as far as it is known before anything runs.
struct PreparedAgent {
  Template prompt;
  std::string system;                    ///< its own, variables filled in
  std::size_t reads = 0;                 ///< index into Prepared::read_lists
  std::shared_ptr<const Tokens> prefix;  ///< of that list, up to its early start
  std::vector<int> fork_points;          ///< inside `prefix`
  std::optional<int> ready_after;        ///< document tokens it waits for, if not all
  Tokens own;  ///< behind the prefix, or the conversation it continues; with nothing inserted
  NodeId continues = -1;
  bool is_continued = false;
};

/// Kept next to each other so that tokens are the same in the plan and in the run. Immutable once
/// made: shared by plans and runs.
struct Prepared {
  std::shared_ptr<const Model> model;  ///< whose token ids these are
  Pipeline pipeline;                   ///< valid, with implied needs filled in
  std::vector<LoadedDocument> documents;
  std::unique_ptr<PromptBuilder> prompts;
  std::vector<ReadList> read_lists;
  std::vector<int> n_readings;  ///< by document: places in which agents read it
  std::vector<PreparedAgent> agents;
  std::vector<Plan::Agent> budget;  ///< by agent; functions need 0 tokens
  std::vector<Diagnostic> warnings;

  [[nodiscard]] const ReadList& reads_of(std::size_t agent) const {
    return read_lists[agents[agent].reads];
  }
  /// Whether the agent's first token is already part of its reasoning. JSON that follows a schema
  /// is never: its grammar has no room for thoughts and their closing mark.
  [[nodiscard]] bool opens_reasoning(std::size_t agent) const {
    return prompts->opens_reasoning() && pipeline.agents[agent].sampling.json_schema.empty();
  }
};

/// errors  kInvalidArgument (the pipeline is not valid), kUnreadable, kUnsupported
std::shared_ptr<const Prepared> prepare(std::shared_ptr<const Model> model, Pipeline pipeline,
                                        const RunOptions& options);

/// Fills `read_lists`, and of each agent what it reads and from where on it may start. Needs
/// everything above them. errors  kInvalidArgument  an early start at a text that no document holds
void prepare_prefixes(Prepared& prepared);

/// Fills `readings` of the lists and `n_readings`. Needs the lists.
void number_readings(Prepared& prepared);

/// The context budget: what does not fit, naming document and largest branch against the limit;
/// empty if all fits.
std::string misfit_of(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell);
/// errors  kDoesNotFit  the same as an exception
void check_budget(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell);

/// An agent's sampling as it will run: agents that share a seed get different ones, derived from
/// their names.
Sampling sampling_of(const AgentSpec& agent);

}  // namespace swarmkv::internal
