#!/usr/bin/env bash
# Builds FOLDER with a sanitizer, runs the C++ tests and then Python tests on that build. At the end: what passed, what was skipped and why.
#   scripts/sanitize.sh address|undefined|address,undefined|thread|thread-python FOLDER [-jN]
# thread-python: the thread sanitizer without the C++ tests, which a new FOLDER does not build.
# SAN_TESTS: what pytest runs.  SAN_MARK: its -m expression ("not slow and not gpu").  SAN_ARGS: more arguments for it.
# SAN_CPP: the C++ tests' filter ("*", "" for none).  SAN_JOBS: processes for pytest (1).
set -euo pipefail
cd "$(dirname "$0")/.."
kind="$1" folder="$2" jobs="${3:--j$(nproc)}"
defines=()
if [ "$kind" = thread-python ]; then kind=thread SAN_CPP="" defines=(-DBROADCLOTH_TESTS=OFF); fi
if [ ! -f "$folder/CMakeCache.txt" ]; then
  echo "== Build ($kind) into $folder: the first takes 20 to 40 minutes of one core"
elif ! grep -q "^BROADCLOTH_SANITIZE:[A-Z]*=$kind\$" "$folder/CMakeCache.txt"; then
  echo "$folder was built with another sanitizer than '$kind': remove it, or name another folder"
  exit 2
fi
scripts/build.sh "$folder" "$jobs" -DBROADCLOTH_SANITIZE="$kind" "${defines[@]}"

# Freed memory is kept from use for a while (quarantine): less of it than tests allow that measure what a process keeps.
export ASAN_OPTIONS="strict_string_checks=1:detect_stack_use_after_return=1:alloc_dealloc_mismatch=1:quarantine_size_mb=16:allocator_may_return_null=1"
export LSAN_OPTIONS="suppressions=$PWD/cmake/sanitizer/lsan.supp:print_suppressions=0"
export UBSAN_OPTIONS="print_stacktrace=1:halt_on_error=1"
export TSAN_OPTIONS="suppressions=$PWD/cmake/sanitizer/tsan.supp:history_size=4:second_deadlock_stack=1:die_after_fork=0"
run=()
runtime=""
tests="tests/null tests/python tests/cuda_compile"
case "$kind" in
  address*) runtime="$(g++ -print-file-name=libasan.so)" ;;
  thread)
    runtime="$(g++ -print-file-name=libtsan.so)"
    run=(setarch "$(uname -m)" -R)   # thread sanitizer's shadow needs a plain address layout
    # Where several threads are at work. What runs in one thread finds nothing here.
    tests="tests/null"
    for t in threads threads_random shared_by_threads jit_shared_containers streams memory devices cache kernel_threads prange vectorize \
      user_kernels profiler waiting_loops; do
      tests+=" tests/python/test_$t.py"
    done
    # One test or a few of a file.
    for t in autograd::test_threads_differentiate_at_once autograd::test_grad_mode_belongs_to_the_thread \
      elements::test_many_threads_ask_one_element_for_its_array fft::test_transforms_of_many_threads_are_right \
      raw_kernels::test_threads_launch_one_kernel jit_arrays::test_small_arrays_of_several_threads_are_not_mixed \
      jit::test_nogil_lets_other_threads_run jit::test_prange_joins_sums_products_and_extremes_in_one_order \
      jit::test_prange_bodies_have_their_own_variables jit::test_an_exception_leaves_a_parallel_loop \
      jit_containers::test_containers_in_parallel_loops jit_language::test_exceptions_inside_parallel_loops_are_caught_outside \
      jit_random::test_threads_and_children_have_numbers_of_their_own jit_foreign::test_the_number_of_threads_is_set; do
      tests+=" tests/python/test_${t/::/.py::}"
    done
    ;;
esac

failed=0
summary=()
rm -f "$folder"/sanitize-{cpp,python}.log
if [ -n "${SAN_CPP-*}" ] && [ -x "$folder/bin/broadcloth_tests" ]; then
  echo "== C++ tests ($kind)"
  began=$SECONDS log="$folder/sanitize-cpp.log"
  "${run[@]}" env ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=1" "$folder/bin/broadcloth_tests" --gtest_brief=1 --gtest_filter="${SAN_CPP-*}" 2>&1 |
    tee "$log" || failed=1
  counts="$(sed -nE 's/^\[==========\] ([0-9]+) tests?.* ran.*/\1 run/p
    s/^\[  PASSED  \] ([0-9]+) tests?.*/, \1 passed/p
    s/^\[  SKIPPED \] ([0-9]+) tests?.*/, \1 skipped/p
    s/^\[  FAILED  \] ([0-9]+) tests?.*/, \1 failed/p' "$log" | tr -d '\n')"
  summary+=("C++ tests: $counts, $(((SECONDS - began + 59) / 60)) min")
  # A skipped test's reason is the line behind its place.
  while read -r line; do [ -z "$line" ] || summary+=("  skipped $line"); done < <(
    sed -n '/_test\.cpp:[0-9]*: Skipped$/{n;p}' "$log" | sort | uniq -c | sort -rn)
fi

chosen=()
for t in ${SAN_TESTS:-$tests}; do [ -e "${t%%::*}" ] && chosen+=("$t"); done
if [ ${#chosen[@]} -gt 0 ] && [ -n "$(find "${chosen[@]%%::*}" -name 'test_*.py' -print -quit)" ]; then
  echo "== Python tests ($kind)"
  began=$SECONDS log="$folder/sanitize-python.log"
  # Python and NumPy keep memory to the end, so only the C++ tests look for leaks.
  export ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0"
  # libstdc++ first as well: the interceptor of exceptions looks it up when the program starts.
  preload="$runtime"
  [ -z "$runtime" ] || preload="$runtime $(g++ -print-file-name=libstdc++.so.6)"
  mark="${SAN_MARK:-not slow and not gpu}"
  # A finding ends the process that it is found in, and the other tests go on in a new one. What it says goes past pytest, and so into the log.
  # shellcheck disable=SC2086
  env LD_PRELOAD="$preload" PYTHONPATH="$PWD/$folder/python" PYTHONMALLOC=malloc OPENBLAS_NUM_THREADS=1 BROADCLOTH_CACHE_DIR="$PWD/$folder/cache" \
    "${run[@]}" .venv/bin/python -m pytest "${chosen[@]}" -m "$mark" -rs -p no:cacheprovider --timeout=900 --capture=sys \
    -n "${SAN_JOBS:-1}" --dist loadfile ${SAN_ARGS:-} 2>&1 | tee "$log" || { code=${PIPESTATUS[0]}; [ "$code" = 5 ] || failed=1; }
  summary+=("Python tests: $(tail -1 "$log"); deselected are those that are not '$mark'")
  while read -r line; do [ -z "$line" ] || summary+=("  skipped $line"); done < <(
    sed -nE 's/^SKIPPED \[([0-9]+)\] [^ ]+: (.*)/\1 \2/p' "$log" |
      awk '{n = $1; sub(/^[0-9]+ /, ""); count[$0] += n} END {for (r in count) print count[r], r}' | sort -rn)
fi
# Tests ask for more memory than there is: the sanitizer says so, and the program gets none, as without it.
findings="$(cat "$folder"/sanitize-{cpp,python}.log 2>/dev/null | grep -E '(ERROR|WARNING): [A-Za-z]+Sanitizer|: runtime error: ' |
  grep -cv 'Sanitizer failed to allocate' || true)"
[ "$findings" = 0 ] || failed=1
echo "== Summary ($kind)"
echo "findings: $findings"
[ ${#summary[@]} -eq 0 ] || printf '%s\n' "${summary[@]}"
if [ $failed = 1 ]; then echo "$kind: FAILED"; exit 1; fi
echo "$kind: clean"
