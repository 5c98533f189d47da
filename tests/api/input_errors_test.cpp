// Bad documents and budgets: a clear error with the numbers in conflict, and nothing has run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/pipelines.h"

namespace swarmkv::testing {
namespace {

// A folder that is gone with the test.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "swarmkv_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = name;
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(path_ / name, std::ios::binary) << bytes;
    return name;
  }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

Pipeline over_file(const Folder& folder, const std::string& file) {
  Pipeline pipeline = pipeline_of({agent("a", "hello")});
  pipeline.folder = folder.path();
  pipeline.documents[0].text.reset();
  pipeline.documents[0].path = file;
  return pipeline;
}

void expect_refused(const Pipeline& pipeline, ErrorCode code, const std::vector<std::string>& says,
                    RunOptions options = {}) {
  const auto log = std::make_shared<EventLog>();
  options.observers.push_back(log);
  const Model model = fake_model();
  Engine engine(model, {});
  for (const bool planning : {true, false}) {
    try {
      if (planning) {
        (void)make_plan(model, pipeline, {}, options);
      } else {
        (void)engine.run(pipeline, options);
      }
      ADD_FAILURE() << "accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), code) << e.what();
      for (const std::string& part : says)
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  }
  EXPECT_TRUE(log->events().empty()) << "nothing ran";
  EXPECT_EQ(engine.counters().n_forwards, 0u);
}

TEST(InputErrors, ADocumentThatCannotBeReadIsNamed) {
  const Folder folder;
  std::filesystem::create_directory(folder.path() + "/dir");
  folder.write("empty.txt", "");

  expect_refused(over_file(folder, "missing.txt"), ErrorCode::kUnreadable,
                 {"missing.txt", "no such file in " + folder.path()});
  expect_refused(over_file(folder, "Empti.txt"), ErrorCode::kUnreadable,
                 {"no such file", "did you mean 'empty.txt'?"});
  expect_refused(over_file(folder, "dir"), ErrorCode::kUnreadable, {"dir", "directory"});
  expect_refused(over_file(folder, "empty.txt"), ErrorCode::kUnreadable, {"empty.txt", "empty"});
}

TEST(InputErrors, AnAgentThatStartsBeforeATextOfNoDocumentIsNamed) {
  const Folder folder;
  Pipeline pipeline = over_file(folder, folder.write("deed.txt", "The deed, and its ANNEX."));
  pipeline.agents[0].ready_after.kind = ReadyAfter::Kind::kBefore;
  pipeline.agents[0].ready_after.text = "Annex";

  expect_refused(pipeline, ErrorCode::kInvalidArgument,
                 {"agent 'a' starts before 'Annex'", "none of its documents [SK402]"});
}

TEST(InputErrors, ABinaryFormatIsRefusedWithAWayOut) {
  const Folder folder;
  folder.write("a.pdf", "%PDF-1.7 rest");
  folder.write("a.docx", std::string("PK\x03\x04", 4) + "rest");
  folder.write("model.txt", "GGUF rest");

  expect_refused(over_file(folder, "a.pdf"), ErrorCode::kUnsupported,
                 {"a.pdf", "PDF", "pdftotext"});
  expect_refused(over_file(folder, "a.docx"), ErrorCode::kUnsupported, {"a.docx", "ZIP"});
  expect_refused(over_file(folder, "model.txt"), ErrorCode::kUnsupported, {"model file"});
}

TEST(InputErrors, OddBytesAreKeptWithOneWarningUnlessStrict) {
  const Folder folder;
  const std::string bytes = std::string("one\0two", 7) + "\xff\xfe three";
  folder.write("odd.txt", bytes);
  Pipeline pipeline = over_file(folder, "odd.txt");
  pipeline.agents[0].ignore_eos = true;  // a cut answer would be a warning, too
  Engine engine(fake_model(), {});

  const RunReport report = engine.run(pipeline).wait();

  EXPECT_EQ(report.exit_code, 0);
  ASSERT_EQ(report.warnings.size(), 1u);
  EXPECT_EQ(report.warnings[0].code, "SK610");
  EXPECT_NE(report.warnings[0].message.find("2 bytes that are not UTF-8 and 1 NUL"),
            std::string::npos)
      << report.warnings[0].message;
  EXPECT_NE(report.warnings[0].message.find("offset 3"), std::string::npos);
  Pipeline as_text = pipeline;
  as_text.documents[0].text = bytes;
  EXPECT_EQ(engine.run(as_text).wait().agents[0].token_ids, report.agents[0].token_ids)
      << "no byte is lost";
  RunOptions strict;
  strict.strict = true;
  expect_refused(pipeline, ErrorCode::kUnreadable, {"odd.txt", "offset 3"}, strict);
}

TEST(InputErrors, ADocumentThatDoesNotFitTheContextIsRefusedWithItsNumbers) {
  const Model model = fake_model();
  EngineOptions options;
  options.ctx_size = 1000;
  Engine engine(model, options);
  const Pipeline pipeline =
      pipeline_of({agent("small", "x", 8), agent("large", "xyz", 100)}, std::string(990, 'x'));
  const Plan plan = make_plan(model, pipeline, {});
  ASSERT_GT(plan.n_document_tokens, 990);

  try {
    (void)engine.run(pipeline);
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDoesNotFit);
    const int n_branch = plan.n_cells_largest - plan.n_document_tokens;
    for (const std::string& part :
         {"document " + std::to_string(plan.n_document_tokens),
          "largest branch " + std::to_string(n_branch),
          std::to_string(plan.n_cells_largest) + " tokens", std::string("context is 1000"),
          std::string("'large'"), "-c " + std::to_string(plan.n_cells_largest)}) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << part << " in " << e.what();
    }
  }
}

TEST(InputErrors, WhatThePlanSaysIsNeededIsEnough) {
  const Model model = fake_model();
  const Pipeline pipeline = pipeline_of(
      {agent("a", "first", 30), agent("b", "second", 40), agent("c", "{{ a }}{{ b }}", 20)},
      std::string(300, 'x'));
  const Plan plan = make_plan(model, pipeline, {});
  EngineOptions options;
  options.ctx_size = plan.n_cells_largest;
  Engine engine(model, options);

  EXPECT_EQ(engine.run(pipeline).wait().exit_code, 0);
}

TEST(InputErrors, ABranchPastTheTrainingContextIsRefused) {
  ModelOptions options;
  options.fake_ctx_train = 500;
  const Model model = fake_model(options);
  EngineOptions roomy;
  roomy.ctx_size = 4000;
  Engine engine(model, roomy);

  try {
    (void)engine.run(pipeline_of({agent("a", "x", 8)}, std::string(600, 'x')));
    FAIL() << "accepted";
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kDoesNotFit);
    EXPECT_NE(std::string(e.what()).find("training context is 500"), std::string::npos) << e.what();
  }
}

TEST(InputErrors, AnInvalidPipelineIsRefusedWithAllItsProblems) {
  expect_refused(
      pipeline_of({agent("a", "{{ b }}"), agent("b", "{{ a }}"), agent("c", "{{ nobody }}")}),
      ErrorCode::kInvalidArgument, {"SK203", "nobody"});
}

TEST(InputErrors, ModelOptionsAreChecked) {
  ModelOptions options;
  options.engine = "magic";
  EXPECT_THROW((void)Model::load(options), Error);
  EngineOptions engine;
  engine.cache_type_k = "f12";
  EXPECT_THROW(Engine(fake_model(), engine), Error);
  engine = {};
  engine.parallel = 10000;
  EXPECT_THROW(Engine(fake_model(), engine), Error);
}

}  // namespace
}  // namespace swarmkv::testing
