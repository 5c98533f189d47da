// The parts of a pipeline file, each from its YAML mapping into the public structs.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "pipeline/read_context.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

void read_model(const ReadContext& context, const Entry& entry, ModelSpec& model);

/// `document: PATH` or `document: { path: PATH }`
void read_document(const ReadContext& context, const Entry& entry, Pipeline& pipeline);
/// `documents: { NAME: PATH, ... }`
void read_documents(const ReadContext& context, const Entry& entry, Pipeline& pipeline);

/// Fills the sampling and limits of `defaults`, from which agents are copied.
void read_defaults(const ReadContext& context, const Entry& entry, AgentSpec& defaults);

/// What reading found out about the agents beyond their specs.
struct ReadNotes {
  std::vector<bool> prompt_is_broken;  ///< by agent; validation must not complain about it again
  std::size_t n_located = 0;           ///< template positions kept so far
};

/// Adds one agent to `pipeline.agents`.
void read_agent(const ReadContext& context, const Entry& entry, const AgentSpec& defaults,
                Pipeline& pipeline, ReadNotes& notes);

}  // namespace swarmkv::internal
