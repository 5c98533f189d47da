// Loading: what is told about a model, and every file that is none.
#include <sys/resource.h>
#include <sys/stat.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>

#include "engine/gguf.h"
#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

namespace fs = std::filesystem;

class TempFile {
 public:
  explicit TempFile(const std::string& name)
      : path_(fs::path(testing::TempDir()) / ("swarmkv_" + std::to_string(::getpid()) + name)) {}
  ~TempFile() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] std::string path() const { return path_.string(); }
  void write(const std::string& bytes) const { std::ofstream(path_, std::ios::binary) << bytes; }

 private:
  fs::path path_;
};

std::string first_bytes(const std::string& path, std::uint64_t n) {
  std::string bytes(n, '\0');
  std::ifstream(path, std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(n));
  return bytes;
}

void expect_load_error(const std::string& path, ErrorCode code, const std::string& part) {
  const auto start = std::chrono::steady_clock::now();
  expect_error(code, part, [&] { (void)load_model(path); });
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(2)) << path;
}

TEST(EngineLoad, DescribesTheModel) {
  const ModelInfo& info = smollm2()->info();
  EXPECT_EQ(info.arch, "llama");
  EXPECT_EQ(info.quant, "Q4_1");
  EXPECT_EQ(info.n_vocab, 49152);
  EXPECT_EQ(info.n_layers, 30);
  EXPECT_EQ(info.n_ctx_train, 8192);
  EXPECT_EQ(info.n_swa, 0);
  EXPECT_EQ(info.fork_kind, ForkKind::kFull);
  EXPECT_TRUE(info.has_chat_template);
  EXPECT_TRUE(info.can_generate);
  EXPECT_NEAR(static_cast<double>(info.n_params), 134.5e6, 1e6);
  EXPECT_GT(info.size_bytes, 90'000'000u);
}

TEST(EngineLoad, TellsTheSameFromTheVocabularyAlone) {
  LlamaModelOptions options;
  options.path = required_environment("SWARMKV_TEST_SMOLLM2");
  options.vocab_only = true;
  const auto model = load_llama_model(options);
  const ModelInfo &info = model->info(), &full = smollm2()->info();
  EXPECT_EQ(info.n_vocab, full.n_vocab);
  EXPECT_EQ(info.n_layers, full.n_layers);
  EXPECT_EQ(info.n_ctx_train, full.n_ctx_train);
  EXPECT_EQ(info.n_params, full.n_params);
  EXPECT_EQ(info.fork_kind, full.fork_kind);
  EXPECT_EQ(info.kv_bytes_per_token, full.kv_bytes_per_token);
  EXPECT_EQ(model->tokenize("same ids", SpecialTokens::kPlainText),
            smollm2()->tokenize("same ids", SpecialTokens::kPlainText));
  expect_error(ErrorCode::kUnsupported, "without its weights",
               [&] { (void)model->make_context(small_context()); });
}

TEST(EngineLoad, NamesFilesThatCannotBeRead) {
  expect_load_error("no-such-model.gguf", ErrorCode::kUnreadable, "no such file");
  expect_load_error(testing::TempDir(), ErrorCode::kUnreadable, "a directory");
}

TEST(EngineLoad, NamesFilesThatAreNoModels) {
  const TempFile file("_foreign.gguf");
  file.write("");
  expect_load_error(file.path(), ErrorCode::kCorrupt, "empty");
  file.write("%PDF-1.4 ...........................");
  expect_load_error(file.path(), ErrorCode::kCorrupt, "PDF");
  file.write("GGUF");
  expect_load_error(file.path(), ErrorCode::kCorrupt, "truncated");
}

TEST(EngineLoad, RefusesAModelCutAnywhereQuicklyAndWithoutMemory) {
  const std::string whole = required_environment("SWARMKV_TEST_SMOLLM2");
  const std::uint64_t size = fs::file_size(whole);
  struct rusage before {};
  getrusage(RUSAGE_SELF, &before);
  for (const std::uint64_t n : {std::uint64_t{24}, std::uint64_t{37}, std::uint64_t{50}}) {
    const TempFile file("_header.gguf");
    file.write(first_bytes(whole, n));
    expect_load_error(file.path(), ErrorCode::kCorrupt, std::to_string(n) + " bytes");
  }
  const TempFile file("_cut.gguf");
  fs::copy_file(whole, file.path());
  for (const int percent : {99, 75, 50, 25}) {
    const std::uint64_t n = size / 100 * static_cast<std::uint64_t>(percent);
    fs::resize_file(file.path(), n);
    expect_load_error(file.path(), ErrorCode::kCorrupt, "the file has " + std::to_string(n));
  }
  struct rusage after {};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 64 * 1024);  // KiB
}

TEST(EngineLoad, RefusesAnArchitectureTheRuntimeDoesNotKnow) {
  const TempFile file("_arch.gguf");
  std::string bytes =
      first_bytes(required_environment("SWARMKV_TEST_TINY_DIR") + "/llama-f32.gguf",
                  fs::file_size(required_environment("SWARMKV_TEST_TINY_DIR") + "/llama-f32.gguf"));
  const std::string key = "general.architecture";
  const std::size_t at = bytes.find(key);
  ASSERT_NE(at, std::string::npos);
  bytes[at + key.size() + 4 + 8] = 'q';  // "llama" becomes "qlama"
  file.write(bytes);
  expect_load_error(file.path(), ErrorCode::kUnsupported, "qlama");
}

TEST(EngineLoad, RefusesToGenerateWithAnEmbeddingModel) {
  const auto model = tiny("bert");
  EXPECT_FALSE(model->info().can_generate);
  expect_error(ErrorCode::kUnsupported, "embedding",
               [&] { (void)model->make_context(small_context()); });
}

TEST(EngineLoad, ReadsEveryTestModelWithoutAFalseAlarm) {
  const std::string smol = required_environment("SWARMKV_TEST_SMOLLM2");
  for (const auto& entry : fs::recursive_directory_iterator(fs::path(smol).parent_path())) {
    if (entry.path().extension() != ".gguf") continue;
    const GgufInfo info = read_gguf(entry.path().string());
    EXPECT_FALSE(info.arch.empty()) << entry.path();
    EXPECT_GT(info.n_layers, 0) << entry.path();
    EXPECT_FALSE(info.quant.empty()) << entry.path();
  }
}

TEST(EngineLoad, PrintsNothingAndSendsTheLogToTheSink) {
  testing::internal::CaptureStderr();
  testing::internal::CaptureStdout();
  {
    const auto model = tiny("llama");
    (void)model->make_context(exact_context());
    expect_error(ErrorCode::kUnreadable, "no such", [] { (void)load_model("nowhere.gguf"); });
  }
  std::mutex mutex;
  int n_messages = 0;
  {
    LlamaModelOptions options;
    options.path = required_environment("SWARMKV_TEST_TINY_DIR") + "/llama-f32.gguf";
    options.log = [&](int, std::string_view) {
      const std::lock_guard lock(mutex);
      ++n_messages;
    };
    (void)load_llama_model(options)->make_context(exact_context());
  }
  const int heard = n_messages;
  EXPECT_GT(heard, 10);
  (void)tiny("llama");  // the sink went with its model
  EXPECT_EQ(n_messages, heard);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(EngineLoad, NamesTheRuntimesVersion) {
  EXPECT_NE(llama_version().find('('), std::string::npos) << llama_version();
}

}  // namespace
}  // namespace swarmkv::internal
