// What a forward's tokens see of the cache is worked out once for each mask, not once for each
// layer.
#include "engine/llama/attention_layouts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "attention/half.h"

namespace swarmkv::internal {
namespace {

// Attention nodes of some layers, laid out as the runtime's graphs have them.
class Graph {
 public:
  static constexpr std::int64_t kHead = 64, kTokens = 2, kCells = 100;

  ggml_tensor* make_mask(int n_seen) {
    ggml_tensor* mask = ggml_new_tensor_2d(context_.get(), GGML_TYPE_F16, kCells, kTokens);
    see(mask, n_seen);
    return mask;
  }

  /// Every token sees the first n cells and no others.
  static void see(ggml_tensor* mask, int n) {
    auto* values = static_cast<std::uint16_t*>(mask->data);
    for (std::int64_t t = 0; t < kTokens; ++t) {
      std::fill_n(values + t * kCells, kCells, kHalfMinusInfinity);
      std::fill_n(values + t * kCells, n, std::uint16_t{0});
    }
  }

  const ggml_tensor* make_layer(ggml_tensor* mask) {
    return ggml_flash_attn_ext(context_.get(), by_head(GGML_TYPE_F32, kTokens),
                               by_head(GGML_TYPE_F16, kCells), by_head(GGML_TYPE_F16, kCells), mask,
                               0.125F, 0.0F, 0.0F);
  }

 private:
  ggml_tensor* by_head(ggml_type type, std::int64_t n) {
    ggml_tensor* tensor = ggml_new_tensor_3d(context_.get(), type, kHead, 1, n);
    return ggml_permute(context_.get(), tensor, 0, 2, 1, 3);
  }

  struct FreeContext {
    void operator()(ggml_context* context) const { ggml_free(context); }
  };
  std::unique_ptr<ggml_context, FreeContext> context_{ggml_init({1 << 20, nullptr, false})};
};

TEST(AttentionLayouts, ReadAMaskOnceForAllLayersOfAForward) {
  Graph graph;
  ggml_tensor* mask = graph.make_mask(30);
  std::vector<const ggml_tensor*> layers;
  for (int i = 0; i < 5; ++i) layers.push_back(graph.make_layer(mask));
  AttentionLayouts layouts;
  layouts.begin_forward();

  const AttentionLayout& first = layouts.of(layers[0]);

  EXPECT_EQ(first.n_places(), 30);
  const double spent = layouts.seconds_spent();
  EXPECT_GT(spent, 0);
  Graph::see(mask, 70);  // whoever reads it now gets another layout
  for (const ggml_tensor* layer : layers) {
    EXPECT_EQ(&layouts.of(layer), &first);
    EXPECT_EQ(first.n_places(), 30) << "the mask was read again";
  }
  EXPECT_EQ(layouts.seconds_spent(), spent);
}

TEST(AttentionLayouts, ReadItAgainForTheNextForward) {
  Graph graph;
  ggml_tensor* mask = graph.make_mask(30);
  const ggml_tensor* layer = graph.make_layer(mask);
  AttentionLayouts layouts;
  layouts.begin_forward();
  EXPECT_EQ(layouts.of(layer).n_places(), 30);
  const double spent = layouts.seconds_spent();
  Graph::see(mask, 70);

  layouts.begin_forward();

  EXPECT_EQ(layouts.of(layer).n_places(), 70);
  EXPECT_GT(layouts.seconds_spent(), spent);
}

// Windows: layers have one mask or the other, and the next forward may begin with either.
TEST(AttentionLayouts, KeepTwoMasksApart) {
  Graph graph;
  ggml_tensor* all = graph.make_mask(90);
  ggml_tensor* window = graph.make_mask(20);
  const ggml_tensor* layers[] = {graph.make_layer(all), graph.make_layer(window),
                                 graph.make_layer(window), graph.make_layer(all)};
  AttentionLayouts layouts;
  layouts.begin_forward();
  for (const int i : {0, 1, 2, 3}) {
    EXPECT_EQ(layouts.of(layers[i]).n_places(), i % 3 == 0 ? 90 : 20) << i;
  }

  layouts.begin_forward();

  for (const int i : {1, 0, 3, 2}) {
    EXPECT_EQ(layouts.of(layers[i]).n_places(), i % 3 == 0 ? 90 : 20) << i;
  }
}

}  // namespace
}  // namespace swarmkv::internal
