"""The table of workloads: one row each, the same body for every library.

A body is written once over `xp`, a namespace with NumPy's spelling (bench/peers.py makes one for each library). Where a library has a
faster spelling of its own for the same result, `spelled` gives it, so that every peer is measured at its best.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Arrays = tuple[np.ndarray, ...]


@dataclass(frozen=True)
class Bar:
    """What a result must reach.

    kind: "peers"  time ≤ value × the best peer's;  "numpy"  NumPy's time ≥ value × ours;  "slower"  our time ≤ value × NumPy's;
          "seconds"  time ≤ value.
    """

    kind: str
    value: float

    def text(self) -> str:
        if self.kind == "peers":
            return "≤ best peer"
        if self.kind == "numpy":
            return f"≥ {self.value:g}x NumPy"
        if self.kind == "slower":
            return f"≤ {self.value:g}x NumPy's"
        return f"≤ {self.value * 1e6:g} µs" if self.value < 1e-3 else f"≤ {self.value * 1e3:g} ms"


@dataclass(frozen=True)
class Workload:
    """One row of the table.

    style: "stream"  the call is repeated; every repeat is submitted to the device before the next one, its result is dropped after that;
           "kept"    every repeat takes other inputs, all results are kept alive until the end, so that none can be left out or merged;
           "wait"    every repeat is waited for before the next one;
           "loop"    the body takes the result of the repeat before as its input, and reads one number each time.
    """

    name: str
    what: str
    body: Callable[..., Any]
    inputs: Callable[[int, np.random.Generator], Arrays]
    cuda: int = 0  # size on a GPU, 0: not run there
    cpu: int = 0
    quick: int = 0  # size for --quick
    bytes: Callable[[int], float] = lambda n: 0.0  # what must be read and written at least
    operations: Callable[[int], float] = lambda n: 0.0
    style: str = "stream"
    tolerance: float = 1e-4
    bars: dict[str, Bar] = field(default_factory=dict)
    spelled: dict[str, Callable[..., Any]] = field(default_factory=dict)
    library_bound: bool = False  # the floor is the arithmetic of a library, not memory

    def size(self, device: str, quick: bool) -> int:
        full = self.cuda if device == "cuda" else self.cpu
        return min(full, self.quick) if quick else full


# ---- Bodies ----------------------------------------------------------------------------------------------------------------------------


def ewise(xp, a, b):
    return a * b + xp.sin(a) + xp.cos(b)


def reduce(xp, a):
    return xp.sum(a), xp.mean(a), xp.std(a)


def chain10(xp, a, b):
    x = a + b
    x = x * b
    x = x - a
    x = xp.abs(x)
    x = xp.sqrt(x)
    x = x + 1.0
    x = x * 0.5
    x = xp.maximum(x, b)
    x = x - b
    return x * a


def softmax(xp, a):
    e = xp.exp(a - xp.max(a, axis=-1, keepdims=True))
    return e / xp.sum(e, axis=-1, keepdims=True)


def normal_cdf(xp, x):
    """Abramowitz and Stegun 26.2.17: |error| < 7.5e-8, of functions that every library has."""
    k = 1.0 / (1.0 + 0.2316419 * xp.abs(x))
    tail = k * (0.319381530 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))))
    tail = tail * xp.exp(-0.5 * x * x) * 0.3989422804
    return xp.where(x >= 0.0, 1.0 - tail, tail)


def blackscholes(xp, spot, strike, years):
    rate, volatility = 0.02, 0.30
    deviation = volatility * xp.sqrt(years)
    d1 = (xp.log(spot / strike) + (rate + 0.5 * volatility * volatility) * years) / deviation
    d2 = d1 - deviation
    return spot * normal_cdf(xp, d1) - strike * xp.exp(-rate * years) * normal_cdf(xp, d2)


def sum_axis0(xp, a):
    return xp.sum(a, axis=0)


def sum_axis1(xp, a):
    return xp.sum(a, axis=1)


def add(xp, a, b):
    return a + b


@functools.cache
def squared_kernel(module: str) -> Callable[..., Any]:
    """A kernel in one line of C++, as CuPy spells it."""
    make = importlib.import_module(module).ElementwiseKernel
    return make("float32 x, float32 y", "float32 z", "z = (x - y) * (x - y)", "squared_difference")


@functools.cache
def dot_kernel(module: str) -> Callable[..., Any]:
    return importlib.import_module(module).ReductionKernel("T x, T y", "T z", "x * y", "a + b", "z = a", "0", "dot_kernel")


def squared(xp, a, b):
    return (a - b) * (a - b)


def dot_of_products(xp, a, b):
    return (a * b).sum()


def written_in_cpp(kernel: Callable[[str], Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """A kernel's call for the libraries that have such kernels; the others compute the same with their arrays."""
    return {module: lambda xp, *arrays, module=module: kernel(module)(*arrays) for module in ("broadcloth", "cupy")}


def heat_step(xp, p, source):
    """One Jacobi step with a source and zero edges, and how far it moved."""
    p_new = xp.copy(p)
    inner = 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2] + source[1:-1, 1:-1])
    p_new = xp.set_inner(p_new, inner)
    return p_new, xp.norm(p_new - p)


def matmul(xp, a, b):
    return xp.matmul(a, b)


# ---- Inputs ----------------------------------------------------------------------------------------------------------------------------


def uniform(*shape_of, dtype="float32"):
    """Arrays of values in [0, 1), one for each shape; a shape is a function of the size."""

    def make(n: int, rng: np.random.Generator) -> Arrays:
        return tuple(rng.random(shape(n), dtype=dtype) for shape in shape_of)

    return make


def vector(n: int) -> tuple[int, ...]:
    return (n,)


def square(n: int) -> tuple[int, ...]:
    return (n, n)


def options(n: int, rng: np.random.Generator) -> Arrays:
    return tuple(lo + (hi - lo) * rng.random(n, dtype="float32") for lo, hi in ((5.0, 30.0), (1.0, 100.0), (0.25, 10.0)))


def plate(n: int, rng: np.random.Generator) -> Arrays:
    source = np.zeros((n, n))
    source[n // 2, n // 2] = 10000.0
    return np.zeros((n, n)), source


# ---- The peers' own spellings ----------------------------------------------------------------------------------------------------------


def torch_reduce(xp, a):
    deviation, mean = xp.torch.std_mean(a, correction=0)
    return a.sum(), mean, deviation


def torch_softmax(xp, a):
    return xp.torch.softmax(a, -1)


def jax_softmax(xp, a):
    return xp.jax.nn.softmax(a, axis=-1)


PEERS = Bar("peers", 1.0)


def stack(count: int) -> Callable[[int], tuple[int, ...]]:
    return lambda n: (count, n, n)


def products() -> list[Workload]:
    """Matrix products on the CPU beside NumPy's, from 8 to 4096: one at a time, each waited for, and batches of small ones."""
    rows = []
    for dtype in ("float32", "float64"):
        bits, item = dtype[5:], int(dtype[5:]) // 8
        for count, n in ((1, 8), (1, 32), (1, 128), (1, 512), (1, 4096), (1000, 8), (500, 16), (200, 32), (100, 64), (16, 256)):
            shape = square if count == 1 else stack(count)
            rows.append(Workload(
                f"matmul_{f'{count}x' if count > 1 else ''}{n}_f{bits}",
                f"matrix product{f's, a batch of {count},' if count > 1 else ''} {n} x {n}, {dtype}", matmul,
                uniform(shape, shape, dtype=dtype), cpu=n, quick=64, bytes=lambda n, c=count, i=item: 3 * c * i * n * n,
                operations=lambda n, c=count: 2 * c * n**3, style="wait", library_bound=True, bars={"cpu": Bar("numpy", 1.0)},
            ))  # fmt: skip
    return rows

WORKLOADS: tuple[Workload, ...] = (
    Workload(
        "ewise_10000", "a*b + sin(a) + cos(b), float32, 10000 x 10000", ewise, uniform(square, square),
        cuda=10000, quick=300, bytes=lambda n: 12 * n * n, operations=lambda n: 5 * n * n, bars={"cuda": PEERS},
    ),
    Workload(
        "reduce_10000", "sum, mean and std of one array, float32, 10000 x 10000", reduce, uniform(square),
        cuda=10000, quick=300, bytes=lambda n: 4 * n * n, operations=lambda n: 5 * n * n, bars={"cuda": PEERS},
        spelled={"torch": torch_reduce},
    ),
    Workload(
        "chain10_1e8", "ten elementwise ops in a chain over two inputs, float32, 1e8", chain10, uniform(vector, vector),
        cuda=10**8, quick=10**5, bytes=lambda n: 12 * n, operations=lambda n: 10 * n, bars={"cuda": PEERS},
    ),
    Workload(
        "softmax_8192", "softmax over the rows of 8192 x 8192, float32", softmax, uniform(square),
        cuda=8192, quick=256, bytes=lambda n: 8 * n * n, operations=lambda n: 5 * n * n, bars={"cuda": PEERS},
        spelled={"torch": torch_softmax, "torch_compiled": torch_softmax, "jax": jax_softmax},
    ),
    Workload(
        "blackscholes_1e7", "Black-Scholes call price of 1e7 options, float32", blackscholes, options,
        cuda=10**7, quick=10**5, bytes=lambda n: 16 * n, operations=lambda n: 60 * n, bars={"cuda": PEERS}, tolerance=1e-3,
    ),
    Workload(
        "sum_axis0_8192", "sum over the columns of 8192 x 8192, float32", sum_axis0, uniform(square),
        cuda=8192, quick=256, bytes=lambda n: 4 * n * n, operations=lambda n: n * n, bars={"cuda": PEERS},
    ),
    Workload(
        "sum_axis1_8192", "sum over the rows of 8192 x 8192, float32", sum_axis1, uniform(square),
        cuda=8192, quick=256, bytes=lambda n: 4 * n * n, operations=lambda n: n * n, bars={"cuda": PEERS},
    ),
    Workload(
        "matmul_4096", "matrix product 4096 x 4096, float32 (no TF32)", matmul, uniform(square, square),
        cuda=4096, quick=128, bytes=lambda n: 12 * n * n, operations=lambda n: 2 * n**3, library_bound=True,
    ),
    Workload(
        "add_1k", "one add of 1000 elements, float32; results kept", add, uniform(vector, vector),
        cuda=1000, quick=1000, bytes=lambda n: 12 * n, operations=lambda n: n, style="kept", bars={"cuda": Bar("seconds", 6.8e-6)},
    ),
    Workload(
        "chain10_1k", "ten elementwise ops in a chain on 1000 elements, float32; results kept", chain10, uniform(vector, vector),
        cuda=1000, cpu=1000, quick=1000, bytes=lambda n: 12 * n, operations=lambda n: 10 * n, style="kept",
        bars={"cuda": Bar("seconds", 9e-6)},
    ),
    Workload(
        "add_1k_wait", "one add of 1000 elements, float32, waited for each time", add, uniform(vector, vector),
        cuda=1000, cpu=1000, quick=1000, bytes=lambda n: 12 * n, operations=lambda n: n, style="wait",
    ),
    Workload(
        "heat_256", "one Jacobi step, 256 x 256 float64, its norm read each step", heat_step, plate,
        cuda=256, cpu=256, quick=64, bytes=lambda n: 24 * n * n, operations=lambda n: 8 * n * n, style="loop", tolerance=1e-9,
        bars={"cuda": Bar("seconds", 50e-6)},
    ),
    Workload(
        "elementwise_kernel_1k", "ElementwiseKernel (x - y)² of 1000 elements, float32; results kept", squared, uniform(vector, vector),
        cuda=1000, cpu=1000, quick=1000, bytes=lambda n: 12 * n, operations=lambda n: 2 * n, style="kept",
        bars={"cuda": Bar("seconds", 7e-6)}, spelled=written_in_cpp(squared_kernel),
    ),
    Workload(
        "reduction_kernel_1e8", "ReductionKernel of x * y, float32, 1e8", dot_of_products, uniform(vector, vector),
        cuda=10**8, cpu=10**7, quick=10**5, bytes=lambda n: 8 * n, operations=lambda n: 2 * n, bars={"cuda": PEERS},
        spelled=written_in_cpp(dot_kernel),
    ),
    # On the CPU, beside NumPy.
    Workload(
        "ewise_1e6", "a*b + sin(a) + cos(b), float32, 1e6", ewise, uniform(vector, vector),
        cpu=10**6, quick=10**4, bytes=lambda n: 12 * n, operations=lambda n: 5 * n, bars={"cpu": Bar("numpy", 3.0)},
    ),
    Workload(
        "ewise_1e7", "a*b + sin(a) + cos(b), float32, 1e7", ewise, uniform(vector, vector),
        cpu=10**7, quick=10**5, bytes=lambda n: 12 * n, operations=lambda n: 5 * n, bars={"cpu": Bar("numpy", 5.0)},
    ),
    Workload(
        "sum_mean_std_1e8", "sum, mean and std of one array, float32, 1e8", reduce, uniform(vector),
        cpu=10**8, quick=10**5, bytes=lambda n: 4 * n, operations=lambda n: 5 * n, bars={"cpu": Bar("numpy", 3.0)},
        spelled={"torch": torch_reduce},
    ),
    Workload(
        "chain10_1e7", "ten elementwise ops in a chain over two inputs, float32, 1e7", chain10, uniform(vector, vector),
        cpu=10**7, quick=10**5, bytes=lambda n: 12 * n, operations=lambda n: 10 * n,
    ),
    Workload(
        "softmax_2048", "softmax over the rows of 2048 x 2048, float32", softmax, uniform(square),
        cpu=2048, quick=128, bytes=lambda n: 8 * n * n, operations=lambda n: 5 * n * n,
        spelled={"torch": torch_softmax, "torch_compiled": torch_softmax, "jax": jax_softmax},
    ),
    Workload(
        "blackscholes_1e6", "Black-Scholes call price of 1e6 options, float32", blackscholes, options,
        cpu=10**6, quick=10**4, bytes=lambda n: 16 * n, operations=lambda n: 60 * n, tolerance=1e-3,
    ),
    Workload(
        "sum_axis0_4096", "sum over the columns of 4096 x 4096, float32", sum_axis0, uniform(square),
        cpu=4096, quick=128, bytes=lambda n: 4 * n * n, operations=lambda n: n * n,
    ),
    Workload(
        "sum_axis1_4096", "sum over the rows of 4096 x 4096, float32", sum_axis1, uniform(square),
        cpu=4096, quick=128, bytes=lambda n: 4 * n * n, operations=lambda n: n * n,
    ),
    Workload(
        "matmul_1024", "matrix product 1024 x 1024, float64", matmul, uniform(square, square, dtype="float64"),
        cpu=1024, quick=64, bytes=lambda n: 24 * n * n, operations=lambda n: 2 * n**3, library_bound=True,
    ),
    *products(),
)  # fmt: skip

BY_NAME = {w.name: w for w in WORKLOADS}


def selected(device: str, only: list[str] | None) -> list[Workload]:
    """The rows that run on a device, all or those named."""
    return [w for w in WORKLOADS if (w.cuda if device == "cuda" else w.cpu) and (not only or w.name in only)]
