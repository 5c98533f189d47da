# Shared by the checks; sourced. The checks run from the project's root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/common.sh
export SWARMKV_CACHE=$cache
export CCACHE_DIR=${CCACHE_DIR:-$cache/ccache}

# configure PRESET [option...]: CMake only warns about an option that no longer exists, and a check that
# sets nothing checks nothing, so that warning is an error here.
configure() {
  local preset=$1 log
  shift
  log=build/ci/configure-$preset.log
  mkdir -p build/ci
  cmake --preset "$preset" -DSWARMKV_CACHE="$cache" "$@" >"$log" 2>&1 || {
    cat "$log"
    exit 1
  }
  if grep -A3 'Manually-specified variables were not used' "$log"; then
    echo "preset $preset sets an option that CMakeLists.txt does not know"
    exit 1
  fi
}

build() { # build PRESET [target...]
  local preset=$1
  shift
  cmake --build "build/$preset" ${1:+--target "$@"}
}
