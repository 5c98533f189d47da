"""SwarmKV's side: `swarmkv ask` for a cold start, `swarmkv run` with two ranks of agents for the second wave."""

import json
import pathlib

from benchkit import child


class SwarmFailed(Exception):
    """The command did not do what it should; the message says what."""


class Swarm:
    """`flags` go to every call: model, threads, batch size, engine."""

    def __init__(self, program, document, flags, folder):
        self.program, self.flags = program, [str(flag) for flag in flags]
        self.document, self.folder = pathlib.Path(document).absolute(), pathlib.Path(folder)

    def lengths(self, questions, timeout_s):
        """([prompt tokens of each question, document included], document tokens): a run without answers."""
        report = self._call(
            ["ask", "-f", self.document, "--questions", self._asked(questions)], len(questions), 0, timeout_s
        )
        return [agent["usage"]["prompt_tokens"] for agent in report["agents"]], document_tokens(report)

    def cold(self, questions, n_predict, timeout_s):
        """All questions at once, in a new process."""
        report = self._call(
            ["ask", "-f", self.document, "--questions", self._asked(questions)], len(questions), n_predict, timeout_s
        )
        return wave_of(report, report["agents"], report["summary"]["prompt_tokens_computed"], zero=0.0)

    def second(self, first, second, n_predict, timeout_s):
        """`second` is asked when all of `first` have been answered, on the same live cache: (wave 1, wave 2)."""
        pipeline = self.folder / "two_waves.yaml"
        pipeline.write_text(two_ranks(self.document, first, second), encoding="utf-8")
        report = self._call(["run", pipeline], len(first), n_predict, timeout_s)
        ranks = report["agents"][: len(first)], report["agents"][len(first) :]
        # The first rank needs the document once and its own prompts. All that was computed beyond that is the
        # second rank's, also a document computed again.
        due = document_tokens(report) + sum(a["usage"]["prompt_tokens"] - a["usage"]["cached_tokens"] for a in ranks[0])
        submitted = min(agent["timeline"]["enqueued_ms"] for agent in ranks[1])
        return (
            wave_of(report, ranks[0], due, zero=0.0),
            wave_of(report, ranks[1], report["summary"]["prompt_tokens_computed"] - due, zero=submitted),
        )

    def _asked(self, questions):
        path = self.folder / "questions.txt"
        path.write_text("\n".join(questions) + "\n", encoding="utf-8")
        return path

    def _call(self, command, n_parallel, n_predict, timeout_s):
        out = self.folder / "report.json"
        out.unlink(missing_ok=True)
        status, _, err = child.run(
            [
                self.program,
                *command,
                "-n",
                n_predict,
                "--ignore-eos",
                "--temp",
                "0",
                "-np",
                n_parallel,
                "--print",
                "none",
                "--progress",
                "none",
                "-q",
                "--report",
                out,
                *self.flags,
            ],
            timeout_s,
        )
        if status != 0:
            raise SwarmFailed(f"swarmkv {command[0]} ended with {status}: {err.strip()[-300:]}")
        report = json.loads(out.read_text(encoding="utf-8"))
        short = [a["name"] for a in report["agents"] if a["usage"]["completion_tokens"] != n_predict]
        if short:
            raise SwarmFailed(f"agents without the {n_predict} tokens that were asked for: {', '.join(short[:5])}")
        return report


def two_ranks(document, first, second):
    """A pipeline in which each agent of the second rank waits for all of the first."""
    names = [f"a{i}" for i in range(len(first))]
    agents = {name: {"prompt": question} for name, question in zip(names, first)}
    agents.update({f"b{i}": {"prompt": question, "needs": names} for i, question in enumerate(second)})
    # JSON is YAML, and needs no quoting rules of its own.
    return json.dumps({"version": 1, "name": "two-waves", "document": str(document), "agents": agents}, indent=1)


def document_tokens(report):
    return sum(document["n_tokens"] for document in report["documents"])


def wave_of(report, agents, computed, zero):
    """The sample of one wave; `zero`: when it was sent off, on the run's clock, which starts with the model loaded."""
    return {
        "wall_ms": max(agent["timeline"]["finished_ms"] for agent in agents) - zero,
        "prompt_asked": sum(agent["usage"]["prompt_tokens"] for agent in agents),
        "prompt_computed": computed,
        "first_ms": [agent["timeline"]["first_token_ms"] - zero for agent in agents],
        "rates": [agent["metrics"]["output_tokens_per_s"] for agent in agents],
        "completion_tokens": sum(agent["usage"]["completion_tokens"] for agent in agents),
        "document_tokens": document_tokens(report),
        "load_ms": report["model"]["load_ms"],
    }
