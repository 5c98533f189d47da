#include "engine/llama_engine.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {

std::shared_ptr<const Model> load_llama_model(const LlamaModelOptions& options) {
  throw Error(ErrorCode::kUnsupported, "[engine.load] cannot load '" + options.path +
                                           "': this program was built without llama.cpp");
}

std::optional<LlamaOutlook> llama_outlook(const std::string&) { return std::nullopt; }

void check_llama_schema(const std::string&) {}

std::string llama_version() { return "none"; }

}  // namespace swarmkv::internal
