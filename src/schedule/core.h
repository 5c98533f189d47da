// The scheduler's loop body, without threads: admit -> compose -> forward -> deliver. Engine thread
// only.
//
// Invariants, checked by check_integrity() after every step in tests:
//
//  1. Reserved = the tree's spans + the branches' reservations <= cells of the pool; nobody uses
//     more than reserved.
//
//  2. A waiting branch owns no cells, no sequence and no pin.
//
//  3. An admitted branch pins its base; its sequence's length in the cache is n_past (0 before it
//     is forked).
//
//  4. The longest-running branch holds its full reservation, so one request always finishes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "kv/prefix_tree.h"
#include "schedule/branch.h"
#include "schedule/scheduler.h"
#include "schedule/stored_prefix.h"

namespace swarmkv::internal {

class SchedulerCore {
 public:
  using Clock = std::function<TimePoint()>;

  SchedulerCore(const Model& model, Context& context, SchedulerOptions options, Clock now);
  ~SchedulerCore();
  SchedulerCore(const SchedulerCore&) = delete;
  SchedulerCore& operator=(const SchedulerCore&) = delete;

  /// Refuses what can never run. Thread-safe.  errors  kInvalidArgument, kDoesNotFit
  void check(const Request& request) const;

  void submit(std::unique_ptr<Branch> branch);
  void cancel(std::uint64_t id, const std::string& why);
  void cancel_all(const std::string& why);
  /// What the finished request `id` left in the cache (Request::keep) is not needed any more.
  void let_go(std::uint64_t id);
  // snapshot.cpp
  /// A prefix that may be loaded instead of computed, until it is withdrawn.
  void offer(std::uint64_t id, std::shared_ptr<const StoredPrefix> stored);
  void withdraw(std::uint64_t id);
  /// A prefix whose state is captured before it would be thrown out, at the latest by settle().
  void want(std::uint64_t id, CaptureRequest request);
  void settle(std::uint64_t id);
  void want_no_more(std::uint64_t id);

  /// Fails everything, now and later: the context cannot be trusted any more and is not touched
  /// again. May throw for lack of memory; step() then goes on with it.
  void give_up_context(const std::string& error);

  /// One step. False: nothing is waiting or running.
  bool step();
  [[nodiscard]] bool idle() const { return branches_.empty(); }

  [[nodiscard]] const SchedulerStats& stats() const { return stats_; }
  void add_idle(double seconds) { stats_.counters.idle_s += seconds; }
  void check_integrity() const;

 private:
  /// A run of rows in the batch being composed: of a branch or of a tree node.
  struct Part {
    Branch* branch = nullptr;
    PrefixNode* node = nullptr;
    Branch* first_in_line = nullptr;  ///< of those that wait for the node
    int n = 0;
    int logits_index = -1;
  };
  struct Job {  ///< a node that can be computed now
    PrefixNode* node = nullptr;
    Branch* first_in_line = nullptr;
  };
  struct Spot {  ///< where a branch would start
    PrefixNode* node = nullptr;
    int n = 0;
    Branch* tail_of = nullptr;  ///< the match lies in this branch's private tail
    bool fell_back = false;
  };

  // admission.cpp
  void admit();
  bool try_admit(Branch& branch);
  [[nodiscard]] bool may_not_be_passed(const Branch& branch) const;
  [[nodiscard]] Sparing sparing_for_admission(const Branch& branch) const;
  bool try_admit_at(Branch& branch, const Spot& spot, std::vector<int> cuts);
  // match.cpp
  [[nodiscard]] Spot find_spot(const Branch& branch);
  [[nodiscard]] Spot on_own_cuts(const Branch& branch, const Spot& spot);
  PrefixNode* share_tail(Branch& owner, int at);
  // room.cpp
  [[nodiscard]] bool make_room(int n_cells, int n_seqs, Sparing sparing);
  enum class Need { kCells, kSequence };
  bool evict(Sparing at_least, Need need = Need::kCells);
  void mark_wanted();
  void top_up_oldest();
  bool grow(Branch& branch);
  Branch* lowest_ranked(const Branch* except) const;
  [[nodiscard]] Branch* oldest() const;
  // snapshot.cpp
  [[nodiscard]] int use_of(const StoredPrefix& stored, const Branch& branch) const;
  struct Gain {
    std::uint64_t id;   ///< of the offer
    int use, n_stored;  ///< tokens that the branch begins with, and that the state holds
  };
  [[nodiscard]] std::vector<Gain> gains_of(const Branch& branch, const Spot& spot) const;
  void restore_for(const Branch& branch, const Spot& spot);
  bool load(std::uint64_t id, const StoredPrefix& stored);
  [[nodiscard]] PrefixNode* node_of(const Tokens& tokens);
  void capture_what_may_go(Need need);
  void capture(const CaptureRequest& wanted);
  [[nodiscard]] static double compute_ms(const PrefixNode& node, int n);
  [[nodiscard]] std::string save_prefix(const CaptureRequest& request, SequenceState& state);
  // compose.cpp
  void compose();
  void compose_rows();
  void compose_equal_lengths();
  [[nodiscard]] static PrefixNode* next_unready(Branch& branch);
  void fork_ready_branches();
  void add_branch_rows(Branch& branch, int n);
  void add_node_rows(const Job& job, int n);
  [[nodiscard]] std::vector<Job> computable_nodes();
  [[nodiscard]] int room_beside_decodes() const;
  [[nodiscard]] int chunk_of(const PrefixNode& node, int n_room) const;
  [[nodiscard]] bool start(PrefixNode& node);
  // deliver.cpp
  ForwardStatus forward(std::string& error);
  void deliver();
  void count_node(const Part& part);
  void count_branch(const Part& part);
  void count_cells();
  void accept(Branch& branch, Token token, TimePoint t);
  void report_progress();
  void report_progress_of(Branch& branch, std::optional<TimePoint> began);
  void expire_deadlines();
  // recover.cpp
  void recover(ForwardStatus status, const std::string& error);
  void no_slot();
  void break_stall();
  void fail_parts(ErrorCode code, const std::string& error);
  void repair_parts();
  [[nodiscard]] bool books_match_cache() const;
  void start_over();
  void fail_everyone(const std::string& error);
  // finish.cpp
  void preempt(Branch& branch, bool counts);
  void finish(Branch& branch, RequestState state, FinishReason reason, ErrorCode code,
              const std::string& error);
  void fail(Branch& branch, ErrorCode code, const std::string& error);
  void leave_cache(Branch& branch);
  void leave_behind(Branch& branch);

  const Model& model_;
  Context& context_;
  const SchedulerOptions options_;
  const Clock now_;
  const BatchLimits limits_;
  CellPool cells_;
  SeqPool seqs_;
  PrefixTree tree_;

  std::map<std::uint64_t, std::unique_ptr<Branch>> branches_;
  std::set<Branch*, RanksBefore> waiting_, admitted_;
  std::set<std::pair<TimePoint, std::uint64_t>> deadlines_;

  std::map<std::uint64_t, std::shared_ptr<const StoredPrefix>> offers_;
  std::map<std::uint64_t, CaptureRequest> wanted_states_;

  Batch batch_;
  std::vector<Part> parts_;
  std::uint64_t n_steps_ = 0, n_admitted_ever_ = 0;
  bool admission_may_help_ = true;
  Branch* blocked_head_ = nullptr;
  std::uint64_t blocked_since_ = 0;
  std::uint64_t marked_wanted_at_ = 0;  ///< step
  int n_budget_;  ///< tokens of the next forward; halved while the cache has no slot
  int n_fatal_in_a_row_ = 0, n_stalls_in_a_row_ = 0;
  bool last_was_decode_ = false;
  double prefill_tokens_per_s_ = 0, last_forward_ms_ = 0;
  TimePoint last_forward_began_{};
  SchedulerStats stats_;
};

}  // namespace swarmkv::internal
