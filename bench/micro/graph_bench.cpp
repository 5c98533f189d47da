// Checking a pipeline that was built in C++: names, needs, templates, circles.
#include <optional>

#include "micro/counters.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

std::string name_of(int i) { return "agent" + std::to_string(i); }

Pipeline empty_pipeline(int n_agents) {
  Pipeline pipeline;
  DocumentSpec document;
  document.name = "doc";
  document.text = "The document.";
  pipeline.documents.push_back(std::move(document));
  pipeline.agents.resize(static_cast<std::size_t>(n_agents));
  for (int i = 0; i < n_agents; ++i) {
    AgentSpec& agent = pipeline.agents[static_cast<std::size_t>(i)];
    agent.name = name_of(i);
    agent.prompt = "Say it in other words.";
  }
  return pipeline;
}

// Its needs stand in its prompt alone, so that validation has to find and add them.
void add_need(Pipeline& pipeline, int from, int to) {
  pipeline.agents[static_cast<std::size_t>(from)].prompt += " {{ " + name_of(to) + " }}";
}

void validate_all(benchmark::State& state, const Pipeline& pipeline, int n_needs) {
  std::optional<Pipeline> fresh;
  for (auto _ : state) {
    state.PauseTiming();
    fresh = pipeline;
    state.ResumeTiming();
    const auto diagnostics = validate(*fresh);
    if (!diagnostics.empty()) return state.SkipWithError(diagnostics.front().message.c_str());
  }
  internal::report_per_item(state, "s_per_agent", static_cast<double>(pipeline.agents.size()));
  internal::report_per_item(state, "s_per_need", n_needs);
}

// Bounds the start of a run whose agents follow each other: as deep as a graph can be, so this is
// also where recursion would end the process. Linear.
void validate_chain(benchmark::State& state) {
  const auto n_agents = static_cast<int>(state.range(0));
  Pipeline pipeline = empty_pipeline(n_agents);
  for (int i = 1; i < n_agents; ++i) add_need(pipeline, i, i - 1);
  validate_all(state, pipeline, n_agents - 1);
}
BENCHMARK(validate_chain)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

// Bounds the start of a run with waves: 300 layers of 300 agents, each needs three of the layer
// above. There are 3^299 ways through it, so a check that follows ways instead of agents would
// show.
void validate_layers(benchmark::State& state) {
  constexpr int kLayers = 300, kWidth = 300, kNeeds = 3;
  Pipeline pipeline = empty_pipeline(kLayers * kWidth);
  for (int i = kWidth; i < kLayers * kWidth; ++i) {
    const int above = (i / kWidth - 1) * kWidth;
    for (int k = 0; k < kNeeds; ++k) add_need(pipeline, i, above + (i + k * 7) % kWidth);
  }
  validate_all(state, pipeline, (kLayers - 1) * kWidth * kNeeds);
}
BENCHMARK(validate_layers)->Unit(benchmark::kMillisecond);

// Bounds a join of everything: 300 agents that all need the same 300, 90,000 needs.
void validate_all_to_all(benchmark::State& state) {
  constexpr int kWidth = 300;
  Pipeline pipeline = empty_pipeline(2 * kWidth);
  for (int i = kWidth; i < 2 * kWidth; ++i) {
    for (int k = 0; k < kWidth; ++k) add_need(pipeline, i, k);
  }
  validate_all(state, pipeline, kWidth * kWidth);
}
BENCHMARK(validate_all_to_all)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swarmkv
