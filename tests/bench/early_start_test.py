#!/usr/bin/env python3
"""bench/early_start.py on swarmkv's fake engine. No speed is judged.

Needs SWARMKV_BIN = path of the command.
"""

import json
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(HERE)]
sys.dont_write_bytecode = True
import early_start  # noqa: E402
import stand_ins  # noqa: E402
from tool_case import ToolCase  # noqa: E402

BIN = os.environ.get("SWARMKV_BIN", "")
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = 120

SWARMKV = f'''\
    """The command itself, which tells how it was called."""
    import os, sys
    if sys.argv[1] == "run":
        with open(os.environ["STAND_IN_LOG"], "a") as log:
            print(os.path.basename(sys.argv[2]), *sys.argv[3:], file=log)
        if os.environ.get("STAND_IN_MODE") == "early fails" and sys.argv[2].endswith("early.yaml"):
            sys.exit("no room in the cache")
    os.execv("{BIN}", ["{BIN}", *sys.argv[1:]])
'''


class Tool(ToolCase):
    watchdog_s = WATCHDOG_S

    def setUp(self):
        super().setUp()
        self.log = self.folder / "log"
        self.swarmkv = stand_ins.program(self.folder, "swarmkv", SWARMKV)

    def run_tool(self, *extra, status=0, mode=""):
        words = ["--swarmkv", self.swarmkv, "--engine", "fake", "--trials", "2", "-n", "4", "-t", "1"]
        command = [sys.executable, ROOT / "bench" / "early_start.py", *words, "--out", self.out, *extra]
        return self.finish(self.launch(command, STAND_IN_MODE=mode, STAND_IN_LOG=str(self.log)), status)

    def calls(self):
        return self.log.read_text(encoding="utf-8").splitlines() if self.log.exists() else []

    def result(self):
        return json.loads((self.out / "early_start.json").read_text(encoding="utf-8"))

    def test_arms_take_turns_and_do_the_same_work(self):
        page, _ = self.run_tool()
        calls = self.calls()
        arms = [call.split()[0] for call in calls]
        self.assertEqual(arms, ["early.yaml", "waiting.yaml", "waiting.yaml", "early.yaml"])
        self.assertEqual(len({call.split(maxsplit=1)[1] for call in calls}), 1, "same flags")
        self.assertIn("-n 4 --ignore-eos --temp 0 -t 1 -tb 1", calls[0])
        early, waiting = (json.loads((self.out / f"{arm}.yaml").read_text()) for arm in early_start.ARMS)
        self.assertEqual(early["agents"]["first"].pop("ready_after"), 512)
        self.assertEqual(early, waiting, "nothing else differs")
        self.assertEqual((self.out / "early_start.md").read_text(encoding="utf-8") + "\n", page)

    def test_tells_ratio_first_tokens_and_what_was_computed(self):
        page, _ = self.run_tool()
        result = self.result()
        summary, samples = result["summary"], result["samples"]
        self.assertEqual(result["schema"], "swarmkv.early_start/1")
        self.assertEqual([s["status"] for s in samples], ["ok"] * 4)
        self.assertEqual(summary["ratio"]["wall_ms"]["n"], 2)
        for sample in samples:
            self.assertEqual(sample["document_computed"], sample["document_tokens"])
            if sample["arm"] == early_start.EARLY:
                self.assertLess(sample["first_ms"]["first"], sample["document_ready_ms"])
                self.assertLess(sample["first_ms"]["first"], sample["first_ms"]["second"])
        n = f"{samples[0]['document_tokens']:,}"
        self.assertRegex(page, rf"\| starts at 512 \| .* \| {n} \| {n} \|")
        self.assertRegex(page, r"the whole run takes \*\*[\d.]+ \([\d.]+ to [\d.]+\) times\*\* as long")

    def test_another_document_and_watermark(self):
        document = self.folder / "contract.txt"
        document.write_text("The buyer pays within 30 days.\n" * 20, encoding="utf-8")
        page, _ = self.run_tool("--document", document, "--watermark", "100", "--trials", "1")
        self.assertEqual(self.result()["settings"]["watermark"], 100)
        self.assertIn("starts at 100", page)
        self.assertNotIn(str(self.folder), page, "no machine path")

    def test_a_watermark_behind_the_end_compares_nothing_and_fails(self):
        document = self.folder / "contract.txt"
        document.write_text("Short.\n", encoding="utf-8")
        page, _ = self.run_tool("--document", document, status=1)
        self.assertIn("nothing starts early at 512", page)

    def test_a_failing_arm_shows_and_the_other_is_measured(self):
        page, _ = self.run_tool(mode="early fails", status=1)
        self.assertIn("- trial 1, early: ValueError: swarmkv run ended with 1: no room in the cache", page)
        summary = self.result()["summary"]
        self.assertEqual(summary["waiting"]["wall_ms"]["n"], 2)
        self.assertIsNone(summary["ratio"]["wall_ms"]["median"])

    def test_says_what_is_missing_before_it_measures(self):
        _, err = self.run_tool("--document", self.folder / "none.txt", status=2)
        self.assertIn("give another --document", err)
        self.run_tool("--trials", "0", status=2)
        self.assertEqual(self.calls(), [])


class Summary(unittest.TestCase):
    def test_ratios_are_paired_by_trial(self):
        samples = []
        for trial, (early, waiting) in enumerate(((110.0, 100.0), (220.0, 200.0), (90.0, 100.0))):
            for arm, wall in (("early", early), ("waiting", waiting)):
                times = {"wall_ms": wall, "first_ms": {"first": wall / 4, "second": wall / 2}}
                counts = {"document_computed": 7, "document_tokens": 7}
                samples.append({"arm": arm, "trial": trial, "status": "ok", **times, **counts})
        found = early_start.summarise(samples)
        self.assertEqual(found["ratio"]["wall_ms"], {"median": 1.1, "min": 0.9, "max": 1.1, "n": 3})
        self.assertEqual(found["early"]["first_ms"]["median"], 27.5)


if __name__ == "__main__":
    if not os.access(BIN, os.X_OK):
        sys.exit("SWARMKV_BIN does not name the swarmkv command")
    BIN = os.path.abspath(BIN)
    unittest.main()
