"""Compiles the kernels of common array programs for several GPUs, without one: what a wheel ships beside the libraries.

    warm_cache.py FOLDER [ARCHITECTURE ...]

The null device takes the programs and writes the kernels' text, NVRTC compiles them, and the files are the kernel cache's own, under the
same keys: another version of broadcloth, of its device library, of NVRTC or of the flags does not find them. A kernel's text holds neither
shapes nor constants, so each serves every size. Objects for the CPU are not shipped: they are made for one processor's own instructions.
"""

from __future__ import annotations

import concurrent.futures
import multiprocessing
import os
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ["BROADCLOTH_CACHE_DIR"] = ""  # nothing may come from a folder, and nothing go to one
os.environ["BROADCLOTH_SHIPPED_KERNELS"] = "0"

import numpy as np

import broadcloth as bc
from broadcloth.random import _on_device

ARCHITECTURES = ("sm_80", "sm_90", "sm_100")
FLOATS = ("float32", "float64")
NUMBERS = (*FLOATS, "int32", "int64")


def array(shape: Any, dtype: str = "float32") -> Any:
    """An array that lies in memory; on the null device nothing reads it."""
    return bc.empty(shape, dtype=dtype)


def softmax(a: Any) -> Any:
    e = bc.exp(a - bc.max(a, axis=1, keepdims=True))
    return e / bc.sum(e, axis=1, keepdims=True)


def programs() -> Iterator[Any]:
    """What each yields is computed by kernels of its own."""
    for dtype in NUMBERS:
        a, b = (array((64, 128), dtype) for _ in range(2))
        row, column = array((1, 128), dtype), array((64, 1), dtype)
        for f in (bc.add, bc.subtract, bc.multiply, bc.divide):
            yield f(a, b)
            yield f(a, 3)
            yield f(3, a)
            yield f(a, row)
            yield f(a, column)
        for f in (bc.maximum, bc.minimum, bc.less, bc.greater, bc.equal):
            yield f(a, b)
            yield f(a, 3)
        for f in (bc.negative, bc.absolute, bc.square):
            yield f(a)
        yield bc.where(a > b, a, b)
        yield bc.where(a > 0, a, 0)
        yield a**2
        yield bc.zeros((64, 128), dtype=dtype)
        yield bc.ones((64, 128), dtype=dtype)
        yield bc.full((64, 128), 3, dtype=dtype)
        yield bc.arange(8192, dtype=dtype)
        for axis in (None, 0, 1):
            for f in (bc.sum, bc.max, bc.min, bc.mean):
                yield f(a, axis=axis)
        yield a.T + b.T
        yield bc.ascontiguousarray(a.T)
        yield a[1:-1, 1:-1] + 0
        c = array((64, 128), dtype)
        c += a
        yield c
        c *= 3
        yield c
        for other in (*NUMBERS, "bool"):
            if other != dtype:
                yield array((64, 128), other).astype(dtype)
    for dtype in FLOATS:
        a, b = (array((64, 128), dtype) for _ in range(2))
        for f in (bc.sqrt, bc.exp, bc.log, bc.sin, bc.cos, bc.tan, bc.tanh, bc.floor, bc.isnan, bc.arctan, bc.log1p, bc.expm1):
            yield f(a)
        for f in (bc.power, bc.arctan2, bc.hypot):
            yield f(a, b)
        yield a**0.5
        yield 1 / (1 + bc.exp(-a))
        yield a * b + bc.sin(a) + bc.cos(b)
        yield bc.sqrt(a * a + b * b)
        yield 2 * a + b
        yield a * 2 + b
        yield bc.gradient(a[0])
        yield a * b + b
        yield bc.clip(a, 0, 1)
        for axis in (None, 0, 1):
            yield bc.std(a, axis=axis)
            yield bc.var(a, axis=axis)
            yield bc.sum(a * b, axis=axis)
            yield bc.sum(bc.square(a - b), axis=axis)
            yield bc.sum(bc.absolute(a), axis=axis)
        yield bc.sum(a), bc.mean(a), bc.std(a)
        yield bc.argmax(a), bc.argmin(a)
        yield bc.argmax(a, axis=1), bc.argmin(a, axis=1)
        yield (a - bc.mean(a, axis=0)) / bc.std(a, axis=0)
        yield (a - bc.mean(a, axis=1, keepdims=True)) / bc.std(a, axis=1, keepdims=True)
        yield softmax(a)
        u = array((66, 130), dtype)
        yield 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        yield bc.linspace(0, 1, 8192, dtype=dtype)
        rng = bc.random.Generator(bc.random.Philox(0))
        for n in (8192, 1 << 26):  # a thread draws more of very many numbers
            yield rng.random(n, dtype=dtype)
            yield rng.standard_normal(n, dtype=dtype)
    flags = array((64, 128), "bool")
    yield bc.sum(flags)
    yield bc.any(flags), bc.all(flags)
    yield flags & ~flags
    for dtype in ("complex64", "complex128"):
        a, b = (array((64, 128), dtype) for _ in range(2))
        for f in (bc.add, bc.subtract, bc.multiply, bc.divide):
            yield f(a, b)
        yield bc.absolute(a)
        yield bc.sum(a)


def executed(program: Callable[[Any], Any], data: Any) -> Any:
    """What `program` gives for an array, by kernels that the processor runs: it asks for results at once, such as the length of a mask."""
    bc._c.null_run(True)
    result = program(bc.asarray(data))
    bc._c.null_run(False)
    return result


def scans_and_counts() -> Iterator[Any]:
    """Scans, compaction, histograms, counts and assignment at places."""
    for dtype in ("float32", "float64", "int64"):
        yield bc.cumsum(array(1 << 20, dtype))
        yield bc.cumsum(array((64, 1 << 16), dtype), axis=1)
    for dtype in ("float32", "float64"):
        yield executed(lambda mask, dtype=dtype: array(1 << 16, dtype)[mask], np.ones(1 << 16, bool))
        numbers = np.linspace(0, 1, 1 << 16).astype(dtype)
        yield executed(bc.unique, numbers)
        yield executed(lambda x: bc.percentile(x, [5, 95]), numbers)
        yield executed(lambda x: bc.histogram(x, 50), numbers)
        inside = 0.25 + numbers / 2  # bounds that are neither 0 nor 1
        yield executed(lambda x: bc.histogram(x, 50), inside)
        yield executed(lambda x: bc.histogram(x, 10, (0.1, 0.9)), inside)
        yield executed(lambda x: bc.bincount((x * 100).astype("int64")), numbers)
        yield executed(lambda x: bc.bincount(x.astype("int64")), numbers)
        yield executed(lambda x: bc.bincount(bc.floor(x * 100).astype("int64")), numbers)
        yield executed(lambda x: bc.cov(x.reshape(64, -1)), numbers)
    yield executed(bc.nonzero, np.ones(1 << 16, bool))
    yield executed(bc.nonzero, np.ones((64, 1 << 10), bool))
    for dtype in ("int64", "uint64"):
        yield bc.max(array(1 << 20, dtype))
    yield executed(lambda x: bc.bincount(x), np.arange(1 << 16))
    yield bc.bincount(array(1 << 20, "int64"), minlength=1000)
    a, at = array(1 << 20), array(1000, "int64")
    a[at] = 0
    yield a[at]


def reductions() -> Iterator[Any]:
    """Reductions of whole arrays, rows, columns and planes."""
    # Whole reductions of long arrays are cut into segments.
    for dtype in FLOATS:
        a = array(1 << 24, dtype)
        for f in (bc.sum, bc.max, bc.min, bc.mean, bc.std, bc.argmax, bc.linalg.norm, bc.nanmean):
            yield f(a)
    for f in (bc.sum, bc.max, bc.min):
        yield f(array(1 << 24, "int64"))
    # Reductions of rows, columns and planes: short, long and few.
    for dtype in (*FLOATS, "int64"):
        for shape in ((4096, 4096), (100, 1 << 16), (1 << 16, 100), (64, 64, 64), (1000,)):
            a = array(shape, dtype)
            for axis in (None, *range(len(shape))):
                for f in (bc.sum, bc.max, bc.min, bc.mean) if len(shape) > 2 else (bc.sum, bc.max, bc.min, bc.mean, bc.std, bc.argmax):
                    yield f(a, axis=axis)
    for dtype in FLOATS:
        for shape in ((4096, 4096), (1000, 1000), (1000,)):
            a, b = array(shape, dtype), array(shape, dtype)
            for f in (bc.nansum, bc.nanmean):
                yield f(a)
            yield bc.sum(a * b)
            yield bc.max(bc.absolute(a - b))
            yield bc.mean(bc.square(a - b))
            yield bc.array_equal(a, b)
            yield bc.allclose(a, b)
            if len(shape) == 2:
                yield bc.var(a, axis=1)
                yield softmax(a)


def truths() -> Iterator[Any]:
    """Questions about the truth of elements."""
    for shape in ((4096, 4096), (1000,), 1 << 24):
        flags = array(shape, "bool")
        yield bc.any(flags)
        yield bc.all(flags)
        for dtype in NUMBERS:
            a = array(shape, dtype)
            for f in (bc.any, bc.all):
                yield f(a > 0)
            yield bc.count_nonzero(a)
            yield bc.sum(a > 0)


def orders() -> Iterator[Any]:
    """Sorts, medians and searches."""
    for dtype in (*FLOATS, "int64"):
        for shape in (1 << 16, (64, 64)):
            a = array(shape, dtype)
            yield bc.sort(a)
            yield bc.argsort(a)
    for dtype in (*FLOATS, "int64"):
        for n in (1000, 1 << 20):
            yield bc.median(array(n, dtype))
            yield bc.searchsorted(array(n, dtype), array(1000, dtype))


def selections_and_joins() -> Iterator[Any]:
    """Elements at indices, and arrays that are joined, repeated or shifted."""
    for dtype in NUMBERS:
        a, at, both = array((64, 128), dtype), array(50, "int64"), array(1 << 16, dtype)
        yield bc.take(both, at)
        yield bc.take(both, bc.arange(1000))
        yield both[at]
        yield a[at]
        yield a[:, at]
        yield bc.concatenate((a, a))
        yield bc.concatenate((both, both))
        yield bc.stack((a, a))
        yield bc.outer(array(64, dtype), array(64, dtype))
        yield bc.diff(both)
        yield bc.diff(a, axis=1)
        yield bc.repeat(both, 2)
        yield bc.tile(both, 2)
        yield bc.roll(both, 3)
        yield a[:, 0] + 0
        a[:10] = 0
        yield a
        yield bc.where(a > 0, a, array((64, 128), dtype))


def random_numbers() -> Iterator[Any]:
    """Random numbers, few and many."""
    for n in (8192, 1 << 20):
        rng = bc.random.default_rng(0)
        for dtype in FLOATS:
            yield rng.random(n, dtype=dtype)
            yield rng.standard_normal(n, dtype=dtype)
        yield rng.normal(1.0, 2.0, n)
        yield rng.uniform(1.0, 2.0, n)
        yield rng.integers(0, 10, n)


def factorizations() -> Iterator[Any]:
    """Solvers and factorizations: they have kernels that pack their operands and place the results."""
    for dtype in FLOATS:
        a, b, c = array((64, 64), dtype), array(64, dtype), array((64, 3), dtype)
        for right in (b, c, c[:, :1], b[:, None]):
            yield bc.linalg.solve(a, right)
            yield bc.linalg.solve(a.T, right)
        yield bc.linalg.inv(a)
        yield bc.linalg.det(a), bc.linalg.slogdet(a)
        yield bc.linalg.cholesky(a)
        yield bc.linalg.eigh(a), bc.linalg.eigvalsh(a)
        yield bc.linalg.svd(a), bc.linalg.svd(c, full_matrices=False)
        yield bc.linalg.qr(a), bc.linalg.qr(c)
        yield bc.sort(array((1 << 13, 3), dtype).T)  # packs lines


def library_programs() -> Iterator[Any]:
    """What runs kernels of library ops (scans, compaction, counts, assignment at places) and reductions of long arrays."""
    yield from scans_and_counts()
    yield from reductions()
    yield from truths()
    yield from orders()
    yield from selections_and_joins()
    yield from random_numbers()
    flags = array(1 << 24, "bool")
    yield bc.any(flags), bc.all(flags)
    yield bc.any(flags)
    yield bc.count_nonzero(flags)
    for dtype in FLOATS:
        x, y = array((1000, 1, 64), dtype), array((1, 1000, 64), dtype)
        yield bc.sqrt(bc.sum((x - y) ** 2, axis=-1))
    yield from factorizations()
    # A mask that selects is counted while it is computed.
    for dtype in (*FLOATS, "int64"):
        for shape in (1 << 24, 1000):
            for f in (bc.greater, bc.less):
                mask = f(array(shape, dtype), 1)
                yield mask, bc.count_nonzero(mask)


def record() -> None:
    """Lets the null device be given all programs, as a GPU would be, whole at once."""
    bc.config.background_compile = False
    with bc.device("null:1"):
        bc._c.null_set_target("null-cuda")
        bc._c.null_log_clear()
        for values in programs():
            bc.flush()
            del values
        bc.flush()
        bc._c.use_cuda_bodies("null", True)
        for values in library_programs():
            bc.flush()
            del values
        bc.flush()


def compile_for(folder: str, architecture: str) -> int:
    """In a process of its own, since NVRTC compiles one kernel at a time in each."""
    record()
    drawing = [_on_device.kernel(dxsm=False, name=name) for name in _on_device.KERNELS]
    for kernel in drawing:
        bc._c.cache_write_program(folder, architecture, kernel)
    return bc._c.cache_write(folder, architecture) + len(drawing)


def main(folder: str, *architectures: str) -> int:
    start = time.perf_counter()
    os.makedirs(folder, exist_ok=True)
    wanted = architectures or ARCHITECTURES
    try:
        with concurrent.futures.ProcessPoolExecutor(os.cpu_count(), multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
            count = sum(pool.map(compile_for, [folder] * len(wanted), wanted))
    except ImportError as error:
        print(f"no kernels for GPUs: {error}")
        return 0
    bc._c.cache_pack(folder)
    size = sum(entry.stat().st_size for entry in os.scandir(folder))
    print(f"{count} kernels for {', '.join(wanted)}: {size / 1e6:.1f} MB in {time.perf_counter() - start:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
