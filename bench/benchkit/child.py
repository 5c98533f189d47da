"""Programs that are started and never outlive us, whatever ends us."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys

PIPE = subprocess.PIPE
_children = set()


def _die_with_parent():  # runs in the child, between fork and exec
    os.setsid()  # Ctrl-C of the terminal reaches us alone; we end the child
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: covers our own SIGKILL


def start(arguments, **how):
    """As subprocess.Popen, in a process group of its own that ends with us. Main thread only: the system ends the
    child when the thread that started it ends."""
    how.setdefault("stdin", subprocess.DEVNULL)
    process = subprocess.Popen([str(a) for a in arguments], preexec_fn=_die_with_parent, **how)
    _children.add(process)
    return process


def end_now(process):
    """Kills a process and what it started; stop() still has to be called."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def stop(process, patience_s=5):
    """Ends a process and what it started: first asked, then killed. Returns its exit status."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(patience_s)
            break
    end_now(process)  # grandchildren that ignored the first one
    for stream in (process.stdout, process.stderr):
        if stream:
            stream.close()
    _children.discard(process)
    return process.returncode


def run(arguments, timeout_s, **how):
    """Runs to the end: (status, stdout, stderr) as text; status None if it took longer than timeout_s."""
    process = start(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", **how)
    try:
        out, err = process.communicate(timeout=timeout_s)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        return None, "", f"took longer than {timeout_s:.0f} s"
    finally:
        stop(process)


@contextlib.contextmanager
def all_ended():
    """Around main: SIGTERM and SIGHUP end it like Ctrl-C does, and no child is left behind."""

    def leave(number, _frame):
        raise KeyboardInterrupt(number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, leave)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        for process in list(_children):
            stop(process, patience_s=2)
