#!/usr/bin/env python3
"""Decode speed of N agents over one shared prefix: SwarmKV's kernel, llama.cpp's in SwarmKV, llama-batched-bench.

Builds llama-batched-bench from SwarmKV's own llama.cpp (once, in the cache). Writes decode.md, decode.json and plots
into --out; samples are kept in samples.jsonl there, and the same command goes on where it stopped.
"""

import shutil
import sys

from benchkit import files, llama_tools, machine, places, plot_environment, publish, text, tool
from decode import arms, limits, models, options, plan, render, runner, summary


def say(line):
    print(f"decode: {line}", file=sys.stderr, flush=True)


class Measurement:
    def __init__(self, given):
        self.given = given
        is_fake = given.engine == "fake"
        self.files = {"fake": None} if is_fake else models.labels(given.models)
        self.facts = {label: None if is_fake else models.facts(path) for label, path in self.files.items()}
        contexts = {label: facts.context if facts else None for label, facts in self.facts.items()}
        self.points, skipped = plan.points(contexts, given.prefix, given.agents, given.predict)
        self.left_out = [f"left out: {words}" for words in skipped]
        if not self.points:
            raise places.Missing("nothing is left to measure: " + "; ".join(skipped))
        self.budget_s = None if given.budget is None else given.budget * 60

    def show_plan(self):
        turns, jobs = self.given.arms, plan.trial_jobs(self.points, self.given.arms, 0)
        took = {(job.point, job.arm): plan.estimate_s(job, self.given.predict) for job in jobs}
        rows = [
            [p.model, f"{p.prefix:,}", p.n_agents, *(text.duration(took[p, arm]) for arm in turns)] for p in self.points
        ]
        print(text.markdown_table(["model", "P", "N", *turns], rows), file=sys.stderr)
        for words in self.left_out:
            say(words)
        one = sum(took.values())
        trials, cut = plan.fitting(self.given.trials, one, self.budget_s)
        say(
            f"{text.count(trials, 'trial')} of {len(jobs)} processes, about {text.duration(one)} each and "
            f"{text.duration(trials * one)} in all: estimated for the small model on two cores with AVX-512"
        )
        if cut:
            say(f"--budget: {cut}; how many there will be follows from how long the first takes")

    def prepare(self):
        given = self.given
        made = [label for label, path in self.files.items() if path is None and given.engine == "llama"]
        for label in made:
            self.files[label] = models.make(label)
            self.facts[label] = models.facts(self.files[label])
        command = places.command(given.swarmkv)
        micro = None if given.no_limits else limits.program(given.micro)
        built = {"commit": "given", "llama-batched-bench": given.batched_bench}
        if not given.batched_bench:
            built = llama_tools.built(["llama-batched-bench"])
        described = {label: machine.describe(command, path) for label, path in self.files.items()}
        self.environment = dict(next(iter(described.values())))
        del self.environment["model"]
        same = ["-t", given.threads, "-tb", given.threads, "-ub", 512]
        flags = {label: [*same, *(["-m", path] if path else [])] for label, path in self.files.items()}
        swarm_only = ["--engine", "fake"] if given.engine == "fake" else []
        bench = built["llama-batched-bench"]
        self.arms = arms.Arms(command, bench, flags, swarm_only, given.predict, given.timeout)
        unchanged = {
            "n_predict": given.predict,
            "threads": given.threads,
            "engine": given.engine,
            "llama_commit": built["commit"],
            "swarmkv_commit": self.environment["swarmkv"]["commit"],
            "cpu": self.environment["cpu"],
        }
        known = {label: {**what["model"], "made": label in made} for label, what in described.items()}
        digests = {label: what.get("sha256") for label, what in known.items()}
        self.runner = runner.Runner(given.out / "samples.jsonl", unchanged, digests, self.arms.measure, say)
        # Of the samples, not of a later call that only writes or goes on.
        at_start = ("date", "load_average_at_start")
        began = self.runner.once("began", lambda: {key: self.environment[key] for key in at_start})
        self.environment.update((key, began[key]) for key in at_start)
        self.settings = {
            **unchanged,
            "command": places.shown(["bench/decode.py", *sys.argv[1:]]),
            "models": known,
            "arms": list(given.arms),
            "trials": given.trials,
            "left_out": self.left_out,
            "machine": self._machine(micro) if micro else None,
        }

    def _machine(self, micro):
        def take():
            say("the machine's limits: memory bandwidth and arithmetic, all threads")
            return limits.measure(micro)

        kept = self.runner.once("machine", take)
        return {key: kept[key] for key in ("read_bytes_per_s", "flop_per_s")}

    def run(self):
        samples, trials = self.runner.run(self.points, self.given.arms, self.given.trials, self.budget_s)
        if trials < self.given.trials:
            cut = f"cut: {trials} of {text.count(self.given.trials, 'trial')}; one more would have exceeded the "
            self.settings["left_out"].append(cut + f"{self.given.budget:g} minutes of --budget")
            self.settings["trials"] = trials
            say(self.settings["left_out"][-1])
        return samples

    def write(self, samples):
        given, out = self.given, self.given.out
        asked = {label for label, path in self.files.items() if models.is_asked(path)}
        groups = summary.summarise(
            samples, self.points, given.arms, given.predict, self.facts, asked, self.settings["machine"]
        )
        drawn = {}
        if not given.no_plots:
            from decode import plots

            drawn = plots.draw(groups, given.arms, self.settings, out)
        whole = {"schema": "swarmkv.decode/1", "environment": self.environment, "settings": self.settings}
        files.write_json(out / "decode.json", {**whole, "summary": groups, "samples": samples})
        page = render.markdown(self.environment, self.settings, groups, samples, drawn)
        files.write(out / "decode.md", page)
        print(page)
        if given.publish:
            shown = render.figures(self.environment, self.settings, groups, drawn, level="####")
            publish.replace(given.publish, given.mark, shown)
            for name in drawn.values():
                shutil.copyfile(out / name, given.publish.parent / name)
        say(f"written to {out}: decode.md, decode.json, {text.count(len(drawn), 'plot')}")


def main(argv):
    given = options.arguments(argv, __doc__)
    if not given.no_plots and not given.plan:
        plot_environment.enter(__file__, argv)
    measurement = Measurement(given)
    measurement.show_plan()
    if given.plan:
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    measurement.prepare()
    samples = measurement.run()
    measurement.write(samples)
    return 1 if any(s["status"] != "ok" for s in samples) else 0


if __name__ == "__main__":
    tool.run(main, say)
