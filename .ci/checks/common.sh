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

# unit_tests PRESET: those of GoogleTest in one process for each core, since a process for each test, as
# make test has it, starts a thousand times and a sanitizer starts slowly; then what CTest alone knows.
unit_tests() {
  local preset=$1 n i status=0 pids=()
  n=$(nproc)
  export SWARMKV_TEST_PERCENT=10  # of the random programs; all of them run in make test
  for ((i = 0; i < n; i++)); do
    SWARMKV_TEST_SOURCE_DIR=$PWD SWARMKV_TEST_CLI=$PWD/build/$preset/cli/swarmkv \
      GTEST_TOTAL_SHARDS=$n GTEST_SHARD_INDEX=$i \
      "build/$preset/tests/swarmkv_tests" --gtest_filter='-Long*.*:*/Long*.*' >"build/ci/$preset-$i.log" 2>&1 &
    pids+=($!)
  done
  for ((i = 0; i < n; i++)); do
    wait "${pids[i]}" || {
      status=1
      # What a failed test printed stands before its mark; a crash is at the end.
      grep -B 30 '^\[  FAILED  \]' "build/ci/$preset-$i.log" || true
      tail -n 60 "build/ci/$preset-$i.log"
    }
  done
  # Suites of GoogleTest begin with a capital; the scripts and the includes do not depend on the build.
  ctest --preset "$preset" -L unit -R '^[a-z]' -E '^(scripts|configure|architecture)' || status=1
  return $status
}
