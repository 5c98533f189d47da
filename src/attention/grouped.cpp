#include "attention/grouped.h"

// Vectors of a size known at compile time, and few enough targets to compile quickly: what is left
// out here runs the next smaller one.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_RVV | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attention/grouped.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/highway.h>

#include "attention/phases-inl.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {

// What the cutting of a call has to know of the target.
int target_lanes() { return static_cast<int>(kLanes); }
int target_vectors() { return kMostTargetVectors; }

void whole_block(const Block& block) {
  pack_queries(block);
  for (int tile = 0; tile < block.b.n_tiles; ++tile) score_tile(block, tile);
  mix_values(block, 0, 0, block.head);
}

// Piece `piece` of a block in a phase of a call that is cut along cells and elements too.
void part_of_block(const Block& block, int phase, int piece) {
  const AttentionBlocks& b = block.b;
  const int begin = b.n_tiles * piece / b.n_chunks;
  const int end = b.n_tiles * (piece + 1) / b.n_chunks;
  if (phase == 0) {
    pack_queries(block);
  } else if (phase == 1) {
    for (int tile = begin; tile < end; ++tile) score_tile(block, tile);
  } else if (phase == 2) {
    weigh_tiles(block, begin, end);
  } else {
    const std::size_t width = block.head / static_cast<std::size_t>(b.n_slices);
    const std::size_t from = static_cast<std::size_t>(piece) * width;
    mix_values(block, piece, from, from + width);
  }
}

void run_pieces(const AttentionBlocks& b, const AttentionLayout& layout,
                const AttentionTensors& tensors, float* room, int phase, int thread,
                std::atomic<int>& next) {
  float* scratch = room + static_cast<std::size_t>(thread) * b.scratch_floats;
  float* rooms = room + static_cast<std::size_t>(b.n_threads) * b.scratch_floats;
  const int pieces = b.whole || phase == 0 ? 1 : phase == 3 ? b.n_slices : b.n_chunks;
  for (;;) {
    const int piece = next.fetch_add(1, std::memory_order_relaxed);
    if (piece >= b.n_blocks * pieces) return;
    const int index = piece / pieces;
    float* own = rooms + static_cast<std::size_t>(b.whole ? thread : index) * b.block_floats;
    const Block block(b, layout, tensors, index, own, scratch);
    if (b.whole) {
      whole_block(block);
    } else {
      part_of_block(block, phase, piece % pieces);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <new>

#include "swarmkv/error.h"

namespace swarmkv::internal {
namespace {

HWY_EXPORT(target_lanes);
HWY_EXPORT(target_vectors);
HWY_EXPORT(run_pieces);

constexpr std::align_val_t kAlignment{64};
constexpr bool kOneTarget = (HWY_TARGETS & (HWY_TARGETS - 1)) == 0;

// Highway's own dispatch goes by a choice for the whole process; here each object has its own.
std::size_t place_in_tables(std::int64_t target) {
  if constexpr (kOneTarget) return 0;
  hwy::ChosenTarget chosen;
  chosen.Update(target);
  return chosen.GetIndex();
}

// Bits, of which a lower one means better instructions.
std::vector<std::int64_t> usable_targets() {
  std::vector<std::int64_t> targets;
  const std::int64_t fallback = HWY_STATIC_TARGET;  // may be one that needs no support
  for (std::int64_t left = (HWY_SUPPORTED_TARGETS | fallback) & HWY_TARGETS; left != 0;
       left &= left - 1) {
    targets.push_back(left & -left);
  }
  return targets;
}

std::int64_t target_named(std::string_view name) {
  std::string known;
  for (const std::int64_t target : usable_targets()) {
    if (name.empty() || name == hwy::TargetName(target)) return target;
    known += (known.empty() ? "" : ", ") + std::string(hwy::TargetName(target));
  }
  throw Error(ErrorCode::kInvalidArgument,
              "[attention] no target '" + std::string(name) + "' here, there are " + known);
}

}  // namespace

GroupedAttention::GroupedAttention(std::string_view target)
    : target_(place_in_tables(target_named(target))) {}

void GroupedAttention::FreeRoom::operator()(float* room) const {
  ::operator delete(room, kAlignment);
}

void GroupedAttention::prepare(const AttentionShape& shape, const AttentionTensors& tensors,
                               const AttentionLayout& layout, int n_threads) {
  tensors_ = tensors;
  layout_ = &layout;
  blocks_ = cut_attention(shape, layout.n_places(), n_threads,
                          HWY_DISPATCH_TABLE(target_lanes)[target_](),
                          HWY_DISPATCH_TABLE(target_vectors)[target_]());
  const std::size_t needed = blocks_.n_floats();
  if (needed > n_room_) {
    room_.reset();  // before the new one: both together may be too much
    n_room_ = 0;
    room_.reset(static_cast<float*>(::operator new(needed * sizeof(float), kAlignment)));
    n_room_ = needed;
  }
  for (auto& next : next_) next.store(0, std::memory_order_relaxed);
}

std::uint64_t GroupedAttention::most_bytes(const AttentionShape& most, int n_threads) const {
  const std::size_t floats = most_attention_floats(most, most.n_cells, n_threads,
                                                   HWY_DISPATCH_TABLE(target_lanes)[target_](),
                                                   HWY_DISPATCH_TABLE(target_vectors)[target_]());
  return floats * sizeof(float) + AttentionLayout::most_bytes(most.n_tokens, most.n_cells);
}

void GroupedAttention::run(int phase, int thread) {
  HWY_DISPATCH_TABLE(run_pieces)
  [target_](blocks_, *layout_, tensors_, room_.get(), phase, thread, next_[phase]);
}

std::vector<std::string> grouped_attention_targets() {
  std::vector<std::string> names;
  for (const std::int64_t target : usable_targets()) names.emplace_back(hwy::TargetName(target));
  return names;
}

}  // namespace swarmkv::internal
#endif
