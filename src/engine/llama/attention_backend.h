// The grouped kernel as the runtime sees it: an accelerator device beside its CPU device (as its
// BLAS is), which takes flash attention nodes and nothing else.
//
// The runtime gives every context one backend of every such device of the process. What a context's
// backend does is said by the AttentionHook that is in scope while the context is made; contexts
// made without one, also those of other code, get a backend that takes nothing.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "attention/grouped.h"
#include "engine/llama/attention_layouts.h"
#include "ggml-backend.h"
#include "ggml.h"

namespace swarmkv::internal {

/// One context's use of the kernel. Used by the thread that makes the context, then by the engine
/// thread.
struct AttentionHook {
  explicit AttentionHook(std::string_view target) : kernel(target) {}

  /// What the runtime asked for while it planned its graphs: sizes the kernel takes, each once
  /// (tokens, cells and scale are of no meaning), and why the first other node was not taken.
  std::vector<AttentionShape> taken;
  std::string refused;
  std::map<std::tuple<int, int, int>, std::string> left;  ///< the answers of the next, by heads
  GroupedAttention kernel;
  AttentionLayouts layouts;
  /// Asked once for each size of heads while graphs are planned: why nodes of many tokens
  /// (kTokensOfTiledKernel and more) are better left to the runtime; empty: they are not. Null: the
  /// kernel takes all it can.
  std::function<std::string(const AttentionShape&)> why_leave_many_tokens;
  bool is_off = false;  ///< it was not usable: nothing is taken any more
  int n_threads = 1;    ///< set by the runtime before each forward
  std::atomic<bool> was_used{false};
};

/// Makes the device known to the runtime, once a process; before models are loaded, because the
/// runtime walks the list of devices without a lock. False: this llama.cpp has another interface.
bool register_attention_device();

/// While it lives, a context made by this thread gets the hook.
class AttentionScope {
 public:
  explicit AttentionScope(std::shared_ptr<AttentionHook> hook);
  ~AttentionScope();
  AttentionScope(const AttentionScope&) = delete;
  AttentionScope& operator=(const AttentionScope&) = delete;
};

}  // namespace swarmkv::internal
