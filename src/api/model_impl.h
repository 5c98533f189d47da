#pragma once

#include <memory>

#include "engine/model.h"
#include "swarmkv/engine.h"

namespace swarmkv {

struct Model::Impl {
  std::shared_ptr<const internal::Model> model;
  ModelOptions options;
  double load_ms = 0;
};

}  // namespace swarmkv
