#include "api/snapshot_writer.h"

#include <exception>
#include <utility>

#include "base/clock.h"

namespace swarmkv::internal {

SnapshotWriter::~SnapshotWriter() {
  std::thread thread;
  {
    const MutexLock lock(mutex_);
    giving_up_ = true;
    wake_.notify_one();
    thread = std::move(thread_);
  }
  if (thread.joinable()) thread.join();
}

void SnapshotWriter::add(WriteJob job) {
  n_pending_bytes_ += job.state.size();
  const MutexLock lock(mutex_);
  queue_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  wake_.notify_one();
}

void SnapshotWriter::run() {
  while (true) {
    WriteJob job;
    {
      const MutexLock lock(mutex_);
      while (queue_.empty() && !giving_up_) wake_.wait(mutex_);
      if (queue_.empty()) return;
      job = std::move(queue_.front());
      queue_.pop_front();
    }
    WriteOutcome outcome = write(job);
    const std::uint64_t n_bytes = job.state.size();
    const auto done = std::move(job.done);
    job = {};  // the memory goes before anybody hears that it may be used again
    n_pending_bytes_ -= n_bytes;
    done(std::move(outcome));
  }
}

WriteOutcome SnapshotWriter::write(const WriteJob& job) const {
  const TimePoint before = now();
  WriteOutcome outcome;
  try {
    if (giving_up_) throw Error(ErrorCode::kCancelled, "[snapshot.save] the engine was closed");
    // A state that would be refused when it is read need not be written.
    job.model->check_state(job.state, static_cast<Pos>(job.tokens->size()));
    outcome.saved =
        job.folder->save(job.about, *job.tokens, job.state, {job.limit_bytes, &giving_up_});
  } catch (const Error& e) {
    outcome.error_code = e.code();
    outcome.error = e.what();
  } catch (const std::exception& e) {
    outcome.error_code = ErrorCode::kInternal;
    outcome.error = std::string("[snapshot.save] ") + e.what();
  }
  outcome.ms = 1000 * seconds(before, now());
  return outcome;
}

}  // namespace swarmkv::internal
