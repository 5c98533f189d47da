#!/usr/bin/env python3
"""Drives the swarmkv command on the fake engine: what it prints, where, and how it ends.

Needs SWARMKV_BIN = path of the command. Usage: cli_test.py [CLASS...]
"""

import json
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import json_schema  # noqa: E402
import report_schema  # noqa: E402

BIN = os.environ.get("SWARMKV_BIN", "")
GOLDEN = pathlib.Path(__file__).resolve().parents[1] / "golden" / "cli"
# Far beyond what anything takes here: it only ends a hang.
WATCHDOG_S = 120

DOCUMENT = "The seller delivers 40 barrels. The buyer pays within 30 days. Either side may cancel.\n" * 8

REVIEW = """\
version: 1
name: review
document: contract.txt
agents:
  parties:
    prompt: Who are the parties?
  risks:
    prompt: Which clauses are risky?
  memo:
    prompt: "Join {{ parties }} and {{ risks }} into a memo."
"""


class CliTest(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.write("contract.txt", DOCUMENT)

    def write(self, name, content):
        path = self.folder / name
        data = content.encode() if isinstance(content, str) else content
        path.write_bytes(data)
        return path

    def environment(self, **extra):
        keep = {k: v for k, v in os.environ.items() if not k.startswith("SWARMKV_")}
        for name in ("NO_COLOR", "CLICOLOR_FORCE", "XDG_CACHE_HOME", "CI"):
            keep.pop(name, None)
        keep.update({"HOME": str(self.folder), "LC_ALL": "C.UTF-8"})
        # A second signal ends the program where it stands: threads that are not joined are no leak then.
        keep["TSAN_OPTIONS"] = keep.get("TSAN_OPTIONS", "") + ":report_thread_leaks=0"
        keep.update(extra)
        return keep

    def start(self, *args, env=None, **how):
        how.setdefault("stdin", subprocess.DEVNULL)
        how.setdefault("stdout", subprocess.PIPE)
        how.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([BIN, *args], cwd=self.folder,
                                   env=self.environment(**(env or {})), **how)
        self.addCleanup(self.reap, process)
        return process

    @staticmethod
    def reap(process):
        if process.poll() is None:
            process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            if stream:
                stream.close()

    def run_cli(self, *args, stdin=None, env=None, **how):
        """Returns (exit code, stdout, stderr); a signal gives a negative code."""
        if stdin is not None:
            how["stdin"] = subprocess.PIPE
        process = self.start(*args, env=env, **how)
        out, err = process.communicate(stdin, timeout=WATCHDOG_S)
        decode = lambda data: (data or b"").decode("utf-8", "surrogateescape")
        return process.returncode, decode(out), decode(err)

    def fake(self, command, *args, **how):
        return self.run_cli(command, "--engine", "fake", *args, **how)

    def ask(self, *args, **how):
        return self.fake("ask", "-f", "contract.txt", *args, **how)

    def check(self, result, code, err=""):
        self.assertEqual(result[0], code, f"stdout: {result[1]}\nstderr: {result[2]}")
        if err:
            self.assertIn(err, result[2])
        return result

    def refused(self, result, code, err):
        """A clean failure: the code, a sentence on stderr, nothing on stdout."""
        self.check(result, code, err)
        self.assertEqual(result[1], "")
        self.assertIn("swarmkv: ", result[2])
        return result

    def limited(self, limits, *args):
        """Runs under resource limits; skips where the program cannot even start under them."""
        def lower():
            for what, value in limits.items():
                hard = resource.getrlimit(what)[1]
                if hard != resource.RLIM_INFINITY and value > hard:
                    value = hard
                resource.setrlimit(what, (value, hard))
        if self.run_cli("version", preexec_fn=lower)[0] != 0:
            self.skipTest("sanitizers need more than these limits")
        return self.run_cli(*args, preexec_fn=lower)

    def wait_for_line(self, process, text):
        """Reads stderr until a line holds `text`; returns what was read."""
        seen = ""
        for line in process.stderr:
            seen += line.decode()
            if text in line.decode():
                return seen
        self.fail(f"'{text}' never came; stderr was:\n{seen}")

    ASK = ("ask", "--engine", "fake", "-f", "contract.txt")

    def on_terminal(self, *args, command=ASK, env=None, stdout_too=False, size=(24, 80), resize_to=None):
        """Runs with stderr, and perhaps stdout, on a terminal. Returns (code, screen bytes). `resize_to`:
        its size from the second drawing on."""
        import fcntl
        import pty
        import struct
        import termios
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        how = {"stderr": slave}
        how["stdout"] = slave if stdout_too else subprocess.DEVNULL
        process = self.start(*command, *args, env={"TERM": "xterm", **(env or {})}, **how)
        os.close(slave)
        seen = b""
        while True:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other side is closed
                break
            if not data:
                break
            seen += data
            if resize_to and b"batch" in seen:
                fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", *resize_to, 0, 0))
                resize_to = None
        os.close(master)
        return process.wait(timeout=WATCHDOG_S), seen.decode("utf-8", "replace")

    def nothing_left_behind(self):
        self.assertEqual(sorted(p.name for p in self.folder.glob("*.tmp*")), [])

    def report_of(self, path):
        report = json.loads((self.folder / path).read_text(encoding="utf-8"))
        self.assertEqual(report_schema.problems(report), [])
        return report

    def expect_golden(self, name, text):
        path = GOLDEN / name
        if os.environ.get("SWARMKV_UPDATE_GOLDEN"):
            path.write_text(text, encoding="utf-8")
        self.assertEqual(text, path.read_text(encoding="utf-8"), f"differs from {path}")


class AskTest(CliTest):
    def test_one_answer_stands_bare_on_stdout(self):
        code, out, _ = self.ask("Who pays?", "--fake-answer", "Who pays=The buyer.")
        self.assertEqual((code, out), (0, "The buyer.\n"))

    def test_several_answers_get_headings_in_the_order_asked(self):
        code, out, _ = self.ask("Who pays?", "Who delivers?", "--fake-answer", "Who pays=Buyer",
                                "--fake-answer", "Who delivers=Seller")
        self.assertEqual((code, out), (0, "# q1\nBuyer\n\n# q2\nSeller\n"))

    def test_questions_come_one_a_line_from_a_file(self):
        self.write("questions.txt", "Who pays?\r\n\n   \nWho delivers?")
        code, out, _ = self.ask("When?", "--questions", "questions.txt", "--fake-answer", "When=Now",
                                "--fake-answer", "Who pays?=Buyer", "--fake-answer",
                                "Who delivers?=Seller")
        self.assertEqual((code, out), (0, "# q1\nNow\n\n# q2\nBuyer\n\n# q3\nSeller\n"))

    def test_the_document_may_come_from_standard_input(self):
        code, out, _ = self.fake("ask", "-f", "-", "Who pays?", "--fake-answer", "barrels=Found",
                                 stdin=DOCUMENT.encode())
        self.assertEqual((code, out), (0, "Found\n"))

    def test_several_documents_are_read_in_their_order_by_everybody(self):
        self.write("Rules.txt", "Rule 1: be short. " * 9)
        (self.folder / "other").mkdir()
        self.write("other/contract.txt", "Another contract. " * 9)
        files = ("-f", "Rules.txt", "-f", "-", "-f", "other/contract.txt")
        code, out, err = self.ask(*files, "Who?", "What?", "--report", "r.json", "--fake-answer", "Who=A",
                                  "--fake-answer", "What=B", stdin=b"Some words from elsewhere. ")
        self.assertEqual((code, out), (0, "# q1\nA\n\n# q2\nB\n"), err)
        self.assertIn("contract.txt, Rules.txt and 2 more", err)
        report = self.report_of("r.json")
        names = ["contract", "rules", "stdin", "contract_2"]
        self.assertEqual([document["name"] for document in report["documents"]], names)
        for agent in report["agents"]:
            self.assertEqual(agent["reads"], names)
        after = [document["readings"][0]["after"] for document in report["documents"]]
        self.assertEqual(after, [None, "contract", "rules", "stdin"])
        for document in report["documents"]:
            self.assertEqual(document["computed_tokens"], document["n_tokens"], "once for both")

    def test_braces_brackets_and_percent_signs_in_a_prompt_are_text(self):
        for prompt in ("What is {{ x }}?", "[a, b]", "{%", "%s %d", "a=b"):
            with self.subTest(prompt):
                code, out, err = self.ask(prompt, "--fake-answer", f"{prompt.replace('=', '')}=yes")
                if "=" not in prompt:
                    self.assertEqual((code, out), (0, "yes\n"), err)
                self.assertEqual(code, 0, err)

    def test_a_prompt_behind_dashes_may_look_like_a_flag(self):
        code, out, _ = self.ask("--fake-answer", "--temp=yes", "--", "-ngl")
        self.assertEqual(code, 0)
        self.assertNotEqual(out, "")

    def test_the_document_is_computed_once(self):
        self.check(self.ask(*[f"Question {i}?" for i in range(50)], "--report", "r.json", "-n", "4"), 0)
        report = self.report_of("r.json")
        document = report["documents"][0]
        self.assertEqual(document["computed_tokens"], document["n_tokens"])
        self.assertEqual(report["summary"]["counts"]["finished"], 50)
        summary = report["summary"]
        self.assertLess(summary["prompt_tokens_computed"], summary["prompt_tokens"] / 5)
        self.assertEqual(summary["prompt_tokens_computed"] + summary["prompt_tokens_reused"],
                         summary["prompt_tokens"])

    def test_times_to_the_first_token_add_up_and_queueing_is_not_hidden(self):
        self.check(self.ask("a", "b", "-np", "1", "-n", "10", "--ignore-eos", "--fake-delay-ms", "5",
                            "--report", "r.json"), 0)
        first, second = (a["metrics"] for a in self.report_of("r.json")["agents"])
        for m in (first, second):
            self.assertAlmostEqual(m["ttft_ms"], m["document_wait_ms"] + m["queue_ms"] + m["prefill_ms"],
                                   delta=0.01)
            self.assertAlmostEqual(m["ttft_warm_ms"], m["queue_ms"] + m["prefill_ms"], delta=0.01)
        self.assertEqual(first["queue_ms"], 0)
        # Ten forwards of 5 ms went by before the second could begin.
        self.assertGreater(second["queue_ms"], 40)

    def test_max_tokens_zero_only_reads(self):
        code, _, err = self.ask("Who pays?", "-n", "0", "--report", "r.json")
        self.assertEqual(code, 0, err)
        self.assertEqual(self.report_of("r.json")["agents"][0]["usage"]["completion_tokens"], 0)

    def test_sampling_flags_reach_the_agents(self):
        self.check(self.ask("Who pays?", "--temp", "0.5", "-s", "7", "-n", "3", "--stop", "[END]",
                            "--ignore-eos", "--report", "r.json"), 0)
        agent = self.report_of("r.json")["agents"][0]
        self.assertEqual(agent["sampling"]["temperature"], 0.5)
        self.assertEqual(agent["sampling"]["stop"], ["[END]"])
        self.assertEqual(agent["sampling"]["max_tokens"], 3)
        self.assertEqual(agent["usage"]["completion_tokens"], 3)


class SaveTest(CliTest):
    """`ask --save FILE`: the same as a pipeline file."""

    ODD = ['He said "no": why?', "two\nlines\n", "What is {{ x }}?", "${{ q1 }}", "{{", "  leading", "trailing ",
           "# no comment", "---", "--- a\nb: c", "yes", "~", "42", "file://notes.txt", "a #b", "\u00fc\u65e5\U0001f600",
           "\ttab", "\x1b[2J\x7f", "back\\slash", "'single'", "[a, b]", "!x &a *b", "what? - ?", "\u2028\u0085\ufeff", "- a list"]

    def story(self, name):
        """What decides about a run, and what came of it."""
        report = self.report_of(name)
        agents = [(a["name"], a["reads"], a["text"], a["token_ids_digest"], a["sampling"],
                   a["usage"]["prompt_tokens"], a["finish_reason"]) for a in report["agents"]]
        documents = [(d["name"], d["digest"], d["n_tokens"]) for d in report["documents"]]
        return agents, documents, report["ctx_size"], report["cache_type_k"]

    def expect_the_same(self, *args, run=(), file="p.yaml", env=None, stdin=None):
        """Asks with --save, runs what was saved, and compares. Returns what was said when saving."""
        was_there = (self.folder / file).exists()
        _, out, err = self.check(self.fake("ask", "--save", file, "--report", "asked.json", *args, env=env,
                                           stdin=stdin), 0)
        what = "replaced" if was_there else "saved"
        self.assertIn(f"{what}: {file}   again: swarmkv run {file} --engine fake", err)
        code, again, said = self.fake("run", file, "--report", "run.json", *run, stdin=stdin)
        self.assertEqual((code, again), (0, out), said)
        self.assertEqual(self.story("asked.json"), self.story("run.json"))
        self.check(self.run_cli("validate", "--strict", file), 0)
        return err

    def test_odd_prompts_are_the_same_text(self):
        self.expect_the_same("-f", "contract.txt", "-n", "8", "--ignore-eos", "--", *self.ODD)
        for text in self.ODD:
            with self.subTest(text):
                self.expect_the_same("-f", "contract.txt", "-n", "8", "--system", text, "--stop", text, "Why?")

    def test_a_question_reaches_the_model_as_it_was_asked(self):
        for text in ("What is {{ x }}?", "file://notes.txt", " # {{ q1 }}"):
            with self.subTest(text):
                self.check(self.ask(text, "--save", "p.yaml"), 0)
                out = self.check(self.fake("run", "p.yaml", "-q", "--fake-answer", text + "=yes"), 0)[1]
                self.assertEqual(out, "yes\n")

    def test_flags_and_variables_are_kept(self):
        self.write("annex.txt", "The annex. " * 20)
        self.expect_the_same("-f", "contract.txt", "-f", "annex.txt", "-n", "9", "--temp", "0.7", "--top-k", "7",
                             "--top-p", "0.8", "--min-p", "0.01", "--repeat-penalty", "1.2", "-s", "11", "--stop",
                             "END", "-c", "5000", "-ctk", "q8_0", "-np", "1", "--system", "Be {{ short }}.", "a", "b")
        self.expect_the_same("-f", "contract.txt", "a", "b",
                             env={"SWARMKV_TEMP": "0.5", "SWARMKV_SEED": "3", "SWARMKV_PREDICT": "6",
                                  "SWARMKV_SYSTEM": "Be kind."})
        err = self.expect_the_same("-f", "contract.txt", "--no-chat-template", "--deterministic", "a",
                                   run=("--no-chat-template", "--deterministic"))
        flags = "--engine fake --no-chat-template --deterministic"
        self.assertIn(f"swarmkv run p.yaml {flags}\n", err)
        self.assertIn(f"needs: {flags}\n", (self.folder / "p.yaml").read_text())

    def test_a_document_on_standard_input_is_that_in_the_file_too(self):
        self.expect_the_same("-f", "-", "-f", "contract.txt", "Why?", stdin=DOCUMENT.upper().encode())

    def test_documents_are_found_from_the_files_folder(self):
        (self.folder / "below/docs").mkdir(parents=True)
        self.write("below/docs/a.txt", DOCUMENT)
        (self.folder / "below/link.txt").symlink_to("docs/a.txt")
        self.expect_the_same("-f", "below/docs/../docs/a.txt", "-f", "below/link.txt", "-f", "contract.txt", "x",
                             file="below/p.yaml")
        text = (self.folder / "below/p.yaml").read_text()
        self.assertIn('"a": "docs/a.txt"', text)
        self.assertIn('"link": "link.txt"', text)
        self.assertIn(f'"contract": "{(self.folder / "contract.txt").resolve()}"', text)
        shutil.move(self.folder / "below", self.folder / "moved")
        self.check(self.fake("run", "moved/p.yaml"), 0)

    def test_it_is_written_before_the_run_and_changes_no_output(self):
        self.check(self.run_cli("ask", "-f", "contract.txt", "x", "-m", "nowhere.gguf", "--save", "p.yaml"), 3)
        self.assertIn('path: "nowhere.gguf"', (self.folder / "p.yaml").read_text())
        (self.folder / "p.yaml").chmod(0o600)
        code, out, err = self.ask("x", "--save", "p.yaml", "-o", "json", "-q")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("--save", json.loads(out)["command"])
        self.assertNotIn("nowhere", (self.folder / "p.yaml").read_text())
        self.assertEqual(stat.S_IMODE((self.folder / "p.yaml").stat().st_mode), 0o600)
        err = self.check(self.ask("x", "--save", "p.yaml", "--progress", "jsonl"), 0)[2]
        for line in err.splitlines():
            json.loads(line)

    def test_what_cannot_be_saved_is_refused_and_nothing_is_run(self):
        before = sorted(self.folder.iterdir())
        for prompt in ("a\x01b", b"a\xffb"):
            self.refused(self.ask(prompt, "--save", "p.yaml"), 2, "cannot stand in a pipeline file as it is")
        self.refused(self.ask("x", "--save", "contract.txt"), 2, "would replace an input of this run")
        self.refused(self.ask("x", "--save", "r.json", "--report", "./r.json"), 2, "replace each other")
        self.refused(self.ask("x", "--save", "nowhere/p.yaml"), 3, "nowhere/p.yaml")
        self.refused(self.ask("x", "--save", "-"), 2, "give a file")
        self.assertEqual(sorted(self.folder.iterdir()), before)
        os.mkfifo(self.folder / "pipe")
        self.refused(self.ask("-f", "pipe", "x", "--save", "p.yaml"), 2, "'pipe' is a pipe")
        self.assertFalse((self.folder / "p.yaml").exists())
        self.assertEqual((self.folder / "contract.txt").read_text(), DOCUMENT)


class HandoffTest(CliTest):
    def test_every_way_gives_the_same_answers_and_says_what_it_computed(self):
        answers, computed = {}, {}
        for handoff in ("shared", "recompute", "snapshot", "device"):
            code, out, err = self.ask("Who pays?", "How much?", "When?", "--handoff", handoff, "-n", "12",
                                      "--report", "r.json")
            self.assertEqual(code, 0, err)
            report = self.report_of("r.json")
            self.assertEqual(report["handoff"], handoff)
            document = report["documents"][0]["n_tokens"]
            own = sum(a["usage"]["prompt_tokens"] - document for a in report["agents"])
            answers[handoff], computed[handoff] = out, report["summary"]["prompt_tokens_computed"] - own
            self.assertEqual(computed[handoff], document * (3 if handoff == "recompute" else 1))
        self.assertEqual(len(set(answers.values())), 1)

    def test_it_may_come_from_the_environment_and_is_checked(self):
        code, out, err = self.ask("Who pays?", "-o", "json", env={"SWARMKV_HANDOFF": "snapshot"})
        self.assertEqual((code, json.loads(out)["handoff"]), (0, "snapshot"), err)
        self.refused(self.ask("x", "--handoff", "copy"), 2, "--handoff 'copy'")


class BenchTest(CliTest):
    SMALL = ("-npp", "40", "-npl", "2", "-ntg", "4", "-r", "2")

    def bench(self, *args, **how):
        return self.fake("bench", *args, **how)

    def samples(self, *args, code=0, **how):
        result = self.check(self.bench(*args, "-o", "jsonl", **how), code)
        lines = [json.loads(line) for line in result[1].splitlines()]
        for line in lines:
            self.assertEqual(line["schema"], "swarmkv.bench/1")
        return lines

    def test_resume_never_touches_a_file_that_is_not_its_own(self):
        path = os.path.join(self.folder, "precious.txt")
        for text in ("no newline at its end", '{"other": 1}'):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            code, _, err = self.bench(*self.SMALL, "--resume", path)
            self.assertEqual(code, 3, err)
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), text)
        with open(path, "w", encoding="utf-8") as f:
            f.write("What is it?")
        code, _, err = self.bench("-npp", "40", "-npl", "1", "--questions", path, "--resume", path)
        self.assertEqual(code, 2, err)

    def test_resume_knows_a_campaign_by_its_sampling_and_counts_only_its_own_samples(self):
        path = os.path.join(self.folder, "kept.jsonl")
        first = ("-npp", "40", "-npl", "2", "--temp", "1", "--resume", path)
        self.check(self.bench(*first, "-r", "1", "-ntg", "4", "--top-k", "1"), 0)
        code, _, err = self.bench(*first, "-r", "2", "-ntg", "4", "--top-k", "200")
        self.assertEqual(code, 3, err)
        self.assertIn("top_k", err)
        code, out, err = self.bench(*first, "-r", "1", "-ntg", "8", "--top-k", "1", "-o", "jsonl")
        self.assertEqual(code, 0, err)
        self.assertIn("2 samples, 0 known", err)
        self.assertEqual({json.loads(line)["output_tokens"] for line in out.splitlines()}, {8})

    def test_a_failed_arm_is_named_even_quietly(self):
        code, _, err = self.bench(*self.SMALL, "-q", "--fake-fail-at-forward", "2")
        self.assertEqual(code, 1)
        self.assertIn("failed", err)

    def test_a_table_of_every_arm_in_every_case(self):
        code, out, err = self.bench("-npp", "40,80", "-npl", "1,3", "-ntg", "0,4", "-r", "1",
                                    "--arms", "recompute,shared,snapshot,device")
        self.assertEqual(code, 0, err)
        rows = [line for line in out.splitlines() if line.startswith("| ") and "arm" not in line]
        self.assertEqual(len(rows), 2 * 2 * 2 * 4)
        self.assertTrue(rows[0].startswith("| 40 | 1 | 0 | recompute | "), rows[0])
        self.assertIn("[32/32] document 80, 3 agents, output 4: device", err)

    def test_raw_samples_carry_everything(self):
        samples = self.samples(*self.SMALL, "--arms", "recompute,shared", "-s", "7", "-t", "1", "-tb", "2",
                               "-b", "64", "-ctk", "q8_0", "--label", "x")
        self.assertEqual([(s["arm"], s["trial"], s["position"]) for s in samples],
                         [("recompute", 0, 0), ("shared", 0, 1), ("shared", 1, 0), ("recompute", 1, 1)])
        for s in samples:
            self.assertEqual(s["status"], "finished", s["error"])
            self.assertTrue(s["cache_was_empty"])
            own = sum(a["suffix_tokens"] for a in s["agents_detail"])
            self.assertEqual(own, 32)
            expected = (2 if s["arm"] == "recompute" else 1) * 40 + own
            self.assertEqual(s["prompt_tokens_computed"], expected)
            self.assertEqual(s["prompt_tokens"], 80 + own)
            self.assertEqual(s["completion_tokens"], 8)
            self.assertEqual(len(s["document_ms"]), 2 if s["arm"] == "recompute" else 1)
            self.assertEqual(len(s["branch_ms"]), 2)
            self.assertGreater(s["wall_ms"], 0)
            self.assertGreater(s["peak_rss_bytes"], 0)
            setup = s["setup"]
            self.assertEqual((setup["seed"], setup["threads"], setup["threads_batch"], setup["batch_size"],
                              setup["cache_type_k"]), (7, 1, 2, 64, "q8_0"))
        self.assertEqual(len({s["token_ids_digest"] for s in samples}), 1)

    def test_the_kernel_can_be_held_to_smaller_instructions(self):
        one = ("-npp", "20", "-npl", "1", "-ntg", "1", "-r", "1", "--arms", "shared")
        self.assertIsNone(self.samples(*one)[0]["setup"]["attention_target"])
        refused = self.bench(*one, "--attention-target", "AVX9")
        self.refused(refused, 2, "attention_target is 'AVX9'")
        names = re.search(r"must be one of this processor's: ([A-Z0-9_, ]+)", refused[2])[1].strip().split(", ")
        for name in names:
            sample = self.samples(*one, "--attention-target", name, "--resume", f"{name}.jsonl")[0]
            self.assertEqual((sample["status"], sample["setup"]["attention_target"]), ("finished", name))
        self.refused(self.bench(*one, "--resume", f"{names[0]}.jsonl"), 3, "attention_target")
        self.refused(self.bench(*one, "--attention", "stock", "--attention-target", names[0]), 2, "stock")
        self.refused(self.fake("ask", "-f", "contract.txt", "Who?", "--attention-target", names[0]), 2,
                     "'ask' does not take --attention-target")

    def test_the_defaults_are_those_of_the_help(self):
        samples = self.samples("-npp", "20", "-ntg", "1", "-q")
        self.assertEqual({s["arm"] for s in samples}, {"recompute", "shared"})
        self.assertEqual({s["agents"] for s in samples}, {1, 2, 8})
        self.assertEqual(max(s["trial"] for s in samples), 4)
        self.assertEqual({a["suffix_tokens"] for s in samples for a in s["agents_detail"]}, {16})

    def test_own_prompts_may_have_several_lengths_or_be_questions(self):
        sample = self.samples(*self.SMALL, "--suffix-tokens", "6,4", "--arms", "shared")[0]
        self.assertEqual([a["suffix_tokens"] for a in sample["agents_detail"]], [6, 4])
        self.write("questions.txt", "Who pays?\n\nWhen?\n")
        with_template = self.samples(*self.SMALL, "--questions", "questions.txt", "--arms", "shared")[0]
        bare = self.samples(*self.SMALL, "--questions", "questions.txt", "--arms", "shared",
                            "--no-chat-template", "--template-date", "2026-02-02")[0]
        self.assertEqual([a["suffix_tokens"] for a in bare["agents_detail"]], [11, 7])
        self.assertGreater(with_template["prompt_tokens"], bare["prompt_tokens"])
        self.refused(self.bench(*self.SMALL, "--questions", "nowhere.txt"), 3, "nowhere.txt")

    def test_a_document_is_taken_whole_cut_or_from_standard_input(self):
        n = len(DOCUMENT) + 1
        rest = ("-npl", "1", "-ntg", "1", "-r", "1", "--arms", "shared")
        self.assertEqual(self.samples("-f", "contract.txt", *rest)[0]["document_tokens"], n)
        self.assertEqual(self.samples("-f", "contract.txt", "-npp", "33", *rest)[0]["document_tokens"], 33)
        self.assertEqual(self.samples("-f", "-", *rest, stdin=DOCUMENT.encode())[0]["document_tokens"], n)
        self.refused(self.bench("-f", "contract.txt", "-npp", str(n + 1), *rest), 2, str(n))
        self.refused(self.bench("-f", "nowhere.txt", *rest), 3, "nowhere.txt")
        self.refused(self.bench(*rest), 2, "-f FILE, or -npp N")
        self.refused(self.bench("-f", "a", "-f", "b", *rest), 2, "2 times")

    def test_answers_have_full_length_unless_they_may_end(self):
        long = ("-npp", "40", "-npl", "2", "-ntg", "300", "-r", "1", "--arms", "shared")
        self.assertEqual(self.samples(*long)[0]["completion_tokens"], 600)
        self.assertEqual(self.samples(*long, "--ignore-eos")[0]["completion_tokens"], 600)
        self.assertLess(self.samples(*long, "--ignore-eos=0")[0]["completion_tokens"], 600)

    def test_sampling_is_the_same_in_every_arm(self):
        samples = self.samples(*self.SMALL, "--temp", "0.8", "--top-k", "5", "--top-p", "0.9", "--min-p",
                               "0.1", "--repeat-penalty", "1.1", "--arms", "recompute,shared,device")
        self.assertEqual(len({s["token_ids_digest"] for s in samples}), 1)
        self.assertEqual(samples[0]["setup"]["temperature"], 0.8)

    def test_deterministic_mode_runs_in_every_arm(self):
        samples = self.samples(*self.SMALL, "--deterministic", "--arms", "recompute,shared,snapshot,device")
        self.assertEqual(len({s["token_ids_digest"] for s in samples}), 1)
        self.assertTrue(all(s["status"] == "finished" for s in samples), samples)

    def test_formats(self):
        code, out, err = self.bench(*self.SMALL, "-o", "json")
        report = json.loads(out)
        self.assertEqual((code, len(report["rows"]), len(report["trials"])), (0, 2, 4), err)
        code, out, err = self.bench(*self.SMALL, "-o", "csv")
        lines = out.splitlines()
        self.assertEqual((code, len(lines)), (0, 3), err)
        self.assertEqual({line.count(",") for line in lines}, {lines[0].count(",")})
        code, out, err = self.bench(*self.SMALL, "-o", "md", "-q")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("| shared |", out)
        self.refused(self.bench(*self.SMALL, "-o", "text"), 2, "--output 'text'")

    def test_the_originals_lines(self):
        code, out, err = self.bench("-npp", "40", "-npl", "2", "-ntg", "0", "-r", "3", "--suffix-tokens", "6,4",
                                    "--arms", "recompute,snapshot", "--compat", "--label", "my machine",
                                    "--fake-delay-ms", "3")
        self.assertEqual(code, 0, err)
        values = dict(line.split(": ", 1) for line in out.splitlines())
        self.assertEqual(len(values), 27)
        self.assertEqual(values["Context_Label"], "my machine")
        self.assertEqual((values["BranchA_Tokens"], values["BranchB_Tokens"]), ("6", "4"))
        self.assertEqual(values["Document_Tokens"], "40")
        for key in ("Baseline_Agent1_Prefill_Ms", "Baseline_Agent2_Prefill_Ms", "SwarmKV_Prefill_Ms",
                    "SwarmKV_AgentB_Ms", "SwarmKV_Branch2_TTFT_Proxy_Ms"):
            self.assertGreater(float(values[key]), 2, key)
        eliminated = sum(float(values[f"Baseline_Agent{i}_Prefill_Ms"]) for i in (1, 2))
        self.assertAlmostEqual(float(values["Redundant_Prefill_Eliminated_Ms"]),
                               eliminated - float(values["SwarmKV_Prefill_Ms"]), delta=0.01)
        self.refused(self.bench(*self.SMALL, "--compat", "-o", "json"), 2, "format of its own")
        self.refused(self.bench("-npp", "40", "-npl", "1", "--compat"), 2, "-npl 2")
        self.refused(self.bench(*self.SMALL, "--compat", "--arms", "shared"), 2, "recompute")

    def test_a_threshold_is_a_gate(self):
        slow = ("-npp", "400", "-npl", "4", "-ntg", "1", "-r", "3", "-b", "32", "--fake-delay-ms", "2")
        self.check(self.bench(*slow, "--threshold", "shared/recompute=1.2"), 0)
        code, out, err = self.bench(*slow, "--threshold", "shared/recompute=100")
        self.assertEqual(code, 1)
        self.assertIn("| shared |", out)
        self.assertRegex(err, r"below the threshold: .* shared is \d+\.\d\d x as fast as recompute")
        self.refused(self.bench(*slow, "--threshold", "shared/recompute"), 2, "ARM/ARM=RATIO")
        self.refused(self.bench(*slow, "--threshold", "device/recompute=1"), 2, "'device' is not measured")

    def test_a_failing_arm_is_shown_and_the_others_are_measured(self):
        # One context serves both agents of 'device', so its 12th forward comes; the others stay below.
        failing = ("-npp", "40", "-npl", "2", "-ntg", "8", "-r", "2", "--warmup", "0", "--arms", "recompute,device",
                   "--fake-fail-at-forward", "12")
        code, out, err = self.bench(*failing)
        self.assertEqual(code, 1, err)
        rows = [line for line in out.splitlines() if line.startswith("| 40 ")]
        self.assertEqual(len(rows), 2)
        self.assertIn("x |", rows[0])
        self.assertIn("| device | failed: ", rows[1])
        samples = self.samples(*failing, code=1)
        self.assertEqual([s["status"] for s in samples if s["arm"] == "device"], ["failed"] * 2)
        self.assertEqual([s["status"] for s in samples if s["arm"] == "recompute"], ["finished"] * 2)
        self.check(self.bench(*failing, "--threshold", "device/recompute=0.01"), 1, "failed trials")
        code, out, err = self.bench(*failing, "--compat")
        self.assertEqual((code, out), (1, ""))
        self.assertIn("another arm", err)

    def test_a_campaign_goes_on_where_it_ended(self):
        self.check(self.bench(*self.SMALL, "--resume", "all.jsonl"), 0)
        path = self.folder / "all.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        self.assertEqual(len(lines), 4)
        path.write_text("".join(lines[:2]) + lines[2][:100])
        code, out, err = self.bench(*self.SMALL, "--resume", "all.jsonl", "-o", "jsonl")
        self.assertEqual(code, 0, err)
        self.assertIn("4 samples, 2 known", err)
        self.assertEqual(out.splitlines(keepends=True)[:2], lines[:2])
        again = path.read_text().splitlines(keepends=True)
        self.assertEqual(again[:2], lines[:2])
        self.assertEqual([(json.loads(a)["arm"], json.loads(a)["trial"]) for a in again],
                         [(json.loads(a)["arm"], json.loads(a)["trial"]) for a in lines])
        self.check(self.bench(*self.SMALL, "--resume", "all.jsonl"), 0, "4 known")
        self.refused(self.bench(*self.SMALL, "--resume", "all.jsonl", "-s", "1"), 3, "seed is 42 there and 1")
        path.write_text("nonsense\n")
        self.refused(self.bench(*self.SMALL, "--resume", "all.jsonl"), 3, "line 1 is no sample")
        self.refused(self.bench(*self.SMALL, "--resume", "no/where.jsonl"), 3, "no/where.jsonl")
        self.refused(self.bench("-f", "contract.txt", "--resume", "contract.txt"), 2, "is an input")
        self.assertEqual((self.folder / "contract.txt").read_text(), DOCUMENT)

    def test_an_interrupt_keeps_finished_samples(self):
        process = self.start("bench", "--engine", "fake", "-npp", "40", "-npl", "1", "-ntg", "8", "-r", "100000",
                             "--resume", "all.jsonl", "--fake-delay-ms", "2")
        path = self.folder / "all.jsonl"
        deadline = time.monotonic() + WATCHDOG_S
        while not (path.exists() and path.read_text().count("\n") >= 3):
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, 130, err)
        samples = [json.loads(line) for line in path.read_text().splitlines()]
        self.assertGreaterEqual(len(samples), 3)
        self.assertTrue(all(s["status"] == "finished" for s in samples))
        self.assertIn("| recompute |", out.decode())

    def test_a_scenario_file_and_flags_that_beat_it(self):
        self.write("fan.yaml", "document: contract.txt\nagents: [1, 2]\noutput_tokens: 3\ntrials: 1\n"
                               "arms: [shared]\nmodel: { threads: 2 }\n")
        samples = self.samples("fan.yaml")
        self.assertEqual([(s["agents"], s["output_tokens"], s["arm"]) for s in samples],
                         [(1, 3, "shared"), (2, 3, "shared")])
        self.assertEqual(samples[0]["setup"]["threads"], 2)
        samples = self.samples("fan.yaml", "-npl", "3", "-ntg", "1", "--arms", "device", "-t", "1")
        self.assertEqual([(s["agents"], s["output_tokens"], s["arm"]) for s in samples], [(3, 1, "device")])
        self.assertEqual(samples[0]["setup"]["threads"], 1)
        self.write("bad.yaml", "agent: 1\n")
        self.check(self.bench("bad.yaml"), 2, "bad.yaml:1:1: error: unknown key 'agent'")
        self.refused(self.bench("fan.yaml", "more.yaml"), 2, "one scenario file")
        self.refused(self.bench("nowhere.yaml"), 3, "nowhere.yaml")

    def test_warm_up_is_apart(self):
        _, out, err = self.check(self.bench(*self.SMALL, "--warmup", "2", "-o", "jsonl"), 0)
        self.assertEqual(err.count("warm-up: "), 4)
        self.assertEqual(len(out.splitlines()), 4)
        self.assertNotIn("warm-up", self.check(self.bench(*self.SMALL, "--warmup", "0"), 0)[2])

    def test_a_pool_that_is_too_small_is_a_failed_arm(self):
        code, out, _ = self.bench(*self.SMALL, "-c", "30")
        self.assertEqual(code, 1)
        self.assertIn("failed: ", out)

    def test_lists_are_read_strictly(self):
        for flag, value in (("-npl", "0"), ("-npl", "1,,2"), ("-npl", "1,x"), ("-npp", ""), ("-ntg", "-1"),
                            ("--suffix-tokens", "0"), ("--arms", "shared,copy"), ("--arms", ","), ("-r", "0"),
                            ("--warmup", "-1")):
            with self.subTest(f"{flag} {value}"):
                self.refused(self.bench("-npp", "40", flag, value), 2, "--")
        self.refused(self.bench("-npp", "40", "--arms", "shared,shared"), 2, "given twice")
        self.refused(self.bench("-npp", "40", "-n", "4"), 2, "'bench' does not take")


class ManyPromptsTest(CliTest):
    def test_ten_thousand_prompts_run_in_waves(self):
        self.write("questions.txt", "\n".join(f"Question number {i}?" for i in range(10_000)))
        code, out, err = self.ask("--questions", "questions.txt", "-n", "1", "--ignore-eos", "-o",
                                  "json", "--progress", "none")
        self.assertEqual(code, 0, err[-2000:])
        report = json.loads(out)
        self.assertEqual(report["summary"]["counts"]["finished"], 10_000)
        self.assertEqual(report["documents"][0]["computed_tokens"],
                         report["documents"][0]["n_tokens"])
        self.assertLess(len(err.splitlines()), 100, "the table of 10,000 agents is cut")

    def test_a_thousand_cut_answers_make_a_short_table(self):
        self.write("questions.txt", "\n".join(f"Question number {i}?" for i in range(1000)))
        code, _, err = self.ask("--questions", "questions.txt", "-n", "1", "--fake-answer",
                                "Question=one two three", "--progress", "none", "--print", "none")
        self.assertEqual(code, 0, err[-2000:])
        self.assertIn("and 960 more agents; see --report", err)
        self.assertIn("and 980 more warnings; see --report", err)
        self.assertLess(len(err.splitlines()), 75)


class BadInputTest(CliTest):
    def test_a_missing_document(self):
        self.refused(self.fake("ask", "-f", "nowhere.txt", "x"), 3, "'nowhere.txt'")
        code, _, err = self.run_cli("ask", "-f", "contrat.txt", "x", "-m", "no-such-model.gguf")
        self.assertEqual(code, 3)
        self.assertIn(f"no such file in {self.folder.resolve()}; did you mean 'contract.txt'?", err)

    def test_all_missing_documents_at_once(self):
        code, out, err = self.run_cli("ask", "-f", "gone.txt", "-f", "contract.txt", "-f", "lost.txt", "x")
        self.assertEqual((code, out), (3, ""))
        self.assertRegex(err, r"'gone.txt': no such file.*\n  'lost.txt': no such file")

    def test_a_quantised_v_cache_without_flash_attention(self):
        """Before the model is loaded, whoever gave the two: here there is none."""
        self.write("p.yaml", "version: 1\ndocument: contract.txt\n"
                   "model: { cache_type_v: q8_0, flash_attn: 'off' }\nagents: { a: { prompt: x } }\n")
        model = ("-m", "no-such-model.gguf")
        self.refused(self.run_cli("run", "p.yaml", *model), 2, "cache_type_v is q8_0, which needs flash attention")
        for flag in (["-fa", "auto"], ["-ctv", "f16"]):
            self.assertEqual(self.fake("run", "p.yaml", "-q", *flag)[0], 0)

    def test_a_folder_as_document(self):
        self.refused(self.fake("ask", "-f", ".", "x"), 3, "directory")

    def test_an_empty_document(self):
        self.write("empty.txt", "")
        self.refused(self.fake("ask", "-f", "empty.txt", "x"), 3, "empty")
        self.refused(self.fake("ask", "-f", "-", "x"), 3, "empty")

    def test_binary_formats_with_a_way_out(self):
        self.write("a.pdf", b"%PDF-1.7\n...")
        self.write("a.docx", b"PK\x03\x04....")
        self.refused(self.fake("ask", "-f", "a.pdf", "x"), 3, "pdftotext")
        self.refused(self.fake("ask", "-f", "a.docx", "x"), 3, "ZIP")

    def test_a_document_larger_than_the_context_names_both_numbers(self):
        result = self.refused(self.ask("x", "--fake-ctx-train", "64"), 4, "does not fit")
        self.assertRegex(result[2], r"\b64\b")

    def test_a_prompt_that_alone_exceeds_the_context(self):
        self.write("tiny.txt", "Hi.")
        self.refused(self.fake("ask", "-f", "tiny.txt", "word " * 3000, "--fake-ctx-train", "512"), 4,
                     "does not fit")

    def test_a_pool_that_is_too_small(self):
        self.refused(self.ask("x", "-c", "16"), 4, "16")

    def test_an_answer_length_that_cannot_fit(self):
        self.refused(self.ask("x", "-n", "1000000"), 4, "does not fit")
        self.refused(self.ask("x", "-n", "2147483647"), 2, "from 0 to 1000000")

    def test_odd_bytes_give_one_warning_and_are_kept(self):
        self.write("odd.txt", b"caf\xe9 and \x00 stay\n" * 3)
        code, out, err = self.fake("ask", "-f", "odd.txt", "x", "--report", "r.json")
        self.assertEqual(code, 0, err)
        warnings = self.report_of("r.json")["warnings"]
        self.assertEqual([w["code"] for w in warnings if w["code"] == "SK610"], ["SK610"])
        self.assertIn("offset 3", err)

    def test_odd_bytes_are_refused_under_strict(self):
        self.write("odd.txt", b"caf\xe9")
        self.refused(self.fake("ask", "-f", "odd.txt", "x", "--strict"), 3, "--strict")

    def test_names_that_are_not_utf8_are_told_in_utf8(self):
        odd = os.fsdecode(b"caf\xe9.txt")
        said = lambda text: text.encode("utf-8", "surrogateescape").decode("utf-8")
        cases = [("ask", "-f", odd, "x"), ("ask", "-f", os.fsdecode(b"caf\xe9/a.txt"), "x"),
                 ("ask", "-f", "contract.txt", "--questions", odd), ("run", odd),
                 ("ask", "-f", "contract.txt", "x", "--report", os.fsdecode(b"caf\xe9/r.json"))]
        for args in cases:
            with self.subTest(args):
                result = self.refused(self.fake(*args), 3, "caf")
                self.assertRegex(said(result[2]), r"caf(\\xe9|\ufffd)")
                code, out, err = self.fake(*args, "-o", "jsonl")
                self.assertEqual(code, 3)
                self.assertIn("caf\ufffd", json.loads(said(out).splitlines()[-1])["message"])
        self.refused(self.run_cli("ask", "-m", os.fsdecode(b"caf\xe9.gguf"), "-f", "contract.txt", "x"), 3, "caf")
        (self.folder / odd).write_text("a document")
        code, out, err = self.fake("ask", "-f", odd, "x", "--fake-answer", "x=yes", "--report", "r.json",
                                   "--report", "r.md", "--report", "r.html")
        self.assertEqual((code, out), (0, "yes\n"), err)
        said(err)
        self.report_of("r.json")
        for name in ("r.md", "r.html"):
            (self.folder / name).read_text(encoding="utf-8")

    def test_an_unwritable_report_is_found_before_the_model_loads(self):
        for path in ("nowhere/r.json", ".json"):
            with self.subTest(path):
                if path == ".json":
                    (self.folder / path).mkdir()
                result = self.refused(self.ask("x", "--report", path), 3, f"'{path}'")
                self.assertNotIn("model loaded", result[2])

    def test_no_question_at_all(self):
        self.write("blank.txt", "\n  \n")
        self.refused(self.ask(), 2, "no question")
        self.refused(self.ask("--questions", "blank.txt"), 2, "blank.txt")
        self.refused(self.ask(""), 2, "prompt 1 is empty")

    def test_a_questions_file_that_cannot_be_read(self):
        self.refused(self.ask("--questions", "nowhere.txt"), 3, "nowhere.txt")
        self.refused(self.ask("--questions", "."), 3, "directory")

    def test_questions_without_an_end(self):
        self.refused(self.ask("--questions", "/dev/zero"), 3, "more than")

    def test_a_report_in_the_place_of_an_input(self):
        self.write("doc.json", "the document")
        os.symlink("doc.json", self.folder / "alias.json")
        for report in ("doc.json", "alias.json"):
            with self.subTest(report):
                result = self.fake("ask", "-f", "doc.json", "x", "--report", report)
                self.refused(result, 2, "would replace an input")
        self.assertEqual((self.folder / "doc.json").read_text(), "the document")

    def test_a_document_that_comes_through_a_pipe_is_read_once(self):
        os.mkfifo(self.folder / "pipe")
        process = self.start("ask", "--engine", "fake", "-f", "pipe", "x", "-n", "4")
        (self.folder / "pipe").write_text("what a program writes")
        out, err = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, 0, err)
        self.assertTrue(out)

    def test_no_document_or_one_of_several_that_cannot_be_read(self):
        self.refused(self.fake("ask", "x"), 2, "-f FILE")
        self.write("empty.txt", "")
        self.refused(self.ask("-f", "nowhere.txt", "x"), 3, "'nowhere.txt'")
        self.refused(self.ask("-f", "empty.txt", "x"), 3, "'empty.txt'")
        self.refused(self.ask("-f", "", "x"), 2, "the name of the document is empty")
        self.refused(self.fake("ask", "-f", "-", "-f", "contract.txt", "-f", "-", "x"), 2,
                     "-f -: standard input is one document, but is named 2 times")
        self.refused(self.ask("-f", "-", "--questions", "-"), 2, "both come from standard input")

    def test_a_model_that_is_none(self):
        self.write("text.gguf", "not a model")
        self.write("empty.gguf", "")
        self.write("cut.gguf", b"GGUF\x03\x00\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff" + b"\xff" * 8)
        for name in ("text.gguf", "empty.gguf", "cut.gguf", "nowhere.gguf", "."):
            with self.subTest(name):
                self.refused(self.run_cli("ask", "-f", "contract.txt", "x", "-m", name), 3, "")

    def test_no_model_says_how_to_get_one(self):
        _, _, err = self.refused(self.run_cli("ask", "-f", "contract.txt", "x"), 2,
                                 "give -m FILE or set SWARMKV_MODEL")
        self.assertIn(str(self.folder / ".cache/swarmkv/models/SmolLM2-135M-Instruct.Q4_1.gguf"), err)

    def test_only_a_program_in_its_source_tree_names_the_script_that_fetches_a_model(self):
        libraries = subprocess.run(["ldd", BIN], stdout=subprocess.PIPE, check=True).stdout.decode()
        found = re.search(r"=> (/\S*/libswarmkv\.so\S*)", libraries)
        env = {"LD_LIBRARY_PATH": os.path.dirname(found.group(1))} if found else {}
        tree = self.folder / "tree"
        (tree / "build/release/cli").mkdir(parents=True)
        (tree / "scripts").mkdir()
        (tree / "scripts/get-models").write_text("")
        (tree / "CMakeLists.txt").write_text("")
        (self.folder / "bin").mkdir()
        for place, expected in (("tree/build/release/cli/swarmkv", True), ("bin/swarmkv", False)):
            with self.subTest(place):
                copy = shutil.copy(BIN, self.folder / place)
                result = subprocess.run([copy, "ask", "-f", "contract.txt", "x"], cwd=self.folder,
                                        env=self.environment(**env), stderr=subprocess.PIPE,
                                        timeout=WATCHDOG_S, check=False)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertEqual(b"tree/scripts/get-models fetches it" in result.stderr, expected,
                                 result.stderr)

    def test_an_agent_to_print_that_is_not_there(self):
        self.refused(self.ask("x", "--print", "q2"), 2, "no agent 'q2'; did you mean 'q1'?")

    def test_stream_of_nobody(self):
        self.refused(self.ask("x", "y", "--stream", "--print", "none"), 2, "an agent that is printed")

    def test_control_characters_in_names_do_not_reach_the_terminal(self):
        result = self.refused(self.fake("ask", "-f", "a\x1b[2Jb.txt", "x"), 3, "\\x1b[2J")
        self.assertNotIn("\x1b", result[2])


class UsageTest(CliTest):
    def test_wrong_flags_and_commands_name_the_nearest(self):
        self.refused(self.ask("x", "--temmp", "1"), 2, "did you mean '--temp'?")
        self.refused(self.run_cli("rnu"), 2, "did you mean 'run'?")
        self.refused(self.run_cli(), 2, "no command given")

    def test_later_commands_and_flags_are_refused_by_name(self):
        for command in ("retry", "shell", "serve"):
            self.refused(self.run_cli(command), 2, f"'{command}' is not built yet")
        self.refused(self.ask("x", "--report", "r.pdf"), 2, "must end in .json, .jsonl, .md")

    def test_numbers_out_of_range_name_value_and_range(self):
        self.refused(self.ask("x", "-b", "0"), 2, "--batch-size '0'")
        self.refused(self.ask("x", "-t", "4096"), 2, "auto or a whole number from 1 to 512")
        for flag in ("-np", "-t", "-c"):
            self.refused(self.ask("x", flag, "0"), 2, "'0': must be auto or a whole number from 1")
            self.check(self.ask("x", flag, "auto"), 0)
        self.refused(self.ask("x", "-ngl", "x"), 2, "'x': must be auto, all or a whole number")
        self.refused(self.ask("x", "-c", "x"), 2, "'x': must be auto or a whole number")
        self.refused(self.ask("x", "--temp", "-1"), 2, "--temp '-1'")
        self.refused(self.ask("x", env={"SWARMKV_PREDICT": "-5"}), 2, "SWARMKV_PREDICT '-5'")

    def test_the_environment_sets_what_no_flag_does(self):
        self.check(self.ask("x", "--ignore-eos", "--report", "a.json", env={"SWARMKV_PREDICT": "5"}), 0)
        self.check(self.ask("x", "--ignore-eos", "-n", "3", "--report", "b.json",
                            env={"SWARMKV_PREDICT": "5"}), 0)
        self.assertEqual(self.report_of("a.json")["agents"][0]["usage"]["completion_tokens"], 5)
        self.assertEqual(self.report_of("b.json")["agents"][0]["usage"]["completion_tokens"], 3)

    def test_help_and_version_go_to_stdout(self):
        for args in (["help"], ["--help"], ["-h"], ["ask", "--help"], ["help", "run"], ["run", "-h"]):
            with self.subTest(args):
                code, out, err = self.run_cli(*args)
                self.assertEqual((code, err), (0, ""))
                self.assertIn("swarmkv", out)
        code, out, err = self.run_cli("version")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^swarmkv \d+\.\d+\.\d+ \(llama\.cpp .+\)\n$")

    def test_words_that_nobody_asked_for_are_refused(self):
        self.refused(self.run_cli("help", "rnu"), 2, "unknown command 'rnu'; did you mean 'run'?")
        self.refused(self.run_cli("help", "foo"), 2, "see: swarmkv help")
        self.refused(self.run_cli("help", "serve"), 2, "'serve' is not built yet")
        self.refused(self.run_cli("help", "run", "ask"), 2, "'run', 'ask'")
        self.refused(self.run_cli("version", "extra"), 2, "no argument, but got 'extra'")
        self.refused(self.ask("x", "--print", "q1,q1"), 2, "'q1' is named twice")
        self.refused(self.ask("x", "--print", "q1,"), 2, "a name is empty")

    def test_help_equals_the_golden_page(self):
        self.expect_golden("help_ask.txt", self.run_cli("help", "ask")[1])


class RunTest(CliTest):
    ANSWERS = ["--fake-answer", "memo=The memo.", "--fake-answer", "parties?=A and B",
               "--fake-answer", "risky=Clause 4"]

    def setUp(self):
        super().setUp()
        self.write("swarmkv.yaml", REVIEW)

    def test_the_default_file_prints_what_nobody_needs(self):
        code, out, err = self.fake("run", *self.ANSWERS)
        self.assertEqual((code, out), (0, "The memo.\n"), err)

    def test_print_chooses_agents(self):
        for choice, expected in (("none", ""), ("risks", "Clause 4\n"),
                                 ("all", "# parties\nA and B\n\n# risks\nClause 4\n\n# memo\nThe memo.\n"),
                                 ("memo,parties", "# parties\nA and B\n\n# memo\nThe memo.\n")):
            with self.subTest(choice):
                self.assertEqual(self.fake("run", *self.ANSWERS, "--print", choice)[:2], (0, expected))

    def test_answers_are_inserted_into_the_join(self):
        out = self.fake("run", "--fake-answer", "Join A and B and Clause 4=Seen both.",
                        *self.ANSWERS)[1]
        self.assertEqual(out, "Seen both.\n")

    def test_a_pipeline_may_come_from_standard_input(self):
        code, out, err = self.fake("run", "-", *self.ANSWERS, stdin=REVIEW.encode())
        self.assertEqual((code, out), (0, "The memo.\n"), err)

    def test_a_pipeline_with_errors_lists_them_with_their_place(self):
        self.write("bad.yaml", REVIEW.replace("prompt: Who", "promt: Who").replace("{{ risks }}",
                                                                                 "{{ risk }}"))
        code, out, err = self.fake("run", "bad.yaml")
        self.assertEqual((code, out), (2, ""))
        self.assertRegex(err, r"bad\.yaml:6:5: error: .*promt")
        self.assertRegex(err, r"bad\.yaml:10:\d+: error: .*risk")
        self.assertIn("did you mean", err)

    def test_a_missing_document_is_told_with_its_line_and_all_else_before_a_model_is_loaded(self):
        self.write("slip.yaml", REVIEW.replace("contract.txt", "contrct.txt"))
        for command in ("run", "plan"):
            code, out, err = self.run_cli(command, "slip.yaml", "-m", "no-such-model.gguf")
            self.assertEqual((code, out), (3, ""), err)
            self.assertRegex(err, r"slip\.yaml:\d+:\d+: error: the document cannot be read: 'contrct\.txt'")
            self.assertIn(f"no such file in {self.folder.resolve()} [SK110]", err)
            self.assertIn("^~~~~~~~~~~ did you mean 'contract.txt'?", err)
            self.assertNotIn("model", err)
        self.write("more.yaml", REVIEW.replace("contract.txt", "contrct.txt").replace("prompt: Who", "promt: Who"))
        code, _, err = self.fake("run", "more.yaml")
        self.assertEqual(code, 2)
        self.assertEqual(err.count(": error: "), 2, err)
        self.check(self.run_cli("validate", "slip.yaml"), 0)

    def test_a_circle_is_shown_as_a_path(self):
        self.write("circle.yaml", REVIEW.replace("Who are the parties?", '"{{ memo }} Who?"'))
        code, _, err = self.fake("run", "circle.yaml")
        self.assertEqual(code, 2)
        self.assertIn("parties -> memo -> parties", err)

    def test_a_missing_pipeline(self):
        self.refused(self.fake("run", "nowhere.yaml"), 3, "nowhere.yaml")
        self.refused(self.fake("run", "a.yaml", "b.yaml"), 2, "one pipeline file")

    def test_file_settings_hold_and_flags_beat_them(self):
        self.write("one.yaml", "version: 1\ndocument: contract.txt\nagents:\n  a:\n    prompt: x\n"
                               "    max_tokens: 6\n    temperature: 0.25\n")
        self.check(self.fake("run", "one.yaml", "--ignore-eos", "--report", "a.json"), 0)
        self.check(self.fake("run", "one.yaml", "--ignore-eos", "-n", "2", "--report", "b.json"), 0)
        file, flag = (self.report_of(n)["agents"][0] for n in ("a.json", "b.json"))
        self.assertEqual((file["usage"]["completion_tokens"], file["sampling"]["temperature"]), (6, 0.25))
        self.assertEqual((flag["usage"]["completion_tokens"], flag["sampling"]["temperature"]), (2, 0.25))

    def test_the_header_shows_the_name_or_the_file(self):
        self.write("unnamed.yaml", REVIEW.replace("name: review\n", ""))
        for args, title, stdin in ((["swarmkv.yaml"], "review", None),
                                   (["unnamed.yaml"], "unnamed.yaml", None),
                                   (["-"], "standard input", REVIEW.replace("name: review\n", ""))):
            with self.subTest(args):
                err = self.fake("run", *args, stdin=stdin.encode() if stdin else None)[2]
                self.assertEqual(err.splitlines()[0], f"{title} \u00b7 fake engine \u00b7 3 agents")

    def test_a_document_called_document_is_named_once(self):
        err = self.fake("run", *self.ANSWERS)[2]
        self.assertRegex(err, r"s  document: ready, [\d,]+ tokens")
        self.assertNotIn("document document", err)

    def test_stdout_and_table_equal_the_golden_text(self):
        code, out, err = self.fake("run", *self.ANSWERS, "--print", "all", "--progress", "none",
                                   "--deterministic")
        self.assertEqual(code, 0, err)
        self.expect_golden("run_stdout.txt", out)
        # Times change; words and counts do not.
        table = re.sub(r"[\d,]+\.\d+", "#", err)
        table = re.sub(r" \u00b7 idle # %|  \(\+ # s model load\)", "", table)
        table = re.sub(r"critical path.*", "critical path", table)  # follows the clock, too
        table = re.sub(r" +", " ", table)
        self.expect_golden("run_table.txt", table)


class ChangesTest(CliTest):
    """--var, --set, --select and --exclude."""

    def setUp(self):
        super().setUp()
        self.write("swarmkv.yaml", REVIEW.replace("name: review\n", "name: review\nvars: { who: the buyer }\n")
                   .replace("clauses are risky?", "clauses are risky for {{ vars.who }}?"))

    def run_with(self, *flags, **how):
        return self.fake("run", "-q", *flags, "--fake-answer", "for the seller?=SELLER",
                         "--fake-answer", "for the buyer?=BUYER", "--fake-answer", "Who are=PARTIES",
                         **how)

    def test_a_var_reaches_the_prompt(self):
        result = self.check(self.run_with("--print", "risks", "--var", "who=the seller"), 0)
        self.assertEqual(result[1], "SELLER\n")

    def test_a_value_is_set_and_a_flag_beats_it(self):
        flags = ("--set", "agents.risks.max_tokens=2", "--set", "name=other", "-o", "json")
        report = json.loads(self.check(self.run_with(*flags), 0)[1])
        self.assertEqual(report["name"], "other")
        self.assertEqual(report["agents"][1]["sampling"]["max_tokens"], 2)
        report = json.loads(self.check(self.run_with(*flags, "-n", "3"), 0)[1])
        self.assertEqual(report["agents"][1]["sampling"]["max_tokens"], 3)

    def test_a_value_that_is_set_beats_the_environment(self):
        flags = ("--set", "agents.risks.max_tokens=2", "--set", "model.ctx_size=2048", "-o", "json")
        env = {"SWARMKV_PREDICT": "7", "SWARMKV_CTX_SIZE": "4096"}
        report = json.loads(self.check(self.run_with(*flags, env=env), 0)[1])
        self.assertEqual([agent["sampling"]["max_tokens"] for agent in report["agents"]], [7, 2, 7])
        self.assertEqual(report["ctx_size"], 2048)
        plan = json.loads(self.check(self.fake("plan", *flags, env=env), 0)[1])
        self.assertEqual([agent["max_tokens"] for agent in plan["agents"]], [7, 2, 7])

    def test_only_selected_agents_run(self):
        def names(*flags):
            report = json.loads(self.check(self.run_with("-o", "json", *flags), 0)[1])
            return [agent["name"] for agent in report["agents"]]
        self.assertEqual(names("--select", "risks,parties"), ["parties", "risks"])
        self.assertEqual(names("--select", "risks", "--select", "parties"), ["parties", "risks"])
        self.assertEqual(names("--select", "+memo"), ["parties", "risks", "memo"])
        self.assertEqual(names("--exclude", "memo"), ["parties", "risks"])

    def test_what_does_not_fit_is_refused_before_anything_runs(self):
        self.check(self.run_with("--select", "memo"), 2, "--select +memo takes all that it needs")
        self.check(self.run_with("--var", "whom=x"), 2, "did you mean 'who'?")
        self.check(self.run_with("--set", "agents.risks.temperature=hot"), 2,
                   "--set agents.risks.temperature=hot: error: 'temperature' must be a number")
        self.refused(self.run_with("--var", "who"), 2, "must be NAME=TEXT")
        self.refused(self.run_with("--set", "=1"), 2, "must be KEY=VALUE")
        self.refused(self.run_with("--select", "a,,b"), 2, "--select 'a,,b'")

    def test_validate_takes_them_too(self):
        out = self.check(self.run_cli("validate", "swarmkv.yaml", "--exclude", "memo"), 0)[1]
        self.assertEqual(out, "swarmkv.yaml: ok, 1 document, 2 agents\n")
        self.check(self.run_cli("validate", "swarmkv.yaml", "--set", "agents.memo.seed=-1"), 2, "[SK105]")

    def test_braces_in_a_system_text_of_the_command_line_are_text(self):
        self.check(self.run_with("--system", "Use {{ braces }} and {{"), 0)


class SchemaTest(CliTest):
    """`swarmkv schema` and the parser accept and refuse the same files."""

    AGENT = {"prompt": "x"}
    GOOD_AGENTS = [
        {"x-own": [1]}, {"system": ""}, {"needs": "b"}, {"needs": ["b"]}, {"needs": []},
        {"needs": {"agent": "b", "required": True}}, {"needs": [{"agent": "b"}]},
        {"reads": []}, {"reads": "d"}, {"reads": ["d"]}, {"ready_after": 0}, {"ready_after": "25%"},
        {"ready_after": {"before": "x"}}, {"continues": "b"}, {"json_schema": {"type": "object"}},
        {"json_schema": "{}"}, {"output_file": "out/a..md"}, {"max_tokens": 0}, {"max_tokens": 1000000},
        {"temperature": 0.5}, {"temperature": 1}, {"top_k": 0}, {"top_p": 1}, {"min_p": 0},
        {"repeat_penalty": 1.5}, {"repeat_last_n": 5}, {"seed": 4294967295}, {"stop": "x"},
        {"stop": []}, {"stop": ["a", "b"]}, {"timeout": "1m30s"}, {"timeout": "0s"}, {"priority": -5},
        {"ignore_eos": True}, {"ready_after": "0%"}, {"ready_after": "100%"}, {"ready_after": "100.0%"},
        {"ready_after": "99.99%"}, {"ready_after": ".5%"}, {"ready_after": "007%"}, {"timeout": "168h"},
        {"timeout": "167h59m"}, {"timeout": "10080m"}, {"timeout": "604800s"}, {"timeout": "604800000ms"},
        {"timeout": "000090s"}, {"timeout": "99h"}, {"timeout": "100h"}, {"timeout": "9999m"},
        {"json_schema": " {}"}, {"output_file": "a/.hidden"}, {"output_file": "..a"},
    ]
    BAD_AGENTS = [
        {"promt": "x"}, {"prompt": ""}, {"prompt": " \n"}, {"prompt": 5}, {"prompt": None},
        {"system": 5}, {"needs": 5}, {"needs": {"required": True}}, {"needs": [5]}, {"needs": {}},
        {"needs": {"agent": "b", "required": "no"}}, {"needs": {"agent": "b", "x": 1}},
        {"reads": 5}, {"reads": ["d", "d"]}, {"reads": [""]}, {"ready_after": -1}, {"ready_after": 1.5},
        {"ready_after": "x"}, {"ready_after": {}}, {"ready_after": {"before": ""}},
        {"ready_after": {"before": "x", "b": 1}}, {"continues": ""}, {"continues": ["b"]},
        {"continues": "b", "reads": ["d"]}, {"continues": "b", "ready_after": 5},
        {"json_schema": []}, {"json_schema": ""}, {"output_file": "/x"}, {"output_file": "../x"},
        {"output_file": "a/../x"}, {"output_file": ""}, {"max_tokens": -1}, {"max_tokens": 1000001},
        {"max_tokens": "5"}, {"temperature": -0.1}, {"temperature": "0"}, {"top_k": -1}, {"top_p": 0},
        {"top_p": 1.1}, {"min_p": 1}, {"min_p": -0.1}, {"repeat_penalty": 0}, {"repeat_last_n": -1},
        {"seed": 4294967296}, {"seed": -1}, {"stop": ""}, {"stop": [""]}, {"stop": 5}, {"timeout": 90},
        {"timeout": ""}, {"timeout": "90"}, {"timeout": "1s1m"}, {"priority": 1000001},
        {"ignore_eos": "yes"}, {"retries": 2}, {"run": ["x"]}, {"ready_after": "101%"},
        {"ready_after": "100.1%"}, {"ready_after": "1000%"}, {"ready_after": "1.2.3%"}, {"ready_after": "%"},
        {"ready_after": ".%"}, {"ready_after": "-1%"}, {"ready_after": "+5%"}, {"ready_after": "1e1%"},
        {"timeout": "169h"}, {"timeout": "1000h"}, {"timeout": "10081m"}, {"timeout": "604801s"},
        {"timeout": "604800001ms"}, {"timeout": "0000000090s"}, {"needs": ""}, {"needs": ["b", "b"]},
        {"json_schema": "nothing"}, {"json_schema": "[]"}, {"json_schema": "file://"},
        {"output_file": "out/"}, {"output_file": "."}, {"output_file": "a/."}, {"output_file": ".."},
    ]
    # What a schema cannot say, and the parser refuses all the same.
    ONLY_THE_PARSER = [{"timeout": "168h1m"}, {"json_schema": "{"}, {"needs": "nobody"}, {"continues": "a"}]
    GOOD_TOPS = [
        {"name": "n"}, {"model": {}}, {"model": {"path": "m", "ctx_size": "auto", "n_gpu_layers": "all"}},
        {"model": {"ctx_size": 1, "n_gpu_layers": 0, "threads": 512, "threads_batch": 1, "batch_size": 1,
                   "parallel": 240, "cache_type_k": "q8_0", "cache_type_v": "f32", "flash_attn": "on"}},
        {"documents": {"d": {"path": "p", "x-a": 1}, "e": "q", "x-f": 5}}, {"system": "s"}, {"vars": {}},
        *({"documents": {"d": {"path": "p", "snapshot": each}}}
          for each in ("off", "auto", "d.swkv", "kept/d", "./auto", "../d.swkv")),
        {"vars": {"a": "x", "b": 5, "c": 1.5, "x-d": []}}, {"defaults": {}},
        {"defaults": {"max_tokens": 5, "reads": ["d"], "timeout": "5m"}}, {"x-own": {}},
    ]
    BAD_TOPS = [
        {"version": 2}, {"version": "1"}, {"version": None}, {"name": ""}, {"name": 5}, {"model": 5},
        {"model": {"paht": "x"}}, {"model": {"ctx_size": 0}}, {"model": {"n_gpu_layers": "some"}},
        {"model": {"threads": 0}}, {"model": {"parallel": 241}}, {"model": {"flash_attn": True}},
        {"model": {"cache_type_k": "q3"}}, {"model": {"batch_size": 65537}}, {"document": ""},
        {"document": "d"}, {"documents": []}, {"documents": {"d": {}}}, {"documents": {"D": "x"}},
        *({"documents": {"d": {"path": "p", "snapshot": each}}}
          for each in ("on", "Auto", "", "d", True, 5, None, ["auto"])),
        {"documents": {"d": {"snapshot": "auto"}}}, {"documents": {"d": ""}},
        {"system": None}, {"vars": []}, {"vars": {"A": "x"}}, {"vars": {"a": None}},
        {"vars": {"a": True}}, {"vars": {"a": ["x"]}}, {"defaults": {"prompt": "x"}},
        {"defaults": {"needs": "b"}}, {"defaults": {"top_p": 0}}, {"agents": {}}, {"agents": []},
        {"agents": None}, {"agents": {"A": {"prompt": "x"}}}, {"agents": {"vars": {"prompt": "x"}}},
        {"agents": {"a": {}}}, {"agents": {"a": "x"}}, {"agent": {}}, {"snapshot": "auto"},
        {"documents": {"vars": "x", "d": "d"}}, {"documents": {"agents": "x", "d": "d"}},
    ]

    def setUp(self):
        super().setUp()
        self.schema = json.loads(self.check(self.run_cli("schema"), 0)[1])

    def pipeline(self, top=None, agent=None):
        agents = {"a": {**self.AGENT, **(agent or {})}, "b": {"prompt": "y"}}
        return {"version": 1, "documents": {"d": "d.txt"}, "agents": agents, **(top or {})}

    def agrees(self, value, good):
        # JSON is YAML, so the parser reads it as it stands.
        self.write("p.yaml", json.dumps(value))
        code, _, err = self.run_cli("validate", "p.yaml")
        with self.subTest(value=value, messages=err):
            self.assertEqual(code, 0 if good else 2)
            self.assertEqual(json_schema.accepts(self.schema, value), good)

    def test_they_accept_the_same(self):
        for agent in self.GOOD_AGENTS:
            self.agrees(self.pipeline(agent=agent), True)
        for top in self.GOOD_TOPS:
            self.agrees(self.pipeline(top=top), True)
        without = self.pipeline()
        del without["documents"]
        self.agrees({**without, "document": "d.txt"}, True)
        self.agrees({**without, "document": {"path": "d.txt"}}, True)

    def test_they_refuse_the_same(self):
        for agent in self.BAD_AGENTS:
            self.agrees(self.pipeline(agent=agent), False)
        for top in self.BAD_TOPS:
            self.agrees(self.pipeline(top=top), False)
        for missing in ("version", "agents"):
            value = self.pipeline()
            del value[missing]
            self.agrees(value, False)

    def test_what_only_the_parser_knows(self):
        for agent in self.ONLY_THE_PARSER:
            value = self.pipeline(agent=agent)
            self.write("p.yaml", json.dumps(value))
            with self.subTest(value=value):
                self.assertEqual(self.run_cli("validate", "p.yaml")[0], 2)
                self.assertTrue(json_schema.accepts(self.schema, value), "then say it in the schema")

    def test_a_schema_that_cannot_bind_answers_is_told_with_its_line(self):
        agents = {name: {"prompt": "x", "json_schema": {"type": "string", "pattern": "^a$"}} for name in "ab"}
        self.write("p.yaml", json.dumps({"version": 1, "agents": agents}, indent=1))
        for command in ("run", "plan"):
            code, _, err = self.run_cli(command, "p.yaml", "--engine", "fake")
            self.assertEqual(code, 2)
            self.assertEqual(err.count("[SK109]"), 2, "all at once: " + err)
            self.assertIn("p.yaml:6:4: error: 'json_schema' of agent 'a'", err)

    def test_it_is_a_schema_for_other_programs_too(self):
        try:
            import jsonschema
        except ImportError:
            self.skipTest("no jsonschema package; json_schema.py checks the same")
        jsonschema.Draft202012Validator.check_schema(self.schema)
        validator = jsonschema.Draft202012Validator(self.schema)
        for agents, tops, good in ((self.GOOD_AGENTS, self.GOOD_TOPS, True),
                                   (self.BAD_AGENTS, self.BAD_TOPS, False)):
            for value in [self.pipeline(agent=a) for a in agents] + [self.pipeline(top=t) for t in tops]:
                with self.subTest(value=value):
                    self.assertEqual(validator.is_valid(value), good)

    def test_it_takes_no_argument(self):
        self.refused(self.run_cli("schema", "x"), 2, "schema takes no argument")


class ExitCodeTest(CliTest):
    SLOW = """\
version: 1
document: contract.txt
agents:
  slow:
    prompt: Take your time.
    timeout: 100ms
    max_tokens: 400
  after: { prompt: "Use {{ slow }}" }
  alone: { prompt: Independent., max_tokens: 2 }
"""

    def test_1_if_an_agent_times_out_and_its_dependents_are_skipped(self):
        self.write("slow.yaml", self.SLOW)
        code, _, err = self.fake("run", "slow.yaml", "--ignore-eos", "--fake-delay-ms", "20",
                                 "--report", "r.json")
        self.assertEqual(code, 1, err)
        report = self.report_of("r.json")
        by_name = {a["name"]: a for a in report["agents"]}
        self.assertEqual(by_name["slow"]["error"]["code"], "timeout")
        self.assertEqual(by_name["after"]["status"], "skipped")
        self.assertIn("slow", by_name["after"]["skip_reason"])
        self.assertEqual(by_name["alone"]["status"], "finished")
        self.assertEqual(report["exit_code"], 1)

    def test_5_if_the_engine_fails_for_good(self):
        code, out, err = self.ask(*"abcdef", "-np", "1", "--fake-fail-at-forward", "2", "--report",
                                  "r.json")
        self.assertEqual(code, 5, err)
        self.assertEqual(out, "")
        self.assertEqual(self.report_of("r.json")["exit_code"], 5)

    def test_124_if_the_run_takes_too_long(self):
        code, _, err = self.ask("x", "-n", "2000", "--ignore-eos", "--fake-delay-ms", "20", "--timeout",
                                "200ms", "--report", "r.json")
        self.assertEqual(code, 124, err)
        report = self.report_of("r.json")
        self.assertEqual(report["exit_code"], 124)
        self.assertIn("200 ms", report["agents"][0]["error"]["message"])
        self.assertRegex(err, r"\ncancelled +q1: .*200 ms")

    def test_1_if_a_failure_stops_the_rest_which_says_so(self):
        self.write("slow.yaml", self.SLOW.replace("max_tokens: 2 ", "max_tokens: 5000 "))
        code, _, err = self.fake("run", "slow.yaml", "--ignore-eos", "--fake-delay-ms", "20",
                                 "--fail-fast", "--report", "r.json")
        self.assertEqual(code, 1, err)
        by_name = {a["name"]: a for a in self.report_of("r.json")["agents"]}
        self.assertEqual(by_name["alone"]["status"], "cancelled")
        self.assertIn("'slow' failed", by_name["alone"]["error"]["message"])
        self.assertNotIn("skipped: skipped", err)

    def test_1_if_an_answer_is_cut_under_strict(self):
        args = ["x", "y", "--fake-answer", "x=one two three four five", "-n", "2", "--report", "r.json"]
        code, out, err = self.ask(*args)
        self.assertEqual(code, 0, err)
        for quiet in ([], ["-q"]):
            with self.subTest(quiet):
                code, strict_out, err = self.ask(*args, "--strict", *quiet)
                self.assertEqual((code, strict_out), (1, out), "the answers are printed all the same")
                self.assertRegex(err, r"swarmkv: --strict: .*error.*: 'q\d' cut at max_tokens=2")
                report = self.report_of("r.json")
                self.assertEqual((report["status"], report["exit_code"]), ("failed", 1))

    def test_4_if_memory_does_not_suffice(self):
        with open(self.folder / "large.txt", "wb") as large:
            large.truncate(400 << 20)
        result = self.limited({resource.RLIMIT_AS: 500 << 20}, "ask", "--engine", "fake", "-f",
                              "large.txt", "x")
        self.refused(result, 4, "memory did not suffice; lower -c")

    def test_4_wherever_memory_ends(self):
        """From hardly enough to start to plenty: in words, never by a signal."""
        self.write("review.yaml", REVIEW)
        self.check(self.fake("run", "review.yaml", "-q", "--report", "r.json"), 0)
        found = set()
        for mib in range(40, 400, 8):
            def lower(size=mib << 20):
                resource.setrlimit(resource.RLIMIT_AS, (size, resource.getrlimit(resource.RLIMIT_AS)[1]))
            if self.run_cli("version", preexec_fn=lower)[0] != 0:
                continue
            for args in (["inspect", "r.json"], ["plan", "--engine", "fake", "review.yaml"]):
                code, _, err = self.run_cli(*args, preexec_fn=lower)
                self.assertIn(code, (0, 4), f"{args}, {mib} MiB: {err}")
                self.assertTrue(code == 0 or "memory" in err, err)
                found.add(code)
        if not found:
            self.skipTest("sanitizers need more than these limits")
        self.assertIn(0, found)

    def test_4_names_the_variable_that_set_a_limit(self):
        env = {"SWARMKV_CTX_SIZE": "16", "SWARMKV_COLOR": "never"}
        code, _, err = self.ask("x", env=env)
        self.assertEqual(code, 4, err)
        self.assertRegex(err, r"; set by the environment: SWARMKV_CTX_SIZE\n")
        code, _, err = self.ask("x", "-c", "16", env=env)
        self.assertEqual(code, 4, err)
        self.assertNotIn("environment", err)

    def test_4_if_no_thread_can_be_started(self):
        # Every thread gets a stack of this size, and there is not as much memory.
        result = self.limited({resource.RLIMIT_STACK: 4 << 30, resource.RLIMIT_AS: 2 << 30}, "ask",
                              "--engine", "fake", "-f", "contract.txt", "x")
        self.refused(result, 4, "no thread could be started")

    def test_validate_0_2_and_3(self):
        self.write("good.yaml", REVIEW)
        self.write("bad.yaml", "version: 1\nagnets: {}\n")
        self.assertEqual(self.run_cli("validate", "good.yaml")[:2],
                         (0, "good.yaml: ok, 1 document, 3 agents\n"))
        code, out, err = self.run_cli("validate", "good.yaml", "bad.yaml")
        self.assertEqual(code, 2)
        self.assertIn("bad.yaml:2:1: error:", err)
        self.assertIn("good.yaml: ok", out)
        self.refused(self.run_cli("validate", "nowhere.yaml"), 3, "nowhere.yaml")
        self.refused(self.run_cli("validate"), 2, "FILE")

    def test_inspect_refuses_what_is_no_model(self):
        self.write("text.gguf", "not a model")
        self.refused(self.run_cli("inspect", "text.gguf"), 3, "text.gguf")
        self.refused(self.run_cli("inspect", "nowhere.gguf"), 3, "nowhere.gguf")
        self.refused(self.run_cli("inspect"), 2, "one FILE")

    def test_inspect_says_of_json_that_is_no_report_what_it_takes(self):
        takes = "inspect takes a GGUF model, a snapshot (.swkv) or the report of a run (--report NAME.json)"
        for name, text, why in (("a.json", '{"a": 1}', "JSON without a schema"), ("b.json", "[1, 2]", "without a schema"),
                                ("c.txt", '  {"schema": "swarmkv.plan/1"}', "'swarmkv.plan/1'"),
                                ("d.json", '{"schema": "swarmkv.report/1", "na', "not JSON, or cut short"),
                                ("e.jsonl", '{"v":1,"seq":0}\n{"v":1,"seq":1}\n', "not JSON, or cut short"),
                                ("f.json", "", "not JSON"), ("g.json", "[" * 100000, "not JSON")):
            with self.subTest(name):
                self.write(name, text)
                for output in ("text", "json"):
                    result = self.refused(self.run_cli("inspect", name, "-o", output), 3, takes)
                    self.assertIn(why, result[2])
                    self.assertIn(f"'{name}'", result[2])
        self.refused(self.run_cli("inspect", "nowhere.json"), 3, "'nowhere.json'")


class OutputTest(CliTest):
    def test_json_on_stdout_is_the_report_and_nothing_else(self):
        code, out, _ = self.ask("Who pays?", "-o", "json", "--report", "r.json")
        self.assertEqual(code, 0)
        report = json.loads(out)
        self.assertEqual(report_schema.problems(report), [])
        self.assertEqual(out, (self.folder / "r.json").read_text(encoding="utf-8"))
        self.assertEqual(report["command"][0], "ask")
        self.assertEqual(report["status"], "finished")

    def test_json_goes_to_stdout_when_an_agent_fails(self):
        code, out, _ = self.ask("x", "-o", "json", "--fake-fail-at-forward", "2")
        self.assertEqual(code, 1, "the agent failed, but the context stays usable")
        self.assertEqual(report_schema.problems(json.loads(out)), [])

    def test_several_reports_are_all_written(self):
        self.check(self.ask("x", "--report", "a.json", "--report", "b.json"), 0)
        self.assertEqual(self.report_of("a.json"), self.report_of("b.json"))
        self.nothing_left_behind()

    def test_quiet_leaves_only_the_answer(self):
        code, out, err = self.ask("x", "-q", "--fake-answer", "x=yes")
        self.assertEqual((code, out, err), (0, "yes\n", ""))

    def test_model_text_goes_verbatim_into_a_pipe(self):
        text = "tab\t esc \x1b[31m \u00fcml\u00e4ut \U0001f41d"
        self.assertEqual(self.ask("x", "--fake-answer", f"x={text}")[1], text + "\n")

    def test_a_stream_is_the_same_text(self):
        text = "one two three \U0001f41d four"
        plain = self.ask("x", "--fake-answer", f"x={text}")[1]
        self.assertEqual(self.ask("x", "--fake-answer", f"x={text}", "--stream")[1], plain)

    THOUGHTS = ["--fake-answer", "Which?=<think>\nA or B?\n</think>\n\nB.\n"]

    def test_reasoning_is_no_part_of_the_answer(self):
        for flags in ((), ("--stream",)):
            code, out, err = self.ask("Which?", *flags, *self.THOUGHTS, "--report", "r.json")
            self.assertEqual((code, out), (0, "B.\n"), err)
            agent = self.report_of("r.json")["agents"][0]
            self.assertEqual((agent["text"], agent["reasoning"]), ("B.\n", "A or B?"))
        code, out, _ = self.ask("Which?", "Who?", "--stream", "--fake-answer", "Who?=He.", *self.THOUGHTS)
        self.assertEqual((code, sorted(out.splitlines())), (0, ["q1 | B.", "q2 | He."]))
        for flags in ((), ("--stream",)):
            code, out, _ = self.ask("x", "-n", "9", *flags, "--fake-answer", "x=<think>abcdefg</think>h")
            self.assertEqual((code, out.strip()), (0, ""), "cut while it still thought")

    def test_reasoning_goes_neither_into_a_join_nor_into_a_file(self):
        self.write("p.yaml", """\
version: 1
document: contract.txt
agents:
  a: { prompt: "Which?", output_file: a.txt }
  join: { prompt: "Got {{ a }}!" }
""")
        code, out, err = self.fake("run", "p.yaml", *self.THOUGHTS, "--fake-answer", "Got B.\n!=Seen.")
        self.assertEqual((code, out), (0, "Seen.\n"), err)
        self.assertEqual((self.folder / "a.txt").read_text(), "B.\n")

    def test_a_stream_of_several_agents_tells_whose_line_it_is(self):
        answers = ["--fake-answer", "first=one\n\ntwo", "--fake-answer", "second=three\n"]
        code, out, err = self.ask("first", "second", "--stream", *answers)
        self.assertEqual(code, 0, err)
        lines = out.splitlines()
        self.assertEqual([l for l in lines if l.startswith("q1 | ")], ["q1 | one", "q1 | ", "q1 | two"])
        self.assertEqual([l for l in lines if l.startswith("q2 | ")], ["q2 | three"])
        self.assertEqual(len(lines), 4)
        self.assertTrue(out.endswith("\n"))

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            self.check(self.ask("x", stdout=full), 3, "standard output")
            self.check(self.ask("x", "--stream", stdout=full), 3, "standard output")
        (self.folder / "full.json").symlink_to("/dev/full")
        code, out, err = self.ask("x", "--fake-answer", "x=kept", "--report", "full.json")
        self.assertEqual(code, 3)
        self.assertEqual(out, "kept\n", "the answer does not suffer")
        self.assertIn("full.json", err)

    def test_a_closed_stdout_is_an_error_and_no_file_is_overwritten(self):
        command = 'exec "$0" "$@" >&-'
        process = subprocess.run(
            ["sh", "-c", command, BIN, "ask", "--engine", "fake", "-f", "contract.txt", "x"],
            cwd=self.folder, env=self.environment(), stderr=subprocess.PIPE, timeout=WATCHDOG_S,
            check=False)
        self.assertEqual(process.returncode, 3, process.stderr)
        self.assertEqual((self.folder / "contract.txt").read_text(), DOCUMENT)

    def test_the_report_names_the_exit_code_of_a_full_disk(self):
        with open("/dev/full", "wb") as full:
            self.check(self.ask("x", "--report", "r.json", stdout=full), 3, "standard output")
        self.assertEqual(self.report_of("r.json")["exit_code"], 3)

    def without_reader(self, *args):
        read_end, write_end = os.pipe()
        os.close(read_end)
        try:
            return self.fake(*args, stdout=write_end)
        finally:
            os.close(write_end)

    def test_a_reader_that_goes_away_is_no_error(self):
        for extra in ([], ["--stream"], ["-o", "json"]):
            for report in ([], ["--report", "r.json"]):
                with self.subTest(extra + report):
                    code, _, err = self.without_reader("ask", "-f", "contract.txt", "x", "-n", "50",
                                                       "--ignore-eos", *extra, *report)
                    self.assertEqual(code, 0, err)
                    if report:
                        written = self.report_of("r.json")
                        self.assertEqual((written["status"], written["exit_code"]), ("finished", 0))

    def test_pages_without_a_reader_are_no_error(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        for page in ("help", "version"):
            self.assertEqual(self.run_cli(page, stdout=write_end)[0], 0)
        os.close(write_end)

    def test_a_reader_that_goes_away_hides_no_failure(self):
        self.write("slow.yaml", ExitCodeTest.SLOW)
        for extra in (["--print", "all"], ["-o", "json"],
                      ["--stream", "--print", "alone", "--report", "r.json"]):
            with self.subTest(extra):
                code, _, err = self.without_reader("run", "slow.yaml", "--ignore-eos",
                                                   "--fake-delay-ms", "20", *extra)
                self.assertEqual(code, 1, err)

    def test_a_stream_that_nobody_reads_is_stopped_and_says_why(self):
        code, _, err = self.without_reader("ask", "-f", "contract.txt", "x", "--stream", "-n", "3000",
                                           "--ignore-eos", "--fake-delay-ms", "20")
        self.assertEqual(code, 0, err)
        self.assertRegex(err, r"\ncancelled +q1: stopped: standard output is not read any more")

    def test_plain_progress_begins_with_the_header(self):
        _, _, err = self.ask("x", "y")
        lines = err.splitlines()
        self.assertEqual(lines[0], "contract.txt \u00b7 fake engine \u00b7 2 agents")
        self.assertIn("model loaded", lines[1])
        self.assertTrue(any("document contract: ready" in line for line in lines), err)
        self.assertTrue(any("q1: finished" in line for line in lines), err)

    def test_no_colours_outside_of_a_terminal_unless_asked(self):
        self.assertNotIn("\x1b", self.ask("x")[2])
        self.assertIn("\x1b[", self.ask("x", "--color", "always")[2])
        self.assertIn("\x1b[", self.ask("x", env={"CLICOLOR_FORCE": "1"})[2])
        self.assertNotIn("\x1b", self.ask("x", env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"})[2])

    def test_the_default_model_is_named_in_the_header(self):
        models = self.folder / "cache" / "models"
        models.mkdir(parents=True)
        (models / "SmolLM2-135M-Instruct.Q4_1.gguf").write_text("not a model")
        result = self.check(self.run_cli("ask", "-f", "contract.txt", "x",
                                         env={"SWARMKV_CACHE": str(self.folder / "cache")}), 3)
        self.assertIn("SmolLM2-135M-Instruct.Q4_1 (default model)", result[2].splitlines()[0])


class EventsTest(CliTest):
    """-o jsonl and --progress jsonl: the stream and nothing else, from run.started to run.finished."""

    def stream(self, text):
        """The events of `text`, which must hold them and nothing else."""
        self.assertTrue(text.endswith("\n"), text)
        events = []
        for line in text[:-1].split("\n"):
            event = json.loads(line)
            # Byte for byte what a writer without spaces makes of it: nothing stands between.
            self.assertEqual(json.dumps(event, ensure_ascii=False, separators=(",", ":")), line)
            self.assertEqual(list(event)[:4], ["v", "seq", "t_ms", "type"])
            self.assertEqual(event["v"], 1)
            self.assertEqual(event["seq"], len(events))
            self.assertIsInstance(event["t_ms"], (int, float))
            events.append(event)
        self.assertEqual(events[0]["type"], "run.started")
        self.assertEqual(events[-1]["type"], "run.finished")
        self.assertEqual([e["type"] for e in events].count("run.finished"), 1)
        return events

    def test_a_run_is_told_from_its_beginning_to_its_end(self):
        self.write("review.yaml", REVIEW)
        code, out, err = self.fake("run", "review.yaml", "-o", "jsonl", "--fake-answer", "parties?=Both.",
                                   "--fake-answer", "Join=It says \u00fc\U0001f41d.")
        self.assertEqual(code, 0, err)
        events = self.stream(out)
        self.assertEqual([e["type"] for e in events[:2]], ["run.started", "model.loaded"])
        self.assertLess(events[0]["t_ms"], 0)
        self.assertEqual(events[-1]["name"], "review")
        self.assertEqual((events[-1]["status"], events[-1]["exit_code"]), ("finished", 0))
        for name, text in (("parties", "Both."), ("memo", "It says \u00fc\U0001f41d.")):
            own = [e for e in events if e.get("agent") == name]
            self.assertEqual([e["type"] for e in own if e["type"] != "agent.delta"],
                             ["agent.enqueued", "agent.started", "agent.first_token", "agent.finished"])
            self.assertEqual("".join(e["text"] for e in own if e["type"] == "agent.delta"), text)
            self.assertEqual(own[-1]["text"], text)
        self.assertIn("review \u00b7 fake engine", err, "stderr is as always")

    def test_reasoning_has_a_field_of_its_own(self):
        code, out, err = self.ask("x", "--fake-answer", "x=<think>\nA or B?</think>\n\nB.", "-o", "jsonl",
                                  "--fake-delay-ms", "9")
        self.assertEqual(code, 0, err)
        events = self.stream(out)
        deltas = [e for e in events if e["type"] == "agent.delta"]
        self.assertGreater(len(deltas), 2)
        self.assertEqual("".join(e["text"] for e in deltas), "B.")
        self.assertEqual("".join(e.get("reasoning", "") for e in deltas), "A or B?")
        self.assertEqual([e["text"] for e in events if e["type"] == "agent.finished"], ["B."])

    def test_deltas_of_an_agent_are_50_ms_apart(self):
        process = self.start("ask", "--engine", "fake", "-f", "contract.txt", "x", "-o", "jsonl", "-n", "60",
                             "--ignore-eos", "--fake-delay-ms", "7")
        out, _ = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, 0)
        times = [e["t_ms"] for e in self.stream(out.decode()) if e["type"] == "agent.delta"]
        self.assertGreater(len(times), 3)
        # The last one comes with its agent's end.
        self.assertGreaterEqual(min(b - a for a, b in zip(times, times[1:-1])), 49.9)

    def test_a_delta_does_not_wait_for_the_next_token(self):
        process = self.start("ask", "--engine", "fake", "-f", "contract.txt", "x", "-o", "jsonl", "-n", "40",
                             "--ignore-eos", "--fake-delay-ms", "1500")
        for line in process.stdout:
            if json.loads(line)["type"] == "agent.first_token":
                began = time.monotonic()
            if json.loads(line)["type"] == "agent.delta":
                break
        self.assertLess(time.monotonic() - began, 1.2)
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read().decode()
        self.assertEqual(process.wait(timeout=WATCHDOG_S), 130)
        last = json.loads(rest.splitlines()[-1])
        self.assertEqual((last["type"], last["status"], last["exit_code"]), ("run.finished", "interrupted", 130))

    def test_an_end_before_anything_ran_is_told_too(self):
        self.write("bad.yaml", "version: 1\ndocument: contract.txt\nagents:\n  a: { promt: x }\n")
        cases = [
            (("ask", "-f", "nowhere.txt", "x"), 3, "nowhere.txt"),
            (("ask", "-f", "contract.txt"), 2, "no question"),
            (("ask", "-f", "contract.txt", "x", "--temp", "hot"), 2, "--temp 'hot'"),
            (("ask", "-f", "contract.txt", "x", "--bogus"), 2, "unknown flag '--bogus'"),
            (("ask", "-f", "contract.txt", "x", "--report", "no/such/folder.json"), 3, "folder.json"),
            (("ask", "-f", "contract.txt", "x", "--fake-ctx-train", "100"), 4, "fit"),
            (("run", "bad.yaml"), 2, "promt"),
            (("run", "nowhere.yaml"), 3, "nowhere.yaml"),
        ]
        for args, code, message in cases:
            with self.subTest(args):
                result = self.check(self.fake(*args, "-o", "jsonl"), code, message)
                last = self.stream(result[1])[-1]
                self.assertEqual((last["status"], last["exit_code"]), ("failed", code))
                self.assertIn(message, last["message"])
                result = self.check(self.fake(*args, "--progress", "jsonl"), code)
                self.assertEqual(result[1], "")
                self.assertIn(message, self.stream(result[2])[-1]["message"])

    def test_an_agent_that_fails_and_an_engine_that_fails(self):
        self.write("slow.yaml", ExitCodeTest.SLOW)
        code, out, _ = self.fake("run", "slow.yaml", "--ignore-eos", "--fake-delay-ms", "20", "-o", "jsonl")
        events = self.stream(out)
        self.assertEqual((code, events[-1]["exit_code"], events[-1]["status"]), (1, 1, "failed"))
        ends = {e["agent"]: e for e in events if e["type"].startswith("agent.") and
                e["type"].split(".")[1] in ("finished", "failed", "skipped")}
        self.assertEqual((ends["slow"]["type"], ends["slow"]["code"]), ("agent.failed", "timeout"))
        self.assertIn("'slow'", ends["after"]["reason"])
        code, out, _ = self.ask("a", "b", "-np", "1", "--fake-fail-at-forward", "2", "-o", "jsonl")
        self.assertEqual(self.stream(out)[-1]["exit_code"], code)
        self.assertNotEqual(code, 0)

    def test_warnings_are_events_and_strict_tells_its_reason(self):
        args = ("x", "--fake-answer", "x=one two three four", "-n", "2", "-o", "jsonl")
        events = self.stream(self.check(self.ask(*args), 0)[1])
        warning = events[-2]
        self.assertEqual((warning["type"], warning["agent"], warning["code"]), ("warning", "q1", "SK601"))
        events = self.stream(self.check(self.ask(*args, "--strict"), 1)[1])
        self.assertEqual((events[-1]["status"], events[-1]["exit_code"]), ("failed", 1))
        self.assertIn("--strict", events[-1]["message"])

    def test_progress_jsonl_leaves_standard_error_to_the_stream(self):
        code, out, err = self.ask("x", "--progress", "jsonl", "--fake-answer", "x=yes")
        self.assertEqual((code, out), (0, "yes\n"))
        self.stream(err)
        code, out, err = self.ask("x", "-o", "jsonl", env={"SWARMKV_PROGRESS": "jsonl"})
        self.assertEqual(code, 0)
        self.assertEqual(out, err, "both are one stream")
        code, out, err = self.ask("x", "-q", "--progress", "jsonl", "--fake-answer", "x=yes")
        self.assertEqual((code, out, err), (0, "yes\n", ""))

    def test_a_jsonl_report_is_the_stream(self):
        code, out, err = self.ask("x", "y", "-n", "2", "-o", "jsonl", "--report", "r.jsonl")
        self.assertEqual(code, 0, err)
        self.assertEqual((self.folder / "r.jsonl").read_text(encoding="utf-8"), out)
        code, out, err = self.ask("x", "--report", "r.jsonl", "--fake-answer", "x=yes")
        self.assertEqual((code, out), (0, "yes\n"))
        self.assertIn("agent.delta", [e["type"] for e in self.stream(
            (self.folder / "r.jsonl").read_text(encoding="utf-8"))])

    def test_every_signal_has_its_end(self):
        slow = ("ask", "--engine", "fake", "-f", "contract.txt", "x", "-o", "jsonl", "--progress", "plain",
                "--fake-delay-ms", "60000")
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            process = self.start(*slow)
            self.wait_for_line(process, "q1: waits for contract")
            process.send_signal(number)
            self.wait_for_line(process, "stopping")
            process.send_signal(number)
            out, _ = process.communicate(timeout=WATCHDOG_S)
            last = self.stream(out.decode())[-1]
            self.assertEqual((process.returncode, last["exit_code"]), (code, code), "at once")
        process = self.start("ask", "--engine", "fake", "-f", "-", "x", "-o", "jsonl", "--progress", "plain",
                             stdin=subprocess.PIPE)
        self.wait_for_line(process, "fake engine")  # waits for its document, which never comes
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        self.assertEqual([e["type"] for e in self.stream(out.decode())], ["run.started", "run.finished"])
        self.assertEqual(process.wait(timeout=WATCHDOG_S), 130)

    def test_a_reader_that_goes_away_and_a_full_disk(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        code, _, err = self.ask("x", "-n", "3000", "--ignore-eos", "--fake-delay-ms", "20", "-o", "jsonl",
                                stdout=write_end)
        os.close(write_end)
        self.assertEqual(code, 0, err)
        self.assertIn("not read any more", err)
        with open("/dev/full", "wb") as full:
            self.check(self.ask("x", "-o", "jsonl", stdout=full), 3, "standard output")

    def test_events_that_cannot_be_written_to_stderr_are_told_by_the_exit_code(self):
        command = '"$0" "$@" 2>/dev/full'
        words = ["ask", "--engine", "fake", "-f", "contract.txt", "x", "--fake-answer", "x=kept"]
        for more, code in ((["--progress", "jsonl"], 3), ([], 0)):
            process = subprocess.run(["sh", "-c", command, BIN, *words, *more, "--report", "r.json"],
                                     cwd=self.folder, env=self.environment(), timeout=WATCHDOG_S,
                                     stdout=subprocess.PIPE, check=False)
            self.assertEqual(process.returncode, code, more)
            self.assertEqual(process.stdout, b"kept\n", "the answer does not suffer")

    def test_help_is_help(self):
        self.assertIn("swarmkv run", self.check(self.run_cli("run", "-o", "jsonl", "--help"), 0)[1])


class CutAnswerTest(CliTest):
    """The help of SK601 is a way out that works."""

    def setUp(self):
        super().setUp()
        self.write("swarmkv.yaml", REVIEW.replace("are the parties?", "are the parties?\n    max_tokens: 4"))

    def warnings(self, command, *args, env=None):
        long = "barrels=" + "word " * 600
        _, out, _ = self.check(self.fake(command, "-q", "--fake-answer", long, "-o", "json", *args, env=env), 0)
        report = json.loads(out)
        for w in report["warnings"]:
            self.assertEqual(w["code"], "SK601")
        return {w["agent"]: (w["message"].split(";")[0], w["hint"], w["pos"]) for w in report["warnings"]}

    def test_of_a_pipeline_it_is_the_agents_key(self):
        cut = self.warnings("run", "--set", "defaults.max_tokens=6", "--set", "agents.memo.max_tokens=7")
        self.assertEqual(cut, {
            "parties": ("cut at max_tokens=4", "try --set agents.parties.max_tokens=8", "swarmkv.yaml:7:5"),
            "risks": ("cut at max_tokens=6", "try --set agents.risks.max_tokens=12", "swarmkv.yaml:8:3"),
            "memo": ("cut at max_tokens=7", "try --set agents.memo.max_tokens=14", None)})
        more = self.warnings("run", *cut["parties"][1].split()[1:])
        self.assertEqual(more["parties"][:2], ("cut at max_tokens=8", "try --set agents.parties.max_tokens=16"))

    def test_where_a_flag_or_variable_holds_for_all_it_is_the_flag(self):
        cut = self.warnings("run", "-n", "5")
        self.assertEqual(cut["parties"], ("cut at max_tokens=5", "raise max_tokens: -n 10", None))
        cut = self.warnings("run", "-n", "5", "--set", "agents.parties.max_tokens=3")
        self.assertEqual(cut["parties"], ("cut at max_tokens=5", "raise max_tokens: -n 10", None))
        cut = self.warnings("run", "--set", "agents.memo.max_tokens=2", env={"SWARMKV_PREDICT": "5"})
        self.assertEqual(cut["parties"], ("cut at max_tokens=5", "raise max_tokens: -n 10", None))
        self.assertEqual(cut["memo"][:2], ("cut at max_tokens=2", "try --set agents.memo.max_tokens=4"))
        for flags, limit in (((), 512), (("-n", "5"), 5)):
            cut = self.warnings("ask", "-f", "contract.txt", "x", *flags)
            self.assertEqual(cut["q1"], (f"cut at max_tokens={limit}", f"raise max_tokens: -n {2 * limit}", None))

    def test_the_same_advice_is_given_once(self):
        err = self.check(self.ask("a", "b", "c", "-n", "2", "--fake-answer", "barrels=one two three four"), 0)[2]
        self.assertEqual((err.count("[SK601]"), err.count("help: raise max_tokens: -n 4")), (3, 1))


class InspectReportTest(CliTest):
    """`inspect report.json` tells what the run told."""

    def expect_the_table(self, told, table):
        """The same but for the last digit: a report holds three decimals, a table rounds them again."""
        shown = told[told.index("swarmkv "):]
        self.assertEqual(len(shown.splitlines()), len(table.splitlines()), f"{shown}\n---\n{table}")
        for ours, theirs in zip(shown.split(), table.split()):
            if ours != theirs:
                self.assertAlmostEqual(float(ours.replace(",", "")), float(theirs.replace(",", "")), delta=0.11)

    def run_and_inspect(self, *args, code=0):
        _, _, table = self.check(self.run_cli(*args, "--report", "r.json", "--progress", "none"), code)
        _, told, err = self.check(self.run_cli("inspect", "r.json"), 0)
        self.assertEqual(err, "")
        self.expect_the_table(told, table)
        return told

    def test_a_run_that_went_well(self):
        self.write("swarmkv.yaml", REVIEW)
        told = self.run_and_inspect("run", "--engine", "fake", "-n", "3", "--fake-answer", "barrels=one two three four",
                                    "--fake-delay-ms", "2")
        for line in (r"name +review", r"started +\d{4}-\d\d-\d\dT.*Z", r"ended +finished, exit code 0",
                     r"critical path   document \d.* = \d+\.\d\d s", r"warning +parties: cut at max_tokens=3.*"):
            self.assertRegex(told, rf"(?m)^{line}$")
        self.assertEqual(self.run_cli("inspect", "r.json", "-o", "json")[1], (self.folder / "r.json").read_text())
        colored = self.run_cli("inspect", "r.json", "--color", "always")[1]
        self.assertIn("\x1b[", colored)
        self.assertEqual(re.sub(r"\x1b\[\d+m", "", colored), told)
        self.assertNotIn("\x1b", told)

    def test_a_run_that_did_not(self):
        self.write("swarmkv.yaml", REVIEW.replace("clauses are risky?", "clauses are risky?\n    timeout: 1ms"))
        told = self.run_and_inspect("run", "--engine", "fake", "--fake-delay-ms", "20", code=1)
        self.assertRegex(told, r"(?m)^failed +risks: ")
        self.assertRegex(told, r"(?m)^skipped +memo: ")
        self.assertRegex(told, r"(?m)^ended +failed, exit code 1$")

    def test_any_name_will_do_and_control_characters_are_shown(self):
        self.check(self.ask("x", "--report", "r.json"), 0)
        report = self.report_of("r.json")
        report["name"] = "a\x1b[2Jb"
        report["agents"][0]["name"] = "c\x1b[2Jd"
        report["added_later"] = {"x": [1]}
        self.write("kept", json.dumps(report))
        told = self.check(self.run_cli("inspect", "kept"), 0)[1]
        self.assertNotIn("\x1b", told)
        self.assertIn("a\\x1b[2Jb", told)


class FormatsTest(CliTest):
    def test_the_end_of_a_reports_name_says_what_it_is(self):
        names = ["r.json", "r.jsonl", "r.md", "r.html", "r.csv", "r.trace.json"]
        code, _, err = self.ask("Who pays?", "Who delivers?", "-n", "5", "--ignore-eos",
                                *[word for name in names for word in ("--report", name)])
        self.assertEqual(code, 0, err)
        text = {name: (self.folder / name).read_bytes().decode() for name in names}
        self.assertEqual(report_schema.problems(json.loads(text["r.json"])), [])
        self.assertEqual(json.loads(text["r.jsonl"].splitlines()[-1])["type"], "run.finished")
        self.assertTrue(text["r.md"].startswith("# "))
        self.assertTrue(text["r.html"].startswith("<!doctype html>"))
        self.assertEqual(text["r.csv"].count("\r\n"), 3)
        self.assertIn("traceEvents", json.loads(text["r.trace.json"]))
        self.nothing_left_behind()

    def test_other_names_are_refused(self):
        for name in ("r", "r.JSON", "r.trace", "json"):
            self.refused(self.ask("x", "--report", name), 2, "must end in .json, .jsonl, .md")


class ReportFileTest(CliTest):
    def test_a_replaced_report_keeps_its_mode(self):
        path = self.write("r.json", "old")
        path.chmod(0o640)
        self.check(self.ask("x", "--report", "r.json"), 0)
        self.report_of("r.json")
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o640)

    def test_a_report_that_may_not_grow_leaves_nothing_behind(self):
        self.write("r.json", "old")
        code, out, err = self.limited({resource.RLIMIT_FSIZE: 1024}, "ask", "--engine", "fake", "-f",
                                      "contract.txt", "x", "--fake-answer", "x=kept", "--report",
                                      "r.json")
        self.assertEqual((code, out), (3, "kept\n"), err)
        self.assertIn("cannot write 'r.json': File too large", err)
        self.assertEqual((self.folder / "r.json").read_text(), "old")
        self.nothing_left_behind()

    def test_a_link_to_a_file_that_is_yet_to_be_made_is_followed(self):
        (self.folder / "results").mkdir()
        (self.folder / "link.json").symlink_to("results/r.json")
        self.check(self.ask("x", "--report", "link.json"), 0)
        self.assertTrue((self.folder / "link.json").is_symlink())
        self.report_of("results/r.json")

        (self.folder / "lost.json").symlink_to("nowhere/r.json")
        result = self.refused(self.ask("x", "--report", "lost.json"), 3, "'lost.json'")
        self.assertNotIn("model loaded", result[2])

    def test_a_pipe_that_nobody_reads_is_found_before_the_model_loads(self):
        os.mkfifo(self.folder / "pipe.json")
        result = self.refused(self.ask("x", "--report", "pipe.json"), 3,
                              "'pipe.json': no program reads from this pipe")
        self.assertNotIn("model loaded", result[2])

    def test_a_pipe_gets_the_whole_report(self):
        os.mkfifo(self.folder / "pipe.json")
        read = []
        reader = threading.Thread(target=lambda: read.append((self.folder / "pipe.json").read_text()))
        reader.start()
        # The reader waits for somebody who writes; until it is there the pipe is refused.
        while True:
            code, _, err = self.ask(*[f"Question {i}?" for i in range(100)], "--report", "pipe.json",
                                    "-n", "2")
            if "no program reads" not in err:
                break
        self.assertEqual(code, 0, err)
        reader.join(timeout=WATCHDOG_S)
        self.assertEqual(report_schema.problems(json.loads(read[0])), [])

    def pipe_and_run(self, *args):
        """A run whose report goes into a pipe that holds one page and is not read."""
        import fcntl
        os.mkfifo(self.folder / "pipe.json")
        reader = os.open(self.folder / "pipe.json", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(reader, 1031, 4096)  # F_SETPIPE_SZ
        process = self.start("ask", "--engine", "fake", "-f", "contract.txt", "a", "b", "c", "d", "e",
                             "f", "--report", "r.json", "--report", "pipe.json", "-n", "2", *args)
        return reader, process

    def test_a_reader_of_a_report_that_goes_away_is_an_error(self):
        reader, process = self.pipe_and_run("--fake-delay-ms", "20")
        self.wait_for_line(process, "q1: started")
        os.close(reader)
        _, err = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual(process.returncode, 3, err)
        self.assertIn(b"'pipe.json': Broken pipe", err)

    def test_the_second_signal_ends_a_report_that_cannot_be_written(self):
        reader, process = self.pipe_and_run("--print", "q1")
        self.assertTrue(process.stdout.readline(), "the answers come before the reports")
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(timeout=0.1)
            except subprocess.TimeoutExpired:
                pass
        os.close(reader)
        self.assertEqual(process.returncode, 130)
        self.nothing_left_behind()


class TerminalTest(CliTest):
    def test_the_live_region_is_drawn_and_cleared(self):
        code, screen = self.on_terminal("x", "-n", "4", "--ignore-eos", "--fake-delay-ms", "60")
        self.assertEqual(code, 0)
        self.assertIn("loading the model", screen)
        self.assertRegex(screen, r"\x1b\[\d+A\x1b\[J\S*swarmkv ask|\x1b\[J\x1b\[1mswarmkv ask")
        self.assertIn("document  contract", screen)

    def test_a_dumb_terminal_gets_plain_lines(self):
        for kind in ("dumb", ""):
            with self.subTest(kind):
                code, screen = self.on_terminal("x", env={"TERM": kind})
                self.assertEqual(code, 0)
                self.assertNotIn("\x1b", screen)
                self.assertIn("document contract: ready", screen)

    def test_model_text_cannot_drive_the_terminal(self):
        code, screen = self.on_terminal("x", "-q", "--fake-answer", "x=a\x1b[2Jb\x07", stdout_too=True)
        self.assertEqual(code, 0)
        self.assertIn("a\\x1b[2Jb\\x07", screen)
        self.assertNotIn("\x1b[2J", screen)


class TerminalSizeTest(CliTest):
    """What is drawn in windows of all kinds; the screen is looked at as a terminal would."""

    @staticmethod
    def drawings(screen):
        """The lines of each drawing of the live region, without colours."""
        plain = re.sub(r"\x1b\[[0-9;]*m", "", screen).replace("\r", "")
        frames = re.split(r"\x1b\[\d+A|\x1b\[J", plain)
        return [[line.replace("\x1b[2K", "") for line in frame.split("\n") if line]
                for frame in frames if "\x1b[2K" in frame]

    def test_no_line_is_wider_than_a_narrow_window(self):
        code, screen = self.on_terminal("Who pays whom, and when?", "-n", "6", "--ignore-eos",
                                        "--fake-delay-ms", "40", size=(24, 20))
        self.assertEqual(code, 0)
        drawings = self.drawings(screen)
        self.assertGreater(len(drawings), 1)
        for line in sum(drawings, []):
            self.assertLess(len(line), 20, line)

    def test_no_drawing_is_higher_than_a_low_window(self):
        prompts = [f"{i} who?" for i in range(30)]
        code, screen = self.on_terminal(*prompts, "-n", "4", "--ignore-eos", "--fake-delay-ms", "40",
                                        size=(8, 80))
        self.assertEqual(code, 0)
        for drawing in self.drawings(screen):
            self.assertLess(len(drawing), 8)
        self.assertRegex(screen, r"\d+ more agents")

    def test_a_window_that_becomes_narrower_is_drawn_anew(self):
        """As soon as something is drawn the window shrinks; the run goes on until that was seen."""
        code, screen = self.on_terminal("x", "-n", "40", "--ignore-eos", "--fake-delay-ms", "40",
                                        resize_to=(24, 40))
        self.assertEqual(code, 0)
        drawings = self.drawings(screen)
        self.assertGreater(max(len(line) for line in drawings[0]), 40)
        self.assertLess(max(len(line) for line in drawings[-1]), 40)
        # The drawing before was broken into more rows than it had lines.
        ups = [int(n) for n in re.findall(r"\x1b\[(\d+)A", screen)]
        self.assertGreater(max(ups), max(len(d) for d in drawings))

    def test_reasoning_is_not_written_as_the_answer(self):
        code, screen = self.on_terminal("x", "--fake-answer", "x=<think>A or B?</think>It is B.",
                                        "--fake-delay-ms", "9", stdout_too=True)
        self.assertEqual(code, 0)
        answer = screen[screen.rindex("\x1b[J"):]
        self.assertIn("It is B.", answer)
        self.assertNotIn("A or", answer)
        self.assertNotIn("<think", screen)

    def test_colours_follow_flag_then_variable_then_terminal(self):
        colour = "\x1b[1mswarmkv ask"
        for args, env, expected in (((), {}, True), (("--color", "never"), {}, False),
                                    ((), {"NO_COLOR": "1"}, False),
                                    (("--color", "always"), {"NO_COLOR": "1"}, True),
                                    ((), {"NO_COLOR": "1", "CLICOLOR_FORCE": "1"}, False),
                                    ((), {"TERM": "dumb", "CLICOLOR_FORCE": "1"}, True),
                                    ((), {"SWARMKV_COLOR": "never"}, False)):
            with self.subTest(args=args, env=env):
                code, screen = self.on_terminal("x", *args, env=env)
                self.assertEqual(code, 0)
                self.assertEqual(colour in screen, expected, repr(screen))
        for env, expected in (({}, False), ({"CLICOLOR_FORCE": "1"}, True), ({"CLICOLOR_FORCE": "0"}, False)):
            self.assertEqual("\x1b[1m" in self.ask("x", env=env)[2], expected, env)

    def test_a_ci_log_keeps_every_line_unless_told_otherwise(self):
        for env, args, drawn in (({"CI": "true"}, (), False), ({"CI": "false"}, (), True),
                                 ({"CI": "1"}, ("--progress", "tty"), True)):
            with self.subTest(env=env, args=args):
                screen = self.on_terminal("x", *args, env=env)[1]
                self.assertEqual("\x1b[2K" in screen, drawn)

    def test_several_printed_agents_are_streamed_below_the_live_region(self):
        code, screen = self.on_terminal("first", "second", "--stream", "--fake-answer", "first=one",
                                        "--fake-answer", "second=two", stdout_too=True)
        self.assertEqual(code, 0)
        last_drawing = screen.rindex("\x1b[2K")
        for line in ("q1 | one", "q2 | two"):
            self.assertGreater(screen.index(line), last_drawing)


class PlanTest(CliTest):
    def setUp(self):
        super().setUp()
        self.write("swarmkv.yaml", REVIEW)

    def plan(self, *args, **how):
        code, out, err = self.fake("plan", "-o", "json", *args, **how)
        self.assertEqual(code, 0, err)
        return json.loads(out)

    def test_it_says_what_the_run_then_does(self):
        plan = self.plan()
        self.check(self.fake("run", "--report", "r.json"), 0)
        report = self.report_of("r.json")
        self.assertEqual(plan["kv"]["ctx_size"], report["ctx_size"])
        self.assertEqual(plan["name"], "review")
        self.assertEqual(plan["summary"]["certainty"], "upper_bound")
        for key in ("prompt_tokens", "prompt_tokens_computed", "prompt_tokens_reused"):
            self.assertGreaterEqual(plan["summary"][key], report["summary"][key])
        for planned, real in zip(plan["agents"][:2], report["agents"][:2]):
            self.assertEqual(planned["prompt_tokens"], real["usage"]["prompt_tokens"])
        self.assertEqual(plan["agents"][2]["needs"], ["parties", "risks"])
        self.assertEqual([w["agents"] for w in plan["waves"]], [["parties", "risks"], ["memo"]])

    def test_text_goes_to_stdout_and_nothing_else(self):
        code, out, err = self.fake("plan")
        self.assertEqual((code, err), (0, ""))
        self.assertRegex(out, r"^swarmkv plan review   1 document \u00b7 3 agents \u00b7 fits\n")
        for part in ("computed once", "prompt tokens", "KV cache", "critical path", "upper bounds"):
            self.assertIn(part, out)
        self.assertNotIn("\x1b", out)

    def test_graphs(self):
        self.assertTrue(self.fake("plan", "-o", "dot")[1].startswith("digraph plan {"))
        self.assertIn("flowchart LR", self.fake("plan", "-o", "mermaid")[1])

    def test_flags_that_change_a_run_change_its_plan(self):
        plain = self.plan()
        for args, path in ((["-c", "5000"], ("kv", "ctx_size")), (["-np", "1"], ("parallel",)),
                           (["-ctk", "q8_0"], ("kv", "bytes_per_cell")),
                           (["-ctv", "q8_0"], ("kv", "bytes_per_cell")),
                           (["-n", "7"], ("agents", 0, "max_tokens")),
                           (["--system", "Be short."], ("summary", "prefix_tokens")),
                           (["--no-chat-template"], ("summary", "prefix_tokens")),
                           (["--handoff", "recompute"], ("summary", "prompt_tokens_reused")),
                           (["--deterministic"], ("together",)),
                           (["--fake-ctx-train", "3000"], ("model", "n_ctx_train"))):
            with self.subTest(args):
                before, after = plain, self.plan(*args)
                for key in path:
                    before, after = before[key], after[key]
                self.assertNotEqual(before, after)

    def test_the_word_run_of_a_command_line_can_be_made_plan(self):
        plain = self.plan()
        flags = ["-ngl", "0", "-t", "2", "-tb", "2", "-b", "64", "-ub", "64", "-fa", "on", "--attention", "auto",
                 "--temp", "1", "--top-k", "5", "--top-p", "0.5", "--min-p", "0.1", "--repeat-penalty", "1.1", "-s", "7",
                 "--stop", "END", "--ignore-eos", "--snapshot", "auto", "--snapshot-dir", "kept", "--snapshot-limit",
                 "1GiB", "--report", "r.html", "--report", "r.jsonl", "--print", "all", "--progress", "jsonl",
                 "--timeout", "1m", "--fail-fast", "--fake-answer", "Who=me", "--fake-delay-ms", "0"]
        before = sorted(self.folder.iterdir())
        self.assertEqual(self.plan(*flags), plain, "none of them changes it")
        code, out, err = self.fake("plan", "-o", "jsonl", "--stream", *flags)
        self.assertEqual((code, err, out.count("\n")), (0, "", 1))
        self.assertEqual(json.loads(out), plain)
        self.assertEqual(sorted(self.folder.iterdir()), before, "nothing is written")
        self.check(self.fake("run", *flags), 0)
        self.assertTrue((self.folder / "r.html").exists() and (self.folder / "kept").exists(), "by the run it is")

    def test_a_pipeline_may_come_from_standard_input(self):
        plan = json.loads(self.fake("plan", "-", "-o", "json", stdin=REVIEW.encode())[1])
        self.assertEqual(len(plan["agents"]), 3)

    def test_4_if_it_does_not_fit_and_what_is_known_is_told(self):
        code, out, err = self.fake("plan", "-c", "100")
        self.assertEqual(code, 4)
        self.assertIn("[SK401]", err)
        self.assertIn("does not fit", out)
        self.assertFalse(json.loads(self.fake("plan", "-c", "100", "-o", "json")[1])["fits"])

    def test_other_exit_codes(self):
        self.write("bad.yaml", REVIEW.replace("prompt: Who", "promt: Who"))
        self.assertEqual(self.fake("plan", "bad.yaml")[:2], (2, ""))
        self.refused(self.fake("plan", "nowhere.yaml"), 3, "nowhere.yaml")
        self.write("lost.yaml", REVIEW.replace("contract.txt", "lost.txt"))
        err = self.check(self.fake("plan", "lost.yaml"), 3)[2]
        self.assertIn("lost.yaml:3:11: error: the document cannot be read: 'lost.txt'", err)
        self.assertNotIn("did you mean", err, "the pipeline itself is no document")
        self.refused(self.fake("plan", "a.yaml", "b.yaml"), 2, "one pipeline file")
        self.refused(self.fake("plan", "-o", "csv"), 2, "text, json, jsonl, dot, mermaid")
        self.refused(self.fake("plan", "--temp", "101"), 2, "--temp '101'")
        self.refused(self.fake("plan", "--label", "x"), 2, "'plan' does not take --label")
        self.refused(self.run_cli("plan", "-m", "nowhere.gguf"), 3, "nowhere.gguf")
        self.refused(self.run_cli("plan"), 2, "no model")
        self.write("contract.txt", b"a\xffb" * 40)
        self.refused(self.fake("plan", "--strict"), 3, "contract.txt")

    def test_a_reader_that_goes_away_is_no_error(self):
        read, write = os.pipe()
        os.close(read)
        try:
            self.check(self.fake("plan", "-o", "json", stdout=write), 0)
        finally:
            os.close(write)
        with open("/dev/full", "wb") as full:
            self.check(self.fake("plan", stdout=full), 3, "standard output")


class CompletionTest(CliTest):
    def completed(self, *words):
        """What bash offers at the end of `swarmkv WORDS...`; the last word is the one being typed."""
        script = ('source <("$1" completion bash); shift; COMP_WORDS=(swarmkv "$@"); COMP_CWORD=$#; '
                  "_swarmkv; printf '%s\\n' \"${COMPREPLY[@]}\"")
        bash = subprocess.run(["bash", "--norc", "-c", script, "bash", BIN, *words], cwd=self.folder,
                              env=self.environment(), capture_output=True, timeout=WATCHDOG_S)
        self.assertEqual(bash.stderr.decode(), "")
        return bash.stdout.decode().split()

    def test_commands_flags_values_and_files(self):
        self.write("model.gguf", "")
        for words, expected in ((["pl"], ["plan"]), (["help", "comp"], ["completion"]),
                                (["completion", ""], ["bash", "zsh", "fish"]),
                                (["run", "--fail"], ["--fail-fast"]),
                                (["plan", "-ct"], ["-ctk", "-ctv"]),
                                (["plan", "-o", "m"], ["mermaid"]),
                                (["bench", "-o", "m"], ["md"]),
                                (["run", "--color", "="], ["auto", "always", "never"]),
                                (["run", "--color", "=", "al"], ["always"]),
                                (["ask", "-m", "mod"], ["model.gguf"]),
                                (["ask", "-f", "contr"], ["contract.txt"]),
                                (["run", "contr"], ["contract.txt"]),
                                (["snapshot", "l"], ["list"]), (["snapshot", ""], ["save", "list", "show",
                                                                                   "verify", "rm", "prune"]),
                                (["snapshot", "verify", "--a"], ["--all"]), (["snapshot", "list", "--a"], []),
                                (["snapshot", "prune", "--snapshot-l"], ["--snapshot-limit"]),
                                (["snapshot", "save", "-f", "contr"], ["contract.txt"]),
                                (["snapshot", "list", "-o", ""], ["text", "json"]),
                                (["run", "--snapshot", "a"], ["auto"]),
                                (["run", "--snapshot", "mo"], ["model.gguf"]),
                                (["run", "--timeout", "1"], []), (["validate", "--s"], ["--set", "--select", "--strict"]),
                                (["nonsense", "-"], [])):
            with self.subTest(words):
                self.assertEqual(self.completed(*words), expected)

    def test_snapshots_are_offered_by_their_names(self):
        names = {"kept": ["1a.swkv", "1b.swkv", "2c.swkv"], ".cache/swarmkv/snapshots": ["9d.swkv"]}
        for folder, files in names.items():
            (self.folder / folder).mkdir(parents=True)
            for name in files + ["notes.txt", ".tmp-1-2"]:
                (self.folder / folder / name).touch()
        at = ("--snapshot-dir", "kept")
        for words, expected in (((*at, ""), names["kept"]), ((*at, "1"), ["1a.swkv", "1b.swkv"]),
                                ((*at, "1a.swkv", "2"), ["2c.swkv"]),
                                (("--snapshot-dir", "=", "kept", "2"), ["2c.swkv"]),
                                (("",), ["9d.swkv"]), (("--snapshot-dir", "nowhere", ""), []),
                                (("--snapshot-dir", "ke"), ["kept"])):
            for verb in ("show", "verify", "rm"):
                with self.subTest(verb=verb, words=words):
                    self.assertEqual(sorted(self.completed("snapshot", verb, *words)), expected)
        self.assertEqual(self.completed("snapshot", "list", ""), [])

    def test_a_file_with_spaces_is_one_word(self):
        self.write("two words.txt", "")
        script = ('source <("$1" completion bash); COMP_WORDS=(swarmkv run two); COMP_CWORD=2; '
                  '_swarmkv; echo "${#COMPREPLY[@]} ${COMPREPLY[0]}"')
        out = subprocess.run(["bash", "--norc", "-c", script, "bash", BIN], cwd=self.folder,
                             env=self.environment(), capture_output=True, timeout=WATCHDOG_S).stdout
        self.assertEqual(out.decode(), "1 two words.txt\n")

    def test_every_command_offers_what_its_page_shows(self):
        commands = self.completed("")
        self.assertIn("plan", commands)
        for command in commands:
            if command.startswith("-") or command in ("help", "version"):
                continue
            with self.subTest(command):
                page = self.run_cli("help", command)[1]
                shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", page))
                self.assertEqual(shown - set(self.completed(command, "--")), set())

    def test_the_other_shells_accept_their_scripts(self):
        for shell in ("zsh", "fish"):
            with self.subTest(shell):
                code, script, err = self.run_cli("completion", shell)
                self.assertEqual((code, err), (0, ""))
                for command in ("run", "plan", "completion", "snapshot", "verify"):
                    self.assertRegex(script, rf"(?m)\b{command}\b")
                for flag in ("ctx-size", "ngl", "fail-fast"):
                    self.assertIn(flag, script)
                for line in script.splitlines():
                    if not line.lstrip().startswith("#"):
                        self.assertEqual(line.count("'") % 2, 0, line)
                if shutil.which(shell):
                    check = subprocess.run([shell, "-n"], input=script.encode(), capture_output=True)
                    self.assertEqual((check.returncode, check.stderr), (0, b""))

    def test_other_shells_are_refused_by_name(self):
        self.refused(self.run_cli("completion"), 2, "bash, zsh or fish")
        self.refused(self.run_cli("completion", "tcsh"), 2, "not for 'tcsh'")
        self.refused(self.run_cli("completion", "fishy"), 2, "did you mean 'fish'?")


class SnapshotDiskTest(CliTest):
    """Runs whose documents cannot be kept: exit code 0, the right answer, one warning that says why."""

    def keeping(self, *args):
        """Slow enough that the document is worth keeping."""
        return ["ask", "--engine", "fake", "-f", "contract.txt", "x", "--fake-delay-ms", "30", "-n", "4",
                "-o", "json", "--snapshot", "auto", *args]

    def expect_one_warning(self, result, *parts):
        code, out, err = self.check(result, 0)
        report = json.loads(out)
        told = [w for w in report["warnings"] if w["code"] in ("SK607", "SK608")]
        self.assertEqual(len(told), 1, report["warnings"])
        for part in parts:
            self.assertIn(part, told[0]["message"])
            self.assertIn(part, err, "people are told, too")
        self.assertEqual(report["documents"][0]["snapshot"]["state"], "skipped")
        cold = json.loads(self.check(self.ask("x", "-n", "4", "-o", "json"), 0)[1])
        self.assertEqual([a["text"] for a in report["agents"]], [a["text"] for a in cold["agents"]])

    def test_a_limit_of_file_sizes(self):
        result = self.limited({resource.RLIMIT_FSIZE: 1000}, *self.keeping("--snapshot-dir", "kept"))
        self.expect_one_warning(result, "no snapshot of 'contract' was saved", "File too large")
        self.assertEqual(list((self.folder / "kept").iterdir()), [])

    def test_a_folder_in_which_nothing_can_be_made(self):
        # Also for the superuser; for others it is somebody else's.
        self.expect_one_warning(self.run_cli(*self.keeping("--snapshot-dir", "/proc")), "/proc")

    def test_a_folder_that_is_none(self):
        self.write("kept", "a file")
        self.expect_one_warning(self.run_cli(*self.keeping("--snapshot-dir", "kept")), "kept")
        self.assertEqual((self.folder / "kept").read_text(), "a file")

    def test_a_folder_that_is_removed_during_the_run(self):
        process = self.start(*self.keeping("--snapshot-dir", "kept", "-b", "16", "--progress", "plain",
                                           "--fake-delay-ms", "100"))
        seen = self.wait_for_line(process, "document contract")
        shutil.rmtree(self.folder / "kept")
        out, err = process.communicate(timeout=WATCHDOG_S)
        self.expect_one_warning((process.returncode, out.decode(), seen + err.decode()), "contract", "No such file")
        self.assertFalse((self.folder / "kept").exists())


class SnapshotTest(CliTest):
    """Documents that are read once and kept: `swarmkv snapshot`, and runs that use what is there."""

    def setUp(self):
        super().setUp()
        self.kept = self.folder / "kept"

    def snapshot(self, verb, *args, **how):
        return self.run_cli("snapshot", verb, "--snapshot-dir", "kept", *args, **how)

    def save(self, *args, document="contract.txt", **how):
        return self.snapshot("save", "--engine", "fake", "-f", document, *args, **how)

    def restored(self, *args, **how):
        return self.ask(*args, "--snapshot", "auto", "--snapshot-dir", "kept", **how)

    def files(self):
        return sorted(self.kept.glob("*.swkv"))

    def saved(self, *args, **how):
        """The one file that this save adds."""
        before = set(self.files())
        self.check(self.save(*args, **how), 0)
        new = set(self.files()) - before
        self.assertEqual(len(new), 1)
        return new.pop()

    @staticmethod
    def flip(path, at):
        data = bytearray(path.read_bytes())
        data[at] ^= 0xFF
        path.write_bytes(data)

    # Runs

    def test_a_document_that_was_saved_is_not_read_again(self):
        prompts = [f"Question {i}?" for i in range(8)]
        cold = self.check(self.ask(*prompts, "-n", "8", "--deterministic"), 0)
        self.assertNotIn("snapshot", cold[2])
        path = self.saved("--deterministic")
        code, out, err = self.restored(*prompts, "-n", "8", "--deterministic", "--report", "r.json",
                                       "--report", "r.md", "--report", "r.html", "--report", "r.jsonl")
        self.assertEqual((code, out), (0, cold[1]), err)
        report = self.report_of("r.json")
        document = report["documents"][0]
        self.assertEqual((document["source"], document["computed_tokens"]), ("restored", 0))
        self.assertEqual(document["snapshot"]["state"], "restored")
        self.assertEqual(document["snapshot"]["path"], str(path))
        self.assertEqual(document["snapshot"]["size_bytes"], path.stat().st_size)
        self.assertEqual(document["snapshot"]["n_tokens"], document["n_tokens"])
        self.assertIsNone(document["snapshot"]["reason"])
        self.assertEqual({w["code"] for w in report["warnings"]}, {"SK601"}, "answers were cut, nothing else")
        own = sum(a["usage"]["prompt_tokens"] - document["n_tokens"] for a in report["agents"])
        self.assertEqual(report["summary"]["prompt_tokens_computed"], own)
        self.assertRegex(err, r"s  document contract: restored [\d,]+ tokens from " + re.escape(path.name))
        self.assertRegex(err, r"\nsnapshot        restored [\d,]+ tokens from " + re.escape(path.name))
        self.assertRegex(err, r"computed \(document [\d,]+ restored\)")
        self.assertIn("\nsnapshot        restored ", (self.folder / "r.md").read_text())
        self.assertIn('"state":"restored"', (self.folder / "r.html").read_text())
        events = [json.loads(line) for line in (self.folder / "r.jsonl").read_text().splitlines()]
        event = next(e for e in events if e["type"] == "snapshot.restored")
        self.assertEqual(event["document"], "contract")
        self.assertEqual(event["path"], str(path))
        self.assertEqual(event["n_tokens"], document["n_tokens"])

    def test_several_documents_of_ask_are_kept_and_restored(self):
        self.write("annex.txt", "The annex has three pages. " * 30)
        # Slow enough that reading a file back takes less time.
        ask = lambda question: self.restored("-f", "annex.txt", question, "-n", "1", "--fake-delay-ms", "50",
                                             "--report", "r.json")
        self.check(ask("Who?"), 0)
        self.assertEqual(self.report_of("r.json")["documents"][1]["snapshot"]["state"], "saved")
        self.check(ask("What?"), 0)
        for document in self.report_of("r.json")["documents"]:
            self.assertEqual((document["source"], document["computed_tokens"]), ("restored", 0))

    def test_flag_beats_variable_beats_file_beats_off(self):
        self.saved()
        pipeline = "version: 1\ndocument: { path: contract.txt, snapshot: %s }\nagents: { a: { prompt: x } }\n"
        at = {"SWARMKV_SNAPSHOT_DIR": "kept"}
        for file, variable, flag, expected in (("off", None, None, None), ("auto", None, None, "restored"),
                                               ("auto", "off", None, None), ("off", "auto", None, "restored"),
                                               ("auto", "auto", "off", None),
                                               ("off", "off", "auto", "restored")):
            with self.subTest(file=file, variable=variable, flag=flag):
                self.write("swarmkv.yaml", pipeline % file)
                env = {**at, **({"SWARMKV_SNAPSHOT": variable} if variable else {})}
                args = ["--snapshot", flag] if flag else []
                report = json.loads(self.check(self.fake("run", "-o", "json", *args, env=env), 0)[1])
                found = report["documents"][0]["snapshot"]
                self.assertEqual(found and found["state"], expected)
        report = json.loads(self.check(self.ask("x", "-o", "json", env=at), 0)[1])
        self.assertIsNone(report["documents"][0]["snapshot"], "off unless asked for")

    def test_a_named_file_is_used_from_anywhere(self):
        path = self.saved()
        other = self.folder / "elsewhere"
        other.mkdir()
        shutil.move(path, other / "mine.snapshot")
        self.write("elsewhere/p.yaml", "version: 1\ndocument: { path: ../contract.txt, snapshot: mine.snapshot }\n"
                                       "agents: { a: { prompt: x } }\n")
        for result in (self.fake("run", "elsewhere/p.yaml", "-o", "json"),
                       self.ask("x", "-o", "json", "--snapshot", "elsewhere/mine.snapshot"),
                       self.ask("x", "-o", "json", "--snapshot", str(other / "mine.snapshot"))):
            document = json.loads(self.check(result, 0)[1])["documents"][0]
            self.assertEqual((document["source"], document["computed_tokens"]), ("restored", 0))
            self.assertTrue(os.path.samefile(self.folder / document["snapshot"]["path"], other / "mine.snapshot"))

    def test_a_named_file_that_does_not_match_is_an_error_and_nothing_is_run(self):
        path = self.saved()
        self.write("text.swkv", "not a snapshot")
        self.write("other.txt", "Another text altogether. " * 20)
        named = ("--snapshot", str(path))
        self.refused(self.ask("x", "--snapshot", "nowhere.swkv"), 3, "nowhere.swkv")
        self.refused(self.ask("x", "--snapshot", "./kept"), 3, "kept")
        self.refused(self.ask("x", "--snapshot", "text.swkv"), 3, "text.swkv")
        self.refused(self.ask("x", *named, "-ctk", "q8_0"), 3, "q8_0")
        self.refused(self.fake("ask", "-f", "other.txt", "x", *named), 3, path.name)
        self.flip(path, path.stat().st_size - 3)
        self.refused(self.ask("x", *named), 3, path.name)

    def test_a_damaged_file_costs_one_warning_and_the_document_is_read(self):
        cold = self.check(self.ask("x"), 0)[1]
        path = self.saved()
        self.flip(path, path.stat().st_size // 2)
        code, out, err = self.restored("x", "--report", "r.json", "--snapshot-limit", "1GiB")
        self.assertEqual((code, out), (0, cold), err)
        report = self.report_of("r.json")
        self.assertEqual(len(report["warnings"]), 1, report["warnings"])
        self.assertIn(path.name, report["warnings"][0]["message"])
        document = report["documents"][0]
        self.assertEqual(document["computed_tokens"], document["n_tokens"])
        self.assertIn("rejected", err)
        aside = path.with_name(path.name + ".damaged")
        self.assertTrue(aside.exists(), "it is met once")
        if path.exists():  # it was worth writing anew
            self.check(self.snapshot("verify", path.name), 0)
        listed = self.check(self.snapshot("list"), 0)[1]
        self.assertIn("unusable: ", listed)
        self.assertRegex(listed, r"\n1 of them is of no use any more; to remove it: "
                                 r"swarmkv snapshot prune --snapshot-dir kept\n$")
        if path.exists():
            self.assertIn(aside.name + "  ", listed, "whole, beside its twin")
        inspected = self.check(self.run_cli("inspect", str(aside)), 0)[1]
        self.assertRegex(inspected, r"(?m)^problem +was found damaged and set aside: .*damaged$")
        self.assertRegex(inspected, r"(?m)^what now +nothing reads it; swarmkv snapshot prune removes it$")
        told = json.loads(self.check(self.run_cli("inspect", str(aside), "-o", "json"), 0)[1])
        self.assertIn("was found damaged and set aside: ", told["problem"])
        self.assertEqual(told["name"], aside.name)
        out = self.check(self.snapshot("prune"), 0)[1]
        self.assertIn(f"removed {aside.name}", out)
        self.assertFalse(aside.exists())

    def test_a_terminal_shows_where_the_document_came_from(self):
        self.saved()
        code, screen = self.on_terminal("x", "-n", "30", "--ignore-eos", "--fake-delay-ms", "20",
                                        "--snapshot", "auto", "--snapshot-dir", "kept", size=(24, 120))
        self.assertEqual(code, 0)
        self.assertRegex(screen, r"100 %  restored \(")

    def test_a_report_may_not_replace_the_snapshot(self):
        path = self.saved()
        shutil.copy(path, self.folder / "s.json")
        before = path.read_bytes()
        self.refused(self.ask("x", "--snapshot", "./s.json", "--report", "s.json"), 2, "an input of this run")
        self.assertEqual((self.folder / "s.json").read_bytes(), before)

    # save

    def test_save_says_what_came_of_each_document(self):
        self.write("annex.txt", "An annex about barrels and their staves. " * 10)
        code, out, err = self.save("-f", "annex.txt", "-f", "nowhere.txt")
        self.assertEqual(code, 3, err)
        self.assertRegex(out, r"^contract\.txt: saved [\d,]+ tokens, [\d.]+ \w+: \S+\.swkv\n"
                              r"annex\.txt: saved [\d,]+ tokens, [\d.]+ \w+: \S+\.swkv\n$")
        self.assertIn("nowhere.txt: not saved: ", err)
        self.assertEqual(len(self.files()), 2)
        out = self.check(self.save(), 0)[1]
        self.assertRegex(out, r"^contract\.txt: was there already, [\d,]+ tokens, ")
        self.assertEqual(len(self.files()), 2)

    PIPELINE = """version: 1
system: Answer for {{ vars.party }}.
vars: { party: the buyer }
documents:
  rules: rules.txt
  contract: contract.txt
  letter: letter.txt
agents:
  first: { prompt: "Rules?", reads: [rules] }
  both: { prompt: "Both of {{ first }}?", reads: [rules, contract], system: Be brief. }
  alone: { prompt: "Letter?", reads: [letter], ready_after: 60%, output_file: out.txt }
  again: { prompt: "Sure?", continues: alone }
  none: { prompt: "Hello?", reads: [] }
"""

    def write_pipeline(self, text=PIPELINE):
        self.write("rules.txt", "Rules about barrels and their staves. " * 10)
        self.write("letter.txt", "A letter about barrels and their staves. " * 10)
        return self.write("p.yaml", text)

    def documents_of(self, *args):
        """What a run says of them that has room for files of several documents beside the single ones."""
        report = json.loads(self.check(self.fake("run", "p.yaml", "-n", "4", "-c", "8000", "-o", "json",
                                                 "--snapshot-dir", "kept", *args), 0)[1])
        return {d["name"]: d for d in report["documents"]}

    def test_save_of_a_pipeline_is_what_run_looks_for(self):
        self.write_pipeline()
        for mode in ((), ("--deterministic",)):
            with self.subTest(mode):
                shutil.rmtree(self.kept, ignore_errors=True)
                out = self.check(self.snapshot("save", "p.yaml", "--engine", "fake", *mode), 0)[1]
                self.assertEqual(sorted(line.split(": ")[0] for line in out.splitlines()),
                                 ["letter", "rules", "rules + contract"])
                for line in out.splitlines():
                    self.assertRegex(line, r": saved [\d,]+ tokens, [\d.]+ \w+: \S+\.swkv$")
                self.assertFalse((self.folder / "out.txt").exists())
                listed = self.check(self.snapshot("list"), 0)[1]
                self.assertIn("  rules + contract  ", listed)
                for name, document in self.documents_of("--snapshot", "auto", *mode).items():
                    self.assertEqual((document["source"], document["computed_tokens"]), ("restored", 0), name)
                (self.folder / "out.txt").unlink()
                self.assertEqual(len(self.files()), 3, "and nothing was left to save")
                out = self.check(self.snapshot("save", "p.yaml", "--engine", "fake", *mode), 0)[1]
                self.assertEqual(out.count(": was there already, "), 3, out)

    def test_save_of_a_pipeline_cuts_where_its_agents_start_early(self):
        early = '  early: { prompt: "Early?", reads: [rules, contract], ready_after: 40% }\n'
        self.write_pipeline(self.PIPELINE + early)
        self.check(self.snapshot("save", "p.yaml", "--engine", "fake", "--deterministic"), 0)
        files = [file for document in self.documents_of("--snapshot", "auto", "--deterministic").values()
                 for file in document["snapshot"]["files"]]
        self.assertEqual({file["state"] for file in files}, {"restored"}, files)

    def test_save_of_a_pipeline_takes_what_changes_it(self):
        self.write_pipeline()
        for args in (("--var", "party=the seller"), ("--system", "Be {short}."), ("--set", "system=Other."),
                     ("--no-chat-template",)):
            with self.subTest(args):
                shutil.rmtree(self.kept, ignore_errors=True)
                self.check(self.snapshot("save", "p.yaml", "--engine", "fake", *args), 0)
                changed = self.documents_of("--snapshot", "auto", *args)
                self.assertEqual([d["computed_tokens"] for d in changed.values()], [0, 0, 0])
                self.assertGreater(self.documents_of("--snapshot", "auto")["rules"]["computed_tokens"], 0)
        shutil.rmtree(self.kept)
        out = self.check(self.snapshot("save", "p.yaml", "--engine", "fake", "--select", "first,none"), 0)[1]
        self.assertRegex(out, r"^rules: saved [^\n]+\n$")

    def test_save_of_a_pipeline_keeps_to_where_it_has_snapshots(self):
        self.write_pipeline(self.PIPELINE.replace("  rules: rules.txt", "  rules: { path: rules.txt, snapshot: auto }"))
        out = self.check(self.snapshot("save", "p.yaml", "--engine", "fake"), 0)[1]
        self.assertRegex(out, r"^rules: saved [^\n]+\n$", "the run looks for no other")
        self.assertEqual(self.documents_of()["rules"]["computed_tokens"], 0)

    def test_save_of_a_pipeline_as_json_and_when_it_cannot(self):
        self.write_pipeline()
        told = json.loads(self.check(self.snapshot("save", "p.yaml", "--engine", "fake", "-o", "json"), 0)[1])
        self.assertEqual({d["document"]: d["state"] for d in told["documents"]},
                         {"rules": "saved", "rules + contract": "saved", "letter": "saved"})
        shutil.rmtree(self.kept)
        code, out, err = self.snapshot("save", "p.yaml", "--engine", "fake", "--snapshot-limit", "10")
        self.assertEqual((code, out), (3, ""), err)
        for name in ("rules", "rules + contract", "letter"):
            self.assertIn(f"{name}: not saved: too large", err)
        save = ("save", "--engine", "fake")
        self.refused(self.snapshot(*save, "p.yaml", "-c", "20"), 4, "p.yaml: not saved: ")
        self.refused(self.snapshot(*save, "p.yaml", "-f", "contract.txt"), 2, "or one pipeline file")
        self.refused(self.snapshot(*save, "p.yaml", "p.yaml"), 2, "or one pipeline file")
        self.refused(self.snapshot(*save, "-f", "contract.txt", "--var", "a=b"), 2, "change a pipeline")
        self.refused(self.snapshot(*save, "nowhere.yaml"), 3, "nowhere.yaml")
        self.check(self.snapshot(*save, "p.yaml", "--set", "agents.first.reads=[nothing]"), 2, "nothing")
        self.refused(self.snapshot(*save, "p.yaml", "--select", "none"), 2, "no agent reads a document")

    def test_save_as_json_and_from_standard_input(self):
        code, out, err = self.save("-o", "json", document="-", stdin=DOCUMENT.encode())
        self.assertEqual(code, 0, err)
        told = json.loads(out)
        self.assertEqual(told["schema"], "swarmkv.saved/1")
        self.assertEqual(told["documents"][0]["state"], "saved")
        self.assertEqual(told["documents"][0]["path"], str(self.files()[0]))
        self.assertEqual(told["documents"][0]["size_bytes"], self.files()[0].stat().st_size)
        report = json.loads(self.check(self.restored("x", "-o", "json"), 0)[1])
        self.assertEqual(report["documents"][0]["computed_tokens"], 0, "the same text, the same snapshot")

    def test_what_stands_before_the_document_is_part_of_it(self):
        self.saved("--system", "Be short.")
        other = json.loads(self.check(self.restored("x", "-o", "json"), 0)[1])["documents"][0]
        self.assertEqual(other["computed_tokens"], other["n_tokens"])
        same = json.loads(self.check(self.restored("x", "-o", "json", "--system", "Be short."), 0)[1])
        self.assertEqual(same["documents"][0]["computed_tokens"], 0)

    def test_save_shows_only_the_document_on_standard_error(self):
        err = self.check(self.save("--progress", "plain"), 0)[2]
        self.assertEqual(err.splitlines()[0], "contract.txt \u00b7 fake engine")
        self.assertRegex(err, r"document contract: saved [\d,]+ tokens to ")
        self.assertNotIn("q1", err)
        self.assertEqual(self.save("-q")[2], "")

    def test_save_that_cannot(self):
        self.refused(self.save("-c", "20"), 4, "contract.txt: not saved: ")
        self.refused(self.save(document="nowhere.txt"), 3, "nowhere.txt")
        self.refused(self.save("--snapshot-limit", "10"), 3, "contract.txt: not saved: ")
        self.refused(self.snapshot("save", "--engine", "fake"), 2, "snapshot save needs a document")
        self.refused(self.save("contract.txt"), 2, "takes its documents with -f")
        self.refused(self.save("-f", "-", document="-"), 2, "one document, not several")
        self.refused(self.save(document=""), 2, "the name of the document is empty")
        self.refused(self.run_cli("snapshot", "save", "-f", "contract.txt"), 2, "no model")
        self.write("a_file", "x")
        self.refused(self.run_cli("snapshot", "save", "--engine", "fake", "-f", "contract.txt",
                                  "--snapshot-dir", "a_file"), 3, "a_file")
        self.assertEqual(self.files(), [])

    def test_a_signal_ends_save_and_leaves_nothing(self):
        process = self.start("snapshot", "save", "--engine", "fake", "-f", "contract.txt", "--snapshot-dir", "kept",
                             "--fake-delay-ms", "300", "-b", "16", "--progress", "plain")
        self.wait_for_line(process, "document contract:")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=WATCHDOG_S)
        self.assertEqual((process.returncode, out), (130, b""), err)
        self.assertEqual(self.files(), [])

    # The folder

    def test_list_and_show(self):
        code, out, err = self.run_cli("snapshot", "list")
        self.assertEqual((code, err), (0, ""))
        self.assertEqual(out, f"no snapshots in {self.folder}/.cache/swarmkv/snapshots\n")
        self.assertFalse((self.folder / ".cache").exists(), "looking makes nothing")

        path = self.saved()
        code, out, err = self.snapshot("list")
        self.assertEqual((code, err), (0, ""))
        head, line, rest = out.splitlines()
        self.assertRegex(head, r"^name +model +document +tokens +size +saved UTC +last used")
        self.assertTrue(line.startswith(path.name[:12]), line)
        self.assertIn("contract", line)
        self.assertRegex(rest, r"^1 snapshot, [\d.]+ \w+ in ")
        told = json.loads(self.check(self.snapshot("list", "-o", "json"), 0)[1])
        self.assertEqual(told["schema"], "swarmkv.snapshots/1")
        self.assertEqual([s["name"] for s in told["snapshots"]], [path.name])

        one = json.loads(self.check(self.snapshot("show", path.name[:8], "-o", "json"), 0)[1])
        self.assertEqual(one["schema"], "swarmkv.snapshot/1")
        self.assertEqual({k: one[k] for k in told["snapshots"][0]}, told["snapshots"][0])
        self.assertEqual(one["size_bytes"], path.stat().st_size)
        text = self.check(self.snapshot("show", path.name), 0)[1]
        self.assertRegex(text, rf"(?m)^name +{re.escape(path.name)}$")
        self.assertRegex(text, r"(?m)^document +contract$")

        inspected = json.loads(self.check(self.run_cli("inspect", f"kept/{path.name}", "-o", "json"), 0)[1])
        self.assertEqual(inspected["token_digest"], one["token_digest"])
        self.assertRegex(self.check(self.run_cli("inspect", str(path)), 0)[1], r"(?m)^tokens +[\d,]+$")

    def test_verify_finds_damage(self):
        good = self.saved()
        self.write("annex.txt", "An annex about barrels and their staves. " * 10)
        bad = self.saved(document="annex.txt")
        for args in (("--all",), (good.name, bad.name)):
            code, out, err = self.check(self.snapshot("verify", *args), 0)
            self.assertEqual(sorted(line.split(":")[0] for line in out.splitlines()),
                             sorted([good.name, bad.name]))
        self.flip(bad, bad.stat().st_size - 5)
        for args in (("--all",), (bad.name, good.name)):
            code, out, err = self.check(self.snapshot("verify", *args), 3, bad.name)
            self.assertIn(f"'swarmkv snapshot rm {bad.name}' removes it", err)
            self.assertRegex(out, rf"^{re.escape(good.name)}: ok, [\d,]+ tokens, [\d.]+ \w+\n$")
        bad.write_bytes(b"SW")
        self.check(self.snapshot("verify", bad.name), 3, bad.name)
        code, out, err = self.snapshot("list")
        self.assertEqual((code, err), (0, ""))
        self.assertIn("unusable: ", out)
        self.check(self.run_cli("inspect", str(bad)), 3)

    def test_prune_says_what_had_to_stay(self):
        good = self.saved()
        (self.kept / "odd.swkv").mkdir()
        code, out, err = self.check(self.snapshot("prune"), 3, "had to stay")
        self.assertRegex(out, r"^0 removed, 0 B; ")
        self.assertTrue(good.exists())

    def test_rm_and_prune(self):
        first = self.saved()
        self.write("annex.txt", "An annex about barrels and their staves. " * 10)
        second = self.saved(document="annex.txt")
        code, out, err = self.snapshot("rm", "nothing", first.name)
        self.assertEqual((code, self.files()), (3, [second]), err)
        self.assertRegex(out, rf"^removed {re.escape(first.name)}, [\d.]+ \w+\n$")
        self.assertIn("nothing", err)

        out = self.check(self.snapshot("prune"), 0)[1]
        self.assertRegex(out, r"^0 removed, 0 B; 1 snapshot, [\d.]+ \w+ in ")
        code, out, err = self.snapshot("prune", "--snapshot-limit", "0")
        self.assertEqual((code, err, self.files()), (0, "", []))
        self.assertRegex(out, rf"^removed {re.escape(second.name)}, [\d.]+ \w+\n"
                              r"1 removed, [\d.]+ \w+; no snapshots in ")
        self.saved()
        told = json.loads(self.check(self.snapshot("prune", "-o", "json", env={"SWARMKV_SNAPSHOT_LIMIT": "1KB"}),
                                     0)[1])
        self.assertEqual((told["schema"], len(told["snapshots"])), ("swarmkv.snapshots/1", 1))
        self.assertEqual(self.files(), [])

    def test_names_that_are_none(self):
        self.saved()
        outside = self.write("outside.swkv", "x")
        for name in ("nothing", "../outside.swkv", "/etc/passwd", "a" * 300, "", ".", "..", "a\x1b[2J"):
            for verb in ("show", "verify", "rm"):
                with self.subTest(verb=verb, name=name):
                    result = self.snapshot(verb, name)
                    self.assertIn(result[0], (2, 3), result[2])
                    self.assertEqual(result[1], "")
                    self.assertNotIn("\x1b", result[2])
        self.assertTrue(outside.exists())
        self.assertEqual(len(self.files()), 1)

    def test_wrong_use(self):
        for args, message in (((), "needs one of save, list, show, verify, rm, prune"),
                              (("lst",), "did you mean 'list'?"), (("list", "x"), "takes no argument"),
                              (("prune", "x"), "takes no argument"), (("show",), "takes one NAME"),
                              (("show", "a", "b"), "takes one NAME"), (("verify",), "needs a NAME, or --all"),
                              (("verify", "a", "--all"), "not both"), (("rm",), "needs a NAME"),
                              (("list", "-f", "a"), "'snapshot list' does not take --file"),
                              (("-o", "json", "list"), "right behind it"),
                              (("list", "-o", "jsonl"), "text, json"),
                              (("prune", "--snapshot-limit", "20G"), "--snapshot-limit '20G'")):
            with self.subTest(args):
                self.refused(self.run_cli("snapshot", *args), 2, message)
        for args in (("snapshot", "--help"), ("snapshot", "save", "-h"), ("help", "snapshot")):
            code, out, err = self.run_cli(*args)
            self.assertEqual((code, err), (0, ""))
            self.assertIn("swarmkv snapshot VERB", out)

    def test_a_folder_that_is_not_there_is_as_an_empty_one_and_is_not_made(self):
        asked = (("list",), ("list", "-o", "json"), ("prune",), ("prune", "-o", "json"), ("verify", "--all"))
        said = [self.snapshot(*args) for args in asked]
        self.assertFalse(self.kept.exists())
        self.assertEqual(said[0], (0, f"no snapshots in {self.kept}\n", ""))
        self.assertEqual(said[2], (0, f"0 removed, 0 B; no snapshots in {self.kept}\n", ""))
        for verb in ("show", "verify", "rm"):
            self.refused(self.snapshot(verb, "a"), 3, f"no snapshot 'a': there are none in {self.kept}")
        self.assertFalse(self.kept.exists())
        self.kept.mkdir(mode=0o700)
        for args, before in zip(asked, said):
            with self.subTest(args):
                self.assertEqual(self.snapshot(*args), before)
        self.refused(self.run_cli("snapshot", "show", "a"), 3, "no snapshot 'a'")

    def test_a_terminal_cuts_what_it_has_no_room_for_and_a_pipe_nothing(self):
        name = "a_document_whose_name_goes_on_and_on_for_some_sixty_columns"
        self.write(name + ".txt", DOCUMENT)
        self.saved(document=name + ".txt")
        self.assertIn(name, self.check(self.snapshot("list"), 0)[1])
        listed = ("snapshot", "list", "--snapshot-dir", "kept")
        code, screen = self.on_terminal(command=listed, stdout_too=True, size=(24, 100))
        self.assertEqual(code, 0)
        self.assertNotIn(name, screen)
        self.assertIn(name[:12], screen)
        self.assertIn("\u2026", screen)
        code, screen = self.on_terminal(command=listed, stdout_too=True, size=(24, 250))
        self.assertIn(name, screen)

    def test_a_name_that_is_not_clear_is_answered_with_names_to_copy(self):
        first = self.saved()
        self.write("annex.txt", "An annex about barrels and their staves. " * 10)
        second = self.saved(document="annex.txt")
        for path, letter in ((first, "a"), (second, "b")):
            shutil.move(path, self.kept / ("00" + letter * 60 + ".swkv"))
        self.refused(self.snapshot("show", "00"), 3, "2 snapshots begin with '00':\n   00" + "a" * 60 + ".swkv\n   00" +
                     "b" * 60 + ".swkv\n")

    def test_a_folder_that_others_can_write_says_what_to_do(self):
        self.kept.mkdir(mode=0o700)
        self.kept.chmod(0o775)
        for args in (("list",), ("save", "--engine", "fake", "-f", "contract.txt")):
            self.refused(self.snapshot(*args), 3, f"chmod go-w '{self.kept}'")

    def test_standard_output_that_cannot_be_written_is_told(self):
        self.saved()
        with open("/dev/full", "wb") as full:
            for args in (("list",), ("show", self.files()[0].name), ("verify", "--all"), ("prune",),
                         ("save", "--engine", "fake", "-f", "contract.txt")):
                self.check(self.snapshot(*args, stdout=full), 3, "standard output")


class SignalTest(CliTest):
    def test_the_first_signal_keeps_what_is_finished(self):
        for number, code in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number):
                process = self.start(
                    "ask", "--engine", "fake", "-f", "contract.txt", "-np", "1", "short", "long",
                    "--fake-answer", "short=Kept.", "--fake-answer", "long=" + "word " * 2000,
                    "--fake-delay-ms", "20", "-n", "3000", "--progress", "plain", "--report", "r.json")
                self.wait_for_line(process, "q1: finished")
                process.send_signal(number)
                out, err = process.communicate(timeout=WATCHDOG_S)
                self.assertEqual(process.returncode, code, err)
                self.assertIn(b"Kept.", out)
                report = self.report_of("r.json")
                self.assertEqual(report["exit_code"], code)
                self.assertEqual(report["status"], "interrupted")
                self.assertEqual([a["status"] for a in report["agents"]], ["finished", "cancelled"])
                why = "interrupted by " + ("Ctrl-C" if number == signal.SIGINT else "SIGTERM")
                self.assertEqual(report["agents"][1]["error"]["message"], why)
                self.assertIn(f"q2: {why}", err.decode())
                summary = report["summary"]
                self.assertLessEqual(summary["prompt_tokens_computed"] + summary["prompt_tokens_reused"],
                                     summary["prompt_tokens"])

    def test_the_second_signal_ends_at_once(self):
        # One forward takes far longer than the test may: only the second signal can end this.
        process = self.start("ask", "--engine", "fake", "-f", "contract.txt", "x", "--fake-delay-ms",
                             "60000", "--progress", "plain")
        self.wait_for_line(process, "q1: waits for contract")
        process.send_signal(signal.SIGINT)
        self.wait_for_line(process, "stopping")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def start_into_a_full_pipe(self, stream, least, *args):
        """A process that stands still, because nobody reads what it writes; `least`: bytes that then lie there."""
        import array
        import fcntl
        import termios
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        room = fcntl.fcntl(writer, 1031, 4096)  # F_SETPIPE_SZ
        process = self.start(*args, **{stream: writer})
        os.close(writer)
        held = array.array("i", [0])
        until = time.monotonic() + WATCHDOG_S
        while held[0] < min(least, room) and time.monotonic() < until:
            fcntl.ioctl(reader, termios.FIONREAD, held)
            time.sleep(0.001)
        self.assertGreaterEqual(held[0], min(least, room))
        return process

    def test_the_second_signal_ends_at_once_although_nobody_reads_errors(self):
        self.write("q.txt", "".join(f"question {i}\n" for i in range(500)))
        process = self.start_into_a_full_pipe("stderr", 3500, "ask", "--engine", "fake", "-f", "contract.txt",
                                              "--questions", "q.txt", "--progress", "plain")
        # Signals that come together are one.
        until = time.monotonic() + WATCHDOG_S
        while process.poll() is None and time.monotonic() < until:
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_the_second_signal_ends_at_once_although_nobody_reads(self):
        # Its first line alone is more than the pipe holds: it stands still there, as before `less`.
        self.write("p.yaml", REVIEW.replace("review", "r" * 8000))
        process = self.start_into_a_full_pipe("stdout", 4096, "run", "--engine", "fake", "p.yaml", "-o", "jsonl")
        process.send_signal(signal.SIGINT)
        self.wait_for_line(process, "stopping")
        self.assertIsNone(process.poll(), "there are lines left that somebody may read")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=30), 130)

    def test_a_signal_before_the_run_ends_at_once(self):
        process = self.start("ask", "--engine", "fake", "-f", "-", "x", "--progress", "plain",
                             stdin=subprocess.PIPE)
        self.wait_for_line(process, "fake engine")  # waits for its document now
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=WATCHDOG_S), 130)


if __name__ == "__main__":
    if not os.access(BIN, os.X_OK):
        sys.exit("SWARMKV_BIN does not name the swarmkv command")
    BIN = os.path.abspath(BIN)
    unittest.main()
