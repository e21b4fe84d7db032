#!/usr/bin/env bash
# Builds FOLDER with a sanitizer, runs the C++ tests and then Python tests on that build.
#   scripts/sanitize.sh address|undefined|thread FOLDER [-jN]
# SAN_TESTS: what pytest runs (tests/python tests/null).  SAN_MARK: its -m expression ("not slow and not gpu").  SAN_ARGS: more arguments.
set -euo pipefail
cd "$(dirname "$0")/.."
kind="$1" folder="$2" jobs="${3:--j$(nproc)}"
scripts/build.sh "$folder" "$jobs" -DBROADCLOTH_SANITIZE="$kind"

export ASAN_OPTIONS="detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=0:alloc_dealloc_mismatch=1"
export LSAN_OPTIONS="suppressions=$PWD/cmake/sanitizer/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export TSAN_OPTIONS="suppressions=$PWD/cmake/sanitizer/tsan.supp:history_size=4:second_deadlock_stack=1:die_after_fork=0"
run=()
runtime=""
case "$kind" in
  address) runtime="$(g++ -print-file-name=libasan.so)" ;;
  thread)
    runtime="$(g++ -print-file-name=libtsan.so)"
    run=(setarch "$(uname -m)" -R)   # thread sanitizer's shadow needs a plain address layout
    ;;
esac

failed=0
if [ -x "$folder/bin/broadcloth_tests" ]; then
  echo "== C++ tests ($kind)"
  "${run[@]}" "$folder/bin/broadcloth_tests" --gtest_brief=1 || failed=1
fi

tests=()
for t in ${SAN_TESTS:-tests/python tests/null}; do [ -e "${t%%::*}" ] && tests+=("$t"); done
if [ ${#tests[@]} -gt 0 ] && [ -n "$(find "${tests[@]%%::*}" -name 'test_*.py' -print -quit)" ]; then
  echo "== Python tests ($kind)"
  # Python and NumPy keep memory to the end, so only the C++ tests look for leaks.
  export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
  # libstdc++ first as well: the interceptor of exceptions looks it up when the program starts.
  preload="$runtime"
  [ -z "$runtime" ] || preload="$runtime $(g++ -print-file-name=libstdc++.so.6)"
  # Everything under the sanitizer in one process; hypothesis' and NumPy's own timing assumptions do not hold there.
  # shellcheck disable=SC2086
  env LD_PRELOAD="$preload" PYTHONPATH="$PWD/$folder/python" PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 BROADCLOTH_CACHE_DIR="$PWD/$folder/cache" \
    "${run[@]}" .venv/bin/python -m pytest "${tests[@]}" -m "${SAN_MARK:-not slow and not gpu}" -p no:cacheprovider --timeout=900 ${SAN_ARGS:-} ||
    { code=$?; [ $code = 5 ] || failed=1; }
fi
if [ $failed = 1 ]; then echo "$kind: FAILED"; exit 1; fi
echo "$kind: clean"
