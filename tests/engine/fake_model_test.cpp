#include <gtest/gtest.h>

#include <limits>

#include "engine/fake_fixture.h"

namespace swarmkv::internal {
namespace {

TEST(FakeModel, ParsesMarkersOnlyWhenAsked) {
  const auto model = make_fake_model();

  EXPECT_EQ(model->tokenize("a<|im_end|>", SpecialTokens::kParse), (Tokens{'a', kFakeEndTurn}));
  EXPECT_EQ(model->tokenize("a<|im_end|>", SpecialTokens::kPlainText).size(), 11U);
  EXPECT_EQ(model->tokenize("<|im_", SpecialTokens::kParse).size(), 5U);
}

TEST(FakeModel, GivesBackTheBytesItWasGiven) {
  const auto model = make_fake_model();
  const std::string text("any\0byte \xff\xe2\x82", 12);
  std::string back;

  for (const Token token : model->tokenize(text, SpecialTokens::kPlainText))
    back += model->piece(token);

  EXPECT_EQ(back, text);
  EXPECT_EQ(model->piece(kFakeTurn), "");
  EXPECT_EQ(thrown([&] { (void)model->piece(kFakeVocabSize); }), "invalid_argument");
}

TEST(FakeModel, RendersChatMlWithoutADefaultSystemMessage) {
  const auto model = make_fake_model();
  const ChatMessage user[] = {{"user", "Hi"}};
  const ChatMessage odd[] = {{"critic", "Hi"}};

  EXPECT_EQ(model->render_chat(user, "2026-01-01"),
            "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(thrown([&] { (void)model->render_chat(odd, ""); }), "unsupported");
}

TEST(FakeModel, HasAStableFingerprintThatTellsModelsApart) {
  FakeOptions other;
  other.n_ctx_train = 512;

  EXPECT_EQ(make_fake_model()->fingerprint(), make_fake_model()->fingerprint());
  EXPECT_EQ(make_fake_model()->fingerprint(), make_fake_model()->info().fingerprint);
  EXPECT_NE(make_fake_model()->fingerprint(), make_fake_model(other)->fingerprint());
}

TEST(FakeModel, StartsWithATokenIfItWantsOne) {
  FakeOptions without;
  without.add_start_token = false;

  EXPECT_EQ(make_fake_model()->start_token(), kFakeStart);
  EXPECT_EQ(make_fake_model(without)->start_token(), std::nullopt);
}

TEST(FakeModel, RefusesSamplingOutOfRange) {
  const auto model = make_fake_model();
  const auto make = [&](auto change) {
    Sampling sampling;
    change(sampling);
    return thrown([&] { (void)model->make_sampler(sampling); });
  };

  EXPECT_EQ(make([](Sampling&) {}), "nothing thrown");
  EXPECT_EQ(make([](Sampling& s) { s.temperature = -0.1; }), "invalid_argument");
  EXPECT_EQ(make([](Sampling& s) { s.temperature = std::numeric_limits<double>::quiet_NaN(); }),
            "invalid_argument");
  EXPECT_EQ(make([](Sampling& s) { s.top_p = 0; }), "invalid_argument");
  EXPECT_EQ(make([](Sampling& s) { s.json_schema = "{\"type\":"; }), "invalid_argument");
}

TEST(FakeModel, NeedsAWindowToBeAWindowModel) {
  FakeOptions options;
  options.fork_kind = ForkKind::kWindow;

  EXPECT_EQ(thrown([&] { (void)make_fake_model(options); }), "invalid_argument");
}

TEST(FakeModel, KnowsWhatItsCellsCost) {
  const auto model = make_fake_model();
  ContextOptions options;
  options.n_cells = 10;
  options.type_v = KvType::kQ4_0;
  options.flash_attention = FlashAttention::kOff;

  EXPECT_EQ(model->kv_bytes_per_cell(KvType::kF16, KvType::kF16), 2U * 2 * 64 * 2);
  EXPECT_EQ(thrown([&] { (void)model->make_context(options); }), "unsupported");
  options.flash_attention = FlashAttention::kOn;
  EXPECT_EQ(model->make_context(options)->kv_size_bytes(), 10U * 2 * (64 * 2 + 36));
}

}  // namespace
}  // namespace swarmkv::internal
