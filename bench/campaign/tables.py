"""The tables and plots of each shape, as blocks."""

from benchkit import text
from campaign import compat, shapes
from campaign.shapes import ARMS, RECOMPUTE


def times(ratio):
    if ratio is None or ratio["median"] is None:
        return text.UNKNOWN
    return text.with_spread(ratio, lambda v: text.number(v, 2), "~" if ratio["extrapolated"] else "") + " x"


def original(data, settings, images):
    found = data.by_shape(shapes.ORIGINAL)
    if not found:
        return []
    point = found[0]
    head = [
        "arm",
        "end to end s",
        "over recompute",
        "document read",
        "prompt tokens computed",
        "of asked",
        "proxy branch 2 s",
        "first token branch 2 s",
        "decode tok/s",
        "KV MiB",
        "RSS MiB",
    ]
    rows = []
    for arm in ARMS:
        trials = data.of(point, arm)
        if not trials:
            state = "FAILED" if data.of(point, arm, good=False) else "not run"
            rows.append([arm, state, *["-"] * (len(head) - 2)])
            continue
        rows.append(
            [
                arm,
                text.with_spread(data.wall(point, arm), text.seconds),
                "1" if arm == RECOMPUTE else times(data.speedup(point, arm)),
                f"{len(trials[0].document_ms)} x",
                text.number(trials[0].computed, 0),
                text.number(trials[0].asked, 0),
                text.with_spread(
                    data.spread(point, arm, lambda t: t.proxy_ms[1] if len(t.proxy_ms) > 1 else None), text.seconds
                ),
                text.with_spread(
                    data.spread(point, arm, lambda t: t.first_ms[1] if len(t.first_ms) > 1 else None), text.seconds
                ),
                text.with_spread(data.spread(point, arm, "decode_tok_s"), text.number),
                text.number(_mib(data.spread(point, arm, "kv_bytes")["median"]), 1),
                text.number(_mib(data.spread(point, arm, "rss_bytes")["median"]), 0),
            ]
        )
    blocks = [("heading", 2, "The original experiment"), ("table", head, rows)]
    blocks += [images[name] for name in ("first_token", "end_to_end", "prefill_cost", "consistency") if name in images]
    middle = data.median_trial(point)
    values = compat.all_figures(
        [t for t in data.trials if t.point == point.key and t.trial == middle],
        settings["label"],
        settings["documents"][shapes.ORIGINAL],
    )
    if values:
        rows = [[name, *(_plain(values[arm][name]) for arm in values)] for name in next(iter(values.values()))]
        blocks += [
            ("heading", 3, "By the original's names, middle trial"),
            ("table", ["name", *(f"SwarmKV = {arm}" for arm in values)], rows),
            (
                "text",
                "The original's SwarmKV is the snapshot arm. Its proxy is not a first token: for the baseline it "
                "is the branch's own document prefill, for SwarmKV the hand-off and the branch's prompt, without "
                "the prefill that came before. The real first token stands in the table above.",
            ),
        ]
    return blocks


def _mib(size_bytes):
    return None if size_bytes is None else size_bytes / (1 << 20)


def _plain(value):
    return "unknown" if value is None else f"{value:.2f}" if isinstance(value, float) else str(value)


def shape(data, shape, title, plots, images):
    found = data.by_shape(shape)
    if not found:
        return []
    over = "document, tokens" if shape == shapes.LENGTH else "agents"
    head = [over, *(f"{arm} s" for arm in ARMS), *(f"{arm} x" for arm in ARMS if arm != RECOMPUTE)]
    rows, used = [], set()
    for point in found:
        row = [f"{point.n_tokens:,}" if shape == shapes.LENGTH else point.n_agents]
        for arm in ARMS:
            wall = data.wall(point, arm)
            if wall is None:
                row.append("FAILED" if data.of(point, arm, good=False) else "not run")
                continue
            used.update(wall["from"])
            row.append(text.with_spread(wall, text.seconds, "~" if wall["extrapolated"] else ""))
        row += [times(data.speedup(point, arm)) for arm in ARMS if arm != RECOMPUTE]
        rows.append(row)
    note = f"{found[0].n_predict} tokens for each answer; the last columns are times faster than recompute."
    if shape == shapes.LENGTH:
        note += f" {found[0].n_agents} agents."
    if used:
        note += (
            f" `~` = **extrapolated**, not measured: along a straight line in N through what was measured with N = "
            f"{', '.join(map(str, sorted(used)))}."
        )
    return [
        ("heading", 2, title),
        ("table", head, rows),
        ("text", note),
        *(images[name] for name in plots if name in images),
    ]


def agents(data, images):
    blocks = shape(data, shapes.AGENTS, "Over the number of agents", ["gain_over_agents", "wall_over_agents"], images)
    model = data.model(shapes.AGENTS)
    if blocks and model:
        each = ", ".join(f"N = {n}: {r / 1000:.3g} s" for n, r in sorted(model["r"].items()))
        blocks.append(
            (
                "text",
                f"Model of the gain: speedup(N) = N (P + b) / (P + N r), with P = {model['P'] / 1000:.3g} s for the "
                f"document and b = {model['b'] / 1000:.3g} s for one cold branch. r, one fork and branch in the "
                f"batch, falls while the batch fills: {each}. The plot shows the curve for the first and the last "
                "of them; with the last one it is made to meet the last point, so what it shows is the way there.",
            )
        )
    return blocks
