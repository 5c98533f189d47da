#!/usr/bin/env python3
"""scripts/get-bench-env under failure, and that its list is pinned. Nothing is fetched."""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
REQUIREMENTS = ROOT / "bench" / "requirements.txt"
VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"


class GetBenchEnv(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        self.bin, self.cache = self.root / "bin", self.root / "cache"
        self.bin.mkdir()
        self.python3(f'exec {sys.executable} "$@"')

    def python3(self, body):
        path = self.bin / "python3"
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)

    def run_script(self, *arguments, **more):
        environment = {
            "PATH": f"{self.bin}:{os.environ['PATH']}",
            "HOME": str(self.root),
            "SWARMKV_CACHE": str(self.cache),
            "LC_ALL": "C",
            **more,
        }
        return subprocess.run(
            [shutil.which("bash"), ROOT / "scripts" / "get-bench-env", *arguments],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )

    def environments(self):
        return [path for path in self.cache.glob("bench-env-*") if path.suffix != ".stamp"]

    def expect_failure(self, done, words):
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_takes_no_arguments(self):
        self.expect_failure(self.run_script("--now"), "takes no arguments")

    def test_offline_says_what_to_do(self):
        done = self.run_script(SWARMKV_OFFLINE="1")
        self.expect_failure(done, "unset it once and run scripts/get-bench-env")
        self.assertEqual(self.environments(), [])

    def test_another_python_is_refused_by_name(self):
        self.python3('case "$*" in *version_info*) echo 3.9;; esac')
        self.expect_failure(self.run_script(), "python3 is 3.9, but bench/requirements.txt has wheels for 3.11 to 3.14")

    def test_a_failed_fetch_leaves_nothing_half_made(self):
        self.python3(
            'case "$*" in *" install "*) echo "no route to host" >&2; exit 1;; esac\n' + f'exec {sys.executable} "$@"'
        )
        done = self.run_script()
        self.expect_failure(done, "could not fetch the Python packages for plots")
        self.assertIn("pip: no route to host", done.stderr)
        self.assertEqual(self.environments(), [])

    def test_quick_when_it_is_there(self):
        key = hashlib.sha256(REQUIREMENTS.read_bytes()).hexdigest()[:12]
        folder = self.cache / f"bench-env-{VERSION}-{key}"
        (folder / "bin").mkdir(parents=True)
        python = folder / "bin" / "python"
        python.write_text("", encoding="utf-8")
        python.chmod(0o755)
        folder.with_name(folder.name + ".stamp").write_text("", encoding="utf-8")
        self.python3('case "$*" in *pip*) exit 9;; esac\n' + f'exec {sys.executable} "$@"')
        done = self.run_script()
        self.assertEqual((done.returncode, done.stdout), (0, f"{python}\n"), done.stderr)


class Requirements(unittest.TestCase):
    def test_everything_is_pinned_and_has_a_hash(self):
        text = re.sub(r"^#.*\n", "", REQUIREMENTS.read_text(encoding="utf-8"), flags=re.M)
        entries = text.replace("\\\n", " ").splitlines()
        self.assertGreater(len(entries), 10)
        for entry in entries:
            self.assertRegex(entry, r"^[a-z0-9-]+==[0-9][0-9a-z.]*( +--hash=sha256:[0-9a-f]{64})+$")


if __name__ == "__main__":
    unittest.main()
