"""What is run, in which order, how long that will take, and what the project asks of it."""

import dataclasses

from benchkit import text

GROUPED, STOCK, GROUPED_AVX2 = "grouped", "stock", "grouped-avx2"
JUDGE, JUDGE_FA_OFF = "batched-bench", "batched-bench-fa-off"
ARMS = (GROUPED, STOCK, JUDGE, JUDGE_FA_OFF, GROUPED_AVX2)
ARM_TEXT = {
    GROUPED: "`swarmkv bench --attention grouped`",
    STOCK: "`swarmkv bench --attention stock`: the same program with llama.cpp's own attention",
    JUDGE: "`llama-batched-bench -pps -kvu -fa on`, which judges",
    JUDGE_FA_OFF: "`llama-batched-bench -pps -kvu -fa off`",
    GROUPED_AVX2: "`swarmkv bench --attention grouped --attention-target AVX2`: the kernel without AVX-512; all else, "
    "and so llama.cpp's part of a step, has what the processor has",
}

# Least ratio of decode speeds, arm / batched-bench, for this many agents over a prefix of this length. All that is
# asked is asked of the small model in the quantisation that is fetched: models.is_asked().
ASKED_PREFIX = 3500
ASKED = {
    GROUPED: {1: 1.0, 2: 1.5, 8: 2.2, 16: 2.6, 32: 2.8, 50: 2.8, 64: 1.8, 100: 1.8},
    GROUPED_AVX2: {16: 1.8, 32: 1.8, 50: 1.8},
}
ASKED_PREFILL = 1.0


def asked(arm, prefix, n_agents):
    return ASKED.get(arm, {}).get(n_agents) if prefix == ASKED_PREFIX else None


@dataclasses.dataclass(frozen=True)
class Point:
    model: str
    prefix: int
    n_agents: int

    @property
    def key(self):
        return f"{self.model}/{self.prefix}/{self.n_agents}"


@dataclasses.dataclass(frozen=True)
class Job:
    """One process of one arm: prefix and decode of one point."""

    point: Point
    arm: str
    trial: int
    position: int

    @property
    def key(self):
        return f"{self.point.key}/{self.arm}/{self.trial}"


def points(contexts, prefixes, agents, n_predict):
    """([Point], [what was left out and why]). contexts: {model: its context, None = no limit}.

    The context limits an agent's own length, which is P + n and, in SwarmKV's arms, one token more (arms.py). All
    agents' cells together may be more: neither program minds.
    """
    found, skipped = [], []
    for model, context in contexts.items():
        for prefix in prefixes:
            length = prefix + n_predict + 1
            if context is not None and length > context:
                skipped.append(
                    f"{model}, P = {prefix:,}: P + {n_predict} + 1 = {length:,} tokens, the model's context is "
                    f"{context:,}"
                )
            else:
                found += [Point(model, prefix, n) for n in agents]
    return found, skipped


def trial_jobs(planned, arms, trial):
    """Point by point, so that the arms that are divided by each other are minutes apart and no more. They take turns,
    and each trial of a point begins with another one."""
    jobs = []
    for i, point in enumerate(planned):
        first = (trial + i) % len(arms)
        turn = [*arms[first:], *arms[:first]]
        jobs += [Job(point, arm, trial, position) for position, arm in enumerate(turn)]
    return jobs


def estimate_s(job, n_predict):
    """Seconds, roughly: SmolLM2 Q4_1 on two cores with AVX-512 (docs/performance.md)."""
    n, prefix = job.point.n_agents, job.point.prefix
    prefill_ms = prefix * (3.0 + 0.00035 * prefix)
    if job.arm == GROUPED:
        step_ms = 22 + n * (1.5 + 0.0012 * prefix)
    elif job.arm == GROUPED_AVX2:
        step_ms = 22 + n * (1.5 + 0.0016 * prefix)
    elif n < 64 or job.arm == JUDGE_FA_OFF:
        step_ms = 12 + n * (1.5 + 0.0135 * prefix)
    else:  # llama.cpp computes in tiles
        step_ms = 40 + n * (1.5 + 0.0024 * prefix)
    start_ms = 1500
    return (start_ms + prefill_ms + n_predict * step_ms) / 1000


def fitting(trials, trial_s, budget_s):
    """How many trials fit, and the sentence that says so; never fewer than one."""
    if budget_s is None or trials * trial_s <= budget_s:
        return trials, ""
    n = max(1, min(trials, int(budget_s // trial_s)))
    words = f"{n} of {text.count(trials, 'trial')} fit into {text.duration(budget_s)}"
    if trial_s > budget_s:
        words = f"one trial takes longer than {text.duration(budget_s)}, and is run all the same"
    return n, words
