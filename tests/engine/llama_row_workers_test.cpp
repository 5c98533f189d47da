#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

#include "engine/row_workers.h"

namespace swarmkv::internal {
namespace {

TEST(RowWorkers, DoesEveryRowOnceInEveryRound) {
  for (const int n_threads : {1, 2, 5}) {
    RowWorkers workers(n_threads);
    for (int round = 0; round < 500; ++round) {
      const int n_rows = round % 70;
      std::vector<std::atomic<int>> done(static_cast<std::size_t>(n_rows));
      std::atomic<bool> bad_worker{false};
      workers.run(n_rows, [&](int row, int worker) {
        if (worker < 0 || worker >= n_threads) bad_worker = true;
        ++done[static_cast<std::size_t>(row)];
      });
      for (const auto& count : done) ASSERT_EQ(count, 1);
      ASSERT_FALSE(bad_worker);
    }
  }
}

TEST(RowWorkers, ThrowsTheRowsExceptionAfterTheOthersAreDoneAndGoesOn) {
  RowWorkers workers(3);
  std::atomic<int> done{0};
  EXPECT_THROW(workers.run(20,
                           [&](int row, int) {
                             if (row == 7) throw std::runtime_error("row 7");
                             ++done;
                           }),
               std::runtime_error);
  EXPECT_EQ(done, 19);
  workers.run(20, [&](int, int) { ++done; });
  EXPECT_EQ(done, 39);
}

TEST(RowWorkers, NeverGivesTwoThreadsTheSameWorkerNumberAtATime) {
  RowWorkers workers(4);
  std::vector<std::atomic<int>> inside(4);
  std::atomic<bool> shared{false};
  for (int round = 0; round < 200; ++round) {
    workers.run(16, [&](int, int worker) {
      auto& count = inside[static_cast<std::size_t>(worker)];
      if (++count != 1) shared = true;
      --count;
    });
  }
  EXPECT_FALSE(shared);
}

TEST(RowWorkers, EndsWithoutEverHavingRun) { const RowWorkers workers(4); }

}  // namespace
}  // namespace swarmkv::internal
