// Files that cannot be used, stores that cannot be written: a warning, and the run goes on. A file
// that the user names has to be right.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>

#include "snapshot/snapshot_file.h"
#include "snapshot/snapshot_folder.h"
#include "support/snapshots.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;

Pipeline eight_agents() {
  std::vector<AgentSpec> agents;
  for (int i = 0; i < 8; ++i) {
    agents.push_back(agent("a" + std::to_string(i), "Question " + std::to_string(i), 10));
    agents.back().ignore_eos = true;
  }
  return pipeline_of(agents, "A document of some sixty tokens, which is not much, is it?");
}

RunReport run_anew(const RunOptions& options, const Pipeline& pipeline = eight_agents(),
                   const EngineOptions& engine_options = {}, const ModelOptions& model = {}) {
  Engine engine(fake_model(model), engine_options);
  return engine.run(pipeline, options).wait();
}

class SnapshotFaults : public SnapshotTest {
 protected:
  SnapshotFaults() { cold_ = answers_of(run_anew({})); }

  void expect_like_a_cold_run(const RunReport& report) const {
    EXPECT_EQ(report.exit_code, 0);
    EXPECT_EQ(answers_of(report), cold_);
    EXPECT_EQ(report.documents[0].computed_tokens, report.documents[0].n_tokens);
  }
  void expect_one_warning(const RunReport& report, const std::string& code,
                          const std::string& part) const {
    ASSERT_EQ(report.warnings.size(), 1u)
        << (report.warnings.empty() ? std::string("none") : report.warnings.back().message);
    EXPECT_EQ(report.warnings[0].code, code);
    EXPECT_NE(report.warnings[0].message.find(part), std::string::npos)
        << report.warnings[0].message;
  }

  std::vector<Tokens> cold_;
};

TEST_F(SnapshotFaults, TwentyDamagedFilesAreTwentyWarningsAndRightAnswers) {
  (void)run_anew(with_store());
  const fs::path file = only_file();
  const std::string good = read_bytes(file);
  for (int i = 0; i < 20; ++i) {
    SCOPED_TRACE(i);
    fs::remove_all(folder_);
    (void)run_anew(with_store());
    std::string bad = good;
    if (i < 15) {
      bad[bad.size() * static_cast<std::size_t>(i) / 15] ^= 0x20;
    } else {
      bad.resize(bad.size() * static_cast<std::size_t>(i - 15) / 5);
    }
    write_bytes(file, bad);

    const RunReport report = run_anew(with_store());

    expect_like_a_cold_run(report);
    expect_one_warning(report, "SK607", file.string());
    EXPECT_NE(report.warnings[0].message.find(": "), std::string::npos) << "names the field";
    const RunReport next = run_anew(with_store());
    EXPECT_TRUE(next.warnings.empty()) << "met once";
    EXPECT_EQ(next.documents[0].computed_tokens, 0) << "and replaced by a good one";
  }
}

// Bytes whose checksum is right and which are no state all the same.
TEST_F(SnapshotFaults, ABadNumberUnderAGoodChecksumIsFoundBeforeTheCacheIsTouched) {
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE(round);
    fs::remove_all(folder_);
    (void)run_anew(with_store());
    const internal::SnapshotFolder folder(folder_.string());
    {
      const auto file = internal::SnapshotFile::open(only_file().string());
      const Tokens tokens(file.tokens().begin(), file.tokens().end());
      std::vector<std::uint8_t> state(file.state().begin(), file.state().end());
      const std::size_t cells = state.size() - tokens.size() * 4;  // behind what stands in front
      const std::size_t n = tokens.size();
      const std::size_t at[] = {cells, cells + n / 2 * 4, cells + (n - 1) * 4};
      std::memset(state.data() + at[round % 3], 0xff, 4);
      const auto about = file.header().about;
      fs::remove(only_file());
      (void)folder.save(about, tokens, state);
    }
    const std::string name = only_file().string();

    const RunReport report = run_anew(with_store());

    expect_like_a_cold_run(report);
    expect_one_warning(report, "SK607", name);
  }
}

TEST_F(SnapshotFaults, ALengthThatDoesNotBelongToTheTokensIsRefused) {
  (void)run_anew(with_store());
  const internal::SnapshotFolder folder(folder_.string());
  const auto file = internal::SnapshotFile::open(only_file().string());
  Tokens tokens(file.tokens().begin(), file.tokens().end());
  const std::vector<std::uint8_t> state(file.state().begin(), file.state().end());
  tokens.pop_back();  // one token short of its state
  fs::remove(only_file());
  (void)folder.save(file.header().about, tokens, state);
  const RunReport report = run_anew(with_store());
  expect_like_a_cold_run(report);
  expect_one_warning(report, "SK607", "positions");
}

TEST_F(SnapshotFaults, AStoreThatCannotBeUsedCostsOneWarning) {
  fs::create_directories(folder_);
  const fs::path taken = folder_ / "file";
  write_bytes(taken, "no folder");
  RunOptions options = with_store();
  options.snapshot.folder = taken.string();
  const RunReport report = run_anew(options);
  expect_like_a_cold_run(report);
  expect_one_warning(report, "SK608", taken.string());
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
}

TEST_F(SnapshotFaults, AFolderThatGoesDuringTheRunCostsOneWarning) {
  const auto remover = std::make_shared<EventLog>([this](const Event& event) {
    if (event.type == EventType::kDocumentReady) fs::remove_all(folder_);
  });
  const RunReport report = run_anew(with_store(remover));
  expect_like_a_cold_run(report);
  expect_one_warning(report, "SK608", "doc");
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
}

TEST_F(SnapshotFaults, OneThatExceedsTheLimitIsNotSavedAndSaysSo) {
  RunOptions options = with_store();
  options.snapshot.limit_bytes = 100;
  const RunReport report = run_anew(options);
  expect_like_a_cold_run(report);
  expect_one_warning(report, "SK608", "too large");
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
  EXPECT_NE(report.documents[0].snapshot->reason->find("too large"), std::string::npos);
  EXPECT_TRUE(files().empty());
}

TEST_F(SnapshotFaults, ThirtyDocumentsKeepToALimitOfThree) {
  (void)run_anew(with_store());
  const auto size = fs::file_size(only_file());
  RunOptions options = with_store();
  options.snapshot.limit_bytes = 3 * size + size / 2;
  Engine engine(fake_model(), {});
  for (int i = 0; i < 30; ++i) {
    Pipeline pipeline = eight_agents();
    pipeline.documents[0].text->back() = static_cast<char>('A' + i);
    EXPECT_EQ(engine.run(pipeline, options).wait().documents[0].snapshot->state, "saved") << i;
    std::uintmax_t sum = 0;
    for (const auto& file : files()) sum += fs::file_size(file);
    EXPECT_LE(sum, options.snapshot.limit_bytes);
  }
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(SnapshotFaults, ACancelledRunSavesNothing) {
  Engine engine(fake_model(), room_for_talkers());
  Gate talking;
  const auto log = std::make_shared<EventLog>([&](const Event& event) {
    if (event.type == EventType::kAgentFirstToken) talking.open();
  });
  swarmkv::Run run = engine.run(pipeline_of({talker("long")}), with_store(log));
  ASSERT_TRUE(talking.wait());
  run.cancel();
  const RunReport report = run.wait();
  EXPECT_EQ(report.documents[0].snapshot->state, "skipped");
  EXPECT_EQ(report.documents[0].snapshot->reason, "the run was cancelled");
  EXPECT_TRUE(files().empty());
}

// What failed came after the document: its state is as good as ever.
TEST_F(SnapshotFaults, ARunWhoseAgentsFailLeavesAGoodFile) {
  ModelOptions failing;
  failing.fake_fail_at_forward = 4;
  Pipeline one = eight_agents();  // more of them could fail three forwards in a row, and the engine
  one.agents.resize(1);
  const RunReport failed = run_anew(with_store(), one, {}, failing);
  EXPECT_NE(failed.exit_code, 0);
  EXPECT_EQ(failed.documents[0].snapshot->state, "saved")
      << failed.documents[0].snapshot->reason.value_or("");
  const RunReport next = run_anew(with_store());
  EXPECT_EQ(next.documents[0].computed_tokens, 0);
  EXPECT_EQ(answers_of(next), cold_);
}

ErrorCode refusal_of(const RunOptions& options, const std::string& part,
                     const Pipeline& pipeline = eight_agents(),
                     const EngineOptions& engine_options = {}, const ModelOptions& model = {}) {
  const auto log = std::make_shared<EventLog>();
  RunOptions watched = options;
  watched.observers.push_back(log);
  try {
    Engine engine(fake_model(model), engine_options);
    (void)engine.run(pipeline, watched).wait();
    ADD_FAILURE() << "nothing was thrown: " << part;
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    EXPECT_TRUE(log->events().empty()) << "nothing has started";
    return e.code();
  }
  return ErrorCode::kInternal;
}

class NamedSnapshots : public SnapshotFaults {
 protected:
  NamedSnapshots() {
    (void)run_anew(with_store());
    file_ = folder_ / "named";
    fs::copy_file(only_file(), file_);
    named_.snapshot.use = file_.string();
    named_.snapshot.folder = (folder_ / "store").string();
  }

  fs::path file_;
  RunOptions named_;
};

TEST_F(NamedSnapshots, IsReadFromWhereverItLies) {
  const RunReport report = run_anew(named_);
  EXPECT_EQ(answers_of(report), cold_);
  EXPECT_EQ(report.documents[0].computed_tokens, 0);
  EXPECT_EQ(report.documents[0].snapshot->state, "restored");
  EXPECT_EQ(report.documents[0].snapshot->path, file_.string());
  EXPECT_FALSE(fs::exists(folder_ / "store")) << "a named file is read, nothing is saved";
}

TEST_F(NamedSnapshots, ADocumentsOwnWordCountsBeforeTheRuns) {
  Pipeline pipeline = eight_agents();
  pipeline.documents[0].snapshot = "./named";
  pipeline.folder = folder_.string();
  EXPECT_EQ(run_anew({}, pipeline).documents[0].computed_tokens, 0);
  pipeline.documents[0].snapshot = "off";
  EXPECT_FALSE(run_anew(named_, pipeline).documents[0].snapshot.has_value());
}

TEST_F(NamedSnapshots, WhatIsWrongWithItIsAnErrorBeforeAnythingRuns) {
  RunOptions missing = named_;
  missing.snapshot.use = "/nowhere/at/all";
  EXPECT_EQ(refusal_of(missing, "/nowhere/at/all"), ErrorCode::kUnreadable);

  ModelOptions other_model;
  other_model.fake_ctx_train = 9000;
  EXPECT_EQ(refusal_of(named_, "fake-", eight_agents(), {}, other_model), ErrorCode::kMismatch);
  EngineOptions q8;
  q8.cache_type_v = "q8_0";
  EXPECT_EQ(refusal_of(named_, "q8_0", eight_agents(), q8), ErrorCode::kMismatch);
  EngineOptions deterministic;
  deterministic.deterministic = true;
  EXPECT_EQ(refusal_of(named_, "bit-equal", eight_agents(), deterministic), ErrorCode::kMismatch);
  Pipeline other_text = eight_agents();
  other_text.documents[0].text = "Another document.";
  EXPECT_EQ(refusal_of(named_, "tokens", other_text), ErrorCode::kMismatch);
  EngineOptions recompute;
  recompute.handoff = "recompute";
  EXPECT_EQ(refusal_of(named_, "handoff", eight_agents(), recompute), ErrorCode::kInvalidArgument);

  const std::string good = read_bytes(file_);
  for (const std::size_t at : {std::size_t{0}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] ^= 1;
    write_bytes(file_, bad);
    EXPECT_EQ(refusal_of(named_, file_.string()), ErrorCode::kCorrupt) << at;
  }
  write_bytes(file_, "");
  EXPECT_EQ(refusal_of(named_, file_.string()), ErrorCode::kCorrupt);
  EXPECT_TRUE(fs::exists(file_)) << "the user's own file is left where it is";
}

}  // namespace
}  // namespace swarmkv::testing
