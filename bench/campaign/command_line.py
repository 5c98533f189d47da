"""How a batch is asked of `swarmkv bench`. With campaign/trials.py the only place that knows that command."""

from benchkit import places
from campaign import shapes

SCENARIO = {shapes.ORIGINAL: "original.yaml"}


def of(command, batch, flags, seed, licence):
    """The arguments for one trial of a batch of points; the arms in the order in which they are to be run."""
    point = batch.points[0]
    if point.shape in SCENARIO:
        what = [places.ROOT / "bench" / "scenarios" / SCENARIO[point.shape]]
    elif point.shape == shapes.LICENCE:
        what = ["-f", licence, "--suffix-tokens", point.suffix]
    else:
        what = ["-npp", _list(p.n_tokens for p in batch.points), "--suffix-tokens", point.suffix]
    case = ["-npl", _list(p.n_agents for p in batch.points), "-ntg", point.n_predict]
    how = ["--arms", ",".join(batch.arms), "-r", 1, "--seed", seed]
    return [command, "bench", *what, *case, *how, "-q", "-o", "jsonl", *flags]


def _list(values):
    return ",".join(map(str, dict.fromkeys(values)))
