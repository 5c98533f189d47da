// Sequences, forks and cells of a real context.
//
//   base 0   [ document ........ )
//   fork 1   [ document ........ ) own tail
//   fork 2   [ document .. )       own tail
#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

// On a quantised model the layout of the cache alone moves logits; a missing document moves them
// by more than this.
constexpr float kTolerance = 1.5f;
constexpr float kExact = 1e-3f;

TEST(EngineContext, AnswersForksAsALoneRunDoes) {
  const auto model = tiny("llama");
  const Tokens document = some_tokens(*model, 60), tail = some_tokens(*model, 9, 1);
  Tokens whole = document;
  whole.insert(whole.end(), tail.begin(), tail.end());
  Tokens half(document.begin(), document.begin() + 25);
  half.insert(half.end(), tail.begin(), tail.end());
  const auto lone = model->make_context(exact_context());
  const std::vector<float> expected_whole = feed(*lone, 0, whole);
  const std::vector<float> expected_half = feed(*lone, 1, half);

  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, document);
  context->fork(0, 1, 60);
  context->fork(0, 2, 25);
  EXPECT_EQ(context->length(1), 60);
  EXPECT_EQ(context->length(2), 25);
  EXPECT_LT(largest_difference(feed(*context, 1, tail), expected_whole), kExact);
  EXPECT_LT(largest_difference(feed(*context, 2, tail), expected_half), kExact);

  // The control: a fork that lacks one token is told apart.
  context->fork(0, 3, 59);
  EXPECT_GT(largest_difference(feed(*context, 3, tail), expected_whole), kExact);
}

TEST(EngineContext, AnswersForksOnSmolLm2WithinTheNoiseOfItsWeights) {
  const auto model = smollm2();
  const Tokens document =
      model->tokenize("The agreement between Acme and Bolt ends on 3 May. Notice is due by post.",
                      SpecialTokens::kPlainText);
  const Tokens tail = model->tokenize(" The agreement ends on", SpecialTokens::kPlainText);
  Tokens whole = document;
  whole.insert(whole.end(), tail.begin(), tail.end());
  const auto lone = model->make_context(small_context());
  const std::vector<float> expected = feed(*lone, 0, whole);
  const auto context = model->make_context(small_context());
  (void)feed(*context, 0, document);
  context->fork(0, 1, static_cast<Pos>(document.size()));
  const std::vector<float> forked = feed(*context, 1, tail);
  EXPECT_LT(largest_difference(forked, expected), kTolerance);
  const std::vector<float> without = feed(*context, 2, tail);
  EXPECT_GT(largest_difference(without, expected), 2 * kTolerance);  // the control
}

TEST(EngineContext, SharesCellsSoThatForksCostNone) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(256, 8));
  ASSERT_EQ(context->n_cells(), 256);
  (void)feed(*context, 0, some_tokens(*model, 200));
  for (SeqId seq = 1; seq < 8; ++seq) context->fork(0, seq, 200);
  // 7 forks with 8 own tokens each fill the pool to the last cell.
  for (SeqId seq = 1; seq < 8; ++seq) (void)feed(*context, seq, some_tokens(*model, 8, seq));
  const auto one = some_tokens(*model, 1);
  EXPECT_EQ(context->forward(next_tokens(*context, 3, one)), ForwardStatus::kNoSlot);
  EXPECT_EQ(context->length(3), 208);
  context->release(5);
  EXPECT_EQ(context->forward(next_tokens(*context, 3, some_tokens(*model, 8))), ForwardStatus::kOk);
  EXPECT_EQ(context->forward(next_tokens(*context, 3, one)), ForwardStatus::kNoSlot);
}

TEST(EngineContext, GivesCellsBackForEverAndEver) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context(256, 4));
  const Tokens document = some_tokens(*model, 100), tail = some_tokens(*model, 78, 1);
  for (int round = 0; round < 20; ++round) {
    (void)feed(*context, 0, document);
    context->fork(0, 1, 100);
    (void)feed(*context, 1, tail);
    context->fork(1, 2, 178);
    ASSERT_EQ(context->forward(next_tokens(*context, 2, tail)), ForwardStatus::kOk) << round;
    // Released in every order; a fork outlives its source.
    for (const SeqId seq : {round % 3, (round + 1) % 3, (round + 2) % 3}) context->release(seq);
    for (SeqId seq = 0; seq < 3; ++seq) ASSERT_EQ(context->length(seq), 0);
  }
}

TEST(EngineContext, TruncatesToAnyPositionAndGoesOnAsIfTheRestHadNeverBeen) {
  const auto model = tiny("llama");
  const Tokens start = some_tokens(*model, 30), wrong = some_tokens(*model, 10, 1),
               right = some_tokens(*model, 5, 2);
  const auto lone = model->make_context(exact_context());
  (void)feed(*lone, 0, start);
  const std::vector<float> expected = feed(*lone, 0, right);
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, start);
  (void)feed(*context, 0, wrong);
  EXPECT_TRUE(context->truncate(0, 30));
  EXPECT_EQ(context->length(0), 30);
  EXPECT_LT(largest_difference(feed(*context, 0, right), expected), kExact);
  EXPECT_TRUE(context->truncate(0, 1000));
  EXPECT_EQ(context->length(0), 35);
  EXPECT_TRUE(context->truncate(0, 0));
  EXPECT_EQ(context->length(0), 0);
}

TEST(EngineContext, LeavesSiblingsAloneWhenOneIsTruncated) {
  const auto model = tiny("llama");
  const auto context = model->make_context(exact_context());
  (void)feed(*context, 0, some_tokens(*model, 30));
  context->fork(0, 1, 30);
  EXPECT_TRUE(context->truncate(1, 10));
  EXPECT_EQ(context->length(0), 30);
  EXPECT_EQ(context->length(1), 10);
  context->clear();
  EXPECT_EQ(context->length(0), 0);
  EXPECT_EQ(context->length(1), 0);
}

TEST(EngineContext, EvaluatesSeveralSequencesInOneForward) {
  const auto model = tiny("llama");
  const Tokens a = some_tokens(*model, 12), b = some_tokens(*model, 7, 1);
  const auto lone = model->make_context(exact_context());
  const std::vector<float> expected_a = feed(*lone, 0, a), expected_b = feed(*lone, 1, b);
  const auto context = model->make_context(exact_context());
  Batch batch = next_tokens(*context, 5, a);
  const Batch second = next_tokens(*context, 2, b);
  batch.insert(batch.end(), second.begin(), second.end());
  ASSERT_EQ(context->forward(batch), ForwardStatus::kOk);
  EXPECT_LT(largest_difference(context->logits(11), expected_a), kExact);
  EXPECT_LT(largest_difference(context->logits(18), expected_b), kExact);
  expect_error(ErrorCode::kInvalidArgument, "row 3", [&] { (void)context->logits(3); });
  expect_error(ErrorCode::kInvalidArgument, "row 19", [&] { (void)context->logits(19); });
}

TEST(EngineContext, RunsTwoContextsOnOneModelSideBySide) {
  const auto model = tiny("llama");
  const Tokens a = some_tokens(*model, 20), b = some_tokens(*model, 20, 1);
  const auto one = model->make_context(exact_context());
  const std::vector<float> expected = feed(*one, 0, a);
  const auto two = model->make_context(exact_context());
  (void)feed(*two, 0, b);
  one->release(0);
  EXPECT_LT(largest_difference(feed(*one, 0, a), expected), kExact);
  EXPECT_EQ(two->length(0), 20);
}

TEST(EngineContext, OutlivesTheModelHandleThatMadeIt) {
  auto model = tiny("llama");
  const Tokens tokens = some_tokens(*model, 20);
  const auto context = model->make_context(exact_context());
  const auto sampler = model->make_sampler(Sampling{});
  model.reset();
  (void)feed(*context, 0, tokens);
  SampleRow row{19, sampler.get()};
  context->sample({&row, 1});
  EXPECT_GE(row.token, 0);
}

TEST(EngineContext, KnowsTheSizeOfItsCache) {
  const auto model = smollm2();
  // 30 layers, 3 KV heads of 64, K and V.
  constexpr std::uint64_t kElements = 30ull * 3 * 64 * 2;
  EXPECT_EQ(model->kv_bytes_per_cell(KvType::kF16, KvType::kF16), kElements * 2);
  EXPECT_EQ(model->kv_bytes_per_cell(KvType::kF32, KvType::kF32), kElements * 4);
  EXPECT_EQ(model->kv_bytes_per_cell(KvType::kQ8_0, KvType::kQ8_0), kElements / 32 * 34);
  EXPECT_EQ(model->info().kv_bytes_per_token, kElements * 2);
  const auto context = model->make_context(small_context(1000));
  EXPECT_EQ(context->n_cells(), 1024);  // the runtime rounds up
  EXPECT_EQ(context->kv_size_bytes(), 1024 * kElements * 2);
}

// The runtime says in its log what it allocated.
TEST(EngineContext, ReckonsTheCacheAsTheRuntimeAllocatesIt) {
  const std::string tiny_dir = required_environment("SWARMKV_TEST_TINY_DIR");
  for (const std::string& path :
       {required_environment("SWARMKV_TEST_SMOLLM2"), required_environment("SWARMKV_TEST_GEMMA3"),
        tiny_dir + "/lfm2-f32.gguf"}) {
    double allocated = 0;
    LlamaModelOptions options;
    options.path = path;
    options.log = [&](int, std::string_view text) {
      const std::string line(text);
      const std::size_t at = line.find("KV buffer size =");
      if (at != std::string::npos) allocated += std::stod(line.substr(at + 16));
    };
    const auto context = load_llama_model(options)->make_context(small_context(2048));
    const double mib = static_cast<double>(context->kv_size_bytes()) / (1024 * 1024);
    EXPECT_GT(allocated, 0) << path;
    EXPECT_NEAR(mib, allocated, 0.02) << path;
  }
}

TEST(EngineContext, RepeatsLogitsToTheBitInDeterministicMode) {
  const auto model = smollm2();
  ContextOptions options = small_context(512, 4, 63);
  options.n_threads_batch = 2;
  options.deterministic = true;
  const auto context = model->make_context(options);
  (void)feed(*context, 0, some_tokens(*model, 40));
  std::vector<std::vector<float>> first;
  for (int round = 0; round < 3; ++round) {
    context->fork(0, 1, 40);
    std::vector<std::vector<float>> rows = {feed(*context, 1, some_tokens(*model, 5, 1))};
    for (const Token token : some_tokens(*model, 6, 2)) {
      rows.push_back(feed(*context, 1, std::vector<Token>{token}));
    }
    context->release(1);
    if (round == 0) first = rows;
    EXPECT_TRUE(rows == first) << round;
  }
}

}  // namespace
}  // namespace swarmkv::internal
