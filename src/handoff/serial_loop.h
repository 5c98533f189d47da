// One request after another, from its first forward to its last token. One thread only, except
// abort().
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "handoff/arm.h"
#include "handoff/serial_runner.h"
#include "schedule/branch.h"
#include "schedule/inbox.h"

namespace swarmkv::internal {

class SerialLoop {
 public:
  SerialLoop(const Model& model, Arm& arm, SerialOptions options, Inbox& inbox);

  /// Until the inbox is stopped.
  void run();
  /// Makes the forward in progress end early where the engine can. Any thread.
  void abort();

 private:
  class Work;

  [[noreturn]] static void fail(ErrorCode code, const std::string& what);
  // Between two forwards: what came in, who ran out of time.
  void look_around(bool idle);
  void check_current();
  void end_waiting(std::uint64_t id, RequestState state, ErrorCode code, const std::string& error);
  [[nodiscard]] SchedulerStats stats() const;

  void serve(Branch& branch);
  [[nodiscard]] FinishReason answer(Branch& branch);
  Arm::Place place_for(Branch& branch);
  void compute_prefix(Branch& branch, const Tokens& prefix, Context& context, SeqId seq);
  [[nodiscard]] FinishReason generate(Branch& branch, Context& context);
  void forward(Context& context, const Batch& batch);
  [[nodiscard]] Token sample(Branch& branch, Context& context, int row);
  void note_use(int n_cells);

  const Model& model_;
  Arm& arm_;
  const SerialOptions options_;
  Inbox& inbox_;

  std::deque<std::unique_ptr<Branch>> waiting_;
  Branch* current_ = nullptr;
  bool stopping_ = false, current_cancelled_ = false, engine_broke_ = false;
  int n_fatal_in_a_row_ = 0;
  const TimePoint started_;
  SchedulerStats stats_;

  Mutex mutex_;
  Context* computing_ GUARDED_BY(mutex_) = nullptr;  ///< whose forward is in progress
};

}  // namespace swarmkv::internal
