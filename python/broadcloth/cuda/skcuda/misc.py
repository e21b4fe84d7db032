"""Arithmetic and statistics, as `skcuda.misc` has them.

Examples
--------
>>> from broadcloth.cuda.skcuda import misc
>>> misc.add(bc.array([1.0, 2.0]), bc.array([3.0, 4.0]))
array([4., 6.])
>>> misc.add_matvec(bc.zeros((2, 2)), bc.array([1.0, 2.0]), axis=0)
array([[1., 1.],
       [2., 2.]])
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

import broadcloth as bc
from broadcloth import _broadcloth as _c

from ..._namespace import listing

__all__ = [
    "add", "add_matvec", "argmax", "argmin", "binaryop_matvec", "cumsum", "diff", "div_matvec", "divide", "get_by_index",
    "get_compute_capability", "get_current_device", "inf", "init", "init_context", "iscomplextype", "isdoubletype", "max", "maxabs", "mean",
    "min", "mult_matvec", "multiply", "ones", "ones_like", "set_by_index", "set_realloc", "shutdown", "std", "sub_matvec", "subtract",
    "sum", "var", "zeros", "zeros_like",
]  # fmt: skip


def init(allocator: Any = None) -> None:
    """Nothing: the engine begins when it is first used."""


def shutdown() -> None:
    """Nothing: the engine ends with the program."""


def init_context(device: Any) -> Any:
    """A device's context."""
    return device.make_context()


def get_current_device() -> int:
    """The current device's number."""
    return _c.default_device().index


def get_compute_capability(dev: Any) -> float:
    """A GPU's compute capability, as 9.0."""
    major, minor = dev.compute_capability()
    return float(f"{major}.{minor}")


def iscomplextype(x: Any) -> bool:
    """Whether a dtype is complex64 or complex128."""
    return np.dtype(x) in (np.complex64, np.complex128)


def isdoubletype(x: Any) -> bool:
    """Whether a dtype is float64 or complex128."""
    return np.dtype(x) in (np.float64, np.complex128)


def zeros(shape: Any, dtype: Any, order: Any = "C", allocator: Any = None) -> bc.ndarray:
    """Zeros."""
    return bc.zeros(shape, dtype, order)


def zeros_like(a: Any) -> bc.ndarray:
    """Zeros of another's shape and dtype."""
    return bc.zeros_like(a)


def ones(shape: Any, dtype: Any, order: Any = "C", allocator: Any = None) -> bc.ndarray:
    """Ones."""
    return bc.ones(shape, dtype, order)


def ones_like(a: Any) -> bc.ndarray:
    """Ones of another's shape and dtype."""
    return bc.ones_like(a)


def inf(shape: Any, dtype: Any, order: Any = "C", allocator: Any = None) -> bc.ndarray:
    """Infinities."""
    return bc.full(shape, bc.inf, dtype, order)


def add(x_gpu: Any, y_gpu: Any) -> bc.ndarray:
    """x + y of equal shapes."""
    return _same(x_gpu, y_gpu, "add") + y_gpu


def subtract(x_gpu: Any, y_gpu: Any) -> bc.ndarray:
    """x - y of equal shapes."""
    return _same(x_gpu, y_gpu, "subtract") - y_gpu


def multiply(x_gpu: Any, y_gpu: Any) -> bc.ndarray:
    """x * y of equal shapes."""
    return _same(x_gpu, y_gpu, "multiply") * y_gpu


def divide(x_gpu: Any, y_gpu: Any) -> bc.ndarray:
    """x / y of equal shapes."""
    return _same(x_gpu, y_gpu, "divide") / y_gpu


def _same(x: Any, y: Any, name: str) -> Any:
    if x.shape != y.shape:
        raise ValueError(f"{name}: arrays must have the same shape, got {x.shape} and {y.shape}")
    return x


_OPERATIONS = {"+": bc.add, "-": bc.subtract, "*": bc.multiply, "/": bc.divide, "%": bc.remainder}


def binaryop_matvec(binary_op: str, x_gpu: Any, a_gpu: Any, axis: int | None = None, out: Any = None, stream: Any = None) -> bc.ndarray:
    """A matrix and a vector, element by element: row i with a[i] (`axis` 0) or column j with a[j] (`axis` 1).

    Without `axis` the vector's length says which; a square matrix is taken by columns.
    """
    if binary_op not in _OPERATIONS:
        raise ValueError(f"binaryop_matvec: expected one of {sorted(_OPERATIONS)}, got {binary_op!r}")
    if x_gpu.ndim != 2 or a_gpu.size not in a_gpu.shape:
        raise ValueError(f"binaryop_matvec: expected a matrix and a vector, got shapes {x_gpu.shape} and {a_gpu.shape}")
    n, m = x_gpu.shape
    if axis is None:
        axis = 1 if a_gpu.size == m else 0
    if axis not in (0, 1) or a_gpu.size != (n if axis == 0 else m):
        raise ValueError(f"binaryop_matvec: a matrix of {x_gpu.shape} and a vector of {a_gpu.size} elements do not fit along axis {axis}")
    vector = a_gpu.reshape(-1, 1) if axis == 0 else a_gpu.reshape(-1)
    return _OPERATIONS[binary_op](x_gpu, vector, out=out)


def add_matvec(x_gpu: Any, a_gpu: Any, axis: int | None = None, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The matrix plus the vector, as `binaryop_matvec` takes them."""
    return binaryop_matvec("+", x_gpu, a_gpu, axis, out, stream)


def sub_matvec(x_gpu: Any, a_gpu: Any, axis: int | None = None, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The matrix minus the vector, as `binaryop_matvec` takes them."""
    return binaryop_matvec("-", x_gpu, a_gpu, axis, out, stream)


def mult_matvec(x_gpu: Any, a_gpu: Any, axis: int | None = None, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The matrix times the vector, as `binaryop_matvec` takes them."""
    return binaryop_matvec("*", x_gpu, a_gpu, axis, out, stream)


def div_matvec(x_gpu: Any, a_gpu: Any, axis: int | None = None, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The matrix divided by the vector, as `binaryop_matvec` takes them."""
    return binaryop_matvec("/", x_gpu, a_gpu, axis, out, stream)


def sum(x_gpu: Any, axis: int | None = None, out: Any = None, keepdims: bool = False) -> bc.ndarray:
    """The sum, of all or along an axis."""
    return bc.sum(x_gpu, axis, out=out, keepdims=keepdims)


def mean(x_gpu: Any, axis: int | None = None, out: Any = None, keepdims: bool = False) -> bc.ndarray:
    """The mean, of all or along an axis."""
    return bc.mean(x_gpu, axis, out=out, keepdims=keepdims)


def var(x_gpu: Any, ddof: int = 0, axis: int | None = None, stream: Any = None, keepdims: bool = False) -> bc.ndarray:
    """The variance, of all or along an axis."""
    return bc.var(x_gpu, axis, ddof=ddof, keepdims=keepdims)


def std(x_gpu: Any, ddof: int = 0, axis: int | None = None, stream: Any = None, keepdims: bool = False) -> bc.ndarray:
    """The standard deviation, of all or along an axis."""
    return bc.std(x_gpu, axis, ddof=ddof, keepdims=keepdims)


def max(a_gpu: Any, axis: int | None = None, keepdims: bool = False) -> bc.ndarray:
    """The largest element, of all or along an axis."""
    return bc.max(a_gpu, axis, keepdims=keepdims)


def min(a_gpu: Any, axis: int | None = None, keepdims: bool = False) -> bc.ndarray:
    """The smallest element, of all or along an axis."""
    return bc.min(a_gpu, axis, keepdims=keepdims)


def argmax(a_gpu: Any, axis: int | None = None, keepdims: bool = False) -> bc.ndarray:
    """The place of the largest element, of all or along an axis."""
    return bc.argmax(a_gpu, axis, keepdims=keepdims)


def argmin(a_gpu: Any, axis: int | None = None, keepdims: bool = False) -> bc.ndarray:
    """The place of the smallest element, of all or along an axis."""
    return bc.argmin(a_gpu, axis, keepdims=keepdims)


def maxabs(x_gpu: Any) -> bc.ndarray:
    """The largest absolute value."""
    return bc.max(builtins.abs(x_gpu))


def cumsum(x_gpu: Any) -> bc.ndarray:
    """Running sums of all elements."""
    return bc.cumsum(x_gpu)


def diff(x_gpu: Any) -> bc.ndarray:
    """Differences of neighbours in a vector."""
    if x_gpu.ndim != 1:
        raise ValueError(f"diff: input must be 1D, got shape {x_gpu.shape}")
    return bc.diff(x_gpu)


def get_by_index(src_gpu: Any, ind: Any) -> bc.ndarray:
    """Elements of a vector by their places."""
    return bc.take(src_gpu, ind)


def set_by_index(dest_gpu: Any, ind: Any, src_gpu: Any, ind_which: str = "dest") -> None:
    """dest[ind] = src, or with `ind_which` 'src' dest[...] = src[ind]."""
    if ind_which == "dest":
        dest_gpu[bc.asarray(ind)] = src_gpu
    elif ind_which == "src":
        dest_gpu[...] = bc.take(src_gpu, ind)
    else:
        raise ValueError(f"set_by_index: expected ind_which to be 'dest' or 'src', got {ind_which!r}")


def set_realloc(x_gpu: Any, data: Any) -> None:
    """Stores host data into an array of the same shape and dtype."""
    values = np.asarray(data)
    if values.shape != x_gpu.shape or values.dtype != x_gpu.dtype:
        raise ValueError(f"set_realloc: expected {x_gpu.dtype} of shape {x_gpu.shape}, got {values.dtype} of shape {values.shape}")
    x_gpu[...] = values

__dir__ = listing(__all__)
