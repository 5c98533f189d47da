#include "cli/inputs.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace swarmkv::cli {
namespace {

namespace fs = std::filesystem;

TEST(Inputs, AreNotReplacedByReportsOrAnswersNorTheseByEachOther) {
  const fs::path folder = fs::path(::testing::TempDir()) / ("inputs" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::ofstream(folder / "contract.txt") << "text";
  Pipeline pipeline;
  pipeline.folder = folder.string();
  pipeline.documents.resize(1);
  pipeline.documents[0].path = "contract.txt";
  pipeline.agents.resize(1);
  pipeline.agents[0].name = "memo";
  const auto refusal = [&](const std::string& report, const std::string& answer) -> std::string {
    Settings settings;
    settings.command = "ask";
    settings.reports = {report};
    pipeline.agents[0].output_file = answer;
    try {
      refuse_inputs_as_reports(pipeline, settings, "model.gguf");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };

  EXPECT_EQ(refusal((folder / "r.json").string(), "memo.md"), "");
  EXPECT_NE(refusal((folder / "contract.txt").string(), "memo.md").find("--report"),
            std::string::npos);
  EXPECT_NE(refusal("r.json", "./contract.txt").find("output_file"), std::string::npos);
  EXPECT_NE(refusal((folder / "x" / ".." / "memo.md").string(), "memo.md").find("answer of 'memo'"),
            std::string::npos);
  std::ofstream(folder / "prompt.md") << "Ask.";
  fs::create_symlink("prompt.md", folder / "link.md");
  pipeline.text_files = {"prompt.md"};
  EXPECT_NE(refusal((folder / "prompt.md").string(), "memo.md").find("--report"),
            std::string::npos);
  EXPECT_NE(refusal("r.json", "link.md").find("output_file"), std::string::npos);
  Settings saving;
  saving.command = "ask";
  const auto save_refusal = [&](const std::string& save, const std::string& report) -> std::string {
    saving.save = save;
    saving.reports = {report};
    try {
      refuse_inputs_as_reports(pipeline, saving, "model.gguf");
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  pipeline.agents[0].output_file = "memo.md";
  EXPECT_EQ(save_refusal((folder / "p.yaml").string(), "r.json"), "");
  EXPECT_NE(save_refusal((folder / "contract.txt").string(), "r.json").find("--save"),
            std::string::npos);
  EXPECT_NE(save_refusal("a/../r.json", "r.json").find("would replace each other"),
            std::string::npos);
  EXPECT_NE(save_refusal((folder / "memo.md").string(), "r.json").find("answer of 'memo'"),
            std::string::npos);
  fs::create_directory(folder / "sub");
  fs::create_directory_symlink("sub", folder / "other");
  pipeline.agents.resize(2);
  pipeline.agents[1].name = "twin";
  pipeline.agents[1].output_file = "other/memo.md";
  EXPECT_NE(refusal("r.json", "sub/memo.md").find("answer of 'twin'"), std::string::npos);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace swarmkv::cli
