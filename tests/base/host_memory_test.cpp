// What is free, on machines made of files.
#include "base/host_memory.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "support/temporary_folder.h"

namespace swarmkv::internal {
namespace {

class HostMemory : public ::testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const {
    const std::filesystem::path at = root_ / path;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  void machine(int free_kib) const {
    write("proc/meminfo", "MemTotal: 900 kB\nMemFree: 1 kB\nMemAvailable:   " +
                              std::to_string(free_kib) + " kB\nBuffers: 7 kB\n");
  }
  void container(const std::string& limit, int used) const {
    write("sys/fs/cgroup/memory.max", limit + "\n");
    write("sys/fs/cgroup/memory.current", std::to_string(used) + "\n");
    write("sys/fs/cgroup/memory.stat", "anon 5\nfile 3000\nshmem 1000\n");
  }
  [[nodiscard]] std::optional<std::uint64_t> available() const {
    return available_host_memory(root_.path());
  }

  const TemporaryFolder root_;
};

TEST_F(HostMemory, IsUnknownWhereNobodyTells) { EXPECT_EQ(available(), std::nullopt); }

TEST_F(HostMemory, IsTheMachines) {
  machine(500);
  EXPECT_EQ(available(), 500u * 1024);
  container("max", 400'000);
  EXPECT_EQ(available(), 500u * 1024) << "a container without a limit";
}

TEST_F(HostMemory, IsWhatTheContainerLeavesIfThatIsLess) {
  machine(500);
  container("100000", 40'000);
  EXPECT_EQ(available(), 100'000u - (40'000 - 2000)) << "pages of files make room when asked";
  container("100000", 200'000);
  EXPECT_EQ(available(), 0u) << "nothing, which is not unknown";
  container("9000000", 40'000);
  EXPECT_EQ(available(), 500u * 1024);
}

}  // namespace
}  // namespace swarmkv::internal
