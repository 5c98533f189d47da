#include "cli/model_lookup.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

using Variables = std::map<std::string, std::string>;

constexpr const char* kDefault = "SmolLM2-135M-Instruct.Q4_1.gguf";

class ModelLookup : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    root_ = fs::path(::testing::TempDir()) / (std::string("model_lookup_") + test->name());
    fs::remove_all(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  // A cache with the default model in it.
  std::string cache(const std::string& name) const {
    const fs::path models = root_ / name / "models";
    fs::create_directories(models);
    std::ofstream(models / kDefault) << "GGUF";
    return (root_ / name).string();
  }
  static ModelChoice choose(Variables variables, const Settings& settings = {},
                            const Pipeline& pipeline = {}) {
    return choose_model(
        settings, pipeline,
        [variables = std::move(variables)](const std::string& name) -> std::optional<std::string> {
          const auto found = variables.find(name);
          return found == variables.end() ? std::nullopt : std::optional(found->second);
        });
  }
  fs::path root_;
};

TEST_F(ModelLookup, LooksForTheDefaultInTheNearestCache) {
  const std::string own = cache("own");
  const std::string xdg = (fs::path(cache("xdg/swarmkv")).parent_path()).string();
  const std::string home = root_ / "home";
  cache("home/.cache/swarmkv");
  Variables variables = {{"SWARMKV_CACHE", own}, {"XDG_CACHE_HOME", xdg}, {"HOME", home}};

  EXPECT_EQ(choose(variables).path, own + "/models/" + kDefault);
  variables.erase("SWARMKV_CACHE");
  EXPECT_EQ(choose(variables).path, xdg + "/swarmkv/models/" + kDefault);
  variables.erase("XDG_CACHE_HOME");
  EXPECT_EQ(choose(variables).path, home + "/.cache/swarmkv/models/" + kDefault);
  EXPECT_TRUE(choose(variables).is_default);
  variables.erase("HOME");
  EXPECT_THROW((void)choose(variables), UsageError);
}

TEST_F(ModelLookup, PrefersTheFlagThenThePipelineThenTheCache) {
  const Variables variables = {{"SWARMKV_CACHE", cache("own")}};
  Pipeline pipeline;
  pipeline.folder = "/somewhere";
  pipeline.model.path = "file.gguf";
  Settings settings;

  EXPECT_EQ(choose(variables, settings, pipeline).path, "/somewhere/file.gguf");
  settings.model = "flag.gguf";
  EXPECT_EQ(choose(variables, settings, pipeline).path, "flag.gguf");
  EXPECT_EQ(choose(variables, settings, pipeline).label, "flag");
  settings.engine = "fake";
  EXPECT_EQ(choose(variables, settings, pipeline).path, "");
}

TEST_F(ModelLookup, ANamedCacheWithoutAModelIsNotPassedBy) {
  const Variables variables = {{"SWARMKV_CACHE", (root_ / "empty").string()},
                               {"XDG_CACHE_HOME", fs::path(cache("xdg/swarmkv")).parent_path()}};
  EXPECT_THROW((void)choose(variables), UsageError);
}

}  // namespace
}  // namespace swarmkv::cli
