"""The Python environment with matplotlib, which scripts/get-bench-env makes."""

import os
import pathlib
import subprocess

from benchkit import places


def enter(script, argv):
    """Goes on in it: starts `script` there again unless the packages are here already."""
    try:
        import docx  # noqa: F401
        import matplotlib  # noqa: F401

        return
    except ImportError:
        pass
    if os.environ.get("SWARMKV_BENCH_ENV"):
        raise places.Missing(
            "the Python packages for plots do not load: remove bench-env-* in the cache, or give --no-plots"
        )
    done = subprocess.run(
        [places.ROOT / "scripts" / "get-bench-env"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise places.Missing("no environment for plots (see above): fix that, or give --no-plots")
    os.environ["SWARMKV_BENCH_ENV"] = interpreter = done.stdout.strip()
    os.execv(interpreter, [interpreter, str(pathlib.Path(script).resolve()), *argv])
