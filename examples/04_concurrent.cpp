// One idea: one engine serves many runs at once, and they share what they have in common.
//
//            /-> Ann's run:  question --> next question --> next question
//   guide --|--> Ben's run:  question --> next question
//           |                      (both at the same time, in the same batches)
//            \-> Cleo's run: question
//                                  (later; the guide is still in the cache)
//
// Each arrow between questions continues a conversation: everything said before is in the cache.
//
//   04_concurrent [MODEL.gguf]      the model: argument, else SWARMKV_MODEL
//   04_concurrent --engine fake     no model needed
#include <swarmkv/swarmkv.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace {

const char* const kGuide =
    "The museum is open from ten to six and closed on Mondays. The old lamps are on the ground "
    "floor, the lenses on the first, and the tower may be climbed by groups of up to twelve. "
    "A ticket costs nine euros, six for pupils. Dogs stay outside. The cafe closes at five.";

// A conversation is a chain of agents, each of which continues the one before.
swarmkv::Pipeline conversation(const std::string& visitor,
                               const std::vector<std::string>& questions) {
  swarmkv::DocumentSpec guide;
  guide.name = "guide";
  guide.text = kGuide;
  swarmkv::Pipeline pipeline = swarmkv::ask_pipeline(guide, questions);
  pipeline.name = visitor;
  for (std::size_t i = 0; i < pipeline.agents.size(); ++i) {
    pipeline.agents[i].max_tokens = 32;
    if (i > 0) pipeline.agents[i].continues = pipeline.agents[i - 1].name;
  }
  return pipeline;
}

void print(const swarmkv::RunReport& report) {
  for (const swarmkv::AgentReport& agent : report.agents) {
    std::cout << report.name << ' ' << agent.name << ": "
              << swarmkv::escape_for_terminal(agent.error.value_or(agent.text)) << "\n  ("
              << agent.prompt_tokens.value_or(0) << " prompt tokens, "
              << agent.cached_tokens.value_or(0) << " of them from the cache)\n";
  }
}

int run(int argc, char** argv) {
  swarmkv::ModelOptions model_options;
  if (argc > 2 && std::string(argv[1]) == "--engine") {
    model_options.engine = argv[2];
  } else if (argc > 1) {
    model_options.path = argv[1];
  } else if (const char* path = std::getenv("SWARMKV_MODEL")) {
    model_options.path = path;
  }
  const swarmkv::Model model = swarmkv::Model::load(model_options);

  const std::vector<swarmkv::Pipeline> pipelines = {
      conversation("Ann", {"When is it open?", "And on Mondays?", "Where do I eat until then?"}),
      conversation("Ben", {"What does a ticket cost?", "And for my daughter, who is at school?"}),
      conversation("Cleo", {"May I bring my dog?"})};

  // A plan says what one run needs. The pool is for all of them: the guide once, and everybody's
  // own cells.
  swarmkv::EngineOptions options;
  std::vector<swarmkv::Plan> plans;
  int n_guide = 0, n_own = 0, n_agents = 0;
  for (const swarmkv::Pipeline& pipeline : pipelines) {
    plans.push_back(swarmkv::make_plan(model, pipeline, options));
    const swarmkv::Plan& plan = plans.back();
    n_guide = std::max(n_guide, plan.n_document_tokens);
    n_own += plan.n_cells_concurrent - plan.n_document_tokens;
    n_agents += plan.parallel;
  }
  options.ctx_size = n_guide + n_own;
  options.parallel = n_agents;
  swarmkv::Engine engine(model, options);

  // run() returns at once; a run has a thread of its own that waits for answers. Cleo comes when
  // the others have left, and finds the guide where they left it.
  swarmkv::Run ann = engine.run(plans[0]);
  swarmkv::Run ben = engine.run(plans[1]);
  std::vector<swarmkv::RunReport> reports;
  reports.push_back(ann.wait());
  reports.push_back(ben.wait());
  reports.push_back(engine.run(plans[2]).wait());

  int n_computed = 0, exit_code = 0;
  for (const swarmkv::RunReport& report : reports) {
    print(report);
    for (const swarmkv::DocumentReport& document : report.documents) {
      n_computed += document.computed_tokens;
    }
    exit_code = std::max(exit_code, report.exit_code);
  }
  std::cout << "guide: " << n_guide << " tokens, computed "
            << static_cast<double>(n_computed) / n_guide << " times by " << reports.size()
            << " runs\n";
  return exit_code;
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
