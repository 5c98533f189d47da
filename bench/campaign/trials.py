"""One trial of one arm. The only module that knows how `swarmkv bench -o jsonl` words it."""

import csv
import dataclasses
import io

from campaign import shapes

OK, FAILED, SKIPPED = "ok", "failed", "skipped"


@dataclasses.dataclass
class Trial:
    """Times in ms from the start of the arm; None = not known. Lists have one element for each agent."""

    shape: str
    point: str
    arm: str
    trial: int
    position: int  # which arm of its trial it was: 0 = the first
    n_agents: int
    n_predict: int
    status: str = OK
    error: str = None
    document_tokens: int = None
    suffix_tokens: list = dataclasses.field(default_factory=list)
    wall_ms: float = None
    document_ms: list = dataclasses.field(default_factory=list)  # each time the document was computed
    handoff_ms: float = None  # all copies or forks
    prompts_ms: float = None  # the agents' own prompts, up to their first tokens, where no document is computed
    first_ms: list = dataclasses.field(default_factory=list)  # first token: from the start of the arm
    branch_ms: list = dataclasses.field(default_factory=list)  # hand-off, own prompt and answer
    proxy_ms: list = dataclasses.field(default_factory=list)  # first token as the original measured it
    asked: int = None
    computed: int = None
    reused: int = None
    decode_tok_s: float = None
    setup_ms: float = None
    forward_ms: float = None
    kv_bytes: int = None
    rss_bytes: int = None
    ids_digest: str = None

    @property
    def ok(self):
        return self.status == OK


def arm_of(line):
    """The arm of a line that is a sample, else None."""
    return line.get("arm") if line.get("schema") == "swarmkv.bench/1" else None


def is_of(line, point):
    """Whether a sample is one of this point. How long the licence text is depends on the tokeniser."""
    same_length = point.shape == shapes.LICENCE or line.get("document_tokens") == point.n_tokens
    return same_length and line.get("agents") == point.n_agents


def from_entry(entry):
    """The trial of one line of trials.jsonl, or None if it is none."""
    try:
        trial = Trial(
            **{key: entry[key] for key in ("shape", "point", "arm", "trial", "position", "n_agents", "n_predict")}
        )
        if "line" in entry:
            _fill(trial, entry["line"])
        else:
            trial.status, trial.error = FAILED, entry["error"]
    except (KeyError, TypeError):
        return None
    return trial


def _fill(trial, line):
    trial.document_tokens = line["document_tokens"]
    if line["status"] != "finished":
        trial.status, trial.error = FAILED, line["error"] or line["status"]
        return
    agents = line["agents_detail"]
    trial.suffix_tokens = [agent["suffix_tokens"] for agent in agents]
    trial.wall_ms, trial.setup_ms = line["wall_ms"], line["setup_ms"]
    trial.document_ms, trial.branch_ms, trial.proxy_ms = line["document_ms"], line["branch_ms"], line["proxy_ms"]
    trial.handoff_ms, trial.forward_ms = line["handoff_total_ms"], line["forward_ms"]
    trial.first_ms = [agent["first_token_ms"] for agent in agents]
    trial.prompts_ms = _prompts_ms(trial.arm, agents)
    trial.asked, trial.computed, trial.reused = (
        line[key] for key in ("prompt_tokens", "prompt_tokens_computed", "prompt_tokens_reused")
    )
    trial.decode_tok_s = line["decode_tokens_per_s"]
    trial.kv_bytes, trial.rss_bytes = line["peak_kv_bytes"] or None, line["peak_rss_bytes"] or None
    trial.ids_digest = line["token_ids_digest"]


def _prompts_ms(arm, agents):
    """From a sequence that holds the document to a first token; in a batch that is one stretch of time for all."""
    spans = [(agent["handed_over_ms"], agent["first_token_ms"]) for agent in agents]
    if any(None in span for span in spans):
        return None
    if arm == shapes.SHARED:
        return max(first for _, first in spans) - min(over for over, _ in spans)
    return sum(first - over for over, first in spans)


COLUMNS = [field.name for field in dataclasses.fields(Trial)]


def as_csv(trials):
    """All trials, one a line; lists are joined with spaces, the unknown is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for trial in trials:
        values = [getattr(trial, name) for name in COLUMNS]
        writer.writerow([" ".join(map(str, v)) if isinstance(v, list) else "" if v is None else v for v in values])
    return out.getvalue()
