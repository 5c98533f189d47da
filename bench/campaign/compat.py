"""The original article's figures, by their original names, of one trial of the original shape."""

from campaign import shapes


def all_figures(trials, label, document):
    """{arm: {name: value}} of one trial of the original shape, one element of `trials` for each arm.

    What the original called SwarmKV is the snapshot that is copied for each branch; `shared` is what it is today.
    """
    arms = {t.arm: t for t in trials if t.ok}
    if shapes.RECOMPUTE not in arms:
        return {}
    return {
        arm: figures(arms[shapes.RECOMPUTE], arms[arm], label, document)
        for arm in (shapes.SNAPSHOT, shapes.SHARED)
        if arm in arms
    }


def figures(base, swarm, label, document):
    """{name: value} in the original's order. Unknown values are None."""
    prefill, swarm_prefill = base.document_ms, sum(swarm.document_ms)
    branch, swarm_branch = base.branch_ms, swarm.branch_ms

    def better(before, after):
        return None if before is None or after is None or not before else (before - after) / before * 100

    return {
        "Context_Label": label,
        "Document_Tokens": base.document_tokens,
        "Target_Prefill_Tokens": shapes.ORIGINAL_TOKENS,
        "Base_Doc_Path": document,
        "BranchA_Tokens": _at(base.suffix_tokens, 0),
        "BranchB_Tokens": _at(base.suffix_tokens, 1),
        "SwarmKV_AgentA_Required_Prefix_Tokens": swarm.document_tokens,
        "SwarmKV_AgentB_Required_Prefix_Tokens": swarm.document_tokens,
        "Baseline_Agent1_Prefill_Ms": _at(prefill, 0),
        "Baseline_Agent1_Branch_Ms": _at(branch, 0),
        "Baseline_Agent1_Total_Ms": _sum(_at(prefill, 0), _at(branch, 0)),
        "Baseline_Agent2_Prefill_Ms": _at(prefill, 1),
        "Baseline_Agent2_Branch_Ms": _at(branch, 1),
        "Baseline_Agent2_Total_Ms": _sum(_at(prefill, 1), _at(branch, 1)),
        "Baseline_End_To_End_Ms": base.wall_ms,
        "Baseline_Branch2_TTFT_Proxy_Ms": _at(base.proxy_ms, 1),
        "SwarmKV_Prefill_Ms": swarm_prefill,
        "SwarmKV_AgentA_Ms": _at(swarm_branch, 0),
        "SwarmKV_AgentB_Ms": _at(swarm_branch, 1),
        "SwarmKV_Branch_Avg_Ms": sum(swarm_branch) / len(swarm_branch) if swarm_branch else None,
        "SwarmKV_Branch1_TTFT_Proxy_Ms": _at(swarm.proxy_ms, 0),
        "SwarmKV_Branch2_TTFT_Proxy_Ms": _at(swarm.proxy_ms, 1),
        "SwarmKV_End_To_End_Ms": swarm.wall_ms,
        "End_To_End_Improvement_Pct": better(base.wall_ms, swarm.wall_ms),
        "Branch1_TTFT_Improvement_Pct": better(_at(base.proxy_ms, 0), _at(swarm.proxy_ms, 0)),
        "Branch2_TTFT_Improvement_Pct": better(_at(base.proxy_ms, 1), _at(swarm.proxy_ms, 1)),
        "Redundant_Prefill_Eliminated_Ms": sum(prefill) - swarm_prefill,
    }


def _at(values, index):
    return values[index] if index < len(values) else None


def _sum(a, b):
    return None if a is None or b is None else a + b
