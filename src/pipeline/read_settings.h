// The parts of a pipeline file, each from its YAML mapping into the public structs.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/prompt_positions.h"
#include "pipeline/read_context.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

void read_model(const ReadContext& context, const Entry& entry, ModelSpec& model);

/// `document: PATH` or `document: { path: PATH }`
void read_document(const ReadContext& context, const Entry& entry, Pipeline& pipeline);
/// `documents: { NAME: PATH, ... }`
void read_documents(const ReadContext& context, const Entry& entry, Pipeline& pipeline);

/// What agents and `defaults` have in common. False if `entry` is none of it.
bool read_setting(const ReadContext& context, const Entry& entry, AgentSpec& agent);
/// Fills the settings of `defaults`, from which agents are copied.
void read_defaults(const ReadContext& context, const Entry& entry, AgentSpec& defaults);

/// What reading found out beyond the pipeline itself.
struct ReadNotes {
  std::string folder;                  ///< of the pipeline
  std::vector<bool> prompt_is_broken;  ///< by agent; validation must not complain about it again
  KeyPositions top_pos;                ///< "system", "system.{{0", "vars.buyer"
  std::size_t n_located = 0;           ///< template positions kept so far
};

/// `vars: { NAME: TEXT, ... }`
void read_vars(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
               ReadNotes& notes);

/// A name, { agent: NAME, required: false }, or a list of both.
void read_needs(const ReadContext& context, const Entry& entry, AgentSpec& agent);
/// Empty after an error.
std::optional<ReadyAfter> read_ready_after(const ReadContext& context, const Entry& entry);

/// Notes where each "{{" of `text`, the value of `entry`, stands: in the pipeline, or in the file
/// at `path`.
void locate_templates(const ReadContext& context, const Entry& entry, std::string_view text,
                      const std::string& path, KeyPositions& positions, ReadNotes& notes);

/// Adds one agent to `pipeline.agents`.
void read_agent(const ReadContext& context, const Entry& entry, const AgentSpec& defaults,
                Pipeline& pipeline, ReadNotes& notes);

}  // namespace swarmkv::internal
