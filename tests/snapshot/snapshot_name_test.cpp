#include "snapshot/snapshot_name.h"

#include <gtest/gtest.h>

#include "snapshot/digest_bytes.h"
#include "support/snapshot_samples.h"
#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

TEST(SnapshotName, SaysWhatItWasMadeOf) {
  const SnapshotAbout about = some_about();
  const std::string digest = digest_of(some_state(3));

  const auto parsed = parse_snapshot_name(snapshot_name(about, digest, 3684));

  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->token_digest, digest.substr(0, 16));
  EXPECT_EQ(parsed->n_tokens, 3684u);
  EXPECT_EQ(parsed->key, snapshot_key(about.identity, about.arithmetic));
}

TEST(SnapshotName, NothingElseIsTakenForOne) {
  const std::string a = "0123456789abcdef", good = a + "-12-" + a + ".swkv";
  ASSERT_TRUE(parse_snapshot_name(good));
  for (const std::string& bad :
       {std::string(), std::string(".swkv"), good + "x", "x" + good, a + "--" + a + ".swkv",
        a + "-0-" + a + ".swkv", a + "-012-" + a + ".swkv", a + "-1x-" + a + ".swkv",
        a + "--1-" + a + ".swkv", a + "-2147483648-" + a + ".swkv",
        a + "-99999999999999999999999-" + a + ".swkv", "0123456789ABCDEF-12-" + a + ".swkv",
        a + "_12_" + a + ".swkv", good + ".damaged"}) {
    EXPECT_FALSE(parse_snapshot_name(bad)) << bad;
  }
}

TEST(SnapshotName, TellsOurFilesFromOthers) {
  EXPECT_EQ(kind_of_name("a.swkv"), NameKind::kSnapshot);
  EXPECT_EQ(kind_of_name("a.swkv.damaged"), NameKind::kDamaged);
  EXPECT_EQ(kind_of_name("a.damaged"), NameKind::kOther);
  EXPECT_EQ(kind_of_name("notes.txt"), NameKind::kOther);
  EXPECT_EQ(kind_of_name(".."), NameKind::kOther);
  EXPECT_EQ(kind_of_name(temporary_name()), NameKind::kTemporary);
  EXPECT_NE(temporary_name(), temporary_name());
  for (const char* others :
       {".tmp-", ".tmp-notes.txt", ".tmp-1-", ".tmp-5-fifo", ".tmp--0123456789abcdef",
        ".tmp-1-0123456789abcdeg", ".tmp-1-0123456789abcdef0", ".tmp-x-0123456789abcdef"}) {
    EXPECT_EQ(kind_of_name(others), NameKind::kOther) << others;
  }
}

TEST(SnapshotName, WhatCouldLeaveTheFolderIsRefused) {
  for (const std::string& bad :
       {std::string(), std::string("."), std::string(".."), std::string("../a.swkv"),
        std::string("/etc/passwd"), std::string("a/b.swkv"), std::string(300, 'a') + ".swkv",
        std::string("a\nb.swkv"), std::string("a\0b.swkv", 8), std::string("a\x7f.swkv"),
        std::string("a\x1b[2J.swkv")}) {
    try {
      check_snapshot_name(bad);
      ADD_FAILURE() << "accepted: " << bad;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      const std::string text = error.what();
      EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20;
      })) << text;
    }
  }
  EXPECT_NO_THROW(check_snapshot_name("contract.swkv"));
}

}  // namespace
}  // namespace swarmkv::internal
