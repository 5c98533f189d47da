// What the machine could do at most: reading memory, and multiply-adds, on all its threads. Nothing
// of ours is measured here; bench/decode.py says how near a decode step comes to these.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

// As the attention kernel, so that both have the same instructions.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_RVV | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "micro/machine_bench.cpp"
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/aligned_allocator.h>
#include <hwy/highway.h>

#include "micro/counters.h"

HWY_BEFORE_NAMESPACE();
namespace swarmkv::internal {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Reads all of it; the sum only keeps the compiler from leaving that out. n: a multiple of 1,024.
std::uint64_t sum_of(const std::uint64_t* values, std::size_t n) {
  constexpr hn::ScalableTag<std::uint64_t> kWords{};
  constexpr std::size_t kLanes = HWY_LANES(std::uint64_t);
  constexpr std::size_t kChains = 8;
  hn::Vec<decltype(kWords)> sums[kChains];
  for (auto& sum : sums) sum = hn::Zero(kWords);
  for (std::size_t i = 0; i < n; i += kChains * kLanes) {
    for (std::size_t c = 0; c < kChains; ++c) {
      sums[c] = hn::Add(sums[c], hn::Load(kWords, values + i + c * kLanes));
    }
  }
  for (std::size_t c = 1; c < kChains; ++c) sums[0] = hn::Add(sums[0], sums[c]);
  return hn::GetLane(hn::SumOfLanes(kWords, sums[0]));
}

/// Independent chains of multiply-adds, enough to hide the latency and few enough for 16 registers.
/// Returns something of the result; *n_flops: multiplications and additions done.
float multiply_add(std::size_t n_rounds, double* n_flops) {
  constexpr hn::ScalableTag<float> kFloats{};
  constexpr std::size_t kChains = 12;
  hn::Vec<decltype(kFloats)> chains[kChains];
  for (std::size_t c = 0; c < kChains; ++c) chains[c] = hn::Set(kFloats, static_cast<float>(c));
  const auto factor = hn::Set(kFloats, 0.5F), summand = hn::Set(kFloats, 1.0F);
  for (std::size_t round = 0; round < n_rounds; ++round) {
    for (auto& chain : chains) chain = hn::MulAdd(chain, factor, summand);
  }
  for (std::size_t c = 1; c < kChains; ++c) chains[0] = hn::Add(chains[0], chains[c]);
  *n_flops = 2.0 * kChains * HWY_LANES(float) * static_cast<double>(n_rounds);
  return hn::GetLane(chains[0]);
}

}  // namespace HWY_NAMESPACE
}  // namespace swarmkv::internal
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace swarmkv::internal {
namespace {

HWY_EXPORT(sum_of);
HWY_EXPORT(multiply_add);

std::size_t n_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

/// work(thread) on each of them, until the last one is done.
template <typename Work>
void on_all_threads(const Work& work) {
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < n_threads(); ++i) threads.emplace_back(work, i);
  work(std::size_t{0});
  for (std::thread& thread : threads) thread.join();
}

/// Page-aligned and written by the thread that will read it, so that it lies in memory near it.
class Memory {
 public:
  explicit Memory(std::size_t bytes) : n_each_(bytes / 8 / n_threads() / 1024 * 1024) {
    words_ = hwy::AllocateAligned<std::uint64_t>(n_each_ * n_threads());
    on_all_threads([this](std::size_t i) { std::fill(of(i), of(i) + n_each_, i); });
  }
  [[nodiscard]] std::uint64_t* of(std::size_t thread) { return words_.get() + thread * n_each_; }
  [[nodiscard]] std::size_t n_each() const { return n_each_; }

 private:
  std::size_t n_each_;
  hwy::AlignedFreeUniquePtr<std::uint64_t[]> words_;
};

// Bounds a decode step from below: its weights and its cache must be read. range(0) MiB: about what
// a step of the demo's model reads, which a very large cache may hold, and more than any holds.
void machine_read(benchmark::State& state) {
  Memory memory(static_cast<std::size_t>(state.range(0)) << 20);
  std::vector<std::uint64_t> sums(n_threads() * 8);  // a cache line for each
  for (auto _ : state) {
    on_all_threads([&](std::size_t i) {
      sums[i * 8] = HWY_DYNAMIC_DISPATCH(sum_of)(memory.of(i), memory.n_each());
    });
    benchmark::DoNotOptimize(sums.data());
  }
  report_per_item(state, "s_per_byte", 8.0 * static_cast<double>(memory.n_each() * n_threads()));
}
BENCHMARK(machine_read)->Arg(256)->Arg(1024)->UseRealTime()->Unit(benchmark::kMillisecond);

// Bounds a decode step of many agents from below: F32 multiply-adds, as attention does them.
void machine_multiply_add(benchmark::State& state) {
  constexpr std::size_t kRounds = 1 << 22;
  std::vector<double> flops(n_threads() * 8);
  for (auto _ : state) {
    on_all_threads([&](std::size_t i) {
      float result = HWY_DYNAMIC_DISPATCH(multiply_add)(kRounds, &flops[i * 8]);
      benchmark::DoNotOptimize(result);
    });
  }
  double all = 0;
  for (std::size_t i = 0; i < n_threads(); ++i) all += flops[i * 8];
  report_per_item(state, "s_per_flop", all);
}
BENCHMARK(machine_multiply_add)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swarmkv::internal
#endif
