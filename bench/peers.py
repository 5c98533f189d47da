#!/usr/bin/env python3
"""SwarmKV beside llama-server and llama-batched-bench: same model, document, questions and lengths, taking turns.

Builds the two from SwarmKV's own llama.cpp (once, in the cache). Writes peers.md and peers.json into --out; samples
are kept in samples.jsonl there, and the same command goes on where it stopped.
"""

import hashlib
import pathlib
import sys
import time

from benchkit import batched_bench, files, llama_tools, machine, places, publish, swarm, text, tool
from peers import options, plan, render, server, summary

FAILURES = (server.ServerFailed, swarm.SwarmFailed, batched_bench.BatchedBenchFailed, OSError, ValueError, KeyError)
TARGETS = ("llama-server", "llama-batched-bench")


def say(line):
    print(f"peers: {line}", file=sys.stderr, flush=True)


class Comparison:
    def __init__(self, given):
        self.given, self.out = given, given.out
        self.waves = [plan.COLD, plan.SECOND] if given.waves == "both" else [plan.COLD]
        self.limit = max(given.agents) if given.full else given.server_limit
        lines = pathlib.Path(given.questions).read_text(encoding="utf-8").splitlines()
        self.questions = [line for line in lines if line.strip()]
        needed = max(given.agents) * len(self.waves)
        if len(self.questions) < needed:
            raise places.Missing(f"{needed} questions are needed, {given.questions} has {len(self.questions)}")
        self.document = pathlib.Path(given.file)
        self.words = self.document.read_text(encoding="utf-8")
        self.jobs = list(plan.jobs(given.agents, given.trials, self.limit, self.waves))

    def show_plan(self):
        tokens, suffix = len(self.words) // 4.4, 20  # before anything was counted
        total = sum(plan.estimate_s(j, tokens, suffix, self.given.predict, len(self.waves) > 1) for j in self.jobs)
        say(
            f"{len(self.jobs)} runs, about {text.duration(total)} on two slow cores; {plan.SERVER} is run up to "
            f"N = {max((n for n in self.given.agents if n <= self.limit), default=0)}"
        )

    def prepare(self):
        given = self.given
        self.command = places.command(given.swarmkv)
        self.model = places.model(given.model) if given.engine == "llama" else None
        self.environment = machine.describe(self.command, self.model)
        built = llama_tools.built(TARGETS) if not (given.server and given.batched_bench) else {"commit": "given"}
        self.server = given.server or built["llama-server"]
        self.bench = given.batched_bench or built["llama-batched-bench"]
        same = ["-t", given.threads, "-tb", given.threads, "-ub", 512]
        ours = same + (["-m", self.model] if self.model else ["--engine", "fake"])
        self.peer_flags = same + (["-m", self.model] if self.model else [])
        self.swarm = swarm.Swarm(self.command, self.document, ours, self.out)
        say("warming up, and counting the tokens of the prompts")
        self.lengths, self.document_tokens = self.swarm.lengths(self.questions, given.timeout)
        self.settings = {
            "command": places.shown(["bench/peers.py", *sys.argv[1:]]),
            "llama_commit": built["commit"],
            "document": places.display(self.document),
            "document_tokens": self.document_tokens,
            "agents": given.agents,
            "n_predict": given.predict,
            "trials": given.trials,
            "threads": given.threads,
            "server_limit": self.limit,
            "waves": self.waves,
            "engine": given.engine,
            "json_name": "peers.json",
            "server_flags": " ".join(map(str, self.server_flags("N", "CELLS"))).replace(str(self.model), "MODEL"),
        }

    def server_flags(self, n_agents, cells):
        return [*self.peer_flags, "-c", cells, "-np", n_agents, "-kvu", "--offline", "--no-ui"]

    def measure(self, job):
        """The samples of one job: {wave: sample}."""
        n, predict, timeout = job.n_agents, self.given.predict, self.given.timeout
        first, second = self.questions[:n], self.questions[n : 2 * n]
        if job.system == plan.CEILING:
            seen = round(sum(self.lengths[:n]) / n)
            return {plan.COLD: batched_bench.measure(self.bench, self.peer_flags, seen, predict, n, timeout)}
        if job.system == plan.SWARM:
            if job.wave == plan.COLD:
                return {plan.COLD: self.swarm.cold(first, predict, timeout)}
            return {plan.SECOND: self.swarm.second(first, second, predict, timeout)[1]}
        cells = n * (max(self.lengths) + predict + 32) + 512  # room for what each slot keeps
        with server.Server(self.server, self.server_flags(n, cells), self.out / "llama-server.log") as running:
            found = {}
            for wave, asked in zip(self.waves, (first, second)):
                contents = [f"{self.words}\n\n{question}" for question in asked]
                found[wave] = server.sample(*running.wave(contents, predict, timeout))
            return found

    def run(self):
        samples_path = self.out / "samples.jsonl"
        same = {key: self.settings[key] for key in ("document", "n_predict", "threads", "engine", "llama_commit")}
        same["model"] = self.environment["model"].get("sha256")
        same["words"] = hashlib.sha256(self.words.encode()).hexdigest()
        done = {
            s["key"]: s for s in files.read_lines(samples_path) if s.get("settings") == same and s.get("status") == "ok"
        }
        samples = []
        for number, job in enumerate(self.jobs, 1):
            waves = self.waves if job.system == plan.SERVER else [job.wave]
            keys = {wave: f"{job.key}/{wave}" for wave in waves}
            if all(key in done for key in keys.values()):
                samples += [done[key] for key in keys.values()]
                continue
            began = time.monotonic()
            try:
                found = {wave: {"status": "ok", **sample} for wave, sample in self.measure(job).items()}
            except FAILURES as error:
                found = {wave: {"status": "failed", "error": f"{type(error).__name__}: {error}"} for wave in waves}
            for wave, sample in found.items():
                if sample["status"] == "ok":
                    sample.setdefault("decode_tok_s", sum(sample.pop("rates", [])) or None)
                    sample["total_tok_s"] = sample["completion_tokens"] / (sample["wall_ms"] / 1000)
                which = {"key": keys[wave], "system": job.system, "wave": wave, "n_agents": job.n_agents}
                samples.append({**which, "trial": job.trial, "settings": same, **sample})
                files.append_line(samples_path, samples[-1])
            state = next((s["error"] for s in found.values() if s["status"] != "ok"), "ok")
            say(
                f"{number}/{len(self.jobs)} {job.system} N={job.n_agents} {job.wave} trial {job.trial + 1}: {state} "
                f"({text.duration(time.monotonic() - began)})"
            )
        return samples


def main(argv):
    given = options.arguments(argv, __doc__)
    comparison = Comparison(given)
    comparison.show_plan()
    if given.plan:
        return 0
    given.out.mkdir(parents=True, exist_ok=True)
    comparison.prepare()
    environment = comparison.environment
    samples = comparison.run()
    figures = summary.summarise(samples, given.agents, comparison.waves, comparison.limit)
    page = render.markdown(environment, comparison.settings, figures, samples)
    files.write_json(
        given.out / "peers.json",
        {
            "schema": "swarmkv.peers/1",
            "environment": environment,
            "settings": comparison.settings,
            "summary": figures,
            "samples": samples,
        },
    )
    files.write(given.out / "peers.md", page)
    print(page)
    if given.publish:
        publish.replace(given.publish, "peers", render.figures(comparison.environment, comparison.settings, figures))
    say(f"written to {given.out}")
    return 1 if any(s["status"] != "ok" for s in samples) else 0


if __name__ == "__main__":
    tool.run(main, say)
