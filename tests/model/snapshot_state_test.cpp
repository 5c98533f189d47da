// States of real runtimes as files would carry them: read, checked and loaded without a copy.
#include <gtest/gtest.h>

#include <cstring>

#include "engine/kv_state.h"
#include "llama_fixture.h"

namespace swarmkv::internal {
namespace {

struct Made {
  const char* model;
  ForkKind kind;
  KvType type_k, type_v;
  FlashAttention flash;
};

std::shared_ptr<const Model> model_of(const std::string& name) {
  return name == "smollm2" ? smollm2() : tiny(name);
}

ContextOptions options_of(const Made& made) {
  ContextOptions options = small_context(512, 4);
  options.type_k = made.type_k;
  options.type_v = made.type_v;
  options.flash_attention = made.flash;
  return options;
}

class SnapshotState : public ::testing::TestWithParam<Made> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, SnapshotState,
    ::testing::Values(
        Made{"llama", ForkKind::kFull, KvType::kF16, KvType::kF16, FlashAttention::kAuto},
        Made{"llama", ForkKind::kFull, KvType::kF32, KvType::kF32, FlashAttention::kOff},
        Made{"smollm2", ForkKind::kFull, KvType::kQ8_0, KvType::kQ8_0, FlashAttention::kOn},
        Made{"smollm2", ForkKind::kFull, KvType::kF16, KvType::kQ4_1, FlashAttention::kOn},
        Made{"gemma3", ForkKind::kWindow, KvType::kF16, KvType::kF16, FlashAttention::kAuto},
        Made{"gemma3", ForkKind::kWindow, KvType::kF16, KvType::kF16, FlashAttention::kOff},
        Made{"mamba", ForkKind::kRecurrent, KvType::kF16, KvType::kF16, FlashAttention::kAuto},
        Made{"lfm2", ForkKind::kRecurrent, KvType::kF16, KvType::kF16, FlashAttention::kAuto}),
    [](const auto& each) {
      return std::string(each.param.model) + "_" + std::to_string(each.index);
    });

TEST_P(SnapshotState, IsReadCheckedAndLoadedFromForeignMemory) {
  const auto model = model_of(GetParam().model);
  const auto first = model->make_context(options_of(GetParam()));
  const auto second = model->make_context(options_of(GetParam()));
  for (const int n : {1, 2, 3, 31, 32, 33, 67, 127, 128, 129, 255}) {
    SCOPED_TRACE(n);
    const Tokens document = some_tokens(*model, n), question = some_tokens(*model, 5, 3);
    (void)feed(*first, 0, document);
    const SequenceState state = first->save(0, Where::kHost);
    std::vector<std::uint8_t> moved(state.bytes.size() + 1);  // at an odd address
    std::memcpy(moved.data() + 1, state.bytes.data(), state.bytes.size());
    const StateBytes bytes(moved.data() + 1, state.bytes.size());

    ASSERT_NO_THROW(model->check_state(bytes, n));
    second->load(bytes, n, 1);

    EXPECT_EQ(second->length(1), n);
    EXPECT_LT(largest_difference(feed(*first, 0, question), feed(*second, 1, question)), 1e-2F);
    first->release(0);
    second->release(1);
  }
}

TEST_P(SnapshotState, TheIdentityTellsTheLayoutThatTheBytesHave) {
  const auto model = model_of(GetParam().model);
  const auto context = model->make_context(options_of(GetParam()));
  const StateIdentity identity = context->identity();
  EXPECT_EQ(context->length(0), 0) << "asking leaves nothing behind";
  (void)feed(*context, 0, some_tokens(*model, 20));
  const SequenceState state = context->save(0, Where::kHost);
  const auto shape = read_kv_state(state.bytes, {GetParam().kind, false, 20});
  if (shape.transposed_values) {
    EXPECT_EQ(identity.value_layout, *shape.transposed_values ? "columns" : "rows");
  }
  EXPECT_EQ(context->identity(), identity) << "asked of a filled cache as well";
  EXPECT_EQ(identity.lora, "none");
  EXPECT_EQ(identity.rope, "model");
}

// Whatever a single bit does to what is not a number, it is refused before the cache is touched.
TEST_P(SnapshotState, DamageInFrontOfTheNumbersIsRefusedAndLeavesNothing) {
  const auto model = model_of(GetParam().model);
  const auto context = model->make_context(options_of(GetParam()));
  const Tokens document = some_tokens(*model, 40), question = some_tokens(*model, 5, 3);
  (void)feed(*context, 0, document);
  const SequenceState state = context->save(0, Where::kHost);
  const auto shape = read_kv_state(state.bytes, {GetParam().kind, false, 40});
  std::size_t checked = 0;
  for (std::size_t at = 8; at < shape.tensors[0].begin; ++at) {
    const bool is_id = std::string(GetParam().model) != "mamba" && at >= 16 && at < 16 + 40 * 12 &&
                       (at - 16) % 12 >= 8;
    if (is_id) continue;  // the sequence's id where it was saved says nothing
    SequenceState bad = state;
    bad.bytes[at] ^= 0x10;
    try {
      context->load(bad.bytes, 40, 1);
      ADD_FAILURE() << "byte " << at << " was not missed";
      context->release(1);
    } catch (const Error& e) {
      ++checked;
      EXPECT_EQ(e.code(), ErrorCode::kCorrupt) << e.what();
    }
    ASSERT_EQ(context->length(1), 0) << at;
  }
  EXPECT_GT(checked, 20u);
  context->load(state.bytes, 40, 1);
  EXPECT_LT(largest_difference(feed(*context, 1, question), feed(*context, 0, question)), 1e-2F);
}

TEST_P(SnapshotState, NumbersThatAreNotFiniteAreFoundInEveryTensor) {
  const auto model = model_of(GetParam().model);
  const auto context = model->make_context(options_of(GetParam()));
  (void)feed(*context, 0, some_tokens(*model, 40));
  const SequenceState state = context->save(0, Where::kHost);
  const auto shape = read_kv_state(state.bytes, {GetParam().kind, false, 40});
  for (std::size_t i = 0; i < shape.tensors.size(); ++i) {
    for (const bool at_the_end : {false, true}) {
      std::vector<std::uint8_t> bad = state.bytes;
      const KvStateTensor& tensor = shape.tensors[i];
      // A block of ones is no number in any type: scales stand at a block's beginning.
      if (tensor.n_bytes == 0) continue;  // a hybrid's layer without a state of that kind
      const std::size_t block = std::min<std::size_t>(tensor.n_bytes, 34);
      const std::size_t from = at_the_end ? tensor.begin + tensor.n_bytes - block : tensor.begin;
      std::memset(bad.data() + from, 0xff, block);
      expect_error(ErrorCode::kCorrupt, "not finite", [&] { model->check_state(bad, 40); });
    }
  }
}

TEST(SnapshotStateOf, AModelOfAnotherKindOrShapeIsRefused) {
  std::map<std::string, std::vector<std::uint8_t>> states;
  const std::string kinds[] = {"llama", "gemma3", "mamba", "lfm2"};
  for (const std::string& kind : kinds) {
    const auto model = tiny(kind);
    const auto context = model->make_context(small_context());
    (void)feed(*context, 0, some_tokens(*model, 20));
    states[kind] = context->save(0, Where::kHost).bytes;
  }
  for (const std::string& kind : kinds) {
    const auto context = tiny(kind)->make_context(small_context());
    for (const auto& [other, bytes] : states) {
      if (other == kind) continue;
      expect_error(ErrorCode::kCorrupt, std::to_string(bytes.size()) + " bytes",
                   [&] { context->load(bytes, 20, 0); });
      EXPECT_EQ(context->length(0), 0);
    }
    context->load(states[kind], 20, 0);
    EXPECT_EQ(context->length(0), 20);
  }
}

TEST(SnapshotStateOf, EverySequenceIdTakesIt) {
  const auto model = tiny("llama");
  const auto context = model->make_context(small_context(2048, 32));
  (void)feed(*context, 31, some_tokens(*model, 40));
  const SequenceState state = context->save(31, Where::kHost);
  for (SeqId seq = 0; seq < 31; ++seq) {
    context->load(state.bytes, 40, seq);
    EXPECT_EQ(context->length(seq), 40);
  }
  expect_error(ErrorCode::kInvalidArgument, "not empty",
               [&] { context->load(state.bytes, 40, 3); });
  expect_error(ErrorCode::kInvalidArgument, "32", [&] { context->load(state.bytes, 40, 32); });
}

TEST(SnapshotStateOf, IdentityDependsOnWhatTheBytesDependOn) {
  const auto model = smollm2();
  const auto identity = [&](auto change) {
    ContextOptions options = small_context();
    change(options);
    return model->make_context(options)->identity();
  };
  const StateIdentity usual = identity([](ContextOptions&) {});
  EXPECT_EQ(identity([](ContextOptions& o) { o.n_cells = 4096; }), usual);
  EXPECT_EQ(identity([](ContextOptions& o) { o.n_seq_max = 100; }), usual);
  EXPECT_EQ(identity([](ContextOptions& o) { o.n_batch = 64; }), usual);
  EXPECT_EQ(identity([](ContextOptions& o) { o.n_threads = 2; }), usual);
  EXPECT_EQ(identity([](ContextOptions& o) { o.deterministic = true; }), usual);
  EXPECT_EQ(identity([](ContextOptions& o) { o.attention = AttentionKernel::kStock; }), usual);
  EXPECT_EQ(
      identity([](ContextOptions& o) { o.flash_attention = FlashAttention::kOff; }).value_layout,
      "columns");
  const auto q8 = [](ContextOptions& o) { o.type_k = KvType::kQ8_0; };
  EXPECT_EQ(identity(q8).cache_type_k, "q8_0");
  EXPECT_EQ(identity(q8).kv_rotation, "model");
  ::setenv("LLAMA_ATTN_ROT_DISABLE", "1", 1);
  EXPECT_EQ(identity(q8).kv_rotation, "off");
  ::unsetenv("LLAMA_ATTN_ROT_DISABLE");
  EXPECT_EQ(usual.kv_rotation, "none");
  EXPECT_NE(usual.engine.find("llama.cpp"), std::string::npos);
}

}  // namespace
}  // namespace swarmkv::internal
