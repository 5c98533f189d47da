// What the command line changes in a pipeline: values before the file is read, agents after it was
// checked.
#pragma once

#include <string>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/yaml_tree.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

/// Puts vars and sets into the tree, so that they go through the readers of the file. Answers what
/// stands for a place in diagnostics: of nodes of origin n the text n-1, "--set agents.a.seed=1".
std::vector<std::string> apply_changes(const PipelineChanges& changes, YamlTree& tree,
                                       DiagnosticList& diagnostics);

/// Leaves the agents that are selected and not excluded. Where an optional need goes, its default
/// takes its place in the prompt. `pipeline` must have been validated.
void select_agents(Pipeline& pipeline, const PipelineChanges& changes, DiagnosticList& diagnostics);

}  // namespace swarmkv::internal
