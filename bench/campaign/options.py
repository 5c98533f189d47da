"""The flags of bench/campaign.py."""

import argparse
import pathlib

from benchkit import machine, places
from campaign import shapes


def shape_list(value):
    found = value.split(",")
    unknown = [name for name in found if name not in shapes.SHAPES]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown shape {unknown[0]}: there are {', '.join(shapes.SHAPES)}")
    return tuple(name for name in shapes.SHAPES if name in found)


def arguments(argv, description):
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("-m", "--model", help="GGUF file (default: the small one of the cache)")
    add("--swarmkv", help="the command (build/release/cli/swarmkv)")
    add(
        "--out",
        type=pathlib.Path,
        default=places.ROOT / "out" / "campaign",
        help="folder of the results (out/campaign)",
    )
    add("--shapes", type=shape_list, default=shapes.SHAPES, help=f"some of {','.join(shapes.SHAPES)} (all)")
    add("--budget", type=float, default=60, help="minutes that must not be exceeded (60)")
    add("--full", action="store_true", help="no limit: five trials, no arm left out")
    add("-t", "--threads", type=int, default=machine.cores(), help="of every run (all cores)")
    add("--seed", type=int, default=42, help="of documents, questions and sampling (42)")
    add("--label", default=None, help="name of the machine in the report (its processor)")
    add("--engine", choices=["llama", "fake"], default="llama", help="fake: for trying the tool, times mean nothing")
    add("--slower", type=float, help="skip the short run that estimates the machine's speed: this is the factor")
    add("--retry-failed", action="store_true", help="run again what failed in an earlier run")
    add("--no-plots", action="store_true", help="neither plots nor DOCX: needs no Python packages")
    add("--publish", type=pathlib.Path, help="put the figures between the marks of this file (docs/benchmark.md)")
    add("--plan", action="store_true", help="print what would be run and how long it takes, then stop")
    add("--report-only", action="store_true", help="run nothing; write plots and reports from what is on disk")
    given = parser.parse_args(argv)
    if given.budget <= 0 or given.threads < 1:
        parser.error("--budget and --threads must be positive")
    return given
