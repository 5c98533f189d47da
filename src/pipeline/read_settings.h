// The parts of a pipeline file, each from its YAML mapping into the public structs.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/prompt_positions.h"
#include "pipeline/read_context.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

void read_model(const ReadContext& context, const Entry& entry, ModelSpec& model);

/// What agents and `defaults` have in common. False if `entry` is none of it.
bool read_setting(const ReadContext& context, const Entry& entry, AgentSpec& agent);
/// Fills the settings of `defaults`, from which agents are copied.
void read_defaults(const ReadContext& context, const Entry& entry, AgentSpec& defaults);

/// What reading found out beyond the pipeline itself.
struct ReadNotes {
  std::string folder;                  ///< of the pipeline
  std::vector<bool> prompt_is_broken;  ///< by agent; validation must not complain about it again
  KeyPositions top_pos;       ///< "system", "system.{{0", "vars.buyer", "documents.contract"
  std::size_t n_located = 0;  ///< positions inside of texts and schemas kept so far
  /// What looks like an agent and stands where no agent may; reported, and read all the same, so
  /// that those who need it are not reported, too.
  std::vector<Entry> stray_agents;
  std::set<std::string>
      prompt_elsewhere;  ///< agents whose prompt stands at another level: reported
};

/// How many positions a file may be given in ReadNotes: aliases multiply texts and schemas.
inline constexpr std::size_t kMaxLocated = 50'000;

/// `document: PATH` or `document: { path: PATH }`
void read_document(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
                   ReadNotes& notes);
/// `documents: { NAME: PATH, ... }`
void read_documents(const ReadContext& context, const Entry& entry, Pipeline& pipeline,
                    ReadNotes& notes);

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

/// `agents: { NAME: AGENT, ... }`; `entry` is null if there is none, which is reported elsewhere.
void read_agents(const ReadContext& context, const Entry* entry, const AgentSpec& defaults,
                 Pipeline& pipeline, ReadNotes& notes);

/// Adds one agent to `pipeline.agents`.
void read_agent(const ReadContext& context, const Entry& entry, const AgentSpec& defaults,
                Pipeline& pipeline, ReadNotes& notes);

/// A mapping that has a prompt.
bool looks_like_agent(const ReadContext& context, const YamlNode& node);

}  // namespace swarmkv::internal
