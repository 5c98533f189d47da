#!/usr/bin/env python3
"""What an early start gives and costs: an agent that starts at a document token against one that waits for all.

Two agents read one document. In one arm the first of them has `ready_after`, in the other both wait for the end; the
arms take turns. Writes early_start.md and early_start.json into --out.
"""

import argparse
import json
import pathlib
import sys

from benchkit import child, files, machine, places, stats, text, tool

EARLY, WAITING = "early", "waiting"
ARMS = (EARLY, WAITING)
AGENTS = {
    "first": "What is this text about?",
    "second": "Name one duty that it describes.",
}
FAILURES = (OSError, ValueError, KeyError)


def say(line):
    print(f"early_start: {line}", file=sys.stderr, flush=True)


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--document", type=pathlib.Path, default=places.ROOT / "examples" / "documents" / "MPL-2.0.txt")
    add("--watermark", type=int, default=512, help="document tokens that the first agent waits for (512)")
    add("--trials", type=int, default=3, help="of each arm (3)")
    add("-n", "--predict", type=int, default=32, help="tokens each agent writes (32)")
    add("-t", "--threads", type=int, default=machine.cores(), help="for both arms (all cores)")
    add("-m", "--model", help="GGUF file (the small one of the cache)")
    add("--out", type=pathlib.Path, default=places.ROOT / "out" / "early_start", help="folder of the results")
    add("--swarmkv", help="the command (build/release/cli/swarmkv)")
    add("--engine", choices=["llama", "fake"], default="llama", help="fake: for trying the tool, figures mean nothing")
    add("--timeout", type=float, default=1800, help="seconds for one run (1800)")
    given = parser.parse_args(argv)
    if min(given.trials, given.predict, given.threads) < 1 or given.watermark < 0:
        parser.error("--trials, -n and -t must be at least 1, --watermark at least 0")
    if not given.document.is_file():
        raise places.Missing(f"{places.display(given.document)} is not there: give another --document")
    return given


def pipeline(document, watermark):
    """watermark None: everybody waits for the end. JSON is YAML, and needs no quoting rules of its own."""
    agents = {name: {"prompt": prompt} for name, prompt in AGENTS.items()}
    if watermark is not None:
        agents["first"]["ready_after"] = watermark
    return json.dumps({"version": 1, "name": "early-start", "document": str(document), "agents": agents}, indent=1)


def turns(trial):
    """Each trial begins with the other arm."""
    return ARMS if trial % 2 == 0 else ARMS[::-1]


def sample_of(report, watermark, n_predict):
    """One run's figures, on the run's clock, which starts with the model loaded.

    errors  ValueError  it did not do what is compared
    """
    (document,) = report["documents"]
    agents = {agent["name"]: agent for agent in report["agents"]}
    short = [name for name, agent in agents.items() if agent["usage"]["completion_tokens"] != n_predict]
    if short:
        raise ValueError(f"{', '.join(short)} did not write {n_predict} tokens")
    if agents["first"]["ready_after"] != watermark:
        raise ValueError(f"the document has {document['n_tokens']} tokens: nothing starts early at {watermark}")
    if document["computed_tokens"] != document["n_tokens"]:
        raise ValueError(f"{document['computed_tokens']} document tokens computed of {document['n_tokens']}")
    return {
        "wall_ms": report["summary"]["duration_ms"],
        "first_ms": {name: agent["timeline"]["first_token_ms"] for name, agent in agents.items()},
        "document_ready_ms": document["ready_ms"],
        "document_tokens": document["n_tokens"],
        "document_computed": document["computed_tokens"],
    }


class Measurement:
    def __init__(self, given):
        self.given = given
        self.command = places.command(given.swarmkv)
        model = places.model(given.model) if given.engine == "llama" else None
        self.environment = machine.describe(self.command, model)
        engine = ["-m", model] if model else ["--engine", "fake"]
        same = ["-n", given.predict, "--ignore-eos", "--temp", 0, "-t", given.threads, "-tb", given.threads]
        self.flags = [*same, *engine, "--print", "none", "--progress", "none", "-q"]

    def run(self):
        samples = []
        for trial in range(self.given.trials):
            for arm in turns(trial):
                found = {"arm": arm, "trial": trial, "status": "ok"}
                try:
                    found |= self._sample(arm)
                    first = text.seconds(found["first_ms"]["first"])
                    state = f"{text.seconds(found['wall_ms'])} s, first token after {first} s"
                except FAILURES as error:
                    found |= {"status": "failed", "error": f"{type(error).__name__}: {error}"}
                    state = found["error"]
                say(f"trial {trial + 1} of {self.given.trials}, {arm}: {state}")
                samples.append(found)
        return samples

    def _sample(self, arm):
        watermark = self.given.watermark if arm == EARLY else None
        file, report = self.given.out / f"{arm}.yaml", self.given.out / "report.json"
        files.write(file, pipeline(self.given.document.absolute(), watermark))
        report.unlink(missing_ok=True)
        status, _, err = child.run([self.command, "run", file, *self.flags, "--report", report], self.given.timeout)
        if status != 0:
            raise ValueError(f"swarmkv run ended with {status}: {err.strip()[-300:]}")
        return sample_of(json.loads(report.read_text(encoding="utf-8")), watermark, self.given.predict)


def summarise(samples):
    """Medians by arm, and early / waiting trial by trial."""
    good = [sample for sample in samples if sample["status"] == "ok"]

    def of(arm, key):
        return {s["trial"]: key(s) for s in good if s["arm"] == arm}

    keys = {
        "wall_ms": lambda s: s["wall_ms"],
        "first_ms": lambda s: s["first_ms"]["first"],
        "second_ms": lambda s: s["first_ms"]["second"],
    }
    summary = {arm: {name: stats.spread(of(arm, key).values()) for name, key in keys.items()} for arm in ARMS}
    for arm in ARMS:
        counted = ("document_computed", "document_tokens")
        summary[arm] |= {name: stats.spread(of(arm, lambda s, n=name: s[n]).values()) for name in counted}
    summary["ratio"] = {n: stats.paired_ratio(*(of(arm, key) for arm in ARMS)) for n, key in keys.items()}
    return summary


def page(environment, settings, summary, samples):
    def three(value):
        return text.number(value, 3)

    lines = [
        *text.whereabouts(environment, environment["swarmkv_version"]),
        f"- model {environment['model']['name']}; {settings['document']}, {settings['predict']} tokens for each of two "
        f"agents, {settings['threads']} threads, {text.count(settings['trials'], 'trial')} of each arm, in turns",
        f"- command: `{settings['command']}`",
    ]
    head = ["arm", "whole run s", "first token s", "the other agent's s", "document tokens computed", "of"]
    rows = []
    for arm in ARMS:
        found = summary[arm]
        times = [text.with_spread(found[key], text.seconds) for key in ("wall_ms", "first_ms", "second_ms")]
        counts = [text.number(found[key]["median"], 0) for key in ("document_computed", "document_tokens")]
        rows.append([f"starts at {settings['watermark']}" if arm == EARLY else "waits for all", *times, *counts])
    ratio = summary["ratio"]
    whole, first = (text.with_spread(ratio[key], three) for key in ("wall_ms", "first_ms"))
    told = (
        f"With the early start the whole run takes **{whole} times** as long, and the first token comes after {first} "
        "of the time: medians of the trials' own ratios (smallest to largest)."
    )
    failed = [f"- trial {s['trial'] + 1}, {s['arm']}: {s['error']}" for s in samples if s["status"] != "ok"]
    parts = ["# An early start", "\n".join(lines), text.markdown_table(head, rows), told]
    if failed:
        parts += ["## What failed", "\n".join(failed)]
    return "\n\n".join(parts) + "\n"


def main(argv):
    given = arguments(argv)
    measurement = Measurement(given)
    given.out.mkdir(parents=True, exist_ok=True)
    samples = measurement.run()
    settings = {key: getattr(given, key) for key in ("watermark", "trials", "predict", "threads", "engine")}
    settings |= {"document": places.display(given.document), "command": places.shown(["bench/early_start.py", *argv])}
    summary = summarise(samples)
    whole = {"schema": "swarmkv.early_start/1", "environment": measurement.environment, "settings": settings}
    files.write_json(given.out / "early_start.json", {**whole, "summary": summary, "samples": samples})
    shown = page(measurement.environment, settings, summary, samples)
    files.write(given.out / "early_start.md", shown)
    print(shown)
    say(f"written to {places.display(given.out)}: early_start.md, early_start.json")
    return 1 if any(sample["status"] != "ok" for sample in samples) else 0


if __name__ == "__main__":
    tool.run(main, say, "interrupted: nothing was written")
