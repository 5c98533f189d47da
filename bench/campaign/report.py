"""What the report of a campaign says, as blocks."""

from campaign import shapes, tables
from campaign.shapes import ARMS

NO_GAIN = (0.95, 1.05)


def build(data, steps, settings, environment, drawn):
    """The blocks. `data`: Figures; `drawn`: [(name, caption, path)] of the plots."""
    images = {name: ("image", caption, path) for name, caption, path in drawn}
    sections = [
        [("heading", 1, "SwarmKV: one document, many agents"), ("list", _in_short(data, steps))],
        [("heading", 2, "What it was measured on"), ("list", _conditions(settings, environment))],
        [
            ("heading", 2, "The arms"),
            ("list", [f"**{a}**: {shapes.ARM_TEXT[a]}" for a in ARMS]),
            (
                "text",
                "Document, questions, sampler, threads, cache type and output lengths are the same in all arms; "
                "the arms of one trial run one after another, and each trial begins with another one. Figures are "
                "medians with the smallest and largest trial in brackets.",
            ),
        ],
        tables.original(data, settings, images),
        tables.shape(data, shapes.LICENCE, "A real document: MPL-2.0", ["licence_agents"], images),
        tables.agents(data, images),
        tables.shape(data, shapes.LENGTH, "Over document length", ["gain_over_length"], images),
        [("heading", 2, "Failed, skipped, not run"), ("list", _not_there(data, steps))],
        [("heading", 2, "What this does not show"), ("list", limitations(settings))],
        [
            ("heading", 2, "How to repeat it"),
            ("code", settings["command"]),
            (
                "text",
                "Every trial is in `all_trials.json` and `all_trials.csv`, the lines as the command printed them in "
                "`trials.jsonl`; `median_run.json` holds the middle trial of the original shape.",
            ),
        ],
    ]
    return [block for section in sections for block in section]


def summary(data, steps, settings, environment):
    """What is published: conditions, findings and tables, without plots and explanations."""
    parts = [
        ("list", _conditions(settings, environment) + [f"command: `{settings['command']}`"]),
        ("list", _in_short(data, steps)),
        *tables.original(data, settings, {}),
        *tables.shape(data, shapes.LICENCE, "A real document: MPL-2.0", [], {}),
        *tables.agents(data, {}),
        *tables.shape(data, shapes.LENGTH, "Over document length", [], {}),
    ]
    if data.failures() or data.missing(steps):
        parts.append(("list", _not_there(data, steps)))
    return [(kind, rest[0] + 1, *rest[1:]) if kind == "heading" else (kind, *rest) for kind, *rest in parts]


def _in_short(data, steps):
    lines = []
    for point in data.by_shape(shapes.ORIGINAL):
        lines.append(
            f"Original shape ({point.n_tokens:,} tokens, 2 branches), end to end over recompute: "
            f"**shared {tables.times(data.speedup(point))}**, "
            f"snapshot {tables.times(data.speedup(point, shapes.SNAPSHOT))}."
        )
        proxy = data.per_trial(point, lambda t: t.proxy_ms[1] if len(t.proxy_ms) > 1 else None)
        first = data.per_trial(point, lambda t: t.first_ms[1] if len(t.first_ms) > 1 else None)
        lines.append(
            f"Second branch, the original's way (its own document prefill against hand-off and prompt): "
            f"**{tables.times(proxy)}** earlier. Its real first token, counted from the start: "
            f"**{tables.times(first)}** earlier."
        )
    for point in data.by_shape(shapes.LICENCE):
        lines.append(
            f"MPL-2.0, {point.n_agents} agents, {point.n_predict} tokens each: shared over recompute "
            f"**{tables.times(data.speedup(point))}**."
        )
    for point in data.by_shape(shapes.AGENTS):
        ratio = data.speedup(point)
        if point.n_agents == 1 and ratio:
            fair = NO_GAIN[0] <= ratio["median"] <= NO_GAIN[1]
            lines.append(
                f"One agent alone gains nothing, as it must: {tables.times(ratio)}."
                if fair
                else f"**Warning**: one agent alone should gain nothing, but shows {tables.times(ratio)}: "
                "something differs between the arms, or the machine was not quiet."
            )
    same, several = data.same_tokens()
    if several:
        lines.append(
            f"All arms wrote the same token ids in {same} of {several} trials; where they did not, a batch of "
            "another shape rounded otherwise (`--deterministic` makes them equal, and costs time)."
        )
    failed = len(data.failures())
    missing = sum(wanted - there for _, _, wanted, there in data.missing(steps))
    lines.append(
        f"{len([t for t in data.trials if t.ok])} trials measured, {failed} failed or skipped, {missing} not run. "
        "`~` marks what was extrapolated and not measured."
    )
    return lines


def _conditions(settings, environment):
    tree, model = environment["swarmkv"], environment["model"]
    changed = {None: "", True: " with changes that are not committed", False: ""}[tree["dirty"]]
    size = settings["size"]
    return [
        f"{environment['date']}; {environment['cpu']} ({environment['simd']}), {environment['cores']} cores, "
        f"{environment['memory_gib']} GiB, {environment['system']}; load {environment['load_average_at_start']} at "
        "the start",
        f"SwarmKV commit {(tree['commit'] or 'unknown')[:12]}{changed}; `{environment['swarmkv_version']}`",
        f"model {model['name']}"
        + (
            f", SHA-256 `{model['sha256']}`"
            if "sha256" in model
            else ": **a stand-in without arithmetic, its times mean nothing**"
        ),
        f"flags of every run: `{settings['flags']}`; seed {settings['seed']}; greedy, end markers ignored",
        f"trials: original {size['trials']}, MPL-2.0 {size['licence_trials']}, agents {size['sweep_trials']}, length "
        f"{size['length_trials']}; planned for {settings['budget']}",
    ]


def _not_there(data, steps):
    causes = {}
    for t in data.failures():
        causes.setdefault((t.arm, t.error), []).append(f"{t.point} (trial {t.trial + 1})")
    lines = [f"**FAILED**: {arm}: {error}: in {', '.join(where)}" for (arm, error), where in causes.items()]
    lines += [
        f"not run: {point.key}, {arm}, {wanted - there} of {wanted} trials (the time was up, or it was interrupted)"
        for point, arm, wanted, there in data.missing(steps)
    ]
    return lines or ["Nothing: every planned trial ran."]


def limitations(settings):
    return [
        "One machine, one model of 135 million parameters, one quantisation: larger models have another balance of "
        "prefill and decode. On a machine that others use too, only ratios within a trial mean much.",
        "The answers are not judged. A batch of other shape may round differently, so greedy texts of arms can "
        "differ in the default mode; token ids are compared in `--deterministic` mode by the tests.",
        "The pangram document is repetitive; speed does not depend on that, answers would.",
        "All agents ask at the same moment and write equally long answers. Real agents come and go.",
        "The arms are SwarmKV's own, on the same engine: they show what the hand-off costs. Other programs are "
        "compared by `bench/peers.py`.",
        f"At most {settings['size']['trials']} trials show a spread, not a distribution; no percentile above the "
        "median is given.",
        "The original's proxies are shown for comparison; they leave out waiting, and are no first-token times.",
        "Extrapolated values (`~`, hollow points) assume that an arm's time grows along a straight line in N.",
    ]
