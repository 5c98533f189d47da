"""The report of bench/decode.py as Markdown."""

from benchkit import text
from decode import plan
from decode.plan import GROUPED, JUDGE, STOCK


def _is_checked(group):
    prefill = group["prefill"]
    return any(cell["asked"] for cell in group["cells"]) or bool(prefill["asked"] and prefill["ratio"])


def _note(groups):
    words = "Median of the trials (smallest to largest); ratios are taken trial by trial."
    asked = list(dict.fromkeys(group["model"] for group in groups if _is_checked(group)))
    if asked:
        words += (
            f" Their median is checked against what the project asks of {', '.join(asked)}: of decode speed at P = "
            f"{plan.ASKED_PREFIX:,}, of prefill at any P."
        )
    return words


def _two(value):
    return text.number(value, 2)


def markdown(environment, settings, groups, samples, plots):
    """plots: {(model, prefix): file name}"""
    parts = ["# Decode speed of many agents over one prefix", figures(environment, settings, groups, plots, "##")]
    failed = [s for s in samples if s["status"] != "ok"]
    if failed:
        lines = [f"- {s['key']}: {s['error']}" for s in failed]
        parts += ["## What failed (model/P/N/arm/trial)", "\n".join(lines)]
    parts += ["## How it was measured, and what it does not show", method(settings)]
    return "\n\n".join(parts) + "\n"


def figures(environment, settings, groups, plots, level="###"):
    """Conditions, tables, plots: what is published."""
    parts = ["\n".join(_conditions(environment, settings)), _note(groups)]
    for group in groups:
        name = f"{group['model']}, P = {group['prefix']:,}"
        parts += [f"{level} {name}", speeds(group, settings["arms"]), _prefill(group)]
        if (group["model"], group["prefix"]) in plots:
            parts.append(f"![Decode speed over agents: {name}]({plots[group['model'], group['prefix']]})")
        limits = shares(group)
        if limits:
            parts.append(limits)
    return "\n\n".join(parts)


def _conditions(environment, settings):
    lines = text.whereabouts(environment, f"llama.cpp {settings['llama_commit']} in all arms")
    for label, model in settings["models"].items():
        made = ", requantised from Q4_1: good for speed, not for answers" if model["made"] else ""
        lines.append(f"- model {label}: {model['name']}, SHA-256 {model.get('sha256', '-')}{made}")
    lines += [
        f"- {settings['n_predict']} tokens for each agent, {settings['threads']} threads, F16 cache, "
        f"{text.count(settings['trials'], 'trial')}",
        f"- command: `{settings['command']}`",
    ]
    machine = settings["machine"]
    if machine:
        lines.append(
            f"- the machine, all threads: reads {machine['read_bytes_per_s'] / 1e9:,.1f} GB/s, "
            f"{machine['flop_per_s'] / 1e9:,.0f} GFLOP/s in F32 multiply-adds (`swarmkv_micro`, best of five)"
        )
    return lines + [f"- **{words}**" for words in settings["left_out"]]


def speeds(group, arms):
    pairs = list(group["cells"][0]["ratios"])
    asked_arms = [arm for arm in plan.ASKED if any(arm in cell["asked"] for cell in group["cells"])]
    head = ["agents N", *(f"{arm} tok/s" for arm in arms), *(p.replace("/", " / ") for p in pairs)]
    for arm in asked_arms:
        head += ["asked", "holds"] if arm == GROUPED else [f"asked of {arm}", "holds"]
    rows = []
    for cell in group["cells"]:
        row = [cell["agents"]]
        for arm in arms:
            found = cell["arms"][arm]
            shown = text.with_spread(found["decode_tok_s"], text.number)
            if found["failed"]:
                shown += f" ({text.count(len(found['failed']), 'trial')} FAILED)"
            row.append(shown)
        row += [text.with_spread(cell["ratios"][pair], _two) for pair in pairs]
        for arm in asked_arms:
            least = cell["asked"].get(arm)
            row += [text.UNKNOWN if least is None else f">= {least:g}", verdict(cell["holds"].get(arm))]
        rows.append(row)
    return text.markdown_table(head, rows)


def verdict(holds):
    return {None: text.UNKNOWN, True: "yes", False: "**NO**"}[holds]


def _prefill(group):
    found = group["prefill"]
    speeds_of = "; ".join(f"{arm} {text.with_spread(spread, text.number)}" for arm, spread in found["arms"].items())
    line = f"Prefill of the prefix, tok/s, over all N and trials: {speeds_of}."
    if found["ratio"]:
        line += f" {GROUPED} / {JUDGE}, pair by pair: {text.with_spread(found['ratio'], _two)}"
        line += "." if found["asked"] is None else f"; asked >= {found['asked']:g}: {verdict(found['holds'])}."
    return line


def shares(group):
    """How near the grouped arm comes to the machine's limits, or why that is not said."""
    if group["no_limits"]:
        return f"Shares of the machine's limits are not given for this model: {group['no_limits']}."
    known = [(cell["agents"], cell["limit"]) for cell in group["cells"] if cell["limit"]]
    if not known:
        return ""
    head = ["agents N", "step ms", "reads MB", "at least ms", "computes GFLOP", "at least ms", "limit", "limit / step"]
    rows = [
        [
            n,
            text.number(x["step_ms"]),
            text.number(x["bytes"] / 1e6, 0),
            text.number(x["read_ms"]),
            text.number(x["flop"] / 1e9, 2),
            text.number(x["compute_ms"]),
            x["bound"],
            _two(x["share"]),
        ]
        for n, x in known
    ]
    return f"How near `{GROUPED}` comes to the machine's limits, one step:\n\n" + text.markdown_table(head, rows)


def method(settings):
    n = settings["n_predict"]
    lines = [f"- **{arm}**: {plan.ARM_TEXT[arm]}" for arm in settings["arms"]]
    if GROUPED in settings["arms"]:
        lines.append(
            f"- **{GROUPED}** forces SwarmKV's kernel. With `--attention auto`, the default, the decode steps of fewer "
            "than 64 agents take the same one wherever it can be used; those of 64 and more, as prefill, do unless "
            "llama.cpp's tiles were faster in the race when the context was made."
        )
    lines += [
        "- Each point of each arm is a process of its own with an empty cache, the arms of a point run one after "
        "another, and each trial of a point begins with another one. llama-batched-bench would take all N in one "
        "process, but computes the prefix anew for each of them: that would only save the starts, and what is divided "
        "by each other would be minutes apart.",
        f"- The work is the same: N rows a step, {n} steps, and in step i each row sees P + i tokens. In SwarmKV's "
        f"arms the document has P - 1 tokens, each agent's own prompt one, and the answer {n + 1}, the first of which "
        "comes with the prompt. SwarmKV's times contain sampling and scheduling, llama-batched-bench's do not.",
        "- Limits. *Reads*: the file's tensors, the prefix's keys and values once for all agents, and each agent's own "
        f"({n + 1} / 2 tokens on average). *Computes*: 2 x parameters x N, and in each layer 4 x tokens seen x heads x "
        "head size for each row. Divided by what the machine reads and computes when it does nothing else; the longer "
        "of both times is the limit. It is no hard one: weights are multiplied as 8-bit integers, which some "
        "processors do faster than F32, and what fits into a cache is read faster than memory.",
        "- Not shown: suffix prompts, sampled answers, agents of different lengths, GPUs. Documents are made up; speed "
        "does not depend on what they say.",
        "- All samples are in `decode.json`.",
    ]
    if STOCK not in settings["arms"]:
        lines.append("- Without the stock arm a difference between the two programs is in the ratio, too.")
    return "\n".join(lines)
