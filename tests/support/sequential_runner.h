// What a pipeline must answer, computed the slow and plain way: agents in topological order, each
// alone in a fresh context, its prompt put together by hand. Shares no scheduler, tree,
// orchestrator, template or prompt code.
#pragma once

#include <map>
#include <string>

#include "engine/fake/fake_options.h"
#include "swarmkv/pipeline.h"
#include "swarmkv/report.h"

namespace swarmkv::testing {

struct PlainAnswer {
  AgentStatus status = AgentStatus::kSkipped;
  std::string text;
  Tokens tokens;
  Tokens prompt;  ///< what it was asked, for those that continue it
};

/// By agent name. Needs must be listed explicitly in `needs`, `continues` among them; prompts may
/// hold
/// "{{ name }}" and "{{ name | default('none') }}" spelled exactly so.
std::map<std::string, PlainAnswer> run_plainly(const Pipeline& pipeline,
                                               const internal::FakeOptions& model);

}  // namespace swarmkv::testing
