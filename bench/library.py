"""Products, sorts, selections, transforms, linear algebra and sparse matrices on the CPU beside NumPy and SciPy.

    python bench/library.py [--only matmul,sort,fft,linalg,sparse] [--sizes 1000,1000000] [--dtypes f4,f8] [--json library.json]

Each call is waited for. NumPy and broadcloth take turns, each in a process of its own: the threads of NumPy's OpenBLAS spin for a while
after a product and would take a core from whatever runs beside them. The best of all turns is shown, since other programs of the machine
can only make a turn longer. `speed` is NumPy's (or SciPy's) time by broadcloth's: the bars are 1 for most,
1.5 for `fft2` of 2048 x 2048 and for sparse matrices by vectors, and 2 for sorts, `unique` and `median` of long arrays on two cores or
more. NumPy's OpenBLAS runs as it does for users: unset OPENBLAS_CORETYPE. `--cpu` compares the processor's time of one thread (set
BROADCLOTH_NUM_THREADS=1 and OPENBLAS_NUM_THREADS=1), which others disturb less.
"""

from __future__ import annotations

import argparse
import gc
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

LONG = 100_000  # elements from which several threads are worth their start

Body = Callable[..., Any]


@dataclass(frozen=True)
class Row:
    name: str
    body: Body
    operands: tuple[Any, ...]
    bar: float


def numbers(dtype: str, *shape: int) -> np.ndarray:
    random = np.random.default_rng(1)
    if dtype[0] == "f":
        return random.standard_normal(shape).astype(dtype)
    if dtype[0] == "c":
        return (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
    return random.integers(-(2**30), 2**30, shape).astype(dtype)


def product_rows(dtypes: list[str], sizes: list[int]) -> Iterator[Row]:
    def product(xp: Any, a: Any, b: Any) -> Any:
        return a @ b

    for dtype in dtypes:
        if dtype[0] != "f":
            continue
        for n in sizes or [8, 16, 32, 64, 100, 128, 256, 512, 1000, 1024, 2048, 4096]:
            yield Row(f"{n} x {n} {dtype}", product, (numbers(dtype, n, n), numbers(dtype, n, n)), 1)
        if sizes:
            continue
        for n in (64, 256, 512):
            a = numbers(dtype, n, n)
            for name, x, y in (("transposed by plain", a.T, a + 1), ("plain by transposed", a, a.T + 1), ("by its own transpose", a, a.T)):
                yield Row(f"{name} {n} {dtype}", product, (x, y), 1)
        for shape in ((10_000, 3), (10_000, 4), (1000, 8), (100, 32), (64, 64), (16, 256), (8, 512)):
            a = numbers(dtype, shape[0], shape[1], shape[1])
            yield Row(f"{shape[0]} of {shape[1]} x {shape[1]} {dtype}", product, (a, a + 1), 1)
        for n in (64, 100, 256, 1000, 2048):
            a, x = numbers(dtype, n, n), numbers(dtype, n)
            yield Row(f"matrix by vector {n} {dtype}", product, (a, x), 1)
            yield Row(f"vector by matrix {n} {dtype}", product, (x, a), 1)
            yield Row(f"transposed by vector {n} {dtype}", product, (a.T, x), 1)
        for n in (8, 100, 1000, 10_000, 100_000, 1_000_000):
            yield Row(f"dot {n} {dtype}", product, (numbers(dtype, n), numbers(dtype, n)), 1)
        for m, k, n in ((1000, 10, 1000), (10, 1000, 10), (2000, 50, 50), (50, 2000, 50), (10_000, 3, 3)):
            yield Row(f"{m} x {k} by {k} x {n} {dtype}", product, (numbers(dtype, m, k), numbers(dtype, k, n)), 1)


SORTS: dict[str, tuple[Body, float]] = {
    "sort": (lambda xp, x: xp.sort(x), 2),
    "stable sort": (lambda xp, x: xp.sort(x, kind="stable"), 2),
    "argsort": (lambda xp, x: xp.argsort(x), 2),
    "stable argsort": (lambda xp, x: xp.argsort(x, kind="stable"), 2),
    "partition": (lambda xp, x: xp.partition(x, x.shape[-1] // 2), 1),
    "argpartition": (lambda xp, x: xp.argpartition(x, x.shape[-1] // 2), 1),
    "median": (lambda xp, x: xp.median(x, -1), 2),
    "unique": (lambda xp, x: xp.unique(x), 2),
}


def sort_rows(dtypes: list[str], sizes: list[int]) -> Iterator[Row]:
    for dtype in dtypes:
        for n in sizes or [1000, 10_000, 100_000, 1_000_000, 10_000_000]:
            x = numbers(dtype, n)
            for name, (body, bar) in SORTS.items():
                yield Row(f"{name} {n} {dtype}", body, (x,), bar if n >= LONG else 1)
            few = np.round(x * 10) if dtype[0] == "f" else x % 100
            for name in ("sort", "unique"):
                yield Row(f"{name} of few values {n} {dtype}", SORTS[name][0], (few,), 2 if n >= LONG else 1)
        if not sizes:
            x = numbers(dtype, 10_000, 1000)
            for name in ("sort", "argsort", "partition", "median"):
                yield Row(f"{name} of rows 10000 x 1000 {dtype}", SORTS[name][0], (x,), 2 if name != "partition" else 1)


def fft_rows(dtypes: list[str], sizes: list[int]) -> Iterator[Row]:
    import scipy.fft

    def beside_numpy(name: str, **options: Any) -> Body:
        return lambda xp, a: getattr(xp.fft, name)(a, **options)

    def beside_scipy(name: str, **options: Any) -> Body:
        return lambda xp, a: getattr(scipy.fft if xp is np else xp.scipy.fft, name)(a, **options)

    for dtype in dtypes:
        if dtype[0] not in "fc":
            continue
        for peer, body in (("NumPy", beside_numpy), ("SciPy", beside_scipy)):
            mark = f"{dtype} by {peer}"
            for n in sizes or [64, 1000, 1024, 1009, 4096, 65536, 1_000_000]:
                yield Row(f"fft {n} {mark}", body("fft"), (numbers(dtype, n),), 1)
                if dtype[0] == "f":
                    yield Row(f"rfft {n} {mark}", body("rfft"), (numbers(dtype, n),), 1)
            for n in sizes or [100, 512, 2048]:
                yield Row(f"fft2 {n} {mark}", body("fft2"), (numbers(dtype, n, n),), 1.5 if n == 2048 else 1)
            if sizes:
                continue
            yield Row(f"ifft2 512 {mark}", body("ifft2"), (numbers(dtype, 512, 512),), 1)
            yield Row(f"fft along columns 1000 {mark}", body("fft", axis=0), (numbers(dtype, 1000, 1000),), 1)
            yield Row(f"fft of a transposed array 1000 {mark}", body("fft"), (numbers(dtype, 1000, 1000).T,), 1)
            yield Row(f"fftn 64 x 64 x 64 {mark}", body("fftn"), (numbers(dtype, 64, 64, 64),), 1)
            for batch, n in ((10_000, 64), (1000, 1024), (100, 4096)):
                yield Row(f"fft of {batch} x {n} {mark}", body("fft"), (numbers(dtype, batch, n),), 1)
            if peer == "SciPy" and dtype[0] == "f":
                yield Row(f"dct 1000 x 1024 {mark}", body("dct"), (numbers(dtype, 1000, 1024),), 1)


# Operands: a general matrix, a positive definite one and one right side. The results that are compared are unique.
LINALG: dict[str, Body] = {
    "solve": lambda xp, a, p, b: xp.linalg.solve(a, b),
    "inv": lambda xp, a, p, b: xp.linalg.inv(a),
    "slogdet": lambda xp, a, p, b: xp.linalg.slogdet(a)[1],
    "cholesky": lambda xp, a, p, b: xp.linalg.cholesky(p),
    "qr": lambda xp, a, p, b: abs(xp.linalg.qr(a)[1]),
    "svd": lambda xp, a, p, b: xp.linalg.svd(a)[1],
    "svdvals": lambda xp, a, p, b: xp.linalg.svdvals(a),
    "eigh": lambda xp, a, p, b: xp.linalg.eigh(p)[0],
    "eigvalsh": lambda xp, a, p, b: xp.linalg.eigvalsh(p),
    "eig": lambda xp, a, p, b: abs(xp.linalg.eig(p)[0]).sum(-1),
    "pinv": lambda xp, a, p, b: xp.linalg.pinv(a),
}


def linalg_rows(dtypes: list[str], sizes: list[int]) -> Iterator[Row]:
    for dtype in dtypes:
        if dtype[0] != "f":
            continue
        shapes = [(n, n) for n in sizes or [8, 16, 32, 64, 100, 128, 256, 512, 1024]]
        for shape in shapes if sizes else [*shapes, (1000, 8, 8), (100, 32, 32)]:
            n = shape[-1]
            general = numbers(dtype, *shape)
            definite = general @ general.swapaxes(-1, -2) / n + np.eye(n, dtype=dtype)
            for name, body in LINALG.items():
                yield Row(f"{name} {' x '.join(map(str, shape))} {dtype}", body, (definite, definite, general[..., :1]), 1)


# Operands: a sparse matrix, and a vector and a matrix with a row for each of its columns.
SPARSE: dict[str, tuple[Body, float]] = {
    "by vector": (lambda xp, a, x, y: a @ x, 1.5),
    "transposed by vector": (lambda xp, a, x, y: a.T @ x, 1.5),
    "by 8 vectors": (lambda xp, a, x, y: a @ y, 1),
    "by itself": (lambda xp, a, x, y: a @ a, 1),
    "plus its transpose": (lambda xp, a, x, y: a + a.T, 1),
    "to csc": (lambda xp, a, x, y: a.tocsc(), 1),
    "from coordinates": (lambda xp, a, x, y: a.tocoo().tocsr(), 1),
    "rows": (lambda xp, a, x, y: a[::3], 1),
    "sum of columns": (lambda xp, a, x, y: a.sum(axis=0), 1),
}


def sparse_rows(dtypes: list[str], sizes: list[int]) -> Iterator[Row]:
    import scipy.sparse

    for dtype in dtypes:
        if dtype[0] not in "fc":
            continue
        for n, density in [(n, 10 / n) for n in sizes] or [(100, 0.1), (2048, 0.01), (100_000, 1e-4)]:
            a = scipy.sparse.random_array((n, n), density=density, format="csr", rng=1).astype(dtype)
            for name, (body, bar) in SPARSE.items():
                yield Row(f"{n} x {n} {name} {dtype}", body, (a, numbers(dtype, n), numbers(dtype, n, 8)), bar)


def values(x: Any) -> np.ndarray:
    """A result as an array of NumPy; of a sparse one the elements, row by row."""
    if hasattr(x, "indptr"):
        x = x.tocsr(copy=True)
        x.sort_indices()
        x = x.data
    return np.asarray(x.get() if hasattr(x, "get") else x)


def like(bc: Any, a: Any) -> Any:
    """The operand as broadcloth's, a transposed array as a view."""
    if hasattr(a, "indptr"):
        return bc.scipy.sparse.csr_array(a)
    return bc.asarray(a) if a.flags.c_contiguous else bc.asarray(a.T).T


def measure(call: Callable[[], Any], clock: Callable[[], float], budget: float) -> float:
    """The least time of a call in one turn, in seconds."""
    call()
    begin = clock()
    call()
    repeats = max(1, int(2e-4 / max(clock() - begin, 1e-7)))
    gc.disable()
    best, end = float("inf"), time.perf_counter() + budget
    while best == float("inf") or time.perf_counter() < end:
        begin = clock()
        for _ in range(repeats):
            call()
        best = min(best, (clock() - begin) / repeats)
    gc.enable()
    return best


def check(expected: np.ndarray, got: np.ndarray, name: str) -> None:
    if "argpartition" in name or "argsort" in name:
        return  # equal elements may stand in any order
    if "partition" in name:
        k = expected.shape[-1] // 2
        expected, got = expected[..., k], got[..., k]
    np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-2, err_msg=name)


def selected(options: argparse.Namespace) -> Iterator[Row]:
    dtypes, sizes = options.dtypes.split(","), [int(s) for s in options.sizes.split(",") if s]
    makers = {"matmul": product_rows, "sort": sort_rows, "fft": fft_rows, "linalg": linalg_rows, "sparse": sparse_rows}
    for kind in options.only.split(","):
        for row in makers[kind](dtypes, sizes):
            if options.name in row.name:
                yield row


class Side:
    """The process of one library: it makes each row's operands by itself and takes a turn whenever it is asked to."""

    def __init__(self, library: str) -> None:
        command = [sys.executable, __file__, *sys.argv[1:], "--side", library]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, word: str) -> str:
        assert self.process.stdin is not None and self.process.stdout is not None
        print(word, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit("a library's process ended: see above")
        return answer.strip()


def waited_for(bc: Any, body: Body, *operands: Any) -> Any:
    result = body(bc, *operands)
    bc.synchronize()
    return result


def serve(library: str, options: argparse.Namespace) -> None:
    """What a Side's process does: "next" makes the next row's call, "turn" measures it."""
    import broadcloth as bc

    bc.set_default_device("cpu")
    clock = time.thread_time if options.cpu else time.perf_counter
    rows = selected(options)
    call: Callable[[], Any] = list
    for line in sys.stdin:
        if line.strip() == "turn":
            print(measure(call, clock, options.budget / 10), flush=True)
            continue
        row = next(rows)
        call = partial(row.body, np, *row.operands)
        if library != "numpy":
            expected, call = call(), partial(waited_for, bc, row.body, *(like(bc, a) for a in row.operands))
            check(values(expected), values(call()), row.name)
        print("ready", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="matmul,sort", help="some of matmul, sort, fft, linalg, sparse")
    parser.add_argument("--name", default="", help="rows whose name has this in it")
    parser.add_argument("--sizes", default="")
    parser.add_argument("--dtypes", default="f4,f8,i4,i8")
    parser.add_argument("--budget", type=float, default=0.5, help="seconds for a row and library, cut into ten turns")
    parser.add_argument("--json", help="a file for the results")
    parser.add_argument("--cpu", action="store_true", help="the processor's time of this thread, in the place of the wall clock's")
    parser.add_argument("--side", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.side:
        serve(options.side, options)
        return 0
    sides = [Side("numpy"), Side("broadcloth")]
    found: list[dict[str, Any]] = []
    print(f"{'row':<40} {'peer µs':>12} {'ours µs':>12} {'speed':>7} {'bar':>4}")
    for row in selected(options):
        for side in sides:
            side.ask("next")
        best = [float("inf")] * 2
        for _ in range(10):
            for k, side in enumerate(sides):
                time.sleep(0.2)  # until the other side's threads sleep: OpenBLAS's spin for 0.1 s
                best[k] = min(best[k], float(side.ask("turn")))
        theirs, mine = best
        found.append({"name": row.name, "numpy": theirs, "ours": mine, "speed": round(theirs / mine, 3), "bar": row.bar})
        mark = "  below" if theirs < row.bar * mine else ""
        print(f"{row.name:<40} {theirs * 1e6:>12.2f} {mine * 1e6:>12.2f} {theirs / mine:>7.2f} {row.bar:>4g}{mark}", flush=True)
    below = [row for row in found if row["speed"] < row["bar"]]
    print(f"{len(found)} rows: {len(found) - len(below)} reach their bar")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"rows": found}, file, indent=1)
    return 1 if below else 0


if __name__ == "__main__":
    sys.exit(main())
