"""Kernels and compiled functions of users: the same source on broadcloth and on the library that it was written for, side by side.

    python bench/kernels.py [--device cpu|cuda] [--out FOLDER] [--only NAME,…] [--quick] [--seconds N]

A row's body takes a language (`cuda`, `njit`, `prange`, `raw`, arrays) and gives the call that is timed and the result that is checked.
Peers take turns, round by round; a round repeats the call for 20 ms or more and waits once at its end; the time is the median over
rounds. Results go to FOLDER/<machine>-<device>-kernels.{json,txt}.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from run import machine, slug
from table import _grid, seconds

Case = tuple[Callable[[], Any], Callable[[], np.ndarray]]  # what is timed, and what it computed


# ---- Languages -------------------------------------------------------------------------------------------------------------------------


def broadcloth(device: str) -> SimpleNamespace:
    import broadcloth as bc
    from broadcloth import cuda

    bc.set_default_device(device)
    return SimpleNamespace(
        cuda=cuda, njit=bc.njit, prange=bc.prange, vectorize=bc.vectorize, sync=bc.synchronize, version=bc.__version__,
        to_device=cuda.to_device, empty=cuda.device_array, to_host=lambda a: a.copy_to_host(), raw=bc.RawKernel,
        elementwise=bc.ElementwiseKernel, reduction=bc.ReductionKernel, xp=bc,
    )  # fmt: skip


def numba(device: str) -> SimpleNamespace:
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # type: ignore[attr-defined]  # an older Numba looks for it when it is imported
    import numba as nb
    from numba import cuda

    return SimpleNamespace(
        cuda=cuda, njit=nb.njit, prange=nb.prange, vectorize=nb.vectorize, version=nb.__version__,
        sync=cuda.synchronize if device == "cuda" else lambda: None, to_device=cuda.to_device, empty=cuda.device_array,
        to_host=lambda a: a.copy_to_host(),
    )  # fmt: skip


def cupy(device: str) -> SimpleNamespace:
    import cupy as cp

    return SimpleNamespace(
        raw=cp.RawKernel, elementwise=cp.ElementwiseKernel, reduction=cp.ReductionKernel, xp=cp, version=cp.__version__,
        sync=cp.cuda.Stream.null.synchronize, to_device=cp.asarray, empty=cp.empty, to_host=cp.asnumpy,
    )  # fmt: skip


def numpy(device: str) -> SimpleNamespace:
    return SimpleNamespace(version=np.__version__, sync=lambda: None)


LANGUAGES = {"broadcloth": broadcloth, "numba": numba, "cupy": cupy, "numpy": numpy}


# ---- Bodies ----------------------------------------------------------------------------------------------------------------------------


def launch_empty(lang: Any, n: int) -> Case:
    @lang.cuda.jit
    def nothing():
        pass

    configured = nothing[1, 128]
    return configured, lambda: np.zeros(1)


def launch_ten(lang: Any, n: int) -> Case:
    @lang.cuda.jit
    def ten(a, b, c, d, e, f, g, h, x, y):
        if lang_never:
            a[0] = b[0] + c[0] + d[0] + e[0] + f[0] + g + h + x + y

    arrays = [lang.to_device(np.zeros(8, np.float32)) for _ in range(6)]
    configured = ten[1, 128]
    return lambda: configured(*arrays, 1, 2, 3.0, 4.0), lambda: np.zeros(1)


lang_never = False


def raw_empty(lang: Any, n: int) -> Case:
    kernel = lang.raw('extern "C" __global__ void nothing() {}', "nothing")
    return lambda: kernel((1,), (128,), ()), lambda: np.zeros(1)


def raw_ten(lang: Any, n: int) -> Case:
    kernel = lang.raw(
        'extern "C" __global__ void ten(float* a, float* b, float* c, float* d, float* e, float* f, long long g, long long h, '
        "double x, double y) {}",
        "ten",
    )
    arrays = [lang.to_device(np.zeros(8, np.float32)) for _ in range(6)]
    return lambda: kernel((1,), (128,), (*arrays, 1, 2, 3.0, 4.0)), lambda: np.zeros(1)


def elementwise_call(lang: Any, n: int) -> Case:
    kernel = lang.elementwise("T x, T y", "T z", "z = (x - y) * (x - y)", "squared_difference")
    x, y = lang.to_device(np.arange(n, dtype=np.float32)), lang.to_device(np.ones(n, np.float32))
    out = lang.xp.empty(n, dtype="float32")
    flush = getattr(lang.xp, "flush", lambda: None)

    def call() -> None:
        kernel(x, y, out)
        flush()

    return call, lambda: lang.xp.asnumpy(out)


def reduction_call(lang: Any, n: int) -> Case:
    kernel = lang.reduction("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    x = lang.to_device(np.arange(n, dtype=np.float32) / n)
    last: list[Any] = [None]

    def call() -> None:
        last[0] = kernel(x)
        getattr(lang.xp, "flush", lambda: None)()

    return call, lambda: np.asarray(lang.xp.asnumpy(last[0]))


def mandelbrot_cuda(lang: Any, n: int) -> Case:
    cuda = lang.cuda

    @cuda.jit(device=True)
    def escape(x, y, limit):
        c = complex(x, y)
        z = 0.0j
        for i in range(limit):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag >= 4:
                return i
        return limit

    @cuda.jit
    def picture(out, limit):
        height, width = out.shape
        start_x, start_y = cuda.grid(2)
        step_x = cuda.gridDim.x * cuda.blockDim.x
        step_y = cuda.gridDim.y * cuda.blockDim.y
        for i in range(start_x, width, step_x):
            for j in range(start_y, height, step_y):
                out[j, i] = escape(-2.0 + i * (4.0 / width), -2.0 + j * (4.0 / height), limit)

    out = lang.to_device(np.zeros((n, n), np.uint16))
    configured = picture[(n // 16, n // 16), (16, 16)]
    return lambda: configured(out, 256), lambda: lang.to_host(out).astype("float64").mean(keepdims=True)


def shared_maximum(lang: Any, n: int) -> Case:
    cuda = lang.cuda
    threads = 256

    @cuda.jit
    def maximum(result, values):
        part = cuda.shared.array(threads, "float32")
        t = cuda.threadIdx.x
        i = cuda.grid(1)
        part[t] = values[i] if i < values.size else values[0]
        cuda.syncthreads()
        s = threads // 2
        while s > 0:
            if t < s:
                part[t] = max(part[t], part[t + s])
            cuda.syncthreads()
            s >>= 1
        if t == 0:
            cuda.atomic.max(result, 0, part[0])

    values = lang.to_device(np.random.default_rng(0).random(n, dtype=np.float32))
    result = lang.to_device(np.zeros(1, np.float32))
    configured = maximum[n // threads, threads]
    return lambda: configured(result, values), lambda: lang.to_host(result)


def product_inputs(lang: Any, n: int) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(0)
    a, b = (lang.to_device(rng.random((n, n), dtype=np.float32)) for _ in range(2))
    return a, b, lang.to_device(np.zeros((n, n), np.float32))


def product_naive(lang: Any, n: int) -> Case:
    cuda = lang.cuda

    @cuda.jit
    def product(a, b, c):
        j, i = cuda.grid(2)
        if i < c.shape[0] and j < c.shape[1]:
            total = np.float32(0.0)
            for k in range(a.shape[1]):
                total += a[i, k] * b[k, j]
            c[i, j] = total

    a, b, c = product_inputs(lang, n)
    configured = product[(n // 16, n // 16), (16, 16)]
    return lambda: configured(a, b, c), lambda: lang.to_host(c)


def product_tiled(lang: Any, n: int) -> Case:
    cuda = lang.cuda
    tile = 16

    @cuda.jit
    def product(a, b, c):
        a_tile = cuda.shared.array((tile, tile), "float32")
        b_tile = cuda.shared.array((tile, tile), "float32")
        j, i = cuda.grid(2)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        total = np.float32(0.0)
        for t in range(a.shape[1] // tile):
            a_tile[ty, tx] = a[i, t * tile + tx]
            b_tile[ty, tx] = b[t * tile + ty, j]
            cuda.syncthreads()
            for k in range(tile):
                total += a_tile[ty, k] * b_tile[k, tx]
            cuda.syncthreads()
        c[i, j] = total

    a, b, c = product_inputs(lang, n)
    configured = product[(n // tile, n // tile), (tile, tile)]
    return lambda: configured(a, b, c), lambda: lang.to_host(c)


TILED_CPP = r"""
#define TILE 16
extern "C" __global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float a_tile[TILE][TILE], b_tile[TILE][TILE];
  int tx = threadIdx.x, ty = threadIdx.y, j = blockIdx.x * TILE + tx, i = blockIdx.y * TILE + ty;
  float total = 0;
  for (int t = 0; t < n / TILE; ++t) {
    a_tile[ty][tx] = a[i * n + t * TILE + tx];
    b_tile[ty][tx] = b[(t * TILE + ty) * n + j];
    __syncthreads();
    for (int k = 0; k < TILE; ++k) total += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  c[i * n + j] = total;
}"""


def product_tiled_cpp(lang: Any, n: int) -> Case:
    kernel = lang.raw(TILED_CPP, "product")
    a, b, c = product_inputs(lang, n)
    return lambda: kernel((n // 16, n // 16), (16, 16), (a, b, c, np.int32(n))), lambda: lang.to_host(c)


def cold_compile(lang: Any, n: int) -> Case:
    """The first call of a kernel of 30 lines that nobody has compiled, after another one was; a new constant makes it a new kernel."""
    import linecache

    counter = iter(range(10**6))
    values = lang.to_device(np.random.default_rng(0).random(1 << 10, dtype=np.float32))
    result = lang.to_device(np.zeros(1 << 10, np.float32))
    text = """
def smooth(values, result, factor):
    part = cuda.shared.array(256, "float32")
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    mine = float32(SALT)
    if i < values.size:
        mine = values[i]
    part[t] = mine
    cuda.syncthreads()
    total = float32(0)
    weight = float32(0)
    for k in range(-3, 4):
        at = t + k
        if at >= 0 and at < 256:
            w = math.exp(-float32(k * k) * factor)
            total += w * part[at]
            weight += w
    cuda.syncthreads()
    part[t] = total / weight
    cuda.syncthreads()
    s = 128
    while s > 0:
        if t < s:
            part[t] = max(part[t], part[t + s])
        cuda.syncthreads()
        s //= 2
    if i < result.size:
        if t == 0:
            result[i] = part[0]
        else:
            result[i] = math.sqrt(mine) + SALT
"""

    def call() -> None:
        source = text.replace("SALT", f"{next(counter) + time.time_ns() % 10**9 / 10**9}")
        name = f"<cold {hash(source)}>"
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
        scope = {"cuda": lang.cuda, "math": math, "float32": np.float32}
        exec(compile(source, name, "exec"), scope)
        lang.cuda.jit(scope["smooth"])[4, 256](values, result, np.float32(0.5))

    call()
    return call, lambda: np.zeros(1)


def product_blas(lang: Any, n: int) -> Case:
    rng = np.random.default_rng(0)
    a, b = (rng.random((n, n), dtype=np.float32) for _ in range(2))
    c = np.empty((n, n), np.float32)
    return lambda: np.matmul(a, b, out=c), lambda: c


def mandelbrot_jit(lang: Any, n: int, parallel: bool = False) -> Case:
    prange = lang.prange

    @lang.njit(parallel=parallel)
    def picture(size, limit):
        out = np.zeros((size, size), np.uint16)
        for i in prange(size):
            for j in range(size):
                c = complex(-2.0 + j * (4.0 / size), -2.0 + i * (4.0 / size))
                z = 0j
                count = limit
                for step in range(limit):
                    z = z * z + c
                    if z.real * z.real + z.imag * z.imag >= 4.0:
                        count = step
                        break
                out[i, j] = count
        return out

    return lambda: picture(n, 256), lambda: picture(n, 256)


def sine_jit(lang: Any, n: int, parallel: bool = False) -> Case:
    prange = lang.prange

    @lang.njit(parallel=parallel)
    def sine(x, out):
        for i in prange(x.shape[0]):
            out[i] = math.sin(x[i])

    x = np.linspace(0, 1000, n)
    out = np.empty_like(x)
    return lambda: sine(x, out), lambda: out


def product_jit(lang: Any, n: int, parallel: bool = False) -> Case:
    prange = lang.prange

    @lang.njit(parallel=parallel)
    def product(a, b):
        c = np.zeros((a.shape[0], b.shape[1]))
        for i in prange(a.shape[0]):
            for j in range(b.shape[1]):
                for k in range(a.shape[1]):
                    c[i, j] += a[i, k] * b[k, j]
        return c

    rng = np.random.default_rng(0)
    a, b = rng.random((n, n)), rng.random((n, n))
    return lambda: product(a, b), lambda: product(a, b)


def vectorize_add(lang: Any, n: int) -> Case:
    @lang.vectorize(["float32(float32, float32)"], target="parallel")
    def blend(x, y):
        return math.exp(-x) * y + math.sqrt(x)

    rng = np.random.default_rng(0)
    x, y = rng.random(n, dtype=np.float32), rng.random(n, dtype=np.float32)
    return lambda: blend(x, y), lambda: np.asarray(blend(x, y))


def parallel(body: Callable[..., Case]) -> Callable[[Any, int], Case]:
    return lambda lang, n: body(lang, n, parallel=True)


@dataclass(frozen=True)
class Row:
    """A body, its size on each device (0: not run there), who takes part, and the bar: a time in seconds, or a peer's time."""

    name: str
    what: str
    body: Callable[..., Case]
    peers: tuple[str, ...]
    cuda: int = 0
    cpu: int = 0
    quick: int = 0
    bar: dict[str, float | str] = field(default_factory=dict)
    spelled: dict[str, Callable[..., Case]] = field(default_factory=dict)


KERNELS = ("broadcloth", "numba")
RAW = ("broadcloth", "cupy")
ROWS = (
    Row("launch_empty", "empty kernel written in Python", launch_empty, KERNELS, cuda=1, cpu=1, quick=1, bar={"cuda": 6e-6}),
    Row("launch_ten", "the same with six arrays and four scalars", launch_ten, KERNELS, cuda=1, cpu=1, quick=1, bar={"cuda": 6e-6}),
    Row("raw_empty", "empty RawKernel", raw_empty, RAW, cuda=1, cpu=1, quick=1, bar={"cuda": 6e-6}),
    Row("raw_ten", "RawKernel with six arrays and four scalars", raw_ten, RAW, cuda=1, cpu=1, quick=1, bar={"cuda": 6e-6}),
    Row("elementwise_call", "ElementwiseKernel on 1000 elements", elementwise_call, RAW, cuda=1000, cpu=1000, quick=1000,
        bar={"cuda": 7e-6}),
    Row("reduction_call", "ReductionKernel on 1000 elements", reduction_call, RAW, cuda=1000, cpu=1000, quick=1000),
    Row("mandelbrot_512", "Mandelbrot 512², 256 steps", mandelbrot_cuda, KERNELS, cuda=512, cpu=512, quick=64, bar={"cuda": "numba"}),
    Row("shared_maximum", "maximum of 2^20 by trees in shared memory", shared_maximum, KERNELS, cuda=1 << 20, cpu=1 << 20, quick=1 << 12,
        bar={"cuda": "numba"}),
    Row("product_naive_2048", "matrix product, one thread an element", product_naive, KERNELS, cuda=2048, quick=64, bar={"cuda": "numba"}),
    Row("product_naive_8192", "the same", product_naive, KERNELS, cuda=8192, quick=64, bar={"cuda": "numba"}),
    Row("product_tiled_2048", "matrix product in 16 x 16 tiles", product_tiled, KERNELS, cuda=2048, quick=64, bar={"cuda": "numba"}),
    Row("product_tiled_8192", "the same", product_tiled, KERNELS, cuda=8192, quick=64, bar={"cuda": "numba"}),
    Row("product_tiled_512", "the same in Python on the CPU, beside OpenBLAS", product_tiled, ("broadcloth", "numpy"), cpu=512, quick=64,
        spelled={"numpy": product_blas}, bar={"cpu": 3e-3}),
    Row("product_cpp_512", "the same in CUDA C++", product_tiled_cpp, ("broadcloth", "numpy"), cpu=512, quick=64,
        spelled={"numpy": product_blas}, bar={"cpu": 3e-3}),
    Row("cold_compile", "a new kernel of 30 lines, compiled and run", cold_compile, KERNELS, cuda=1, cpu=1, quick=1,
        bar={"cuda": 60e-3, "cpu": 50e-3}),
    Row("jit_mandelbrot", "Mandelbrot 512² in loops", mandelbrot_jit, KERNELS, cpu=512, quick=64, bar={"cpu": "numba"}),
    Row("jit_mandelbrot_par", "the same, parallel", parallel(mandelbrot_jit), KERNELS, cpu=512, quick=64, bar={"cpu": "numba"}),
    Row("jit_sine", "sine of 1e7 in a loop", sine_jit, KERNELS, cpu=10**7, quick=1000, bar={"cpu": "numba"}),
    Row("jit_sine_par", "the same, parallel", parallel(sine_jit), KERNELS, cpu=10**7, quick=1000, bar={"cpu": "numba"}),
    Row("jit_product", "matrix product 512 in three loops", product_jit, KERNELS, cpu=512, quick=32, bar={"cpu": "numba"}),
    Row("jit_product_par", "the same, parallel", parallel(product_jit), KERNELS, cpu=512, quick=32, bar={"cpu": "numba"}),
    Row("vectorize_par", "vectorize, parallel, 1e7", vectorize_add, KERNELS, cpu=10**7, quick=1000, bar={"cpu": "numba"}),
)  # fmt: skip


# ---- Measuring -------------------------------------------------------------------------------------------------------------------------


def measure(row: Row, device: str, quick: bool, wanted: list[str] | None) -> dict[str, Any]:
    """One row, in this process: first call (with compiling), result and median time of each peer."""
    full = row.cuda if device == "cuda" else row.cpu
    n = min(full, row.quick) if quick else full
    found: dict[str, dict[str, Any]] = {}
    cases: dict[str, tuple[Any, Case, int]] = {}
    for name in row.peers:
        if wanted and name not in wanted:
            continue
        if device == "cpu" and name == "numba" and not row.name.startswith(("jit", "vectorize")):
            continue  # its CUDA kernels need a GPU
        if device == "cpu" and name == "cupy":
            continue
        try:
            lang = LANGUAGES[name](device)
            call, result = row.spelled.get(name, row.body)(lang, n)
            start = time.perf_counter()
            call()
            lang.sync()
            first = time.perf_counter() - start
            for _ in range(3):
                call()
            lang.sync()
            repeats = 1
            while True:
                start = time.perf_counter()
                for _ in range(repeats):
                    call()
                lang.sync()
                took = time.perf_counter() - start
                if took > 0.02 or quick:
                    break
                repeats = max(2 * repeats, math.ceil(repeats * 0.025 / max(took, 1e-6)))
            found[name] = {"first": first, "version": lang.version}
            cases[name] = (lang, (call, result), repeats)
        except Exception as error:
            found[name] = {"failed": f"{type(error).__name__}: {error}"[:300]}
    rounds: dict[str, list[float]] = {name: [] for name in cases}
    deadline = time.perf_counter() + (0.2 if quick else 4.0)
    while cases and (len(next(iter(rounds.values()))) < 3 or (time.perf_counter() < deadline and len(next(iter(rounds.values()))) < 25)):
        for name, (lang, (call, _), repeats) in cases.items():
            start = time.perf_counter()
            for _ in range(repeats):
                call()
            lang.sync()
            rounds[name].append((time.perf_counter() - start) / repeats)
    reference = None
    for name, (_, (_, result), _) in cases.items():
        value = np.asarray(result(), dtype="float64")
        if reference is None:
            reference = value
        found[name]["seconds"] = statistics.median(rounds[name])
        found[name]["agrees"] = bool(np.allclose(value, reference, rtol=1e-3, atol=1e-3 * float(np.abs(reference).mean() + 1e-30)))
    out: dict[str, Any] = {"name": row.name, "what": row.what, "size": n, "peers": found}
    ours = found.get("broadcloth", {}).get("seconds")
    bar = row.bar.get(device)
    if isinstance(bar, str):
        theirs = found.get(bar, {}).get("seconds")
        out["bar"] = f"≥ 1x {bar}"
        if ours and theirs and not quick:
            out["met"] = ours <= theirs * 1.02
    elif bar:
        out["bar"] = f"≤ {seconds(bar)}"
        if ours and not quick:
            out["met"] = ours <= bar
    return out


def text(result: dict[str, Any]) -> str:
    names = [p for p in LANGUAGES if any(p in r.get("peers", {}) for r in result["rows"])]
    lines = [f"{result['machine']['name']}, {result['device']}: kernels and functions of users" + (", QUICK" if result["quick"] else "")]
    rows = []
    for row in result["rows"]:
        cells = []
        for name in names:
            cell = row.get("peers", {}).get(name, {})
            time_text = seconds(cell.get("seconds")) if "seconds" in cell else ("failed" if "failed" in cell else "-")
            cells.append(time_text + ("" if cell.get("agrees", True) else " WRONG"))
        firsts = [seconds(row.get("peers", {}).get(name, {}).get("first")) for name in ("broadcloth", "numba")]
        met = {True: "yes", False: "NO", None: ""}[row.get("met")]
        rows.append([row["name"], *cells, *firsts, row.get("bar", ""), met, row.get("what", "")])
    lines += ["", _grid(["row", *names, "first call", "numba's", "bar", "met", "what"], rows)]
    for row in result["rows"]:
        for name, cell in row.get("peers", {}).items():
            if "failed" in cell:
                lines.append(f"{row['name']}: {name}: {cell['failed']}")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device", choices=["cpu", "cuda"], default=os.environ.get("BROADCLOTH_DEVICE", "cpu"))
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--only", type=lambda s: s.split(","))
    parser.add_argument("--peers", type=lambda s: s.split(","))
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--row", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.row:
        row = next(r for r in ROWS if r.name == a.row)
        print("\n" + json.dumps(measure(row, a.device, a.quick, a.peers)))
        return 0
    deadline = time.time() + a.seconds
    result: dict[str, Any] = {"machine": machine(a.device), "device": a.device, "quick": a.quick, "rows": []}
    a.out.mkdir(parents=True, exist_ok=True)
    base = a.out / f"{slug(result['machine']['name'])}-{a.device}-kernels"
    for row in ROWS:
        if (a.only and row.name not in a.only) or not (row.cuda if a.device == "cuda" else row.cpu):
            continue
        # A process of its own: a crash costs one row.
        command = [sys.executable, str(HERE / "kernels.py"), "--row", row.name, "--device", a.device]
        command += ["--quick"] if a.quick else []
        command += ["--peers", ",".join(a.peers)] if a.peers else []
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=max(10, min(90, deadline - time.time())))
            facts = json.loads(done.stdout.strip().splitlines()[-1]) if done.returncode == 0 else {"failed": done.stderr[-300:]}
        except (subprocess.TimeoutExpired, json.JSONDecodeError, IndexError) as error:
            facts = {"failed": f"{type(error).__name__}"}
        facts.setdefault("name", row.name)
        facts.setdefault("what", row.what + (f" FAILED: {facts['failed']}" if "failed" in facts else ""))
        result["rows"].append(facts)
        base.with_suffix(".json").write_text(json.dumps(result, indent=1) + "\n")
        base.with_suffix(".txt").write_text(text(result) + "\n")
        cells = [f"{n} {seconds(c['seconds']) if 'seconds' in c else c.get('failed', '?')[:80]}" for n, c in facts.get("peers", {}).items()]
        print(f"{row.name:<20} {'  '.join(cells) or facts.get('failed', '')}", flush=True)
    print("\n" + text(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())
