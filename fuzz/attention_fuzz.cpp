// Any bytes as an attention call: shape, mask and places of the cells. The grouped kernel must give
// what the formula gives, and the same bits with another number of threads.
//
//   byte   0  head size 64, 128, 256          5  instructions
//          1  heads per KV head, KV heads     6  size of the scores
//          2  tokens                          7  seed of the numbers
//          3, 4  cells, high and low          then steps of four: what, token, begin, length
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <span>
#include <vector>

#include "attention/grouped.h"
#include "attention/half.h"
#include "attention/layout.h"
#include "attention/reference.h"

namespace {

using namespace swarmkv::internal;

constexpr std::size_t kHeader = 8;

struct Call {
  AttentionShape shape;
  std::vector<float> q, out;
  std::vector<std::uint16_t> k, v, mask;
  std::vector<std::int32_t> positions;

  explicit Call(std::span<const std::uint8_t> in) {
    constexpr int kSizes[] = {64, 128, 256};
    shape.head_size = kSizes[in[0] % 3];
    shape.n_kv_heads = 1 + in[1] % 3;
    shape.n_heads = shape.n_kv_heads * (1 + in[1] / 16 % 4);
    shape.n_tokens = 1 + in[2] % 24;
    shape.n_cells = 1 + (256 * in[3] + in[4]) % 320;
    shape.scale = 0.02F * static_cast<float>(1 + in[6]);
    const auto n = [](int a, int b, int c) { return static_cast<std::size_t>(a) * b * c; };
    q.resize(n(shape.n_tokens, shape.n_heads, shape.head_size));
    out.resize(q.size());
    k.resize(n(shape.n_cells, shape.n_kv_heads, shape.head_size));
    v.resize(k.size());
    mask.assign(n(shape.n_tokens, shape.n_cells, 1), kHalfMinusInfinity);
    std::minstd_rand random(in[7] + 1U);
    std::uniform_real_distribution<float> even(-1.0F, 1.0F);
    for (float& x : q) x = even(random);
    for (auto& x : k) x = float_to_half(even(random));
    for (auto& x : v) x = float_to_half(even(random));
    for (in = in.subspan(kHeader); in.size() >= 4; in = in.subspan(4)) step(in.first(4));
  }

  [[nodiscard]] AttentionTensors tensors() {
    return packed_tensors(shape, q.data(), k.data(), v.data(), mask.data(), out.data());
  }

 private:
  void step(std::span<const std::uint8_t> in) {
    const int begin = in[2] * shape.n_cells / 256;
    const int end = std::min(shape.n_cells, begin + 1 + in[3]);
    const int token = in[1] % shape.n_tokens;
    const bool everybody = (in[0] & 0x80) != 0;
    if (in[0] % 4 == 3) return move(begin, end);
    const std::uint16_t values[] = {0, kHalfMinusInfinity, float_to_half(-0.75F)};
    for (int t = everybody ? 0 : token; t < (everybody ? shape.n_tokens : token + 1); ++t) {
      const auto row = mask.begin() + static_cast<std::ptrdiff_t>(t) * shape.n_cells;
      std::fill(row + begin, row + end, values[in[0] % 4]);
    }
  }

  // The cells [begin, end) hold each other's positions, backwards.
  void move(int begin, int end) {
    if (positions.empty()) {
      for (int i = 0; i < shape.n_cells; ++i) positions.push_back(i);
    }
    std::reverse(positions.begin() + begin, positions.begin() + end);
  }
};

std::vector<float> grouped(Call& call, const AttentionLayout& layout, const std::string& target,
                           int n_threads) {
  std::fill(call.out.begin(), call.out.end(), 77.0F);
  GroupedAttention attention(target);
  attention.prepare(call.shape, call.tensors(), layout, n_threads);
  for (int phase = 0; phase < attention.n_phases(); ++phase) {
    for (int thread = 0; thread < n_threads; ++thread) attention.run(phase, thread);
  }
  return call.out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < kHeader || size > 4096) return 0;
  const std::vector<std::string> targets = grouped_attention_targets();
  Call call({data, size});
  const AttentionTensors t = call.tensors();
  AttentionLayout layout;
  layout.read(t.mask, t.mask_token, call.shape.n_tokens, call.shape.n_cells, call.positions);
  const std::string& target = targets[data[5] % targets.size()];

  const std::vector<float> is = grouped(call, layout, target, 1);
  if (grouped(call, layout, target, 3) != is) std::abort();
  reference_attention(call.shape, t);
  if (!(normalised_error(is, call.out) <= 1e-9)) std::abort();
  return 0;
}
