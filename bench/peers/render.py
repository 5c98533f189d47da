"""The report of bench/peers.py as Markdown."""

from benchkit import text
from peers.plan import CEILING, SERVER, SWARM

HEAD = [
    "agents",
    "system",
    "wall s",
    "prompt tokens processed",
    "first token p50 s",
    "p99 s",
    "slowest s",
    "decode tok/s",
    "output tok/s",
    "wall: peer / SwarmKV",
    "tokens: peer / SwarmKV",
]
WAVE_NOTE = {
    "cold": "All N questions arrive at once; nothing has been read before. SwarmKV: `swarmkv ask`, clock from the "
    "loaded model on. llama-server: freshly started and warmed up by itself, clock from the first request on.",
    "second": "N new questions arrive at once after all of the first wave were answered; whatever the system kept of "
    "the document may be used. SwarmKV has no server yet, so this is a second rank of agents in one pipeline "
    "(`swarmkv run`): a second *command* reads the document again and costs what the cold table says.",
}


def markdown(environment, settings, summary, samples):
    parts = ["# SwarmKV beside llama.cpp's own tools", figures(environment, settings, summary, level="##")]
    failed = [s for s in samples if s["status"] != "ok"]
    if failed:
        parts += [
            "## What failed",
            "\n".join(
                f"- {s['system']}, N = {s['n_agents']}, {s['wave']}, trial {s['trial'] + 1}: {s['error']}"
                for s in failed
            ),
        ]
    parts += ["## How it was measured, and what it does not show", _method(settings)]
    return "\n\n".join(parts) + "\n"


def figures(environment, settings, summary, level="###"):
    """Conditions, tables and losses: what is published."""
    parts = [_conditions(environment, settings)]
    for wave, cells in summary["waves"].items():
        parts += [f"{level} {wave.capitalize()} wave", WAVE_NOTE[wave], _wave_table(cells)]
    parts += [f"{level} Decode speed beside {CEILING}", _ceiling(summary["ceiling"])]
    parts += [f"{level} Where SwarmKV is slower", _losses(summary["losses"])]
    return "\n\n".join(parts)


def _conditions(environment, settings):
    lines = [
        *text.whereabouts(environment, f"llama.cpp {settings['llama_commit']} in all three"),
        f"- model {environment['model']['name']}, SHA-256 {environment['model'].get('sha256', '-')}",
        f"- document {settings['document']}, {settings.get('document_tokens', 0):,} tokens; {settings['n_predict']} "
        f"tokens for each answer (end markers ignored), greedy, {settings['threads']} threads, "
        f"{text.count(settings['trials'], 'trial')}",
        f"- command: `{settings['command']}`",
    ]
    return "\n".join(lines)


def _mark(cell):
    return "~" if cell["extrapolated"] else ""


def _wave_table(cells):
    rows = []
    for cell in cells:
        mark = _mark(cell)
        system = cell["system"] + (" (extrapolated)" if cell["extrapolated"] else "")
        if not cell["extrapolated"] and not cell["trials"]:
            rows.append([cell["n_agents"], system, "FAILED", *["-"] * (len(HEAD) - 3)])
            continue
        if cell["failed"]:
            system += f" ({len(cell['failed'])} trials FAILED)"
        against = cell.get("against")
        rows.append(
            [
                cell["n_agents"],
                system,
                text.with_spread(cell["wall_ms"], text.seconds, mark),
                text.number(cell["prompt_computed"]["median"], 0, mark),
                text.seconds(cell["first_p50_ms"], mark),
                text.seconds(cell["first_p99_ms"], mark),
                text.seconds(cell["first_max_ms"], mark),
                text.with_spread(cell["decode_tok_s"], text.number),
                text.with_spread(cell["total_tok_s"], text.number),
                _ratio(against, "wall"),
                _ratio(against, "tokens"),
            ]
        )
    notes = ["Median of the trials (smallest to largest). Above 1, SwarmKV needs less. p99 from 20 samples on."]
    if any(cell["extrapolated"] for cell in cells):
        used = next(cell["from_agents"] for cell in cells if cell["extrapolated"])
        notes.append(
            f"`~` = **extrapolated**, not measured: {SERVER} was run with N = {', '.join(map(str, used))}, "
            "and the straight line through those medians gives the rest."
        )
    return text.markdown_table(HEAD, rows) + "\n\n" + " ".join(notes)


def _ratio(against, key):
    if against is None:
        return text.UNKNOWN
    return text.with_spread(against[key], lambda value: text.number(value, 2), "~" if against["extrapolated"] else "")


def _ceiling(points):
    rows = [
        [
            p["n_agents"],
            text.with_spread(p["ceiling"]["decode_tok_s"], text.number),
            text.with_spread(p["ours"]["decode_tok_s"], text.number) if p["ours"] else text.UNKNOWN,
            text.with_spread(p["ratio"], lambda value: text.number(value, 3)),
        ]
        for p in points
    ]
    return (
        f"{CEILING} `-pps -kvu`: one shared prompt (as long as document and an average question), N-way decode, no "
        "sampling, no text, no scheduling. SwarmKV's figure has all of that in it.\n\n"
        + text.markdown_table(["agents", f"{CEILING} tok/s", f"{SWARM} tok/s", f"{SWARM} / {CEILING}, by trial"], rows)
    )


def _losses(losses):
    if not losses:
        return "Nowhere in this run: no median of SwarmKV was worse than a peer's by more than half a per cent."
    lines = []
    for loss in losses:
        mark = " (extrapolated)" if loss["extrapolated"] else ""
        lines.append(
            f"- N = {loss['n_agents']}, {loss['wave']}, {loss['what']}: SwarmKV "
            f"{_value(loss['ours'], loss['unit'])}, {loss['peer']} {_value(loss['theirs'], loss['unit'])}{mark}: "
            f"**{loss['times']:.2f} times worse**"
        )
    return "\n".join(lines)


def _value(value, unit):
    if unit == "ms":
        return text.seconds(value) + " s"
    return f"{text.number(value, 0 if unit == 'tokens' else 1)} {unit}"


def _method(settings):
    return "\n".join(
        [
            "- Same file, questions, model, answer length, threads and cache type; each prompt is one user message "
            "of document, blank line, question in the model's own chat template. SwarmKV cuts its tokens at the "
            "seams, so prompts may differ by a token or two; both counts are in the JSON (`prompt_asked`).",
            f"- {SERVER} flags: `{settings['server_flags']}`; one process for each N and trial, loopback, one "
            "client thread for "
            "each agent, answers streamed; tokens processed are its own `timings.prompt_n`, summed.",
            "- *Decode tok/s* sums the agents' own rates, (tokens - 1) / (last - first token). In a cold server "
            "that contains waiting for the others' prompts, as its users see it. *Output tok/s* = all answer "
            "tokens / wall.",
            "- SwarmKV's times are of its own clock, the peers' of a client's clock on the same machine: HTTP and "
            "JSON are in theirs (well below a millisecond for a token).",
            "- Not shown: other documents or models, sampled answers, requests that arrive one after another, "
            "other servers, answer quality. A server that has the document cached from earlier is the second wave, "
            "not the cold one.",
            f"- Systems take turns and each trial begins with another one; samples of all trials are in "
            f"`{settings['json_name']}`.",
        ]
    )
