// An agent that starts at token 512 of the whole licence, as it is measured in the README.
#include "model/early_start_rig.h"

namespace swarmkv::testing {
namespace {

TEST(LongEarlyStart, WritesBeforeTwoFifthsOfTheLicenceAreRead) {
  const EarlyStartRig rig(internal::licence_text(), 512, 512);
  ASSERT_GT(rig.n_document(), 3600) << "the licence has 3,684 tokens";
  rig.expect_first_token_before_two_fifths();
}

TEST(LongEarlyStart, AnswersAsAPlainRequestOverTheFirst512Tokens) {
  EarlyStartRig(internal::licence_text(), 512, 512).expect_ids_of_a_plain_request();
}

}  // namespace
}  // namespace swarmkv::testing
