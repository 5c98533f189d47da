#!/usr/bin/env python3
"""Opens report pages in a browser without a window and reads what became of them.

Needs SWARMKV_SAMPLE_PAGES = the program that writes them, and Chromium (SWARMKV_CHROMIUM, or in PATH under
one of its names). Exit code 77 = skipped, because there is no browser.
"""

import html.parser
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

WRITER = os.environ.get("SWARMKV_SAMPLE_PAGES", "")


def find_browser():
    """A browser that starts: some systems have a stand-in of that name, which only says how to get one."""
    for name in (os.environ.get("SWARMKV_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"):
        path = shutil.which(name or "")
        if path and subprocess.run([path, "--version"], stdin=subprocess.DEVNULL, capture_output=True,
                                   check=False).returncode == 0:
            return path
    return None


BROWSER = find_browser()
# Everything that the page itself is made of; what a run brings is text in these.
OURS = set("""html head meta title style body noscript header main section footer script h1 h2 h3 p b i span div
details summary dl dt dd ul li code pre a abbr button table thead tbody tr th td
svg defs marker g path rect circle text""".split())
AGENTS = ["teaser", "parties", "risks", "obligations", "memo", "critic", "clauses", "summary", "hostile"]


class Page(html.parser.HTMLParser):
    """Elements, attributes and text of a serialized document."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts, self.stack = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in ("meta",):
            self.stack.append(tag)

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_data(self, data):
        if "script" not in self.stack and "style" not in self.stack:
            self.texts.append(data)

    def value(self, tag, name):
        return [v for t, n, v in self.attributes if (t, n) == (tag, name)]

    def classes(self, tag):
        return [v.split() for v in self.value(tag, "class")]


class PageTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        cls.folder = pathlib.Path(cls.temporary.name)
        subprocess.run([WRITER, str(cls.folder)], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def open(self, name, width=1200):
        """Returns (the document as it is after the scripts ran, the console's lines)."""
        done = subprocess.run(
            [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder}/profile", f"--window-size={width},900",
             "--enable-logging=stderr", "--dump-dom", (self.folder / name).as_uri()],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=180, check=False,
            env={**os.environ, "HOME": str(self.folder)})
        err = done.stderr.decode("utf-8", "replace")
        self.assertEqual(done.returncode, 0, err)
        return done.stdout.decode("utf-8"), [line for line in err.splitlines() if ":CONSOLE" in line]

    def drawn(self, name, **how):
        dom, console = self.open(name, **how)
        self.assertEqual(console, [], "nothing is complained about")
        page = Page(dom)
        self.assertEqual(page.value("html", "data-drawn"), ["yes"])
        self.assertEqual(set(page.tags) - OURS, set())
        self.assertNotIn("could not be drawn", "".join(page.texts))
        return page

    def test_the_page_shows_the_run(self):
        for width in (1200, 420):
            with self.subTest(width):
                page = self.drawn("nine.html", width=width)
                text = "".join(page.texts)
                for name in AGENTS:
                    self.assertGreaterEqual(text.count(name), 4, f"{name}: timeline, tree, table, answer")
                self.assertEqual(len(page.value("details", "id")), 9)
                rows = [c for c in page.classes("g") if "row" in c]
                self.assertEqual(len(rows), 10, "a document and nine agents")
                phases = [c[1] for c in page.classes("rect") if c[0] == "phase"]
                for phase in ("prefix", "document", "queue", "prefill", "decode"):
                    self.assertIn(phase, phases)
                paths = [c[0] for c in page.classes("path")]
                self.assertEqual(paths.count("arrow"), 4, "three needs of memo, one of critic")
                self.assertEqual(paths.count("preempted"), 1)
                self.assertEqual(len([c for c in page.classes("circle") if c == ["first"]]), 8)
                for part in ("out/memo.md", "First the parties", "timed out after 11 s", "SK601", "Qwen3 8B",
                             "skipped because 'clauses' did not finish", "contract-review"):
                    self.assertIn(part, text)

    def test_what_came_from_a_snapshot_is_shown_as_restored(self):
        for width in (1200, 420):
            with self.subTest(width):
                text = "".join(self.drawn("restored.html", width=width).texts)
                for part in ("41,000 restored", "1,200 tok", "restored 1,200 tokens in 31 ms",
                             "contract: restored 41,000 tokens from /cache/snapshots/5f0c.swkv (862.1 MiB, 640 ms)",
                             "annex: restored 1,200 tokens from /cache/snapshots/77aa.swkv (24.8 MiB, 31 ms)",
                             "contract + annex: saved 42,437 tokens to /cache/snapshots/90cc.swkv (886.9 MiB, 999 ms)",
                             "letter: rejected /cache/old.swkv: cache_type_k q8_0, here f16"):
                    self.assertIn(part, text)
                self.assertNotIn("tokens in 999 ms", text, "what saving took")

    def test_a_document_in_two_places_is_two_rows_and_two_blocks_with_their_counts(self):
        page = self.drawn("two_places.html")
        rows = [c for c in page.classes("g") if "row" in c]
        self.assertEqual(len(rows), 5, "three readings and two agents")
        phases = [c[1] for c in page.classes("rect") if c[0] == "phase"]
        self.assertGreaterEqual(phases.count("prefix"), 2, "both were computed, each in its time")
        text = "".join(page.texts)
        for part in ("rules after letter", "97 tok, once", "99 tok, once", "185 tok, restored"):
            self.assertIn(part, text)
        self.assertNotIn("196", text, "tokens of both readings are those of none")

    def test_text_of_a_run_makes_no_element_and_runs_nothing(self):
        for name in ("nine.html", "hostile.html"):
            with self.subTest(name):
                page = self.drawn(name)
                self.assertEqual(page.value("html", "data-owned"), [])
                self.assertNotIn("hostile", page.value("b", "id"))
                self.assertEqual([a for a in page.attributes if a[1].startswith("on")], [])
                self.assertEqual(page.tags.count("script"), 2)
                self.assertEqual(page.tags.count("style"), 1)
                text = "".join(page.texts)
                self.assertIn("<img src=x onerror=", text, "it is there to be read")
                self.assertIn("\\x1b[31m", text)
                self.assertIn("\\x00", text)
                self.assertIn("\\u202e", text)
                for c in "\x00\x1b\u202e":
                    self.assertNotIn(c, text)

    def test_a_run_that_knows_nothing_is_a_page_too(self):
        self.drawn("empty.html")

    def test_the_policy_holds_off_what_is_not_ours(self):
        text = (self.folder / "nine.html").read_text(encoding="utf-8")
        foreign = "<script>document.documentElement.dataset.owned='yes'</script>"
        (self.folder / "foreign.html").write_text(text.replace("<main>", foreign + "<main>"), encoding="utf-8")
        dom, console = self.open("foreign.html")
        page = Page(dom)
        self.assertEqual(page.value("html", "data-owned"), [], "a script in the page was run")
        self.assertEqual(page.value("html", "data-drawn"), ["yes"])
        self.assertTrue(any("Content Security Policy" in line for line in console), console)

    def test_the_data_is_the_report(self):
        text = (self.folder / "nine.html").read_text(encoding="utf-8")
        data = json.loads(re.search(r'id="data">(.*?)</script>', text, re.S).group(1))
        self.assertEqual([a["name"] for a in data["report"]["agents"]], AGENTS)


if __name__ == "__main__":
    if not os.access(WRITER, os.X_OK):
        sys.exit("SWARMKV_SAMPLE_PAGES does not name the program that writes the pages")
    if BROWSER is None:
        print("SKIPPED: there is no Chromium to open a page in (Debian: apt-get install chromium)")
        sys.exit(77)
    unittest.main()
