// From a prompt with {{ agent }} in it to text: parsed once, rendered once for each agent.
#include <string>

#include "micro/counters.h"
#include "pipeline/template.h"

namespace swarmkv::internal {
namespace {

std::string filler(std::size_t n_bytes) {
  std::string text;
  while (text.size() < n_bytes) text += "It says {so} and so, and {then} some more of it.\n";
  text.resize(n_bytes);
  return text;
}

// Bounds what a hand-over adds between two agents: a long answer goes into a short prompt. Its
// bytes are copied once and never looked at.
void template_render(benchmark::State& state) {
  const auto n_bytes = static_cast<std::size_t>(state.range(0));
  const Template prompt = Template::parse("Somebody wrote:\n\n{{ reader }}\n\nWhat is missing?");
  const Answers answers{{"reader", filler(n_bytes)}};
  for (auto _ : state) {
    const std::string text = prompt.render(answers);
    if (text.size() < n_bytes) return state.SkipWithError("the answer is not in it");
    benchmark::DoNotOptimize(text.data());
  }
  report_per_item(state, "s_per_byte", static_cast<double>(n_bytes));
}
BENCHMARK(template_render)->Arg(1'000)->Arg(100'000)->Arg(10'000'000);

// Bounds a join: 1,000 short answers in one prompt, each looked up by name.
void template_render_join(benchmark::State& state) {
  constexpr int kAnswers = 1'000;
  std::string text;
  Answers answers;
  for (int i = 0; i < kAnswers; ++i) {
    const std::string name = "reader" + std::to_string(i);
    text += "- {{ " + name + " }}\n";
    answers[name] = "A sentence or two of what was found.";
  }
  const Template prompt = Template::parse(text);
  for (auto _ : state) benchmark::DoNotOptimize(prompt.render(answers));
  report_per_item(state, "s_per_answer", kAnswers);
}
BENCHMARK(template_render_join);

// Bounds the check of a long prompt: as long as a pipeline file can be, with single braces that are
// none of ours.
void template_parse(benchmark::State& state) {
  const std::string text = filler(1 << 20) + "{{ reader }}";
  for (auto _ : state) {
    const Template prompt = Template::parse(text);
    if (prompt.pieces().size() != 2) return state.SkipWithError("not a text and a reference");
  }
  report_per_item(state, "s_per_byte", static_cast<double>(text.size()));
}
BENCHMARK(template_parse);

}  // namespace
}  // namespace swarmkv::internal
