"""The built-in loops of the CPU (tier 0) beside NumPy: what a program has until the compiler comes to its kernels.

    python bench/tier0.py [--only heat] [--sizes 1000,100000,262144] [--json tier0.json]

Each expression is recorded, run without the compiler (`config.jit = False`) and kept, as in a program's first steps. The best of several
rounds is shown, NumPy and broadcloth taking turns; `ratio` is broadcloth's time by NumPy's. The bar is 1.5. Recording an expression and
planning it costs microseconds that NumPy does not have: rows of 1,000 elements hold mostly those, and are shown without a bar.

On a busy machine `BROADCLOTH_NUM_THREADS=1 python bench/tier0.py --cpu` compares the processor's time of one thread, which others disturb
less.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BAR = 1.5
BAR_FROM = 10_000  # elements
ROUNDS = 7

Body = Callable[..., Any]


def heat(xp: Any, a: Any) -> Any:
    out = a.copy()
    out[1:-1, 1:-1] = a[1:-1, 1:-1] + 0.1 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2] - 4 * a[1:-1, 1:-1])
    return out


def saxpy(xp: Any, x: Any, y: Any) -> Any:
    return x * 2 + y


def in_place(xp: Any, x: Any, y: Any) -> Any:
    y += x
    return y


def horner(xp: Any, x: Any) -> Any:
    return ((x * 3 + 1) * x - 2) * x + 4


BODIES: dict[str, tuple[Body, str, str]] = {
    # name: body, operands' shapes (v vector, m square matrix, r row, c column, s strided vector, t transposed, n reversed), dtypes
    "copy": (lambda xp, x: x.copy(), "v", "f4 f8 i4 u1"),
    "add": (lambda xp, x, y: x + y, "vv", "f4 f8 i4 i8 u1 i2"),
    "multiply": (lambda xp, x, y: x * y, "vv", "f4 f8 i4 u1"),
    "divide": (lambda xp, x, y: x / y, "vv", "f4 f8"),
    "floor_divide": (lambda xp, x: x // 3, "v", "i4 f8"),
    "add_scalar": (lambda xp, x: x + 1, "v", "f4 f8 i4 u1"),
    "saxpy": (saxpy, "vv", "f4 f8 i4"),
    "in_place": (in_place, "vv", "f4 f8"),
    "horner": (horner, "v", "f4 f8"),
    "where": (lambda xp, x, y: xp.where(x > y, x, y), "vv", "f4 f8 i4 u1"),
    "compare": (lambda xp, x, y: x < y, "vv", "f4 f8 i4 u1"),
    "logical": (lambda xp, x, y: (x > 2) & (y < 5), "vv", "f4 i4"),
    "clip": (lambda xp, x: xp.clip(x, 1, 5), "v", "f4 f8 i4"),
    "absolute": (lambda xp, x: abs(x - 3), "v", "f4 f8 i4"),
    "sqrt": (lambda xp, x: xp.sqrt(x), "v", "f4 f8"),
    "exp": (lambda xp, x: xp.exp(x), "v", "f4 f8"),
    "sin": (lambda xp, x: xp.sin(x), "v", "f4 f8"),
    "to_f8": (lambda xp, x: x.astype("f8"), "v", "f4 i4 u1"),
    "to_f4": (lambda xp, x: x.astype("f4"), "v", "f8 i4 u1 i8"),
    "to_i4": (lambda xp, x: x.astype("i4"), "v", "f4 f8 u1"),
    "to_u1": (lambda xp, x: x.astype("u1"), "v", "f4 i4"),
    "mixed": (lambda xp, x, y: x + y.astype("f8"), "vv", "f4 i4"),
    "sum": (lambda xp, x: x.sum(), "v", "f4 f8 i4 u1"),
    "max": (lambda xp, x: x.max(), "v", "f4 f8 i4 u1"),
    "mean_of_squares": (lambda xp, x: (x * x).mean(), "v", "f4 f8"),
    "argmax": (lambda xp, x: x.argmax(), "v", "f4 i4"),
    "sum_rows": (lambda xp, a: a.sum(1), "m", "f4 f8 i4"),
    "sum_columns": (lambda xp, a: a.sum(0), "m", "f4 f8 i4"),
    "max_columns": (lambda xp, a: a.max(0), "m", "f4 u1"),
    "heat": (heat, "m", "f4 f8"),
    "stencil_1d": (lambda xp, x: x[2:] - 2 * x[1:-1] + x[:-2], "v", "f4 f8 i4"),
    "strided": (lambda xp, x, y: x + y, "ss", "f4 f8 i4 u1"),
    "strided_store": (lambda xp, x, y: x.__setitem__(slice(None), y) or x, "sv", "f4 f8"),
    "reversed": (lambda xp, x, y: x + y, "nv", "f4 f8 u1"),
    "transposed": (lambda xp, a, b: a + b, "tm", "f4 f8 u1"),
    "transpose_copy": (lambda xp, a: xp.ascontiguousarray(a), "t", "f4 f8"),
    "add_row": (lambda xp, a, r: a + r, "mr", "f4 f8"),
    "add_column": (lambda xp, a, c: a * c, "mc", "f4 f8"),
    "outer": (lambda xp, r, c: r * c, "rc", "f4 f8"),
}


def operands(kinds: str, dtype: str, size: int) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    side = max(int(size**0.5), 4)

    def make(*shape: int) -> np.ndarray:
        return random.integers(1, 8, shape).astype(dtype)

    made = {
        "v": lambda: make(size),
        "s": lambda: make(2 * size)[::2],
        "n": lambda: make(size)[::-1],
        "m": lambda: make(side, side),
        "t": lambda: make(side, side).T,
        "r": lambda: make(1, side),
        "c": lambda: make(side, 1),
    }
    return [made[k]() for k in kinds]


def like(bc: Any, a: np.ndarray) -> Any:
    """The array as a view of broadcloth's with the strides of NumPy's."""
    if a.base is None:
        return bc.asarray(a.copy())
    base = bc.asarray(a.base.copy())
    if a.ndim == 2:
        return base.T
    return base[::-1] if a.strides[0] < 0 else base[::2]


clock = time.perf_counter


def seconds(call: Callable[[], Any], repeat: int) -> float:
    begin = clock()
    for _ in range(repeat):
        call()
    return (clock() - begin) / repeat


def measure(bc: Any, body: Body, kinds: str, dtype: str, size: int) -> tuple[float, float]:
    host = operands(kinds, dtype, size)
    ours = [like(bc, a) for a in host]

    def run_numpy() -> Any:
        return body(np, *host)

    def run_ours() -> Any:
        result = body(bc, *ours)
        bc.flush()
        return result

    expected, got = np.asarray(run_numpy()), np.asarray(run_ours().get())
    if dtype == "f4":
        assert np.allclose(expected, got, rtol=1e-3), "wrong result"
    else:
        assert np.allclose(expected, got), "wrong result"
    repeat = max(1, int(2e-3 / max(seconds(run_numpy, 3), 1e-7)))
    best = [min(seconds(run, repeat) for run in (call, call)) for call in (run_numpy, run_ours)]
    for _ in range(ROUNDS):
        best = [min(old, seconds(run, repeat)) for old, run in zip(best, (run_numpy, run_ours), strict=True)]
    return best[0], best[1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="names of expressions, with commas")
    parser.add_argument("--sizes", default="1000,100000,262144,1000000")
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--above", type=float, default=0.0, help="shows rows with a larger ratio only")
    parser.add_argument("--cpu", action="store_true", help="the processor's time of this thread, in the place of the wall clock's")
    options = parser.parse_args()
    if options.cpu:
        global clock
        clock = time.thread_time
    import broadcloth as bc

    bc.set_default_device("cpu")
    bc.config.jit = False
    names = options.only.split(",") if options.only else list(BODIES)
    rows: list[dict[str, Any]] = []
    print(f"{'expression':<16} {'dtype':<6} {'elements':>9} {'NumPy µs':>10} {'tier 0 µs':>10} {'ratio':>6}")
    for name in names:
        body, kinds, dtypes = BODIES[name]
        for dtype in dtypes.split():
            for size in (int(s) for s in options.sizes.split(",")):
                theirs, ours = measure(bc, body, kinds, dtype, size)
                ratio = ours / theirs
                rows.append({"name": name, "dtype": dtype, "size": size, "numpy": theirs, "tier0": ours, "ratio": round(ratio, 3)})
                if ratio >= options.above:
                    mark = "  above the bar" if size >= BAR_FROM and ratio > BAR else ""
                    print(f"{name:<16} {dtype:<6} {size:>9} {theirs * 1e6:>10.2f} {ours * 1e6:>10.2f} {ratio:>6.2f}{mark}", flush=True)
    judged = [row for row in rows if row["size"] >= BAR_FROM]
    above = [row for row in judged if row["ratio"] > BAR]
    print(f"{len(judged)} rows of {BAR_FROM} elements or more: {len(judged) - len(above)} within {BAR}x of NumPy's time")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rows": rows, "bar": BAR}, file, indent=1)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
