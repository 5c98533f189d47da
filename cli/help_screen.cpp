// The short pages of commands whose full page is longer than a screen.
#include <string_view>

#include "cli/help_snapshot.h"
#include "cli/help_text.h"

namespace swarmkv::cli {
namespace {

constexpr std::string_view kRun =
    R"(swarmkv run [FILE] [flags]      FILE: pipeline, default swarmkv.yaml, - = stdin

)";

constexpr std::string_view kAsk =
    R"(swarmkv ask -f DOC PROMPT... [flags]      one agent for each PROMPT

  -f, --file DOC      *  the document, - = stdin; repeatable
  --questions FILE       more prompts, one a line, - = stdin
  --save FILE            also writes it as a pipeline file
)";

constexpr std::string_view kAnswering =
    R"(  -m, --model FILE       GGUF; else SWARMKV_MODEL, pipeline, cache
  -c, --ctx-size N    *  KV cells, one total for all agents; auto
  -np, --parallel N   *  most agents in one batch, the rest queue
  -n, --predict N     *  tokens of an answer, 512, always bounded
  --temp T            *  0 = always the likeliest token (default)
  --print X              final (needed by nobody), all, none, NAME,...
  --stream               printed agents' text as it comes
  -o, --output X         text, json (the report), jsonl (events)
  --report FILE.html     or .json .jsonl .md .csv, repeatable
  --progress X           auto, tty, plain, jsonl, none
  --snapshot X           auto: kept on disk once read, used if there; off
  --timeout D            of the whole run: 90s, 5m, 1h
  --strict               warnings are errors  --fail-fast  a failure stops all
  --deterministic        same tokens whoever else runs
  -q, --quiet            errors only  -v, --verbose  the model's log
  -h, --help             this screen

)";

constexpr std::string_view kPlan =
    R"(swarmkv plan [FILE] [flags]    FILE: pipeline, default swarmkv.yaml, - = stdin

Tells what a run will need: tokens, what is computed once, KV cache, order.
Takes every flag of run; some of them change nothing here.

  -o, --output X          text, json, jsonl, dot (Graphviz), mermaid
  -m, --model FILE        GGUF; else SWARMKV_MODEL, pipeline, cache
  -c, --ctx-size N        KV cells, one total for all agents; auto
  -np, --parallel N       most agents in one batch, the rest queue
  -ctk, --cache-type-k T  f16, q8_0, ...  -ctv, --cache-type-v T
  -n, --predict N         tokens of an answer (512)
  --system TEXT           stands before the document
  --handoff X             shared, recompute, snapshot, device
  --deterministic         as in run: some models run one agent at a time
  --engine X              llama, or fake for tries without a model
  --var NAME=TEXT  --set KEY.KEY=VALUE  --select A,+B  --exclude A
  --strict                warnings are errors
  -q, --quiet             errors only  -v, --verbose  the model's log
  -h, --help              this screen

Exit code 0 if it fits, 4 if not. Every flag: swarmkv help plan
)";

constexpr std::string_view kBench =
    R"(swarmkv bench [FILE] [flags]      FILE: scenario, the same keys in YAML

  -f, --file DOC             the document, - = stdin
  -npp, --document-tokens L  its first so many; without -f a made-up one
  -npl, --agents LIST        how many at once (1,2,8)
  -ntg, --output-tokens L    tokens of an answer (64); 0 = prefill only
  --arms LIST                recompute,shared (default), snapshot, device
  -r, --trials N             of each arm in each case (5)
  --warmup N                 rounds that are not kept (1)
  -o, --output X             md (default), json, csv; jsonl = raw samples
  --resume FILE.jsonl        keep samples there and go on where it ended
  --threshold A/B=R          exit 1 if A is not R times as fast as B
  -m, --model FILE           GGUF; else SWARMKV_MODEL, scenario, cache
  -t, --threads N            decoding  -tb, --threads-batch N  prefill
  --deterministic            the same tokens in every arm
  -q, --quiet                errors only  -v, --verbose  the model's log
  -h, --help                 this screen

Every flag: swarmkv help bench
)";

}  // namespace

std::string help_screen(const std::string& command) {
  if (command == "bench") return std::string(kBench);
  if (command == "plan") return std::string(kPlan);
  if (command == "snapshot") return snapshot_screen();
  if (command != "run" && command != "ask") return help_text(command);
  return std::string(command == "run" ? kRun : kAsk)
      .append(kAnswering)
      .append("* is not as in llama.cpp. Every flag: swarmkv help " + command + "\n");
}

}  // namespace swarmkv::cli
