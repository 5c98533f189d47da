// Scores into weights: exp(score - the row's maximum). Compiled once for each target.
#if defined(SWARMKV_ATTENTION_WEIGHTS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef SWARMKV_ATTENTION_WEIGHTS_INL_H
#undef SWARMKV_ATTENTION_WEIGHTS_INL_H
#else
#define SWARMKV_ATTENTION_WEIGHTS_INL_H
#endif

#include <hwy/highway.h>

#include "attention/block-inl.h"
#include "attention/kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

/// Smaller weights are zero: e^-60 is far less than rounding loses of a sum that has a one in it,
/// and much smaller numbers are denormal, which processors multiply slowly.
inline constexpr float kLeastGap = -60.0F;

/// e^gap to 2e-7 of it, zero below kLeastGap. gap: score less maximum, so at most zero (unless the
/// row holds NaN and is lost anyway).
///
/// Highway's Exp serves all numbers at twice the work, and a row has as many of these as it sees
/// cells. As usual: gap = n ln 2 + rest with a whole n, a polynomial for the rest (fitted here, for
/// the least relative error over half of ln 2 to both sides, 1.1e-7), n added to the exponent.
HWY_INLINE Vector weight_of(Vector gap) {
  const hn::RebindToSigned<Floats> bits;
  // Adding 1.5 * 2^23 leaves no room for a fraction: the sum's lowest bits are n.
  const Vector round = hn::Set(kFloats, 12582912.0F);
  const Vector with_n = hn::MulAdd(gap, hn::Set(kFloats, 1.44269504F), round);
  const Vector n = hn::Sub(with_n, round);
  Vector rest = hn::NegMulAdd(n, hn::Set(kFloats, 0.693359375F), gap);  // exact: few bits
  rest = hn::NegMulAdd(n, hn::Set(kFloats, -2.12194440e-4F), rest);
  Vector power = hn::Set(kFloats, 8.31247752e-3F);
  power = hn::MulAdd(power, rest, hn::Set(kFloats, 4.18905499e-2F));
  power = hn::MulAdd(power, rest, hn::Set(kFloats, 0.166671163F));
  power = hn::MulAdd(power, rest, hn::Set(kFloats, 0.499992288F));
  power = hn::MulAdd(power, rest, hn::Set(kFloats, 1.0F));
  power = hn::MulAdd(power, rest, hn::Set(kFloats, 1.0F));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(bits, with_n));
  const Vector weight = hn::BitCast(kFloats, hn::Add(hn::BitCast(bits, power), exponent));
  const Vector some = hn::IfThenElseZero(hn::Ge(gap, hn::Set(kFloats, kLeastGap)), weight);
  // NaN is not above anything: broken keys must show, infinite ones (the maximum is infinite, too)
  // as well.
  return hn::IfThenElse(hn::IsNaN(gap), gap, some);
}

/// The maxima of a block's rows, once all its tiles have their scores.
struct RowMaxima {
  explicit RowMaxima(const Block& block) {
    for (int r = 0; r < block.rows.n_vectors; ++r) {
      // Finite, so that a row that sees nothing gets zeros and not NaN.
      most[r] = hn::Set(kFloats, -1e30F);
      for (int tile = 0; tile < block.b.n_tiles; ++tile) {
        most[r] = hn::Max(most[r], hn::Load(kFloats, block.most(tile) + r * kLanes));
      }
    }
  }
  Vector most[kMostVectors];
};

/// Turns scores of a tile into weights; with kSum they are added to sums, one a row.
template <bool kSum>
HWY_INLINE void weigh_part(const TileRows& rows, int n_vectors, const Vector* most, float* sums) {
  for (int r = 0; r < n_vectors; ++r) {
    float* scores = rows.scores + r * rows.vector_stride;
    Vector sum = kSum ? hn::Load(kFloats, sums + r * kLanes) : hn::Zero(kFloats);
    for (int i = 0; i < rows.n_cells; ++i) {
      float* at = scores + rows.cells[i] * kLanes;
      const Vector weight = weight_of(hn::Sub(hn::Load(kFloats, at), most[r]));
      hn::Store(weight, kFloats, at);
      sum = hn::Add(sum, weight);
    }
    if (kSum) hn::Store(sum, kFloats, sums + r * kLanes);
  }
}

HWY_INLINE void weigh_tiles(const Block& block, int begin, int end) {
  const RowMaxima maxima(block);
  for (int tile = begin; tile < end; ++tile) {
    if (block.view(tile).any == 0) continue;
    for_each_part(block, tile,
                  [&](int vector, int n_vectors, const std::uint8_t* cells, int n) HWY_ATTR {
                    weigh_part<false>(tile_rows(block, tile, vector, cells, n), n_vectors,
                                      maxima.most + vector, nullptr);
                  });
  }
}

/// Adds weights of a tile to sums, one a row; in the same order as weigh_part.
HWY_INLINE void add_weights(const TileRows& rows, int n_vectors, float* sums) {
  for (int r = 0; r < n_vectors; ++r) {
    Vector sum = hn::Load(kFloats, sums + r * kLanes);
    for (int i = 0; i < rows.n_cells; ++i) {
      const float* weights = rows.scores + r * rows.vector_stride + rows.cells[i] * kLanes;
      sum = hn::Add(sum, hn::Load(kFloats, weights));
    }
    hn::Store(sum, kFloats, sums + r * kLanes);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#endif
