#include "cli/help_snapshot.h"

#include <string_view>

namespace swarmkv::cli {
namespace {

constexpr std::string_view kVerbs =
    R"(swarmkv snapshot VERB [flags]     documents that were read, kept on disk

  save -f DOC...   reads documents and keeps what the model made of them
  save PIPELINE    the same with what its agents read, as run will look for it
  list             all that are kept, the last used first
  show NAME        one of them; the beginning of its name will do
  verify NAME...   reads them whole and compares their checksums; or --all
  rm NAME...       removes them
  prune            removes damaged and left-over files and, the least recently
                   used first, what exceeds --snapshot-limit SIZE (20GiB)

)";

constexpr std::string_view kAllFlags =
    R"(All       --snapshot-dir DIR        the folder; else snapshots in the cache
          -o, --output X            text or json; of save, list, show, prune
          --color X                 auto, always, never
          -h, --help                this page
verify    --all                     every file, not only those with a NAME
save      -f, --file DOC            a document, - = stdin, repeatable
          --var K=V --set K.K=V     as of run: they change the PIPELINE
          --select A,B --exclude C  so do these
          --system TEXT             what will stand before it in ask or run
          --no-chat-template        as there, too  --template-date DATE
          -m, --model FILE          GGUF; else SWARMKV_MODEL, cache
          -c, --ctx-size N          KV cells while it reads; auto
          -ngl, --n-gpu-layers N    auto, all or a number (--gpu-layers)
          -t, --threads N           decoding  -tb, --threads-batch N  prefill
          -b, --batch-size N        tokens of a forward = -ub, --ubatch-size
          -fa, --flash-attn X       on, off, auto
          --attention X             auto, grouped (ours), stock (llama.cpp's)
          -ctk, --cache-type-k T    f16, q8_0, ...  -ctv, --cache-type-v T
          --deterministic           to be used in that mode, with equal answers
          --engine X                llama, or fake for tries without a model
          --progress X              auto, tty, plain, none
          -q, --quiet               errors only  -v, --verbose  the model's log
          -lv, --verbosity N        of that log: 1 errors, 2 warnings .. 5 all

A snapshot serves runs with the same model, cache types, flash attention and
text in front of the document. It holds the document in clear. Exit code 3 if
a file is damaged, not there or could not be saved, 4 if a document does not
fit.
)";

constexpr std::string_view kMostUsed =
    R"(  --snapshot-dir DIR    the folder; else snapshots in the cache
  -o, --output X        text or json; of save, list, show, prune
  -f, --file DOC        of save: a document, - = stdin, repeatable
  --system TEXT         of save: what will stand before it in ask or run
  -m, --model FILE      of save: GGUF; else SWARMKV_MODEL, cache
  --deterministic       of save: to be used in that mode, with equal answers
  -q, --quiet           of save: errors only
  -h, --help            this screen

Used by ask and run where they are told so: swarmkv help run
Every flag: swarmkv help snapshot
)";

}  // namespace

std::string snapshot_help() { return std::string(kVerbs).append(kAllFlags); }

std::string snapshot_screen() { return std::string(kVerbs).append(kMostUsed); }

}  // namespace swarmkv::cli
