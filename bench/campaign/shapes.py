"""What is measured: points (document, agents, output length, arms), grouped into shapes."""

import dataclasses

RECOMPUTE, SNAPSHOT, DEVICE, SHARED = "recompute", "snapshot", "device", "shared"
ARMS = (RECOMPUTE, SNAPSHOT, DEVICE, SHARED)
ARM_TEXT = {
    RECOMPUTE: "every agent alone: new context, whole document, own prompt",
    SNAPSHOT: "document once, its state copied through host memory into a new context for each agent",
    DEVICE: "document once, its state kept on the device, restored into a sequence of the same context",
    SHARED: "document once, forked without copying, all agents in one batch",
}

ORIGINAL, LICENCE, AGENTS, LENGTH = "original", "licence", "agents", "length"
SHAPES = (ORIGINAL, LICENCE, AGENTS, LENGTH)

PANGRAM = "The quick brown fox jumps over the lazy dog. "
ORIGINAL_TOKENS = 3501
SWEEP_TOKENS = 512
SWEEP_AGENTS = (1, 2, 4, 8, 16, 32, 64)
SWEEP_LENGTHS = (128, 256, 512, 1024, 2048)
LENGTH_AGENTS = 4
LICENCE_TOKENS = 3684  # of MPL-2.0 with SmolLM2's tokeniser; only for the estimate and as a name
LICENCE_AGENTS = (8, 50)
FULL_LICENCE_AGENTS = (1, 2, 4, 8, 50)
SLOW_LIMIT = 8  # on the full document, arms that repeat work are not run beyond this many agents


@dataclasses.dataclass(frozen=True)
class Point:
    """One thing to measure, `trials` times. `n_tokens` is roughly the document's length."""

    shape: str
    n_tokens: int
    n_agents: int
    n_predict: int
    arms: tuple
    trials: int
    suffix: int = 16  # tokens of each agent's own prompt, roughly

    @property
    def key(self):
        return f"{self.shape}-{self.n_tokens}-{self.n_agents}"


@dataclasses.dataclass(frozen=True)
class Size:
    """How much of everything; a plan takes the largest that fits the time."""

    trials: int
    licence_trials: int
    sweep_trials: int
    length_trials: int
    sweep_slow_limit: int
    licence_agents: tuple = LICENCE_AGENTS


# From everything to the least that still answers the questions. What is cut first are repeats of the slowest arm.
SIZES = (
    Size(3, 3, 3, 3, 64, FULL_LICENCE_AGENTS),
    Size(3, 3, 3, 3, 64),
    Size(3, 3, 3, 3, 32),
    Size(3, 3, 3, 3, 16),
    Size(3, 3, 3, 3, 8),
    Size(3, 2, 3, 3, 8),
    Size(3, 2, 3, 2, 8),
    Size(3, 2, 2, 2, 8),
    Size(3, 1, 2, 2, 8),
    Size(3, 1, 1, 1, 8),
)
FULL = Size(5, 5, 5, 5, 64, FULL_LICENCE_AGENTS)


def _arms(n_agents, limit):
    return ARMS if n_agents <= limit else (SHARED,)


def points(size, shapes, no_limit=False):
    """All points of the shapes asked for."""
    found = []
    slow = 64 if no_limit else SLOW_LIMIT
    if ORIGINAL in shapes:
        found.append(Point(ORIGINAL, ORIGINAL_TOKENS, 2, 16, ARMS, size.trials, suffix=24))
    if LICENCE in shapes:
        found += [
            Point(LICENCE, LICENCE_TOKENS, n, 32, _arms(n, slow), size.licence_trials) for n in size.licence_agents
        ]
    if AGENTS in shapes:
        found += [
            Point(AGENTS, SWEEP_TOKENS, n, 16, _arms(n, size.sweep_slow_limit), size.sweep_trials) for n in SWEEP_AGENTS
        ]
    if LENGTH in shapes:
        found += [Point(LENGTH, n, LENGTH_AGENTS, 16, ARMS, size.length_trials) for n in SWEEP_LENGTHS]
    return found
