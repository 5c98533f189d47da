// From engine options to whoever runs the requests, with its first context.
#pragma once

#include <memory>

#include "schedule/request_runner.h"
#include "swarmkv/engine.h"

namespace swarmkv::internal {

/// errors  kInvalidArgument, kUnsupported, kDoesNotFit (memory)
std::unique_ptr<RequestRunner> make_runner(const swarmkv::Model& model,
                                           const EngineOptions& options);

}  // namespace swarmkv::internal
