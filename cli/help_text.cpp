#include "cli/help_text.h"

#include <string_view>

#include "cli/help_snapshot.h"

namespace swarmkv::cli {
namespace {

constexpr std::string_view kMain =
    R"(swarmkv - reads a document once, then many agents work on it together

  swarmkv ask -f DOC PROMPT...   one agent for each PROMPT over documents
  swarmkv run [FILE]             run a pipeline (swarmkv.yaml; - = stdin)
  swarmkv plan [FILE]            what it will need: tokens, memory, order
  swarmkv validate FILE...       check pipelines without a model
  swarmkv bench [FILE]           measure the ways to hand a document to agents
  swarmkv snapshot VERB          documents that were read, kept on disk
  swarmkv inspect FILE           what a model, a snapshot or a report is
  swarmkv schema                 JSON Schema of a pipeline, for editors
  swarmkv completion SHELL       completion for bash, zsh or fish
  swarmkv version                version of swarmkv and of llama.cpp
  swarmkv help [COMMAND]         this page, or every flag of a command

Answers go to standard output, everything else to standard error.
Exit codes: 0 all agents finished, 1 an agent did not, 2 wrong use or pipeline,
3 a file cannot be used, 4 does not fit context or memory, 5 the engine failed,
70 a bug, 124 run timeout, 130 and 143 interrupted.

swarmkv COMMAND --help shows a screen of a command's flags.
Most flags may also stand in the environment: SWARMKV_CTX_SIZE for --ctx-size.
Flags and --set beat the environment, that the pipeline, that the defaults.
)";

constexpr std::string_view kRun =
    R"(swarmkv run [FILE] [flags]      FILE: pipeline, default swarmkv.yaml, - = stdin

Pipeline  --var NAME=TEXT           replaces a var of the pipeline
          --set KEY.KEY=VALUE       replaces any key: agents.risk.seed=1
          --select A,+B             only these agents; + with all that it needs
          --exclude A,B             not these agents
Input     --system TEXT             stands before the document
          --no-chat-template        plain prompts, without the model's markup
          --template-date DATE      the date a chat template sees (2026-01-01)
)";

constexpr std::string_view kAsk =
    R"(swarmkv ask -f DOC PROMPT... [flags]      one agent for each PROMPT

Input     -f, --file DOC       *    the document, - = stdin; repeatable
          --questions FILE          more prompts, one a line, - = stdin
          --save FILE               also writes it as a pipeline file
          --system TEXT             stands before the document
          --no-chat-template        plain prompts, without the model's markup
          --template-date DATE      the date a chat template sees (2026-01-01)
)";

constexpr std::string_view kShared =
    R"(Model     -m, --model FILE          GGUF; else SWARMKV_MODEL, pipeline, cache
          -c, --ctx-size N     *    KV cells, one total for all agents; auto
          -ngl, --n-gpu-layers N    auto, all or a number (--gpu-layers)
          -t, --threads N           decoding  -tb, --threads-batch N  prefill
          -b, --batch-size N   *    tokens of a forward = -ub, --ubatch-size
          -fa, --flash-attn X       on, off, auto
          --attention X             auto, grouped (ours), stock (llama.cpp's)
          -ctk, --cache-type-k T    f16, q8_0, ...  -ctv, --cache-type-v T
          -np, --parallel N    *    most agents in one batch, the rest queue
          --engine X                llama, or fake for tries without a model
Snapshot  --snapshot X              auto: kept once read, used if it is there;
                                    off (default); or a file to begin with
          --snapshot-dir DIR        their folder  --snapshot-limit SIZE  (20GiB)
Sampling  -n, --predict N      *    tokens of an answer, 512, always bounded
          --temp T             *    0 = always the likeliest token (default)
          --top-k N  --top-p P  --min-p P  --repeat-penalty P
          -s, --seed N              each agent derives its own from it
          --stop TEXT               ends an answer, repeatable
          --ignore-eos              go on to -n tokens
Output    -o, --output X            text, json (the report), jsonl (events)
          --print X                 final (needed by nobody), all, none, NAME,..
          --stream                  printed agents' text as it comes
          --report FILE             .json .jsonl .md .html .csv .trace.json
          --progress X              auto, tty, plain, jsonl, none
          --color X                 auto, always, never
          -q, --quiet               errors only  -v, --verbose  the model's log
          -lv, --verbosity N        of that log: 1 errors, 2 warnings .. 5 all
Run       --timeout D               of the whole run: 90s, 5m, 1h
          --strict                  warnings are errors
          --fail-fast               the first failure stops the rest
          --deterministic           same tokens whoever else runs
          --handoff X               shared; to compare, each agent alone:
                                    recompute, snapshot, device
          -h, --help                this page

* differs from llama.cpp: -c is one total that -np never divides, a forward is
  one ubatch, -n and --temp have other defaults, -f is the document.
)";

constexpr std::string_view kPlan =
    R"(swarmkv plan [FILE] [flags]     FILE: pipeline, default swarmkv.yaml, - = stdin

Tells what a run will need: tokens, what is computed once, KV cache, order.
Computes nothing, and loads nothing of the model but its vocabulary. Takes every
flag of run, so that one word makes a plan of a run's command line.

  -o, --output X          text, json, jsonl (the same on one line),
                          dot (Graphviz), mermaid
  -m, --model FILE        GGUF; else SWARMKV_MODEL, pipeline, cache
  -c, --ctx-size N        KV cells, one total for all agents; auto
  -np, --parallel N       most agents in one batch, the rest queue
  -ctk, --cache-type-k T  f16, q8_0, ...  -ctv, --cache-type-v T
  -n, --predict N         tokens of an answer (512)
  --system TEXT           stands before the document
  --no-chat-template      plain prompts  --template-date DATE  as in run
  --handoff X             shared, recompute, snapshot, device
  --deterministic         as in run: some models run one agent at a time
  --engine X              llama, or fake for tries without a model
  --var NAME=TEXT  --set KEY.KEY=VALUE  --select A,+B  --exclude A    as in run
  --strict                warnings are errors  --color X  auto, always, never
  -q, --quiet             errors only  -v, --verbose  the model's log
  -lv, --verbosity N      of that log: 1 errors, 2 warnings .. 5 all
  -h, --help              this page

Checked as in run; they change no plan, but for what --deterministic can do:
  -ngl, --n-gpu-layers N  -t, --threads N  -tb, --threads-batch N
  -b, --batch-size N  -ub, --ubatch-size N  -fa, --flash-attn X  --attention X
Checked as in run, and of no effect; no file is written:
  --temp T  --top-k N  --top-p P  --min-p P  --repeat-penalty P  -s, --seed N
  --stop TEXT  --ignore-eos  --snapshot X  --snapshot-dir DIR
  --snapshot-limit SIZE  --report FILE  --print X  --stream  --progress X
  --timeout D  --fail-fast

Exit code 0 if it fits, 4 if not, 2 if the pipeline is not valid, 3 if a file
cannot be read.
)";

constexpr std::string_view kCompletion = R"(swarmkv completion bash|zsh|fish

Prints a script that completes commands, flags and their values:

  source <(swarmkv completion bash)          in ~/.bashrc
  source <(swarmkv completion zsh)           in ~/.zshrc, after compinit
  swarmkv completion fish > ~/.config/fish/completions/swarmkv.fish

  --color X    auto, always, never
  -h, --help   this page
)";

constexpr std::string_view kValidate = R"(swarmkv validate FILE... [flags]

Checks pipelines as far as that needs no model and no document: keys, names,
needs, circles, ranges. All problems at once, with file:line:column.

  --var NAME=TEXT      replaces a var of the pipeline
  --set KEY.KEY=VALUE  replaces any key: agents.risk.seed=1
  --select A,+B        only these agents; + with all that it needs
  --exclude A,B        not these agents
  --strict             warnings are errors
  -q, --quiet          errors only
  --color X            auto, always, never
  -h, --help           this page

Exit code 0 if all are fine, 2 if one is not, 3 if one cannot be read.
)";

constexpr std::string_view kInspect = R"(swarmkv inspect FILE [flags]

Describes a GGUF file without loading its weights: architecture, training
context, bytes of KV cache for a token, and how its cache can be forked.
Of a snapshot it tells what stands in its header. Of the report of a run
(report.json) it prints what the run said at its end: agents, figures, ...

  -o, --output X   text or json (of a report: the report itself)
  --color X        auto, always, never
  -h, --help       this page
)";

constexpr std::string_view kBench =
    R"(swarmkv bench [FILE] [flags]      FILE: scenario, the same keys in YAML

Runs every arm in every case, several times and in turn, each time with an empty
cache, and checks that it computed what it should. Times: median, least, most.

Cases     -f, --file DOC            the document, - = stdin
          -npp, --document-tokens L its first so many; without -f a made-up one
          -npl, --agents LIST       how many at once (1,2,8)
          -ntg, --output-tokens L   tokens of an answer (64); 0 = prefill only
          --suffix-tokens LIST      own prompts of made-up tokens, in turn (16)
          --questions FILE          own prompts, one a line, - = stdin
          --no-chat-template        of questions; --template-date DATE
Arms      --arms LIST               recompute,shared (default), snapshot, device
          -r, --trials N            of each arm in each case (5)
          --warmup N                rounds that are not kept (1)
          -s, --seed N              of made-up prompts and sampling (42)
          --ignore-eos              answers of full length (default; =0: no)
          --temp T  --top-k N  --top-p P  --min-p P  --repeat-penalty P
Output    -o, --output X            md (default), json, csv; jsonl = raw samples
          --resume FILE.jsonl       keep samples there and go on where it ended
          --compat                  the original experiment's lines (-npl 2)
          --label TEXT              of this machine, for those lines
          --threshold A/B=R         exit 1 if A is not R times as fast as B
          -q, --quiet               errors only  -v, --verbose  the model's log
          -lv, --verbosity N        of that log: 1 errors, 2 warnings .. 5 all
          --color X                 auto, always, never
Model     -m, --model FILE          GGUF; else SWARMKV_MODEL, scenario, cache
          -c, --ctx-size N     *    KV cells; auto = what an arm needs
          -ngl, --n-gpu-layers N    auto, all or a number (--gpu-layers)
          -t, --threads N           decoding  -tb, --threads-batch N  prefill
          -b, --batch-size N   *    tokens of a forward = -ub, --ubatch-size
          -fa, --flash-attn X       on, off, auto
          --attention X             auto, grouped (ours), stock (llama.cpp's)
          --attention-target NAME   grouped held to AVX2, SSE4, ... (the best)
          -ctk, --cache-type-k T    f16, q8_0, ...  -ctv, --cache-type-v T
          -np, --parallel N    *    most agents in one batch (shared)
          --engine X                llama, or fake for tries without a model
          --deterministic           the same tokens in every arm
          -h, --help                this page
)";

constexpr std::string_view kSchema = R"(swarmkv schema [flags]

Prints a JSON Schema (draft 2020-12) of pipeline files. Editors that know YAML
check and complete with it:

  swarmkv schema > swarmkv.schema.json
  # yaml-language-server: $schema=./swarmkv.schema.json   (in the pipeline)

  --color X    auto, always, never
  -h, --help   this page
)";

constexpr std::string_view kVersion = R"(swarmkv version

Prints the version of swarmkv and the commit of llama.cpp inside.
)";

constexpr std::string_view kHelp = R"(swarmkv help [COMMAND]

Prints every flag of a command: run, ask, plan, validate, bench, snapshot,
inspect, schema, completion, version. swarmkv COMMAND --help prints the most
used ones.
)";

}  // namespace

std::string help_text(const std::string& command) {
  if (command.empty()) return std::string(kMain);
  if (command == "run") return std::string(kRun).append(kShared);
  if (command == "ask") return std::string(kAsk).append(kShared);
  if (command == "validate") return std::string(kValidate);
  if (command == "bench") return std::string(kBench);
  if (command == "inspect") return std::string(kInspect);
  if (command == "snapshot") return snapshot_help();
  if (command == "schema") return std::string(kSchema);
  if (command == "plan") return std::string(kPlan);
  if (command == "completion") return std::string(kCompletion);
  if (command == "version") return std::string(kVersion);
  if (command == "help") return std::string(kHelp);
  return "";
}

}  // namespace swarmkv::cli
