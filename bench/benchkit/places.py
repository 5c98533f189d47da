"""Where things are: the tree, the cache, the command, the model."""

import os
import pathlib
import shlex
import shutil

ROOT = pathlib.Path(__file__).resolve().parents[2]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


class Missing(Exception):
    """Something that has to be there first; the message says how to get it."""


def cache():
    """The cache folder; scripts/common.sh computes the same path."""
    for variable, tail in (("SWARMKV_CACHE", ""), ("XDG_CACHE_HOME", "swarmkv"), ("HOME", ".cache/swarmkv")):
        base = os.environ.get(variable)
        if base:
            return (pathlib.Path(base) / tail).absolute()
    raise Missing("neither SWARMKV_CACHE nor HOME is set: set SWARMKV_CACHE to a folder for downloads")


def command(given=None):
    """The swarmkv command: as given, else of this tree's release build, else from PATH."""
    if given:
        path = shutil.which(given)
        if path is None:
            raise Missing(f"{given} is not a program: build it with make build, or give another --swarmkv")
        return pathlib.Path(path).absolute()
    built = ROOT / "build" / "release" / "cli" / "swarmkv"
    if os.access(built, os.X_OK):
        return built
    path = shutil.which("swarmkv")
    if path is None:
        raise Missing(f"{built} is not there: run make build, or give --swarmkv PROGRAM")
    return pathlib.Path(path)


def model(given=None):
    """The model file: as given, else SWARMKV_MODEL, else the small one of the cache."""
    path = pathlib.Path(given or os.environ.get("SWARMKV_MODEL") or cache() / "models" / MODEL)
    if not path.is_file():
        raise Missing(f"{path} is not there: run scripts/get-models, or give -m MODEL")
    return path.absolute()


def display(path):
    """A path for reports: relative to the tree, or with ~ for the home folder; never a full machine path."""
    path = pathlib.Path(path).absolute()
    for base, name in ((ROOT, ""), (pathlib.Path.home(), "~/")):
        try:
            return name + str(path.relative_to(base))
        except ValueError:
            continue
    return path.name


def shown(arguments):
    """A command line for reports: without full machine paths."""
    return shlex.join(display(a) if os.path.isabs(a) else a for a in arguments)
