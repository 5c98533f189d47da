// Tests that must hold for every kind of model.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "engine/types.h"

namespace swarmkv::internal {

inline auto every_fork_kind() {
  return ::testing::Values(ForkKind::kFull, ForkKind::kWindow, ForkKind::kRecurrent);
}

inline std::string fork_kind_name(const ::testing::TestParamInfo<ForkKind>& info) {
  switch (info.param) {
    case ForkKind::kFull:
      return "Full";
    case ForkKind::kWindow:
      return "Window";
    default:
      return "Recurrent";
  }
}

}  // namespace swarmkv::internal
