"""A program without mistakes: type checkers find nothing in it, and it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import broadcloth as bc
from broadcloth import cuda, float64, njit, prange, vectorize
from broadcloth.typing import ArrayLike, DTypeLike, NDArray


def normalized(x: ArrayLike, axis: int = -1, dtype: DTypeLike = None) -> bc.ndarray:
    a = bc.asarray(x, dtype=dtype)
    return (a - a.mean(axis=axis, keepdims=True)) / a.std(axis=axis, keepdims=True)


def softmax(x: bc.ndarray) -> NDArray:
    e = bc.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def rows(x: bc.ndarray[Any, Any]) -> Iterator[float]:
    for row in x:
        yield float(row.sum())


def newton(f: Callable[[bc.ndarray], bc.ndarray], x: bc.ndarray, steps: int = 5) -> bc.ndarray:
    for _ in range(steps):
        x = x - f(x) / (f(x + 1e-6) - f(x)) * 1e-6
    return x


def heat(n: int, steps: int) -> bc.ndarray:
    t = bc.zeros((n, n), dtype="float32")
    t[0, :] = 100.0
    t[:, -1] = bc.linspace(0, 100, n)
    for _ in range(steps):
        t[1:-1, 1:-1] = 0.25 * (t[:-2, 1:-1] + t[2:, 1:-1] + t[1:-1, :-2] + t[1:-1, 2:])
    return t


def statistics_of(values: list[float]) -> dict[str, float]:
    a = bc.array(values)
    mean, deviation = a.mean(), a.std()
    return {"mean": float(mean), "std": deviation.item(), "max": float(max(a.max(), a.min())), "rounded": float(round(mean, 2))}


@njit(float64(float64[:]))
def total(x):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in prange(x.shape[0]):
        s += x[i]
    return s


@vectorize
def clipped(x: float) -> float:
    return 0.0 if x < 0 else x


@cuda.jit
def add(x: Any, y: Any, out: Any) -> None:
    i = cuda.grid(1)
    t = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    if i < out.size and t < out.size:
        out[i] = x[i] + y[i]
    cuda.syncthreads()


def main() -> None:
    x = bc.arange(12.0).reshape(3, 4)
    y = bc.array([[1, 2, 3, 4]], dtype=bc.float32)
    z = bc.array([x[0], x[1]])
    assert z.shape == (2, 4)
    n, m = x.shape
    assert n * m == x.size and x.ndim == 2 and len(x) == 3
    print(normalized(x), softmax(x), list(rows(x)), newton(lambda v: v * v - 2, bc.ones(2)), heat(8, 4)[1:3, ::2])
    print(statistics_of([1.0, 2.0, 4.0]))
    w = 2 * x + 1 - x / 3 + x**2 - x // 2 + x % 3 @ bc.eye(4)
    w += 1
    w[w > 5] = 0
    w[bc.array([0, 1]), None, :2] = 1.5
    w[..., 0] = [1, 2, 3]
    w[[0, 1], 1] = np.ones(2)
    mask = (x > 2) & ~(x >= 5) | (x == 7)
    print(x[mask], x[mask.nonzero()], bc.where(mask, x, 0), bc.where(mask)[0], bc.count_nonzero(mask))
    print(bc.concatenate([x, y]), bc.stack((x, x), axis=1).T, bc.hstack([x, x]), bc.concat([np.ones(2), [1.0]], axis=None))
    print(bc.sin(x, out=bc.empty_like(x)), bc.add(x, 1, where=mask, out=w), bc.add.reduce(x, axis=0), bc.maximum.accumulate(x, 1))
    q, r = bc.divmod(x, 3)
    f, e = bc.frexp(x)
    print(q, r, f, e, bc.sum(x, axis=(0, 1)), bc.linalg.norm(x, axis=1), bc.linalg.matrix_power(bc.eye(2), 3))
    rng = bc.random.default_rng(42)
    points = rng.random((1000, 2))
    inside = (points**2).sum(axis=1) < 1
    print(4 * float(inside.mean()), rng.normal(size=3).shape, rng.integers(0, 10, size=(2, 2), dtype=bc.int64), rng.choice([1, 2], 3))
    print(math.sqrt(x.sum()), int(x.argmax()), complex(x[0, 1]), bool(mask.any()), f"{x.mean():.3f}", [10, 20, 30][x[0, 1].item() and 2])
    k = x.argmax(axis=None)
    print("abcdefghijklm"[k], range(bc.array(3)), round(float(x.mean()), 2), sorted([x.min(), x.max()]), sum(x[0]), abs(x).tolist())
    host: np.ndarray[Any, Any] = x.get()
    print(host.dtype, np.asarray(x).sum(), x.astype("float32").dtype, x.astype(np.int32).nbytes, bc.float32(1.5), bc.int64(3) + 1)
    with bc.device("cpu"):
        d = bc.zeros(1000, device="cpu").to_device("cpu")
    print(bc.devices(), d.device, x.flags.c_contiguous, x.strides, x.T.flags["F_CONTIGUOUS"], bc.finfo(bc.float32).eps, bc.pi)
    out = bc.empty_like(x)
    add[1, 32](x.ravel(), x.ravel(), out.ravel())
    print(total(np.arange(3.0)), clipped(np.array([-1.0, 2.0])), bc.asnumpy(out))
    scale = bc.ElementwiseKernel("T x, T y", "T z", "z = x * y", "scale")
    norm = bc.ReductionKernel("T x", "T y", "x * x", "a + b", "y = sqrt(a)", "0", "norm")
    print(scale(x, 2.0), float(norm(x)))
    with bc.profiler.record() as record:
        float(x.sum())
    print(len(record.kernels), bc.config.lazy)
    a, b = bc.meshgrid(bc.arange(3), bc.arange(2))
    print(bc.broadcast_arrays(a, b)[0].shape, bc.split(x, 2, axis=1), bc.pad(x, ((1, 1), (0, 0)), mode="edge").shape)
    print(bc.clip(x, 0, None), x.clip(min=1), bc.diff(x, axis=0), bc.cov(x), bc.average(x, weights=y[0], axis=1), bc.isclose(x, x).all())
    bc.synchronize()


main()
