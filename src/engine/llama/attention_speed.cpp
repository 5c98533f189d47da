#include "engine/llama/attention_speed.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <random>
#include <span>
#include <vector>

#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"
#include "base/build_info.h"
#include "base/clock.h"
#include "base/process_info.h"
#include "engine/llama/attention_op.h"
#include "engine/llama/attention_threads.h"
#include "engine/memo_folder.h"
#include "ggml-cpu.h"
#include "ggml.h"

namespace swarmkv::internal {
namespace {

constexpr int kTokens = 128;
constexpr int kCells = 1'024;
constexpr int kRounds = 3;

// A flash attention node with numbers in it, laid out as the runtime's graphs have it: queries
// [token][head][element], the cache [cell][head][element].
class Node {
 public:
  explicit Node(const AttentionShape& heads) {
    const std::int64_t head = heads.head_size;
    const std::int64_t n_floats = 2 * kTokens * heads.n_heads * head;  // queries and result
    const std::int64_t n_halves = 2 * kCells * heads.n_kv_heads * head + kCells * kTokens;
    const std::size_t n_bytes = static_cast<std::size_t>(4 * n_floats + 2 * n_halves);
    const std::size_t n_room = n_bytes + 16 * (ggml_tensor_overhead() + 64) +
                               ggml_graph_overhead_custom(kGraphSize, false);
    room_.resize(n_room);  // ours to ask for: the runtime ends the process where there is none
    context_.reset(ggml_init({n_room, room_.data(), false}));
    ggml_context* c = context_.get();
    ggml_tensor* q = ggml_new_tensor_3d(c, GGML_TYPE_F32, head, heads.n_heads, kTokens);
    ggml_tensor* k = ggml_new_tensor_3d(c, GGML_TYPE_F16, head, heads.n_kv_heads, kCells);
    ggml_tensor* v = ggml_new_tensor_3d(c, GGML_TYPE_F16, head, heads.n_kv_heads, kCells);
    ggml_tensor* mask = ggml_new_tensor_2d(c, GGML_TYPE_F16, kCells, kTokens);
    fill(q, k, v, mask);
    node_ = ggml_flash_attn_ext(c, by_head(q), by_head(k), by_head(v), mask,
                                1.0F / std::sqrt(static_cast<float>(head)), 0.0F, 0.0F);
    graph_ = ggml_new_graph_custom(c, kGraphSize, false);
    ggml_build_forward_expand(graph_, node_);
  }

  [[nodiscard]] const ggml_tensor* tensor() const { return node_; }
  [[nodiscard]] ggml_cgraph* graph() const { return graph_; }

 private:
  static constexpr std::size_t kGraphSize = 16;

  ggml_tensor* by_head(ggml_tensor* tensor) const {
    return ggml_permute(context_.get(), tensor, 0, 2, 1, 3);
  }

  static void fill(ggml_tensor* q, ggml_tensor* k, ggml_tensor* v, ggml_tensor* mask) {
    std::mt19937 random(1);
    std::uniform_real_distribution<float> even(-1.0F, 1.0F);
    for (float& x : numbers<float>(q)) x = even(random);
    for (ggml_tensor* half : {k, v}) {
      for (std::uint16_t& x : numbers<std::uint16_t>(half)) x = float_to_half(even(random));
    }
    for (std::uint16_t& x : numbers<std::uint16_t>(mask)) x = 0;
  }

  template <typename Number>
  static std::span<Number> numbers(ggml_tensor* tensor) {
    return {static_cast<Number*>(tensor->data), static_cast<std::size_t>(ggml_nelements(tensor))};
  }

  struct FreeContext {
    void operator()(ggml_context* context) const { ggml_free(context); }
  };
  std::vector<std::byte> room_;
  std::unique_ptr<ggml_context, FreeContext> context_;
  ggml_tensor* node_ = nullptr;
  ggml_cgraph* graph_ = nullptr;
};

template <typename Work>
double milliseconds(Work work) {
  const auto begin = now();
  work();
  return 1e3 * seconds(begin, now());
}

}  // namespace

AttentionSpeed race_attention(const AttentionShape& heads, std::string_view target, int n_threads) {
  const Node node(heads);
  ggml_cplan plan = ggml_graph_plan(node.graph(), n_threads, nullptr);
  std::vector<std::uint8_t> work(plan.work_size);
  plan.work_data = work.data();
  const auto stock = [&] { (void)ggml_graph_compute(node.graph(), &plan); };

  const AttentionShape shape = attention_shape(node.tensor());
  const AttentionTensors tensors = attention_tensors(node.tensor());
  AttentionLayout layout;
  layout.read(tensors.mask, tensors.mask_token, kTokens, kCells);
  GroupedAttention kernel(target);
  AttentionThreads threads;
  const auto grouped = [&] {
    kernel.prepare(shape, tensors, layout, n_threads);
    (void)threads.run(kernel, n_threads);
  };

  grouped();  // both once before: memory is touched and threads are there
  stock();
  AttentionSpeed best{std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (int round = 0; round < kRounds; ++round) {
    best.grouped_ms = std::min(best.grouped_ms, milliseconds(grouped));
    best.stock_ms = std::min(best.stock_ms, milliseconds(stock));
  }
  return best;
}

std::optional<AttentionSpeed> parse_attention_speed(std::string_view text) {
  AttentionSpeed speed;
  for (double* value : {&speed.grouped_ms, &speed.stock_ms}) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
    if (error != std::errc() || !std::isfinite(*value) || *value <= 0) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.starts_with(' ')) text.remove_prefix(1);
  }
  return text.empty() ? std::optional(speed) : std::nullopt;
}

AttentionSpeed known_attention_speed(const AttentionShape& heads, std::string_view target,
                                     int n_threads, const std::string& folder) {
  const std::string instructions =
      target.empty() ? grouped_attention_targets().front() : std::string(target);
  const std::string key =
      fmt::format("{} | {} | {} threads | heads of {}, {} over {} | kernel {} | llama.cpp {}",
                  cpu_name(), instructions, n_threads, heads.head_size, heads.n_heads,
                  heads.n_kv_heads, kGroupedKernelVersion, build_info().llama_commit);
  const MemoFolder memo(folder, "swarmkv attention speed 1");
  if (const auto text = memo.find(key)) {
    if (const auto speed = parse_attention_speed(*text)) return *speed;
  }
  const AttentionSpeed speed = race_attention(heads, target, n_threads);
  memo.remember(key, fmt::format("{:.4f} {:.4f}", speed.grouped_ms, speed.stock_ms));
  return speed;
}

}  // namespace swarmkv::internal
