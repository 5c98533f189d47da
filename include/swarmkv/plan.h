#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "swarmkv/export.h"
#include "swarmkv/pipeline.h"

namespace swarmkv {

namespace internal {
struct Prepared;
}

/// What a pipeline will need, known before anything runs. Holds the pipeline's documents and
/// prompts as token ids, so that running it reads and tokenises nothing twice. Made by make_plan
/// and draft_plan.
struct Plan {
  struct Document {
    std::string name;
    int n_tokens = 0;   ///< of its text alone
    int n_readers = 0;  ///< agents that have it, or its beginning, before their prompt
  };

  /// A stretch of prompts that is computed once and that everybody forks from who begins with it.
  struct PrefixNode {
    struct Part {
      std::string document;    ///< empty: what stands around documents (template, system text)
      int begin = 0, end = 0;  ///< tokens of that document; else begin = 0
    };
    int parent = -1;         ///< index into `prefix`, always a lower one; -1 = begins at position 0
    int begin = 0, end = 0;  ///< positions in the prompts
    std::vector<Part> parts;
    int n_agents = 0;  ///< whose prompts begin with it
  };

  struct Agent {
    std::string name;
    int n_prompt_max = 0;  ///< tokens, inserted answers at their max_tokens
    int n_total_max = 0;   ///< prompt + max_tokens
    int n_cached_max = 0;  ///< of the prompt: shared, or left by the agent it continues
    int n_own_max = 0;     ///< of the prompt: computed for this agent alone
    int max_tokens = 0;
    bool is_function = false;    ///< no model, no tokens
    bool inserts = false;        ///< answers go into its prompt: the numbers are upper bounds
    int prefix = -1;             ///< where its documents end, index into Plan::prefix; -1 = nowhere
    std::vector<int> needs;      ///< indices into Plan::agents
    std::vector<bool> optional;  ///< of each of `needs`: it may fail
    int continues = -1;          ///< index into Plan::agents, -1 = a conversation of its own
    std::vector<std::string> reads;  ///< documents before its prompt
    std::vector<int> readings;       ///< of each of `reads`: index into DocumentReport::readings
    std::optional<int> ready_after;  ///< document tokens it waits for and sees, if not all
    int wave = 0;                    ///< index into Plan::waves
  };

  /// Agents that run together if all take equally long. In a run the next one comes as soon as
  /// there is room.
  struct Wave {
    std::vector<int> agents;  ///< indices, in the order in which they start
    int stage = 0;            ///< all their needs are in waves of lower stages
    int n_cells = 0;          ///< their documents, their own tokens, and what is kept for others
    /// That is more than the pool has: some of what is kept leaves the cache and is computed again.
    bool exceeds_pool = false;
  };

  struct Step {
    std::string agent;
    int n_prefix = 0;  ///< document tokens that are computed for it first
    int n_own = 0;     ///< prompt tokens of its own
    int n_output = 0;  ///< at most
    [[nodiscard]] std::int64_t n_tokens() const {
      return std::int64_t{n_prefix} + n_own + n_output;
    }
  };

  std::string name;   ///< the pipeline's
  std::string model;  ///< file, or "fake"
  std::vector<Document> documents;
  std::vector<PrefixNode> prefix;  ///< parents before children
  int n_document_tokens = 0;       ///< the shared prefixes together, scaffold included
  std::vector<Agent> agents;       ///< file order
  std::vector<Wave> waves;
  std::vector<Step> critical_path;  ///< the longest chain of needs, in tokens

  /// What a run's report will say: exactly, at most, or about, if prefixes may have to be computed
  /// again. `reasons` tells why it is not exact.
  enum class Sums { kExact, kUpperBound, kEstimate } sums = Sums::kExact;
  std::vector<std::string> reasons;
  std::int64_t n_prompt_tokens = 0;    ///< asked
  std::int64_t n_prompt_computed = 0;  ///< asked = computed + reused
  std::int64_t n_prompt_reused = 0;

  /// Sequence ids that a run uses at most: agents at once, shared prefixes, conversations that may
  /// go on; and how many its context has. With fewer than it uses, something leaves the cache.
  int n_seqs_concurrent = 0, n_seqs = 0;
  int n_cells_concurrent = 0;  ///< prefix + every tail that can be alive at once
  int n_cells_largest = 0;     ///< prefix + the largest tail: what must fit
  int ctx_size = 0;            ///< chosen for the pool
  bool ctx_size_given = false;
  int parallel = 0;    ///< most agents in one batch, as EngineOptions::parallel
  int n_together = 0;  ///< most agents at once: 1 in modes that run them one by one
  int n_ctx_train = 0;
  std::string cache_type_k, cache_type_v;
  std::uint64_t kv_bytes_per_cell = 0;  ///< 0 where the model does not tell (recurrent ones)
  std::uint64_t kv_bytes = 0;           ///< of ctx_size cells
  std::string misfit;                   ///< why it cannot run; empty = it fits
  std::vector<Diagnostic> warnings;
  std::shared_ptr<const internal::Prepared> prepared;  ///< for Engine::run
};

/// For people, ending in a newline. `color`: ANSI colours allowed.
SWARMKV_API std::string to_text(const Plan& plan, bool color);
/// One JSON object, schema swarmkv.plan/1 (docs/metrics.md).
SWARMKV_API std::string to_json(const Plan& plan);
/// The same object on one line.
SWARMKV_API std::string to_json_line(const Plan& plan);
/// Prefix tree and needs as a graph, for Graphviz and for Mermaid. Names become text in labels and
/// nothing else.
SWARMKV_API std::string to_dot(const Plan& plan);
SWARMKV_API std::string to_mermaid(const Plan& plan);

}  // namespace swarmkv
