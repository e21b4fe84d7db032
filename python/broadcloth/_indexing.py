"""Selecting elements by index and by mask, and questions about arrays."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike, DeviceLike, DTypeLike, ShapeLike

_asarray = _c.asarray
_ufuncs = _c.ufuncs

nonzero = _c.nonzero
put = _c.put
s_, index_exp = np.s_, np.index_exp
ndindex = np.ndindex


def isfortran(a: ndarray) -> bool:
    """Tells whether the first axis lies closest in memory, and not the last.

    Examples
    --------
    >>> bc.isfortran(bc.zeros((2, 3)).T)
    True
    """
    return bool(a.flags.fnc)


def ndim(a: ArrayLike) -> int:
    """The number of dimensions.

    Examples
    --------
    >>> bc.ndim(bc.zeros((2, 3)))
    2
    """
    return a.ndim if isinstance(a, ndarray) else int(np.ndim(a))  # type: ignore[arg-type]


def shape(a: ArrayLike) -> tuple[int, ...]:
    """The extents.

    Examples
    --------
    >>> bc.shape(bc.zeros((2, 3)))
    (2, 3)
    """
    return a.shape if isinstance(a, ndarray) else tuple(np.shape(a))  # type: ignore[arg-type]


def size(a: ArrayLike, axis: int | tuple[int, ...] | None = None) -> int:
    """The number of elements, or along some axes.

    Examples
    --------
    >>> bc.size(bc.zeros((2, 3))), bc.size(bc.zeros((2, 3)), 1)
    (6, 3)
    """
    if axis is None and isinstance(a, ndarray):
        return a.size
    extents = shape(a)
    if axis is None:
        return int(np.prod(extents, dtype=np.int64))
    axes = (axis,) if isinstance(axis, (int, np.integer)) else axis
    return int(np.prod([extents[normalize_axis_index(d, len(extents))] for d in axes], dtype=np.int64))


def astype(x: ArrayLike, dtype: DTypeLike, /, *, copy: bool = True, device: DeviceLike = None) -> ndarray:
    """The elements as another type.

    Raises
    ------
    TypeError
        `x` is no array.

    Examples
    --------
    >>> bc.astype(bc.array([1, 2]), bc.float32)
    array([1., 2.], dtype=float32)
    """
    if not isinstance(x, (ndarray, np.ndarray, np.generic)):
        raise TypeError(f"Input should be a NumPy array. It is of type {type(x)}.")
    return _asarray(x).astype(dtype, copy=copy, device=device)


def may_share_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Tells whether two arrays may share memory.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.may_share_memory(a[:2], a[1:])
    True
    """
    _check_work(max_work)
    return _c.shares_memory(_with_memory(a), _with_memory(b))


def _check_work(max_work: Any) -> None:
    if max_work is not None and not -(2**63) <= operator.index(max_work) < 2**63:
        raise OverflowError("max_work: expected an integer of 64 bits")


def _with_memory(x: Any) -> Any:
    """The array that an object stands for."""
    if isinstance(x, (ndarray, np.ndarray)):
        return x
    made = x.__array__() if hasattr(type(x), "__array__") else np.asarray(x)
    return made if isinstance(made, (ndarray, np.ndarray)) else np.asarray(made)


def _on_host(x: Any) -> Any:
    """NumPy's view of an array in host memory; None of others."""
    if isinstance(x, np.ndarray):
        return x
    return np.asarray(memoryview(x)) if x.device.type == "cpu" and x.dtype.kind in "biufc" else None


class _Place:
    """What NumPy needs to know of an array to say where its elements are; nothing is read there."""

    def __init__(self, place: tuple[tuple[int, ...], tuple[int, ...], int, int]):
        shape, strides, start, item = place
        self.__array_interface__ = {
            "version": 3, "shape": shape, "strides": strides, "typestr": f"|V{item}", "data": ((1 << 40) + start, True)
        }  # fmt: skip


def places_meet(a: Any, b: Any, max_work: Any) -> bool:
    """NumPy's exact answer for two places in one storage."""
    return np.shares_memory(np.asarray(_Place(a)), np.asarray(_Place(b)), max_work)


def shares_memory(a: Any, b: Any, max_work: Any = None) -> bool:
    """Tells whether two arrays have an element in common.

    Parameters
    ----------
    a, b : ndarray
    max_work : int, optional
        How many candidates are looked at, at most; the exact answer can take long for arrays of many odd strides.

    Raises
    ------
    TooHardError
        `max_work` was not enough.

    Examples
    --------
    >>> a = bc.arange(8)
    >>> bc.shares_memory(a[::2], a[1::2]), bc.may_share_memory(a[::2], a[1::2])
    (False, True)
    """
    _check_work(max_work)
    a, b = _with_memory(a), _with_memory(b)
    if isinstance(a, ndarray) != isinstance(b, ndarray):
        places = _on_host(a), _on_host(b)
        if places[0] is not None and places[1] is not None:
            return bool(np.shares_memory(*places, max_work))
    return _c.shares_memory(a, b, True, max_work)


def flatnonzero(a: ArrayLike) -> ndarray:
    """The indices into the flattened array where it is not zero.

    Examples
    --------
    >>> bc.flatnonzero([0, 3, 0, 4])
    array([1, 3])
    """
    return _c.flatnonzero(a)


def argwhere(a: ArrayLike) -> ndarray:
    """The indices of the elements that are not zero, one row each.

    Examples
    --------
    >>> bc.argwhere([[0, 1], [1, 0]])
    array([[0, 1],
           [1, 0]])
    """
    return _c.argwhere(a)


def take(a: ArrayLike, indices: ArrayLike, axis: int | None = None, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """Elements at integer indices, along an axis or of the flattened array.

    Raises
    ------
    IndexError
        An index is out of bounds and `mode` is 'raise'.

    Examples
    --------
    >>> bc.take([10, 20, 30], [2, 0])
    array([30, 10])
    """
    return _c.take(a, indices, axis, out, mode)


def take_along_axis(arr: ArrayLike, indices: ArrayLike, axis: int | None = -1) -> ndarray:
    """Elements at one index for each place along an axis, as argmax gives them.

    Examples
    --------
    >>> bc.take_along_axis(bc.array([[10, 30, 20]]), bc.array([[1]]), 1)
    array([[30]])
    """
    return _c.take_along_axis(arr, indices, axis)


def put_along_axis(arr: ndarray, indices: ArrayLike, values: ArrayLike, axis: int | None) -> None:
    """Writes values at one index for each place along an axis.

    Examples
    --------
    >>> a = bc.array([[10, 30, 20]])
    >>> bc.put_along_axis(a, bc.array([[1]]), 99, axis=1)
    >>> a
    array([[10, 99, 20]])
    """
    _c.put_along_axis(arr, indices, values, axis)


def _check_safe(values: Any, a: ndarray) -> None:
    """putmask and place take arrays whose dtype fits that of `a`; numbers and lists are converted."""
    if isinstance(values, ndarray | np.ndarray) and not _c.can_cast(values.dtype, a.dtype, "safe"):
        raise TypeError(f"Cannot cast array data from dtype('{values.dtype}') to dtype('{a.dtype}') according to the rule 'safe'")


def putmask(a: ndarray, /, mask: ArrayLike, values: ArrayLike) -> None:
    """Writes where a mask holds; `values` are repeated over the flattened array when they are fewer.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.putmask(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    _check_safe(values, a)
    _c.putmask(a, mask, values)


def place(arr: ndarray, mask: ArrayLike, vals: ArrayLike) -> None:
    """Writes the first of `vals` where a mask first holds, and so on, starting again when they run out.

    Examples
    --------
    >>> a = bc.arange(4)
    >>> bc.place(a, a > 1, [7, 8])
    >>> a
    array([0, 1, 7, 8])
    """
    if not isinstance(arr, ndarray):
        raise TypeError(f"place: expected an array to write, got {type(arr).__name__}")
    _check_safe(vals, arr)
    m = _asarray(mask, np.bool_)
    v = _asarray(vals) if isinstance(vals, ndarray | np.ndarray) else _asarray(vals, arr.dtype)
    if v.ndim != 1:
        v = v.ravel()
    if _c.place_small(arr, m, v):
        return
    if m.size != arr.size:
        raise ValueError("place: mask and data must be the same size")
    if not arr.flags.writeable:
        raise ValueError("assignment destination is read-only")
    if arr.ndim == 0:
        if v.size or not m:
            putmask(arr, m, v[:1])
            return
        raise ValueError("Cannot insert from an empty array!")
    at = _c.nonzero(m.reshape(arr.shape))
    count = at[0].size if at else 0
    if count == 0:
        return
    if v.size == 0:
        raise ValueError("Cannot insert from an empty array!")
    arr[at] = v[_c.arange(count, device=arr.device) % v.size]


def compress(condition: ArrayLike, a: ArrayLike, axis: int | None = None, out: ndarray | None = None) -> ndarray:
    """The slices along an axis (elements of the flattened array) whose condition holds.

    Examples
    --------
    >>> bc.compress([True, False, True], [1, 2, 3])
    array([1, 3])
    """
    return _c.compress(condition, a, axis, out)


def extract(condition: ArrayLike, arr: ArrayLike) -> ndarray:
    """The elements of the flattened array whose condition holds.

    Examples
    --------
    >>> a = bc.arange(5)
    >>> bc.extract(a % 2 == 0, a)
    array([0, 2, 4])
    """
    return _c.extract(condition, arr)


def choose(a: ArrayLike, choices: Sequence[ArrayLike] | ndarray, out: ndarray | None = None, mode: str = "raise") -> ndarray:
    """Elements of the choice whose number the index array holds.

    Raises
    ------
    ValueError
        An index is out of bounds and `mode` is 'raise'.

    Examples
    --------
    >>> bc.choose([1, 0], [[10, 20], [30, 40]])
    array([30, 20])
    """
    return _c.choose(a, choices, out, mode)


def fill_diagonal(a: ndarray, val: ArrayLike, wrap: bool = False) -> None:
    """Writes the main diagonal of an array with at least two dimensions.

    Examples
    --------
    >>> a = bc.zeros((2, 2), int)
    >>> bc.fill_diagonal(a, 5)
    >>> a
    array([[5, 0],
           [0, 5]])
    """
    if isinstance(val, (int, float)) or (val.size if isinstance(val, ndarray) else np.size(val)):  # type: ignore[arg-type]
        _c.fill_diagonal(a, val, wrap)


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Index arrays that together select the product of 1-d indices.

    Examples
    --------
    >>> bc.arange(9).reshape(3, 3)[bc.ix_([0, 2], [1])]
    array([[1],
           [7]])
    """
    made = []
    for k, item in enumerate(args):
        x = _asarray(item, np.int64) if not isinstance(item, (ndarray, np.ndarray)) and len(item) == 0 else _c.asanyarray(item)
        if x.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if x.dtype.kind == "b":
            x = _c.nonzero(x)[0]
        made.append(x.reshape((1,) * k + (-1,) + (1,) * (len(args) - 1 - k)))
    return tuple(made)


def unravel_index(indices: ArrayLike, shape: ShapeLike, order: str = "C") -> tuple[ndarray, ...]:
    """The coordinates of flat indices.

    Raises
    ------
    ValueError
        An index is out of bounds.

    Examples
    --------
    >>> bc.unravel_index([5], (2, 3))
    (array([1]), array([2]))
    """
    if order == "C" and (found := _c.unravel_on_host(indices, shape)) is not None:
        return found
    if (
        isinstance(indices, ndarray)
        and _belongs_in_kernel(indices)
        and indices.size
        and indices.dtype.kind in "iu"
        and order in ("C", "F")
    ):
        return _unravelled(indices, shape, order)
    columns = np.unravel_index(_c.asnumpy(indices), shape, order)  # type: ignore[call-overload]
    return tuple(_c.as_result(f) for f in columns)


def _belongs_in_kernel(indices: ndarray) -> bool:
    """Whether kernels convert the indices: those of a GPU, and long lists of the CPU, which NumPy converts on one thread."""
    return indices.device.type != "cpu" or indices.size >= 1 << 15


def _extents(shape: ShapeLike) -> tuple[int, ...]:
    return tuple(map(operator.index, shape)) if isinstance(shape, Sequence) else (operator.index(shape),)


def bounds_of(x: ndarray) -> tuple[int, int]:
    """The least and the greatest element, by one read."""
    low, high = _c.asnumpy(_c.stack([_c.reduce("min", x), _c.reduce("max", x)]))
    return int(low), int(high)


def _unravelled(indices: ndarray, shape: ShapeLike, order: str) -> tuple[ndarray, ...]:
    """What unravel_index gives, computed by kernels."""
    if order not in ("C", "F"):
        raise ValueError(f"only 'C' or 'F' order is permitted (got {order!r})")
    extents = _extents(shape)
    size = math.prod(extents)
    for bound in bounds_of(indices):
        if not 0 <= bound < size:
            raise ValueError(f"index {bound} is out of bounds for array with size {size}")
    rest, at = indices.astype(np.int64), []
    for extent in reversed(extents) if order == "C" else extents:
        at.append(rest % extent)
        rest = rest // extent
    return tuple(at[::-1] if order == "C" else at)


_LARGEST = np.iinfo(np.intp).max


def _flat_place(at: tuple[Any, ...], shape: tuple[Any, ...]) -> int | None:
    """The flat index of coordinates that are ints, in C order; None where they lie nowhere."""
    place = 0
    for k, extent in zip(at, shape, strict=True):
        if type(k) is not int or type(extent) is not int or not 0 <= k < extent:
            return None
        place = place * extent + k
    return place


def ravel_multi_index(multi_index: Any, dims: ShapeLike, mode: Any = "raise", order: str = "C") -> ndarray:
    """The flat indices of coordinates.

    Examples
    --------
    >>> bc.ravel_multi_index(([1], [2]), (2, 3))
    array([5])
    """
    if isinstance(multi_index, tuple) and isinstance(dims, tuple) and mode == "raise" and order == "C":
        place = _flat_place(multi_index, dims) if 0 < len(dims) == len(multi_index) else None
        if place is not None:
            return _c.as_result(place)
        if (flat := _c.ravel_on_host(multi_index, dims)) is not None:
            return flat
    if isinstance(multi_index, ndarray):
        multi_index = tuple(multi_index)
    if order in ("C", "F") and any(isinstance(i, ndarray) and _belongs_in_kernel(i) for i in multi_index):
        return _ravelled(multi_index, dims, mode, order)
    at = tuple(_c.asnumpy(i) for i in multi_index)
    return _c.as_result(np.ravel_multi_index(at, dims, mode, order))  # type: ignore[call-overload]


def _ravelled(multi_index: Sequence[Any], dims: ShapeLike, mode: Any, order: str) -> ndarray:
    """What ravel_multi_index gives, computed by kernels."""
    extents = _extents(dims)
    modes = (mode,) * len(extents) if isinstance(mode, str) else tuple(mode)
    if len(multi_index) != len(extents):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(extents)}")
    flat: Any = 0
    columns = list(zip(map(_asarray, multi_index), extents, modes, strict=True))
    for at, extent, how in columns if order == "C" else columns[::-1]:
        if at.dtype.kind not in "iu":
            raise TypeError("only int indices permitted")
        if extent == 0 and at.size:
            raise ValueError("cannot unravel if shape has zero entries.")
        if how == "wrap":
            at = at % extent
        elif how == "clip":
            at = _c.clip(at, 0, extent - 1)
        elif how != "raise":
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {how!r})")
        elif at.size and not ((bounds := bounds_of(at))[0] >= 0 and bounds[1] < extent):
            raise ValueError("invalid entry in coordinates array")
        flat = flat * extent + at.astype(np.int64)
    return flat


def ndenumerate(arr: ArrayLike) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Pairs of index and element, read on the host.

    Examples
    --------
    >>> [(i, int(v)) for i, v in bc.ndenumerate(bc.array([7, 8]))]
    [((0,), 7), ((1,), 8)]
    """
    return iter(np.ndenumerate(_c.asnumpy(arr) if isinstance(arr, ndarray) else arr))


def array2string(a: ArrayLike, *args: Any, **kwargs: Any) -> str:
    """The elements as text, with numpy.array2string's options.

    Examples
    --------
    >>> bc.array2string(bc.array([1.0, 2.0]), separator=";")
    '[1.;2.]'
    """
    return np.array2string(_c.asnumpy(a), *args, **kwargs)


def array_repr(arr: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """What repr() gives, with options.

    Examples
    --------
    >>> bc.array_repr(bc.array([1, 2]))
    'array([1, 2])'
    """
    return np.array_repr(_c.asnumpy(arr), max_line_width, precision, suppress_small)


def array_str(a: ArrayLike, max_line_width: int | None = None, precision: int | None = None, suppress_small: bool | None = None) -> str:
    """What str() gives, with options.

    Examples
    --------
    >>> bc.array_str(bc.array([1, 2]))
    '[1 2]'
    """
    return np.array_str(_c.asnumpy(a), max_line_width, precision, suppress_small)


def iterable(y: Any) -> bool:
    """Tells whether an object can be iterated.

    Examples
    --------
    >>> bc.iterable([1]), bc.iterable(2)
    (True, False)
    """
    try:
        iter(y)
    except TypeError:
        return False
    return True


def _getfield(a: ndarray, dtype: DTypeLike, start: int) -> ndarray:
    """What `ndarray.getfield` gives."""
    part = np.dtype(dtype)
    if start < 0 or start + part.itemsize > a.itemsize:
        raise ValueError(f"getfield: expected bytes inside of an element ({a.itemsize}), got {part.itemsize} ({part}) at offset {start}")
    if start % part.itemsize:
        raise ValueError(f"getfield: expected an offset that is a multiple of the size of {part} ({part.itemsize}), got {start}")
    return a[..., None].view(part)[..., start // part.itemsize]
