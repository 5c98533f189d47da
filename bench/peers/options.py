"""The flags of bench/peers.py."""

import argparse
import pathlib

from benchkit import machine, places


def numbers(value):
    found = [int(part) for part in value.split(",")]
    if not found or min(found) < 1 or max(found) > 64:
        raise argparse.ArgumentTypeError("numbers from 1 to 64, as in 1,2,8")
    return sorted(set(found))


def arguments(argv, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-m", "--model", help="GGUF file (default: the small one of the cache)")
    add("-f", "--file", default=places.ROOT / "examples" / "documents" / "MPL-2.0.txt", help="document (MPL-2.0)")
    add("--questions", default=places.ROOT / "bench" / "scenarios" / "questions.txt", help="one a line")
    add("--agents", type=numbers, default=[1, 2, 8, 32, 50], help="N of the runs (1,2,8,32,50)")
    add("-n", "--predict", type=int, default=32, help="tokens of each answer (32)")
    add("--trials", type=int, default=3, help="of each point (3; 5 for a published figure)")
    add("--waves", choices=["both", "cold"], default="both")
    add(
        "--server-limit",
        type=int,
        default=8,
        help="largest N at which llama-server is really run; beyond: extrapolated (8)",
    )
    add("--full", action="store_true", help="no extrapolation: llama-server at every N, however long it takes")
    add("-t", "--threads", type=int, default=machine.cores(), help="for all three (all cores)")
    add("--out", type=pathlib.Path, default=places.ROOT / "out" / "peers", help="folder of the results (out/peers)")
    add("--swarmkv", help="the command (build/release/cli/swarmkv)")
    add("--server", help="llama-server (built if not given)")
    add("--batched-bench", help="llama-batched-bench (built if not given)")
    add("--engine", choices=["llama", "fake"], default="llama", help="fake: for trying the tool, figures mean nothing")
    add("--timeout", type=float, default=3600, help="seconds for one process (3600)")
    add("--publish", type=pathlib.Path, help="put the figures between the marks of this file (docs/benchmark.md)")
    add("--plan", action="store_true", help="print what would be run and how long it takes, then stop")
    given = parser.parse_args(argv)
    if min(given.predict - 1, given.trials, given.threads) < 1:
        parser.error("-n must be at least 2; --trials and -t at least 1")
    return given
