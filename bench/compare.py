#!/usr/bin/env python3
"""Compares the micro benchmarks of two versions: runs them in turn and prints what became slower.

OLD and NEW are each one of
  a commit        built in a git worktree of its own in a temporary folder (Release, fake engine)
  a program       a swarmkv_micro that is already built, for work that is not committed
  a .json file    written with --benchmark_out; then both must be, and nothing is run. Its repetitions
                  are the samples (--benchmark_repetitions)

The runs are interleaved, OLD NEW OLD NEW ..., so that a machine that gets slower meanwhile slows both.
The table shows the medians, the median of the ratios NEW/OLD of all pairs of runs, and the smallest and
the largest of them. Only where all pairs agree is a benchmark called faster or slower; on a shared
machine even that needs the same answer twice.

  bench/compare.py HEAD~1 HEAD --filter decode_step
  bench/compare.py main build/release/bench/swarmkv_micro --save out/
"""

import argparse
import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
UNITS_NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


class Failure(Exception):
    """Something the user can do something about; the text says what."""


def run(command, what):
    done = subprocess.run(command, cwd=ROOT, text=True, stdin=subprocess.DEVNULL, capture_output=True,
                          check=False)
    if done.returncode != 0:
        raise Failure(f"{what} failed with status {done.returncode}: {' '.join(map(str, command))}\n"
                      + (done.stdout + done.stderr)[-4000:])
    return done.stdout.strip()


def kind_of(argument):
    path = pathlib.Path(argument)
    if path.suffix == ".json":
        return "json"
    return "program" if path.is_file() and os.access(path, os.X_OK) else "commit"


@contextlib.contextmanager
def worktree(commit, folder):
    """The commit checked out in `folder`; gone afterwards, whatever happens."""
    run(["git", "worktree", "add", "--detach", folder, commit], f"checking out {commit}")
    try:
        yield folder
    finally:
        run(["git", "worktree", "remove", "--force", folder], "removing the worktree")


def build(commit, tree):
    if not list((tree / "bench" / "micro").glob("*.cpp")):
        raise Failure(f"commit {commit} has no benchmarks in bench/micro")
    print(f"building {commit}", file=sys.stderr)
    out = tree / "build" / "compare"
    run(["cmake", "-S", tree, "-B", out, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", "-DSWARMKV_LLAMA=OFF",
         "-DSWARMKV_BUILD_BENCH=ON", "-DSWARMKV_BUILD_TESTS=OFF", "-DSWARMKV_BUILD_CLI=OFF",
         "-DSWARMKV_BUILD_EXAMPLES=OFF"], f"configuring {commit}")
    run(["cmake", "--build", out, "--target", "swarmkv_micro"], f"building {commit}")
    return out / "bench" / "swarmkv_micro"


def samples_of(path, metric):
    """Nanoseconds of every run in the file, by benchmark: {name: [repetition, ...]}."""
    try:
        runs = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))["benchmarks"]
        samples = {}
        for one in runs:
            if one.get("error_occurred"):
                raise Failure(f"{path}: {one['name']} failed: {one.get('error_message', '')}")
            if one.get("run_type", "iteration") == "iteration":  # not a mean or a median of others
                samples.setdefault(one["name"], []).append(one[metric] * UNITS_NS[one["time_unit"]])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} is not a file of --benchmark_out: {error!r}") from error
    return samples


def measure(programs, options, folder):
    """Runs both programs in turn and returns the samples of each."""
    samples = ({}, {})
    for i in range(options.repetitions):
        for side, program in enumerate(programs):
            out = folder / f"{('old', 'new')[side]}-{i}.json"
            print(f"run {i + 1} of {options.repetitions}: {('old', 'new')[side]}", file=sys.stderr)
            command = [program, f"--benchmark_out={out}", "--benchmark_out_format=json"]
            if options.filter:
                command.append(f"--benchmark_filter={options.filter}")
            if options.min_time:
                command.append(f"--benchmark_min_time={options.min_time}")
            run(command, "a benchmark run")
            if not out.exists() or out.stat().st_size == 0:
                raise Failure(f"no benchmark of {program} matches '{options.filter}'")
            for name, values in samples_of(out, options.metric).items():
                samples[side].setdefault(name, []).extend(values)
    return samples


def human(nanoseconds):
    unit, size = next(((u, n) for u, n in reversed(UNITS_NS.items()) if nanoseconds >= n), ("ns", 1))
    digits = f"{nanoseconds / size:.3g}"
    return f"{nanoseconds / size:.0f} {unit}" if "e" in digits else f"{digits} {unit}"


def table(old, new):
    lines = [("benchmark", "old", "new", "new/old", "min", "max", "runs", "")]
    for name, before in old.items():
        after = new.get(name)
        if after is None:
            continue
        ratios = [b / a for a, b in zip(before, after) if a > 0]
        if not ratios:
            continue
        verdict = "faster" if max(ratios) < 1 else "slower" if min(ratios) > 1 else ""
        lines.append((name, human(statistics.median(before)), human(statistics.median(after)),
                      f"{statistics.median(ratios):.3f}", f"{min(ratios):.3f}", f"{max(ratios):.3f}",
                      str(len(ratios)), verdict if len(ratios) > 1 else ""))
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    text = []
    for line in lines:
        numbers = [cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:-1])]
        text.append(" ".join([line[0].ljust(widths[0]), *numbers, line[-1]]).rstrip())
    for label, mine, other in (("old", old, new), ("new", new, old)):
        only = [name for name in mine if name not in other]
        if only:
            text.append(f"only in {label}: " + ", ".join(only))
    return "\n".join(text)


def compare(options):
    sides = (options.old, options.new)
    kinds = [kind_of(side) for side in sides]
    if "json" in kinds:
        if kinds != ["json", "json"]:
            raise Failure("a JSON file can only be compared with another JSON file")
        return tuple(samples_of(side, options.metric) for side in sides)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="swarmkv-compare-")))
        programs = []
        for label, side, kind in zip(("old", "new"), sides, kinds):
            if kind == "program":
                programs.append(pathlib.Path(side).resolve())
                continue
            commit = run(["git", "rev-parse", "--verify", "--short", side + "^{commit}"],
                         f"'{side}' is neither a program nor a commit: git rev-parse")
            programs.append(build(commit, stack.enter_context(worktree(commit, folder / label))))
        out = folder
        if options.save:
            out = pathlib.Path(options.save)
            out.mkdir(parents=True, exist_ok=True)
        return measure(programs, options, out.resolve())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", metavar="OLD")
    parser.add_argument("new", metavar="NEW")
    parser.add_argument("--filter", default="", metavar="REGEX", help="only benchmarks with such a name")
    parser.add_argument("--repetitions", type=int, default=5, metavar="N", help="runs of each (default 5)")
    parser.add_argument("--min-time", default="", metavar="S", help="seconds for one benchmark of one run")
    parser.add_argument("--metric", choices=("cpu_time", "real_time"), default="cpu_time")
    parser.add_argument("--save", default="", metavar="FOLDER", help="keep the JSON of every run here")
    options = parser.parse_args()
    if options.repetitions < 1:
        parser.error(f"--repetitions must be 1 or more, not {options.repetitions}")
    try:
        print(table(*compare(options)))
    except Failure as failure:
        sys.exit(f"compare.py: {failure}")
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
