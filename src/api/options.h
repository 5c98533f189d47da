// Engine options of the public API in the words of the engine seam.
#pragma once

#include "engine/model.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

/// errors  kInvalidArgument  naming the option, its value and what is allowed
ContextOptions context_options(const EngineOptions& options, const ModelInfo& model, int n_cells);
KvType kv_type(const std::string& name, const char* option);

/// Whether agents share forwards: not with the arms that each agent goes through alone, nor in
/// deterministic mode where that would change what they compute.
bool runs_together(const EngineOptions& options, const Model& model);

/// Most agents in one batch, and the sequence ids a context needs for them and for the prefixes
/// they share.
int parallel_limit(const EngineOptions& options, const ModelInfo& model);
int n_seq_max_for(int parallel);

}  // namespace swarmkv::internal
