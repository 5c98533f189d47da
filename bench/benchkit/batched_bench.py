"""llama-batched-bench: one shared prompt and N-way decode, without suffixes, sampling or scheduling."""

import json

from benchkit import child


class BatchedBenchFailed(Exception):
    """The program did not do what it should; the message says what."""


def measure(program, flags, n_prompt, n_predict, n_agents, timeout_s):
    """One process, one point. n_prompt: the tokens each row sees in front of its own output."""
    cells = n_prompt + n_agents * n_predict
    status, out, err = child.run(
        [
            program,
            "-pps",
            "-kvu",
            "-npp",
            n_prompt,
            "-ntg",
            n_predict,
            "-npl",
            n_agents,
            "-c",
            cells + 256,
            "--output-format",
            "jsonl",
            *flags,
        ],
        timeout_s,
    )
    for line in (out + "\n" + err).splitlines():
        if line.startswith("{"):
            point = json.loads(line)
            return {
                "wall_ms": point["t"] * 1000,
                "prompt_computed": n_prompt,
                "prompt_asked": n_prompt * n_agents,
                "decode_tok_s": point["speed_tg"],
                "prefill_tok_s": point["speed_pp"],
                "completion_tokens": n_agents * n_predict,
            }
    raise BatchedBenchFailed(
        f"llama-batched-bench ended with {status} and printed no figures: {(err or out).strip()[-300:]}"
    )
