#include "attention/reference.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "attention/half.h"

namespace swarmkv::internal {
namespace {

void one_row(const AttentionShape& shape, const float* q, const AttentionTensors& t, int token,
             int kv_head, float* out) {
  const auto* mask = reinterpret_cast<const std::uint16_t*>(t.mask + token * t.mask_token);
  std::vector<double> scores(static_cast<std::size_t>(shape.n_cells));
  double most = -INFINITY;
  for (int c = 0; c < shape.n_cells; ++c) {
    double& score = scores[static_cast<std::size_t>(c)];
    score = -INFINITY;
    if (mask[c] == kHalfMinusInfinity) continue;
    const auto* k = reinterpret_cast<const std::uint16_t*>(t.k + c * t.k_cell + kv_head * t.k_head);
    double dot = 0;
    for (int d = 0; d < shape.head_size; ++d) {
      dot += static_cast<double>(q[d]) * static_cast<double>(half_to_float(k[d]));
    }
    score = dot * static_cast<double>(shape.scale) + static_cast<double>(half_to_float(mask[c]));
    most = std::max(most, score);
  }
  std::vector<double> sum(static_cast<std::size_t>(shape.head_size));
  double weights = 0;
  for (int c = 0; c < shape.n_cells; ++c) {
    const double score = scores[static_cast<std::size_t>(c)];
    if (score == -INFINITY) continue;
    const double weight = std::exp(score - most);
    weights += weight;
    const auto* v = reinterpret_cast<const std::uint16_t*>(t.v + c * t.v_cell + kv_head * t.v_head);
    for (int d = 0; d < shape.head_size; ++d) {
      sum[static_cast<std::size_t>(d)] += weight * static_cast<double>(half_to_float(v[d]));
    }
  }
  for (int d = 0; d < shape.head_size; ++d) {
    const double value = weights == 0 ? 0 : sum[static_cast<std::size_t>(d)] / weights;
    out[d] = static_cast<float>(value);
  }
}

}  // namespace

void reference_attention(const AttentionShape& shape, const AttentionTensors& t) {
  const int group = shape.n_heads / shape.n_kv_heads;
  for (int token = 0; token < shape.n_tokens; ++token) {
    for (int head = 0; head < shape.n_heads; ++head) {
      const auto* q = reinterpret_cast<const float*>(t.q + token * t.q_token + head * t.q_head);
      auto* out = reinterpret_cast<float*>(t.out + token * t.out_token + head * t.out_head);
      one_row(shape, q, t, token, head / group, out);
    }
  }
}

double normalised_error(std::span<const float> is, std::span<const float> should) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < is.size(); ++i) {
    const double difference = static_cast<double>(is[i]) - static_cast<double>(should[i]);
    error += difference * difference;
    size += static_cast<double>(should[i]) * static_cast<double>(should[i]);
  }
  return size == 0 ? error : error / size;
}

}  // namespace swarmkv::internal
