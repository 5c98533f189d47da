// An early start on real weights, short enough for every run of the tests; LongEarlyStart has the
// whole licence.
#include "model/early_start_rig.h"

namespace swarmkv::testing {
namespace {

/// The licence's first 512 tokens, or some fewer, as text.
std::string beginning() {
  const Model words = Model::load({.path = internal::smollm2_path(), .vocab_only = true});
  std::string text = internal::licence_text(2600);
  while (words.tokenize(text).size() > 512) text.pop_back();
  return text;
}

TEST(EarlyStartOn512Tokens, WritesBeforeTwoFifthsAreRead) {
  const EarlyStartRig rig(beginning(), 128, 32);
  ASSERT_GT(rig.n_document(), 500);
  rig.expect_first_token_before_two_fifths();
}

TEST(EarlyStartOn512Tokens, AnswersAsAPlainRequestOverItsPart) {
  EarlyStartRig(beginning(), 128, 64).expect_ids_of_a_plain_request();
}

}  // namespace
}  // namespace swarmkv::testing
