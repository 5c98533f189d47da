// What a user learns of a document that is not there.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "swarmkv/pipeline.h"

namespace swarmkv {
namespace {

namespace fs = std::filesystem;

class DocumentFile : public ::testing::Test {
 protected:
  DocumentFile() {
    std::string name = (fs::temp_directory_path() / "swarmkv_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    folder_ = name;
    fs::create_directories(folder_ / "papers");
    write("contract.txt", "text");
    write("review.yaml", "version: 1");
    write("papers/annex.txt", "text");
    write("papers/empty.txt", "");
    write("papers/scan.pdf", "%PDF-1.7");
  }
  ~DocumentFile() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary) << bytes;
  }
  [[nodiscard]] FileProblem check(const std::string& path) const {
    return check_document(folder_.string(), path);
  }

  fs::path folder_;
};

TEST_F(DocumentFile, IsGoodOrNotLookedAt) {
  for (const std::string& path : {std::string("contract.txt"), std::string("papers/annex.txt"),
                                  std::string("papers/../contract.txt"), std::string("-"),
                                  std::string("/dev/null"), (folder_ / "contract.txt").string()}) {
    EXPECT_EQ(check(path).problem, "") << path;
  }
}

TEST_F(DocumentFile, ThatIsMissingNamesTheFolderAndTheNearestName) {
  EXPECT_EQ(check("contrct.txt").problem, "no such file in " + folder_.string());
  EXPECT_EQ(check("contrct.txt").hint, "did you mean 'contract.txt'?");
  EXPECT_EQ(check("contract").hint, "did you mean 'contract.txt'?");
  EXPECT_EQ(check("contract.markdown").hint, "did you mean 'contract.txt'?");
  EXPECT_EQ(check("papers/Annex.TXT").hint, "did you mean 'annex.txt'?");
  EXPECT_EQ(check("papers/letter.txt").hint, "");
  EXPECT_EQ(check("review.txt").hint, "") << "a pipeline is no document";
  EXPECT_EQ(check("reviw.yaml").hint, "did you mean 'review.yaml'?");
  EXPECT_EQ(check("papres/annex.txt").problem, "no folder 'papres' in " + folder_.string());
  EXPECT_EQ(check("papres/annex.txt").hint, "did you mean 'papers'?");
  EXPECT_EQ(check("paper").hint, "") << "a folder is no document";
  EXPECT_NE(check("contract.txt/annex.txt").problem, "");
}

TEST_F(DocumentFile, ThatIsThereButIsNoTextSaysWhy) {
  EXPECT_EQ(check("papers").problem, "is a directory, not a file");
  EXPECT_EQ(check("papers/empty.txt").problem, "is empty");
  EXPECT_EQ(check("papers/scan.pdf").problem, "is a PDF, not text");
}

// The path that a shell completed, in a pipeline that lies elsewhere.
TEST_F(DocumentFile, ThatIsThereFromTheWorkingFolderIsToldHowToWriteIt) {
  const fs::path before = fs::current_path();
  fs::current_path(folder_);

  const FileProblem found = check_document("papers", "contract.txt");

  fs::current_path(before);
  EXPECT_EQ(found.hint, "paths start at the pipeline's folder: write '../contract.txt'");
}

TEST_F(DocumentFile, IsAskedForOnlyIfSomebodyIsLeftToReadIt) {
  const std::string yaml =
      "version: 1\n"
      "documents: { contract: contract.txt, gone: gone.txt }\n"
      "agents:\n"
      "  a: { reads: contract, prompt: Why? }\n"
      "  b: { reads: gone, prompt: Why? }\n";
  const std::string file = (folder_ / "p.yaml").string();
  const auto parse = [&](const PipelineChanges& changes) {
    return parse_pipeline(yaml, file, changes, {}, {}, check_document);
  };
  PipelineChanges one, slip;
  one.select = {"a"};
  slip.select = {"aa"};

  const ParsedPipeline all = parse({});
  ASSERT_EQ(all.diagnostics.size(), 1u) << format(all.diagnostics);
  EXPECT_EQ(all.diagnostics[0].code, "SK110");
  EXPECT_EQ(to_string(all.diagnostics[0].pos), file + ":2:44");
  EXPECT_TRUE(parse(one).ok()) << format(parse(one).diagnostics);
  EXPECT_EQ(format(parse(slip).diagnostics).find("SK110"), std::string::npos);
  EXPECT_TRUE(parse_pipeline(yaml, file).ok()) << "a check of the file alone needs no document";
}

// All of them at once, and before a model is loaded.
TEST_F(DocumentFile, IsSearchedForTheTextsThatAgentsStartBefore) {
  write("deed.txt", "The deed.\nANNEX\nand more");
  write("notes.txt", "Notes.");
  const std::string yaml =
      "version: 1\n"
      "documents: { deed: deed.txt, notes: notes.txt }\n"
      "agents:\n"
      "  c: { prompt: x, ready_after: { before: ANNEX } }\n"
      "  d: { prompt: x, ready_after: { before: ANNEX }, reads: notes }\n"
      "  e: { prompt: x, ready_after: { before: \"ANNEX\\nand\" } }\n"
      "  f: { prompt: x, ready_after: { before: annex } }\n"
      "  g: { prompt: x, continues: c }\n"
      "  h: { prompt: x, ready_after: { before: ANNEX }, reads: [] }\n";
  const std::string file = (folder_ / "p.yaml").string();

  const ParsedPipeline found = parse_pipeline(yaml, file, {}, {}, {}, check_document);

  const std::string none_holds = ", which stands in none of its documents [SK402]\n";
  const std::string way_out = "^ it has to stand there letter for letter, line breaks included\n";
  EXPECT_EQ(format(found.diagnostics),
            file + ":5:19: error: 'd' starts before 'ANNEX'" + none_holds +
                "    5 |   d: { prompt: x, ready_after: { before: ANNEX }, reads: notes }\n"
                "      |                   " +
                way_out + file + ":7:19: error: 'f' starts before 'annex'" + none_holds +
                "    7 |   f: { prompt: x, ready_after: { before: annex } }\n"
                "      |                   " +
                way_out + file + ":9:19: error: 'h' starts before 'ANNEX', but reads no document " +
                "[SK402]\n"
                "    9 |   h: { prompt: x, ready_after: { before: ANNEX }, reads: [] }\n"
                "      |                   ^ name its documents in 'reads', or remove it\n");
}

}  // namespace
}  // namespace swarmkv
