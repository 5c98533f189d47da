// Any bytes as a pipeline file: no crash, no exception, no hang, and the diagnostics can be
// printed. Lines that begin with "#set ", "#var ", "#select " or "#exclude " are also changes from
// outside; a file that is named with file:// holds its own path. What is accepted is rendered.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "pipeline/template.h"
#include "swarmkv/error.h"
#include "swarmkv/pipeline.h"

namespace {

std::pair<std::string, std::string> split(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return {std::string(text), ""};
  return {std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
}

swarmkv::PipelineChanges changes_in(std::string_view text) {
  swarmkv::PipelineChanges changes;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with("#set ")) {
      changes.sets.push_back(split(line.substr(5)));
    } else if (line.starts_with("#var ")) {
      changes.vars.push_back(split(line.substr(5)));
    } else if (line.starts_with("#select ")) {
      changes.select.emplace_back(line.substr(8));
    } else if (line.starts_with("#exclude ")) {
      changes.exclude.emplace_back(line.substr(9));
    }
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return changes;
}

// Of an answer that is not there, or not what was expected, a prompt may only complain.
void render(const swarmkv::Pipeline& pipeline) {
  for (const char* answer : {"", "{{ a }}", R"({"a": [{"b": "c"}, 1.50]})"}) {
    swarmkv::Answers answers;
    for (const swarmkv::AgentSpec& agent : pipeline.agents) answers[agent.name] = answer;
    for (const swarmkv::AgentSpec& agent : pipeline.agents) {
      const auto prompt = swarmkv::internal::Template::parse(agent.prompt);
      (void)prompt.render_without_answers(pipeline.vars);
      try {
        (void)prompt.render(answers, pipeline.vars);
      } catch (const swarmkv::Error& error) {
        if (error.code() != swarmkv::ErrorCode::kInvalidArgument) std::abort();
      }
      (void)swarmkv::internal::render_vars(agent.system, pipeline.vars);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  swarmkv::ParsedPipeline parsed = swarmkv::parse_pipeline(
      text, "fuzz.yaml", changes_in(text), [](const std::string& path) { return path; });
  const std::string printed = swarmkv::format(parsed.diagnostics);
  if (!parsed.ok() && printed.empty()) std::abort();
  // A file that was accepted stays accepted, and validating it again adds nothing.
  if (parsed.ok()) {
    for (const swarmkv::Diagnostic& diagnostic : swarmkv::validate(parsed.pipeline)) {
      if (diagnostic.severity == swarmkv::Diagnostic::Severity::kError) std::abort();
    }
    render(parsed.pipeline);
  }
  return 0;
}
