"""New arrays: from values, from shapes, along axes."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex, overload

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike, DeviceLike, DTypeLike, Order, ShapeLike

array = _c.array
asarray = _c.asarray
asanyarray = _c.asanyarray
ascontiguousarray = _c.ascontiguousarray
asnumpy = _c.asnumpy
from_dlpack = _c.from_dlpack
frombuffer = _c.frombuffer
empty, zeros, ones, full = _c.empty, _c.zeros, _c.ones, _c.full
arange = _c.arange
eye, tri = _c.eye, _c.tri
_ufuncs = _c.ufuncs


def copy(a: ArrayLike, order: Order = "K", subok: bool = False) -> ndarray:
    """A new array with the same elements.

    Examples
    --------
    >>> a = bc.arange(3)
    >>> b = bc.copy(a)
    >>> b[0] = 9
    >>> a
    array([0, 1, 2])
    """
    return (_c.asanyarray if subok else _c.asarray)(a).copy(order)


def empty_like(
    prototype: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """An uninitialised array with the shape, type and device of `prototype`, unless others are given.

    Examples
    --------
    >>> bc.empty_like(bc.zeros((2, 3), bc.int8)).shape
    (2, 3)
    """
    return _c.full_like(prototype, None, dtype, shape, device=device, order=order, subok=subok)


def zeros_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """Zeros with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.zeros_like(bc.array([1.5, 2.5]))
    array([0., 0.])
    """
    return _c.full_like(a, 0, dtype, shape, device=device, order=order, subok=subok)


def ones_like(
    a: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """Ones with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.ones_like(bc.array([5, 6]))
    array([1, 1])
    """
    return _c.full_like(a, 1, dtype, shape, device=device, order=order, subok=subok)


def full_like(
    a: ArrayLike,
    fill_value: ArrayLike,
    dtype: DTypeLike = None,
    order: Order = "K",
    subok: bool = True,
    shape: ShapeLike | None = None,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """`fill_value` in an array with the shape, type and device of `a`, unless others are given.

    Examples
    --------
    >>> bc.full_like(bc.array([1, 2, 3]), 7)
    array([7, 7, 7])
    """
    result = _c.full_like(a, None, dtype, shape, device=device, order=order, subok=subok)
    _c.copyto(result, fill_value, casting="unsafe")
    return result


def asfortranarray(a: ArrayLike, dtype: DTypeLike = None, *, like: Any = None) -> ndarray:
    """The array itself when its first axis is the one that lies closest in memory, else such a copy.

    Examples
    --------
    >>> bc.asfortranarray(bc.zeros((2, 3))).flags.f_contiguous
    True
    """
    x = _c.asarray(a, dtype)
    if x.ndim == 0:
        return x.reshape(1)
    return x if x.flags.f_contiguous else x.copy("F")


def fromfunction(
    function: Callable[..., Any],
    shape: ShapeLike,
    *,
    dtype: DTypeLike = float,
    like: Any = None,
    device: DeviceLike = None,
    **kwargs: Any,
) -> Any:
    """Calls `function` once with the coordinates of every element, one array an axis.

    Examples
    --------
    >>> bc.fromfunction(lambda i, j: i * 10 + j, (2, 3), dtype=int)
    array([[ 0,  1,  2],
           [10, 11, 12]])
    """
    return function(*indices(shape, dtype=dtype, device=device), **kwargs)


def fromiter(iter: Iterable[Any], dtype: DTypeLike, count: int = -1, *, device: DeviceLike = None, like: Any = None) -> ndarray:
    """A 1-d array from an iterable.

    Examples
    --------
    >>> bc.fromiter((i * i for i in range(4)), int)
    array([0, 1, 4, 9])
    """
    return _c.asarray(np.fromiter(iter, _c.get_dtype(dtype), count), device=device)


@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: Literal[False] = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> ndarray: ...
@overload
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    *,
    retstep: Literal[True],
    dtype: DTypeLike = None,
    axis: int = 0,
    device: DeviceLike = None,
) -> tuple[ndarray, Any]: ...
def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
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
    values = _c.linspace(start, stop, num, endpoint, dtype, axis, device=device)
    if not retstep:
        return values
    div = num - 1 if endpoint else num
    # Python's numbers take the other one's precision.
    first, last = (v if isinstance(v, (int, float, complex)) else _c.asarray(v) for v in (start, stop))
    width: Any = last * 1.0 - first
    step = width / div if div > 0 else np.nan
    return values, np.float64(step) if isinstance(step, float) else step


def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    base: ArrayLike = 10.0,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
) -> ndarray:
    """`base` to the power of evenly spaced exponents.

    Examples
    --------
    >>> bc.logspace(0, 3, 4)
    array([   1.,   10.,  100., 1000.])
    """
    return _c.logspace(start, stop, num, endpoint, base, dtype, axis, device=device)


def geomspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: SupportsIndex = 50,
    endpoint: bool = True,
    dtype: DTypeLike = None,
    axis: int = 0,
    *,
    device: DeviceLike = None,
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
    return _c.geomspace(start, stop, num, endpoint, dtype, axis, device=device)


def identity(n: int, dtype: DTypeLike = None, *, device: DeviceLike = None, like: Any = None) -> ndarray:
    """The n by n identity matrix.

    Examples
    --------
    >>> bc.identity(2)
    array([[1., 0.],
           [0., 1.]])
    """
    return _c.identity(n, dtype, device=device)


def diag(v: ArrayLike, k: int = 0) -> ndarray:
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
    return _c.diag(v, k)


def diagflat(v: ArrayLike, k: int = 0) -> ndarray:
    """A matrix with the flattened `v` on its k-th diagonal.

    Examples
    --------
    >>> bc.diagflat([[1, 2]])
    array([[1, 0],
           [0, 2]])
    """
    return _c.diagflat(v, k)


def tril(m: ArrayLike, k: int = 0) -> ndarray:
    """A copy with zeros above the k-th diagonal of the last two axes.

    Examples
    --------
    >>> bc.tril(bc.ones((2, 2)))
    array([[1., 0.],
           [1., 1.]])
    """
    return _c.tril(m, k)


def triu(m: ArrayLike, k: int = 0) -> ndarray:
    """A copy with zeros below the k-th diagonal of the last two axes.

    Examples
    --------
    >>> bc.triu(bc.ones((2, 2)))
    array([[1., 1.],
           [0., 1.]])
    """
    return _c.triu(m, k)


def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> ndarray:
    """Powers of `x` as columns, the highest first unless `increasing`.

    Examples
    --------
    >>> bc.vander([1, 2, 3], 3)
    array([[1, 1, 1],
           [4, 2, 1],
           [9, 3, 1]])
    """
    return _c.vander(x, N, increasing)


def meshgrid(*xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> tuple[ndarray, ...]:
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
    return tuple(_c.meshgrid(xi, indexing, sparse, copy))


@overload
def indices(dimensions: ShapeLike, dtype: DTypeLike = int, sparse: Literal[False] = False, *, device: DeviceLike = None) -> ndarray: ...
@overload
def indices(dimensions: ShapeLike, dtype: DTypeLike = int, *, sparse: Literal[True], device: DeviceLike = None) -> tuple[ndarray, ...]: ...
def indices(dimensions: ShapeLike, dtype: DTypeLike = int, sparse: bool = False, *, device: DeviceLike = None) -> Any:
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
    return _c.indices(dimensions, dtype, sparse, device=device)


class _Grid:
    """What `mgrid` and `ogrid` are: slices make coordinates."""

    def __init__(self, numpy_grid: Any) -> None:
        self._grid = numpy_grid

    def __getitem__(self, key: Any) -> Any:
        if self._grid is np.mgrid and isinstance(key, tuple) and key:
            thin = [_c.asarray(line) for line in np.ogrid[key]]
            if thin[0].device.type != "cpu":  # only the lines go to the device
                return _c.stack(_c.broadcast_arrays(*thin))
        made = self._grid[key]
        return tuple(map(_c.asarray, made)) if isinstance(made, (tuple, list)) else _c.asarray(made)


mgrid = _Grid(np.mgrid)
ogrid = _Grid(np.ogrid)


def tri_indices(n: int, k: int, m: int | None, upper: bool) -> tuple[ndarray, ...]:
    """The row and column indices on and below (or above) a diagonal."""
    low = _c.tri(max(n, 0), None if m is None else max(m, 0), k - 1 if upper else k, np.bool_)
    return tuple(_c.nonzero(~low if upper else low))


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


def mask_indices(n: int, mask_func: Callable[..., Any], k: Any = 0) -> tuple[ndarray, ...]:
    """The indices of what a function like triu keeps of an n by n matrix.

    Examples
    --------
    >>> bc.mask_indices(2, bc.triu)
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return tuple(_c.nonzero(_c.asarray(mask_func(_c.ones((n, n), np.int64), k)) != 0))


def _tri_indices_from(arr: Any, k: int, upper: bool) -> tuple[ndarray, ...]:
    shape = arr.shape if isinstance(arr, ndarray) else np.shape(arr)
    if len(shape) != 2:
        raise ValueError("input array must be 2-d")
    return tri_indices(shape[0], k, shape[1], upper)


def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the lower triangle of a matrix of this shape.

    Examples
    --------
    >>> bc.tril_indices_from(bc.zeros((2, 2)))
    (array([0, 1, 1]), array([0, 0, 1]))
    """
    return _tri_indices_from(arr, k, False)


def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[ndarray, ...]:
    """The indices of the upper triangle of a matrix of this shape.

    Examples
    --------
    >>> bc.triu_indices_from(bc.zeros((2, 2)))
    (array([0, 0, 1]), array([0, 1, 1]))
    """
    return _tri_indices_from(arr, k, True)


def diag_indices_from(arr: ArrayLike) -> tuple[ndarray, ...]:
    """The indices of the main diagonal of an array whose axes are equally long.

    Raises
    ------
    ValueError
        Fewer than two dimensions, or extents that differ.

    Examples
    --------
    >>> bc.diag_indices_from(bc.zeros((2, 2)))
    (array([0, 1]), array([0, 1]))
    """
    shape = arr.shape if isinstance(arr, ndarray) else np.shape(arr)  # type: ignore[arg-type]
    if len(shape) < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(shape[0], len(shape))


def asarray_chkfinite(a: ArrayLike, dtype: DTypeLike = None, order: Order | None = None, *, device: DeviceLike = None) -> ndarray:
    """The value as an array, which is looked at: all its elements must be finite.

    Raises
    ------
    ValueError
        An element is infinite or NaN.

    Examples
    --------
    >>> bc.asarray_chkfinite([1, 2])
    array([1, 2])
    """
    x = _c.asarray(a, dtype, order, device=device)
    if x.dtype.kind not in "biu" and not bool(_c.reduce("all", _c.ufuncs["isfinite"](x))):
        raise ValueError("array must not contain infs or NaNs")
    return x


_REQUIREMENTS = {name: flag for flag, names in {
    "C": "C C_CONTIGUOUS CONTIGUOUS", "F": "F F_CONTIGUOUS FORTRAN", "A": "A ALIGNED", "W": "W WRITEABLE", "O": "O OWNDATA",
    "E": "E ENSUREARRAY",
}.items() for name in names.split()}  # fmt: skip


def require(a: ArrayLike, dtype: DTypeLike = None, requirements: Any = None, *, like: Any = None) -> ndarray:
    """The value as an array that meets requirements; a copy only where it does not.

    Parameters
    ----------
    a : array_like
    dtype : dtype, optional
    requirements : str or sequence of str, optional
        'C' and 'F' (contiguous in this order), 'A' (aligned, as all arrays are), 'W' (writeable), 'O' (owns its memory), 'E' (no subclass).
    like : optional
        Ignored; for programs that pass it to NumPy's function.

    Raises
    ------
    KeyError
        There is no such requirement.
    ValueError
        Both 'C' and 'F' are required.

    Examples
    --------
    >>> bc.require(bc.zeros((2, 3)), requirements=["F", "W"]).flags.f_contiguous
    True
    """
    wanted = {_REQUIREMENTS[name.upper()] for name in requirements or ()}
    if wanted >= {"C", "F"}:
        raise ValueError('Cannot specify both "C" and "F" order')
    order: Any = "F" if "F" in wanted else "C" if "C" in wanted else "A"
    x = _c.array(a, dtype, order=order, copy=None, subok="E" not in wanted)
    return x.copy(order) if any(not x.flags[flag] for flag in wanted - {"C", "F", "E"}) else x


class _Joiner:
    """What `r_` and `c_` are: arrays, numbers and ranges between brackets, joined."""

    def __init__(self, axis: int, ndmin: int, trans1d: int) -> None:
        self._axis, self._ndmin, self._trans1d = axis, ndmin, trans1d

    def __len__(self) -> int:
        return 0

    @staticmethod
    def _range(s: slice) -> ndarray:
        start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
        if isinstance(step, complex):
            return _c.linspace(start, s.stop, int(abs(step)), True)
        return _c.arange(start, s.stop, step)

    def _placed(self, x: ndarray, ndmin: int, trans1d: int) -> ndarray:
        """The array with axes of extent 1 added, its own ones where `trans1d` says."""
        own, missing = x.ndim, ndmin - x.ndim
        if missing <= 0:
            return x
        first = trans1d if trans1d >= 0 else missing + trans1d + 1
        return x.reshape((1,) * first + x.shape + (1,) * (missing - first)) if own else x.reshape((1,) * ndmin)

    def __getitem__(self, key: Any) -> ndarray:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self._axis, self._ndmin, self._trans1d
        if items and isinstance(items[0], str):
            text = items.pop(0)
            try:
                given = [int(part) for part in text.split(",")]
            except ValueError:
                raise ValueError(
                    f"special directives must be integers like '1' or '0,2', got {text!r}; broadcloth has no matrices"
                ) from None
            axis = given[0]
            ndmin = given[1] if len(given) > 1 else ndmin
            trans1d = given[2] if len(given) > 2 else trans1d
        arrays, types = [], []
        for item in items:
            if isinstance(item, str):
                raise ValueError("special directives must be the first entry.")
            x = self._range(item) if isinstance(item, slice) else _c.asarray(item)
            types.append(item if isinstance(item, (int, float, complex)) else x.dtype)
            arrays.append(self._placed(x, max(ndmin, 1), trans1d if x.ndim else -1))
        dtype = np.result_type(*types) if types else None
        for k, number in enumerate(types):
            if isinstance(number, int):
                arrays[k] = _c.asarray(number, dtype=dtype).reshape(arrays[k].shape)  # raises where the type cannot hold it
        return _c.concatenate(arrays, axis, dtype=dtype)


r_ = _Joiner(0, 1, -1)
c_ = _Joiner(-1, 2, 0)
