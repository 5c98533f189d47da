// What a run's report says about files: those that were met, those that were made, and which of
// them a document came from.
#include <gtest/gtest.h>

#include "support/snapshots.h"
#include "swarmkv/report.h"
#include "swarmkv/snapshot.h"

namespace swarmkv::testing {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

DocumentSpec document(const std::string& name, int n, int salt) {
  DocumentSpec out;
  out.name = name;
  out.text.emplace();
  for (int i = 0; i < n; ++i)
    *out.text += static_cast<char>('a' + (i * i + salt * 7 + i / 11) % 25);
  return out;
}

//  lease          annex
//    \-> short      |
//     \-------------\-> both
Pipeline pipeline(bool with_short = true) {
  AgentSpec both = agent("both", "What do both say?", 4), brief = agent("short", "And it?", 4);
  brief.reads = Names{"lease"};
  Pipeline out = pipeline_of({both}, "");
  if (with_short) out.agents.insert(out.agents.begin(), brief);
  out.documents = {document("lease", 300, 0), document("annex", 200, 5)};
  return out;
}

Pipeline lease_alone() {
  Pipeline out = pipeline();
  out.documents.pop_back();
  out.agents.pop_back();
  return out;
}

RunReport run_anew(const Pipeline& pipeline, const RunOptions& options) {
  Engine engine(fake_model(), {});
  return engine.run(pipeline, options).wait();
}

void damage(const fs::path& file) {
  std::string bytes = read_bytes(file);
  bytes.back() ^= 0x20;
  write_bytes(file, bytes);
}

class SnapshotReports : public SnapshotTest {
 protected:
  /// The file of so many documents.
  [[nodiscard]] fs::path file_of(const Names& documents) const {
    std::string label;
    for (const std::string& name : documents) label += (label.empty() ? "" : " + ") + name;
    for (const SnapshotInfo& info : SnapshotStore(folder_.string()).list()) {
      if (info.document == label) return info.path;
    }
    ADD_FAILURE() << "no snapshot of " << label;
    return {};
  }
};

std::string states_of(const SnapshotReport& snapshot) {
  std::string out;
  for (const SnapshotFileReport& file : snapshot.files) {
    out += (out.empty() ? "" : ", ") + file.state + " of " + std::to_string(file.documents.size());
  }
  return out;
}

TEST_F(SnapshotReports, AFileIsNamedAfterAllDocumentsInIt) {
  (void)run_anew(pipeline(), with_store());
  Names names;
  for (const SnapshotInfo& info : SnapshotStore(folder_.string()).list()) {
    names.push_back(info.document);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (Names{"lease", "lease + annex"}));
}

TEST_F(SnapshotReports, ADocumentThatALongerFileBroughtWasRestoredFromThere) {
  (void)run_anew(pipeline(), with_store());
  const fs::path longer = file_of({"lease", "annex"}), own = file_of({"lease"});
  damage(own);
  RunOptions options = with_store();
  options.snapshot.always_save = false;

  const RunReport report = run_anew(pipeline(), options);

  const DocumentReport& lease = report.documents[0];
  ASSERT_TRUE(lease.snapshot);
  EXPECT_EQ(lease.source, "restored");
  EXPECT_EQ(lease.computed_tokens, 0);
  EXPECT_EQ(lease.snapshot->state, "restored");
  EXPECT_EQ(lease.snapshot->path, longer.string());
  EXPECT_EQ(lease.snapshot->size_bytes, fs::file_size(longer));
  EXPECT_GT(lease.snapshot->n_tokens, lease.n_tokens);
  EXPECT_GT(lease.snapshot->ms, 0);
  const std::string reason = lease.snapshot->reason.value_or("");
  EXPECT_EQ(reason.rfind("state checksum: ", 0), 0u) << "why its own was not used: " << reason;
  EXPECT_EQ(reason.find("computing"), std::string::npos) << reason;
  EXPECT_EQ(states_of(*lease.snapshot), "rejected of 1, restored of 2");
  EXPECT_EQ(lease.snapshot->files[0].path, own.string());
  EXPECT_EQ(lease.snapshot->files[0].documents, Names{"lease"});
  EXPECT_EQ(lease.snapshot->files[1].documents, (Names{"lease", "annex"}));
}

//  met: lease + annex, damaged; lease      made: lease + annex
TEST_F(SnapshotReports, EveryFileOfADocumentIsTold) {
  (void)run_anew(pipeline(false), with_store());
  const fs::path both = file_of({"lease", "annex"});
  damage(both);
  (void)run_anew(lease_alone(), with_store());
  const fs::path lease = file_of({"lease"});

  const RunReport report = run_anew(pipeline(false), with_store());

  for (const DocumentReport& d : report.documents) {
    SCOPED_TRACE(d.name);
    ASSERT_TRUE(d.snapshot);
    EXPECT_EQ(states_of(*d.snapshot), "rejected of 2, restored of 1, saved of 2");
    EXPECT_EQ(d.snapshot->state, "saved");
    EXPECT_EQ(d.snapshot->path, both.string());
    const SnapshotFileReport& restored = d.snapshot->files[1];
    EXPECT_EQ(restored.path, lease.string());
    EXPECT_EQ(restored.size_bytes, fs::file_size(lease));
    EXPECT_EQ(restored.n_tokens, report.documents[0].n_tokens);
    EXPECT_GT(restored.ms, 0);
    EXPECT_EQ(d.snapshot->files[2].ms, d.snapshot->ms) << "each with its own figures";
  }
  EXPECT_EQ(report.documents[0].source, "restored");
  EXPECT_EQ(report.documents[1].source, "computed");

  const std::string table = to_table(report, false);
  const auto n_lines = [&](const std::string& begin) {
    int n = 0;
    for (std::size_t at = 0; (at = table.find("\nsnapshot        " + begin, at)) != table.npos;
         ++at)
      ++n;
    return n;
  };
  EXPECT_EQ(n_lines("lease + annex: rejected " + both.filename().string() + ": state checksum"), 1)
      << table;
  EXPECT_EQ(n_lines("lease: restored "), 1) << table;
  EXPECT_EQ(n_lines("lease + annex: saved "), 1) << table;
  EXPECT_EQ(n_lines(""), 3) << table;
}

TEST_F(SnapshotReports, AFileThatWasNotMadeHasAReasonAndAPlace) {
  RunOptions options = with_store();
  options.snapshot.limit_bytes = 100;
  const RunReport report = run_anew(pipeline(), options);
  EXPECT_EQ(states_of(*report.documents[0].snapshot), "skipped of 1, skipped of 2");
  EXPECT_EQ(states_of(*report.documents[1].snapshot), "skipped of 2");
  for (const SnapshotFileReport& file : report.documents[0].snapshot->files) {
    EXPECT_NE(file.reason.value_or("").find("too large"), std::string::npos);
    EXPECT_EQ(file.path, "");
  }
  const std::vector<Warning> warnings = warnings_with(report, "SK608");
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_NE(warnings[1].message.find("'lease + annex'"), std::string::npos) << warnings[1].message;
}

}  // namespace
}  // namespace swarmkv::testing
