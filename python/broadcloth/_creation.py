"""New arrays: from values, from shapes, along axes."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

array = _c.array
asarray = _c.asarray
asanyarray = _c.asarray
ascontiguousarray = _c.ascontiguousarray
asnumpy = _c.asnumpy
from_dlpack = _c.from_dlpack
frombuffer = _c.frombuffer
empty, zeros, ones, full = _c.empty, _c.zeros, _c.ones, _c.full
arange = _c.arange
eye, tri = _c.eye, _c.tri
_ufuncs = _c.ufuncs


def copy(a: Any, order: Any = "K", subok: bool = False) -> ndarray:
    """A new array with the same elements.

    Examples
    --------
    >>> a = bc.arange(3)
    >>> b = bc.copy(a)
    >>> b[0] = 9
    >>> a
    array([0, 1, 2])
    """
    return _c.asarray(a).copy("C" if order == "K" else order)


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """An uninitialised array with the shape, type and device of `prototype`, unless others are given.

    Examples
    --------
    >>> bc.empty_like(bc.zeros((2, 3), bc.int8)).shape
    (2, 3)
    """
    return _c.full_like(prototype, None, dtype, shape, device=device)


def zeros_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> ndarray:
    """Zeros with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.zeros_like(bc.array([1.5, 2.5]))
    array([0., 0.])
    """
    return _c.full_like(a, 0, dtype, shape, device=device)


def ones_like(a: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None) -> ndarray:
    """Ones with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.ones_like(bc.array([5, 6]))
    array([1, 1])
    """
    return _c.full_like(a, 1, dtype, shape, device=device)


def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: Any = "K", subok: bool = True, shape: Any = None, *, device: Any = None
) -> ndarray:
    """`fill_value` in an array with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.full_like(bc.array([1, 2, 3]), 7)
    array([7, 7, 7])
    """
    result = _c.full_like(a, None, dtype, shape, device=device)
    result[...] = fill_value
    return result


def asfortranarray(a: Any, dtype: Any = None) -> ndarray:
    """The array itself when its first axis is the one that lies closest in memory, else such a copy.

    Examples
    --------
    >>> bc.asfortranarray(bc.zeros((2, 3))).flags.f_contiguous
    True
    """
    x = _c.asarray(a, dtype)
    return x if x.flags.f_contiguous else _c.ascontiguousarray(x.T).T


def fromfunction(function: Callable[..., Any], shape: Any, *, dtype: Any = float, device: Any = None, **kwargs: Any) -> Any:
    """Calls `function` once with the coordinates of every element, one array an axis.

    Examples
    --------
    >>> bc.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    return function(*indices(shape, dtype=dtype, device=device), **kwargs)


def fromiter(iter: Iterable[Any], dtype: Any, count: int = -1, *, device: Any = None) -> ndarray:
    """A 1-d array from an iterable.

    Examples
    --------
    >>> bc.fromiter((i * i for i in range(4)), int)
    array([0, 1, 4, 9])
    """
    return _c.asarray(np.fromiter(iter, _c.get_dtype(dtype), count), device=device)


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """`num` values from `start` to `stop`, evenly spaced.

    Parameters
    ----------
    start, stop : array_like
        The ends; arrays give one line of values for each pair.
    num : int
        How many values.
    endpoint : bool
        Whether `stop` is the last value.
    retstep : bool
        Whether the spacing is returned too.
    dtype : dtype, optional
        The result's type; integers are rounded down.
    axis : int
        Where the new axis goes when the ends are arrays.

    Raises
    ------
    ValueError
        `num` is negative.

    Examples
    --------
    >>> bc.linspace(0, 1, 5)
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """
    num = operator.index(num)
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    div = num - 1 if endpoint else num
    if _plain(start) and _plain(stop):
        if not retstep:
            return _c.linspace(start, stop, num, endpoint, dtype, device=device)
        step = (stop - start) / div if div > 0 else np.nan
        return _c.linspace(start, stop, num, endpoint, dtype, device=device), step
    first, last = _c.asarray(start) * 1.0, _c.asarray(stop) * 1.0
    loop = _c.result_type(first, last, float(num))
    delta = (last - first).astype(loop, copy=False)
    y = _c.arange(num, dtype=np.float64, device=device).astype(loop).reshape((-1,) + (1,) * delta.ndim)
    if div > 0:
        step = delta / div
        # A step too small for the type would be zero: divide first then, as NumPy does.
        y = _c.where(step == 0, (y / div) * delta, y * step)
    else:
        step = _c.full((), np.nan, loop)
        y = y * delta
    y = y + first
    if endpoint and num > 1:
        y[-1] = last
    if axis != 0:
        y = _c.moveaxis(y, 0, axis)
    if dtype is not None and np.issubdtype(_c.get_dtype(dtype), np.integer):
        y = _ufuncs["floor"](y)
    if dtype is not None:
        y = y.astype(dtype, copy=False)
    return (y, step) if retstep else y


def _plain(x: Any) -> bool:
    return isinstance(x, (int, float, np.integer, np.floating)) and not isinstance(x, bool)


def logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None, axis: int = 0, *, device: Any = None
) -> ndarray:
    """`base` to the power of evenly spaced exponents.

    Examples
    --------
    >>> bc.logspace(0, 3, 4)
    array([   1.,   10.,  100., 1000.])
    """
    exponents = linspace(start, stop, num, endpoint=endpoint, axis=axis, device=device)
    if not np.isscalar(base):
        base = _c.expand_dims(_c.asarray(base), axis)
    y = _ufuncs["power"](base, exponents)
    return y if dtype is None else y.astype(dtype, copy=False)


def geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0, *, device: Any = None
) -> ndarray:
    """`num` values from `start` to `stop`, each the same multiple of the one before.

    Raises
    ------
    ValueError
        An end is zero.

    Examples
    --------
    >>> bc.geomspace(1, 1000, 4)
    array([   1.,   10.,  100., 1000.])
    """
    a, b = (np.asarray(x.get() if isinstance(x, ndarray) else x) for x in (start, stop))
    if np.any(a == 0) or np.any(b == 0):
        raise ValueError("Geometric sequence cannot include zero")
    kind = np.result_type(a, b, float(num), np.zeros((), _c.get_dtype(dtype) if dtype is not None else np.bool_))
    a, b = np.broadcast_arrays(a.astype(kind), b.astype(kind))
    # Turning both ends by start's direction keeps real (or imaginary) sequences exactly so.
    turn = np.sign(a)
    a, b = a / turn, b / turn
    if kind.kind != "c":
        a, b = a.real, b.real
    y = logspace(
        np.log10(a).tolist() if a.ndim == 0 else np.log10(a),
        np.log10(b).tolist() if b.ndim == 0 else np.log10(b),
        num,
        endpoint,
        10.0,
        device=device,
    )
    if num > 0:
        y[0] = a
        if num > 1 and endpoint:
            y[-1] = b
    y = y * _c.asarray(turn, device=device)
    if axis != 0:
        y = _c.moveaxis(y, 0, axis)
    return y.astype(kind if dtype is None else dtype, copy=False)


def identity(n: int, dtype: Any = None, *, device: Any = None) -> ndarray:
    """The n by n identity matrix.

    Examples
    --------
    >>> bc.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return _c.eye(n, dtype=np.float64 if dtype is None else dtype, device=device)


def diag(v: Any, k: int = 0) -> ndarray:
    """A matrix with `v` on its k-th diagonal, or the k-th diagonal of a matrix.

    Raises
    ------
    ValueError
        `v` is neither 1-d nor 2-d.

    Examples
    --------
    >>> bc.diag(bc.array([1, 2]))
    array([[1, 0],
           [0, 2]])
    """
    x = _c.asarray(v)
    if x.ndim == 2:
        return _c.diagonal(x, k)
    if x.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    n = x.size + builtins.abs(k)
    result = _c.zeros((n, n), x.dtype, device=x.device)
    if x.size:
        rows = _c.arange(x.size, device=x.device)
        result[rows + builtins.max(-k, 0), rows + builtins.max(k, 0)] = x
    return result


def diagflat(v: Any, k: int = 0) -> ndarray:
    """A matrix with the flattened `v` on its k-th diagonal.

    Examples
    --------
    >>> bc.diagflat([[1, 2]])
    array([[1, 0],
           [0, 2]])
    """
    return diag(_c.asarray(v).ravel(), k)


def tril(m: Any, k: int = 0) -> ndarray:
    """A copy with zeros above the k-th diagonal of the last two axes.

    Examples
    --------
    >>> bc.tril(bc.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    x = _c.asarray(m)
    mask = _c.tri(*_matrix_shape(x), k=k, dtype=np.bool_, device=x.device)
    return _c.where(mask, x, _c.zeros((), x.dtype, device=x.device))


def triu(m: Any, k: int = 0) -> ndarray:
    """A copy with zeros below the k-th diagonal of the last two axes.

    Examples
    --------
    >>> bc.triu(bc.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    x = _c.asarray(m)
    mask = _c.tri(*_matrix_shape(x), k=k - 1, dtype=np.bool_, device=x.device)
    return _c.where(mask, _c.zeros((), x.dtype, device=x.device), x)


def _matrix_shape(x: ndarray) -> tuple[int, int]:
    """The shape of the mask: NumPy lets a 1-d operand broadcast to a square."""
    if x.ndim == 0:
        raise ValueError("tril and triu: expected at least 1 dimension, got a 0-d array")
    return (x.shape[-2], x.shape[-1]) if x.ndim > 1 else (x.shape[0], x.shape[0])


def vander(x: Any, N: int | None = None, increasing: bool = False) -> ndarray:
    """Powers of `x` as columns, the highest first unless `increasing`.

    Examples
    --------
    >>> bc.vander([1, 2, 3], 3)
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    v = _c.asarray(x)
    if v.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    n = v.size if N is None else N
    powers = _c.arange(n, device=v.device)
    kind = _c.promote_types(v.dtype, np.int64)
    columns = _ufuncs["power"](v.astype(kind)[:, None], powers if increasing else powers[::-1])
    return columns


def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
    """Coordinate arrays over the grid that 1-d arrays span.

    Raises
    ------
    ValueError
        `indexing` is neither 'xy' nor 'ij'.

    Examples
    --------
    >>> x, y = bc.meshgrid([1, 2], [3, 4, 5])
    >>> x.shape
    (3, 2)
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    n = len(xi)
    grids = [_c.asarray(x).reshape((1,) * i + (-1,) + (1,) * (n - 1 - i)) for i, x in enumerate(xi)]
    if indexing == "xy" and n > 1:
        grids[0] = grids[0].reshape((1, -1) + (1,) * (n - 2))
        grids[1] = grids[1].reshape((-1, 1) + (1,) * (n - 2))
    if not sparse:
        grids = list(_c.broadcast_arrays(*grids)) if grids else []
    return tuple(g.copy() for g in grids) if copy else tuple(grids)


def indices(dimensions: Any, dtype: Any = int, sparse: bool = False, *, device: Any = None) -> Any:
    """The coordinates of every element of a grid: one array, its first axis counts the dimensions (or a tuple of thin ones).

    Examples
    --------
    >>> bc.indices((2, 2))
    array([[[0, 0],
            [1, 1]],
    <BLANKLINE>
           [[0, 1],
            [0, 1]]])
    """
    shape = tuple(operator.index(d) for d in dimensions)
    n = len(shape)
    thin = [_c.arange(d, dtype=dtype, device=device).reshape((1,) * i + (d,) + (1,) * (n - 1 - i)) for i, d in enumerate(shape)]
    if sparse:
        return tuple(thin)
    result = _c.empty((n, *shape), dtype, device=device)
    for i, x in enumerate(thin):
        result[i] = x
    return result


class _Grid:
    """What `mgrid` and `ogrid` are: slices make coordinates."""

    def __init__(self, numpy_grid: Any) -> None:
        self._grid = numpy_grid

    def __getitem__(self, key: Any) -> Any:
        made = self._grid[key]
        return tuple(map(_c.asarray, made)) if isinstance(made, (tuple, list)) else _c.asarray(made)


mgrid = _Grid(np.mgrid)
ogrid = _Grid(np.ogrid)


def tri_indices(n: int, k: int, m: int | None, upper: bool) -> tuple[ndarray, ...]:
    """The row and column indices on and below (or above) a diagonal, found on the host: only their count depends on anything."""
    found = np.triu_indices(n, k, m) if upper else np.tril_indices(n, k, m)
    return tuple(_c.asarray(f) for f in found)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of an n by m matrix.

    Examples
    --------
    >>> bc.tril_indices(2)
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return tri_indices(n, k, m, False)


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of an n by m matrix.

    Examples
    --------
    >>> bc.triu_indices(2)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return tri_indices(n, k, m, True)


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array with `ndim` axes of length `n`.

    Examples
    --------
    >>> bc.diag_indices(2)
    (array([0, 1]), array([0, 1]))
    """
    return (_c.arange(n),) * ndim


# ---- Files ------------------------------------------------------------------------------------------------------------------------------


def save(file: Any, arr: Any, allow_pickle: bool = True) -> None:
    """Writes an array to a .npy file, which numpy.load reads too.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> bc.save(f, bc.arange(3))
    >>> _ = f.seek(0)
    >>> bc.load(f)
    array([0, 1, 2])
    """
    np.save(file, _c.asnumpy(arr), allow_pickle=allow_pickle)


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes arrays to an uncompressed .npz file.

    Examples
    --------
    >>> import io
    >>> bc.savez(io.BytesIO(), a=bc.arange(3))
    """
    arrays: dict[str, Any] = {k: _c.asnumpy(v) for k, v in kwds.items()}
    np.savez(file, *map(_c.asnumpy, args), **arrays)


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Writes arrays to a compressed .npz file.

    Examples
    --------
    >>> import io
    >>> bc.savez_compressed(io.BytesIO(), a=bc.arange(3))
    """
    arrays: dict[str, Any] = {k: _c.asnumpy(v) for k, v in kwds.items()}
    np.savez_compressed(file, *map(_c.asnumpy, args), **arrays)


def load(file: Any, mmap_mode: Any = None, allow_pickle: bool = False, *, device: Any = None) -> Any:
    """Reads a .npy file as an array, or a .npz file as a dictionary of arrays.

    Examples
    --------
    >>> import io
    >>> f = io.BytesIO()
    >>> bc.savez(f, a=bc.arange(3))
    >>> _ = f.seek(0)
    >>> bc.load(f)["a"]
    array([0, 1, 2])
    """
    found = np.load(file, mmap_mode=mmap_mode, allow_pickle=allow_pickle)
    if isinstance(found, np.ndarray):
        return _c.asarray(found, device=device)
    with found:
        return {name: _c.asarray(found[name], device=device) for name in found.files}


def loadtxt(fname: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    """Reads numbers from a text file, with numpy.loadtxt's options.

    Examples
    --------
    >>> bc.loadtxt(["1,2", "3,4"], delimiter=",")
    array([[1., 2.],
           [3., 4.]])
    """
    found = np.loadtxt(fname, *args, **kwargs)
    return [_c.asarray(f, device=device) for f in found] if isinstance(found, list) else _c.asarray(found, device=device)


def genfromtxt(fname: Any, *args: Any, device: Any = None, **kwargs: Any) -> Any:
    """Reads numbers from a text file with gaps, with numpy.genfromtxt's options.

    Examples
    --------
    >>> bc.genfromtxt(["1,", "3,4"], delimiter=",")
    array([[ 1., nan],
           [ 3.,  4.]])
    """
    return _c.asarray(np.genfromtxt(fname, *args, **kwargs), device=device)


def savetxt(fname: Any, X: Any, *args: Any, **kwargs: Any) -> None:
    """Writes a 1-d or 2-d array as text, with numpy.savetxt's options.

    Examples
    --------
    >>> import sys
    >>> bc.savetxt(sys.stdout, bc.arange(2), fmt="%d")
    0
    1
    """
    np.savetxt(fname, _c.asnumpy(X), *args, **kwargs)
