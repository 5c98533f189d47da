"""How all plots look: colours of the arms, spread of the trials, what was extrapolated."""

import matplotlib
from matplotlib import ticker
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from benchkit import stats
from campaign import shapes

# Okabe and Ito's palette: tells apart also for colour-blind readers.
COLOUR = {shapes.RECOMPUTE: "#D55E00", shapes.SNAPSHOT: "#E69F00", shapes.DEVICE: "#0072B2", shapes.SHARED: "#009E73"}
MARKER = {shapes.RECOMPUTE: "s", shapes.SNAPSHOT: "^", shapes.DEVICE: "D", shapes.SHARED: "o"}
STYLE = {
    "font.size": 9,
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.framealpha": 0.7,
    "legend.edgecolor": "none",
    "figure.dpi": 150,
}
matplotlib.rcParams.update(STYLE)


def figure(width=7.2, height=4.2, panels=1):
    page = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(page)
    return page, list(page.subplots(1, panels, squeeze=False)[0])


def save(page, path):
    page.savefig(path, dpi=150, metadata={"Software": None})


def label(axes, title, x, y):
    axes.set_title(title, loc="left", fontsize=10)
    axes.set_xlabel(x)
    axes.set_ylabel(y)


def plain_log(axis, ticks=None):
    """A logarithmic axis with numbers as people write them."""
    if ticks:
        axis.set_ticks(ticks, [f"{t:g}" for t in ticks])
        axis.set_minor_formatter(ticker.NullFormatter())
    else:
        axis.set_major_locator(ticker.LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:,g}"))
        axis.set_minor_formatter(ticker.NullFormatter())


def from_zero(axes):
    """A linear axis that begins at zero and leaves room above the largest value."""
    axes.set_ylim(0, axes.get_ylim()[1] * 1.08)


def bars(axes, at, values, colour, width=0.6, unit="", absent="not run"):
    """One bar: the median, with a whisker from smallest to largest and a dot for each trial."""
    known = sorted(v for v in values if v is not None)
    middle = stats.median(known)
    if middle is None:
        axes.text(
            at,
            0.02,
            absent,
            transform=axes.get_xaxis_transform(),
            ha="center",
            va="bottom",
            color="#AA0000",
            fontsize=8,
        )
        return
    axes.bar(at, middle, width, color=colour, alpha=0.75)
    axes.errorbar(at, middle, yerr=[[middle - known[0]], [known[-1] - middle]], color="black", capsize=4, lw=1)
    spots = [at + width * 0.22 * (i - (len(known) - 1) / 2) / max(1, len(known) - 1) for i in range(len(known))]
    axes.plot(spots, known, "o", color="black", ms=3, mfc="white", zorder=4)
    axes.annotate(
        f"{middle:,.3g}{unit}", (at, known[-1]), xytext=(0, 4), textcoords="offset points", ha="center", fontsize=8
    )


def points(axes, series, arm, colour=None, name=None, marker=None):
    """A line over N: filled = measured, with its spread; hollow and dashed = extrapolated. series: [(x, spread)]."""
    colour, marker = colour or COLOUR[arm], marker or MARKER[arm]
    known = [(x, s) for x, s in series if s is not None and s["median"] is not None]
    if not known:
        return
    measured = [(x, s) for x, s in known if not s.get("extrapolated")]
    guessed = [(x, s) for x, s in known if s.get("extrapolated")]
    if measured:
        x, y = [p[0] for p in measured], [p[1]["median"] for p in measured]
        low = [p[1]["median"] - p[1]["min"] for p in measured]
        high = [p[1]["max"] - p[1]["median"] for p in measured]
        axes.errorbar(
            x, y, yerr=[low, high], color=colour, marker=marker, ms=5, capsize=3, lw=1.4, label=name or arm
        )
    if guessed:
        start = measured[-1:] if measured else []
        line = [(p[0], p[1]["median"]) for p in start + guessed]
        axes.plot(*zip(*line), color=colour, ls=":", lw=1.2)
        axes.plot(
            [p[0] for p in guessed],
            [p[1]["median"] for p in guessed],
            ls="none",
            marker=marker,
            ms=6,
            mfc="white",
            mec=colour,
            label=None if measured else f"{name or arm} (extrapolated)",
        )


def failed_marks(axes, at, arm):
    """Crosses at the bottom where an arm failed."""
    axes.plot(
        at,
        [0.02] * len(at),
        ls="none",
        marker="x",
        ms=7,
        mew=2,
        color=COLOUR[arm],
        clip_on=False,
        transform=axes.get_xaxis_transform(),
        label=f"{arm}: FAILED here",
    )


def extrapolated_entry():
    return Line2D(
        [], [], color="grey", ls=":", marker="o", mfc="white", mec="grey", label="hollow: extrapolated, not measured"
    )


def trials_entry(n):
    return Line2D(
        [],
        [],
        color="black",
        ls="none",
        marker="o",
        mfc="white",
        ms=3,
        label=f"{n} trial{'' if n == 1 else 's'}: dots; bar: median; whisker: min to max",
    )
