#include "attention/layout.h"

#include <gtest/gtest.h>

#include "attention/attention_case.h"

namespace swarmkv::internal::test {
namespace {

AttentionCase some_case(int n_tokens, int n_cells) {
  return AttentionCase(64, 1, 1, n_tokens, n_cells, 1);
}

std::vector<int> cells(const AttentionLayout& layout) {
  std::vector<int> out;
  for (int place = 0; place < layout.n_places(); ++place) out.push_back(layout.cell(place));
  return out;
}

// cells      0 1 2 3 4 5
// positions  0 1 3 - 2 3      token 0 sees 0 1 2 4, token 1 sees 0 1 5
TEST(AttentionLayout, PutsCellsInTheOrderOfTheirPositions) {
  AttentionCase c = some_case(2, 6);
  c.positions = {0, 1, 3, -1, 2, 3};
  for (const int cell : {0, 1, 2, 4}) c.see(0, cell);
  for (const int cell : {0, 1, 5}) c.see(1, cell);

  const AttentionLayout layout = c.layout();

  EXPECT_EQ(cells(layout), (std::vector<int>{0, 1, 4, 2, 5}));
  EXPECT_EQ(layout.seen(0, 0), 0b01111U);
  EXPECT_EQ(layout.seen(1, 0), 0b10011U);
  EXPECT_EQ(layout.all(0), 0b11111U);
}

TEST(AttentionLayout, LeavesOutWhatNobodySees) {
  AttentionCase c = some_case(2, 200);
  c.see_range(0, 0, 10);
  c.see_range(1, 150, 200);

  const AttentionLayout layout = c.layout();

  EXPECT_EQ(layout.n_places(), 60);
  EXPECT_EQ(layout.n_tiles(), 1);
  EXPECT_EQ(layout.cell(10), 150);
}

TEST(AttentionLayout, TellsWhetherTheMaskAddsAnything) {
  AttentionCase c = some_case(1, 70);
  c.see_range(0, 0, 70);
  EXPECT_FALSE(c.layout().adds());
  c.see(0, 69, -1.0F);
  EXPECT_TRUE(c.layout().adds());
  EXPECT_EQ(c.layout().seen(0, 1), c.layout().all(1));
}

TEST(AttentionLayout, MayBeReadAgainForAnotherForward) {
  AttentionCase large = some_case(5, 300);
  for (int t = 0; t < 5; ++t) large.see_range(t, 0, 300);
  AttentionCase none = some_case(2, 40);
  AttentionLayout layout = large.layout();
  const AttentionTensors t = none.tensors();

  layout.read(t.mask, t.mask_token, 2, 40);

  EXPECT_EQ(layout.n_places(), 0);
  EXPECT_EQ(layout.n_tiles(), 0);
}

}  // namespace
}  // namespace swarmkv::internal::test
