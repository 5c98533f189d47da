// One idea: a pipeline is plain data. Agents, functions and joins are nodes; needs are edges.
//
//               /-> duties (model) --> numbered (function) --\                 .
//   contract --|                                              >-> memo (join, model)
//               \-> risks  (model) --------------------------/
//
//   02_pipeline [MODEL.gguf]        the model: argument, else SWARMKV_MODEL
//   02_pipeline --engine fake       no model needed
#include <swarmkv/swarmkv.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>

namespace {

swarmkv::AgentSpec agent(const std::string& name, const std::string& prompt) {
  swarmkv::AgentSpec spec;
  spec.name = name;
  spec.prompt = prompt;
  spec.max_tokens = 64;
  return spec;
}

// An ordinary C++ function between two agents; it runs on a thread of its own pool.
std::string number_lines(const swarmkv::Answers& answers) {
  std::istringstream in(answers.at("duties"));
  std::string out, line;
  for (int n = 1; std::getline(in, line); ++n) out += std::to_string(n) + ". " + line + '\n';
  return out;
}

swarmkv::Pipeline contract_review() {
  swarmkv::Pipeline pipeline;
  pipeline.name = "contract-review";
  pipeline.system = "You review contracts. Be brief.";

  swarmkv::DocumentSpec contract;
  contract.name = "contract";
  contract.text =
      "The seller delivers the goods by the first of May. The buyer pays within thirty days. "
      "If the goods are late, the buyer may withdraw. Neither party is liable for storms.";
  pipeline.documents.push_back(contract);

  swarmkv::AgentSpec numbered;
  numbered.name = "numbered";
  numbered.needs = {"duties"};
  numbered.function = number_lines;

  pipeline.agents = {
      agent("duties", "List the duties of both parties, one a line."), numbered,
      agent("risks", "What can go wrong for the buyer?"),
      agent("memo", "Duties:\n{{ numbered }}\nRisks:\n{{ risks }}\nWrite a short memo.")};
  return pipeline;
}

// Hears of everything as it happens, on a thread that holds up no forward.
class Progress final : public swarmkv::Observer {
 public:
  void on_event(const swarmkv::Event& event) override {
    if (event.type == swarmkv::EventType::kAgentDelta) return;
    std::cerr << swarmkv::to_string(event.type) << ' ' << event.name << '\n';
  }
};

int run(int argc, char** argv) {
  swarmkv::ModelOptions options;
  if (argc > 2 && std::string(argv[1]) == "--engine") {
    options.engine = argv[2];
  } else if (argc > 1) {
    options.path = argv[1];
  } else if (const char* path = std::getenv("SWARMKV_MODEL")) {
    options.path = path;
  }
  const swarmkv::Model model = swarmkv::Model::load(options);
  swarmkv::Pipeline pipeline = contract_review();
  swarmkv::EngineOptions engine_options;
  const swarmkv::Plan plan = swarmkv::make_plan(model, pipeline, engine_options);
  engine_options.ctx_size = plan.ctx_size;
  engine_options.parallel = plan.parallel;
  swarmkv::Engine engine(model, engine_options);
  swarmkv::RunOptions run_options;
  run_options.observers.push_back(std::make_shared<Progress>());

  const swarmkv::RunReport report = engine.run(plan, run_options).wait();

  std::cout << swarmkv::escape_for_terminal(report.agents.back().text) << "\n\n"
            << swarmkv::to_table(report, false);
  return report.exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const swarmkv::Error& error) {
    std::cerr << error.what() << '\n';
    return swarmkv::exit_code(error.code());
  }
}
