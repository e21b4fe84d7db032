"""PyCUDA's arrays, which are broadcloth's own."""

from __future__ import annotations

from typing import Any

import broadcloth as bc

GPUArray = bc.ndarray


def to_gpu(ary: Any, allocator: Any = None) -> bc.ndarray:
    """A host array on the device."""
    return bc.array(ary)


to_gpu_async = to_gpu


def empty(shape: Any, dtype: Any, allocator: Any = None, order: Any = "C") -> bc.ndarray:
    """An array whose elements are not set."""
    return bc.empty(shape, dtype, order)


def zeros(shape: Any, dtype: Any = float, allocator: Any = None, order: Any = "C") -> bc.ndarray:
    """Zeros."""
    return bc.zeros(shape, dtype, order)


def ones(shape: Any, dtype: Any = float, allocator: Any = None, order: Any = "C") -> bc.ndarray:
    """Ones."""
    return bc.ones(shape, dtype, order)


def empty_like(other: Any, dtype: Any = None, order: Any = "K") -> bc.ndarray:
    """An array of another's shape and dtype."""
    return bc.empty_like(other, dtype)


def zeros_like(other: Any, dtype: Any = None, order: Any = "K") -> bc.ndarray:
    """Zeros of another's shape and dtype."""
    return bc.zeros_like(other, dtype)


def ones_like(other: Any, dtype: Any = None, order: Any = "K") -> bc.ndarray:
    """Ones of another's shape and dtype."""
    return bc.ones_like(other, dtype)


def arange(*args: Any, dtype: Any = None, **kwargs: Any) -> bc.ndarray:
    """Numbers in steps."""
    return bc.arange(*args, dtype=dtype)  # type: ignore[misc]


def sum(a: Any, dtype: Any = None, stream: Any = None, allocator: Any = None) -> bc.ndarray:
    """The sum of all elements."""
    return bc.sum(a, dtype=dtype)


def dot(a: Any, b: Any, dtype: Any = None, out: Any = None, stream: Any = None, allocator: Any = None) -> bc.ndarray:
    """The sum of products of all elements."""
    return bc.sum(bc.multiply(a, b), dtype=dtype)


def max(a: Any, stream: Any = None, allocator: Any = None) -> bc.ndarray:
    """The largest element."""
    return bc.max(a)


def min(a: Any, stream: Any = None, allocator: Any = None) -> bc.ndarray:
    """The smallest element."""
    return bc.min(a)


def maximum(a: Any, b: Any, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The larger of two, element by element."""
    return bc.maximum(a, b, out=out)


def minimum(a: Any, b: Any, out: Any = None, stream: Any = None) -> bc.ndarray:
    """The smaller of two, element by element."""
    return bc.minimum(a, b, out=out)


def if_positive(criterion: Any, then_: Any, else_: Any, out: Any = None, stream: Any = None) -> bc.ndarray:
    """`then_` where the criterion is positive, `else_` elsewhere."""
    return bc.where(criterion > 0, then_, else_)


def take(a: Any, indices: Any, out: Any = None, stream: Any = None) -> bc.ndarray:
    """Elements by their indices."""
    return bc.take(a, indices)
