"""Products of vectors and matrices."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._manipulation import normalized_axes

if TYPE_CHECKING:
    from .typing import ArrayLike, DTypeLike

_asarray = _c.asarray
_reduce = _c.reduce
_ufuncs = _c.ufuncs

_F = TypeVar("_F", bound=Callable[..., Any])


def _generalised(core: str) -> Callable[[_F], _F]:
    """The ufunc of a function over vectors or matrices, with its signature, such as "(n),(n)->()"."""

    def ufunc_of(function: _F) -> _F:
        made: _F = _c._generalised_ufunc(function.__name__, function, core)
        return made

    return ufunc_of


matmul = _generalised("(n?,k),(k,m?)->(n?,m?)")(_c.matmul)
dot = _c.dot


def _finish(result: ndarray, out: Any, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    if dtype is not None:
        result = result.astype(dtype, casting=casting, copy=False)
    if out is None:
        return result
    _c.copyto(out, result, casting)
    return out


def vdot(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """The dot product of two flattened arrays, the first one conjugated.

    Examples
    --------
    >>> bc.vdot([1, 2], [3, 4])
    array(11)
    """
    return _c.vdot(a, b)


def inner(a: ArrayLike, b: ArrayLike, /) -> ndarray:
    """Sums of products over the last axes.

    Examples
    --------
    >>> bc.inner([1, 2, 3], [0, 1, 0])
    array(2)
    """
    return _c.inner(a, b)


def outer(a: ArrayLike, b: ArrayLike, out: ndarray | None = None) -> ndarray:
    """All products of the elements of two flattened arrays.

    Examples
    --------
    >>> bc.outer([1, 2], [3, 4])
    array([[3, 4],
           [6, 8]])
    """
    return _c.outer(a, b, out)


def tensordot(a: ArrayLike, b: ArrayLike, axes: Any = 2) -> ndarray:
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


def kron(a: ArrayLike, b: ArrayLike) -> ndarray:
    """The Kronecker product.

    Examples
    --------
    >>> bc.kron([1, 10], [1, 2])
    array([ 1,  2, 10, 20])
    """
    return _c.kron(a, b)


def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None, out: ndarray | None = None) -> ndarray:
    """The sum of a diagonal.

    Examples
    --------
    >>> bc.trace(bc.eye(3))
    array(3.)
    """
    return _c.trace(a, offset, axis1, axis2, dtype, out)


def _core_axes(name: str, entry: Any, core: int, i: int, ndim: int) -> tuple[int, ...]:
    """One entry of `axes=`: where the core dimensions of operand `i` are, as indices from 0."""
    try:
        items = entry if isinstance(entry, tuple) else (operator.index(entry),)
    except TypeError:
        what = "a tuple, or an integer where there is one core dimension"
        raise TypeError(f"{name}: item {i} of axes should be {what}; got {entry!r}") from None
    if len(items) != core:
        raise np.exceptions.AxisError(f"{name}: operand {i} has {core} core dimensions, but axes specifies {len(items)}")
    places = tuple(normalized_axes(operator.index(item), ndim)[0] for item in items)
    if len(set(places)) != core:
        raise ValueError(f"{name}: item {i} of axes names an axis twice: {entry!r}")
    return places


class _Placed:
    """The operands of a generalised ufunc with their core dimensions last, and where those of the result go."""

    def __init__(self, name: str, operands: tuple[Any, Any], out: Any, cores: tuple[int, int, int], axes: Any, axis: Any, keepdims: bool):
        if isinstance(out, tuple) and len(out) == 1:
            out = out[0]
        core = cores[2] + bool(keepdims)
        if isinstance(axis, bool):
            raise TypeError(f"{name}: an integer is required for the axis")
        if axis is not None:
            if axes is not None:
                raise TypeError(f"{name}: cannot specify both 'axis' and 'axes'")
            axes = [(operator.index(axis),)] * 2 + [(operator.index(axis),) * core]
        elif axes is None:
            axes = [tuple(range(-n, 0)) for n in (*cores[:2], core)]
        if not isinstance(axes, list):
            raise TypeError(f"{name}: axes should be a list, got {type(axes).__name__}")
        if len(axes) == 2 and cores[2] == 0 and name == "vecdot":
            axes = [*axes, (-1,) * core]
        if len(axes) != 3:
            raise ValueError(
                f"{name}: axes should have an entry for each of 2 inputs and 1 output, got {len(axes)}; "
                "that of an output without core dimensions may be left out"
            )
        self.operands = []
        loop = 0
        for i, (x, n) in enumerate(zip(operands, cores, strict=False)):
            a = _asarray(x)
            if a.ndim < n:
                raise ValueError(f"{name}: Input operand {i} does not have enough dimensions (has {a.ndim}, {n} are required)")
            places = _core_axes(name, axes[i], n, i, a.ndim)
            self.operands.append(_c.moveaxis(a, places, tuple(range(-n, 0))) if n else a)
            loop = max(loop, a.ndim - n)
        self.keep = bool(keepdims)
        self.places = _core_axes(name, axes[2], core, 2, loop + core)
        self.last = tuple(range(-core, 0))
        self.out = None
        if out is not None:
            if out.ndim < loop + core:
                raise ValueError(f"{name}: output parameter has {out.ndim} dimensions, but the result has {loop + core}")
            self.out = _c.moveaxis(out, self.places, self.last) if core else out
            if keepdims:
                self.out = self.out[..., 0]

    def result(self, r: ndarray) -> ndarray:
        if self.keep:
            r = r[..., None]
        return _c.moveaxis(r, self.last, self.places) if self.places else r


def matrices_of(x1: ndarray, x2: ndarray, out: ndarray | None, axes: Any) -> tuple[Any, ...]:
    """Operands and output of a matmul with `axes`, their matrices last, and what places the result."""
    cores = (min(x1.ndim, 2), min(x2.ndim, 2))
    p = _Placed("matmul", (x1, x2), out, (*cores, sum(cores) - 2), axes, None, False)
    return (*p.operands, p.out, p.result)


def _product(
    name: str, cores: tuple[int, int, int], x1: Any, x2: Any, out: Any, axes: Any, axis: Any, keepdims: bool, options: Any
) -> ndarray:
    if not isinstance(keepdims, (bool, np.bool_)):
        raise TypeError(f"{name}: expected a bool for keepdims, got {type(keepdims).__name__}")
    function = getattr(_c, name)
    if axes is None and axis is None and not keepdims:
        return _finish(function(x1, x2), out, **options)
    p = _Placed(name, (x1, x2), out, cores, axes, axis, keepdims)
    made = p.result(_finish(function(*p.operands), p.out, **options))
    return made if out is None else out[0] if isinstance(out, tuple) else out


@_generalised("(n),(n)->()")
def vecdot(
    x1: ArrayLike,
    x2: ArrayLike,
    /,
    out: ndarray | None = None,
    *,
    axes: Any = None,
    axis: int | None = None,
    keepdims: bool = False,
    **options: Any,
) -> ndarray:
    """Sums of products along one axis, the first operand conjugated.

    Parameters
    ----------
    x1, x2 : array_like
    out : ndarray, optional
    axes : list of ints or tuples, optional
        The axis of each operand (and of the result with `keepdims`).
    axis : int, optional
        The axis of both operands; the last one unless given.
    keepdims : bool
        Whether that axis stays, with extent 1.

    Examples
    --------
    >>> bc.vecdot([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    """
    if out is None and axes is None and axis is None and not keepdims and not options:
        return _c.vecdot(x1, x2)
    return _product("vecdot", (1, 1, 0), x1, x2, out, axes, axis, keepdims, options)


@_generalised("(m,n),(n)->(m)")
def matvec(x1: ArrayLike, x2: ArrayLike, /, out: ndarray | None = None, *, axes: Any = None, **options: Any) -> ndarray:
    """Matrices times vectors, over leading axes that broadcast.

    `axes` lists where the dimensions of matrix, vector and result are.

    Examples
    --------
    >>> bc.matvec([[1, 2], [3, 4]], [1, 1])
    array([3, 7])
    >>> bc.matvec([[1, 2], [3, 4]], [1, 1], axes=[(-1, -2), -1, -1])
    array([4, 6])
    """
    return _product("matvec", (2, 1, 1), x1, x2, out, axes, None, False, options)


@_generalised("(n),(n,m)->(m)")
def vecmat(x1: ArrayLike, x2: ArrayLike, /, out: ndarray | None = None, *, axes: Any = None, **options: Any) -> ndarray:
    """Vectors (conjugated) times matrices, over leading axes that broadcast.

    `axes` lists where the dimensions of vector, matrix and result are.

    Examples
    --------
    >>> bc.vecmat([1, 1], [[1, 2], [3, 4]])
    array([4, 6])
    """
    return _product("vecmat", (1, 2, 1), x1, x2, out, axes, None, False, options)
