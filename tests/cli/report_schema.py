"""The shape of report.json (docs/metrics.md) as a value: keys in order, and what each may hold."""

NUMBER = (int, float)
NONE = type(None)
TEXT_OR_NULL = (str, NONE)
NUMBER_OR_NULL = (int, float, NONE)
PERCENTILES = {"p50": NUMBER_OR_NULL, "p95": NUMBER_OR_NULL, "p99": NUMBER_OR_NULL,
               "max": NUMBER_OR_NULL}

SNAPSHOT = {"state": str, "path": TEXT_OR_NULL, "size_bytes": (int, NONE), "n_tokens": (int, NONE),
            "ms": NUMBER_OR_NULL, "reason": TEXT_OR_NULL,
            "files": [{"state": str, "path": TEXT_OR_NULL, "size_bytes": (int, NONE), "n_tokens": (int, NONE),
                       "ms": NUMBER_OR_NULL, "reason": TEXT_OR_NULL, "documents": [str]}]}

READING = {"after": TEXT_OR_NULL, "reader": str, "n_tokens": int, "source": str, "computed_tokens": int,
           "restored_tokens": int, "prefill_ms": NUMBER_OR_NULL, "prefill_tokens_per_s": NUMBER_OR_NULL,
           "ready_ms": NUMBER_OR_NULL, "snapshot": (SNAPSHOT, NONE)}

DOCUMENT = {"name": str, "digest": str, "n_tokens": (int, NONE), "source": str, "computed_tokens": int,
            "prefill_ms": NUMBER_OR_NULL, "prefill_tokens_per_s": NUMBER_OR_NULL, "snapshot": (SNAPSHOT, NONE),
            "ready_ms": NUMBER_OR_NULL, "restored_tokens": int, "readings": [READING]}

ERROR = {"code": str, "message": str}

ANY = object()

AGENT = {
    "name": str, "kind": str, "status": str, "finish_reason": TEXT_OR_NULL, "truncated": bool,
    "error": (ERROR, NONE), "skip_reason": TEXT_OR_NULL, "needs": [str], "continues": TEXT_OR_NULL,
    "reads": [str], "ready_after": (int, NONE), "text": str, "reasoning": TEXT_OR_NULL, "json": ANY,
    "output_file": TEXT_OR_NULL, "preemptions": int,
    "usage": {"prompt_tokens": (int, NONE), "cached_tokens": (int, NONE),
              "completion_tokens": (int, NONE), "total_tokens": (int, NONE)},
    "metrics": {"ttft_ms": NUMBER_OR_NULL, "ttft_warm_ms": NUMBER_OR_NULL,
                "tpot_ms": NUMBER_OR_NULL, "itl_ms": PERCENTILES, "e2e_ms": NUMBER_OR_NULL,
                "document_wait_ms": NUMBER_OR_NULL, "queue_ms": NUMBER_OR_NULL,
                "prefill_ms": NUMBER_OR_NULL, "output_tokens_per_s": NUMBER_OR_NULL},
    "timeline": {"enqueued_ms": NUMBER_OR_NULL, "prefix_ready_ms": NUMBER_OR_NULL,
                 "admitted_ms": NUMBER_OR_NULL, "first_token_ms": NUMBER_OR_NULL,
                 "finished_ms": NUMBER_OR_NULL},
    "sampling": ({"temperature": NUMBER, "seed": int, "max_tokens": int, "stop": [str]}, NONE),
    "token_ids_digest": TEXT_OR_NULL, "fork_fell_back": bool,
}

SUMMARY = {
    "duration_ms": NUMBER,
    "counts": {"finished": int, "failed": int, "skipped": int, "cancelled": int, "truncated": int},
    "prompt_tokens": int, "prompt_tokens_computed": int, "prompt_tokens_reused": int,
    "reuse_ratio": NUMBER_OR_NULL, "completion_tokens": int,
    "output_throughput_tok_s": NUMBER_OR_NULL, "ttft_ms": PERCENTILES, "tpot_ms": PERCENTILES,
    "itl_ms": PERCENTILES, "e2e_ms": PERCENTILES, "jitter": NUMBER_OR_NULL, "fairness": NONE,
    "forward_steps": int, "mean_decode_batch": NUMBER_OR_NULL,
    "critical_path": [str],
    "peak": {"kv_cells": int, "rss_bytes": (int, NONE), "threads": (int, NONE)},
    "engine_time_s": {"forward": NUMBER, "sample": NUMBER, "fork": NUMBER, "other": NUMBER,
                      "idle": NUMBER, "mask": NUMBER},
    "graphs_reused": int, "critical_path_ms": [NUMBER], "decode_steps": int, "decode_rows": int,
}

REPORT = {
    "schema": str, "run_id": str, "name": str, "status": str, "exit_code": int, "started_at": str,
    "versions": {"swarmkv": str, "llama_cpp": str}, "command": [str],
    "model": {"path": TEXT_OR_NULL, "fingerprint": TEXT_OR_NULL, "n_params": (int, NONE),
              "quant": TEXT_OR_NULL, "load_ms": NUMBER},
    "device": TEXT_OR_NULL, "ctx_size": int, "cache_type_k": str, "cache_type_v": str,
    "handoff": str, "attention": str, "attention_note": TEXT_OR_NULL, "documents": [DOCUMENT],
    "agents": [AGENT], "summary": SUMMARY,
    "warnings": [{"code": str, "agent": TEXT_OR_NULL, "pos": TEXT_OR_NULL, "message": str,
                  "hint": TEXT_OR_NULL}],
}


def problems(value, shape=None, where="report"):
    """What is wrong with `value`, as a list of sentences; empty if it fits."""
    shape = REPORT if shape is None else shape
    if shape is ANY:
        return []
    if isinstance(shape, tuple):
        tries = [problems(value, each, where) for each in shape]
        return min(tries, key=len)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where}: {value!r} is not a list"]
        return [p for i, item in enumerate(value) for p in problems(item, shape[0], f"{where}[{i}]")]
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where}: {value!r} is not an object"]
        if list(value) != list(shape):
            return [f"{where}: keys {list(value)}, expected {list(shape)}"]
        return [p for key in shape for p in problems(value[key], shape[key], f"{where}.{key}")]
    # bool is an int in Python, but not in JSON.
    if isinstance(value, bool) != (shape is bool) or not isinstance(value, shape):
        return [f"{where}: {value!r} is not {shape.__name__}"]
    return []
