// One idea: a document that was read once stays read, also for the next process.
//
//   first process     guide --prefilled--> KV state --> agents
//                                              \-> a file in the store
//   second process              the file --restored--> agents        nothing is prefilled
//
//   03_snapshot [MODEL.gguf] [FOLDER]       the model: argument, else SWARMKV_MODEL
//   03_snapshot --engine fake [FOLDER]      no model needed
//
// FOLDER is the store; without it one is made here and removed at the end. Run it twice with the
// same FOLDER: then the first half restores, too. The files hold the document in clear.
#include <swarmkv/swarmkv.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

namespace {

swarmkv::Pipeline guide_pipeline() {
  swarmkv::DocumentSpec guide;
  guide.name = "guide";
  guide.text.emplace();
  for (int chapter = 1; chapter <= 12; ++chapter) {
    *guide.text += "Chapter " + std::to_string(chapter) +
                   ". Read the manual before you use the machine, keep your hands away from what "
                   "moves, and switch it off before you open it.\n";
  }
  swarmkv::Pipeline pipeline = swarmkv::ask_pipeline(
      guide, {"What comes first?", "What must I keep away from?", "When may I open it?"});
  for (swarmkv::AgentSpec& agent : pipeline.agents) agent.max_tokens = 24;
  return pipeline;
}

// What a process of its own would do: load the model, make an engine, run, and end.
int run_once(const swarmkv::ModelOptions& model_options, const std::string& folder) {
  const swarmkv::Model model = swarmkv::Model::load(model_options);
  const swarmkv::Pipeline pipeline = guide_pipeline();

  swarmkv::RunOptions run;
  run.snapshot.use = "auto";  // look into the store first, save what had to be computed
  run.snapshot.folder = folder;
  run.snapshot.always_save = true;  // the guide is short: by itself it might not be worth a file

  swarmkv::EngineOptions options;
  const swarmkv::Plan plan = swarmkv::make_plan(model, pipeline, options, run);
  options.ctx_size = plan.ctx_size;
  options.parallel = plan.parallel;
  swarmkv::Engine engine(model, options);
  const swarmkv::RunReport report = engine.run(plan, run).wait();

  const swarmkv::DocumentReport& guide = report.documents.front();
  std::cout << guide.name << ": " << guide.computed_tokens << " of " << guide.n_tokens
            << " tokens computed";
  if (guide.snapshot) {
    std::cout << "; snapshot " << guide.snapshot->state << " (" << guide.snapshot->size_bytes
              << " bytes, " << guide.snapshot->ms << " ms)";
    if (guide.snapshot->reason) std::cout << ": " << *guide.snapshot->reason;
  }
  std::cout << '\n';
  for (const swarmkv::AgentReport& agent : report.agents) {
    std::cout << "  " << agent.name << ": " << swarmkv::fit_for_terminal(agent.text, 60) << '\n';
  }
  return report.exit_code;
}

int run(std::vector<std::string> arguments) {
  swarmkv::ModelOptions model;
  if (arguments.size() >= 2 && arguments[0] == "--engine") {
    model.engine = arguments[1];
    arguments.erase(arguments.begin(), arguments.begin() + 2);
  } else if (!arguments.empty()) {
    model.path = arguments[0];
    arguments.erase(arguments.begin());
  } else if (const char* path = std::getenv("SWARMKV_MODEL")) {
    model.path = path;
  }
  const bool is_own = arguments.empty();
  const std::string folder = is_own ? "swarmkv-example-snapshots" : arguments[0];

  int code = run_once(model, folder);
  if (code == 0) code = run_once(model, folder);

  for (const swarmkv::SnapshotInfo& info : swarmkv::SnapshotStore(folder).list()) {
    std::cout << info.name << ": " << info.n_tokens << " tokens of '" << info.document << "', "
              << info.size_bytes << " bytes\n";
  }
  if (is_own) std::filesystem::remove_all(folder);
  return code;
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
