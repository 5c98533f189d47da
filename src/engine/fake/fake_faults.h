// Switches that make a fake engine fail, stall or misbehave at a chosen forward.
#pragma once

#include <chrono>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/types.h"

namespace swarmkv::internal {

class FakeContext;

/// Thread-safe. Forwards are counted from 1 in each context; calls refused for a broken
/// precondition are not counted. Hooks run on the engine thread with no lock held and may call
/// abort() or block on an event.
class FakeFaults {
 public:
  static constexpr int kForever = -1;
  using ForwardHook = std::function<void(int k, const Batch& batch)>;

  /// Forwards k, k+1, ... (`times` of them) answer `status` instead of running; kOk is refused.
  /// With `keep` > 0 the first `keep` tokens of the batch stay in the cache, as finished ubatches
  /// do after kFatal.
  void fail_at(int k, ForwardStatus status, int times = 1, int keep = 0);
  /// Forwards k, ... call `thrower`, which is to throw.
  void throw_at(int k, std::function<void()> thrower, int times = 1);
  void throw_error_at(int k, ErrorCode code, int times = 1);  ///< swarmkv::Error
  void throw_std_at(int k, int times = 1);                    ///< std::runtime_error
  void throw_other_at(int k, int times = 1);                  ///< an int
  /// The k-th call of sample() (from 1 in each context) calls `thrower`.
  void throw_at_sample(int k, std::function<void()> thrower);

  /// The k-th save of a sequence (from 1, over all contexts of this model) writes only `n_bytes`.
  void short_save_at(int k, std::size_t n_bytes, int times = 1);
  /// The k-th load, counted the same way, finds only `n_bytes` of the state.
  void short_load_at(int k, std::size_t n_bytes, int times = 1);
  /// Saves and loads on the device are refused as kUnsupported.
  void set_no_device(bool none);

  /// Called at the start of every forward, after its preconditions were checked.
  void on_forward(ForwardHook hook);
  /// Called with every context made, so that a test can reach one that the code under test creates.
  void on_context(std::function<void(FakeContext&)> hook);
  /// Makes every forward last this long per token; abort() ends it early.
  void set_token_delay(std::chrono::microseconds per_token);
  /// Window models: forget what lies outside the window, so that forks further back are refused.
  void set_drop_outside_window(bool drop);
  /// Recompute every sequence from its cells after each forward; a difference throws kInternal.
  void set_verify(bool verify);
  /// make_context throws this.
  void refuse_contexts(ErrorCode code);
  void clear();

  // The engine's side.
  struct Plan {
    ForwardHook hook;
    std::chrono::microseconds token_delay{0};
    bool drop_outside_window = false, verify = false;
  };
  struct Outcome {
    std::optional<ForwardStatus> status;
    int keep = 0;
    std::function<void()> thrower;
  };
  [[nodiscard]] Plan plan() const;
  /// Asked after the hook, so that a hook may arrange a failure of its own forward.
  [[nodiscard]] Outcome outcome(int k) const;
  [[nodiscard]] std::function<void()> sample_thrower(int k) const;
  /// Bytes that this save or load gets, of `n_bytes`.
  [[nodiscard]] std::size_t saved_bytes(std::size_t n_bytes) const;
  [[nodiscard]] std::size_t loaded_bytes(std::size_t n_bytes) const;
  [[nodiscard]] bool no_device() const;
  void context_made(FakeContext& context) const;

 private:
  struct At {
    int first, times;
    Outcome outcome;
    [[nodiscard]] bool covers(int k) const;
  };
  mutable std::mutex m_;
  struct Short {
    int first, times;
    std::size_t n_bytes;
  };
  static std::size_t limited(const std::vector<Short>& faults, int k, std::size_t n_bytes);
  std::vector<At> forwards_, samples_;
  std::vector<Short> saves_, loads_;
  mutable int n_saves_ = 0, n_loads_ = 0;
  bool no_device_ = false;
  Plan plan_;
  std::function<void(FakeContext&)> on_context_;
  std::optional<ErrorCode> refuse_;
};

}  // namespace swarmkv::internal
