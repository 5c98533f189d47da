#!/usr/bin/env python3
"""A run that is killed at any moment leaves each of its files absent, as it was, or whole.

Needs SWARMKV_BIN = path of the command. SWARMKV_TEST_SEED repeats a run's moments, SWARMKV_TEST_PERCENT shortens it.
"""

import json
import os
import pathlib
import random
import re
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import cli_test  # noqa: E402
import report_schema  # noqa: E402

ROUNDS = max(3, 30 * int(os.environ.get("SWARMKV_TEST_PERCENT", "100")) // 100)
AGENTS = 12
REPORTS = ("r.json", "r.jsonl", "r.html")
OLD = "what stood here before\n"
# Between giving a whole file a name and renaming it there is this name (cli/report_file.cpp).
LEFT_OVER = re.compile(r"\.swarmkv\.\d+\.\d+\.tmp")


def pipeline():
    agents = {
        f"a{i}": {"prompt": f"What does part {i} say?", "output_file": f"out/a{i}.txt", "max_tokens": 20 + 20 * i}
        for i in range(AGENTS)
    }
    agents["memo"] = {"prompt": "Join {{ a0 }} and {{ a11 }}.", "output_file": "out/memo.txt", "max_tokens": 40}
    return json.dumps({"version": 1, "document": "contract.txt", "agents": agents})


class KilledTest(cli_test.CliTest):
    RUN = ("run", "p.yaml", "--engine", "fake", "--fake-delay-ms", "1", "--ignore-eos", "-np", "4", "-o", "jsonl",
           "--progress", "plain", *[word for name in REPORTS for word in ("--report", name)])

    def setUp(self):
        super().setUp()
        self.write("p.yaml", pipeline())
        self.names = [*REPORTS, *[f"out/{agent}.txt" for agent in [*(f"a{i}" for i in range(AGENTS)), "memo"]]]
        seed = int(os.environ.get("SWARMKV_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
        print(f"SWARMKV_TEST_SEED={seed}", flush=True)
        self.random = random.Random(seed)

    def text(self, name):
        try:
            return (self.folder / name).read_bytes().decode()
        except FileNotFoundError:
            return None

    def whole_run(self):
        """Seconds, and {answer file: text}: the fake engine's answers are always the same."""
        began = time.monotonic()
        with open(self.folder / "events", "wb") as events:
            process = self.start(*self.RUN, stdout=events)
            _, err = process.communicate(timeout=cli_test.WATCHDOG_S)
        self.assertEqual(process.returncode, 0, err.decode())
        took = time.monotonic() - began
        for name in REPORTS:
            self.check_report(name, self.text(name))
        answers = {name: self.text(name) for name in self.names if name not in REPORTS}
        self.assertNotIn(None, answers.values())
        return took, answers

    def check_report(self, name, text):
        if name == "r.json":
            self.assertEqual(report_schema.problems(json.loads(text)), [])
        elif name == "r.html":
            self.assertTrue(text.startswith("<!doctype html>"), text[:80])
            self.assertTrue(text.endswith("</html>\n"), text[-80:])
        else:
            self.assertTrue(text.endswith("\n"))
            events = [json.loads(line) for line in text.splitlines()]
            self.assertEqual([event["seq"] for event in events], list(range(len(events))))
            self.assertEqual((events[0]["type"], events[-1]["type"]), ("run.started", "run.finished"))

    def check_stream(self, text):
        """Events as they came, each on a whole line; the last one may be cut."""
        *lines, cut = text.split("\n")
        events = [json.loads(line) for line in lines]
        self.assertEqual([event["seq"] for event in events], list(range(len(events))))
        self.assertNotIn("\n", cut)

    def kill_somewhere(self, took):
        """Anywhere in the run; every other time close to its end, where files are written."""
        with open(self.folder / "events", "wb") as events:
            process = self.start(*self.RUN, stdout=events)
            if self.random.random() < 0.5:
                time.sleep(self.random.uniform(0, took))
            else:
                self.wait_for_line(process, self.random.choice(("a3: finished", "memo: finished")))
                time.sleep(self.random.uniform(0, 0.03))
            process.kill()
            process.communicate(timeout=cli_test.WATCHDOG_S)
        return process.returncode

    def prepare(self):
        """Of each file an old one, or none."""
        old = {}
        for name in self.names:
            old[name] = OLD if self.random.random() < 0.5 else None
            (self.folder / name).parent.mkdir(exist_ok=True)
            (self.folder / name).unlink(missing_ok=True)
            if old[name]:
                self.write(name, OLD)
        return old

    def left_over(self):
        known = {"contract.txt", "p.yaml", "events", *self.names}
        found = {str(p.relative_to(self.folder)) for p in self.folder.rglob("*") if p.is_file()} - known
        for name in found:
            self.assertRegex(pathlib.Path(name).name, rf"^{LEFT_OVER.pattern}$")
        return found

    def test_each_file_is_absent_or_as_it_was_or_whole(self):
        took, answers = self.whole_run()
        n_killed, n_whole, n_left = 0, 0, 0
        for number in range(ROUNDS):
            with self.subTest(round=number):
                old = self.prepare()
                n_killed += self.kill_somewhere(took) < 0
                for name in self.names:
                    found = self.text(name)
                    if found == old[name]:
                        continue
                    n_whole += 1
                    self.assertIsNotNone(found, f"{name} was there before and is gone")
                    if name in REPORTS:
                        self.check_report(name, found)
                    else:
                        self.assertEqual(found, answers[name], name)
                self.check_stream(self.text("events"))
                self.assertLessEqual(len(self.left_over()) - n_left, 1, "one run leaves at most one file")
                n_left = len(self.left_over())
        self.assertGreater(n_killed, 0, "no run was killed")
        self.assertGreater(n_whole, 0, "no run wrote anything before it was killed")
        print(f"{n_killed} of {ROUNDS} killed, {n_whole} files whole, {n_left} left over; a run takes {took:.2f} s")
        # Between a name and its renaming there are microseconds: one is put there by hand.
        self.write(".swarmkv.1.1.tmp", "half of")
        self.write("out/.swarmkv.1.1.tmp", "half of")
        self.whole_run()
        self.assertEqual(len(self.left_over()), n_left + 2, "what others left is nobody's business")


if __name__ == "__main__":
    if not os.access(cli_test.BIN, os.X_OK):
        sys.exit("SWARMKV_BIN does not name the swarmkv command")
    cli_test.BIN = os.path.abspath(cli_test.BIN)
    unittest.main()
