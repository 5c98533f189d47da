// What must be refused before the runtime sees it, and what a failed forward leaves behind.
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <thread>

#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

constexpr float kExact = 1e-3f;

TEST(EngineLimits, RefusesBatchesTheRuntimeWouldAssertOnOrMisread) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(512, 4, 32));
  ASSERT_EQ(context->batch_limits().n_tokens, 32);
  const auto refused = [&](const std::string& part, const Batch& batch) {
    expect_error(ErrorCode::kInvalidArgument, part, [&] { (void)context->forward(batch); });
  };
  refused("empty", {});
  refused("33 tokens, at most 32", next_tokens(*context, 0, some_tokens(*model, 33)));
  refused("position 7 does not continue sequence 0, whose next is 0", {{5, 7, 0, true}});
  refused("256 is not in [0, 4)", {{5, 0, 256, true}});
  refused("4 is not in [0, 4)", {{5, 0, 4, true}});
  refused("-1 is not in [0, 4)", {{5, 0, -1, true}});
  refused("token", {{model->info().n_vocab, 0, 0, true}});
  Batch many = next_tokens(*context, 0, some_tokens(*model, 5));
  for (BatchToken& item : many) item.logits = true;
  refused("5 rows of logits, at most 4", many);
  for (SeqId seq = 0; seq < 4; ++seq) EXPECT_EQ(context->length(seq), 0);
  (void)feed(*context, 0, some_tokens(*model, 5));  // and nothing was harmed
}

// What is told of a cache is what the process pays for it.
TEST(EngineLimits, TheCacheHasTheSizeThatItTells) {
  const auto resident_bytes = [] {
    std::ifstream in("/proc/self/statm");
    double total = 0, resident = 0;
    in >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
  };
  const auto model = smollm2();
  ContextOptions options = small_context(2'048);
  const double before_small = resident_bytes();
  const auto small = model->make_context(options);
  const double before_large = resident_bytes();
  options.n_cells = 32'768;
  const auto large = model->make_context(options);
  const double after = resident_bytes();

  const auto told = static_cast<double>(large->kv_size_bytes() - small->kv_size_bytes());
  const double paid = (after - before_large) - (before_large - before_small);
  EXPECT_NEAR(paid / told, 1.0, 0.1);
}

TEST(EngineLimits, RefusesIdsOutOfRangeInEveryCall) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(256, 4));
  (void)feed(*context, 0, some_tokens(*model, 5));
  for (const SeqId bad : {-1, 4, 255, 256, 100000}) {
    const std::string part = std::to_string(bad) + " is not in [0, 4)";
    const auto refused = [&](auto action) {
      expect_error(ErrorCode::kInvalidArgument, part, action);
    };
    refused([&] { (void)context->length(bad); });
    refused([&] { context->release(bad); });
    refused([&] { (void)context->truncate(bad, 0); });
    refused([&] { (void)context->can_fork(bad, 1); });
    refused([&] { context->fork(0, bad, 1); });
    refused([&] { context->fork(bad, 1, 1); });
  }
}

TEST(EngineLimits, RefusesForksThatWouldGoWrongSilently) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, some_tokens(*model, 20));
  (void)feed(*context, 1, some_tokens(*model, 3));
  const auto refused = [&](const std::string& part, SeqId source, SeqId target, Pos end) {
    expect_error(ErrorCode::kInvalidArgument, part, [&] { context->fork(source, target, end); });
  };
  refused("not empty: it holds 3", 0, 1, 20);
  refused("both 0", 0, 0, 20);
  refused("cannot be forked at 21", 0, 2, 21);
  refused("cannot be forked at -1", 0, 2, -1);
  refused("cannot be forked at 1", 3, 2, 1);
  EXPECT_FALSE(context->can_fork(0, 21));
  EXPECT_TRUE(context->can_fork(0, 20));
  EXPECT_TRUE(context->can_fork(0, 1));
  expect_error(ErrorCode::kInvalidArgument, "-3", [&] { (void)context->truncate(0, -3); });
}

TEST(EngineLimits, ChecksContextOptionsBeforeTheRuntimeDoes) {
  const auto model = smollm2();
  const auto refused = [&](ErrorCode code, const std::string& part, auto change) {
    ContextOptions options = small_context();
    change(options);
    expect_error(code, part, [&] { (void)model->make_context(options); });
  };
  const auto wrong = ErrorCode::kInvalidArgument;
  refused(wrong, "cells must be", [](auto& o) { o.n_cells = 0; });
  refused(wrong, "cells must be", [](auto& o) { o.n_cells = -5; });
  refused(wrong, "got 2147483647", [](auto& o) { o.n_cells = 2147483647; });
  refused(wrong, "sequences must be in [1, 256], got 257", [](auto& o) { o.n_seq_max = 257; });
  refused(wrong, "sequences", [](auto& o) { o.n_seq_max = 0; });
  refused(wrong, "batch size", [](auto& o) { o.n_batch = 0; });
  refused(wrong, "threads", [](auto& o) { o.n_threads = 4096; });
  refused(wrong, "threads", [](auto& o) { o.n_threads_batch = -1; });
  refused(wrong, "deterministic", [](auto& o) {
    o.deterministic = true;
    o.flash_attention = FlashAttention::kOff;
  });
  refused(ErrorCode::kUnsupported, "quantised V cache (q8_0) needs flash attention", [](auto& o) {
    o.type_v = KvType::kQ8_0;
    o.flash_attention = FlashAttention::kOff;
  });
  refused(ErrorCode::kDoesNotFit, "MiB are available", [](auto& o) { o.n_cells = 1 << 30; });
}

TEST(EngineLimits, MakesContextsOfEveryAllowedKind) {
  const auto model = smollm2();
  const Tokens tokens = some_tokens(*model, 10);
  for (const KvType type : {KvType::kF32, KvType::kF16, KvType::kBF16, KvType::kQ8_0, KvType::kQ5_1,
                            KvType::kQ5_0, KvType::kQ4_1, KvType::kQ4_0}) {
    ContextOptions options = small_context(256, 2, 16);
    options.type_k = options.type_v = type;
    const auto context = model->make_context(options);
    EXPECT_GE(feed(*context, 0, tokens).size(), 1u) << static_cast<int>(type);
  }
  // A batch smaller than the number of sequences grows to it; one larger than the pool shrinks.
  EXPECT_EQ(model->make_context(small_context(256, 64, 4))->batch_limits().n_tokens, 64);
  EXPECT_EQ(model->make_context(small_context(1, 1, 100000))->batch_limits().n_tokens, 256);
  EXPECT_EQ(model->make_context(small_context(1, 256, 1))->n_seq_max(), 256);
}

TEST(EngineLimits, LeavesTheCacheUsableWhenThereIsNoSlot) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(256, 4));
  const Tokens first = some_tokens(*model, 250), tail = some_tokens(*model, 6, 1);
  const auto lone = model->make_context(exact_context(256, 4));
  (void)feed(*lone, 0, first);
  const std::vector<float> expected = feed(*lone, 0, tail);

  (void)feed(*context, 0, first);
  const Batch too_much = next_tokens(*context, 1, some_tokens(*model, 7, 2));
  EXPECT_EQ(context->forward(too_much), ForwardStatus::kNoSlot);
  EXPECT_EQ(context->length(0), 250);
  EXPECT_EQ(context->length(1), 0);
  expect_error(ErrorCode::kInvalidArgument, "row 6", [&] { (void)context->logits(6); });
  EXPECT_LT(largest_difference(feed(*context, 0, tail), expected), kExact);
}

TEST(EngineLimits, AbortsTheNextForwardAndThenGoesOnAsBefore) {
  const auto model = tiny("llama");
  const Tokens first = some_tokens(*model, 30), tail = some_tokens(*model, 6, 1);
  const auto lone = model->make_context(exact_context());
  (void)feed(*lone, 0, first);
  const std::vector<float> expected = feed(*lone, 0, tail);
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, first);
  context->abort();
  EXPECT_EQ(context->forward(next_tokens(*context, 0, tail)), ForwardStatus::kAborted);
  EXPECT_EQ(context->length(0), 30);
  EXPECT_LT(largest_difference(feed(*context, 0, tail), expected), kExact);
}

TEST(EngineLimits, AbortsAForwardThatIsRunning) {
  const auto model = smollm2();
  const Tokens first = some_tokens(*model, 30), longer = some_tokens(*model, 480, 1),
               tail = some_tokens(*model, 6, 2);
  const auto context = model->make_context(small_context(1024, 4, 512));
  (void)feed(*context, 0, first);
  context->fork(0, 1, 30);
  const std::vector<float> expected = feed(*context, 1, tail);
  context->release(1);
  // Another thread asks as soon as the forward has begun, as near as that can be told from outside.
  std::atomic<bool> begun{false};
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    context->abort();
  });
  const Batch batch = next_tokens(*context, 0, longer);
  begun = true;
  const ForwardStatus status = context->forward(batch);
  other.join();
  ASSERT_EQ(status, ForwardStatus::kAborted);  // 480 tokens take far longer than a thread's start
  EXPECT_EQ(context->length(0), 30);
  context->fork(0, 1, 30);
  EXPECT_LT(largest_difference(feed(*context, 1, tail), expected), 1.5f);
}

}  // namespace
}  // namespace swarmkv::internal
