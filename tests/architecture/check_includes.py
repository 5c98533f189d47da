#!/usr/bin/env python3
"""Holds the table of allowed includes and compares every include line of the project with it.

Usage: check_includes.py ROOT      exit 0: as in the table; exit 1: every offending line is printed
"""

import pathlib
import re
import sys

# folder of src/ -> folders of src/ it may include, besides itself and base/.
# The longest matching folder counts, so engine/llama has its own row. Everybody may include
# include/swarmkv; docs/architecture.md draws this table.
ALLOWED = {
    "base": [],
    "text": [],
    "engine": ["text"],
    "engine/fake": ["engine", "text"],
    "engine/llama": ["engine", "attention", "text"],
    "engine/llama_off": ["engine", "text"],
    "attention": [],
    "snapshot": [],
    "kv": ["engine"],
    "schedule": ["kv", "snapshot", "engine", "text"],
    "handoff": ["schedule", "engine", "text"],
    "orchestrate": [],
    "pipeline": ["orchestrate", "text"],
    "report": ["text"],
    "measure": [],
}
EVERYTHING = ["api"]  # wires all of it together

# Headers of llama.cpp and llama-common: only engine/llama may name them.
LLAMA_HEADERS = re.compile(
    r"^(llama[\w-]*|ggml[\w-]*|gguf|common|chat|sampling|log|json-schema-to-grammar|minja.*)\.(h|hpp)$")

# Large headers are kept to few files, for the sake of compile time.
AT_MOST = {"CLI/": 3, "nlohmann/": 3, "yaml-cpp/": 3}

# Libraries of the distribution, by the folder of their headers; with quotes or with angle brackets.
LIBRARIES = ("fmt/", "yaml-cpp/", "nlohmann/", "CLI/", "hwy/", "benchmark/", "gtest/", "gmock/")

# Not in both compilers' standard libraries that the project supports.
NOT_YET = {"ranges", "source_location", "format", "stacktrace", "expected"}

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".hpp", ".cpp", ".cc"}


def folder_of(path):
    """The row of the table a path relative to src/ belongs to."""
    parts = pathlib.PurePosixPath(path).parts[:-1]
    for n in range(len(parts), 0, -1):
        name = "/".join(parts[:n])
        if name in ALLOWED or name in EVERYTHING:
            return name
    return None


def files_below(root, folder):
    base = root / folder
    return sorted(p for p in base.rglob("*") if p.suffix in SUFFIXES) if base.is_dir() else []


def includes_of(path):
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found:
            yield number, found.group(1), found.group(2)


def problem_in_src(root, relative, quoted, name):
    own = folder_of(relative)
    if own is None:
        return "lies in a folder that the table does not know"
    if name.startswith("swarmkv/"):
        return None
    if LLAMA_HEADERS.match(name):
        beside = (root / "src" / relative).parent / name
        if own == "engine/llama" or (quoted and beside.exists()):
            return None
        return "only src/engine/llama may include headers of llama.cpp"
    if not quoted or name.startswith(LIBRARIES):
        return None
    if not (root / "src" / name).exists():
        if own == "engine/llama":
            return None  # a header of llama.cpp with a path of its own
        return "is not a path from src/ or include/"
    target = folder_of(name)
    if target == own or target == "base" or own in EVERYTHING:
        return None
    if target in ALLOWED.get(own, []):
        return None
    return f"{own} may not include {target}"


def problem_outside(kind, quoted, name, root, path):
    """cli/, bench/*.cpp and examples/ see include/swarmkv alone; bench/micro and tests also src/."""
    if LLAMA_HEADERS.match(name) and not (path.parent / name).exists():
        return "only src/engine/llama may include headers of llama.cpp"
    if kind == "public":
        ours = (root / "src" / name).exists()
        if quoted and not name.startswith("swarmkv/"):
            return "a public header includes nothing but public headers and the standard library"
        if not quoted and ("/" in name or name.endswith(".h")):
            return "a public header includes nothing but public headers and the standard library"
        return "is a header of src/" if ours else None
    if kind == "client" and quoted and (root / "src" / name).exists():
        return "only include/swarmkv may be used here, not src/"
    return None


def check(root):
    problems = []
    counts = {prefix: set() for prefix in AT_MOST}

    def visit(path, ask):
        for number, bracket, name in includes_of(path):
            where = f"{path.relative_to(root)}:{number}"
            text = ask(bracket == '"', name)
            if text:
                problems.append(f"{where}: {name}: {text}")
            if name in NOT_YET:
                problems.append(f"{where}: <{name}> is not available on every supported compiler")
            for prefix in AT_MOST:
                if name.startswith(prefix):
                    counts[prefix].add(str(path.relative_to(root)))

    for path in files_below(root, "src"):
        relative = path.relative_to(root / "src").as_posix()
        visit(path, lambda quoted, name: problem_in_src(root, relative, quoted, name))
    for folder, kind in [("include", "public"), ("cli", "client"), ("examples", "client")]:
        for path in files_below(root, folder):
            visit(path, lambda quoted, name: problem_outside(kind, quoted, name, root, path))
    for path in files_below(root, "bench"):
        kind = "inside" if "micro" in path.relative_to(root).parts else "client"
        visit(path, lambda quoted, name: problem_outside(kind, quoted, name, root, path))

    for prefix, limit in AT_MOST.items():
        if len(counts[prefix]) > limit:
            files = ", ".join(sorted(counts[prefix]))
            problems.append(f"<{prefix}...> is included by {len(counts[prefix])} files, at most {limit}"
                            f" may: {files}")
    return problems


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: check_includes.py ROOT")
    root = pathlib.Path(sys.argv[1]).resolve()
    if not (root / "src").is_dir():
        sys.exit(f"check_includes.py: {root} has no src/")
    problems = check(root)
    for problem in problems:
        print(problem)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
