#!/usr/bin/env python3
"""bench/peers.py on stand-ins for llama-server and llama-batched-bench, and swarmkv's fake engine.

Needs SWARMKV_BIN = path of the command. No speed is judged.
"""

import json
import os
import pathlib
import signal
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "bench"), str(pathlib.Path(__file__).resolve().parent)]
sys.dont_write_bytecode = True
import stand_ins  # noqa: E402
from benchkit import child, stats, swarm  # noqa: E402
from peers import plan, render, summary  # noqa: E402
from tool_case import ToolCase  # noqa: E402

BIN = os.environ.get("SWARMKV_BIN", "")
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = 120


def alive(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


class Tool(ToolCase):
    watchdog_s = WATCHDOG_S

    def setUp(self):
        super().setUp()
        self.pids = self.folder / "pids"
        self.document = self.folder / "contract.txt"
        self.document.write_text("The seller delivers 40 barrels. " * 40, encoding="utf-8")
        self.server = stand_ins.program(self.folder, "server", stand_ins.SERVER)
        self.bench = stand_ins.program(self.folder, "bench", stand_ins.BENCH)

    def start(self, *extra, mode="", agents="1,2,4"):
        return self.launch(
            [
                sys.executable,
                ROOT / "bench" / "peers.py",
                "--swarmkv",
                BIN,
                "--engine",
                "fake",
                "-f",
                self.document,
                "--server",
                self.server,
                "--batched-bench",
                self.bench,
                "--agents",
                agents,
                "-n",
                "4",
                "--trials",
                "2",
                "-t",
                "1",
                "--server-limit",
                "2",
                "--out",
                self.out,
                *extra,
            ],
            STAND_IN_MODE=mode,
            STAND_IN_PIDS=str(self.pids),
        )

    def run_tool(self, *extra, status=0, **how):
        return self.finish(self.start(*extra, **how), status)

    def server_pids(self):
        return [int(line) for line in self.pids.read_text().split()] if self.pids.exists() else []

    def result(self):
        return json.loads((self.out / "peers.json").read_text(encoding="utf-8"))

    def test_compares_all_systems_and_marks_what_it_extrapolated(self):
        document = self.folder / "page.md"
        document.write_text("<!-- measured:peers:begin -->\n<!-- measured:peers:end -->\n", encoding="utf-8")
        page, _ = self.run_tool("--publish", document)
        self.assertIn("### Cold wave", document.read_text(encoding="utf-8"))
        result = self.result()
        cold = {(c["system"], c["n_agents"]): c for c in result["summary"]["waves"]["cold"]}
        tokens = cold["llama-server", 2]["prompt_computed"]["median"]
        self.assertGreater(tokens, 2 * 40 * 5, "the server reads the document once for each agent")
        self.assertTrue(cold["llama-server", 4]["extrapolated"])
        self.assertAlmostEqual(cold["llama-server", 4]["prompt_computed"]["median"], 2 * tokens, delta=tokens * 0.05)
        self.assertEqual(cold["llama-server", 4]["decode_tok_s"]["median"], None, "a speed is not extrapolated")
        self.assertIn("llama-server (extrapolated)", page)
        self.assertIn("**extrapolated**, not measured: llama-server was run with N = 1, 2", page)
        second = {(c["system"], c["n_agents"]): c for c in result["summary"]["waves"]["second"]}
        self.assertEqual(second["llama-server", 2]["prompt_computed"]["median"], 10, "five new tokens for each agent")
        self.assertLess(
            second["SwarmKV", 2]["prompt_computed"]["median"], cold["SwarmKV", 2]["prompt_computed"]["median"]
        )
        self.assertEqual((self.out / "peers.md").read_text(encoding="utf-8") + "\n", page)
        self.assertEqual([p["n_agents"] for p in result["summary"]["ceiling"]], [1, 2, 4])
        self.assertFalse([pid for pid in self.server_pids() if alive(pid)], "no server is left")

    def test_goes_on_where_it_stopped(self):
        self.run_tool("--waves", "cold")
        lines = (self.out / "samples.jsonl").read_text(encoding="utf-8").splitlines()
        kept = lines[:5]
        # An interruption leaves a torn line at the end.
        (self.out / "samples.jsonl").write_text("\n".join(kept) + "\n" + lines[5][:40], encoding="utf-8")
        self.run_tool("--waves", "cold")
        again = [line for line in (self.out / "samples.jsonl").read_text(encoding="utf-8").splitlines()]
        self.assertEqual(again[:5], kept, "what was measured stays")
        whole = [json.loads(line) for line in again[:5] + again[6:]]
        self.assertEqual(len({s["key"] for s in whole}), len(lines))
        self.assertEqual(len(whole), len(lines), "nothing was measured twice")

    def test_shows_a_failing_server_and_measures_the_others(self):
        for mode, words in (("refuse", "status 500"), ("short", "3 tokens came, 4 were asked for")):
            with self.subTest(mode):
                self.out = self.folder / mode
                page, _ = self.run_tool(mode=mode, status=1)
                self.assertIn("## What failed", page)
                self.assertIn(words, page)
                self.assertIn("| FAILED |", page)
                self.assertTrue(
                    all(c["trials"] == 2 for c in self.result()["summary"]["waves"]["cold"] if c["system"] == "SwarmKV")
                )

    def test_ends_the_server_when_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with self.subTest(number):
                self.pids.unlink(missing_ok=True)
                process = self.start("--agents", "2", mode="hang")
                end = time.monotonic() + WATCHDOG_S
                while not self.server_pids() and time.monotonic() < end:
                    time.sleep(0.02)
                pid = self.server_pids()[0]
                process.send_signal(number)
                process.communicate(timeout=WATCHDOG_S)
                while alive(pid) and time.monotonic() < end:
                    time.sleep(0.02)
                self.assertFalse(alive(pid), "the server outlived us")

    def test_a_wave_that_hangs_is_bounded(self):
        _, err = self.run_tool(
            "--waves", "cold", "--agents", "1", "--trials", "1", "--timeout", "3", mode="hang", status=1
        )
        self.assertIn("requests failed", err)

    def test_needs_enough_questions(self):
        few = self.folder / "few.txt"
        few.write_text("Who?\nWhat?\n", encoding="utf-8")
        _, err = self.run_tool("--questions", few, status=2)
        self.assertIn("8 questions are needed", err)


class Plan(unittest.TestCase):
    def test_systems_take_turns(self):
        jobs = list(plan.jobs([2], 4, 8, [plan.COLD, plan.SECOND]))
        firsts = [next(j for j in jobs if j.trial == trial).system for trial in range(4)]
        self.assertEqual(len(set(firsts)), 3, "each system begins a trial")
        self.assertEqual(len({job.key for job in jobs}), len(jobs))

    def test_slow_server_is_left_out_beyond_the_limit(self):
        jobs = list(plan.jobs([8, 50], 1, 8, [plan.COLD]))
        self.assertEqual([j.n_agents for j in jobs if j.system == plan.SERVER], [8])


def sample(system, n_agents, trial=0, wave=plan.COLD, **figures):
    base = {
        "status": "ok",
        "wall_ms": 1000.0,
        "prompt_computed": 100,
        "prompt_asked": 100,
        "decode_tok_s": 50.0,
        "total_tok_s": 20.0,
        "first_ms": [500.0] * n_agents,
    }
    return {"system": system, "n_agents": n_agents, "trial": trial, "wave": wave, **base, **figures}


class Summary(unittest.TestCase):
    def test_says_where_we_lose(self):
        samples = [
            sample(plan.SWARM, 1, wall_ms=1300.0),
            sample(plan.SERVER, 1, wall_ms=1000.0),
            sample(plan.CEILING, 1, decode_tok_s=60.0),
        ]
        found = summary.summarise(samples, [1], [plan.COLD], 8)
        self.assertEqual(
            [(x["what"], x["peer"]) for x in found["losses"]],
            [("wall time", plan.SERVER), ("decode speed", plan.CEILING)],
        )
        text = render._losses(found["losses"])
        self.assertIn("N = 1, cold, wall time: SwarmKV 1.30 s, llama-server 1.00 s: **1.30 times worse**", text)

    def test_ratios_are_paired_by_trial(self):
        samples = [
            sample(plan.SWARM, 2, 0, wall_ms=100.0),
            sample(plan.SERVER, 2, 0, wall_ms=200.0),
            sample(plan.SWARM, 2, 1, wall_ms=1000.0),
            sample(plan.SERVER, 2, 1, wall_ms=3000.0),
        ]
        ratio = summary.paired_ratio(samples, "wall_ms", plan.SERVER, plan.SWARM, 2)
        self.assertEqual((ratio["min"], ratio["max"], ratio["n"]), (2.0, 3.0, 2))

    def test_one_point_makes_no_line(self):
        samples = [sample(plan.SWARM, 1), sample(plan.SERVER, 1), sample(plan.SWARM, 50)]
        cells = summary.summarise(samples, [1, 50], [plan.COLD], 8)["waves"][plan.COLD]
        self.assertEqual(
            [(c["system"], c["n_agents"]) for c in cells], [(plan.SWARM, 1), (plan.SERVER, 1), (plan.SWARM, 50)]
        )

    def test_p99_needs_twenty_samples(self):
        self.assertIsNone(stats.percentile(range(19), 99))
        self.assertEqual(stats.percentile(range(1, 101), 99), 99)
        self.assertEqual(stats.percentile([5, 1, 3], 50), 3)


class Waves(unittest.TestCase):
    def test_a_document_read_again_is_charged_to_the_second_wave(self):
        def agent(name):
            return {
                "name": name,
                "usage": {"prompt_tokens": 110, "cached_tokens": 100, "completion_tokens": 4},
                "timeline": {"enqueued_ms": 1.0, "first_token_ms": 2.0, "finished_ms": 9.0},
                "metrics": {"output_tokens_per_s": 3.0},
            }

        report = {
            "agents": [agent("a0"), agent("b0")],
            "documents": [{"n_tokens": 100}],
            "model": {"load_ms": 1},
            "summary": {"prompt_tokens_computed": 220},
        }
        tool = swarm.Swarm("x", "doc", [], tempfile.gettempdir())
        tool._call = lambda *_: report
        first, second = tool.second(["q"], ["r"], 4, 1)
        self.assertEqual((first["prompt_computed"], second["prompt_computed"]), (110, 110))

    def test_pipeline_of_two_ranks_is_valid(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "two.yaml"
            path.write_text(
                swarm.two_ranks("/x/doc.txt", ['Say "a: b"', "Who # knows?"], ["{ x }", "- y"]), encoding="utf-8"
            )
            status, _, err = child.run([BIN, "validate", path], 30)
            self.assertEqual(status, 0, err)


class Questions(unittest.TestCase):
    def test_are_enough_and_begin_differently(self):
        lines = (ROOT / "bench" / "scenarios" / "questions.txt").read_text(encoding="utf-8").splitlines()
        words = [line.split()[0].strip(",") for line in lines]
        self.assertGreaterEqual(len(lines), 128, "two waves of 64")
        self.assertEqual(len(set(words)), len(words), "a shared beginning would be computed only once")


if __name__ == "__main__":
    unittest.main()
