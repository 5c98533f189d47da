"""The plots of the sweeps. Each function returns a page, or None without data."""

from benchkit import text
from campaign import drawing, figures, shapes
from campaign.shapes import ARMS, RECOMPUTE, SHARED


def _failed(axes, data, points, arm, x):
    at = [x(p) for p in points if data.of(p, arm, good=False) and not data.of(p, arm)]
    if at:
        drawing.failed_marks(axes, at, arm)


def gain_over_agents(data, shape=shapes.AGENTS):
    """Measured speed-up over N against the model."""
    shown = data.by_shape(shape)
    model = data.model(shape)
    if len(shown) < 2:
        return None
    page, (axes,) = drawing.figure(7.6, 4.6)
    agents = [p.n_agents for p in shown]
    for arm in (shapes.SNAPSHOT, shapes.DEVICE, SHARED):
        drawing.points(axes, [(p.n_agents, data.speedup(p, arm)) for p in shown], arm)
        _failed(axes, data, shown, arm, lambda p: p.n_agents)
    if model:
        for n, style in {min(model["r"]): "--", max(model["r"]): "-"}.items():
            r = model["r"][n]
            line = [agents[0] * (agents[-1] / agents[0]) ** (i / 60) for i in range(61)]
            axes.plot(
                line,
                [figures.speedup(model, r, x) for x in line],
                color="black",
                ls=style,
                lw=1,
                alpha=0.7,
                label=f"model N(P+b)/(P+N r), r of N = {n}: {r / 1000:.3g} s",
            )
    axes.axhline(1, color="grey", lw=0.8)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    drawing.plain_log(axes.xaxis, agents)
    drawing.plain_log(axes.yaxis)
    known = f" (P = {model['P'] / 1000:.3g} s, b = {model['b'] / 1000:.3g} s)" if model else ""
    drawing.label(
        axes,
        f"Gain over N: {_case(shown[0])}{known}",
        "agents N",
        "times faster than recompute (median, min to max)",
    )
    _legend(axes, any((data.speedup(p, SHARED) or {}).get("extrapolated") for p in shown))
    return page


def wall_over_agents(data, shape=shapes.AGENTS):
    shown = data.by_shape(shape)
    if len(shown) < 2:
        return None
    page, (axes,) = drawing.figure(7.6, 4.4)
    guessed = False
    for arm in ARMS:
        series = [(p.n_agents, _seconds(data.wall(p, arm))) for p in shown]
        guessed = guessed or any(s and s["extrapolated"] for _, s in series)
        drawing.points(axes, series, arm)
        _failed(axes, data, shown, arm, lambda p: p.n_agents)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    drawing.plain_log(axes.xaxis, [p.n_agents for p in shown])
    drawing.plain_log(axes.yaxis)
    name = "MPL-2.0" if shape == shapes.LICENCE else "Sweep over N"
    drawing.label(
        axes,
        f"{name}: {_case(shown[0])}",
        "agents N",
        "end to end, seconds (median, min to max)",
    )
    _legend(axes, guessed)
    return page


def gain_over_length(data):
    shown = data.by_shape(shapes.LENGTH)
    if len(shown) < 2:
        return None
    page, (left, right) = drawing.figure(9.4, 4.2, panels=2)
    for arm in ARMS:
        drawing.points(left, [(p.n_tokens, _seconds(data.wall(p, arm))) for p in shown], arm)
        _failed(left, data, shown, arm, lambda p: p.n_tokens)
        if arm != RECOMPUTE:
            drawing.points(right, [(p.n_tokens, data.speedup(p, arm)) for p in shown], arm)
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        drawing.plain_log(axes.xaxis, [p.n_tokens for p in shown])
    left.set_yscale("log")
    drawing.plain_log(left.yaxis)
    right.axhline(1, color="grey", lw=0.8)
    right.axhline(
        shown[0].n_agents, color="grey", lw=0.8, ls="--", label=f"N = {shown[0].n_agents}: limit of long documents"
    )
    drawing.label(left, "Time over document length", "document, tokens", "end to end, seconds (median, min to max)")
    drawing.label(right, "Gain over document length", "document, tokens", "times faster than recompute")
    drawing.from_zero(right)
    _legend(left, False)
    _legend(right, False)
    page.suptitle(
        f"{shown[0].n_agents} agents, {shown[0].n_predict} tokens each, {text.count(shown[0].trials, 'trial')}",
        fontsize=11,
    )
    return page


def _case(point):
    trials = text.count(point.trials, "trial")
    return f"{point.n_tokens:,}-token document, {point.n_predict} tokens each, {trials}"


def _seconds(spread):
    if spread is None:
        return None
    return {k: v / 1000 if k in ("median", "min", "max") and v is not None else v for k, v in spread.items()}


def _legend(axes, guessed):
    handles, _ = axes.get_legend_handles_labels()
    if guessed:
        handles.append(drawing.extrapolated_entry())
    if handles:
        axes.legend(handles=handles, fontsize=8, loc="best")
