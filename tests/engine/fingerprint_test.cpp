#include "engine/fingerprint.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "base/digest.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

/// A folder of files that goes with the test.
class Fingerprint : public ::testing::Test {
 protected:
  Fingerprint()
      : folder_(fs::path(::testing::TempDir()) /
                ("swarmkv_fingerprint_" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Fingerprint() override { fs::remove_all(folder_); }

  GgufInfo write(const std::string& name, const std::string& content, int n_parts = 1) const {
    GgufInfo info;
    info.path = (folder_ / name).string();
    info.n_parts = n_parts;
    std::ofstream(info.path, std::ios::binary) << content;
    return info;
  }
  static std::string of(const GgufInfo& info) { return fingerprint(model_files(info)); }

  fs::path folder_;
};

TEST_F(Fingerprint, IsTheDigestOfAllBytesAndTheirNumber) {
  const std::string content(3'000'001, 'x');
  EXPECT_EQ(of(write("a.gguf", content)), digest128(content) + "-3000001");
}

TEST_F(Fingerprint, IsTheSameUnderAnotherNameAndAnotherForEveryByte) {
  const std::string first = of(write("a.gguf", "same content"));
  EXPECT_EQ(of(write("b.gguf", "same content")), first);
  EXPECT_NE(of(write("c.gguf", "same c0ntent")), first);
}

TEST_F(Fingerprint, IsNewForAFileThatWasWrittenAgain) {
  const GgufInfo info = write("a.gguf", "old");
  const std::string old = of(info);
  (void)write("a.gguf", "new");
  fs::last_write_time(info.path, fs::file_time_type::clock::now() + std::chrono::seconds(2));
  EXPECT_NE(of(info), old);
}

TEST_F(Fingerprint, IsNotReadTwice) {
  const auto files = model_files(write("a.gguf", "content"));
  const std::string first = fingerprint(files);
  fs::remove(files[0].path);
  EXPECT_EQ(fingerprint(files), first);
}

TEST_F(Fingerprint, OfAFileThatIsNoLongerTheOneThatWasLoadedIsRefused) {
  const auto refusal = [](const std::vector<ModelFile>& files) {
    try {
      return fingerprint(files);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnreadable);
      return std::string(error.what());
    }
  };
  const auto rewritten = model_files(write("a.gguf", "loaded content"));
  (void)write("a.gguf", "other");
  EXPECT_NE(refusal(rewritten).find("has changed since"), std::string::npos);
  const auto touched = model_files(write("b.gguf", "loaded content"));
  fs::last_write_time(touched[0].path, fs::file_time_type::clock::now() + std::chrono::seconds(2));
  EXPECT_NE(refusal(touched).find("has changed since"), std::string::npos);
  const auto removed = model_files(write("c.gguf", "loaded content c"));
  fs::remove(removed[0].path);
  EXPECT_NE(refusal(removed).find("c.gguf"), std::string::npos);
}

TEST_F(Fingerprint, CoversEveryPartOfASplitModel) {
  const GgufInfo first = write("m-00001-of-00002.gguf", "head", 2);
  (void)write("m-00002-of-00002.gguf", "tail");
  const std::string whole = of(first);
  EXPECT_EQ(whole, digest128("headtail") + "-8");
  fs::remove(folder_ / "m-00002-of-00002.gguf");
  EXPECT_THROW((void)model_files(first), Error);
}

}  // namespace
}  // namespace swarmkv::internal
