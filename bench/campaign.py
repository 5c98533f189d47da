#!/usr/bin/env python3
"""The experiment of the original article, a real document, and sweeps over agents and document length.

Prints how long it will take, then drives `swarmkv bench` and writes trials, plots and reports into --out. Under an
hour on two slow cores; --full has no limit. Interrupted, the same command goes on from there.
"""

import dataclasses
import json
import sys

from benchkit import cost, files, machine, places, plot_environment, publish, text, tool
from campaign import blocks, calibrate, command_line, compat, figures, options, plan, report, runner, shapes, trials


def say(line):
    print(f"campaign: {line}", file=sys.stderr, flush=True)


class Campaign:
    def __init__(self, given):
        self.given, self.out = given, given.out
        self.command = places.command(given.swarmkv)
        self.model = places.model(given.model) if given.engine == "llama" else None
        same = ["-t", given.threads, "-tb", given.threads] + (
            ["-m", self.model] if self.model else ["--engine", "fake"]
        )
        self.flags = same
        self.licence = places.ROOT / "examples" / "documents" / "MPL-2.0.txt"
        self.environment = machine.describe(self.command, self.model)

    def command_line(self, batch):
        return command_line.of(self.command, batch, self.flags, self.given.seed, self.licence)

    def identity(self):
        """What must not differ between the parts of one campaign."""
        return {
            "commit": self.environment["swarmkv"]["commit"],
            "model": self.environment["model"],
            "threads": self.given.threads,
            "seed": self.given.seed,
            "shapes": list(self.given.shapes),
            "full": self.given.full,
            "cpu": self.environment["cpu"],
        }

    def make_plan(self):
        """The plan on disk, if this campaign was begun before, else a new one: (factor, size, steps)."""
        path, identity = self.out / "plan.json", self.identity()
        if path.exists():
            kept = json.loads(path.read_text(encoding="utf-8"))
            if kept["identity"] != identity:
                changed = [key for key in identity if kept["identity"].get(key) != identity[key]]
                raise places.Missing(
                    f"{self.out} holds another campaign ({', '.join(changed)} differ): give another --out, or remove it"
                )
            factor, index = kept["slower"], kept["size"]
            self.environment = kept["environment"]
        else:
            factor = self.given.slower
            if factor is None:
                say("a short run, to see how fast this machine is")
                factor = calibrate.slower(self.command, self.flags)
            index = (
                None if self.given.full else plan.choose(cost.Cost(factor), self.given.budget * 60, self.given.shapes)
            )
            if not self.given.plan:
                files.write_json(
                    path, {"identity": identity, "slower": factor, "size": index, "environment": self.environment}
                )
        size = shapes.FULL if index is None else shapes.SIZES[index]
        return factor, size, plan.steps_of(shapes.points(size, self.given.shapes, no_limit=index is None))

    def show(self, model, steps):
        by_point = {}
        for step in steps:
            by_point.setdefault(step.point, []).append(sum(plan.arm_s(model, step.point, arm) for arm in step.arms))
        rows = [
            [p.key, f"{p.n_tokens:,}", p.n_agents, ", ".join(p.arms), len(s), text.duration(sum(s))]
            for p, s in by_point.items()
        ]
        print(text.markdown_table(["point", "tokens", "agents", "arms", "trials", "about"], rows), file=sys.stderr)
        total = plan.total_s(model, steps)
        limit = "no limit" if self.given.full else f"at most {self.given.budget:g} min"
        say(
            f"{len(plan.batches(steps))} processes, about {text.duration(total)} in all ({limit}; this machine takes "
            f"{model.slower:.2f} times as long as the one the estimate was made on)"
        )

    def settings(self, size):
        return {
            "command": places.shown(["bench/campaign.py", *sys.argv[1:]]),
            "flags": " ".join(map(str, self.flags)).replace(str(self.model), "MODEL"),
            "seed": self.given.seed,
            "size": dataclasses.asdict(size),
            "label": self.given.label or self.environment["cpu"] or "unknown machine",
            "budget": "no time limit" if self.given.full else f"{self.given.budget:g} minutes",
            "documents": {shapes.ORIGINAL: "the pangram, repeated", shapes.LICENCE: places.display(self.licence)},
        }

    def write(self, size, steps, found):
        points = list(dict.fromkeys(step.point for step in steps))
        keys = {point.key for point in points}
        data = figures.Figures([t for t in found if t.point in keys], points)
        settings = self.settings(size)
        files.write_json(
            self.out / "all_trials.json",
            {
                "schema": "swarmkv.campaign/1",
                "environment": self.environment,
                "settings": settings,
                "trials": [dataclasses.asdict(t) for t in data.trials],
            },
        )
        files.write(self.out / "all_trials.csv", trials.as_csv(data.trials))
        drawn = []
        if not self.given.no_plots:
            from campaign import plots

            drawn = plots.draw(data, self.out)
        self.write_median(data, settings)
        page = report.build(data, steps, settings, self.environment, drawn)
        files.write(self.out / "report.md", blocks.to_markdown(page))
        files.write(self.out / "report.html", blocks.to_html(page, "SwarmKV: one document, many agents"))
        if not self.given.no_plots:
            blocks.to_docx(page, self.out / "report.docx")
        say(
            f"written to {self.out}: all_trials.json and .csv, median_run.json, report.md and .html"
            + ("" if self.given.no_plots else f" and .docx, {len(drawn)} plots")
        )
        if self.given.publish:
            publish.replace(
                self.given.publish,
                "campaign",
                blocks.to_markdown(report.summary(data, steps, settings, self.environment)),
            )
            say(f"figures put into {self.given.publish}")
        return data

    def write_median(self, data, settings):
        point = next(iter(data.by_shape(shapes.ORIGINAL)), None)
        middle = data.median_trial(point) if point else None
        mine = [t for t in data.trials if point and t.point == point.key and t.trial == middle]
        files.write_json(
            self.out / "median_run.json",
            {
                "schema": "swarmkv.median_run/1",
                "environment": self.environment,
                "trial": None if middle is None else middle + 1,
                "original_names": compat.all_figures(mine, settings["label"], settings["documents"][shapes.ORIGINAL]),
                "arms": {t.arm: dataclasses.asdict(t) for t in mine},
            },
        )


def main(argv):
    given = options.arguments(argv, __doc__)
    if not given.no_plots and not given.plan:
        plot_environment.enter(__file__, argv)
    campaign = Campaign(given)
    given.out.mkdir(parents=True, exist_ok=True)
    factor, size, steps = campaign.make_plan()
    model = cost.Cost(factor)
    campaign.show(model, steps)
    if given.plan:
        return 0
    run = runner.Runner(
        given.out, campaign.command_line, model, say, None if given.full else given.budget * 60, given.retry_failed
    )
    found = list(run.trials.values()) if given.report_only else run.run(steps)
    data = campaign.write(size, steps, found)
    return 1 if data.failures() or data.missing(steps) else 0


if __name__ == "__main__":
    tool.run(main, say)
