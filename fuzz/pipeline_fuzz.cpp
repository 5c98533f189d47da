// Any bytes as a pipeline file: no crash, no exception, no hang, and the diagnostics can be
// printed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "swarmkv/pipeline.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  swarmkv::ParsedPipeline parsed = swarmkv::parse_pipeline(text, "fuzz.yaml");
  const std::string printed = swarmkv::format(parsed.diagnostics);
  if (!parsed.ok() && printed.empty()) std::abort();
  // A file that was accepted stays accepted, and validating it again adds nothing.
  if (parsed.ok()) {
    for (const swarmkv::Diagnostic& diagnostic : swarmkv::validate(parsed.pipeline)) {
      if (diagnostic.severity == swarmkv::Diagnostic::Severity::kError) std::abort();
    }
  }
  return 0;
}
