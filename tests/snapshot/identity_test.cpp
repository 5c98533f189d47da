#include "snapshot/identity.h"

#include <gtest/gtest.h>

#include "snapshot/layout.h"
#include "snapshot/snapshot_name.h"
#include "support/snapshot_samples.h"

namespace swarmkv::internal {
namespace {

TEST(SnapshotIdentity, NamesTheFirstDifferenceWithBothValues) {
  SnapshotIdentity file = some_identity();
  EXPECT_EQ(first_difference(file, some_identity()), std::nullopt);

  file.cache_type_v = "q8_0";
  EXPECT_EQ(first_difference(file, some_identity()), "KV type of values q8_0, here f16");

  file.cache_type_v = "f16\x1b[31m";
  EXPECT_EQ(first_difference(file, some_identity()), "KV type of values f16?[31m, here f16");

  file.cache_type_v = "";
  EXPECT_EQ(first_difference(file, some_identity()), "KV type of values none, here f16");
}

TEST(SnapshotIdentity, NoFieldIsForgotten) {
  SnapshotAbout plain = some_about();
  const std::string key = snapshot_key(plain.identity, plain.arithmetic);
  int n_labels = 0;
  for (const SnapshotText& text : kSnapshotTexts) {
    SnapshotAbout other = plain;
    text.in(other) += "x";
    const bool is_label = other.identity == plain.identity && other.arithmetic == plain.arithmetic;
    n_labels += is_label ? 1 : 0;
    EXPECT_EQ(snapshot_key(other.identity, other.arithmetic) == key, is_label) << text.field;
    const auto difference = first_difference(other.identity, plain.identity);
    EXPECT_EQ(difference.has_value(), other.identity != plain.identity) << text.field;
    if (difference) {
      EXPECT_EQ(difference->rfind(text.field, 0), 0u) << *difference;
    }
  }
  EXPECT_EQ(n_labels, 2) << "document and model name alone say nothing about the state";
}

TEST(SnapshotIdentity, ComparesHowAStateWasComputed) {
  const SnapshotArithmetic file{.deterministic = true, .recipe = "grid=512"};
  EXPECT_EQ(first_difference(file, file), std::nullopt);
  EXPECT_EQ(first_difference(file, {.deterministic = true, .recipe = "grid=256"}),
            "recipe grid=512, here grid=256");
  EXPECT_EQ(first_difference(file, {.deterministic = false, .recipe = "grid=512"}),
            "saved in deterministic mode, here without it");
  EXPECT_EQ(first_difference({}, file), "saved without deterministic mode, here in it");
}

TEST(SnapshotIdentity, ALongValueFromAFileIsShownShort) {
  SnapshotIdentity file = some_identity();
  file.rope = std::string(79, 'r') + "\u00e4" + std::string(4000, 'r');
  EXPECT_EQ(first_difference(file, some_identity()),
            "RoPE settings " + std::string(79, 'r') + "..., here base=100000 scale=1");
}

}  // namespace
}  // namespace swarmkv::internal
