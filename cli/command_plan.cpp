#include <unistd.h>

#include "cli/commands.h"
#include "cli/execute.h"
#include "cli/inputs.h"
#include "cli/messages.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "cli/title.h"
#include "swarmkv/engine.h"
#include "swarmkv/error.h"

namespace swarmkv::cli {
namespace {

Plan plan_of(Pipeline pipeline, const Settings& settings, const Environment& environment) {
  const ModelChoice choice = choose_model(settings, pipeline, environment);
  override_pipeline(pipeline, settings);
  take_pipes(pipeline);
  ModelOptions options = model_options(settings, pipeline, choice);
  options.vocab_only = true;
  const Model model = Model::load(options);
  return draft_plan(model, pipeline, engine_options(settings, pipeline.model),
                    run_options(settings));
}

std::string written(const Plan& plan, const Settings& settings, bool color) {
  if (settings.output == "json") return to_json(plan);
  if (settings.output == "jsonl") return to_json_line(plan);
  if (settings.output == "dot") return to_dot(plan);
  if (settings.output == "mermaid") return to_mermaid(plan);
  return to_text(plan, color);
}

}  // namespace

int command_plan(const Settings& settings, const Invocation& invocation) {
  const std::string file = pipeline_file(settings);
  ParsedPipeline parsed =
      load_pipeline(file, settings.changes, schema_check(settings.engine), check_document);
  if (!accept(parsed.diagnostics, settings, invocation.events)) {
    return refusal_code(parsed.diagnostics);
  }
  Plan plan = plan_of(parsed.pipeline, settings, invocation.environment);
  plan.name = title_of(parsed.pipeline, file);
  const bool color = use_color(settings.color, invocation.environment, is_terminal(STDOUT_FILENO));
  write_all(STDOUT_FILENO, written(plan, settings, color), "standard output");
  if (!plan.misfit.empty()) {
    say_error(plan.misfit);
    return exit_code(ErrorCode::kDoesNotFit);
  }
  if (settings.strict && !plan.warnings.empty()) {
    say_error("warnings count as errors (--strict): " + plan.warnings.front().message);
    return 2;
  }
  return 0;
}

}  // namespace swarmkv::cli
