#include "cli/app.h"

int main(int argc, char** argv) {
  swarmkv::cli::prepare_process();
  return swarmkv::cli::run_app({argv + (argc > 0 ? 1 : 0), argv + argc},
                               swarmkv::cli::process_environment());
}
