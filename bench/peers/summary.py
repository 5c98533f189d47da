"""From samples to the figures of the report: medians with spread, ratios, and what had to be extrapolated."""

from benchkit import stats
from peers.plan import CEILING, COLD, SERVER, SWARM

LESS_IS_BETTER = {
    "wall_ms": "wall time",
    "prompt_computed": "prompt tokens processed",
    "first_p50_ms": "median first token",
}
MORE_IS_BETTER = {"decode_tok_s": "decode speed"}


def cell(samples, system, wave, n_agents):
    """Figures of one system with N agents in one wave, or None if it was not run."""
    mine = [s for s in samples if (s["system"], s["wave"], s["n_agents"]) == (system, wave, n_agents)]
    if not mine:
        return None
    good = [s for s in mine if s["status"] == "ok"]
    first = [ms for s in good for ms in s.get("first_ms", [])]
    figures = {
        "system": system,
        "wave": wave,
        "n_agents": n_agents,
        "extrapolated": False,
        "failed": [s["error"] for s in mine if s["status"] != "ok"],
        "trials": len(good),
        "first_p50_ms": stats.percentile(first, 50),
        "first_p99_ms": stats.percentile(first, 99),
        "first_max_ms": max(first, default=None),
        "first_samples": len(first),
    }
    for key in ("wall_ms", "prompt_computed", "prompt_asked", "decode_tok_s", "total_tok_s"):
        figures[key] = stats.spread([s.get(key) for s in good])
    return figures


def extrapolate(measured, system, wave, n_agents):
    """The same figures for an N that was too slow to run, on the straight line through those that were run.

    Decode speed is no straight line, so it stays unknown. None if fewer than two N were run.
    """
    known = [c for c in measured if c and c["trials"]]
    figures = {
        "system": system,
        "wave": wave,
        "n_agents": n_agents,
        "extrapolated": True,
        "failed": [],
        "trials": 0,
        "from_agents": [c["n_agents"] for c in known],
        "first_p99_ms": None,
        "first_samples": 0,
    }
    for key in ("wall_ms", "prompt_computed", "prompt_asked", "first_p50_ms", "first_max_ms"):
        points = [(c["n_agents"], _median(c, key)) for c in known if _median(c, key) is not None]
        line = stats.line_through(points)
        if line is None:
            return None
        value = line[0] + line[1] * n_agents
        figures[key] = value if key.startswith("first") else {"median": value, "min": None, "max": None, "n": 0}
    # Half of them cannot be later than the last one; two lines through few points may cross.
    figures["first_p50_ms"] = min(figures["first_p50_ms"], figures["first_max_ms"])
    for key in ("decode_tok_s", "total_tok_s"):
        figures[key] = stats.spread([])
    return figures


def _median(figures, key):
    value = figures[key]
    return value["median"] if isinstance(value, dict) else value


def paired_ratio(samples, key, above, below, n_agents, wave=COLD):
    """Trial by trial `key` of system `above` / system `below`: a spread of ratios."""

    def by_trial(system):
        return {
            s["trial"]: s.get(key)
            for s in samples
            if s["status"] == "ok" and (s["system"], s["wave"], s["n_agents"]) == (system, wave, n_agents)
        }

    return stats.paired_ratio(by_trial(above), by_trial(below))


def summarise(samples, agents, waves, server_limit):
    """{"waves": {wave: [cells]}, "ceiling": [...], "losses": [...]}, in the order of the tables."""
    result = {"waves": {}, "ceiling": [], "losses": []}
    for wave in waves:
        measured = [cell(samples, SERVER, wave, n) for n in agents if n <= server_limit]
        cells = []
        for n in agents:
            ours = cell(samples, SWARM, wave, n)
            theirs = cell(samples, SERVER, wave, n)
            if theirs is None and n > server_limit:
                theirs = extrapolate(measured, SERVER, wave, n)
            for figures in (ours, theirs):
                if figures is not None:
                    cells.append(figures)
            if ours and theirs:
                ours["against"] = against(samples, ours, theirs, wave, n)
                result["losses"] += losses(ours, theirs)
        result["waves"][wave] = cells
    for n in agents:
        ceiling, ours = cell(samples, CEILING, COLD, n), cell(samples, SWARM, COLD, n)
        if ceiling:
            ratio = paired_ratio(samples, "decode_tok_s", SWARM, CEILING, n)
            result["ceiling"].append({"n_agents": n, "ceiling": ceiling, "ours": ours, "ratio": ratio})
            if ratio["median"] is not None and ratio["median"] < 0.995:
                result["losses"].append(
                    {
                        "n_agents": n,
                        "wave": COLD,
                        "what": "decode speed",
                        "peer": CEILING,
                        "ours": ours["decode_tok_s"]["median"],
                        "theirs": ceiling["decode_tok_s"]["median"],
                        "times": 1 / ratio["median"],
                        "extrapolated": False,
                        "unit": "tok/s",
                    }
                )
    return result


def against(samples, ours, theirs, wave, n_agents):
    """The peer's figure / ours: above 1 means that SwarmKV needs less."""
    if not theirs["extrapolated"]:
        return {
            "wall": paired_ratio(samples, "wall_ms", SERVER, SWARM, n_agents, wave),
            "tokens": paired_ratio(samples, "prompt_computed", SERVER, SWARM, n_agents, wave),
            "extrapolated": False,
        }

    def one(key):
        value = stats.ratio(_median(theirs, key), _median(ours, key))
        return {"median": value, "min": value, "max": value, "n": 1 if value is not None else 0}

    return {"wall": one("wall_ms"), "tokens": one("prompt_computed"), "extrapolated": True}


def losses(ours, theirs):
    """Where SwarmKV's median is worse, however little beyond half a per cent."""
    found = []
    for key, what in {**LESS_IS_BETTER, **MORE_IS_BETTER}.items():
        mine, peer = _median(ours, key), _median(theirs, key)
        times = stats.ratio(mine, peer) if key in LESS_IS_BETTER else stats.ratio(peer, mine)
        if times is not None and times > 1.005:
            unit = "ms" if key.endswith("_ms") else "tok/s" if key.endswith("_tok_s") else "tokens"
            found.append(
                {
                    "n_agents": ours["n_agents"],
                    "wave": ours["wave"],
                    "what": what,
                    "peer": theirs["system"],
                    "ours": mine,
                    "theirs": peer,
                    "times": times,
                    "extrapolated": theirs["extrapolated"],
                    "unit": unit,
                }
            )
    return found
