#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "swarmkv/export.h"
#include "swarmkv/sampling.h"

namespace swarmkv {

/// Where something stands in a pipeline file; line 0 = it was built in C++.
struct SourcePos {
  std::string file;
  int line = 0, column = 0;  ///< 1-based
};

/// "file:line:column"; empty if it was built in C++.
SWARMKV_API std::string to_string(const SourcePos& pos);

/// One problem found in a pipeline, with a stable code ("SK203").
struct Diagnostic {
  enum class Severity { kError, kWarning, kNote } severity = Severity::kError;
  std::string code;
  std::string message;
  SourcePos pos;
  int length = 1;       ///< characters to underline from pos
  std::string hint;     ///< "did you mean 'needs'?", may be empty
  std::string excerpt;  ///< the source line, without newline; empty if unknown
};

/// The compiler-like text of diagnostics: file:line:col, excerpt, caret, hint
/// (docs/pipeline_yaml.md).
SWARMKV_API std::string format(const std::vector<Diagnostic>& diagnostics);

/// The candidate that `word` was probably meant to be, letter case aside: one that a third of the
/// word's length, at most 3, of edits away is near enough. Of equally near ones the first. For
/// hints.
SWARMKV_API std::optional<std::string> nearest_name(std::string_view word,
                                                    std::span<const std::string> candidates);

struct DocumentSpec {
  std::string name;
  std::string
      path;  ///< relative to the pipeline's folder; "-" = standard input; empty if `text` is given
  std::optional<std::string> text;
  /// "off", "auto" (kept in the store and used from there) or a snapshot file to begin with; empty
  /// = what RunOptions says.
  std::string snapshot;
  SourcePos pos;
  std::set<std::string> changed_keys{};  ///< whose value PipelineChanges::sets gave: "snapshot"
};

/// Answers of an agent's needs, by name. An optional need that did not finish is not in it.
using Answers = std::map<std::string, std::string>;

/// How much of its documents an agent waits for, and sees. Documents are counted together, in the
/// order in which the agent reads them.
struct ReadyAfter {
  enum class Kind {
    kEnd,      ///< all of it
    kTokens,   ///< `value` tokens, >= 0
    kPercent,  ///< `value` percent of the tokens, 0 to 100, rounded down
    kBefore    ///< everything in front of the first place where `text` stands
  } kind = Kind::kEnd;
  double value = 0;
  std::string text;

  friend bool operator==(const ReadyAfter&, const ReadyAfter&) = default;
};

/// A node of the pipeline. With `function` set it is computed on a pool thread; else by the model.
struct AgentSpec {
  std::string name;
  std::string
      prompt;  ///< may hold {{ other_agent }}; rendered once, inserted text is never a template
  std::string system;  ///< placed after the documents, so that the prefix stays shared
  std::vector<std::string>
      needs;  ///< explicit; names in {{ }} and `continues` are added by validation
  /// Of `needs`, those that may fail: the agent then runs without their answer, for which its
  /// prompt has a `default`.
  std::vector<std::string> optional_needs;
  /// Names of the documents that stand before the prompt, in this order; unset = all, in file
  /// order.
  std::optional<std::vector<std::string>> reads;
  ReadyAfter ready_after;
  /// An agent whose conversation this one goes on with: its documents, prompt and answer stand in
  /// front, and stay in the cache. Then `reads` and `ready_after` are that agent's.
  std::string continues;
  std::string
      output_file;  ///< where the answer is written, below the pipeline's folder; empty = nowhere
  Sampling sampling;
  bool seed_is_own = false;  ///< seed was given for this agent (else derived from the shared one)
  int max_tokens = 512;
  std::vector<std::string> stop;
  std::chrono::milliseconds timeout{0};
  int priority = 0;
  bool ignore_eos = false;
  /// Runs instead of the model: gets the needs' answers, returns this agent's. May throw: the node
  /// fails.
  std::function<std::string(const Answers&)> function;
  SourcePos pos;  ///< of the name
  /// Of each key that was given ("max_tokens", "needs.memo", ...); line 0 = outside of the file,
  /// and `file` is what gave it: "--predict".
  std::map<std::string, SourcePos> key_pos;
  /// Settings whose value PipelineChanges::sets gave, to the agent or to `defaults`: "max_tokens".
  std::set<std::string> changed_keys{};
};

/// Settings a file may carry for the model; empty/unset = not given.
struct ModelSpec {
  std::string path;
  std::optional<int> ctx_size;  ///< 0 = auto
  std::optional<int> n_gpu_layers, threads, threads_batch, batch_size, parallel;
  std::string cache_type_k, cache_type_v, flash_attn;
  SourcePos pos;
  std::set<std::string> changed_keys{};  ///< whose value PipelineChanges::sets gave: "threads"
};

/// Where a path of a pipeline leads: absolute ones and "-" (standard input) stay, others start at
/// `folder`.
SWARMKV_API std::string resolve_path(const std::string& folder, const std::string& path);

/// What to run: documents read once, and agents over them. Plain data; build it here or parse it
/// from YAML.
struct Pipeline {
  std::string name = "pipeline";
  std::string folder = ".";  ///< relative paths start here
  ModelSpec model;
  std::string system;                   ///< shared, stands before the documents
  std::vector<std::string> text_files;  ///< whose contents its texts are (file://), below `folder`
  std::map<std::string, std::string> vars;  ///< {{ vars.name }} in prompts and system texts
  std::vector<DocumentSpec> documents;
  std::vector<AgentSpec> agents;         ///< in file order
  std::set<std::string> changed_keys{};  ///< whose value PipelineChanges::sets gave: "system"
};

/// A parsed file and everything that was found in it, in file order. Usable if `ok()`.
struct SWARMKV_API ParsedPipeline {
  Pipeline pipeline;
  std::vector<Diagnostic> diagnostics;
  [[nodiscard]] bool ok() const;  ///< no errors (warnings allowed)
};

/// What is changed in a pipeline file from outside (--var, --set, --select, --exclude).
struct PipelineChanges {
  /// A var that the file has, and its new text.
  std::vector<std::pair<std::string, std::string>> vars;
  /// Keys with dots between them and a YAML value: {"agents.risk.temperature", "0"}. Read as if it
  /// stood in the file; where the file has the key, this counts.
  std::vector<std::pair<std::string, std::string>> sets;
  /// Names of agents: only these run. "+memo" = memo with everything it needs. Empty = all.
  std::vector<std::string> select;
  /// Names of agents that do not run.
  std::vector<std::string> exclude;
};

/// Gives the text of a file that the pipeline names with file://; `path` is what stands behind it.
/// May throw Error(kUnreadable).
using FileReader = std::function<std::string(const std::string& path)>;

/// Why a JSON Schema cannot bind an answer; empty if it can. Engines differ in it: schema_check()
/// in engine.h gives theirs.
using SchemaCheck = std::function<std::string(const std::string& schema)>;

/// Why a file cannot be used; `problem` is empty if it can.
struct FileProblem {
  std::string problem;  ///< "no such file in /home/me/review"
  std::string hint;     ///< "did you mean 'contract.txt'?", may be empty
};

/// Looks at the file of a document; `path` starts at `folder`, as in resolve_path().
using DocumentCheck =
    std::function<FileProblem(const std::string& folder, const std::string& path)>;

/// The DocumentCheck of runs: whether the file is there, can be opened, is not empty and not of a
/// format that is no text. Looks at its first bytes only; at nothing of a pipe or of "-".
SWARMKV_API FileProblem check_document(const std::string& folder, const std::string& path);

/// Parses and checks YAML text (docs/pipeline_yaml.md). Needs no model and no document. Never
/// throws for bad content: all problems are listed, at most 20 errors. Without `read_file` no file
/// is read, and file:// is an error; without `check_schema` a schema is only known to be an object;
/// without `check_document` no document is looked for.
SWARMKV_API ParsedPipeline parse_pipeline(std::string_view yaml, const std::string& file_name,
                                          const PipelineChanges& changes = {},
                                          const FileReader& read_file = {},
                                          const SchemaCheck& check_schema = {},
                                          const DocumentCheck& check_document = {});

/// Reads `path` ("-" = standard input) and parses it. Files that it names with file:// are read
/// below its folder only.
/// errors  kUnreadable  cannot be read, or larger than 1 MiB
SWARMKV_API ParsedPipeline load_pipeline(const std::string& path,
                                         const PipelineChanges& changes = {},
                                         const SchemaCheck& check_schema = {},
                                         const DocumentCheck& check_document = {});

/// A JSON Schema (draft 2020-12) of the file, for editors. What it accepts may still be refused:
/// names, needs and circles are beyond it.
SWARMKV_API std::string pipeline_schema();

/// A prompt that means exactly `text`, whatever braces it holds.
SWARMKV_API std::string escape_template(std::string_view text);

/// The checks that do not depend on YAML: names, needs, cycles (as a path), templates, ranges,
/// duplicates. Fills in needs implied by templates. Linear in nodes and edges.
SWARMKV_API std::vector<Diagnostic> validate(Pipeline& pipeline,
                                             const SchemaCheck& check_schema = {});

/// One agent per question over one document: what `swarmkv ask` runs. Agents are q1, q2, ...
SWARMKV_API Pipeline ask_pipeline(DocumentSpec document, const std::vector<std::string>& questions);

/// The same over several documents, read in this order. A name that cannot be one becomes
/// "document", and one that is taken gets a number: contract, contract_2.
SWARMKV_API Pipeline ask_pipeline(std::span<const DocumentSpec> documents,
                                  const std::vector<std::string>& questions);

}  // namespace swarmkv
