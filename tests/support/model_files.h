// Where the fetched models are. A missing one makes the test fail, never skip.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace swarmkv::internal {

inline std::string env_path(const char* name) {
  const char* value = std::getenv(name);
  EXPECT_NE(value, nullptr) << name << " is not set: run the tests through ctest";
  return value != nullptr ? value : "";
}

inline std::string smollm2_path() { return env_path("SWARMKV_TEST_SMOLLM2"); }
inline std::string gemma3_path() { return env_path("SWARMKV_TEST_GEMMA3"); }
inline std::string tiny_path(const std::string& kind) {
  return env_path("SWARMKV_TEST_TINY_DIR") + "/" + kind + "-f32.gguf";
}

/// The licence text of the examples, or its first `n_bytes`.
inline std::string licence_text(std::size_t n_bytes = std::string::npos) {
  const std::filesystem::path path =
      std::filesystem::path(env_path("SWARMKV_TEST_SOURCE_DIR")) / "examples/documents/MPL-2.0.txt";
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  return text.substr(0, n_bytes);
}

}  // namespace swarmkv::internal
