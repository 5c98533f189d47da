"""What a figure was measured on: machine, model, versions, the state of the tree."""

import datetime
import hashlib
import os
import pathlib
import platform
import subprocess

from benchkit import places


def _first(path, key):
    try:
        for line in pathlib.Path(path).read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(key):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return None


def _run(*command, cwd=None):
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=30,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def cores():
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _simd():
    flags = (_first("/proc/cpuinfo", "flags") or "").split()
    for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2"), ("avx", "AVX")):
        if flag in flags:
            return name
    return None


def file_sha256(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def tree_state():
    """Commit of this tree and whether it was changed since; unknown outside of git."""
    commit = _run("git", "rev-parse", "HEAD", cwd=places.ROOT)
    changes = _run("git", "status", "--porcelain", cwd=places.ROOT)
    return {"commit": commit, "dirty": None if commit is None or changes is None else bool(changes)}


def describe(command, model):
    """Everything that identifies the run, apart from its flags. `model` None: the fake engine."""
    kib = (_first("/proc/meminfo", "MemTotal") or "0 kB").split()[0]
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "cpu": _first("/proc/cpuinfo", "model name") or platform.processor() or None,
        "cores": cores(),
        "simd": _simd(),
        "memory_gib": round(int(kib) / (1 << 20), 1) or None,
        "system": f"{platform.system()} {platform.release()}",
        "load_average_at_start": round(os.getloadavg()[0], 2),
        "swarmkv": tree_state(),
        "swarmkv_version": _run(str(command), "version"),
        "model": {
            "name": pathlib.Path(model).name,
            "sha256": file_sha256(model),
            "size_bytes": pathlib.Path(model).stat().st_size,
        }
        if model
        else {"name": "fake engine"},
    }
