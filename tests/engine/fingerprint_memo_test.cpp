// Fingerprints that outlive a process: found again for the very same files, and for no others.
#include "engine/fingerprint_memo.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "support/temporary_folder.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kHour = std::int64_t{3600} * 1'000'000'000;

class Memo : public ::testing::Test {
 protected:
  std::vector<ModelFile> write(const std::string& name, const std::string& content) const {
    GgufInfo info;
    info.path = (folder_ / name).string();
    std::ofstream(info.path, std::ios::binary) << content;
    return model_files(info);
  }
  [[nodiscard]] std::string memo_folder() const { return (folder_ / "cache").string(); }
  [[nodiscard]] fs::path only_file() const {
    fs::path found;
    for (const auto& entry : fs::directory_iterator(memo_folder())) {
      EXPECT_TRUE(found.empty()) << "more than one file";
      found = entry.path();
    }
    return found;
  }

  const TemporaryFolder temporary_;
  const fs::path folder_ = temporary_.path();
};

std::string text_of(const std::string& content) {
  return digest128(content) + "-" + std::to_string(content.size());
}
std::int64_t later(const std::vector<ModelFile>& files) { return files[0].ctime_ns + kHour; }

TEST_F(Memo, IsFoundAgainByAnotherProcess) {
  const auto files = write("a.gguf", "content");
  EXPECT_FALSE(FingerprintMemo(memo_folder()).find(files));
  FingerprintMemo(memo_folder()).remember(files, text_of("content"), later(files));
  EXPECT_EQ(FingerprintMemo(memo_folder()).find(files), text_of("content"));
}

TEST_F(Memo, NoticesWeightsThatWereReplacedWithSizeAndTimeKept) {
  const auto files = write("a.gguf", "weights 1");
  const FingerprintMemo memo(memo_folder());
  memo.remember(files, text_of("weights 1"), later(files));
  struct stat old {};
  ASSERT_EQ(::stat(files[0].path.c_str(), &old), 0);
  (void)write("a.gguf", "weights 2");
  const timespec times[2] = {old.st_atim, old.st_mtim};
  ASSERT_EQ(::utimensat(AT_FDCWD, files[0].path.c_str(), times, 0), 0);

  GgufInfo info;
  info.path = files[0].path;
  const auto now = model_files(info);

  EXPECT_EQ(now[0].size_bytes, files[0].size_bytes);
  EXPECT_EQ(now[0].mtime_ns, files[0].mtime_ns);
  EXPECT_FALSE(memo.find(now));
  EXPECT_EQ(fingerprint(now), text_of("weights 2"));
}

TEST_F(Memo, DoesNotRememberAFileThatMayChangeWithinItsOwnTimeStamp) {
  const auto files = write("a.gguf", "content");
  const FingerprintMemo memo(memo_folder());
  memo.remember(files, text_of("content"), files[0].ctime_ns + 1'999'999'999);
  EXPECT_FALSE(memo.find(files));
  memo.remember(files, text_of("content"), files[0].ctime_ns + 2'000'000'000);
  EXPECT_TRUE(memo.find(files));
}

TEST_F(Memo, DamageCostsReadingAgainAndNothingElse) {
  const auto files = write("a.gguf", "content");
  const FingerprintMemo memo(memo_folder());
  memo.remember(files, text_of("content"), later(files));
  const fs::path file = only_file();
  std::ifstream in(file, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t n = 0; n < whole.size(); ++n) {
    std::ofstream(file, std::ios::binary) << whole.substr(0, n);
    EXPECT_FALSE(memo.find(files)) << "cut at " << n;
  }
  std::ofstream(file, std::ios::binary) << std::string(5000, 'f');
  EXPECT_FALSE(memo.find(files));
  std::ofstream(file, std::ios::binary) << whole;
  EXPECT_TRUE(memo.find(files));
}

TEST_F(Memo, LivesWithoutAFolderItCanWrite) {
  const auto files = write("a.gguf", "content");
  const std::string taken = (folder_ / "file").string();
  std::ofstream(taken) << "no folder";
  for (const std::string& folder : {std::string(), taken, taken + "/below"}) {
    const FingerprintMemo memo(folder);
    memo.remember(files, text_of("content"), later(files));
    EXPECT_FALSE(memo.find(files));
  }
}

TEST_F(Memo, DoesNotGrowForEver) {
  const FingerprintMemo memo(memo_folder());
  std::vector<ModelFile> last;
  for (int i = 0; i < 80; ++i) {
    last = write("m" + std::to_string(i), "content");
    memo.remember(last, text_of("content"), later(last));
  }
  const auto n = std::distance(fs::directory_iterator(memo_folder()), fs::directory_iterator());
  EXPECT_EQ(n, 64);
  EXPECT_TRUE(memo.find(last));
}

TEST_F(Memo, IsAskedBeforeAModelIsRead) {
  const char* before = std::getenv("SWARMKV_CACHE");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("SWARMKV_CACHE", memo_folder().c_str(), 1);
  const auto files = write("a.gguf", "content");
  const std::string planted = text_of("another");
  FingerprintMemo(memo_folder() + "/fingerprints").remember(files, planted, later(files));
  EXPECT_EQ(fingerprint(files), planted) << "it was read all the same";
  before == nullptr ? ::unsetenv("SWARMKV_CACHE") : ::setenv("SWARMKV_CACHE", old.c_str(), 1);
}

}  // namespace
}  // namespace swarmkv::internal
