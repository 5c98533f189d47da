// The grouped attention kernel inside the runtime: chosen where it can, said which and why not, and
// as near to exact attention as the runtime's own kernels.
#include <cmath>
#include <vector>

#include "attention/grouped.h"
#include "model/llama_fixture.h"

namespace swarmkv::internal {
namespace {

std::shared_ptr<const Model> gemma3() {
  static const std::shared_ptr<const Model> model =
      load_model(required_environment("SWARMKV_TEST_GEMMA3"));
  return model;
}

ContextOptions with(AttentionKernel kernel, int n_cells = 1024, int n_seq_max = 12) {
  ContextOptions options = small_context(n_cells, n_seq_max, 256);
  options.n_threads = 2;
  options.attention = kernel;
  options.most_attention_slowness = 1e9;  // whatever the race on this machine says
  return options;
}

/// Logits of eight agents over one document, each after three tokens of its own in one batch with
/// the others: rows of a document's chunks, of suffixes and of decode steps have gone before.
std::vector<float> eight_agents(const Model& model, const ContextOptions& options, int n_document) {
  const auto context = model.make_context(options);
  const Tokens document = some_tokens(model, n_document);
  for (std::size_t at = 0; at < document.size(); at += 200) {
    const std::span<const Token> rest = std::span(document).subspan(at);
    (void)feed(*context, 0, rest.first(std::min<std::size_t>(200, rest.size())));
  }
  for (SeqId seq = 1; seq <= 8; ++seq) context->fork(0, seq, n_document);
  for (int step = 0; step < 3; ++step) {
    Batch batch;
    for (SeqId seq = 1; seq <= 8; ++seq) {
      const Token token = some_tokens(model, 1, 10 * step + seq).front();
      batch.push_back({token, n_document + step, seq, true});
    }
    EXPECT_EQ(context->forward(batch), ForwardStatus::kOk);
  }
  std::vector<float> logits;
  for (int row = 0; row < 8; ++row) {
    const auto of_row = context->logits(row);
    logits.insert(logits.end(), of_row.begin(), of_row.end());
  }
  return logits;
}

double rms_difference(const std::vector<float>& a, const std::vector<float>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<double>(a[i] - b[i]) * static_cast<double>(a[i] - b[i]);
  }
  return std::sqrt(sum / static_cast<double>(a.size()));
}

AttentionUse use_of(const Model& model, const ContextOptions& options) {
  return model.make_context(options)->attention();
}

TEST(Attention, IsGroupedByItselfAndSaysSo) {
  for (const auto kernel : {AttentionKernel::kAuto, AttentionKernel::kGrouped}) {
    const AttentionUse use = use_of(*smollm2(), with(kernel));
    EXPECT_EQ(use.kernel, "grouped");
    EXPECT_EQ(use.note, "");
  }
  EXPECT_EQ(use_of(*gemma3(), with(AttentionKernel::kAuto)).kernel, "grouped");
  ContextOptions plain = with(AttentionKernel::kGrouped);
  plain.attention_target = grouped_attention_targets().back();
  EXPECT_EQ(use_of(*smollm2(), plain).kernel, "grouped");
  const auto context = smollm2()->make_context(with(AttentionKernel::kAuto));
  (void)feed(*context, 0, some_tokens(*smollm2(), 5));
  EXPECT_EQ(context->attention().kernel, "grouped") << "planned, but not computed with";
  const AttentionUse stock = use_of(*smollm2(), with(AttentionKernel::kStock));
  EXPECT_EQ(stock.kernel, "stock");
  EXPECT_EQ(stock.note, "") << "it was asked for";
}

TEST(Attention, FallsBackToTheRuntimesOwnAndSaysWhy) {
  const auto falls_back = [](const std::string& reason, auto change) {
    ContextOptions options = with(AttentionKernel::kAuto);
    change(options);
    const AttentionUse use = use_of(*smollm2(), options);
    EXPECT_EQ(use.kernel, "stock");
    EXPECT_NE(use.note.find(reason), std::string::npos) << use.note;
    options.attention = AttentionKernel::kGrouped;
    expect_error(ErrorCode::kUnsupported, reason, [&] { (void)use_of(*smollm2(), options); });
  };
  falls_back("flash attention is off", [](auto& o) { o.flash_attention = FlashAttention::kOff; });
  falls_back("not F16", [](auto& o) { o.type_k = o.type_v = KvType::kQ8_0; });
  falls_back("self-test failed", [](auto& o) { o.most_attention_error = 0; });
  EXPECT_NE(use_of(*tiny("mamba"), with(AttentionKernel::kAuto)).note, "");
  EXPECT_NE(use_of(*tiny("llama"), with(AttentionKernel::kAuto)).note.find("heads of"),
            std::string::npos);
}

TEST(Attention, LeavesManyTokensToTheRuntimeWhereThatIsFaster) {
  ContextOptions slow = with(AttentionKernel::kAuto);
  slow.most_attention_slowness = 0;
  ContextOptions always = slow;
  always.attention = AttentionKernel::kGrouped;
  const ContextOptions stock = with(AttentionKernel::kStock);
  const auto logits_of = [](const ContextOptions& options, int n) {
    const auto context = smollm2()->make_context(options);
    return feed(*context, 0, some_tokens(*smollm2(), n));
  };
  EXPECT_EQ(use_of(*smollm2(), slow).kernel, "grouped");
  EXPECT_NE(use_of(*smollm2(), slow).note.find("64 tokens and more by llama.cpp"),
            std::string::npos);
  EXPECT_EQ(use_of(*smollm2(), always).note, "") << "it was asked for";
  EXPECT_EQ(logits_of(slow, 100), logits_of(stock, 100));
  EXPECT_EQ(logits_of(slow, 40), logits_of(always, 40));
  EXPECT_NE(logits_of(always, 100), logits_of(stock, 100)) << "these would be the same kernel";
}

// With room for many sequences the runtime plans no graph of few tokens. Their steps are ours all
// the same, and are as in a context where ours takes all.
TEST(Attention, TakesFewTokensAlsoWhereOnlyManyWerePlanned) {
  ContextOptions slow = with(AttentionKernel::kAuto, 1024, 70);
  slow.most_attention_slowness = 0;
  const AttentionUse use = use_of(*smollm2(), slow);
  EXPECT_EQ(use.kernel, "grouped");
  EXPECT_NE(use.note.find("64 tokens and more by llama.cpp"), std::string::npos) << use.note;
  ContextOptions always = slow;
  always.attention = AttentionKernel::kGrouped;
  // A document of 40 tokens is computed by ours in both.
  EXPECT_EQ(eight_agents(*smollm2(), slow, 40), eight_agents(*smollm2(), always, 40));
  ContextOptions failing = slow;
  failing.most_attention_error = 0;
  EXPECT_EQ(use_of(*smollm2(), failing).kernel, "stock");
  EXPECT_EQ(eight_agents(*smollm2(), failing, 40),
            eight_agents(*smollm2(), with(AttentionKernel::kStock, 1024, 70), 40));
}

TEST(Attention, IsGroupedInDeterministicModeWhereNothingDependsOnTheBatch) {
  ContextOptions options = with(AttentionKernel::kAuto);
  EXPECT_FALSE(smollm2()->make_context(options)->batch_invariant()) << "nobody asked for it";
  options.deterministic = true;
  const auto context = smollm2()->make_context(options);
  EXPECT_EQ(context->attention().kernel, "grouped");
  EXPECT_TRUE(context->batch_invariant());
  EXPECT_EQ(context->length(0), 0) << "what was tried is still there";

  const auto windows = gemma3()->make_context(options);
  EXPECT_EQ(windows->attention().kernel, "stock");
  EXPECT_NE(windows->attention().note.find("one agent at a time"), std::string::npos);
  EXPECT_FALSE(windows->batch_invariant());

  options.attention = AttentionKernel::kGrouped;
  EXPECT_EQ(gemma3()->make_context(options)->attention().kernel, "grouped") << "it was asked for";
  EXPECT_FALSE(gemma3()->make_context(options)->batch_invariant());
  options.attention = AttentionKernel::kStock;
  EXPECT_FALSE(smollm2()->make_context(options)->batch_invariant());
}

// What a self-test that fails leaves behind is a context like any other.
TEST(Attention, AnswersLikeStockAfterAFailedSelfTest) {
  ContextOptions failing = with(AttentionKernel::kAuto);
  failing.most_attention_error = 0;
  EXPECT_EQ(eight_agents(*smollm2(), failing, 100),
            eight_agents(*smollm2(), with(AttentionKernel::kStock), 100));
}

// Logits have a size of some 15; activations of 8 bits alone move them by 0.1.
TEST(Attention, IsAsNearToExactAttentionAsTheRuntimesOwn) {
  ContextOptions exact = with(AttentionKernel::kStock);
  exact.type_k = exact.type_v = KvType::kF32;
  exact.flash_attention = FlashAttention::kOff;
  const std::vector<float> should = eight_agents(*smollm2(), exact, 500);
  const double stock =
      rms_difference(eight_agents(*smollm2(), with(AttentionKernel::kStock), 500), should);

  const double grouped =
      rms_difference(eight_agents(*smollm2(), with(AttentionKernel::kGrouped), 500), should);

  RecordProperty("grouped", std::to_string(grouped));
  RecordProperty("stock", std::to_string(stock));
  EXPECT_LT(grouped, 0.5);
  EXPECT_LT(grouped, 1.5 * stock);
  EXPECT_GT(rms_difference(eight_agents(*smollm2(), exact, 400), should), 1)
      << "this measure would not see a missing part of the document";
}

// Windows: the document is longer than the 512 tokens that most layers see.
TEST(Attention, IsRightOnLayersWithAWindow) {
  ContextOptions exact = with(AttentionKernel::kStock);
  exact.flash_attention = FlashAttention::kOff;
  const std::vector<float> should = eight_agents(*gemma3(), exact, 700);

  const std::vector<float> is = eight_agents(*gemma3(), with(AttentionKernel::kGrouped), 700);

  RecordProperty("grouped", std::to_string(rms_difference(is, should)));
  EXPECT_LT(rms_difference(is, should), 0.5);
  const double part = rms_difference(eight_agents(*gemma3(), exact, 600), should);
  RecordProperty("part", std::to_string(part));
  EXPECT_GT(part, 1) << "this measure would not see a missing part of the document";
}

TEST(Attention, IsEachContextsOwnChoice) {
  const std::vector<float> stock = eight_agents(*smollm2(), with(AttentionKernel::kStock), 150);
  const std::vector<float> grouped = eight_agents(*smollm2(), with(AttentionKernel::kGrouped), 150);
  const auto other = smollm2()->make_context(with(AttentionKernel::kGrouped));
  (void)feed(*other, 0, some_tokens(*smollm2(), 30));

  EXPECT_EQ(eight_agents(*smollm2(), with(AttentionKernel::kStock), 150), stock);
  EXPECT_EQ(eight_agents(*smollm2(), with(AttentionKernel::kGrouped), 150), grouped);
  EXPECT_NE(stock, grouped) << "these would be the same kernel";
}

TEST(Attention, GivesTheSameAnswersWithAnyNumberOfThreads) {
  ContextOptions one = with(AttentionKernel::kGrouped);
  one.n_threads = 1;
  ContextOptions three = one;
  three.n_threads = 3;
  EXPECT_EQ(eight_agents(*smollm2(), one, 150), eight_agents(*smollm2(), three, 150));
}

}  // namespace
}  // namespace swarmkv::internal
