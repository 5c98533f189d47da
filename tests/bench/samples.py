"""Made-up samples, worded like `swarmkv bench -o jsonl`, from a simple model of the four arms. No clock is read."""

import random

ARMS = ("recompute", "snapshot", "device", "shared")
COPY_MS = {"recompute": 0.0, "snapshot": 40.0, "device": 25.0, "shared": 0.05}


def sample(arm, n_document, n_agents, n_output, trial=0, position=0, suffix=16, noise=0.02):
    """One line as a dict: a document token takes 9 ms, a token of an answer 20 ms alone and 12 ms in a batch."""
    chance = random.Random(f"{arm}/{n_document}/{n_agents}/{trial}")
    factor = 1 + chance.uniform(-noise, noise)
    document, prompt, alone = 9.0 * n_document * factor, 9.0 * suffix, 20.0 * n_output
    agents, clock, documents = [], 5.0, []
    for i in range(n_agents):
        admitted = clock
        if arm == "recompute" or not documents:
            documents.append(document)
            clock += document
        ready = clock
        clock += COPY_MS[arm]
        over = clock
        if arm == "shared":
            ready, over = 5.0 + document, 5.0 + document + COPY_MS[arm] * n_agents
            first = over + prompt * n_agents
            finished = first + 12.0 * n_output * n_agents
        else:
            first = over + prompt
            clock = finished = first + alone
        agents.append(
            {
                "prompt_tokens": n_document + suffix,
                "suffix_tokens": suffix,
                "cached_tokens": 0 if arm == "recompute" else n_document,
                "computed_tokens": n_document + suffix if arm == "recompute" else suffix,
                "completion_tokens": n_output,
                "enqueued_ms": 4.0,
                "admitted_ms": admitted,
                "prefix_ready_ms": ready,
                "handed_over_ms": over,
                "first_token_ms": first,
                "finished_ms": finished,
                "token_ids_digest": f"{i:016x}",
            }
        )
    asked = n_agents * (n_document + suffix)
    computed = asked if arm == "recompute" else n_document + n_agents * suffix
    wall = max(agent["finished_ms"] for agent in agents)
    return {
        "schema": "swarmkv.bench/1",
        "arm": arm,
        "document_tokens": n_document,
        "agents": n_agents,
        "output_tokens": n_output,
        "trial": trial,
        "position": position,
        "status": "finished",
        "error": None,
        "setup_ms": 5.0,
        "wall_ms": wall,
        "agents_detail": agents,
        "prompt_tokens": asked,
        "prompt_tokens_computed": computed,
        "prompt_tokens_reused": asked - computed,
        "prompt_tokens_expected": computed,
        "completion_tokens": n_agents * n_output,
        "cache_was_empty": True,
        "decode_tokens_per_s": 50.0,
        "forward_ms": wall * 0.99,
        "sample_ms": wall * 0.002,
        "handoff_total_ms": COPY_MS[arm] * n_agents,
        "forwards": 100,
        "handoffs": n_agents,
        "peak_kv_cells": computed,
        "peak_kv_bytes": computed * 23040,
        "peak_rss_bytes": 300 << 20,
        "token_ids_digest": "abc",
        "document_ms": documents,
        "branch_ms": [agent["finished_ms"] - agent["prefix_ready_ms"] for agent in agents],
        "proxy_ms": documents
        if arm == "recompute"
        else [agent["first_token_ms"] - agent["prefix_ready_ms"] for agent in agents],
    }


def failed(arm, n_document, n_agents, n_output, error, **how):
    line = sample(arm, n_document, n_agents, n_output, **how)
    line.update(status="failed", error=error, agents_detail=[], document_ms=[], branch_ms=[], proxy_ms=[])
    return line
