#!/usr/bin/env python3
"""bench/decode.py on a stand-in for llama-batched-bench, and swarmkv's fake engine. No speed is judged.

Needs SWARMKV_BIN = path of the command. Plots are looked at where scripts/get-bench-env has been run.
"""

import json
import os
import pathlib
import re
import struct
import sys
import tempfile
import unittest
from unittest import mock

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(HERE)]
sys.dont_write_bytecode = True
import stand_ins  # noqa: E402
from benchkit import files, gguf, places, stats  # noqa: E402
from decode import arms, limits, models, plan, render, runner, summary  # noqa: E402
from decode.plan import GROUPED, GROUPED_AVX2, JUDGE, JUDGE_FA_OFF, STOCK  # noqa: E402
from tool_case import ToolCase, environment_for_plots  # noqa: E402

BIN = os.environ.get("SWARMKV_BIN", "")
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = 120
THREE = [GROUPED, STOCK, JUDGE]

SWARMKV = f'''\
    """The command itself, which tells how it was called. Which instructions this processor has does not matter."""
    import os, sys
    if sys.argv[1] == "bench":
        with open(os.environ["STAND_IN_LOG"], "a") as log:
            print("swarmkv", *sys.argv[2:], file=log)
    given = sys.argv[1:]
    if "--attention-target" in given:
        at = given.index("--attention-target")
        del given[at : at + 2]
    os.execv("{BIN}", ["{BIN}", *given])
'''


class Tool(ToolCase):
    watchdog_s = WATCHDOG_S

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.swarmkv = stand_ins.program(self.folder, "swarmkv", SWARMKV)
        self.bench = stand_ins.program(self.folder, "bench", stand_ins.BENCH)
        self.micro = stand_ins.program(self.folder, "micro", stand_ins.MICRO)

    def run_tool(self, *extra, status=0, mode="", plots=False, python=sys.executable):
        programs = ["--swarmkv", self.swarmkv, "--batched-bench", self.bench, "--micro", self.micro]
        small = ["--engine", "fake", "--agents", "1,2", "--prefix", "64", "-n", "16", "--trials", "2", "-t", "1"]
        process = self.launch(
            [
                *(python, ROOT / "bench" / "decode.py", *programs, *small, "--out", self.out),
                *([] if plots else ["--no-plots"]),
                *extra,
            ],
            STAND_IN_MODE=mode,
            STAND_IN_LOG=str(self.log),
        )
        return self.finish(process, status)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def result(self):
        return json.loads((self.out / "decode.json").read_text(encoding="utf-8"))

    def test_measures_all_arms_and_writes_its_files(self):
        page, _ = self.run_tool("--arms", ",".join(plan.ARMS))
        result = self.result()
        (group,) = result["summary"]
        self.assertEqual([cell["agents"] for cell in group["cells"]], [1, 2])
        for cell in group["cells"]:
            self.assertEqual(cell["arms"][JUDGE]["decode_tok_s"]["median"], 1000.0 * cell["agents"])
            known = {arm: figures["decode_tok_s"]["n"] for arm, figures in cell["arms"].items()}
            self.assertEqual(known, dict.fromkeys(plan.ARMS, 2))
            self.assertGreater(cell["ratios"][f"{GROUPED}/{JUDGE}"]["median"], 0)
        self.assertEqual(group["prefill"]["arms"][JUDGE]["n"], 4)
        self.assertEqual((self.out / "decode.md").read_text(encoding="utf-8") + "\n", page)
        self.assertAlmostEqual(result["settings"]["machine"]["read_bytes_per_s"], 20e9, delta=1)
        self.assertAlmostEqual(result["settings"]["machine"]["flop_per_s"], 200e9, delta=1)
        self.assertIn("## How it was measured, and what it does not show", page)
        self.assertIn("With `--attention auto`, the default, the decode steps of fewer than 64 agents", page)
        self.assertNotIn("asked", page, "of the fake engine nothing is")

    def test_gives_all_arms_the_same_work(self):
        self.run_tool("--arms", ",".join(plan.ARMS), "--trials", "1", "--agents", "2", "--no-limits")
        grouped, stock, judge, judge_off, avx2 = self.calls()
        for call, attention in (
            (grouped, "grouped"),
            (stock, "stock"),
            (avx2, "grouped --attention-target AVX2"),
        ):
            self.assertIn(f"--attention {attention} ", call)
            self.assertEqual("--attention-target" in call, call == avx2)
            for words in ("-npp 63", "-npl 2", "-ntg 17", "--suffix-tokens 1", "-t 1 -tb 1"):
                self.assertIn(words, call)
        for call, flash in ((judge, "on"), (judge_off, "off")):
            for words in ("-pps -kvu", "-npp 64", "-npl 2", "-ntg 16", f"-fa {flash}", "-t 1 -tb 1"):
                self.assertIn(words, call)

    def test_goes_on_where_it_stopped(self):
        self.run_tool()
        path = self.out / "samples.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines()
        kept = lines[:5]
        long_ago = "2001-02-03T04:05:06Z"
        kept[0] = kept[0].replace(self.result()["environment"]["date"], long_ago)
        # An interruption leaves a torn line at the end.
        path.write_text("\n".join(kept) + "\n" + lines[5][:40], encoding="utf-8")
        self.log.unlink()
        self.run_tool()
        again = path.read_text(encoding="utf-8").splitlines()
        self.assertEqual(again[:5], kept, "what was measured stays")
        self.assertEqual(self.result()["environment"]["date"], long_ago, "when it began")
        whole = [json.loads(line)["key"] for line in again[:5] + again[6:]]
        self.assertEqual(sorted(whole), sorted(json.loads(line)["key"] for line in lines), "nothing twice")
        self.assertEqual(len(self.calls()), len(lines) - 5)
        self.log.unlink()
        self.run_tool("-n", "17")
        self.assertEqual(len(self.calls()), 12, "other lengths are another measurement")

    def test_a_failing_arm_shows_and_the_others_are_measured(self):
        page, _ = self.run_tool(mode="judge fails at 2", status=1)
        self.assertIn("- (2 trials FAILED)", page)
        self.assertIn("fake/64/2/batched-bench/0: BatchedBenchFailed: llama-batched-bench ended with 1", page)
        (group,) = self.result()["summary"]
        alone, two = group["cells"]
        self.assertEqual(two["arms"][GROUPED]["decode_tok_s"]["n"], 2)
        self.assertIsNone(two["ratios"][f"{GROUPED}/{JUDGE}"]["median"])
        self.assertEqual(alone["ratios"][f"{GROUPED}/{JUDGE}"]["n"], 2)

    def test_prints_the_plan_and_runs_nothing(self):
        _, err = self.run_tool("--plan", "--agents", "1,8", "--prefix", "3500", "--budget", "0.1")
        self.assertRegex(err, r"1 trial of 6 processes, about 1 min \d+ s each")
        self.assertIn("one trial takes longer than 6 s, and is run all the same", err)
        self.assertFalse(self.out.exists())
        self.assertEqual(self.calls(), [])

    def test_publishes_between_the_marks(self):
        page = self.folder / "page.md"
        marks = "<!-- measured:decode:begin -->\nNothing yet\n<!-- measured:decode:end -->"
        page.write_text(f"a\n{marks}\nb\n", encoding="utf-8")
        self.run_tool("--publish", page)
        found = page.read_text(encoding="utf-8")
        self.assertTrue(found.startswith("a\n<!-- measured:decode:begin -->\n- "), found)
        self.assertIn("#### fake, P = 64", found)
        self.assertNotIn("Nothing yet", found)
        self.assertNotIn(str(self.folder), found, "no machine path")
        self.run_tool("--publish", page, "--mark", "other", status=2)
        self.assertEqual(page.read_text(encoding="utf-8"), found, "not between marks of another name")

    def test_says_what_is_missing_before_it_measures(self):
        _, err = self.run_tool("--micro", self.folder / "none", status=2)
        self.assertIn("or --no-limits", err)
        self.assertEqual(self.calls(), [])

    @unittest.skipUnless(environment_for_plots(), "scripts/get-bench-env was not run")
    def test_plots_are_pictures_and_are_published_with_the_figures(self):
        page = self.folder / "page.md"
        page.write_text("<!-- measured:decode:begin -->\n<!-- measured:decode:end -->\n", encoding="utf-8")
        every = ("--arms", ",".join(plan.ARMS), "--publish", page)
        self.run_tool(*every, plots=True, python=environment_for_plots(), mode="judge fails at 2", status=1)
        self.assertIn("](decode_fake_64.png)", page.read_text(encoding="utf-8"))
        look = """import sys, PIL.Image
image = PIL.Image.open(sys.argv[1]).convert("RGB")
assert image.width > 1000 and image.height > 400, image.size
colours = image.getcolors(1 << 24)
assert len([c for n, c in colours if n > 50 and max(c) - min(c) > 60]) > 2, colours[:20]
"""
        self.finish(self.launch([environment_for_plots(), "-c", look, self.folder / "decode_fake_64.png"]))


class Plan(unittest.TestCase):
    def test_arms_take_turns_and_stay_together(self):
        points, _ = plan.points({"m": None}, [64], [1, 2], 4)
        for trial in range(3):
            jobs = plan.trial_jobs(points, THREE, trial)
            self.assertEqual([job.point for job in jobs], [points[0]] * 3 + [points[1]] * 3)
            self.assertEqual([set(THREE)] * 2, [{job.arm for job in jobs[:3]}, {job.arm for job in jobs[3:]}])
        firsts = {plan.trial_jobs(points, THREE, trial)[0].arm for trial in range(3)}
        self.assertEqual(firsts, set(THREE), "each arm begins a trial")

    def test_leaves_out_what_does_not_fit_into_the_context(self):
        points, left_out = plan.points({"m": 8192}, [3500, 8159, 8160], [1, 6, 7, 128], 32)
        self.assertEqual([p.n_agents for p in points if p.prefix == 3500], [1, 6, 7, 128])
        self.assertEqual([p.n_agents for p in points if p.prefix == 8159], [1, 6, 7, 128], "cells do not matter")
        self.assertEqual([p for p in points if p.prefix == 8160], [])
        self.assertEqual(left_out, ["m, P = 8,160: P + 32 + 1 = 8,193 tokens, the model's context is 8,192"])

    def test_a_budget_cuts_trials_but_never_the_first(self):
        self.assertEqual(plan.fitting(5, 60.0, None), (5, ""))
        self.assertEqual(plan.fitting(5, 60.0, 300.0), (5, ""))
        self.assertEqual(plan.fitting(5, 60.0, 299.0), (4, "4 of 5 trials fit into 4 min 59 s"))
        self.assertEqual(plan.fitting(5, 60.0, 59.0)[0], 1)


class Runner(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.path = pathlib.Path(temporary.name) / "samples.jsonl"
        self.points, _ = plan.points({"m": None}, [64], [1, 2], 4)
        self.measured = []

    def runner(self):
        def measure(job):
            self.measured.append(job.key)
            return {"decode_tok_s": 1.0, "prefill_tok_s": 1.0}

        return runner.Runner(self.path, {"threads": 1}, {"m": None}, measure, lambda _: None)

    def first_trial_took(self, seconds):
        self.runner().run(self.points, THREE, 1, None)
        samples = [{**sample, "took_s": seconds} for sample in files.read_lines(self.path)]
        self.path.write_text("".join(json.dumps(sample) + "\n" for sample in samples), encoding="utf-8")
        self.measured.clear()

    def test_a_trial_that_would_exceed_the_time_is_not_begun(self):
        self.first_trial_took(1000.0)
        samples, trials = self.runner().run(self.points, THREE, 5, 3000.0)
        self.assertEqual((len(samples), trials, self.measured), (6, 1, []))

    def test_trials_that_fit_are_run(self):
        self.first_trial_took(0.0)
        samples, trials = self.runner().run(self.points, THREE, 2, 3000.0)
        self.assertEqual((len(samples), trials, len(self.measured)), (12, 2, 6))

    def test_the_first_trial_is_run_whatever_the_budget(self):
        samples, trials = self.runner().run(self.points, THREE, 5, 1e-9)
        self.assertEqual((len(samples), trials), (6, 1))

    def test_the_machine_is_measured_once(self):
        self.assertEqual(self.runner().once("machine", lambda: {"speed": 1})["speed"], 1)
        self.assertEqual(self.runner().once("machine", lambda: {"speed": 2})["speed"], 1)


def sample(arm, n_agents, trial, speed, prefill=100.0, **how):
    figures = {"status": "ok", "decode_tok_s": speed, "prefill_tok_s": prefill, "model": "m", "prefix": 3500}
    return {"key": f"{arm}/{n_agents}", "arm": arm, "agents": n_agents, "trial": trial, **figures, **how}


MODEL = gguf.Model(
    context=8192,
    layers=2,
    heads=4,
    kv_heads=1,
    key_length=8,
    value_length=8,
    weight_bytes=10_000,
    matrix_params=5_000,
    odd="",
)
MACHINE = {"read_bytes_per_s": 1e6, "flop_per_s": 1e8}


class Summary(unittest.TestCase):
    def of(self, samples, prefix=3500, model=MODEL, agents=(8,), measured=THREE, asked_models=("m",)):
        points, _ = plan.points({"m": None}, [prefix], agents, 3)
        samples = [{**s, "prefix": prefix} for s in samples]
        return summary.summarise(samples, points, measured, 3, {"m": model}, asked_models, MACHINE)[0]

    def test_ratios_are_paired_by_trial_and_their_median_is_checked(self):
        speeds = {GROUPED: (300.0, 10.0, 500.0), JUDGE: (100.0, 5.0, 200.0)}
        samples = [sample(arm, 8, trial, v) for arm, values in speeds.items() for trial, v in enumerate(values)]
        (cell,) = self.of(samples)["cells"]
        self.assertEqual(cell["ratios"][f"{GROUPED}/{JUDGE}"], {"median": 2.5, "min": 2.0, "max": 3.0, "n": 3})
        self.assertEqual((cell["asked"], cell["holds"]), ({GROUPED: 2.2}, {GROUPED: True}))
        group = self.of([sample(GROUPED, 8, 0, 219.0), sample(JUDGE, 8, 0, 100.0)])
        (cell,) = group["cells"]
        self.assertIs(cell["holds"][GROUPED], False)
        self.assertIn("**NO**", render.verdict(cell["holds"][GROUPED]))
        self.assertRegex(render.speeds(group, THREE), r"\| asked \| holds \|\n.*\n.*\| >= 2.2 \| \*\*NO\*\* \|$")

    def test_each_arm_is_asked_its_own_ratio(self):
        measured = [GROUPED, JUDGE, GROUPED_AVX2]
        samples = [sample(GROUPED, n, 0, 250.0) for n in (8, 16)]
        samples += [sample(GROUPED_AVX2, n, 0, 190.0) for n in (8, 16)]
        samples += [sample(JUDGE, n, 0, 100.0) for n in (8, 16)]
        group = self.of(samples, agents=(8, 16), measured=measured)
        eight, sixteen = group["cells"]
        self.assertEqual(eight["ratios"][f"{GROUPED_AVX2}/{JUDGE}"]["median"], 1.9)
        self.assertEqual((eight["asked"], eight["holds"]), ({GROUPED: 2.2}, {GROUPED: True}))
        self.assertEqual(sixteen["asked"], {GROUPED: 2.6, GROUPED_AVX2: 1.8})
        self.assertEqual(sixteen["holds"], {GROUPED: False, GROUPED_AVX2: True})
        head, _, *rows = render.speeds(group, measured).splitlines()
        self.assertTrue(head.endswith("| asked | holds | asked of grouped-avx2 | holds |"), head)
        self.assertTrue(rows[0].endswith("| >= 2.2 | yes | - | - |"), rows[0])
        self.assertTrue(rows[1].endswith("| >= 2.6 | **NO** | >= 1.8 | yes |"), rows[1])
        self.assertEqual({row.count("|") for row in rows}, {head.count("|")})

    def test_nothing_is_asked_of_another_model(self):
        samples = [sample(GROUPED, 8, 0, 250.0), sample(JUDGE, 8, 0, 100.0)]
        settings = {"llama_commit": "c", "models": {}, "n_predict": 3, "threads": 1, "trials": 1, "command": "x"}
        settings |= {"machine": None, "left_out": [], "arms": THREE}

        def shown(group):
            with mock.patch("benchkit.text.whereabouts", return_value=[]):
                return render.figures({}, settings, [group], {})

        page = shown(self.of(samples))
        self.assertEqual(page.count("asked"), 2, "in the table, of prefill")
        self.assertIn("the project asks of m: of decode speed at P = 3,500", page)
        group = self.of(samples, asked_models=("another",))
        page = shown(group)
        for word in ("ask", "holds", "yes"):
            self.assertNotIn(word, page)
        self.assertIn("grouped / batched-bench, pair by pair: 1.00.", page)
        (cell,) = group["cells"]
        self.assertEqual((cell["asked"], cell["holds"]), ({}, {}))
        self.assertEqual((group["prefill"]["asked"], group["prefill"]["holds"]), (None, None))

    def test_nothing_is_asked_at_other_lengths(self):
        (cell,) = self.of([sample(GROUPED, 8, 0, 100.0), sample(JUDGE, 8, 0, 100.0)], prefix=512)["cells"]
        self.assertEqual((cell["asked"], cell["holds"]), ({}, {}))
        agents = (1, 2, 8, 16, 32, 50, 64, 100, 128)
        asked = [plan.asked(GROUPED, 3500, n) for n in agents]
        self.assertEqual(asked, [1, 1.5, 2.2, 2.6, 2.8, 2.8, 1.8, 1.8, None])
        self.assertEqual([n for n in agents if plan.asked(GROUPED_AVX2, 3500, n) == 1.8], [16, 32, 50])
        self.assertEqual([n for n in agents if plan.asked(GROUPED_AVX2, 3500, n)], [16, 32, 50])
        self.assertEqual([plan.asked(arm, 3500, 8) for arm in (STOCK, JUDGE, JUDGE_FA_OFF)], [None] * 3)

    def test_what_was_not_measured_is_not_judged(self):
        (cell,) = self.of([sample(GROUPED, 8, 0, 100.0), sample(JUDGE, 8, 1, 100.0)])["cells"]
        self.assertIsNone(cell["ratios"][f"{GROUPED}/{JUDGE}"]["median"])
        self.assertEqual(cell["holds"], {GROUPED: None})

    def test_prefill_is_compared_pair_by_pair_over_all_agents(self):
        samples = [sample(GROUPED, n, 0, 1.0, prefill=p) for n, p in ((1, 110.0), (8, 90.0))]
        samples += [sample(JUDGE, n, 0, 1.0, prefill=100.0) for n in (1, 8)]
        found = self.of(samples, agents=(1, 8))["prefill"]
        self.assertEqual((found["ratio"]["min"], found["ratio"]["max"], found["ratio"]["n"]), (0.9, 1.1, 2))
        self.assertIs(found["holds"], True)
        self.assertIs(self.of(samples[1:], agents=(1, 8))["prefill"]["holds"], False)

    def test_share_of_the_limits(self):
        # 3 steps: a row sees (3 + 1) / 2 = 2 tokens of its own on average. 2 layers, 8 + 8 halves a cell: 64 bytes.
        limit = limits.of_step(MODEL, MACHINE, 100, 4, 3)
        self.assertEqual(limit["bytes"], 10_000 + 64 * (100 + 4 * 2))
        self.assertEqual(limit["flop"], 4 * (2 * 5_000 + 4 * 102 * 4 * 8 * 2))
        self.assertAlmostEqual(limit["read_ms"], 16.912)
        self.assertAlmostEqual(limit["compute_ms"], 1.44448)
        self.assertEqual((limit["limit_ms"], limit["bound"]), (limit["read_ms"], "reading"))
        slow = {**MACHINE, "flop_per_s": 1e6}
        self.assertEqual(limits.of_step(MODEL, slow, 100, 4, 3)["bound"], "arithmetic")
        (cell,) = self.of([sample(GROUPED, 4, 0, 40.0)], agents=(4,), prefix=100)["cells"]
        self.assertAlmostEqual(cell["limit"]["step_ms"], 100.0)
        self.assertAlmostEqual(cell["limit"]["share"], 0.16912)

    def test_no_share_is_made_up_for_a_model_that_the_formula_does_not_describe(self):
        odd = gguf.Model(**{**MODEL.__dict__, "odd": "some of its layers see a window"})
        group = self.of([sample(GROUPED, 8, 0, 40.0)], model=odd)
        self.assertIsNone(group["cells"][0]["limit"])
        self.assertIn("not given for this model: some of its layers see a window", render.shares(group))

    def test_paired_ratio_knows_only_trials_that_both_have(self):
        ratio = stats.paired_ratio({0: 4.0, 1: 1.0}, {0: 2.0, 2: 1.0})
        self.assertEqual(ratio, {"median": 2, "min": 2, "max": 2, "n": 1})


def gguf_bytes(values, tensors):
    """A file of (key, type, value) and (name, shape, bytes); type 4: a number, 8: text, 9: texts."""

    def text(s):
        return struct.pack("<Q", len(s)) + s.encode()

    def value(kind, v):
        if kind == 9:
            return struct.pack("<IQ", 8, len(v)) + b"".join(map(text, v))
        return text(v) if kind == 8 else struct.pack("<I", v)

    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values))
    for key, kind, v in values:
        out += text(key) + struct.pack("<I", kind) + value(kind, v)
    offset = 0
    for name, shape, size in tensors:
        out += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", n) for n in shape)
        out += struct.pack("<IQ", 2, offset)
        offset += -(-size // 32) * 32
    return out + b"\0" * (-len(out) % 32) + b"\0" * offset


VALUES = [
    ("general.architecture", 8, "tiny"),
    ("tokenizer.ggml.tokens", 9, ["a", "bc"]),
    ("tiny.context_length", 4, 512),
    ("tiny.block_count", 4, 2),
    ("tiny.embedding_length", 4, 32),
    ("tiny.attention.head_count", 4, 4),
    ("tiny.attention.head_count_kv", 4, 2),
]
TENSORS = [("token_embd.weight", (32, 100), 3200), ("norm.weight", (32,), 128), ("blk.0.ffn_up.weight", (32, 64), 2048)]


class Gguf(unittest.TestCase):
    def read(self, values=VALUES, tensors=TENSORS, data=None):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "model.gguf"
            path.write_bytes(gguf_bytes(values, tensors) if data is None else data)
            return gguf.read(path)

    def test_reads_what_a_step_reads_and_computes(self):
        model = self.read()
        self.assertEqual((model.context, model.layers, model.heads, model.kv_heads), (512, 2, 4, 2))
        self.assertEqual((model.key_length, model.value_length), (8, 8), "32 / 4 heads")
        self.assertEqual(model.kv_bytes_per_cell, 2 * 2 * 2 * (8 + 8))
        self.assertEqual(model.weight_bytes, 3200 + 128 + 2048)
        self.assertEqual(model.matrix_params, 32 * 100 + 32 * 64)
        self.assertEqual(model.odd, "")

    def test_an_embedding_that_is_only_looked_up_is_not_counted(self):
        model = self.read(tensors=[*TENSORS, ("output.weight", (32, 100), 6400)])
        self.assertEqual(model.weight_bytes, 128 + 2048 + 6400)
        self.assertEqual(model.matrix_params, 32 * 100 + 32 * 64)

    def test_says_what_its_figures_do_not_describe(self):
        self.assertIn("window", self.read(values=[*VALUES, ("tiny.attention.sliding_window", 4, 128)]).odd)
        self.assertIn("experts", self.read(values=[*VALUES, ("tiny.expert_count", 4, 8)]).odd)

    def test_refuses_what_it_cannot_read(self):
        whole = gguf_bytes(VALUES, TENSORS)
        for data in (b"", b"GGML" + whole[4:], whole[:200], gguf_bytes(VALUES[1:], TENSORS)):
            with self.assertRaises(places.Missing):
                self.read(data=data)


class Models(ToolCase):
    def setUp(self):
        super().setUp()
        environment = mock.patch.dict(os.environ, {"SWARMKV_CACHE": str(self.folder)})
        environment.start()
        self.addCleanup(environment.stop)
        os.environ.pop("SWARMKV_MODEL", None)
        self.small = self.folder / "models" / places.MODEL
        self.small.parent.mkdir()
        self.small.write_text("the small one", encoding="utf-8")
        self.quantize = stand_ins.program(self.folder, "quantize", stand_ins.QUANTIZE)

    def test_a_name_is_a_file_or_a_quantisation(self):
        found = models.labels(["q4_1", "Q8_0", str(self.quantize)])
        self.assertEqual(found, {"q4_1": self.small, "q8_0": None, "quantize": self.quantize})
        self.assertEqual([models.is_asked(path) for path in found.values()], [True, False, False])
        with self.assertRaisesRegex(places.Missing, "q3_0 is neither a file nor a quantisation"):
            models.labels(["q3_0"])

    def test_makes_another_quantisation_once(self):
        made = models.make("q8_0", self.quantize)
        self.assertEqual(made.read_text(encoding="utf-8"), "made of the small one")
        self.assertEqual(made.name, places.MODEL.replace("Q4_1", "Q8_0"))
        self.assertEqual(models.make("q8_0", self.folder / "not there"), made)

    def test_leaves_no_half_model_behind(self):
        os.environ["STAND_IN_MODE"] = "quantize fails"
        with self.assertRaisesRegex(places.Missing, "llama-quantize ended with 1: no such tensor"):
            models.make("q8_0", self.quantize)
        self.assertEqual(list((self.folder / "requantized").iterdir()), [])


class Documents(unittest.TestCase):
    def test_have_the_marks(self):
        text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
        for end in ("begin", "end"):
            self.assertEqual(text.count(f"<!-- measured:decode:{end} -->"), 1)

    def test_the_machine_benchmarks_have_the_names_and_counters_that_are_read(self):
        source = (ROOT / "bench" / "micro" / "machine_bench.cpp").read_text(encoding="utf-8")
        self.assertEqual(set(re.findall(r"^BENCHMARK\((\w+)\)", source, re.M)), {limits.READ, limits.MULTIPLY})
        self.assertEqual(set(re.findall(r'"(s_per_\w+)"', source)), {"s_per_byte", "s_per_flop"})


class Swarm(unittest.TestCase):
    def test_a_sample_that_is_not_the_work_asked_for_fails(self):
        point = plan.Point("m", 64, 2)
        tool = arms.Arms("swarmkv", "bench", {"m": []}, [], 4, 1)
        line = {"status": "finished", "completion_tokens": 10, "decode_tokens_per_s": 5.0, "document_ms": [630.0]}
        cases = [
            (line, None),
            ({**line, "completion_tokens": 9}, "9 tokens came, 10 were asked for"),
            ({**line, "status": "failed", "error": "no room"}, "no room"),
        ]
        for printed, words in cases:
            with mock.patch("benchkit.child.run", return_value=(0, json.dumps(printed) + "\n", "")):
                job = plan.Job(point, GROUPED, 0, 0)
                if words is None:
                    self.assertEqual(tool.measure(job), {"decode_tok_s": 5.0, "prefill_tok_s": 100.0})
                else:
                    self.assertRaisesRegex(ValueError, words, tool.measure, job)
        with mock.patch("benchkit.child.run", return_value=(1, "", "error: boom")):
            self.assertRaisesRegex(ValueError, "ended with 1 and printed no sample: error: boom", tool.measure, job)


if __name__ == "__main__":
    unittest.main()
