"""The models that are compared: files, and other quantisations of the small one."""

import os
import pathlib

from benchkit import child, gguf, llama_tools, places

FETCHED = "q4_1"  # what scripts/get-models fetches
MADE = ("q4_0", "q5_0", "q5_1", "q8_0")
_PATIENCE_S = 1800


def labels(asked):
    """{label: path, or None for one that is to be made}, in the order asked for.

    errors  places.Missing  no such file or quantisation
    """
    found = {}
    for name in asked:
        if name.lower() in MADE:
            found[name.lower()] = None
        elif name.lower() == FETCHED:
            found[FETCHED] = places.model()
        else:
            path = pathlib.Path(name)
            if not path.is_file():
                raise places.Missing(
                    f"{name} is neither a file nor a quantisation that can be made ({', '.join((FETCHED, *MADE))})"
                )
            found[path.stem] = path.absolute()
    return found


def is_asked(path):
    """Whether the file is the model that the project asks something of (plan.ASKED)."""
    return path is not None and path.name == places.MODEL


def make(label, quantize=None):
    """The small model in another quantisation, in the cache. Its answers are worse than those of one that was made
    from the original weights; its speed is the same."""
    source = places.cache() / "models" / places.MODEL
    if not source.is_file():
        raise places.Missing(f"{source} is not there: run scripts/get-models")
    kind = label.upper()
    made = places.cache() / "requantized" / places.MODEL.replace("Q4_1", kind)
    if made.is_file():
        return made
    program = quantize or llama_tools.built(["llama-quantize"])["llama-quantize"]
    made.parent.mkdir(parents=True, exist_ok=True)
    half = made.with_name(f"{made.name}.{os.getpid()}.tmp")
    try:
        status, _, err = child.run([program, "--allow-requantize", source, half, kind], _PATIENCE_S)
        if status != 0:
            raise places.Missing(f"llama-quantize ended with {status}: {err.strip()[-300:]}")
        os.replace(half, made)
    finally:
        half.unlink(missing_ok=True)
    return made


def facts(path):
    """The gguf.Model of a label's file; of one that is still to be made those of the small model, which has the same
    context."""
    return gguf.read(path or places.model())
