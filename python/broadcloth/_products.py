"""Products of vectors and matrices."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray

_asarray = _c.asarray
_reduce = _c.reduce
_ufuncs = _c.ufuncs

matmul = _c.matmul
dot = _c.dot


def _into(out: Any, result: ndarray) -> ndarray:
    if out is None:
        return result
    _c.copyto(out, result)
    return out


def vdot(a: Any, b: Any, /) -> ndarray:
    """The dot product of two flattened arrays, the first one conjugated.

    Examples
    --------
    >>> bc.vdot([1, 2], [3, 4])
    array(11)
    """
    x, y = _asarray(a).ravel(), _asarray(b).ravel()
    if x.size != y.size:
        raise ValueError(f"cannot reshape array of size {y.size} into shape {x.shape}")
    return _c.dot(_ufuncs["conjugate"](x) if x.dtype.kind == "c" else x, y)


def inner(a: Any, b: Any, /) -> ndarray:
    """Sums of products over the last axes.

    Examples
    --------
    >>> bc.inner([1, 2, 3], [0, 1, 0])
    array(2)
    """
    x, y = _asarray(a), _asarray(b)
    if x.ndim == 0 or y.ndim == 0:
        return _ufuncs["multiply"](x, y)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            f"shapes {x.shape} and {y.shape} not aligned: {x.shape[-1]} (dim {x.ndim - 1}) != {y.shape[-1]} (dim {y.ndim - 1})"
        )
    return tensordot(x, y, (-1, -1))


def outer(a: Any, b: Any, out: Any = None) -> ndarray:
    """All products of the elements of two flattened arrays.

    Examples
    --------
    >>> bc.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    return _ufuncs["multiply"](_asarray(a).ravel()[:, None], _asarray(b).ravel()[None, :], out=out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> ndarray:
    """Sums of products over chosen axes.

    Parameters
    ----------
    a, b : array_like
    axes : int or pair of axes (or of sequences of axes)
        The number of last axes of `a` and first axes of `b`, or which axes of each.

    Raises
    ------
    ValueError
        The extents differ.

    Examples
    --------
    >>> bc.tensordot(bc.ones((2, 3, 4)), bc.ones((3, 4, 5))).shape
    (2, 5)
    """
    x, y = _asarray(a), _asarray(b)
    if np.ndim(axes) == 0 and not isinstance(axes, (tuple, list)):
        n = operator.index(axes)
        left, right = list(range(x.ndim - n, x.ndim)), list(range(n))
    else:
        first, second = axes
        left = [first] if np.ndim(first) == 0 else list(first)
        right = [second] if np.ndim(second) == 0 else list(second)
    if len(left) != len(right) or len(left) > min(x.ndim, y.ndim):
        raise ValueError("shape-mismatch for sum")
    left = [normalize_axis_index(operator.index(d), x.ndim) for d in left]
    right = [normalize_axis_index(operator.index(d), y.ndim) for d in right]
    if any(x.shape[i] != y.shape[j] for i, j in zip(left, right)):
        raise ValueError("shape-mismatch for sum")
    keep_x = [d for d in range(x.ndim) if d not in left]
    keep_y = [d for d in range(y.ndim) if d not in right]
    shape = [x.shape[d] for d in keep_x] + [y.shape[d] for d in keep_y]
    inside = math.prod(x.shape[d] for d in left)
    rows = math.prod(x.shape[d] for d in keep_x)
    columns = math.prod(y.shape[d] for d in keep_y)
    product = _c.matmul(_c.transpose(x, keep_x + left).reshape(rows, inside), _c.transpose(y, right + keep_y).reshape(inside, columns))
    return product.reshape(shape)


def kron(a: Any, b: Any) -> ndarray:
    """The Kronecker product.

    Examples
    --------
    >>> bc.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    x, y = _asarray(a), _asarray(b)
    n = max(x.ndim, y.ndim)
    x, y = x.reshape((1,) * (n - x.ndim) + x.shape), y.reshape((1,) * (n - y.ndim) + y.shape)
    spread_x = x[tuple(item for _ in range(n) for item in (slice(None), None))]
    spread_y = y[tuple(item for _ in range(n) for item in (None, slice(None)))]
    return _ufuncs["multiply"](spread_x, spread_y).reshape([i * j for i, j in zip(x.shape, y.shape)])


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> ndarray:
    """The sum of a diagonal.

    Examples
    --------
    >>> bc.trace(bc.eye(3))
    array(3.)
    """
    return _asarray(a).trace(offset, axis1, axis2, dtype, out)


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1, **options: Any) -> ndarray:
    """Sums of products along one axis, the first operand conjugated.

    Examples
    --------
    >>> bc.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    x, y = _c.moveaxis(x1, axis, -1), _c.moveaxis(x2, axis, -1)
    if x.shape[-1] != y.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature (n),(n)->() "
            f"(size {y.shape[-1]} is different from {x.shape[-1]})"
        )
    left = _ufuncs["conjugate"](x) if x.dtype.kind == "c" else x
    kind = _c.result_type(x.dtype, y.dtype)
    return _into(out, _c.matmul(left[..., None, :], y[..., :, None], **options)[..., 0, 0].astype(options.get("dtype") or kind, copy=False))


def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Matrices times vectors, over leading axes that broadcast.

    Examples
    --------
    >>> bc.matvec([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _into(out, _c.matmul(x1, _asarray(x2)[..., :, None], **options)[..., 0])


def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Vectors (conjugated) times matrices, over leading axes that broadcast.

    Examples
    --------
    >>> bc.vecmat([1, 1], [[1, 2], [3, 4]])
    array([4, 6])
    """
    x = _asarray(x1)
    left = _ufuncs["conjugate"](x) if x.dtype.kind == "c" else x
    return _into(out, _c.matmul(left[..., None, :], x2, **options)[..., 0, :])
