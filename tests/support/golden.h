// Comparison with a text that stands in tests/golden. SWARMKV_UPDATE_GOLDEN=1 writes what came out
// instead, for a person to look at in the diff.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace swarmkv::testing {

inline std::filesystem::path golden_path(const std::string& name) {
  const char* root = std::getenv("SWARMKV_TEST_SOURCE_DIR");
  return std::filesystem::path(root == nullptr ? "." : root) / "tests" / "golden" / name;
}

/// `name` is relative to tests/golden.
inline void expect_golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path = golden_path(name);
  if (std::getenv("SWARMKV_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << "no golden text at " << path;
  std::ostringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), actual) << "differs from " << path;
}

}  // namespace swarmkv::testing
