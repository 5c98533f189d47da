// From a valid pipeline to token ids and numbers: what planning and running share.
#pragma once

#include <memory>
#include <vector>

#include "api/documents.h"
#include "engine/prompt.h"
#include "pipeline/template.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

/// Kept next to each other so that tokens are the same in the plan and in the run. Immutable once
/// made: shared by plans and runs.
struct Prepared {
  std::shared_ptr<const Model> model;  ///< whose token ids these are
  Pipeline pipeline;                   ///< valid, with implied needs filled in
  std::vector<LoadedDocument> documents;
  std::unique_ptr<PromptBuilder> prompts;
  PromptBuilder::Prefix prefix;
  std::vector<Template> templates;  ///< by agent
  std::vector<Plan::Agent> budget;  ///< by agent; functions need 0 tokens
  std::vector<Diagnostic> warnings;
};

/// errors  kInvalidArgument (the pipeline is not valid), kUnreadable, kUnsupported
std::shared_ptr<const Prepared> prepare(std::shared_ptr<const Model> model, Pipeline pipeline,
                                        const RunOptions& options);

/// The context budget. errors  kDoesNotFit, naming document and largest branch against the limit
void check_budget(const Prepared& prepared, int n_cells, std::uint64_t kv_bytes_per_cell);

/// An agent's sampling as it will run: agents that share a seed get different ones, derived from
/// their names.
Sampling sampling_of(const AgentSpec& agent);

}  // namespace swarmkv::internal
