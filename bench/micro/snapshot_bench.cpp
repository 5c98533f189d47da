// What a snapshot costs before the engine sees it: to be found among many, and to be verified.
#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "micro/counters.h"
#include "snapshot/snapshot_folder.h"

namespace swarmkv::internal {
namespace {

class Store {
 public:
  Store() : path_(made()), folder_(path_, calls_) {}
  ~Store() { std::filesystem::remove_all(path_); }
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  [[nodiscard]] const SnapshotFolder& folder() const { return folder_; }

 private:
  static std::string made() {
    std::string name = (std::filesystem::temp_directory_path() / "swarmkv-bench-XXXXXX").string();
    return ::mkdtemp(name.data());
  }
  // Filling the store is not measured and need not survive a power cut.
  struct WithoutSync final : SystemCalls {
    int sync(int) const override { return 0; }
  };
  WithoutSync calls_;
  std::string path_;
  SnapshotFolder folder_;
};

std::vector<std::int32_t> tokens_of(std::size_t n, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> out(n);
  for (auto& token : out) token = static_cast<std::int32_t>(random() % 49'152);
  return out;
}

// Bounds the look-up of a run's document in a store that holds 1,000 others and one match, the
// check of the tokens included. The state is tiny: verifying is measured below.
void find_among(benchmark::State& state) {
  constexpr std::size_t kTokens = 3'684;
  const Store store;
  const std::vector<std::uint8_t> blob(64, 1);
  const auto wanted = tokens_of(kTokens, 0);
  store.folder().save({}, wanted, blob);
  const auto n_others = static_cast<std::uint32_t>(state.range(0));
  for (std::uint32_t i = 1; i <= n_others; ++i) {
    store.folder().save({}, tokens_of(100 + i % kTokens, i), blob);
  }
  for (auto _ : state) {
    const FoundSnapshot found = store.folder().find_longest({.tokens = wanted});
    if (!found.file) state.SkipWithError("the file was not found");
  }
  report_per_item(state, "s_per_file", n_others + 1.0);
}
BENCHMARK(find_among)->Arg(0)->Arg(100)->Arg(1'000)->Unit(benchmark::kMillisecond);

// A state as large as SmolLM2's for 3,684 tokens, from the page cache.
void verify_state(benchmark::State& state) {
  const Store store;
  const std::vector<std::uint8_t> blob(static_cast<std::size_t>(state.range(0)) << 20, 1);
  const auto tokens = tokens_of(3'684, 0);
  const std::string path = store.folder().save({}, tokens, blob).path;
  for (auto _ : state) SnapshotFile::open(path).verify();
  report_per_item(state, "s_per_byte", static_cast<double>(blob.size()));
}
BENCHMARK(verify_state)->Arg(81)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace swarmkv::internal
