// The checks behind the public validate(), with what only the YAML reader knows.
#pragma once

#include <string>
#include <vector>

#include "pipeline/diagnostic_list.h"
#include "pipeline/prompt_positions.h"
#include "swarmkv/pipeline.h"

namespace swarmkv::internal {

struct ValidateOptions {
  std::vector<bool> prompt_is_broken = {};  ///< by agent: already reported; may be shorter
  bool from_file = false;         ///< what the reader checks is reported: no agents, names of vars
  KeyPositions top_pos = {};      ///< of the shared system text and its templates, and of vars
  SchemaCheck check_schema = {};  ///< may be empty
};

/// Adds implied needs to `pipeline` and all problems to `diagnostics`.
void validate_into(Pipeline& pipeline, const ValidateOptions& options, DiagnosticList& diagnostics);

// Its parts, in the order they run.
void check_documents(const Pipeline& pipeline, DiagnosticList& diagnostics);
void check_names(const Pipeline& pipeline, DiagnosticList& diagnostics);
void check_model(const ModelSpec& model, DiagnosticList& diagnostics);
void check_ranges(const AgentSpec& agent, DiagnosticList& diagnostics);
void check_reads(const Pipeline& pipeline, DiagnosticList& diagnostics);
void check_output_files(const Pipeline& pipeline, DiagnosticList& diagnostics);
void check_circles(const Pipeline& pipeline, DiagnosticList& diagnostics);

/// Of documents that a file names; `top_pos` knows where ("documents.contract").
void check_document_files(const Pipeline& pipeline, const DocumentCheck& check,
                          const KeyPositions& top_pos, DiagnosticList& diagnostics);

/// Texts that agents start before; reads the documents that such agents have.
void check_ready_after(const Pipeline& pipeline, DiagnosticList& diagnostics);

}  // namespace swarmkv::internal
