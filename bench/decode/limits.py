"""What the machine could do at most, measured, and how near a decode step comes to it."""

import json
import os
import shutil

from benchkit import child, places

READ, MULTIPLY = "machine_read", "machine_multiply_add"


def program(given=None):
    """swarmkv_micro: as given, else of this tree's release build."""
    path = shutil.which(given or places.ROOT / "build" / "release" / "bench" / "swarmkv_micro")
    if path is None:
        raise places.Missing(
            f"{given or 'swarmkv_micro'} is not there: run make build, give another --micro, or --no-limits"
        )
    return os.path.abspath(path)


def measure(micro, timeout_s=600):
    """{read_bytes_per_s, flop_per_s}: the best of some runs on all threads, as it is a limit.

    errors  places.Missing  the program does not give them
    """
    status, out, err = child.run(
        [micro, f"--benchmark_filter=^({READ}|{MULTIPLY})", "--benchmark_repetitions=5", "--benchmark_format=json"],
        timeout_s,
    )
    try:
        runs = [run for run in json.loads(out)["benchmarks"] if run["run_type"] == "iteration"]
        best = {
            name: 1 / min(run[counter] for run in runs if run["name"].startswith(name))
            for name, counter in ((READ, "s_per_byte"), (MULTIPLY, "s_per_flop"))
        }
    except (ValueError, KeyError, ZeroDivisionError) as error:
        raise places.Missing(f"{micro} ended with {status} and gave no limits: {err.strip()[-300:]}") from error
    return {"read_bytes_per_s": best[READ], "flop_per_s": best[MULTIPLY]}


def of_step(model, machine, prefix, n_agents, n_predict):
    """The least time of one decode step, on average over the n_predict steps, by what it must read and compute."""
    own = (n_predict + 1) / 2  # tokens of its own that a row sees, itself included
    size = model.weight_bytes + model.kv_bytes_per_cell * (prefix + n_agents * own)
    head = model.heads * (model.key_length + model.value_length)
    flop = n_agents * (2 * model.matrix_params + 2 * (prefix + own) * head * model.layers)
    read_ms = 1000 * size / machine["read_bytes_per_s"]
    compute_ms = 1000 * flop / machine["flop_per_s"]
    return {
        "bytes": size,
        "flop": flop,
        "read_ms": read_ms,
        "compute_ms": compute_ms,
        "limit_ms": max(read_ms, compute_ms),
        "bound": "reading" if read_ms >= compute_ms else "arithmetic",
    }
