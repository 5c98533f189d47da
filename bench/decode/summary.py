"""From samples to the figures of the report: medians with spread, ratios by trial, asks, shares of the limits."""

from benchkit import stats
from decode import limits, plan
from decode.plan import GROUPED, GROUPED_AVX2, JUDGE, STOCK

RATIOS = ((GROUPED, JUDGE), (GROUPED_AVX2, JUDGE), (STOCK, JUDGE), (GROUPED, STOCK))


def _good(samples, key, arm):
    """{(N, trial): value} of one arm."""
    return {(s["agents"], s["trial"]): s[key] for s in samples if s["arm"] == arm and s["status"] == "ok"}


def _check(ratio, least):
    """None if nothing is known."""
    return None if ratio["median"] is None else ratio["median"] >= least


def cell(samples, point, arms, n_predict, is_asked, model=None, machine=None):
    """All figures of one N; `samples`: those of its model and prefix. `asked` and `holds` are by arm, and have those
    of which something is asked at this point."""
    mine = [s for s in samples if s["agents"] == point.n_agents]
    figures = {"agents": point.n_agents, "arms": {}, "ratios": {}, "limit": None}
    for arm in arms:
        speeds = _good(mine, "decode_tok_s", arm)
        figures["arms"][arm] = {
            "decode_tok_s": stats.spread(speeds.values()),
            "failed": [s["error"] for s in mine if s["arm"] == arm and s["status"] != "ok"],
        }
    for above, below in RATIOS:
        if above in arms and below in arms:
            ratio = stats.paired_ratio(*(_good(mine, "decode_tok_s", arm) for arm in (above, below)))
            figures["ratios"][f"{above}/{below}"] = ratio
    figures["asked"], figures["holds"] = {}, {}
    for arm in arms:
        ratio = figures["ratios"].get(f"{arm}/{JUDGE}")
        least = plan.asked(arm, point.prefix, point.n_agents)
        if is_asked and ratio and least is not None:
            figures["asked"][arm], figures["holds"][arm] = least, _check(ratio, least)
    speed = figures["arms"].get(GROUPED, {}).get("decode_tok_s", {}).get("median")
    if speed and model and not model.odd and machine:
        limit = limits.of_step(model, machine, point.prefix, point.n_agents, n_predict)
        step_ms = 1000 * point.n_agents / speed
        figures["limit"] = {**limit, "step_ms": step_ms, "share": limit["limit_ms"] / step_ms}
    return figures


def prefill(samples, arms, is_asked):
    """The prefix is computed anew for each N: all of these are samples of the same work."""
    found = {arm: stats.spread(_good(samples, "prefill_tok_s", arm).values()) for arm in arms}
    result = {"arms": found, "ratio": None, "asked": plan.ASKED_PREFILL if is_asked else None, "holds": None}
    if GROUPED in arms and JUDGE in arms:
        result["ratio"] = stats.paired_ratio(*(_good(samples, "prefill_tok_s", arm) for arm in (GROUPED, JUDGE)))
        if is_asked:
            result["holds"] = _check(result["ratio"], plan.ASKED_PREFILL)
    return result


def summarise(samples, points, arms, n_predict, models, asked_models, machine):
    """[{model, prefix, cells, prefill}]; models: {label: gguf.Model or None}, asked_models: the labels of those that
    the project asks something of, machine: limits.measure() or None."""
    groups = []
    for model, prefix in dict.fromkeys((p.model, p.prefix) for p in points):
        mine = [s for s in samples if (s["model"], s["prefix"]) == (model, prefix)]
        here = [p for p in points if (p.model, p.prefix) == (model, prefix)]
        is_asked = model in asked_models
        groups.append(
            {
                "model": model,
                "prefix": prefix,
                "cells": [cell(mine, p, arms, n_predict, is_asked, models[model], machine) for p in here],
                "prefill": prefill(mine, arms, is_asked),
                "no_limits": models[model].odd if models[model] else "",
            }
        )
    return groups
