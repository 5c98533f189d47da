#include "engine/llama/attention_op.h"

#include <array>
#include <cstring>

namespace swarmkv::internal {
namespace {

// Of ggml_flash_attn_ext: the scale, ALiBi's largest bias, the cap of the scores.
std::array<float, 3> parameters(const ggml_tensor* op) {
  std::array<float, 3> values{};
  std::memcpy(values.data(), op->op_params, sizeof values);
  return values;
}

bool has_elements_together(const ggml_tensor* tensor, ggml_type type) {
  return tensor->type == type && tensor->nb[0] == ggml_type_size(type);
}

int number(std::int64_t size) { return static_cast<int>(size); }

}  // namespace

std::string why_not_grouped(const ggml_tensor* op) {
  const ggml_tensor* q = op->src[0];
  const ggml_tensor* k = op->src[1];
  const ggml_tensor* v = op->src[2];
  const ggml_tensor* mask = op->src[3];
  const auto [scale, largest_bias, cap] = parameters(op);
  if (largest_bias != 0.0F) return "ALiBi";
  if (cap != 0.0F) return "capped attention scores";
  if (op->src[4] != nullptr) return "attention sinks";
  if (mask == nullptr || mask->ne[2] != 1 || mask->ne[3] != 1) return "no common mask";
  if (q->ne[3] != 1 || k->ne[3] != 1 || v->ne[3] != 1) return "more than one stream";
  if (!has_elements_together(k, GGML_TYPE_F16) || !has_elements_together(v, GGML_TYPE_F16)) {
    return std::string("a cache of ") + ggml_type_name(k->type) + " and " + ggml_type_name(v->type);
  }
  if (!has_elements_together(q, GGML_TYPE_F32) || !has_elements_together(op, GGML_TYPE_F32) ||
      !has_elements_together(mask, GGML_TYPE_F16)) {
    return "types of the queries, the mask or the result";
  }
  if (k->ne[0] != v->ne[0]) return "keys and values of different sizes";
  if (k->ne[2] != v->ne[2] ||
      !grouped_attention_supports(number(k->ne[0]), number(q->ne[2]), number(k->ne[2]))) {
    return "heads of " + std::to_string(k->ne[0]) + " elements, " + std::to_string(q->ne[2]) +
           " over " + std::to_string(k->ne[2]);
  }
  return {};
}

AttentionShape attention_shape(const ggml_tensor* op) {
  const ggml_tensor* q = op->src[0];
  const ggml_tensor* k = op->src[1];
  return {number(k->ne[0]), number(q->ne[2]), number(k->ne[2]),
          number(q->ne[1]), number(k->ne[1]), parameters(op)[0]};
}

AttentionTensors attention_tensors(const ggml_tensor* op) {
  const auto bytes = [](const ggml_tensor* t) { return static_cast<std::byte*>(t->data); };
  const ggml_tensor* q = op->src[0];
  const ggml_tensor* k = op->src[1];
  const ggml_tensor* v = op->src[2];
  const ggml_tensor* mask = op->src[3];
  // Queries, keys and values lie [head][token][element], the result [token][head][element].
  return {bytes(q), q->nb[1], q->nb[2],    bytes(k),    k->nb[1],  k->nb[2],  bytes(v),
          v->nb[1], v->nb[2], bytes(mask), mask->nb[1], bytes(op), op->nb[2], op->nb[1]};
}

}  // namespace swarmkv::internal
