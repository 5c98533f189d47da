// Random shapes, layouts and masks: as the formula says, and the same bits in any company, at any
// place, for any number of threads and on every instruction set that was compiled in.
#include <gtest/gtest.h>

#include "attention/random_case.h"
#include "attention/reference.h"
#include "support/n_programs.h"

namespace swarmkv::internal::test {
namespace {

constexpr double kMostError = 1e-9;

std::string described(int i, const AttentionCase& c) {
  return "case " + std::to_string(i) + ": head " + std::to_string(c.shape.head_size) + ", " +
         std::to_string(c.shape.n_heads) + "/" + std::to_string(c.shape.n_kv_heads) + " heads, " +
         std::to_string(c.shape.n_tokens) + " tokens, " + std::to_string(c.shape.n_cells) +
         " cells, " + c.target;
}

void check(int i, const std::string& target) {
  AttentionCase c = random_case(i);
  c.target = target;
  const std::string what = described(i, c);
  reference_attention(c.shape, c.tensors());
  const std::vector<float> should = c.out;

  const std::vector<float> is = c.grouped(1);
  ASSERT_LE(normalised_error(is, should), kMostError) << what;
  ASSERT_EQ(c.grouped(2), is) << what;
  ASSERT_EQ(c.grouped(3), is) << what;

  Random random(static_cast<Random::result_type>(i));
  Moved other = moved(c, random);
  other.c.target = target;
  const std::vector<float> again = other.c.grouped(draw(random, 1, 3));
  for (const auto& [from, to] : other.kept) {
    ASSERT_EQ(other.c.row(again, to), c.row(is, from)) << what << ", token " << from;
  }
}

void check_all(std::uint64_t n, const std::string& target) {
  const int end = static_cast<int>(n_programs(n));
  for (int i = 0; i < end; ++i) ASSERT_NO_FATAL_FAILURE(check(i, target));
}

TEST(RandomAttention, EqualsTheFormulaAndItselfInOtherCompany) { check_all(150, ""); }

TEST(RandomAttention, DoesSoOnEveryInstructionSet) {
  const std::vector<std::string> targets = grouped_attention_targets();
  for (const std::string& target : targets) check_all(24, target);
#if defined(__x86_64__)
  EXPECT_TRUE(targets.back() == "EMU128" || targets.back() == "SCALAR")
      << "what runs without any special instructions is not there, only " << targets.back();
#endif
}

// Some minutes each: apart, so that they may run at the same time.
void check_every_second_target(std::size_t from) {
  const std::vector<std::string> targets = grouped_attention_targets();
  for (std::size_t i = from; i < targets.size(); i += 2) check_all(2000, targets[i]);
}
TEST(LongRandomAttention, DoesSoOnTheFirstInstructionSetAndTheThird) {
  check_every_second_target(0);
}
TEST(LongRandomAttention, DoesSoOnTheSecondAndTheFourth) { check_every_second_target(1); }

}  // namespace
}  // namespace swarmkv::internal::test
