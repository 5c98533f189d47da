// One idea: a document is read once, however many questions are asked about it.
//
//                    /-> "What may I do?"     --> answer
//   licence text ---|
//    (prefilled      \-> "What must I do?"    --> answer
//     once)           \-> "What is excluded?" --> answer
//
//   01_ask [MODEL.gguf] [DOCUMENT [QUESTION...]]     the model: argument, else SWARMKV_MODEL
//   01_ask --engine fake [DOCUMENT [QUESTION...]]    no model needed; the answers are nonsense, the
//                                                    sharing is real
#include <swarmkv/swarmkv.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace {

// Takes what names the model away from the front of `arguments`.
swarmkv::ModelOptions model_from(std::vector<std::string>& arguments) {
  swarmkv::ModelOptions options;
  if (arguments.size() >= 2 && arguments[0] == "--engine") {
    options.engine = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  } else if (!arguments.empty()) {
    options.path = arguments[0];
    arguments.erase(arguments.begin());
  } else if (const char* path = std::getenv("SWARMKV_MODEL")) {
    options.path = path;
  }
  return options;
}

int run(std::vector<std::string> arguments) {
  const swarmkv::Model model = swarmkv::Model::load(model_from(arguments));

  swarmkv::DocumentSpec document;
  document.name = "licence";
  if (arguments.empty()) {
    document.text =
        "You may copy this text. You must keep this notice. There is no warranty of any kind.";
  } else {
    document.path = arguments[0];
    arguments.erase(arguments.begin());
  }
  if (arguments.empty()) arguments = {"What may I do?", "What must I do?", "What is excluded?"};

  swarmkv::Pipeline pipeline = swarmkv::ask_pipeline(document, arguments);
  for (swarmkv::AgentSpec& agent : pipeline.agents) agent.max_tokens = 48;

  // The plan knows before anything runs how many cells all of that takes.
  swarmkv::EngineOptions options;
  const swarmkv::Plan plan = swarmkv::make_plan(model, pipeline, options);
  options.ctx_size = plan.ctx_size;
  options.parallel = plan.parallel;
  swarmkv::Engine engine(model, options);

  const swarmkv::RunReport report = engine.run(plan).wait();

  for (std::size_t i = 0; i < report.agents.size(); ++i) {
    const swarmkv::AgentReport& agent = report.agents[i];
    std::cout << "# " << arguments[i] << '\n';
    // An agent that failed has no answer but a reason.
    std::cout << swarmkv::escape_for_terminal(agent.error.value_or(agent.text)) << "\n  ("
              << agent.prompt_tokens.value_or(0) << " prompt tokens, "
              << agent.cached_tokens.value_or(0) << " of them from the shared cache)\n\n";
  }
  std::cout << "prompt tokens asked " << report.prompt_tokens << ", computed "
            << report.prompt_tokens_computed << ", reused " << report.prompt_tokens_reused << '\n';
  return report.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const swarmkv::Error& error) {
    std::cerr << error.what() << '\n';
    return swarmkv::exit_code(error.code());
  }
}
