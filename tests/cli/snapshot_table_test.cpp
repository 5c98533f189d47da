#include "cli/snapshot_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/file_json.h"
#include "cli/progress_render.h"
#include "support/golden.h"
#include "swarmkv/report.h"

namespace swarmkv::cli {
namespace {

SnapshotInfo info(const std::string& name, const std::string& document) {
  SnapshotInfo s;
  s.name = name;
  s.path = "/cache/snapshots/" + name;
  s.format_version = 1;
  s.model_name = "SmolLM2 135M Instruct";
  s.model_fingerprint = "7c1b36f1-98304";
  s.arch = "llama";
  s.cache_type_k = s.cache_type_v = "f16";
  s.engine = "llama.cpp 0c1e570";
  s.document = document;
  s.n_tokens = 3684;
  s.token_digest = "4f1c9a02bb7e35d0";
  s.size_bytes = 84'904'960;
  s.state_bytes = 84'889'200;
  s.created_at = "2026-11-30T09:12:33Z";
  s.last_used_at = "2026-11-30T10:01:02Z";
  return s;
}

std::vector<SnapshotInfo> four() {
  SnapshotInfo contract = info("4f1c9a02bb7e35d0-3684-9d20c1a7b8e4f655.swkv", "contract");
  contract.in_use = contract.deterministic = true;
  SnapshotInfo other = info("4f1c9a02bb7e35d0-3684-9d40c1a7b8e4f655.swkv", "contract");
  other.cache_type_k = "q8_0";
  SnapshotInfo wide = info("77aa9a02bb7e35d0-41237-9d20c1a7b8e4f655.swkv",
                           "\xe4\xbd\xa0\xe5\xa5\xbd_\x1b[2J_a_document_with_a_long_name");
  wide.n_tokens = 41'237;
  SnapshotInfo damaged;
  damaged.name = "90009a02bb7e35d0-5-9d20c1a7b8e4f655.swkv";
  damaged.size_bytes = 12;
  damaged.problem = "size: 12, at least 512";
  damaged.damaged = true;
  return {contract, other, wide, damaged};
}

TEST(SnapshotTable, LooksLikeTheGoldenTable) {
  swarmkv::testing::expect_golden("cli/snapshot_list.txt",
                                  snapshot_table(four()) + store_line(four(), "/cache/snapshots"));
  swarmkv::testing::expect_golden("cli/snapshot_show.txt", snapshot_details(four()[0]));
}

TEST(SnapshotTable, NamesAreAsShortAsTheyMayBeAndAlwaysMeanOneFile) {
  const std::vector<std::string> names = short_names(four());
  EXPECT_EQ(names[0], "4f1c9a02bb7e35d0-3684-9d2");
  EXPECT_EQ(names[1], "4f1c9a02bb7e35d0-3684-9d4");
  for (const std::string& name : names) {
    const auto all = four();
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [&](const SnapshotInfo& s) { return s.name.starts_with(name); }),
              1)
        << name;
  }
  EXPECT_EQ(short_names({info("4f1c9a02bb7e35d0-3684-9d20c1a7b8e4f655.swkv", "a")}),
            std::vector<std::string>{"4f1c9a02bb7e"});
  EXPECT_EQ(short_names({}), std::vector<std::string>{});
  EXPECT_EQ(short_names({info("a", "x"), info("ab", "x")}), (std::vector<std::string>{"a", "ab"}));
}

TEST(SnapshotTable, OfADamagedTwinTheWholeNameIsShown) {
  std::vector<SnapshotInfo> all = four();
  all.push_back(info(all[0].name + ".damaged", "contract"));
  EXPECT_EQ(short_names(all)[0], "4f1c9a02bb7e35d0-3684-9d2") << "as if there were no twin";
  EXPECT_EQ(short_names(all)[4], all[0].name + ".damaged");
  // One whose place nobody took is as clear as any other.
  EXPECT_EQ(short_names({info("4f1c9a02bb7e35d0-3684-9d20c1a7b8e4f655.swkv.damaged", "a")}),
            std::vector<std::string>{"4f1c9a02bb7e"});
  for (const std::string& name :
       short_names({info("abcdefghijkl.swkv", "x"), info("abcdefghijklm.swkv", "x"),
                    info("b.swkv.damaged", "x")})) {
    EXPECT_TRUE(name.ends_with(".swkv") || name.ends_with(".damaged") ||
                name.find('.') == std::string::npos)
        << name << " is cut inside its suffix";
  }
}

// Longest lines, in columns.
std::size_t width_of(const std::string& table) {
  std::size_t width = 0;
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) width = std::max(width, shown_columns(line));
  return width;
}

TEST(SnapshotTable, CutsWhatTheTerminalHasNoRoomForAndNothingElsewhere) {
  std::vector<SnapshotInfo> all = {four()[0], four()[2]};
  all[0].model_name = "A model with a name of forty-one columns.";
  all[1].document = "a_document_that_is_named_by_somebody_who_likes_long_names";
  const std::string whole = snapshot_table(all);
  for (const SnapshotInfo& s : all) {
    EXPECT_NE(whole.find(s.model_name), std::string::npos) << whole;
    EXPECT_NE(whole.find(s.document), std::string::npos) << whole;
  }
  EXPECT_EQ(snapshot_table(all, 400), whole) << "there is room for all of it";
  const std::string some = snapshot_table(all, 160);
  EXPECT_EQ(width_of(some), 160U) << some;
  EXPECT_NE(some.find(all[0].model_name.substr(0, 24)), std::string::npos) << "more than it was\n"
                                                                           << some;
  const std::string narrow = snapshot_table(all, 20);
  EXPECT_NE(narrow.find("A model wit\u2026"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("in use, deterministic"), std::string::npos) << "notes are never cut";
}

TEST(SnapshotTable, SaysWhatRemovesFilesThatNobodyCanUse) {
  EXPECT_EQ(prune_line(four(), " --snapshot-dir kept"),
            "1 of them is of no use any more; to remove it: swarmkv snapshot prune --snapshot-dir "
            "kept\n");
  EXPECT_EQ(prune_line({four()[3], four()[3]}, ""),
            "2 of them are of no use any more; to remove them: swarmkv snapshot prune\n");
  SnapshotInfo newer = four()[0];
  newer.problem = "format version: 2, this program reads 1";
  EXPECT_EQ(prune_line({newer}, ""), "") << "prune leaves it to those who can read it";
}

TEST(SnapshotTable, AnEmptyStoreIsASentence) {
  EXPECT_EQ(snapshot_table({}), "");
  EXPECT_EQ(store_line({}, "/a\x1b"), "no snapshots in /a\\x1b\n");
  EXPECT_EQ(store_line({four()[3]}, "/a"), "1 snapshot, 12 B in /a\n");
}

TEST(SnapshotTable, SizesHaveTheUnitThatFits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(1023), "1023 B");
  EXPECT_EQ(bytes_text(80'740'352), "77.0 MiB");
  EXPECT_EQ(bytes_text(std::uint64_t{20} << 30), "20.0 GiB");
  EXPECT_EQ(bytes_text(UINT64_MAX), "16,384.0 PiB");
}

TEST(SnapshotJson, HoldsEverythingAndNullForWhatIsNotKnown) {
  using Json = nlohmann::ordered_json;
  const Json all = Json::parse(to_json(four(), "/cache/\xff"));
  const Json one = Json::parse(to_json(four()[0]));

  EXPECT_EQ(all["schema"], "swarmkv.snapshots/1");
  EXPECT_EQ(all["snapshots"].size(), 4U);
  EXPECT_EQ(one["schema"], "swarmkv.snapshot/1");
  EXPECT_EQ(one["name"], four()[0].name);
  EXPECT_EQ(one["n_tokens"], 3684);
  EXPECT_EQ(one["deterministic"], true);
  EXPECT_EQ(one["in_use"], true);
  EXPECT_TRUE(one["problem"].is_null());
  const Json& damaged = all["snapshots"][3];
  EXPECT_EQ(damaged["problem"], "size: 12, at least 512");
  EXPECT_EQ(damaged["size_bytes"], 12);
  for (const char* key : {"format_version", "document", "n_tokens", "model_name", "arch",
                          "deterministic", "state_bytes", "created_at"}) {
    EXPECT_TRUE(damaged[key].is_null()) << key;
  }
}

TEST(SnapshotJson, SaysWhatBecameOfEachDocument) {
  SnapshotReport saved;
  saved.state = "saved";
  saved.path = "/cache/a.swkv";
  saved.n_tokens = 5;
  SnapshotReport failed;
  failed.state = "failed";
  failed.reason = "does not fit";

  const auto json = nlohmann::ordered_json::parse(
      to_json(std::vector<SavedDocument>{{"a.txt", saved}, {"b.txt", failed}}));

  EXPECT_EQ(json["schema"], "swarmkv.saved/1");
  EXPECT_EQ(json["documents"][0].dump(),
            R"({"document":"a.txt","state":"saved","path":"/cache/a.swkv","size_bytes":null,)"
            R"("n_tokens":5,"ms":null,"reason":null})");
  EXPECT_EQ(json["documents"][1]["reason"], "does not fit");
}

}  // namespace
}  // namespace swarmkv::cli
