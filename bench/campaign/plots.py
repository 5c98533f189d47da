"""The four plots of the original article, and the list of all. Each function returns a page, or None without data."""

from campaign import drawing, shapes, sweeps
from campaign.shapes import ARMS, RECOMPUTE


def _point(data, shape):
    found = data.by_shape(shape)
    return found[0] if found else None


def _arm_axis(axes, names=ARMS):
    axes.set_xticks(range(len(names)), names)
    axes.grid(axis="x", visible=False)


def _absent(data, point, arm):
    return "FAILED" if data.of(point, arm, good=False) else "not run"


def _at(trial, values, index):
    return values[index] if index < len(values) else None


def first_tokens(data):
    """Second branch: the original's proxy beside the real first token."""
    point = _point(data, shapes.ORIGINAL)
    if point is None or not data.trials:
        return None
    page, (left, right) = drawing.figure(9.2, 4.2, panels=2)
    for at, arm in enumerate(ARMS):
        trials = data.of(point, arm)
        for axes, pick in ((left, lambda t: _at(t, t.proxy_ms, 1)), (right, lambda t: _at(t, t.first_ms, 1))):
            values = [pick(t) for t in trials]
            drawing.bars(
                axes,
                at,
                [v / 1000 for v in values if v is not None],
                drawing.COLOUR[arm],
                unit=" s",
                absent=_absent(data, point, arm),
            )
    drawing.label(
        left, "Original's proxy: prefill, or hand-off + own prompt", "hand-off arm", "proxy, seconds (logarithmic)"
    )
    drawing.label(right, "Real: from the start of the arm to the token", "hand-off arm", "first token, seconds")
    left.set_yscale("log")
    drawing.plain_log(left.yaxis)
    left.margins(y=0.2)
    drawing.from_zero(right)
    _arm_axis(left)
    _arm_axis(right)
    page.suptitle("First token of the second branch", fontsize=11)
    right.legend(handles=[drawing.trials_entry(point.trials)], fontsize=7, loc="upper right")
    return page


def end_to_end(data):
    """Wall time of each arm, original shape and real document."""
    shown = [p for p in data.by_shape(shapes.ORIGINAL) + data.by_shape(shapes.LICENCE) if len(p.arms) > 1]
    shown = [p for p in shown if p.shape == shapes.ORIGINAL] + [p for p in shown if p.shape == shapes.LICENCE][-1:]
    if not shown:
        return None
    page, panels = drawing.figure(4.6 * len(shown), 4.2, panels=len(shown))
    for axes, point in zip(panels, shown):
        for at, arm in enumerate(ARMS):
            drawing.bars(
                axes,
                at,
                [t.wall_ms / 1000 for t in data.of(point, arm)],
                drawing.COLOUR[arm],
                unit=" s",
                absent=_absent(data, point, arm),
            )
        name = "Original shape" if point.shape == shapes.ORIGINAL else "MPL-2.0"
        drawing.label(
            axes, f"{name}: {point.n_tokens:,} tokens, {point.n_agents} agents", "hand-off arm", "end to end, seconds"
        )
        axes.margins(y=0.15)
        _arm_axis(axes)
    panels[-1].legend(handles=[drawing.trials_entry(shown[-1].trials)], fontsize=7, loc="upper right")
    return page


PARTS = (
    ("document prefill", "#444444"),
    ("hand-off (copy or fork)", "#CC79A7"),
    ("own prompts", "#56B4E9"),
    ("answers and the rest", "#BBBBBB"),
)


def parts_of(trial):
    """Seconds of each of PARTS; they add up to the wall time."""
    document, handoff, prompts = sum(trial.document_ms), trial.handoff_ms or 0, trial.prompts_ms or 0
    return [ms / 1000 for ms in (document, handoff, prompts, trial.wall_ms - document - handoff - prompts)]


def prefill_cost(data):
    """Where the time of the prefill went: the median trial of each arm, part by part."""
    point = _point(data, shapes.ORIGINAL)
    if point is None:
        return None
    page, (axes,) = drawing.figure(7.6, 4.2)
    for at, arm in enumerate(ARMS):
        trials = sorted(data.of(point, arm), key=lambda t: t.wall_ms)
        if not trials:
            drawing.bars(axes, at, [], "", absent=_absent(data, point, arm))
            continue
        below = 0
        for value, (name, colour) in zip(parts_of(trials[(len(trials) - 1) // 2]), PARTS):
            axes.bar(at, value, 0.6, bottom=below, color=colour, label=name if at == 0 else None)
            if value > 0.04 * trials[-1].wall_ms / 1000:
                axes.text(
                    at,
                    below + value / 2,
                    f"{value:.3g} s",
                    ha="center",
                    va="center",
                    fontsize=8,
                    color="white" if colour == "#444444" else "black",
                )
            below += value
        low, high = trials[0].wall_ms / 1000, trials[-1].wall_ms / 1000
        axes.errorbar(at, below, yerr=[[max(0, below - low)], [max(0, high - below)]], color="black", capsize=4, lw=1)
        axes.annotate(
            f"document read {len(trials[0].document_ms)} x",
            (at, high),
            xytext=(0, 5),
            textcoords="offset points",
            ha="center",
            fontsize=8,
        )
    drawing.label(
        axes,
        f"Where the prefill went: {point.n_tokens:,} tokens, {point.n_agents} branches (median trial; "
        "whisker: min to max)",
        "hand-off arm",
        "seconds",
    )
    _arm_axis(axes)
    axes.margins(y=0.12)
    handles = [drawing.Line2D([], [], color=colour, lw=6, label=name) for name, colour in PARTS]
    axes.legend(handles=handles, fontsize=8, loc="upper right")
    return page


def consistency(data):
    """Every trial of every arm."""
    point = _point(data, shapes.ORIGINAL)
    if point is None:
        return None
    page, (left, right) = drawing.figure(9.2, 4.0, panels=2)
    for arm in ARMS:
        trials = sorted(data.of(point, arm), key=lambda t: t.trial)
        left.plot(
            [t.trial + 1 for t in trials],
            [t.wall_ms / 1000 for t in trials],
            color=drawing.COLOUR[arm],
            marker=drawing.MARKER[arm],
            label=arm if trials else f"{arm}: {_absent(data, point, arm)}",
        )
        ratio = data.speedup(point, arm)
        if arm != RECOMPUTE and ratio and not ratio["extrapolated"]:
            base = {t.trial: t.wall_ms for t in data.of(point, RECOMPUTE)}
            pairs = [(t.trial + 1, base[t.trial] / t.wall_ms) for t in trials if t.trial in base]
            right.plot(*zip(*pairs), color=drawing.COLOUR[arm], marker=drawing.MARKER[arm], label=arm)
    drawing.label(left, "End to end", "trial", "seconds")
    drawing.label(right, "Against recompute of the same trial", "trial", "times faster than recompute")
    for axes in (left, right):
        drawing.from_zero(axes)
        axes.set_xticks(range(1, point.trials + 1))
    left.legend(fontsize=8, loc="lower left")
    page.suptitle(f"Consistency over {point.trials} trials, original shape: each point is one trial", fontsize=11)
    return page


ALL = (
    ("first_token", "First token of the second branch", first_tokens),
    ("end_to_end", "End-to-end latency", end_to_end),
    ("prefill_cost", "Where the prefill cost went", prefill_cost),
    ("consistency", "Consistency over trials", consistency),
    ("gain_over_agents", "Gain over the number of agents, measured and model", sweeps.gain_over_agents),
    ("wall_over_agents", "Time over the number of agents", sweeps.wall_over_agents),
    (
        "licence_agents",
        "The real document over the number of agents",
        lambda d: sweeps.wall_over_agents(d, shapes.LICENCE),
    ),
    ("gain_over_length", "Time and gain over document length", sweeps.gain_over_length),
)


def draw(data, folder):
    """Writes all plots there is data for: [(name, caption, path)]."""
    drawn = []
    for name, caption, make in ALL:
        page = make(data)
        if page is not None:
            path = folder / f"{name}.png"
            drawing.save(page, path)
            drawn.append((name, caption, path))
    return drawn
