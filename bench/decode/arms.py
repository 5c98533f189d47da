"""One sample of one arm. With benchkit/batched_bench.py the only place that knows the programs' words."""

import json

from benchkit import batched_bench, child
from decode import plan

_ATTENTION = {
    plan.GROUPED: ["--attention", "grouped"],
    plan.STOCK: ["--attention", "stock"],
    plan.GROUPED_AVX2: ["--attention", "grouped", "--attention-target", "AVX2"],
}
FAILURES = (batched_bench.BatchedBenchFailed, OSError, ValueError, KeyError)


class Arms:
    """`flags`: {model: the flags that all arms get}, `swarm_only`: what only SwarmKV gets."""

    def __init__(self, command, bench, flags, swarm_only, n_predict, timeout_s):
        self.command, self.bench, self.flags, self.swarm_only = command, bench, flags, swarm_only
        self.n_predict, self.timeout_s = n_predict, timeout_s

    def measure(self, job):
        """{decode_tok_s, prefill_tok_s}"""
        point = job.point
        flags = self.flags[point.model]
        if job.arm in _ATTENTION:
            return self._swarm(point, [*_ATTENTION[job.arm], *flags, *self.swarm_only])
        on = "off" if job.arm == plan.JUDGE_FA_OFF else "on"
        found = batched_bench.measure(
            self.bench, [*flags, "-fa", on], point.prefix, self.n_predict, point.n_agents, self.timeout_s
        )
        return {key: found[key] for key in ("decode_tok_s", "prefill_tok_s")}

    def _swarm(self, point, flags):
        """An agent's first token comes with the prefill of its own prompt, here of one token; the rest are steps of
        all agents. So the document is a token shorter and the answer one longer than what is measured, and a row of
        each step sees as many tokens as one of llama-batched-bench."""
        document, answer = point.prefix - 1, self.n_predict + 1
        what = ["-npp", document, "-npl", point.n_agents, "-ntg", answer, "--suffix-tokens", 1]
        how = ["--arms", "shared", "-r", 1, "-q", "-o", "jsonl"]
        status, out, err = child.run([self.command, "bench", *what, *how, *flags], self.timeout_s)
        lines = [line for line in out.splitlines() if line.startswith("{")]
        if not lines:
            raise ValueError(f"swarmkv bench ended with {status} and printed no sample: {err.strip()[-300:]}")
        line = json.loads(lines[0])
        if line["status"] != "finished":
            raise ValueError(line["error"] or line["status"])
        if line["completion_tokens"] != point.n_agents * answer or not line["decode_tokens_per_s"]:
            raise ValueError(f"{line['completion_tokens']} tokens came, {point.n_agents * answer} were asked for")
        return {
            "decode_tok_s": line["decode_tokens_per_s"],
            "prefill_tok_s": document / (line["document_ms"][0] / 1000),
        }
