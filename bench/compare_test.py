#!/usr/bin/env python3
"""bench/compare.py on made-up benchmarks, and on commits of a made-up repository."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

COMPARE = pathlib.Path(__file__).resolve().with_name("compare.py")

# A benchmark program: answers as told, and writes its name where all of them do.
PROGRAM = """#!/usr/bin/env python3
import json, sys
out = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("--benchmark_out="))
with open({log!r}, "a") as log:
    log.write({name!r} + " " + " ".join(a for a in sys.argv[1:] if "_out" not in a) + "\\n")
runs = [dict(name=n, run_type="iteration", cpu_time=t, real_time=2 * t, time_unit="us")
        for n, t in {times!r}.items()]
json.dump(dict(benchmarks=runs), open(out, "w"))
"""

# A project whose only target is a benchmark program.
PROJECT = """cmake_minimum_required(VERSION 3.25)
project(made_up NONE)
configure_file(program.py bench/swarmkv_micro COPYONLY)
add_custom_target(swarmkv_micro)
"""


class Compare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.log = self.root / "log"

    def compare(self, *arguments, script=COMPARE):
        return subprocess.run([sys.executable, str(script), *map(str, arguments)], text=True,
                              capture_output=True, timeout=120, check=False)

    def json_file(self, name, **samples):
        runs = [{"name": key, "run_type": "iteration", "cpu_time": value, "real_time": value, "time_unit": "ns"}
                for key, values in samples.items() for value in values]
        runs += [{"name": key + "_median", "run_type": "aggregate", "cpu_time": 1, "real_time": 1,
                  "time_unit": "ns"} for key in samples]
        path = self.root / name
        path.write_text(json.dumps({"benchmarks": runs}), encoding="utf-8")
        return path

    def program(self, name, **times):
        path = self.root / name
        path.write_text(PROGRAM.format(log=str(self.log), name=name, times=times), encoding="utf-8")
        path.chmod(0o755)
        return path

    def row(self, done, name):
        self.assertEqual(done.returncode, 0, done.stderr)
        return next(line.split() for line in done.stdout.splitlines() if line.startswith(name + " "))

    def test_shows_the_median_ratio_and_its_range(self):
        old = self.json_file("old.json", a=[100, 100, 100], b=[10, 10, 10], c=[1000, 1000, 1000])
        new = self.json_file("new.json", a=[110, 300, 120], b=[9, 12, 10], c=[500, 600, 550])
        done = self.compare(old, new)
        self.assertEqual(self.row(done, "a"),
                         ["a", "100", "ns", "120", "ns", "1.200", "1.100", "3.000", "3", "slower"])
        self.assertEqual(self.row(done, "b"), ["b", "10", "ns", "10", "ns", "1.000", "0.900", "1.200", "3"])
        self.assertEqual(self.row(done, "c")[-1], "faster")
        self.assertNotIn("a_median", done.stdout)

    def test_one_run_is_no_verdict(self):
        done = self.compare(self.json_file("old.json", a=[1]), self.json_file("new.json", a=[2]))
        self.assertEqual(self.row(done, "a")[-1], "1")

    def test_names_what_only_one_side_has(self):
        done = self.compare(self.json_file("old.json", gone=[1], a=[1]), self.json_file("new.json", a=[1], more=[1]))
        self.assertIn("only in old: gone\nonly in new: more", done.stdout)

    def test_runs_two_programs_in_turn(self):
        old, new = self.program("first", a=1.5, b=4), self.program("second", a=3, b=4)
        done = self.compare(old, new, "--repetitions", 3, "--filter", "a|b", "--min-time", "0.01",
                            "--save", self.root / "kept")
        self.assertEqual(self.row(done, "a"),
                         ["a", "1.5", "us", "3", "us", "2.000", "2.000", "2.000", "3", "slower"])
        calls = self.log.read_text(encoding="utf-8").splitlines()
        self.assertEqual([call.split()[0] for call in calls], ["first", "second"] * 3)
        self.assertEqual(calls[0], "first --benchmark_filter=a|b --benchmark_min_time=0.01")
        self.assertEqual(len(list((self.root / "kept").glob("*.json"))), 6)
        self.assertIn("3 us", self.compare(old, new, "--metric", "real_time").stdout)

    def test_builds_two_commits_and_leaves_no_worktree(self):
        repository = self.root / "repository"
        (repository / "bench" / "micro").mkdir(parents=True)
        shutil.copy(COMPARE, repository / "bench")
        (repository / "bench" / "micro" / "some.cpp").write_text("", encoding="utf-8")
        (repository / "CMakeLists.txt").write_text(PROJECT, encoding="utf-8")

        def git(*arguments):
            name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
            return subprocess.run(["git", *name, *arguments], cwd=repository, text=True, check=True,
                                  capture_output=True, env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}).stdout

        git("init", "-q")
        for name, time in (("first", 1), ("second", 2)):
            self.program("program.py", a=time).rename(repository / "program.py")
            git("add", ".")
            git("commit", "-q", "-m", name)
        done = self.compare("HEAD~1", "HEAD", "--repetitions", 2, script=repository / "bench" / "compare.py")
        self.assertEqual(self.row(done, "a")[5], "2.000")
        self.assertEqual(len(git("worktree", "list").splitlines()), 1)

    def test_says_what_is_wrong(self):
        good, program = self.json_file("good.json", a=[1]), self.program("program", a=1)
        bad = self.root / "bad.json"
        bad.write_text("{", encoding="utf-8")
        failed = self.root / "failed.json"
        failed.write_text('{"benchmarks": [{"name": "a", "error_occurred": true, "error_message": "no match"}]}',
                          encoding="utf-8")
        for arguments, message in (
                ((good, program), "can only be compared with another JSON file"),
                ((good, self.root / "missing.json"), "missing.json is not a file of --benchmark_out"),
                ((good, bad), "bad.json is not a file of --benchmark_out"),
                ((good, failed), "a failed: no match"),
                (("no-such-commit", program), "neither a program nor a commit"),
                ((program, program, "--repetitions", 0), "must be 1 or more")):
            done = self.compare(*arguments)
            self.assertNotEqual(done.returncode, 0, arguments)
            self.assertIn(message, done.stderr)
            self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
