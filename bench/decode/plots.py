"""The plot of one model and prefix: speed over agents, and the ratio to llama-batched-bench."""

from benchkit import text
from campaign import drawing  # how all plots look
from decode import plan

_COLOUR = {
    plan.GROUPED: "#009E73",
    plan.GROUPED_AVX2: "#CC79A7",
    plan.STOCK: "#E69F00",
    plan.JUDGE: "#0072B2",
    plan.JUDGE_FA_OFF: "#D55E00",
}
_MARKER = {plan.GROUPED: "o", plan.GROUPED_AVX2: "v", plan.STOCK: "^", plan.JUDGE: "s", plan.JUDGE_FA_OFF: "D"}


def file_name(group):
    kept = "".join(c if c.isalnum() or c in "-_." else "_" for c in group["model"])
    return f"decode_{kept}_{group['prefix']}.png"


def draw(groups, arms, settings, folder):
    """{(model, prefix): file name}; the files are in `folder`."""
    drawn = {}
    for group in groups:
        page = _page(group, arms, settings)
        drawn[group["model"], group["prefix"]] = name = file_name(group)
        drawing.save(page, folder / name)
    return drawn


def _page(group, arms, settings):
    page, (left, right) = drawing.figure(10.0, 4.2, panels=2)
    cells = group["cells"]
    agents = [cell["agents"] for cell in cells]
    for arm in arms:
        series = [(cell["agents"], cell["arms"][arm]["decode_tok_s"]) for cell in cells]
        drawing.points(left, series, arm, _COLOUR[arm], marker=_MARKER[arm])
    for pair in cells[0]["ratios"]:
        above, below = pair.split("/")
        if below == plan.JUDGE:
            series = [(cell["agents"], cell["ratios"][pair]) for cell in cells]
            drawing.points(right, series, above, _COLOUR[above], marker=_MARKER[above])
    for arm in plan.ASKED:
        asked = [(cell["agents"], cell["asked"][arm]) for cell in cells if arm in cell["asked"]]
        if asked:
            colour = "black" if arm == plan.GROUPED else _COLOUR[arm]
            right.plot(*zip(*asked), ls="none", marker="_", ms=14, mew=2, color=colour, label=f"asked of {arm}")
    right.axhline(1, color="grey", lw=0.8)
    for axes in (left, right):
        axes.set_xscale("log", base=2)
        drawing.plain_log(axes.xaxis, agents)
        axes.tick_params("x", labelrotation=45)
        drawing.from_zero(axes)
        if axes.get_legend_handles_labels()[0]:
            axes.legend(fontsize=8, loc="best")
    drawing.label(left, "Decode speed", "agents N", "tokens a second, all agents (median, min to max)")
    drawing.label(right, f"Against {plan.JUDGE}", "agents N", f"times the speed of {plan.JUDGE} (by trial)")
    trials = text.count(settings["trials"], "trial")
    page.suptitle(
        f"{group['model']}: a prefix of {group['prefix']:,} tokens, {settings['n_predict']} tokens each, "
        f"{settings['threads']} threads, {trials}",
        fontsize=11,
    )
    return page
