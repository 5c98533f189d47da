// A folder of snapshots for one test, and runs that use it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "support/pipelines.h"
#include "support/temporary_folder.h"

namespace swarmkv::testing {

class SnapshotTest : public ::testing::Test {
 protected:
  [[nodiscard]] RunOptions with_store(std::shared_ptr<Observer> observer = {}) const {
    RunOptions options;
    options.snapshot.use = "auto";
    options.snapshot.folder = folder_.string();
    options.snapshot.always_save = true;
    if (observer != nullptr) options.observers.push_back(std::move(observer));
    return options;
  }

  /// Every file in the folder, sorted.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    if (!std::filesystem::exists(folder_)) return found;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  [[nodiscard]] std::filesystem::path only_file() const {
    const auto all = files();
    EXPECT_EQ(all.size(), 1u);
    return all.empty() ? std::filesystem::path() : all.front();
  }

  const internal::TemporaryFolder parent_;
  const std::filesystem::path folder_ = parent_ / "snapshots";  ///< not there before a run makes it
};

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// As damage happens: in place, with size and permissions as they were.
inline void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline std::vector<Tokens> answers_of(const RunReport& report) {
  std::vector<Tokens> all;
  for (const AgentReport& agent : report.agents) all.push_back(agent.token_ids);
  return all;
}

inline std::vector<Warning> warnings_with(const RunReport& report, const std::string& code) {
  std::vector<Warning> found;
  for (const Warning& warning : report.warnings) {
    if (warning.code == code) found.push_back(warning);
  }
  return found;
}

}  // namespace swarmkv::testing
