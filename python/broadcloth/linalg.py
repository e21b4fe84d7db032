"""Linear algebra, under NumPy's names: norms and products. (Solvers and decompositions are not here yet; the error says what to do.)"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._manipulation import matrix_transpose, normalized_axes
from ._math import cross as _cross
from ._namespace import face
from ._products import matmul, tensordot, vecdot
from ._products import outer as _outer

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike, DTypeLike

__all__ = [
    "LinAlgError",
    "cross",
    "diagonal",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

_reduce = _c.reduce
_ufuncs = _c.ufuncs
_asarray = _c.asarray


if not TYPE_CHECKING:
    __getattr__, __dir__ = face(
        __name__, __all__, np.linalg, "numpy.linalg.{name} takes the array too: it computes on a host copy and gives NumPy's array"
    )


def _floating(x: Any) -> ndarray:
    a = _asarray(x)
    return a.astype(np.float64) if a.dtype.kind in "biu" else a


def _squares(a: ndarray) -> ndarray:
    if a.dtype.kind == "c":
        return _ufuncs["add"](_ufuncs["square"](a.real), _ufuncs["square"](a.imag))
    return _ufuncs["square"](a)


def _vector(a: ndarray, order: Any, axis: Any, keepdims: bool) -> ndarray:
    """A vector norm over one or more axes: one reduction that reads `a` once."""
    size = _ufuncs["absolute"]
    if order is None or order == 2:
        return _ufuncs["sqrt"](_reduce("sum", _squares(a), axis, None, None, keepdims))
    if order == np.inf:
        return _reduce("max", size(a), axis, None, None, keepdims)
    if order == -np.inf:
        return _reduce("min", size(a), axis, None, None, keepdims)
    if order == 0:
        real = a.real.dtype if a.dtype.kind == "c" else a.dtype
        return _reduce("sum", (a != 0).astype(real), axis, None, None, keepdims)
    if order == 1:
        return _reduce("sum", size(a), axis, None, None, keepdims)
    try:
        power = float(order)
    except (TypeError, ValueError):
        raise ValueError(f"Invalid norm order '{order}' for vectors") from None
    total = _reduce("sum", _ufuncs["power"](size(a), power), axis, None, None, keepdims)
    return _ufuncs["power"](total, 1.0 / power)


def _matrix(a: ndarray, order: Any, axes: tuple[int, int], keepdims: bool) -> ndarray:
    row, column = axes
    if row == column:
        raise ValueError("Duplicate axes given.")
    if order in (None, "fro", "f"):
        return _vector(a, 2, axes, keepdims)
    if order in (1, -1, np.inf, -np.inf):
        inner, last = (row, column) if order in (1, -1) else (column, row)
        sums = _reduce("sum", _ufuncs["absolute"](a), inner, None, None, True)
        result = _reduce("max" if order > 0 else "min", sums, last, None, None, True)
        return result if keepdims else result.squeeze(axes)
    if order in (2, -2, "nuc"):
        # Singular values are the host's work, by NumPy's LAPACK; float16 and bfloat16 have none there.
        host = _c.asnumpy(a if a.dtype.itemsize >= 4 else a.astype(np.float32))
        values = np.linalg.norm(host, order, axes, keepdims)
        return _asarray(np.asarray(values).astype(a.real.dtype), device=a.device)
    raise ValueError("Invalid norm order for matrices.")


def norm(x: ArrayLike, ord: float | str | None = None, axis: AxisLike = None, keepdims: bool = False) -> ndarray:
    """The norm of vectors or matrices.

    Parameters
    ----------
    x : array_like
        1-d or 2-d, unless `axis` or no `ord` is given.
    ord : {None, number, inf, -inf, 'fro', 'nuc'}
        None is the 2-norm of all elements. Of a matrix: 'fro', 'nuc', 1, -1, 2, -2, inf, -inf; those of singular values ('nuc', 2, -2) are
        computed on the host.
    axis : None, int or pair of ints
        One axis holds vectors, a pair matrices.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.

    Raises
    ------
    ValueError
        `ord` is no norm, or the dimensions do not fit it.
    LinAlgError
        The singular values do not converge.

    Examples
    --------
    >>> bc.linalg.norm(bc.array([3.0, 4.0]))
    array(5.)
    """
    a = _floating(x)
    if axis is None:
        if ord is None or (ord in ("fro", "f") and a.ndim == 2) or (ord == 2 and a.ndim == 1):
            return _vector(a, 2, None, keepdims)
        axes: tuple[int, ...] = tuple(range(a.ndim))
    else:
        try:
            axes = normalized_axes(axis, a.ndim)
        except TypeError:
            raise TypeError("'axis' must be None, an integer or a tuple of integers") from None
    if len(axes) == 1:
        if isinstance(ord, str):
            raise ValueError(f"Invalid norm order '{ord}' for vectors")
        return _vector(a, ord, axes[0], keepdims)
    if len(axes) == 2:
        return _matrix(a, ord, (axes[0], axes[1]), keepdims)
    raise ValueError("Improper number of dimensions to norm.")


def vector_norm(x: ArrayLike, /, *, axis: AxisLike = None, keepdims: bool = False, ord: float | str = 2) -> ndarray:
    """The norm of vectors, which may lie over several axes.

    Examples
    --------
    >>> bc.linalg.vector_norm(bc.array([[3.0], [4.0]]))
    array(5.)
    """
    a = _floating(x)
    return _vector(a, ord, None if axis is None else normalized_axes(axis, a.ndim), keepdims)


def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: float | str = "fro") -> ndarray:
    """The norm of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.matrix_norm(bc.array([[3.0, 0.0], [0.0, 4.0]]))
    array(5.)
    """
    a = _floating(x)
    if a.ndim < 2:
        raise LinAlgError(f"{a.ndim}-dimensional array given. Array must be at least two-dimensional")
    return _matrix(a, ord, (a.ndim - 2, a.ndim - 1), keepdims)


def cross(x1: ArrayLike, x2: ArrayLike, /, *, axis: int = -1) -> ndarray:
    """The cross product of vectors with three components.

    Examples
    --------
    >>> bc.linalg.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    return _cross(x1, x2, axis=axis)


def outer(x1: ArrayLike, x2: ArrayLike, /) -> ndarray:
    """All products of the elements of two vectors.

    Raises
    ------
    ValueError
        An operand is not 1-d.

    Examples
    --------
    >>> bc.linalg.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    a, b = _asarray(x1), _asarray(x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"Input arrays must be one-dimensional, but they are {a.ndim} and {b.ndim}-dimensional.")
    return _outer(a, b)


def diagonal(x: ArrayLike, /, *, offset: int = 0) -> ndarray:
    """A view of the diagonals of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.diagonal(bc.eye(2))
    array([1., 1.])
    """
    return _c.diagonal(x, offset, -2, -1)


def trace(x: ArrayLike, /, *, offset: int = 0, dtype: DTypeLike = None) -> ndarray:
    """The sums of the diagonals of the matrices in the last two axes.

    Examples
    --------
    >>> bc.linalg.trace(bc.eye(3))
    array(3.)
    """
    return _asarray(x).trace(offset, -2, -1, dtype)


def matrix_power(a: ArrayLike, n: int) -> ndarray:
    """A square matrix to an integer power, by repeated squaring. Negative powers are those of the inverse, which the host computes.

    Raises
    ------
    LinAlgError
        The matrix is not square, or has no inverse and `n` is negative.

    Examples
    --------
    >>> bc.linalg.matrix_power([[0, 1], [1, 1]], 5)
    array([[3, 5],
           [5, 8]])
    """
    m = _asarray(a)
    if m.ndim < 2:
        raise LinAlgError(f"{m.ndim}-dimensional array given. Array must be at least two-dimensional")
    if m.shape[-1] != m.shape[-2]:
        raise LinAlgError("Last 2 dimensions of the array must be square")
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError("exponent must be an integer") from None
    if n < 0:
        m, n = _asarray(np.linalg.inv(_c.asnumpy(m)), device=m.device), -n
    if n == 0:
        return _c.broadcast_to(_c.eye(m.shape[-1], dtype=m.dtype, device=m.device), m.shape).copy()
    result = None
    while n:
        if n & 1:
            result = m if result is None else _c.matmul(result, m)
        n >>= 1
        if n:
            m = _c.matmul(m, m)
    return result.copy() if result is m else result  # type: ignore[union-attr, return-value]


def multi_dot(arrays: Sequence[ArrayLike], *, out: ndarray | None = None) -> ndarray:
    """The product of several matrices, in the order that takes the fewest multiplications.

    Examples
    --------
    >>> bc.linalg.multi_dot([bc.ones((2, 3)), bc.ones((3, 4)), bc.ones((4, 1))])
    array([[12.],
           [12.]])
    """
    n = len(arrays)
    if n < 2:
        raise ValueError("Expecting at least two arrays.")
    parts = [_asarray(a) for a in arrays]
    first, last = parts[0].ndim, parts[-1].ndim
    parts[0] = parts[0][None, :] if first == 1 else parts[0]
    parts[-1] = parts[-1][:, None] if last == 1 else parts[-1]
    for p in parts:
        if p.ndim != 2:
            raise LinAlgError(f"{p.ndim}-dimensional array given. Array must be two-dimensional")
    sizes = [p.shape[0] for p in parts] + [parts[-1].shape[1]]
    # The textbook table: best[i][j] is the cheapest way to multiply parts i to j, cut[i][j] where it is split.
    best = [[0.0] * n for _ in range(n)]
    cut = [[0] * n for _ in range(n)]
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            costs = [(best[i][k] + best[k + 1][j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)]
            best[i][j], cut[i][j] = min(costs)

    def product(i: int, j: int) -> ndarray:
        return parts[i] if i == j else _c.matmul(product(i, cut[i][j]), product(cut[i][j] + 1, j))

    result = product(0, n - 1)
    if first == 1:
        result = result[0]
    if last == 1:
        result = result[..., 0]
    if out is None:
        return result
    _c.copyto(out, result)
    return out
