// `swarmkv snapshot save` of a pipeline, on a real model: what it keeps is what `swarmkv run` looks
// for, to the token.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "support/model_files.h"
#include "support/temporary_folder.h"

namespace swarmkv::internal {
namespace {

struct SnapshotSaveOnAModel : testing::Test {
  TemporaryFolder folder;

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  /// The command's exit status, with its output in files of the folder.
  [[nodiscard]] int swarmkv(const std::string& words) const {
    const std::string command = "cd '" + folder.path() + "' && '" + env_path("SWARMKV_TEST_CLI") +
                                "' " + words + " -m '" + smollm2_path() +
                                "' --snapshot-dir kept -t 2 >out.txt 2>err.txt";
    return std::system(command.c_str());
  }
  [[nodiscard]] std::string text_of(const std::string& name) const {
    std::ifstream in(folder / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
};

//  [system] rules           first
//           rules contract  both
TEST_F(SnapshotSaveOnAModel, OfAPipelineIsWhatRunReads) {
  const std::string licence = licence_text(3000);
  write("rules.txt", licence.substr(0, 800));
  write("contract.txt", licence.substr(800));
  write("p.yaml",
        "version: 1\n"
        "system: You answer for {{ vars.party }}, in a word.\n"
        "vars: { party: the buyer }\n"
        "documents: { rules: rules.txt, contract: contract.txt }\n"
        "agents:\n"
        "  first: { prompt: 'Which licence is it?', reads: [rules] }\n"
        "  both: { prompt: 'And {{ first }}?', reads: [rules, contract] }\n");
  for (const std::string mode : {"", " --deterministic"}) {
    SCOPED_TRACE(mode);
    std::filesystem::remove_all(folder / "kept");
    ASSERT_EQ(swarmkv("snapshot save p.yaml" + mode), 0) << text_of("err.txt");
    const std::string run = "run p.yaml -n 3 -c 4096 -o json --snapshot auto";
    ASSERT_EQ(swarmkv(run + mode), 0) << text_of("err.txt");
    const auto report = nlohmann::json::parse(text_of("out.txt"));
    for (const auto& document : report["documents"]) {
      EXPECT_EQ(document["computed_tokens"], 0) << document.dump();
      EXPECT_EQ(document["source"], "restored") << document.dump();
      EXPECT_GT(document["n_tokens"], 100);
    }
    ASSERT_EQ(swarmkv(run + mode + " --var 'party=the seller'"), 0) << text_of("err.txt");
    const auto other = nlohmann::json::parse(text_of("out.txt"));
    EXPECT_GT(other["documents"][0]["computed_tokens"], 100) << "another text stands before it";
  }
}

}  // namespace
}  // namespace swarmkv::internal
