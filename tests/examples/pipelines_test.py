#!/usr/bin/env python3
"""Runs the pipelines of examples/ to their end and looks at what they are there to show.

Usage: pipelines_test.py fake|model [CLASS...]   needs SWARMKV_BIN = path of the command

`fake` takes no time and has no mind: everything but the answers is real. `model` is the small model
at SWARMKV_TEST_SMOLLM2, with the long document shortened and fewer tokens an answer, so that a run
takes seconds; what the answers say is not judged.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BIN = os.environ.get("SWARMKV_BIN", "")
MODEL = os.environ.get("SWARMKV_TEST_SMOLLM2", "")
ROOT = pathlib.Path(__file__).resolve().parents[2]
ENGINE = "fake"
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = {"fake": 60, "model": 600}
# Bytes of the licence, into section 3.1. What a pipeline starts before (ready_after) stands in them.
SHORT_LICENCE = 5600


class PipelineTest(unittest.TestCase):
    """One pipeline, in a copy of examples/ that it may write into."""

    file = ""
    quick = []  # what makes a run on the model short

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name) / "examples"
        shutil.copytree(ROOT / "examples", self.folder, ignore=shutil.ignore_patterns("out", "*.cpp"))
        source = pathlib.Path("src/engine/gguf_walk.cpp")  # code-audit.yaml reads it from its place
        (self.folder.parent / source).parent.mkdir(parents=True)
        shutil.copy(ROOT / source, self.folder.parent / source)
        if ENGINE == "model":
            licence = self.folder / "documents" / "MPL-2.0.txt"
            licence.write_bytes(licence.read_bytes()[:SHORT_LICENCE])

    def swarmkv(self, *args):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("SWARMKV_")}
        return subprocess.run([BIN, *args], cwd=self.folder, env=environment, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=WATCHDOG_S[ENGINE], check=False)

    def run_pipeline(self, *args):
        engine = ["--engine", "fake"] if ENGINE == "fake" else ["-m", MODEL, *self.quick]
        done = self.swarmkv("run", self.file, "-o", "json", *engine, *args)
        self.assertEqual(done.returncode, 0, done.stderr + done.stdout)
        report = json.loads(done.stdout)
        self.agents = {agent["name"]: agent for agent in report["agents"]}
        self.documents = {document["name"]: document for document in report["documents"]}
        for agent in report["agents"]:
            self.assertEqual(agent["status"], "finished", agent)
        self.assertGreater(report["summary"]["prompt_tokens_reused"],
                           report["summary"]["prompt_tokens_computed"],
                           "agents share more than they compute")
        for document in report["documents"]:
            self.assertEqual(document["computed_tokens"], document["n_tokens"],
                             "a document is computed once")
        return report

    def check_file(self):
        """Nothing in a shipped pipeline is worth a warning."""
        done = self.swarmkv("validate", "--strict", self.file)
        self.assertEqual(done.returncode, 0, done.stderr)

    def assert_continues(self, name, parent):
        """The turn computed its own question and the parent's last token, not what stood before."""
        turn, before = self.agents[name], self.agents[parent]
        self.assertEqual(turn["continues"], parent)
        self.assertGreaterEqual(turn["usage"]["cached_tokens"], before["usage"]["prompt_tokens"])

    def assert_starts_early(self, name, document):
        seen = self.agents[name]["ready_after"]
        self.assertGreater(seen, 0)
        self.assertLess(seen, self.documents[document]["n_tokens"])
        readers = [agent["timeline"]["prefix_ready_ms"] for agent in self.agents.values()
                   if agent["ready_after"] is None and not agent["needs"]]
        self.assertLessEqual(self.agents[name]["timeline"]["prefix_ready_ms"], min(readers))


class TwoReadersTest(PipelineTest):
    file = "two-readers.yaml"
    quick = ["-n", "12"]

    def test_runs(self):
        self.check_file()
        self.run_pipeline()
        self.assertEqual(self.agents["verdict"]["needs"], ["permissive", "strict"])


class DraftAndReviseTest(PipelineTest):
    file = "draft-and-revise.yaml"
    quick = ["-n", "12"]

    def test_runs(self):
        self.check_file()
        self.run_pipeline()
        self.assertEqual(self.agents["final"]["needs"], ["draft", "critique"])


class LicenceReviewTest(PipelineTest):
    file = "licence-review.yaml"
    quick = ["-n", "12"]

    def test_runs(self):
        self.check_file()
        report = self.run_pipeline()
        self.assertEqual(len(report["agents"]), 9)
        self.assertEqual(self.agents["memo"]["needs"], ["obligations", "patents", "termination"])
        self.assertGreater(report["summary"]["mean_decode_batch"], 2, "the eight decode together")


class LicenceMemoTest(PipelineTest):
    file = "licence-memo.yaml"
    quick = ["-n", "12"]

    def test_runs(self):
        self.check_file()
        self.run_pipeline("--var", "reader=our lawyers")
        self.assertEqual(self.agents["memo"]["needs"],
                         ["obligations", "patents", "termination", "compatibility"])
        self.assert_starts_early("subject", "licence")
        self.assert_starts_early("terms", "licence")
        self.assert_continues("headline", "memo")
        self.assert_continues("critic", "memo")
        self.assert_continues("revised", "critic")


class CodeAuditTest(PipelineTest):
    file = "code-audit.yaml"
    quick = ["--set", "agents.purpose.max_tokens=12", "--set", "agents.triage.max_tokens=12"]

    def test_runs(self):
        self.check_file()
        if ENGINE == "model":  # one finding each is enough to see that it is one
            path = self.folder / "schemas" / "findings.json"
            form = json.loads(path.read_text())
            form["properties"]["findings"].update(minItems=1, maxItems=1)
            path.write_text(json.dumps(form))
        self.run_pipeline()
        for name in ("bounds", "arithmetic", "failures"):
            findings = self.agents[name]["json"]["findings"]
            self.assertLessEqual(len(findings), 2)
            for finding in findings:
                self.assertEqual(set(finding), {"function", "severity", "problem"})
        if ENGINE == "model":
            self.assertEqual(len(findings), 1)


class PatentClaimsTest(PipelineTest):
    file = "patent-claims.yaml"
    quick = ["--set", "defaults.max_tokens=12", "--set", "agents.field.max_tokens=12",
             "--set", "agents.opinion.max_tokens=12",
             "--set", "agents.parts.json_schema.properties.parts.maxItems=2"]

    def test_runs(self):
        self.check_file()
        self.run_pipeline("--var", "product=a churn")
        self.assert_starts_early("field", "patent")
        self.assert_continues("claim_2", "claim_1")
        parts = self.agents["parts"]["json"]["parts"]
        self.assertGreaterEqual(len(parts), 1)
        for part in parts:
            self.assertEqual(set(part), {"letter", "name"})


class MeetingMinutesTest(PipelineTest):
    file = "meeting-minutes.yaml"
    quick = ["--set", "defaults.max_tokens=12", "--set", "agents.mail.max_tokens=12",
             "--set", "agents.action_items.json_schema.properties.actions.maxItems=2"]

    def mail(self):
        return (self.folder / "out" / "meeting-mail.txt").read_text().rstrip("\n")

    def test_runs(self):
        self.check_file()
        self.run_pipeline("--var", "reader=Alice")
        self.assertEqual(self.agents["decisions"]["reads"], ["minutes"])
        self.assertEqual(self.agents["carried_over"]["reads"], ["minutes", "last_actions"])
        for action in self.agents["action_items"]["json"]["actions"]:
            self.assertEqual(set(action), {"owner", "task", "due"})
        self.assertEqual(self.mail(), self.agents["mail"]["text"].rstrip("\n"))

    def test_writes_the_mail_without_the_old_list(self):
        if ENGINE == "model":
            self.skipTest("the wiring is the same; the fake engine shows it at once")
        self.run_pipeline("--exclude", "carried_over")
        self.assertNotIn("carried_over", self.agents)
        self.assertEqual(self.mail(), self.agents["mail"]["text"].rstrip("\n"))


class AllPipelinesTest(unittest.TestCase):
    def test_each_has_a_test_and_a_line_in_the_readme(self):
        files = {path.name for path in (ROOT / "examples").glob("*.yaml")}
        tested = {case.file for case in PipelineTest.__subclasses__()}
        self.assertEqual(files, tested)
        readme = (ROOT / "examples" / "README.md").read_text()
        for name in sorted(files | {path.name for path in (ROOT / "examples").glob("*.cpp")}):
            self.assertIn(f"]({name})", readme)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in WATCHDOG_S:
        sys.exit(__doc__)
    ENGINE = sys.argv.pop(1)
    if not BIN or (ENGINE == "model" and not os.path.exists(MODEL)):
        sys.exit("needs SWARMKV_BIN, and for the model SWARMKV_TEST_SMOLLM2 (scripts/get-models)")
    unittest.main(verbosity=2)
