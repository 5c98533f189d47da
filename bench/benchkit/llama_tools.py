"""llama.cpp's own programs, built once from the source that SwarmKV itself uses."""

import fcntl
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

from benchkit import child, machine, places

# As in scripts/get-llama, but with the tools. The web interface is left out: it would be fetched.
FLAGS = [
    "-DCMAKE_BUILD_TYPE=Release",
    "-DBUILD_SHARED_LIBS=OFF",
    "-DLLAMA_BUILD_TESTS=OFF",
    "-DLLAMA_BUILD_EXAMPLES=OFF",
    "-DLLAMA_BUILD_TOOLS=ON",
    "-DLLAMA_BUILD_SERVER=ON",
    "-DLLAMA_BUILD_APP=OFF",
    "-DLLAMA_BUILD_COMMON=ON",
    "-DLLAMA_BUILD_UI=OFF",
    "-DLLAMA_USE_PREBUILT_UI=OFF",
    "-DLLAMA_CURL=OFF",
    "-DLLAMA_OPENSSL=OFF",
]
PATIENCE_S = 3600


def say(text):
    print(f"llama.cpp: {text}", file=sys.stderr, flush=True)


def _cuda():
    return os.environ.get("SWARMKV_CUDA", "OFF").upper() in ("ON", "1", "TRUE")


def source():
    """(folder, commit) of the llama.cpp inside SwarmKV, fetched first if need be."""
    status = subprocess.run([places.ROOT / "scripts" / "get-llama"], stdin=subprocess.DEVNULL, check=False).returncode
    if status != 0:
        raise places.Missing("scripts/get-llama failed: see its message above")
    own = os.environ.get("SWARMKV_LLAMA_DIR")
    if own:
        key = "own-" + hashlib.sha256(os.path.realpath(own).encode()).hexdigest()[:12]
    else:
        key = re.search(r"^commit=(\S+)", (places.ROOT / "scripts" / "get-llama").read_text(), re.M)[1]
    record = places.cache() / "build" / f"{key}-{'cuda' if _cuda() else 'cpu'}.cmake"
    values = dict(re.findall(r'set\((\w+) "([^"]*)"\)', record.read_text()))
    return pathlib.Path(values["SWARMKV_LLAMA_SOURCE"]), values["SWARMKV_LLAMA_COMMIT"]


def _cpu_flags():
    """What scripts/get-llama compiles with besides, so that both sides have the same code."""
    found = subprocess.run([places.ROOT / "scripts" / "cpu-flags"], capture_output=True, text=True, check=False)
    return found.stdout.split()


def _wanted(folder, commit, flags):
    compiler = subprocess.run(["c++", "-dumpfullversion", "-dumpmachine"], capture_output=True, text=True, check=False)
    cpu = re.search(r"^(?:flags|Features).*$", pathlib.Path("/proc/cpuinfo").read_text(), re.M)
    cpu = hashlib.sha256(cpu[0].encode() if cpu else b"").hexdigest()[:12]
    return " ".join([str(folder), commit, *flags, *compiler.stdout.split(), "cpu", cpu]) + "\n"


def _step(arguments, log):
    with open(log, "ab") as out:
        process = child.start(arguments, stdout=out, stderr=subprocess.STDOUT)
        try:
            return process.wait(PATIENCE_S) == 0
        finally:
            child.stop(process)


def built(targets):
    """{name: path, "commit": ...} of `targets`; builds what is missing, under the cache's lock."""
    folder, commit = source()
    variant = "cuda" if _cuda() else "cpu"
    flags = FLAGS + [f"-DGGML_CUDA={'ON' if _cuda() else 'OFF'}"]
    if _cpu_flags():
        flags += [f"-DCMAKE_{language}_FLAGS={' '.join(_cpu_flags())}" for language in ("C", "CXX")]
    place = re.sub(r"[^A-Za-z0-9._-]", "_", f"peers-{commit}-{variant}")
    if os.environ.get("SWARMKV_LLAMA_DIR"):
        place += "-" + hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    build = places.cache() / "build" / place
    stamp, log = build.with_name(place + ".stamp"), build.with_name(place + ".log")
    found = {name: build / "bin" / name for name in targets}
    wanted = _wanted(folder, commit, flags)
    with open(places.cache() / "peers.lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another run is building; waiting for it to finish")
            fcntl.flock(lock, fcntl.LOCK_EX)
        whole = stamp.exists() and stamp.read_text() == wanted and all(os.access(p, os.X_OK) for p in found.values())
        # A tree of one's own may have been edited, so its build is always brought up to date.
        if not whole or os.environ.get("SWARMKV_LLAMA_DIR"):
            _build(folder, commit, build, targets, flags, log, fresh=not stamp.exists() or stamp.read_text() != wanted)
            stamp.write_text(wanted)
    return {**found, "commit": commit}


def _build(folder, commit, build, targets, flags, log, fresh):
    for tool in ("cmake", "ninja", "c++"):
        if shutil.which(tool) is None:
            raise places.Missing(f"{tool} was not found: run scripts/check-deps")
    say(f"building {' and '.join(targets)} of llama.cpp {commit} in {places.display(build)}: some minutes, once")
    if shutil.which("ccache"):
        os.environ.setdefault("CCACHE_DIR", str(places.cache() / "ccache"))
        flags = flags + ["-DCMAKE_C_COMPILER_LAUNCHER=ccache", "-DCMAKE_CXX_COMPILER_LAUNCHER=ccache"]
    log.write_bytes(b"")
    configure = ["cmake", "-S", folder, "-B", build, "-G", "Ninja", *flags]
    if fresh and not _step(configure, log):
        # What an interrupted or older configure left behind is worth one fresh try.
        shutil.rmtree(build, ignore_errors=True)
        if not _step(configure, log):
            raise places.Missing(f"llama.cpp could not be configured: see {log}")
    if not _step(["cmake", "--build", build, "--target", *targets, "-j", machine.cores()], log):
        raise places.Missing(f"llama.cpp's tools could not be built: see {log}; when that is fixed run this again")
