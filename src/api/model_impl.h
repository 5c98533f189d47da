#pragma once

#include <memory>
#include <string>

#include "engine/model.h"
#include "swarmkv/engine.h"

namespace swarmkv {

struct Model::Impl {
  std::shared_ptr<const internal::Model> model;
  ModelOptions options;
  double load_ms = 0;

  /// Empty where finding it would read more than 1 GiB, or the file is gone.
  [[nodiscard]] std::string quick_fingerprint() const;
};

}  // namespace swarmkv
