"""The flags of bench/decode.py."""

import argparse
import pathlib

from benchkit import machine, places
from decode import models, plan


def numbers(least, most):
    def parse(value):
        try:
            found = [int(part) for part in value.split(",")]
        except ValueError:
            found = []
        if not found or min(found) < least or max(found) > most:
            raise argparse.ArgumentTypeError(f"numbers from {least} to {most:,}, with commas between them")
        return sorted(set(found))

    return parse


def arm_list(value):
    found = value.split(",")
    unknown = [name for name in found if name not in plan.ARMS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown arm {unknown[0]}: there are {', '.join(plan.ARMS)}")
    return [arm for arm in plan.ARMS if arm in found]


def arguments(argv, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add(
        "-m",
        "--models",
        type=lambda value: value.split(","),
        default=[models.FETCHED],
        help=f"GGUF files, or quantisations of the small model of the cache: {models.FETCHED} is its file, others "
        f"({', '.join(models.MADE)}) are made from that, good for speed only ({models.FETCHED})",
    )
    add("--arms", type=arm_list, default=plan.ARMS[:3], help=f"some of {','.join(plan.ARMS)} (the first three)")
    # 240: as many as `swarmkv bench` puts into one batch.
    add("--agents", type=numbers(1, 240), default=[1, 2, 8, 16, 32, 50, 64, 100, 128], help="N (1,2,8,...,128)")
    add("--prefix", type=numbers(16, 1 << 20), default=[plan.ASKED_PREFIX], help="shared tokens (3500)")
    add("-n", "--predict", type=int, default=32, help="tokens each agent decodes (32)")
    add("--trials", type=int, default=5, help="of each point (5)")
    add("--budget", type=float, help="minutes; further trials that would exceed them are left out, never the first")
    add("-t", "--threads", type=int, default=machine.cores(), help="for all arms (all cores)")
    add("--out", type=pathlib.Path, default=places.ROOT / "out" / "decode", help="folder of the results (out/decode)")
    add("--swarmkv", help="the command (build/release/cli/swarmkv)")
    add("--batched-bench", help="llama-batched-bench (built if not given)")
    add("--micro", help="swarmkv_micro, which measures the machine (build/release/bench/swarmkv_micro)")
    add("--no-limits", action="store_true", help="do not measure the machine's limits")
    add("--engine", choices=["llama", "fake"], default="llama", help="fake: for trying the tool, figures mean nothing")
    add("--timeout", type=float, default=3600, help="seconds for one process (3600)")
    add("--no-plots", action="store_true", help="tables only: needs no Python packages")
    add("--publish", type=pathlib.Path, help="put figures and plots into this file, between its marks")
    add("--mark", default="decode", help="the marks: measured:MARK:begin and measured:MARK:end (decode)")
    add("--plan", action="store_true", help="print what would be run and how long it takes, then stop")
    given = parser.parse_args(argv)
    if min(given.predict, given.trials, given.threads) < 1:
        parser.error("-n, --trials and -t must be at least 1")
    if given.budget is not None and given.budget <= 0:
        parser.error("--budget must be positive")
    return given
