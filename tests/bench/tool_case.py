"""A test that runs programs: a folder of its own, and nothing left running behind it."""

import os
import pathlib
import subprocess
import tempfile
import unittest

from benchkit import places


def environment_for_plots():
    """The interpreter that scripts/get-bench-env made, or None; nothing is fetched here."""
    try:
        found = sorted(places.cache().glob("bench-env-*/bin/python"))
    except places.Missing:
        return None
    return found[-1] if found else None


class ToolCase(unittest.TestCase):
    watchdog_s = 0  # for a whole run; set by the test's module

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.out = self.folder / "out"

    def launch(self, command, **environment):
        process = subprocess.Popen(
            command,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment},
            text=True,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def finish(self, process, status=0):
        """Its standard output and error, once it has ended as it should."""
        out, err = process.communicate(timeout=self.watchdog_s)
        self.assertEqual(process.returncode, status, err + out)
        return out, err
