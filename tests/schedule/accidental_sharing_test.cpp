// What nobody declared as shared is shared, too, where it is worth a cut.
#include <gtest/gtest.h>

#include "support/core_harness.h"
#include "support/texts.h"

namespace swarmkv::internal {
namespace {

//  common text --> document a     (a continues the common text, b is the common text and something
//  else)
//             \-> document b
TEST(AccidentalSharing, ACommonBeginningOfTwoDocumentsIsComputedOnce) {
  CoreHarness h(CoreHarness::Options{});
  const std::string common = letters(100, 1);
  const auto a = h.document(common + letters(80, 2)), b = h.document(common + letters(90, 3));
  const std::vector<Request> requests = {h.request(a, question(1)), h.request(b, question(2)),
                                         h.request(a, question(3)), h.request(b, question(4))};

  for (const Request& request : requests) h.submit(request);
  h.run();

  EXPECT_EQ(h.core->stats().prompt_tokens_computed, tokens_with_shared_prefixes(requests));
}

TEST(AccidentalSharing, QuestionsThatBeginAlikeShareFrom32TokensOn) {
  for (const int n_alike : {31, 32}) {
    CoreHarness h(CoreHarness::Options{});
    const auto document = h.document(letters(100, 1));
    const std::string alike = letters(n_alike, 2);
    const std::vector<Request> requests = {h.request(document, alike + "x first"),
                                           h.request(document, alike + "y second")};

    for (const Request& request : requests) h.submit(request);
    h.run();

    const std::int64_t apart = tokens_with_shared_prefixes(requests);
    EXPECT_EQ(h.core->stats().prompt_tokens_computed,
              n_alike < 32 ? apart : tokens_of_tree(requests));
  }
}

}  // namespace
}  // namespace swarmkv::internal
