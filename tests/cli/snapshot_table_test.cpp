#include "cli/snapshot_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/file_json.h"
#include "cli/snapshot_text.h"
#include "support/golden.h"

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

TEST(SnapshotTable, AnEmptyStoreIsASentence) {
  EXPECT_EQ(snapshot_table({}), "");
  EXPECT_EQ(store_line({}, "/a\x1b"), "no snapshots in /a\\x1b\n");
  EXPECT_EQ(store_line({four()[3]}, "/a"), "1 snapshot, 12 B in /a\n");
}

TEST(SnapshotTable, SizesHaveTheUnitThatFits) {
  EXPECT_EQ(size_text(0), "0 B");
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(80'740'352), "77.0 MiB");
  EXPECT_EQ(size_text(std::uint64_t{20} << 30), "20.0 GiB");
  EXPECT_EQ(size_text(UINT64_MAX), "16384.0 PiB");
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
