"""Products of vectors and matrices."""

from __future__ import annotations

from typing import Any

from . import _broadcloth as _c
from ._broadcloth import ndarray

_asarray = _c.asarray
_reduce = _c.reduce
_ufuncs = _c.ufuncs

matmul = _c.matmul
dot = _c.dot


def _finish(result: ndarray, out: Any, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    if dtype is not None:
        result = result.astype(dtype, casting=casting, copy=False)
    if out is None:
        return result
    _c.copyto(out, result, casting)
    return out


def vdot(a: Any, b: Any, /) -> ndarray:
    """The dot product of two flattened arrays, the first one conjugated.

    Examples
    --------
    >>> bc.vdot([1, 2], [3, 4])
    array(11)
    """
    return _c.vdot(a, b)


def inner(a: Any, b: Any, /) -> ndarray:
    """Sums of products over the last axes.

    Examples
    --------
    >>> bc.inner([1, 2, 3], [0, 1, 0])
    array(2)
    """
    return _c.inner(a, b)


def outer(a: Any, b: Any, out: Any = None) -> ndarray:
    """All products of the elements of two flattened arrays.

    Examples
    --------
    >>> bc.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    return _c.outer(a, b, out)


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
    return _c.tensordot(a, b, axes)


def kron(a: Any, b: Any) -> ndarray:
    """The Kronecker product.

    Examples
    --------
    >>> bc.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    return _c.kron(a, b)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None, out: Any = None) -> ndarray:
    """The sum of a diagonal.

    Examples
    --------
    >>> bc.trace(bc.eye(3))
    array(3.)
    """
    return _c.trace(a, offset, axis1, axis2, dtype, out)


def vecdot(x1: Any, x2: Any, /, out: Any = None, *, axis: int = -1, **options: Any) -> ndarray:
    """Sums of products along one axis, the first operand conjugated.

    Examples
    --------
    >>> bc.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _finish(_c.vecdot(x1, x2, axis=axis), out, **options)


def matvec(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Matrices times vectors, over leading axes that broadcast.

    Examples
    --------
    >>> bc.matvec([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    return _finish(_c.matvec(x1, x2), out, **options)


def vecmat(x1: Any, x2: Any, /, out: Any = None, **options: Any) -> ndarray:
    """Vectors (conjugated) times matrices, over leading axes that broadcast.

    Examples
    --------
    >>> bc.vecmat([1, 1], [[1, 2], [3, 4]])
    array([4, 6])
    """
    return _finish(_c.vecmat(x1, x2), out, **options)
