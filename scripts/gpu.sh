#!/usr/bin/env bash
# Tests and measures the wheel in dist/ on a machine with a CUDA GPU and no network, no compiler and none of the build's libraries.
#   scripts/gpu.sh [FOLDER]        results and logs go to FOLDER (gpu-results)
# GPU_TESTS=0, GPU_BENCH=0, GPU_DEMO=0 leave a step out.  GPU_SECONDS: the time for everything (530).
# GPU_TEST_ARGS, GPU_BENCH_ARGS: more arguments for pytest and bench/run.py.  GPU_JOBS: processes for pytest (4).
# A step that fails or runs out of time does not stop the next one; the exit status says whether all went well.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1
out="${1:-gpu-results}"; mkdir -p "$out"; out="$(cd "$out" && pwd)"
total="${GPU_SECONDS:-530}"
python="${PYTHON:-python3}"
failed=0
left() { echo $((total - SECONDS)); }
say() { printf '== %s (%d s gone)\n' "$*" "$SECONDS"; }

# step NAME SECONDS COMMAND...: runs it with its log in FOLDER/NAME.log and ends it (as by ^C, so that it can sum up) when its time is gone.
step() {
  local name="$1" limit="$2" code; shift 2
  local rest; rest="$(left)"
  [ "$limit" -le "$rest" ] || limit="$rest"
  if [ "$limit" -lt 5 ]; then say "$name: no time left"; failed=1; return 1; fi
  say "$name"
  timeout -s INT -k 15 "$limit" "$@" >"$out/$name.log" 2>&1; code=$?
  case $code in
    0) ;;
    124 | 137) echo "$name: ended after $limit s"; failed=1 ;;
    *) echo "$name: exit status $code"; failed=1 ;;
  esac
  return $code
}

wheels=(dist/broadcloth-*.whl)
[ -f "${wheels[0]}" ] || { echo "gpu: no wheel in dist/; run make wheel" >&2; exit 1; }
target="$(mktemp -d "${TMPDIR:-/tmp}/broadcloth-gpu.XXXXXX")"
trap 'rm -rf "$target"' EXIT
# --ignore-requires-python is not given: a wheel that this Python may not use must fail here.
step install 90 "$python" -m pip install -q --no-index --no-deps --no-cache-dir --disable-pip-version-check --target "$target/site" \
  "${wheels[-1]}" || { cat "$out/install.log"; echo "0 passed, 1 failed"; exit 1; }

export PYTHONPATH="$target/site" PYTHONUNBUFFERED=1 BROADCLOTH_DEVICE=cuda BROADCLOTH_CACHE_DIR="$target/cache"
step doctor 40 "$python" -m broadcloth doctor; tail -n 40 "$out/doctor.log"

if [ "${GPU_TESTS:-1}" = 1 ]; then
  folders=()
  for f in tests/python tests/cuda_compile tests/null; do [ -n "$(find $f -name 'test_*.py' -print -quit 2>/dev/null)" ] && folders+=("$f"); done
  limit=330; [ "${GPU_BENCH:-1}" = 1 ] || limit="$(left)"
  options=(-p no:cacheprovider -o addopts= -q --import-mode=importlib --tb=short -ra)
  # A GPU is shared well by a few processes; plugins that are not installed are not asked for.
  if "$python" -c 'import xdist' 2>/dev/null; then options+=(-n "${GPU_JOBS:-4}" --dist worksteal); fi
  if "$python" -c 'import pytest_timeout' 2>/dev/null; then options+=(--timeout=120); fi
  # Each process has two threads, as on a small machine: as many as there are cores, for each of the processes, stand in each other's way.
  # shellcheck disable=SC2086
  step tests "$limit" env BROADCLOTH_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1 "$python" -m pytest "${options[@]}" --junitxml="$out/tests.xml" "${folders[@]}" ${GPU_TEST_ARGS:-}
  grep -E '^(FAILED|ERROR)' "$out/tests.log" | cut -c1-200 | head -n 60
  # pytest's own closing line, or nothing when it could not write one.
  summary="$(grep -E '[0-9]+ (passed|failed|error)' "$out/tests.log" | tail -n 1)"
  number() { local n; n="$(grep -oE "[0-9]+ $1" <<<"$summary" | head -n 1 | cut -d' ' -f1)"; echo "${n:-0}"; }
  bad=$(($(number failed) + $(number error)))
  [ -n "$summary" ] || { tail -n 30 "$out/tests.log"; bad=1; }
  counts="$(number passed) passed, $bad failed, $(number skipped) skipped"
  [ "$bad" = 0 ] || failed=1
fi

if [ "${GPU_DEMO:-0}" = 1 ] && [ -f examples/heat.py ]; then step demo 60 "$python" examples/heat.py; tail -n 8 "$out/demo.log"; fi

if [ "${GPU_BENCH:-1}" = 1 ]; then
  # shellcheck disable=SC2086
  step bench 330 "$python" bench/run.py --out "$out" ${GPU_BENCH_ARGS:-}
  tail -n 80 "$out/bench.log"
  step kernels 150 "$python" bench/kernels.py --device cuda --out "$out" --seconds 140
  tail -n 40 "$out/kernels.log"
fi

say "done; logs in $out"
[ -z "${counts:-}" ] || echo "$counts"
exit $failed
