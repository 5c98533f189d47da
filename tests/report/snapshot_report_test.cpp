// What the report says about snapshots, in each of its forms.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/nine_agents.h"
#include "report/sample_report.h"
#include "swarmkv/report.h"

namespace swarmkv {
namespace {

SnapshotReport restored() {
  SnapshotReport s;
  s.state = "restored";
  s.path = "/cache/snapshots/5f0c.swkv";
  s.size_bytes = 80'740'352;
  s.n_tokens = 41'200;
  s.ms = 213;
  return s;
}

RunReport report_with(const SnapshotReport& snapshot, int computed = 37) {
  RunReport r = testing::sample_report();
  r.documents[0].snapshot = snapshot;
  r.documents[0].source = snapshot.state == "restored" ? "restored" : "computed";
  r.documents[0].computed_tokens = computed;
  if (snapshot.state == "restored") r.documents[0].restored_tokens = 41'237 - computed;
  return r;
}

SnapshotFileReport file(const SnapshotReport& s, std::vector<std::string> documents = {}) {
  return {s.state, s.path, s.size_bytes, s.n_tokens, s.ms, s.reason, std::move(documents)};
}

TEST(SnapshotReportText, SaysWhatBecameOfIt) {
  SnapshotReport s = restored();
  EXPECT_EQ(snapshot_text(file(s)), "restored 41,200 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)");
  s.state = "saved";
  s.reason = "a.swkv: cache_type_k q8_0, here f16";
  EXPECT_EQ(snapshot_text(file(s)),
            "saved 41,200 tokens to 5f0c.swkv (77.0 MiB, 0.21 s); note: a.swkv: "
            "cache_type_k q8_0, here f16");
  s = SnapshotReport{};
  s.state = "rejected";
  s.reason = "KV type q8_0, here f16";
  EXPECT_EQ(snapshot_text(file(s)), "rejected: KV type q8_0, here f16");
  s.path = "/cache/5f0c.swkv";
  EXPECT_EQ(snapshot_text(file(s)), "rejected 5f0c.swkv: KV type q8_0, here f16");
  s.state = "skipped";
  s.reason = "too large: 77.0 MiB, limit 1.0 MiB";
  EXPECT_EQ(snapshot_text(file(s)), "not saved: too large: 77.0 MiB, limit 1.0 MiB");
  s.reason.reset();
  EXPECT_EQ(snapshot_text(file(s)), "not saved");
}

TEST(SnapshotReportText, LeavesOutWhatIsNotKnown) {
  SnapshotReport s;
  s.state = "saved";
  EXPECT_EQ(snapshot_text(file(s)), "saved");
  s.size_bytes = 1024;
  EXPECT_EQ(snapshot_text(file(s)), "saved (1.0 KiB)");
}

TEST(SnapshotReportText, TellsAFileOfSeveralDocumentsOnce) {
  RunReport r = report_with(restored());
  r.documents.push_back(r.documents[0]);
  r.documents[1].name = "annex";
  SnapshotReport saved = restored();
  saved.state = "saved";
  saved.path = "/cache/snapshots/77aa.swkv";
  for (DocumentReport& d : r.documents) {
    d.snapshot = saved;
    d.snapshot->files = {file(restored(), {"contract"}), file(saved, {"contract", "annex"})};
  }

  const std::string table = to_table(r, false);

  EXPECT_NE(
      table.find("\nsnapshot        contract: restored 41,200 tokens from 5f0c.swkv (77.0 MiB, "
                 "0.21 s)\nsnapshot        contract + annex: saved 41,200 tokens to 77aa.swkv "
                 "(77.0 MiB, 0.21 s)\n"),
      std::string::npos)
      << table;
  EXPECT_EQ(table.find("snapshot ", table.find("77aa.swkv")), std::string::npos) << table;
}

TEST(SnapshotReportText, StandsInTheTableBelowTheFigures) {
  const std::string table = to_table(report_with(restored()), false);

  EXPECT_NE(table.find("(document 37 once, 41,200 restored)"), std::string::npos) << table;
  EXPECT_NE(
      table.find("\nsnapshot        restored 41,200 tokens from 5f0c.swkv (77.0 MiB, 0.21 s)\n"),
      std::string::npos)
      << table;
  EXPECT_NE(to_table(report_with(restored(), 0), false).find("(document 41,237 restored)"),
            std::string::npos);
  EXPECT_EQ(to_table(testing::sample_report(), false).find("snapshot"), std::string::npos);
}

TEST(SnapshotReportText, NamesTheDocumentWhereThereAreSeveral) {
  SnapshotReport rejected;
  rejected.state = "rejected";
  rejected.reason = "bad \x1b[2J header";
  RunReport r = report_with(rejected, 41237);
  r.documents.push_back(testing::sample_report().documents[0]);
  r.documents[1].name = "annex";

  const std::string table = to_table(r, true);

  EXPECT_NE(table.find("\x1b[33msnapshot\x1b[0m        contract: rejected: bad \\x1b[2J header\n"),
            std::string::npos)
      << table;
  EXPECT_EQ(table.find("annex: "), std::string::npos) << "it had none";
}

// rules in front, and rules behind other: both were restored.
RunReport report_of_two_places() {
  RunReport r = report_with(restored(), 0);
  DocumentReading front, behind;
  front.n_tokens = front.restored_tokens = 97;
  front.reader = "risk";
  front.source = behind.source = "restored";
  front.snapshot = behind.snapshot = restored();
  front.snapshot->n_tokens = 97;
  behind.n_tokens = behind.restored_tokens = 193;
  behind.after = "other";
  behind.reader = "teaser";
  behind.snapshot->n_tokens = 378;
  DocumentReport& rules = r.documents[0];
  rules.name = "rules";
  rules.n_tokens = 97;
  rules.restored_tokens = 97 + 193;
  rules.readings = {front, behind};
  SnapshotFileReport file{"restored", "/cache/snapshots/a.swkv", 0, 97, 0, {}, {"rules"}};
  rules.snapshot->files.push_back(file);
  file.n_tokens = 378;
  file.documents = {"other", "rules"};
  rules.snapshot->files.push_back(file);
  DocumentReport& other = r.documents.emplace_back(rules);
  other.name = "other";
  other.n_tokens = other.restored_tokens = 185;
  other.snapshot.reset();
  other.readings = {behind};
  other.readings[0].after = "";
  other.readings[0].n_tokens = other.readings[0].restored_tokens = 185;
  return r;
}

TEST(SnapshotReportText, CountsWhatWasRestoredInEachPlace) {
  const RunReport r = report_of_two_places();
  const std::string table = to_table(r, false), markdown = to_markdown(r);
  EXPECT_NE(table.find("(documents 475 restored)"), std::string::npos) << table;
  EXPECT_NE(table.find("snapshot        rules: restored 97 tokens"), std::string::npos) << table;
  EXPECT_NE(table.find("snapshot        other + rules: restored 378 tokens"), std::string::npos)
      << table;
  for (const char* line :
       {"- document: rules, 97 tokens, 97 restored\n",
        "- document: rules after other, 193 tokens, 193 restored\n",
        "- document: other, 185 tokens, 185 restored\n", "(documents 475 restored)"}) {
    EXPECT_NE(markdown.find(line), std::string::npos) << line << markdown;
  }
  const auto json = nlohmann::ordered_json::parse(to_json(r))["documents"];
  int n_restored = 0;
  for (const auto& document : json) {
    int n = 0;
    for (const auto& reading : document["readings"]) n += reading["restored_tokens"].get<int>();
    EXPECT_EQ(document["restored_tokens"], n);
    n_restored += n;
  }
  EXPECT_EQ(n_restored, 475);
  EXPECT_EQ(json[0]["readings"][1]["after"], "other");
  EXPECT_EQ(json[0]["readings"][1]["reader"], "teaser");
  EXPECT_EQ(json[0]["readings"][1]["snapshot"]["n_tokens"], 378);
  EXPECT_TRUE(json[0]["readings"][0]["after"].is_null());
}

TEST(SnapshotReportText, StandsInMarkdown) {
  EXPECT_NE(to_markdown(report_with(restored())).find("\nsnapshot        restored 41,200 tokens"),
            std::string::npos);
}

TEST(SnapshotReportText, IsAnObjectInJson) {
  const auto of = [](const SnapshotReport& s) {
    return nlohmann::ordered_json::parse(to_json(report_with(s)))["documents"][0]["snapshot"];
  };
  SnapshotReport skipped;
  skipped.state = "skipped";
  skipped.reason = "too large";

  EXPECT_EQ(of(restored()).dump(),
            R"({"state":"restored","path":"/cache/snapshots/5f0c.swkv","size_bytes":80740352,)"
            R"("n_tokens":41200,"ms":213.0,"reason":null,"files":[]})");
  EXPECT_EQ(of(skipped).dump(),
            R"({"state":"skipped","path":null,"size_bytes":null,"n_tokens":null,"ms":null,)"
            R"("reason":"too large","files":[]})")
      << "unknown is null, never 0";

  SnapshotReport both = restored();
  both.files = {file(skipped, {"contract", "annex"}), file(restored(), {"contract"})};
  EXPECT_EQ(of(both)["files"].dump(),
            R"([{"state":"skipped","path":null,"size_bytes":null,"n_tokens":null,"ms":null,)"
            R"("reason":"too large","documents":["contract","annex"]},)"
            R"({"state":"restored","path":"/cache/snapshots/5f0c.swkv","size_bytes":80740352,)"
            R"("n_tokens":41200,"ms":213.0,"reason":null,"documents":["contract"]}])");
}

TEST(SnapshotReportText, OfAFileWithABrokenNameIsStillJson) {
  SnapshotReport s = restored();
  s.path = "/cache/\xff.swkv";
  s.reason = "\xfe";

  EXPECT_TRUE(nlohmann::json::accept(to_json(report_with(s))));
}

}  // namespace
}  // namespace swarmkv
