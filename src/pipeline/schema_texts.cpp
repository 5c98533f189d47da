#include "pipeline/schema_texts.h"

#include <algorithm>
#include <array>

namespace swarmkv::internal {
namespace {

struct KeyText {
  std::string_view key, text;
};

constexpr std::array<KeyText, 42> kTexts{{
    {"version", "Version of this format: 1."},
    {"name", "Shown in the report."},
    {"model", "The model and its settings. A flag on the command line wins."},
    {"document", "What every agent has in front of its prompt; - is standard input."},
    {"documents", "Several documents by name."},
    {"system",
     "An instruction. At the top it stands before the documents, in an agent behind them."},
    {"vars", "Texts for {{ vars.name }}; --var name=TEXT replaces one."},
    {"defaults", "Settings of all agents; an agent's own setting wins."},
    {"agents", "What is asked: names and their agents."},
    {"path", "A file; relative paths start at the pipeline's folder."},
    {"snapshot",
     "off, auto (kept on disk once read, and taken from there) or a snapshot file to begin with."},
    {"ctx_size", "Cells of the KV cache, one total for all agents."},
    {"n_gpu_layers", "Layers on the GPU."},
    {"threads", "Threads for decoding."},
    {"threads_batch", "Threads for prefill."},
    {"batch_size", "Tokens of one forward."},
    {"parallel", "Most agents in one batch; the rest queue."},
    {"cache_type_k", "Type of the keys in the cache."},
    {"cache_type_v", "Type of the values in the cache; a quantised one needs flash attention."},
    {"flash_attn", "Flash attention."},
    {"prompt", "The question. {{ name }} inserts another agent's answer, file:// reads a file."},
    {"needs", "Agents that must finish first, besides those that the prompt mentions."},
    {"agent", "The name of an agent."},
    {"required", "false: if that agent fails, this one runs without its answer."},
    {"reads", "The documents in front of the prompt, in this order. Without it: all."},
    {"ready_after", "How much of the documents the agent waits for and sees."},
    {"before", "Everything in front of the first place where this text stands."},
    {"continues", "An agent whose conversation this one goes on with."},
    {"json_schema", "A JSON Schema that the answer must follow."},
    {"output_file", "Where the answer is written, below the pipeline's folder."},
    {"max_tokens", "Longest answer; 0 = only compute the prompt."},
    {"temperature", "0 = always the most probable token."},
    {"top_k", "Keep the k most probable tokens; 0 = all."},
    {"top_p", "Keep the most probable tokens up to this sum; 1 = off."},
    {"min_p", "Drop tokens below this share of the best one; 0 = off."},
    {"repeat_penalty", "Makes repeated tokens less probable; 1 = off."},
    {"repeat_last_n", "How many generated tokens the penalty looks at."},
    {"seed", "Of the random choice."},
    {"stop", "The answer ends before the first of these texts."},
    {"timeout", "Whole numbers with h, m, s, ms: 1m30s. 0s = none."},
    {"priority", "Higher starts earlier."},
    {"ignore_eos", "Go on to max_tokens when the model wants to end."},
}};

}  // namespace

std::string_view key_description(std::string_view key) {
  const auto found = std::find_if(kTexts.begin(), kTexts.end(),
                                  [&](const KeyText& text) { return text.key == key; });
  return found == kTexts.end() ? std::string_view() : found->text;
}

}  // namespace swarmkv::internal
