"""From trials to figures: medians with spread, ratios between arms, the model of the gain, what was extrapolated."""

from benchkit import stats
from campaign import shapes


class Figures:
    """All questions the report asks of the trials of one campaign."""

    def __init__(self, trials, points):
        self.trials, self.points = trials, points

    def of(self, point, arm, good=True):
        return [t for t in self.trials if t.point == point.key and t.arm == arm and (t.ok or not good)]

    def by_shape(self, shape):
        return [p for p in self.points if p.shape == shape]

    def spread(self, point, arm, value):
        """Spread over the good trials of `value`, a field's name or a function of the trial."""
        get = value if callable(value) else lambda t: getattr(t, value)
        return stats.spread([get(t) for t in self.of(point, arm)])

    def wall(self, point, arm):
        """{median, min, max, n, extrapolated} of the wall time in ms, or None if nothing is known of it."""
        measured = self.spread(point, arm, "wall_ms")
        if measured["n"]:
            return {**measured, "extrapolated": False, "from": []}
        if self.of(point, arm, good=False):
            return None  # it was run and failed: that is not papered over
        return self._extrapolated(point, arm)

    def _extrapolated(self, point, arm):
        """Arms that repeat the same work for every agent grow along a straight line in N."""
        if arm == shapes.SHARED or arm in point.arms:
            return None
        known = [
            (p.n_agents, self.spread(p, arm, "wall_ms")["median"])
            for p in self.by_shape(point.shape)
            if p.n_tokens == point.n_tokens and self.spread(p, arm, "wall_ms")["n"]
        ]
        if arm == shapes.RECOMPUTE and known:
            # No part of it is shared, so the largest N is the best estimate of the cost of one agent.
            agents, wall = max(known)
            value, used = wall / agents * point.n_agents, [agents]
        else:
            document = self.document_ms(point.shape, point.n_tokens)
            points = known if len(known) > 1 or document is None else [(0, document), *known]
            line = stats.line_through(points)
            if line is None:
                return None
            value, used = line[0] + line[1] * point.n_agents, [n for n, _ in known]
        return {"median": value, "min": None, "max": None, "n": 0, "extrapolated": True, "from": used}

    def speedup(self, point, arm=shapes.SHARED, over=shapes.RECOMPUTE):
        """How many times faster `arm` is than `over`: trial by trial where both were run, else of medians."""
        paired = self.per_trial(point, lambda t: t.wall_ms, arm, over)
        if paired["n"]:
            return paired
        ours, theirs = self.wall(point, arm), self.wall(point, over)
        if ours is None or theirs is None:
            return None
        value = stats.ratio(theirs["median"], ours["median"])
        return {"median": value, "min": None, "max": None, "n": 0, "extrapolated": True}

    def per_trial(self, point, value, arm=shapes.SHARED, over=shapes.RECOMPUTE):
        """`value` of `over` / `value` of `arm`, trial by trial."""
        pairs = {t.trial: value(t) for t in self.of(point, arm)}
        ratios = [stats.ratio(value(t), pairs[t.trial]) for t in self.of(point, over) if t.trial in pairs]
        return {**stats.spread(ratios), "extrapolated": False}

    def document_ms(self, shape, n_tokens):
        """P: the median time of one prefill of the document, over all arms and trials."""
        return stats.median(
            [
                ms
                for t in self.trials
                if t.ok and t.shape == shape
                for p in self.by_shape(shape)
                if p.key == t.point and p.n_tokens == n_tokens
                for ms in t.document_ms
            ]
        )

    def model(self, shape):
        """P, b and the r of each N for speedup(N) = N (P + b) / (P + N r), or None if an arm is missing."""
        points = self.by_shape(shape)
        if not points:
            return None
        prefill = self.document_ms(shape, points[0].n_tokens)
        cold = [
            (t.wall_ms - sum(t.document_ms)) / t.n_agents
            for p in points
            for t in self.of(p, shapes.RECOMPUTE)
            if t.document_ms
        ]
        if prefill is None or not cold:
            return None
        shared = {}
        for point in points:
            each = [
                (t.wall_ms - sum(t.document_ms)) / t.n_agents for t in self.of(point, shapes.SHARED) if t.document_ms
            ]
            if each:
                shared[point.n_agents] = stats.median(each)
        return {"P": prefill, "b": stats.median(cold), "r": shared} if shared else None

    def same_tokens(self):
        """(trials of a point in which all arms wrote the same token ids, trials with at least two arms)."""
        digests = {}
        for t in self.trials:
            if t.ok and t.ids_digest:
                digests.setdefault((t.point, t.trial), []).append(t.ids_digest)
        several = [found for found in digests.values() if len(found) > 1]
        return sum(len(set(found)) == 1 for found in several), len(several)

    def failures(self):
        return [t for t in self.trials if not t.ok]

    def missing(self, steps):
        """(point, arm, trials wanted, trials there) of what was planned and neither ran nor failed."""
        found = []
        for point in self.points:
            for arm in point.arms:
                wanted = sum(1 for step in steps if step.point == point)
                there = len(self.of(point, arm, good=False))
                if there < wanted:
                    found.append((point, arm, wanted, there))
        return found

    def median_trial(self, point):
        """The number of the trial of `point` whose ratio shared : recompute is the middle one."""
        shared = {t.trial: t.wall_ms for t in self.of(point, shapes.SHARED)}
        ratios = sorted(
            (t.wall_ms / shared[t.trial], t.trial) for t in self.of(point, shapes.RECOMPUTE) if t.trial in shared
        )
        return ratios[(len(ratios) - 1) // 2][1] if ratios else None


def speedup(model, r, n_agents):
    """The model: N agents that read alone against N that share."""
    return n_agents * (model["P"] + model["b"]) / (model["P"] + n_agents * r)
