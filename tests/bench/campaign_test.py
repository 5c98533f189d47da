#!/usr/bin/env python3
"""bench/campaign.py on made-up samples: plan, resume, failures, extrapolation, reports, plots. No speed is judged.

Plots and DOCX are looked at where scripts/get-bench-env has made its environment; the rest needs no package.
"""

import csv
import json
import os
import pathlib
import signal
import sys
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(HERE)]
sys.dont_write_bytecode = True
import samples  # noqa: E402
import stand_ins  # noqa: E402
from benchkit import cost  # noqa: E402
from campaign import blocks, compat, figures, plan, report, shapes, trials  # noqa: E402
from tool_case import ToolCase, environment_for_plots  # noqa: E402

BIN = os.environ.get("SWARMKV_BIN", "")
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = 240
ORIGINAL_NAMES = """Context_Label Document_Tokens Target_Prefill_Tokens Base_Doc_Path BranchA_Tokens BranchB_Tokens
SwarmKV_AgentA_Required_Prefix_Tokens SwarmKV_AgentB_Required_Prefix_Tokens Baseline_Agent1_Prefill_Ms
Baseline_Agent1_Branch_Ms Baseline_Agent1_Total_Ms Baseline_Agent2_Prefill_Ms Baseline_Agent2_Branch_Ms
Baseline_Agent2_Total_Ms Baseline_End_To_End_Ms Baseline_Branch2_TTFT_Proxy_Ms SwarmKV_Prefill_Ms SwarmKV_AgentA_Ms
SwarmKV_AgentB_Ms SwarmKV_Branch_Avg_Ms SwarmKV_Branch1_TTFT_Proxy_Ms SwarmKV_Branch2_TTFT_Proxy_Ms
SwarmKV_End_To_End_Ms End_To_End_Improvement_Pct Branch1_TTFT_Improvement_Pct Branch2_TTFT_Improvement_Pct
Redundant_Prefill_Eliminated_Ms""".split()


def measured(point, trial=0, **how):
    """Trials of one trial of a point."""
    found = []
    for position, arm in enumerate(point.arms):
        line = samples.sample(
            arm, point.n_tokens, point.n_agents, point.n_predict, trial, position, point.suffix, **how
        )
        found.append(
            trials.from_entry(
                {
                    "shape": point.shape,
                    "point": point.key,
                    "trial": trial,
                    "arm": arm,
                    "position": position,
                    "n_agents": point.n_agents,
                    "n_predict": point.n_predict,
                    "line": line,
                }
            )
        )
    return found


def campaign_of(size, **how):
    steps = plan.steps_of(shapes.points(size, shapes.SHAPES))
    found = [trial for step in steps for trial in measured(step.point, step.trial, **how)]
    return figures.Figures(found, list(dict.fromkeys(step.point for step in steps))), steps


SMALL = shapes.Size(2, 2, 2, 2, 8)


class Words(unittest.TestCase):
    def test_made_up_samples_are_worded_like_the_command(self):
        line = (ROOT / "tests" / "golden" / "bench" / "sample.jsonl").read_text(encoding="utf-8").splitlines()[0]
        golden, made_up = json.loads(line), samples.sample("shared", 100, 2, 16)
        self.assertEqual(set(made_up), set(golden) - {"setup"})
        self.assertEqual(set(made_up["agents_detail"][0]), set(golden["agents_detail"][0]))
        self.assertEqual(trials.arm_of(golden), "shared")
        point = shapes.Point(shapes.ORIGINAL, golden["document_tokens"], 2, 16, shapes.ARMS, 1)
        self.assertTrue(trials.is_of(golden, point))
        entry = {"shape": "original", "point": "p", "trial": 0, "arm": "shared", "position": 0}
        trial = trials.from_entry({**entry, "n_agents": 2, "n_predict": 16, "line": golden})
        self.assertEqual((trial.wall_ms, trial.document_ms, trial.first_ms), (4620.0, [4100.0], [4220.0, 4220.0]))


class Plan(unittest.TestCase):
    def test_fits_an_hour_on_two_slow_cores(self):
        index = plan.choose(cost.Cost(1.0), 3600, shapes.SHAPES)
        steps = plan.steps_of(shapes.points(shapes.SIZES[index], shapes.SHAPES))
        self.assertLessEqual(plan.total_s(cost.Cost(1.0), steps), plan.SHARE * 3600)
        self.assertEqual(
            {step.point.n_agents for step in steps if step.point.shape == shapes.AGENTS}, {1, 2, 4, 8, 16, 32, 64}
        )

    def test_a_faster_machine_leaves_less_out(self):
        self.assertLess(
            plan.choose(cost.Cost(0.1), 3600, shapes.SHAPES), plan.choose(cost.Cost(1.0), 3600, shapes.SHAPES)
        )

    def test_full_leaves_no_arm_out(self):
        points = shapes.points(shapes.FULL, shapes.SHAPES, no_limit=True)
        self.assertTrue(all(point.arms == shapes.ARMS for point in points))

    def test_every_arm_begins_a_trial(self):
        point = shapes.Point(shapes.ORIGINAL, 3501, 2, 16, shapes.ARMS, 4)
        self.assertEqual({step.arms[0] for step in plan.steps_of([point])}, set(shapes.ARMS))

    def test_a_first_trial_of_everything_comes_before_any_second_one(self):
        order = [step.trial for step in plan.steps_of(shapes.points(SMALL, shapes.SHAPES))]
        self.assertEqual(order, sorted(order))

    def test_the_estimate_learns_from_what_was_run(self):
        self.assertEqual(cost.Cost(2.0).corrected(estimated_ms=100.0, measured_ms=150.0).slower, 3.0)
        self.assertEqual(cost.Cost(2.0).corrected(estimated_ms=100.0, measured_ms=50.0).slower, 2.0)
        self.assertEqual(cost.Cost(2.0).corrected(estimated_ms=0.0, measured_ms=5.0).slower, 2.0)


class Arithmetic(unittest.TestCase):
    def test_slow_arms_beyond_the_limit_are_extrapolated_and_marked(self):
        data, _ = campaign_of(SMALL)
        big = next(p for p in data.points if p.shape == shapes.LICENCE and p.n_agents == 50)
        small = next(p for p in data.points if p.shape == shapes.LICENCE and p.n_agents == 8)
        wall = data.wall(big, shapes.RECOMPUTE)
        self.assertTrue(wall["extrapolated"])
        self.assertEqual(wall["from"], [8])
        self.assertAlmostEqual(wall["median"], data.wall(small, shapes.RECOMPUTE)["median"] * 50 / 8)
        self.assertFalse(data.wall(big, shapes.SHARED)["extrapolated"])
        self.assertTrue(data.speedup(big)["extrapolated"])
        self.assertFalse(data.speedup(small)["extrapolated"])
        snapshot = data.wall(big, shapes.SNAPSHOT)["median"]
        truth = samples.sample("snapshot", 3684, 50, 32, noise=0)["wall_ms"]
        self.assertAlmostEqual(snapshot, truth, delta=truth * 0.02)

    def test_a_failed_arm_is_not_extrapolated(self):
        data, _ = campaign_of(SMALL)
        for trial in data.trials:
            if trial.arm == shapes.DEVICE:
                trial.status = trials.FAILED
        point = next(p for p in data.points if p.shape == shapes.LICENCE)
        self.assertIsNone(data.wall(point, shapes.DEVICE))

    def test_ratios_are_taken_trial_by_trial(self):
        point = shapes.Point(shapes.ORIGINAL, 100, 2, 16, (shapes.RECOMPUTE, shapes.SHARED), 2)
        found = measured(point, 0) + measured(point, 1)
        for trial, wall in zip(found, (1000.0, 100.0, 3000.0, 1000.0)):
            trial.wall_ms = wall
        ratio = figures.Figures(found, [point]).speedup(point)
        self.assertEqual((ratio["min"], ratio["max"]), (3.0, 10.0))

    def test_the_model_meets_the_measured_points(self):
        data, _ = campaign_of(SMALL, noise=0)
        model = data.model(shapes.AGENTS)
        self.assertAlmostEqual(model["P"], 9.0 * 512)
        for point in data.by_shape(shapes.AGENTS):
            predicted = figures.speedup(model, model["r"][point.n_agents], point.n_agents)
            self.assertAlmostEqual(predicted, data.speedup(point)["median"], delta=0.02 * predicted)

    def test_the_median_trial_is_the_middle_one(self):
        point = shapes.Point(shapes.ORIGINAL, 3501, 2, 16, shapes.ARMS, 3)
        found = [t for trial in range(3) for t in measured(point, trial)]
        for trial in found:
            trial.wall_ms = {shapes.RECOMPUTE: (300.0, 100.0, 200.0)[trial.trial]}.get(trial.arm, 100.0)
        self.assertEqual(figures.Figures(found, [point]).median_trial(point), 2)

    def test_the_original_names_hold_real_numbers(self):
        point = shapes.Point(shapes.ORIGINAL, 3501, 2, 16, shapes.ARMS, 1)
        found = compat.all_figures(measured(point, noise=0), "here", "pangram")
        self.assertEqual(list(found), [shapes.SNAPSHOT, shapes.SHARED])
        values = found[shapes.SHARED]
        self.assertEqual(list(values), ORIGINAL_NAMES)
        self.assertAlmostEqual(values["Redundant_Prefill_Eliminated_Ms"], 9.0 * 3501)
        self.assertAlmostEqual(values["Baseline_Branch2_TTFT_Proxy_Ms"], 9.0 * 3501)
        self.assertGreater(values["Baseline_Branch2_TTFT_Proxy_Ms"], 40 * values["SwarmKV_Branch2_TTFT_Proxy_Ms"])
        self.assertNotIn(None, values.values())
        self.assertEqual(compat.all_figures([], "here", "pangram"), {})

    def test_counts_trials_in_which_all_arms_wrote_the_same(self):
        point = shapes.Point(shapes.ORIGINAL, 100, 2, 16, shapes.ARMS, 2)
        found = measured(point, 0) + measured(point, 1)
        found[-1].ids_digest = "other"
        self.assertEqual(figures.Figures(found, [point]).same_tokens(), (1, 2))

    def test_an_unfair_n_of_one_is_called_out(self):
        data, steps = campaign_of(SMALL, noise=0)
        self.assertIn("gains nothing, as it must", " ".join(report._in_short(data, steps)))
        for trial in data.trials:
            if trial.n_agents == 1 and trial.arm == shapes.SHARED:
                trial.wall_ms /= 1.2
        self.assertIn("**Warning**: one agent alone", " ".join(report._in_short(data, steps)))


class Blocks(unittest.TestCase):
    PAGE = [
        ("heading", 2, "A < B"),
        ("text", "**bold** and `code` & more"),
        ("list", ["one"]),
        ("code", "x < y"),
        ("table", ["a", "b"], [["1 | 2", "~3"]]),
    ]

    def test_markdown_escapes_what_would_end_a_cell(self):
        self.assertIn("| 1 \\| 2 | ~3 |", blocks.to_markdown(self.PAGE))

    def test_html_escapes_and_marks_up(self):
        page = blocks.to_html(self.PAGE, "t")
        self.assertIn("<b>bold</b> and <code>code</code> &amp; more", page)
        self.assertIn("<h2>A &lt; B</h2>", page)


class Tool(ToolCase):
    watchdog_s = WATCHDOG_S

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.swarmkv = stand_ins.program(self.folder, "swarmkv", stand_ins.SWARMKV)

    def start(self, *extra, mode="", plots=False):
        python = environment_for_plots() if plots else sys.executable
        return self.launch(
            [
                python,
                ROOT / "bench" / "campaign.py",
                "--swarmkv",
                self.swarmkv,
                "--engine",
                "fake",
                "--out",
                self.out,
                "--slower",
                "1",
                *([] if plots else ["--no-plots"]),
                *extra,
            ],
            STAND_IN_MODE=mode,
            STAND_IN_LOG=str(self.log),
            STAND_IN_TESTS=str(HERE),
        )

    def run_tool(self, *extra, status=0, **how):
        return self.finish(self.start(*extra, **how), status)[1]

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def lines(self):
        return (self.out / "trials.jsonl").read_text(encoding="utf-8").splitlines()

    def test_prints_the_estimate_before_it_runs_anything(self):
        err = self.run_tool("--plan")
        self.assertIn("processes, about", err)
        self.assertEqual(self.calls(), [])
        self.assertFalse((self.out / "trials.jsonl").exists())

    def test_writes_all_its_files(self):
        err = self.run_tool()
        self.assertIn("at most 60 min", err)
        whole = json.loads((self.out / "all_trials.json").read_text(encoding="utf-8"))
        self.assertEqual(len(whole["trials"]), len(self.lines()))
        self.assertEqual({trial["status"] for trial in whole["trials"]}, {"ok"})
        for key in ("commit", "dirty"):
            self.assertIn(key, whole["environment"]["swarmkv"])
        with open(self.out / "all_trials.csv", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), len(whole["trials"]))
        self.assertEqual(list(rows[0]), trials.COLUMNS)
        median = json.loads((self.out / "median_run.json").read_text(encoding="utf-8"))
        self.assertEqual(set(median["arms"]), set(shapes.ARMS))
        self.assertEqual(list(median["original_names"]["shared"]), ORIGINAL_NAMES)
        page = (self.out / "report.md").read_text(encoding="utf-8")
        for words in (
            "## What this does not show",
            "Nothing: every planned trial ran.",
            "`~` = **extrapolated**, not measured",
            "Redundant_Prefill_Eliminated_Ms",
            "speedup(N) = N (P + b) / (P + N r)",
        ):
            self.assertIn(words, page)

    def test_goes_on_where_it_was_interrupted(self):
        process = self.start("--shapes", "original,length", mode="hang on snapshot")
        end = time.monotonic() + WATCHDOG_S
        while not ((self.out / "trials.jsonl").exists() and self.lines()) and time.monotonic() < end:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("the same command goes on from here", err)
        kept = self.lines()
        self.assertEqual([json.loads(line)["arm"] for line in kept], ["recompute"], "the arm that hung is not kept")
        (self.out / "trials.jsonl").write_text(kept[0] + "\n" + '{"shape": "orig', encoding="utf-8")  # torn

        self.log.unlink()
        self.run_tool("--shapes", "original,length")
        self.assertTrue(self.calls()[0].endswith("2 snapshot,device,shared"), "recompute is on disk")
        again = self.lines()
        self.assertEqual(again[0], kept[0])
        whole = json.loads((self.out / "all_trials.json").read_text(encoding="utf-8"))["trials"]
        self.assertEqual(len(whole), len({(t["point"], t["trial"], t["arm"]) for t in whole}))
        self.assertEqual(len(whole), len(again) - 1, "nothing but the torn line is without a trial")

        self.log.unlink()
        self.run_tool("--shapes", "original,length")
        self.assertEqual(self.calls(), [], "a complete campaign runs nothing")

    def test_shows_a_failing_arm_and_keeps_the_others(self):
        self.run_tool("--shapes", "original,agents", mode="device fails", status=1)
        page = (self.out / "report.md").read_text(encoding="utf-8")
        self.assertIn("| device | FAILED |", page)
        self.assertIn("**FAILED**: device: [handoff] the device keeps no state: in original-3501-2 (trial 1)", page)
        self.assertIn("| recompute |", page)
        self.log.unlink()
        self.run_tool("--shapes", "original,agents", status=1)
        self.assertEqual(self.calls(), [], "a failure is a result")
        self.run_tool("--shapes", "original,agents", "--retry-failed")
        self.assertTrue(all(" device" in call for call in self.calls()))
        self.assertNotIn("FAILED", (self.out / "report.md").read_text(encoding="utf-8"))

    def test_a_crash_fails_the_arms_that_did_not_answer(self):
        self.run_tool("--shapes", "original", mode="crash on snapshot", status=1)
        found = json.loads((self.out / "all_trials.json").read_text(encoding="utf-8"))["trials"]
        first = {t["arm"]: t for t in found if t["trial"] == 0}
        self.assertEqual(first["recompute"]["status"], "ok")
        for arm in ("snapshot", "device", "shared"):
            self.assertEqual(first[arm]["status"], "failed")
            self.assertIn("ended with 1: boom: it crashed", first[arm]["error"])

    def test_what_does_not_fit_into_the_time_shows_as_not_run(self):
        err = self.run_tool("--budget", "0.5", "--shapes", "original,agents", status=1)
        self.assertIn("did not fit into the time", err)
        page = (self.out / "report.md").read_text(encoding="utf-8")
        self.assertIn("not run: original-3501-2, recompute, 3 of 3 trials", page)
        self.assertTrue(self.calls(), "what is short enough runs")

    def test_publishes_between_the_marks_and_nowhere_else(self):
        page = self.folder / "page.md"
        text = "before\n<!-- measured:campaign:begin -->\nold\n<!-- measured:campaign:end -->\nafter\n"
        page.write_text(text, encoding="utf-8")
        self.run_tool("--shapes", "original", "--publish", page)
        found = page.read_text(encoding="utf-8")
        self.assertTrue(found.startswith("before\n<!-- measured:campaign:begin -->\n- "), found)
        self.assertTrue(found.endswith("\n<!-- measured:campaign:end -->\nafter\n"))
        self.assertNotIn("old", found)
        self.assertIn("### The original experiment", found)
        self.assertNotIn(str(self.folder), found, "no machine path")
        page.write_text("no marks", encoding="utf-8")
        err = self.run_tool("--shapes", "original", "--publish", page, status=2)
        self.assertIn("not exactly one pair of the marks", err)

    def test_the_documents_have_the_marks(self):
        text = (ROOT / "docs" / "benchmark.md").read_text(encoding="utf-8")
        for name in ("campaign", "peers"):
            for end in ("begin", "end"):
                self.assertEqual(text.count(f"<!-- measured:{name}:{end} -->"), 1)

    def test_refuses_to_mix_two_campaigns(self):
        self.run_tool("--shapes", "original")
        err = self.run_tool("--shapes", "original", "--seed", "7", status=2)
        self.assertIn("holds another campaign (seed differ)", err)

    @unittest.skipUnless(environment_for_plots(), "scripts/get-bench-env was not run")
    def test_plots_are_pictures_inside_of_all_reports(self):
        self.run_tool(plots=True, mode="device fails", status=1)
        names = [
            "first_token",
            "end_to_end",
            "prefill_cost",
            "consistency",
            "gain_over_agents",
            "wall_over_agents",
            "licence_agents",
            "gain_over_length",
        ]
        look = """import sys, PIL.Image
for path in sys.argv[1:]:
    image = PIL.Image.open(path).convert("RGB")
    colours = sorted(image.getcolors(1 << 24), reverse=True)
    assert image.width > 600 and image.height > 400, (path, image.size)
    strong = [c for n, c in colours if n > 50 and max(c) - min(c) > 60]
    assert len(strong) > 2, (path, strong)
"""
        paths = [self.out / f"{name}.png" for name in names]
        self.finish(self.launch([environment_for_plots(), "-c", look, *paths]))
        page = (self.out / "report.html").read_text(encoding="utf-8")
        self.assertEqual(page.count("data:image/png;base64,"), len(names))
        self.assertNotIn('src="http', page)
        self.assertEqual((self.out / "report.md").read_text(encoding="utf-8").count(".png)"), len(names))
        look = """import sys, docx
document = docx.Document(sys.argv[1])
text = " ".join(p.text for p in document.paragraphs)
assert len(document.inline_shapes) == int(sys.argv[2]), len(document.inline_shapes)
assert "What this does not show" in text and "**" not in text, text
"""
        self.finish(self.launch([environment_for_plots(), "-c", look, self.out / "report.docx", str(len(names))]))


@unittest.skipUnless(BIN, "SWARMKV_BIN is not set")
class RealCommand(ToolCase):
    """`swarmkv bench` itself, on the fake engine: what the stand-in only plays."""

    watchdog_s = WATCHDOG_S

    def test_every_scenario_runs_and_its_counters_are_right(self):
        for path in sorted((ROOT / "bench" / "scenarios").glob("*.yaml")):
            with self.subTest(path.name):
                process = self.launch([BIN, "bench", path, "--engine", "fake", "-r", "1", "-o", "jsonl", "-q"])
                lines = [json.loads(line) for line in self.finish(process)[0].splitlines()]
                self.assertEqual({line["arm"] for line in lines}, set(shapes.ARMS))
                self.assertEqual({line["status"] for line in lines}, {"finished"})

    def test_a_campaign_runs_to_its_end(self):
        campaign = [sys.executable, ROOT / "bench" / "campaign.py", "--swarmkv", BIN, "--engine", "fake", "--no-plots"]
        self.finish(self.launch([*campaign, "--out", self.out]))
        found = json.loads((self.out / "all_trials.json").read_text(encoding="utf-8"))["trials"]
        self.assertEqual({trial["status"] for trial in found}, {"ok"})
        original = [t for t in found if t["shape"] == "original" and t["trial"] == 0]
        computed = {t["arm"]: t["computed"] for t in original}
        own = sum(original[0]["suffix_tokens"])
        self.assertEqual(computed["recompute"], 2 * 3501 + own, "the document for each agent")
        for arm in ("snapshot", "device", "shared"):
            self.assertEqual(computed[arm], 3501 + own, "the document once")


if __name__ == "__main__":
    unittest.main()
