// The table that maps the runtime's answers, row by row.
#include <gtest/gtest.h>

#include "engine/llama/decode_status.h"

namespace swarmkv::internal {
namespace {

TEST(DecodeStatus, MapsEveryNumberOfTheTable) {
  EXPECT_EQ(forward_status(0), ForwardStatus::kOk);
  EXPECT_EQ(forward_status(1), ForwardStatus::kNoSlot);
  EXPECT_EQ(forward_status(2), ForwardStatus::kAborted);
  EXPECT_EQ(forward_status(-1), ForwardStatus::kBadBatch);
  EXPECT_EQ(forward_status(-2), ForwardStatus::kFatal);
  EXPECT_EQ(forward_status(-3), ForwardStatus::kFatal);
}

TEST(DecodeStatus, TakesNumbersNobodyAssignedAndExceptionsAsFatal) {
  for (const int result : {3, 4, 100, -4, -100, kDecodeThrew}) {
    EXPECT_EQ(forward_status(result), ForwardStatus::kFatal) << result;
  }
}

TEST(DecodeStatus, DoubtsTheCacheAfterAnAbortAndAFailureOnly) {
  EXPECT_TRUE(leaves_cache_in_doubt(ForwardStatus::kAborted));
  EXPECT_TRUE(leaves_cache_in_doubt(ForwardStatus::kFatal));
  EXPECT_FALSE(leaves_cache_in_doubt(ForwardStatus::kOk));
  EXPECT_FALSE(leaves_cache_in_doubt(ForwardStatus::kNoSlot));
  EXPECT_FALSE(leaves_cache_in_doubt(ForwardStatus::kBadBatch));
}

}  // namespace
}  // namespace swarmkv::internal
