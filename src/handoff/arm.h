// How an agent that runs alone comes to a sequence that holds its prefix: one class for each way.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/context.h"
#include "handoff/handoff.h"

namespace swarmkv::internal {

/// Makes an empty context, always with the same options.
using ContextFactory = std::function<std::unique_ptr<Context>()>;

/// What an arm asks of whoever drives it, for one request's prefix.
class PrefixWork {
 public:
  virtual ~PrefixWork() = default;
  [[nodiscard]] virtual const Tokens& tokens() const = 0;  ///< at least one
  /// Evaluates all of the prefix in `seq`, which is empty.  errors  whatever ends the request
  virtual void compute(Context& context, SeqId seq) = 0;
  /// The prefix is there; what follows is the hand-off to this request.
  virtual void ready() = 0;
};

/// One thread only; at most one request between begin() and end().
class Arm {
 public:
  struct Place {
    Context* context;
    SeqId seq;  ///< holds the prefix and nothing else
  };

  virtual ~Arm() = default;

  /// A context with an empty sequence, for a request without a shared prefix.
  virtual Place begin_empty() = 0;
  virtual Place begin(PrefixWork& work) = 0;
  virtual void end() = 0;  ///< the request is over; its cells go
  virtual void
  lost() = 0;  ///< instead of end() after an engine failure: nothing in a cache is trusted

  /// True if the prefix is computed once for all requests that have it.
  [[nodiscard]] virtual bool computes_once() const = 0;
  [[nodiscard]] virtual int n_cells() const = 0;  ///< of a context
  [[nodiscard]] virtual std::uint64_t kv_bytes()
      const = 0;  ///< KV buffers and states that exist now
  [[nodiscard]] virtual std::uint64_t n_restores() const = 0;
};

/// Makes its first context at once, so that options a runtime refuses are refused here.
/// errors  as Model::make_context; kInvalidArgument for kShared, which is no such arm
[[nodiscard]] std::unique_ptr<Arm> make_arm(Handoff handoff, ContextFactory factory);

}  // namespace swarmkv::internal
