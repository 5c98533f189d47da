// The two small matrix products of the grouped kernel, for one group of cells or of head elements
// and some vectors of rows. Compiled once for each target of Highway.
//
// Every lane is a row and every accumulator one chain in a fixed order, whatever the sizes of the
// register block: that is what makes a row's result independent of its neighbours.
#if defined(SWARMKV_ATTENTION_KERNELS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_KERNELS_INL_H
#undef SWARMKV_ATTENTION_KERNELS_INL_H
#else
#define SWARMKV_ATTENTION_KERNELS_INL_H
#endif

#include <hwy/highway.h>

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "attention/blocks.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::ScalableTag<float>;
using Vector = hn::Vec<Floats>;
inline constexpr Floats kFloats{};
inline constexpr std::size_t kLanes = HWY_LANES(float);

/// Rows of one tile for a block: where scores lie and which cells of the tile take part.
struct TileRows {
  float* scores;              ///< of the tile's first cell and the first vector
  std::size_t vector_stride;  ///< floats from one vector's scores to the next one's
  const std::uint8_t* cells;  ///< places within the tile, in order
  int n_cells;
};

/// Without such an instruction Highway 1.0 takes infinity and NaN for finite numbers.
inline constexpr bool kWidensAll =
    HWY_TARGET != HWY_SSE4 && HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR;

HWY_INLINE Vector widened(const std::uint16_t* halves) {
  const hn::Rebind<hwy::float16_t, Floats> half;
  const Vector value =
      hn::PromoteTo(kFloats, hn::LoadU(half, reinterpret_cast<const hwy::float16_t*>(halves)));
  if constexpr (kWidensAll) return value;
  const hn::Rebind<std::uint16_t, Floats> half_bits;
  const hn::RebindToSigned<Floats> bits;
  const auto exponent = hn::Set(bits, 0x7C00);
  const auto of_half = hn::And(hn::PromoteTo(bits, hn::LoadU(half_bits, halves)), exponent);
  const auto broken = hn::Or(hn::BitCast(bits, value), hn::Set(bits, 0x7F800000));
  return hn::IfThenElse(hn::RebindMask(kFloats, hn::Eq(of_half, exponent)),
                        hn::BitCast(kFloats, broken), value);
}

HWY_INLINE void widen(const std::uint16_t* halves, std::size_t n, float* floats) {
  for (std::size_t i = 0; i < n; i += kLanes) hn::Store(widened(halves + i), kFloats, floats + i);
}

using HalfBits = hn::Rebind<std::int16_t, Floats>;
inline constexpr HalfBits kHalfBits{};

/// Keeps in each lane of `largest` the largest half so far, sign apart.
HWY_INLINE void look_at(const std::uint16_t* halves, std::size_t n, hn::Vec<HalfBits>& largest) {
  const auto all_but_sign = hn::Set(kHalfBits, 0x7FFF);
  for (std::size_t i = 0; i < n; i += kLanes) {
    const auto* from = reinterpret_cast<const std::int16_t*>(halves + i);
    largest = hn::Max(largest, hn::And(hn::LoadU(kHalfBits, from), all_but_sign));
  }
}

/// One of them was infinite or NaN.
HWY_INLINE bool is_broken(hn::Vec<HalfBits> largest) {
  return !hn::AllFalse(kHalfBits, hn::Gt(largest, hn::Set(kHalfBits, 0x7BFF)));
}

/// Scores of kCells cells from `first` on. keys: their F32 keys, one after another; q: elements of
/// the scaled queries, q_stride floats apart; mask: as scores, or null; most: maxima so far.
template <int kCells, int kVectors>
HWY_INLINE void score_cells(const float* keys, std::size_t head, const float* q,
                            std::size_t q_stride, const TileRows& rows, int first,
                            const float* mask, float* most) {
  Vector sum[kCells][kVectors];
  for (int i = 0; i < kCells; ++i) {
    for (int r = 0; r < kVectors; ++r) sum[i][r] = hn::Zero(kFloats);
  }
  for (std::size_t d = 0; d < head; ++d) {
    Vector row[kVectors];
    for (int r = 0; r < kVectors; ++r) row[r] = hn::Load(kFloats, q + d * q_stride + r * kLanes);
    for (int i = 0; i < kCells; ++i) {
      const Vector key = hn::Set(kFloats, keys[i * head + d]);
      for (int r = 0; r < kVectors; ++r) sum[i][r] = hn::MulAdd(key, row[r], sum[i][r]);
    }
  }
  const Vector unseen = hn::Set(kFloats, -INFINITY);
  for (int r = 0; r < kVectors; ++r) {
    Vector best = hn::Load(kFloats, most + r * kLanes);
    for (int i = 0; i < kCells; ++i) {
      const std::size_t place = rows.cells[first + i] * kLanes;
      Vector score = sum[i][r];
      if (mask != nullptr) {
        // Chosen, not only added: a masked cell may hold anything, NaN too.
        const Vector m = hn::Load(kFloats, mask + r * (kTileCells * kLanes) + place);
        score = hn::IfThenElse(hn::Eq(m, unseen), unseen, hn::Add(score, m));
      }
      hn::Store(score, kFloats, rows.scores + r * rows.vector_stride + place);
      best = hn::Max(best, score);
    }
    hn::Store(best, kFloats, most + r * kLanes);
  }
}

/// Adds the values of a tile's cells, times their weights, to kElements elements of the result.
/// values: F32, stride floats from cell to cell; out: elements out_stride floats apart. kBroken:
/// there may be infinite ones or NaN, which are nothing to rows that give them no weight.
template <int kElements, int kVectors, bool kBroken>
HWY_INLINE void mix_elements(const float* values, std::size_t stride, const TileRows& rows,
                             int first, int n, float* out, std::size_t out_stride) {
  Vector sum[kElements][kVectors];
  for (int i = 0; i < kElements; ++i) {
    for (int r = 0; r < kVectors; ++r) {
      sum[i][r] = hn::Load(kFloats, out + i * out_stride + r * kLanes);
    }
  }
  for (int c = 0; c < n; ++c) {
    const float* weights = rows.scores + rows.cells[first + c] * kLanes;
    Vector weight[kVectors];
    for (int r = 0; r < kVectors; ++r) {
      weight[r] = hn::Load(kFloats, weights + r * rows.vector_stride);
    }
    for (int i = 0; i < kElements; ++i) {
      const Vector value = hn::Set(kFloats, values[c * stride + i]);
      for (int r = 0; r < kVectors; ++r) {
        const Vector more = hn::MulAdd(value, weight[r], sum[i][r]);
        if constexpr (kBroken) {
          const auto none = hn::Eq(weight[r], hn::Zero(kFloats));
          sum[i][r] = hn::IfThenElse(none, sum[i][r], more);
        } else {
          sum[i][r] = more;
        }
      }
    }
  }
  for (int i = 0; i < kElements; ++i) {
    for (int r = 0; r < kVectors; ++r) {
      hn::Store(sum[i][r], kFloats, out + i * out_stride + r * kLanes);
    }
  }
}

/// AVX-512 and NEON have 32 registers, older x86 16.
inline constexpr bool kManyRegisters = HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64;

/// Cells (or head elements) in a register block of so many vectors: enough accumulators to hide the
/// latency of a multiply-add, few enough for the registers.
template <int kVectors>
inline constexpr int kBlockCells = kVectors == 1 || (kManyRegisters && kVectors <= 3) ? 8 : 4;

inline constexpr int kMostTargetVectors = kManyRegisters ? 4 : 3;

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
