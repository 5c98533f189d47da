"""Medians with their spread; percentiles as in docs/metrics.md."""

import math


def median(values):
    """The middle value, or the mean of the middle two; None without values."""
    ordered = sorted(values)
    if not ordered:
        return None
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def percentile(values, p):
    """Nearest rank: always a value that was measured. p95 and p99 need 20 samples, else None."""
    ordered = sorted(values)
    if not ordered or (p > 90 and len(ordered) < 20):
        return None
    rank = max(1, math.ceil(p / 100 * len(ordered)))
    return ordered[rank - 1]


def spread(values):
    """{median, min, max, n} of what is known; median, min and max are None without samples."""
    known = [value for value in values if value is not None]
    return {"median": median(known), "min": min(known, default=None), "max": max(known, default=None), "n": len(known)}


def ratio(above, below):
    """above / below, or None if either is unknown or nothing can be divided by."""
    if above is None or below is None or below == 0:
        return None
    return above / below


def paired_ratio(above, below):
    """Spread of above / below trial by trial; both are {trial: value}."""
    return spread([ratio(above[trial], below[trial]) for trial in above if trial in below])


def line_through(points):
    """Least squares through (x, y): (intercept, slope), or None below two different x."""
    xs = [x for x, _ in points]
    if len(set(xs)) < 2:
        return None
    mean_x = sum(xs) / len(xs)
    mean_y = sum(y for _, y in points) / len(points)
    below = sum((x - mean_x) ** 2 for x in xs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / below
    return mean_y - slope * mean_x, slope
