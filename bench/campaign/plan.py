"""How much fits into the time, and in which order it is run."""

import dataclasses

from benchkit import cost
from campaign import shapes

SHARE = 0.85  # of the budget; the rest is for estimates that were too low


# `swarmkv bench` warms up with every arm on the smallest case, cut to so much.
WARMUP_TOKENS, WARMUP_PREDICT = 256, 4


@dataclasses.dataclass(frozen=True)
class Step:
    """One trial of one point, its arms one after another, beginning with another one each trial."""

    point: shapes.Point
    trial: int

    @property
    def arms(self):
        first = self.trial % len(self.point.arms)
        return self.point.arms[first:] + self.point.arms[:first]


@dataclasses.dataclass(frozen=True)
class Batch:
    """One process: the same arms in the same order for points of one shape, once."""

    points: tuple
    trial: int
    arms: tuple

    @property
    def name(self):
        return f"{', '.join(point.key for point in self.points)}, trial {self.trial + 1}"


def batches(steps, missing=None):
    """The processes for what is `missing` of the steps (a function of a step; default: all), in order."""
    groups = {}
    for step in steps:
        arms = missing(step) if missing else step.arms
        if arms:
            key = (step.point.shape, step.trial, arms, step.point.n_predict, step.point.suffix)
            groups.setdefault(key, []).append(step.point)
    return [Batch(tuple(points), key[1], key[2]) for key, points in groups.items()]


def arm_s(model, point, arm):
    """Seconds of one arm of one trial, roughly."""
    how = {shapes.RECOMPUTE: model.one_after_another_ms, shapes.SHARED: model.together_ms}.get(arm, model.copied_ms)
    return how(point.n_agents, point.n_tokens, point.suffix, point.n_predict) / 1000


def batch_s(model, batch):
    least = dataclasses.replace(
        batch.points[0],
        n_tokens=min(WARMUP_TOKENS, *(p.n_tokens for p in batch.points)),
        n_agents=min(p.n_agents for p in batch.points),
        n_predict=min(WARMUP_PREDICT, batch.points[0].n_predict),
    )
    points = (least, *batch.points)
    return cost.START_MS / 1000 + sum(arm_s(model, point, arm) for point in points for arm in batch.arms)


def total_s(model, steps, missing=None):
    return sum(batch_s(model, batch) for batch in batches(steps, missing))


def steps_of(points):
    """Trial by trial over all points, so that a campaign that is cut short has lost repeats and no shape."""
    most = max((point.trials for point in points), default=0)
    return [Step(point, trial) for trial in range(most) for point in points if trial < point.trials]


def choose(model, budget_s, wanted):
    """The index of the largest size that fits; of the smallest if none does."""
    for index, size in enumerate(shapes.SIZES):
        if total_s(model, steps_of(shapes.points(size, wanted))) <= SHARE * budget_s:
            return index
    return len(shapes.SIZES) - 1
