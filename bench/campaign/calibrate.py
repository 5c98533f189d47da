"""How much slower than benchkit.cost this machine and model are: one short run, which also warms everything up."""

import pathlib
import tempfile

from benchkit import cost, swarm
from campaign import shapes

_AGENTS, _PREDICT = 4, 8
_WARMUP, _MEASURED = shapes.PANGRAM * 20, shapes.PANGRAM * 150  # about 200 and 1,500 tokens


def slower(command, flags, timeout_s=900):
    """The factor, from reading about 1,500 tokens and four short answers."""
    with tempfile.TemporaryDirectory() as folder:
        document = pathlib.Path(folder) / "pangram.txt"
        tool = swarm.Swarm(command, document, flags, folder)
        questions = [f"{word} does the fox do?" for word in ("What", "Why", "When", "Where")]
        for words in (_WARMUP, _MEASURED):
            document.write_text(words, encoding="utf-8")
            measured = tool.cold(questions, _PREDICT, timeout_s)
    own = (measured["prompt_computed"] - measured["document_tokens"]) // _AGENTS
    return measured["wall_ms"] / cost.Cost().together_ms(_AGENTS, measured["document_tokens"], own, _PREDICT)
