// One idea: a pipeline is plain data. Agents, functions and joins are nodes; needs are edges.
//
//               /-- first half --> kind
//   contract --|--> duties --> numbered (a C++ function) --\                        .
//               \-> risks (the memo can do without) --------+--> memo --> critic
//                                                                 (the memo's next turn)
//
//   02_pipeline [MODEL.gguf]        the model: argument, else SWARMKV_MODEL
//   02_pipeline --engine fake       no model needed
#include <swarmkv/swarmkv.h>

#include <chrono>
#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

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
  pipeline.vars["side"] = "the buyer";

  swarmkv::DocumentSpec contract;
  contract.name = "contract";
  contract.text =
      "The seller delivers the goods by the first of May. The buyer pays within thirty days. "
      "If the goods are late, the buyer may withdraw. Neither party is liable for storms.";
  pipeline.documents.push_back(contract);

  // Starts before the document is computed to its end, and sees only that part of it.
  swarmkv::AgentSpec kind = agent("kind", "What kind of text is this?");
  kind.ready_after.kind = swarmkv::ReadyAfter::Kind::kPercent;
  kind.ready_after.value = 50;
  kind.priority = 1;

  swarmkv::AgentSpec numbered;
  numbered.name = "numbered";
  numbered.needs = {"duties"};
  numbered.function = number_lines;

  swarmkv::AgentSpec risks = agent("risks", "What can go wrong for {{ vars.side }}?");
  risks.timeout = std::chrono::minutes(5);

  // What stands in {{ }} is needed without being said again. That the risks may be missing has to
  // be said, and the prompt has to say what stands for them.
  swarmkv::AgentSpec memo = agent("memo",
                                  "Duties:\n{{ numbered }}\nRisks:\n"
                                  "{{ risks | default('nobody has looked') }}\n"
                                  "Write a short memo for {{ vars.side }}.");
  memo.optional_needs = {"risks"};

  // Its contract, its prompt and its answer are in the cache already: only the question is new.
  swarmkv::AgentSpec critic = agent("critic", "Which sentence of your memo is the weakest?");
  critic.continues = "memo";

  pipeline.agents = {kind,     agent("duties", "List the duties of both parties, one a line."),
                     numbered, risks,
                     memo,     critic};
  return pipeline;
}

// Hears of everything as it happens, on a thread that holds up no forward. What it prints shows the
// order in which the graph is walked.
class Progress final : public swarmkv::Observer {
 public:
  void on_event(const swarmkv::Event& event) override {
    using Type = swarmkv::EventType;
    if (event.type == Type::kAgentDelta) return;  // a piece of text; there are many
    std::cerr << std::fixed << std::setprecision(1) << std::setw(9) << event.t_ms << " ms  "
              << swarmkv::to_string(event.type);
    if (!event.name.empty()) std::cerr << "  " << event.name;
    if (event.type == Type::kDocumentProgress) {
      std::cerr << "  " << event.n_tokens << " of " << event.n_total << " tokens";
    }
    if (event.type == Type::kAgentFailed || event.type == Type::kWarning) {
      std::cerr << "  " << swarmkv::escape_for_terminal(event.text);
    }
    std::cerr << '\n';
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

  // All mistakes at once, as for a file, and before a model is loaded for nothing.
  swarmkv::Pipeline pipeline = contract_review();
  const std::vector<swarmkv::Diagnostic> found = swarmkv::validate(pipeline);
  std::cerr << swarmkv::format(found);
  for (const swarmkv::Diagnostic& diagnostic : found) {
    if (diagnostic.severity == swarmkv::Diagnostic::Severity::kError) {
      return swarmkv::exit_code(swarmkv::ErrorCode::kInvalidArgument);
    }
  }

  const swarmkv::Model model = swarmkv::Model::load(options);
  swarmkv::EngineOptions engine_options;
  const swarmkv::Plan plan = swarmkv::make_plan(model, pipeline, engine_options);
  engine_options.ctx_size = plan.ctx_size;
  engine_options.parallel = plan.parallel;
  swarmkv::Engine engine(model, engine_options);
  swarmkv::RunOptions run_options;
  run_options.observers.push_back(std::make_shared<Progress>());

  const swarmkv::RunReport report = engine.run(plan, run_options).wait();

  for (const swarmkv::AgentReport& agent : report.agents) {
    std::cout << "# " << agent.name << '\n' << swarmkv::escape_for_terminal(agent.text) << "\n\n";
  }
  std::cout << swarmkv::to_table(report, false);
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
