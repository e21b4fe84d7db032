"""Joining, splitting and rearranging arrays. Views wherever NumPy makes views."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from . import _broadcloth as _c
from ._broadcloth import ndarray

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike, Casting, DTypeLike, Order, ShapeLike

transpose = permute_dims = _c.transpose
broadcast_to, broadcast_arrays, broadcast_shapes = _c.broadcast_to, _c.broadcast_arrays, _c.broadcast_shapes
moveaxis, expand_dims, squeeze, flip, diagonal = _c.moveaxis, _c.expand_dims, _c.squeeze, _c.flip, _c.diagonal
concatenate = concat = _c.concatenate
stack, roll, tile, repeat = _c.stack, _c.roll, _c.tile, _c.repeat
copyto = _c.copyto
_ufuncs = _c.ufuncs


def reshape(
    a: ArrayLike, /, shape: Any = None, order: Order = "C", *, newshape: ShapeLike | None = None, copy: bool | None = None
) -> ndarray:
    """The same elements under another shape: a view where that is possible.

    Parameters
    ----------
    a : array_like
    shape : int or tuple of ints
        One extent may be -1: it follows from the others.
    order : {'C', 'F', 'A'}
        In which order elements are read and laid out.
    copy : bool, optional
        True: always a copy; False: never, or ValueError.

    Raises
    ------
    ValueError
        The number of elements differs.

    Examples
    --------
    >>> bc.reshape(bc.arange(6), (2, -1))
    array([[0, 1, 2],
           [3, 4, 5]])
    """
    if shape is None:
        if newshape is None:
            raise TypeError("reshape() missing 1 required positional argument: 'shape'")
        shape = newshape
    return _c.reshape(a, shape, order, copy=copy)


def ravel(a: ArrayLike, order: Order = "C") -> ndarray:
    """The elements along one axis, as a view where that is possible.

    Examples
    --------
    >>> bc.ravel([[1, 2], [3, 4]])
    array([1, 2, 3, 4])
    """
    return _c.ravel(a, order)


def swapaxes(a: ArrayLike, axis1: int, axis2: int) -> ndarray:
    """A view with two axes exchanged.

    Examples
    --------
    >>> bc.swapaxes(bc.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _c.swapaxes(a, axis1, axis2)


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> ndarray:
    """A view with one axis moved before another.

    Examples
    --------
    >>> bc.rollaxis(bc.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return _c.rollaxis(a, axis, start)


def matrix_transpose(x: ArrayLike, /) -> ndarray:
    """A view with the last two axes exchanged.

    Raises
    ------
    ValueError
        Fewer than two dimensions.

    Examples
    --------
    >>> bc.matrix_transpose(bc.zeros((5, 2, 3))).shape
    (5, 3, 2)
    """
    return _c.matrix_transpose(x)


def fliplr(m: ArrayLike) -> ndarray:
    """A view with the second axis reversed.

    Examples
    --------
    >>> bc.fliplr([[1, 2], [3, 4]])
    array([[2, 1],
           [4, 3]])
    """
    x = _c.asanyarray(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return x[:, ::-1]


def flipud(m: ArrayLike) -> ndarray:
    """A view with the first axis reversed.

    Examples
    --------
    >>> bc.flipud([1, 2, 3])
    array([3, 2, 1])
    """
    x = _c.asanyarray(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return x[::-1]


def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray:
    """A view turned by k times 90 degrees in the plane of two axes.

    Examples
    --------
    >>> bc.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    return _c.rot90(m, k, axes)


def _each(make: Any, arrays: tuple[Any, ...]) -> Any:
    return make(arrays[0]) if len(arrays) == 1 else tuple(map(make, arrays))


@overload
def atleast_1d(ary: ArrayLike, /) -> ndarray: ...
@overload
def atleast_1d(*arys: ArrayLike) -> Any: ...
def atleast_1d(*arys: ArrayLike) -> Any:
    """Arrays with at least one dimension.

    Examples
    --------
    >>> bc.atleast_1d(3.0)
    array([3.])
    """
    return _each(_c.atleast_1d, arys)


@overload
def atleast_2d(ary: ArrayLike, /) -> ndarray: ...
@overload
def atleast_2d(*arys: ArrayLike) -> Any: ...
def atleast_2d(*arys: ArrayLike) -> Any:
    """Arrays with at least two dimensions.

    Examples
    --------
    >>> bc.atleast_2d([1, 2])
    array([[1, 2]])
    """
    return _each(_c.atleast_2d, arys)


@overload
def atleast_3d(ary: ArrayLike, /) -> ndarray: ...
@overload
def atleast_3d(*arys: ArrayLike) -> Any: ...
def atleast_3d(*arys: ArrayLike) -> Any:
    """Arrays with at least three dimensions.

    Examples
    --------
    >>> bc.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _each(_c.atleast_3d, arys)


def _sequence(arrays: Any) -> Any:
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return arrays


def hstack(tup: Sequence[ArrayLike] | ndarray, *, dtype: DTypeLike = None, casting: Casting = "same_kind") -> ndarray:
    """Joins arrays side by side: along the second axis, or the first of 1-d arrays.

    Examples
    --------
    >>> bc.hstack(([1, 2], [3]))
    array([1, 2, 3])
    """
    return _c.hstack(_sequence(tup), dtype=dtype, casting=casting)


def vstack(tup: Sequence[ArrayLike] | ndarray, *, dtype: DTypeLike = None, casting: Casting = "same_kind") -> ndarray:
    """Joins arrays one below the other.

    Examples
    --------
    >>> bc.vstack(([1, 2], [3, 4]))
    array([[1, 2],
           [3, 4]])
    """
    return _c.vstack(_sequence(tup), dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike] | ndarray) -> ndarray:
    """Joins arrays along the third axis.

    Examples
    --------
    >>> bc.dstack(([1, 2], [3, 4])).shape
    (1, 2, 2)
    """
    return _c.dstack(_sequence(tup))


def column_stack(tup: Sequence[ArrayLike] | ndarray) -> ndarray:
    """Joins 1-d arrays as the columns of a matrix; 2-d ones are joined as they are.

    Examples
    --------
    >>> bc.column_stack(([1, 2], [3, 4]))
    array([[1, 3],
           [2, 4]])
    """
    return _c.column_stack(_sequence(tup))


def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> ndarray:
    """A new array with `values` at the end; both are flattened when no axis is given.

    Examples
    --------
    >>> bc.append([1, 2], [3])
    array([1, 2, 3])
    """
    return _c.append(arr, values, axis)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of nearly equal parts, or of the parts between indices.

    Examples
    --------
    >>> bc.array_split(bc.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    return _c.array_split(ary, indices_or_sections, axis)


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of equal parts, or of the parts between indices.

    Raises
    ------
    ValueError
        The axis does not divide into so many equal parts.

    Examples
    --------
    >>> bc.split(bc.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    return _c.split(ary, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the second axis (the first of a 1-d array).

    Examples
    --------
    >>> bc.hsplit(bc.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    x = _c.asanyarray(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the first axis.

    Examples
    --------
    >>> [p.shape for p in bc.vsplit(bc.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    x = _c.asanyarray(ary)
    if x.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the third axis.

    Examples
    --------
    >>> [p.shape for p in bc.dsplit(bc.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    x = _c.asanyarray(ary)
    if x.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the parts along an axis, without that axis.

    Examples
    --------
    >>> bc.unstack([[1, 2], [3, 4]])
    (array([1, 2]), array([3, 4]))
    """
    return tuple(part[()] for part in _c.unstack(x, axis=axis))  # of one dimension values, which are no views


def resize(a: ArrayLike, new_shape: ShapeLike) -> ndarray:
    """A new array of the given shape, filled with repeated copies of `a`.

    Examples
    --------
    >>> bc.resize([1, 2, 3], (2, 2))
    array([[1, 2],
           [3, 1]])
    """
    return _c.resize(a, new_shape)


def _chosen(a: Any, kept: np.ndarray, axis: int) -> ndarray:
    return _c.take(a, _c.asarray(kept), axis)


def _places(name: str, arr: Any, obj: Any, axis: int | None) -> Any:
    """Indices as numbers, where they are given as a slice or a mask; an array of a GPU stays there."""
    if type(obj) is int:
        return obj
    extents = arr.shape if isinstance(arr, ndarray) else np.shape(arr)
    extent = int(np.prod(extents)) if axis is None else extents[normalize_axis_index(axis, len(extents))]
    if isinstance(obj, slice):
        return list(range(*obj.indices(extent)))
    stays = isinstance(obj, ndarray) and obj.device.type != "cpu"
    found = obj if stays else _c.asnumpy(obj)
    if found.dtype == bool:
        if found.ndim != 1 or (name == "delete" and len(found) != extent):
            fits = f" and match the axis length of {extent}" if name == "delete" else ""
            raise ValueError(f"boolean array argument obj to {name} must be one dimensional{fits}")
        if stays:
            return found if name == "delete" else _c.nonzero(found)[0]
        return np.flatnonzero(found).tolist()
    if found.dtype.kind not in "iu" and (found.size or isinstance(obj, (ndarray, np.ndarray))):
        raise IndexError("arrays used as indices must be of integer (or boolean) type")
    if name == "insert" and found.ndim > 1:
        raise ValueError("index array argument obj to insert must be one dimensional or scalar")
    if stays:
        return found
    return found.tolist() if found.ndim < 2 else found.ravel().tolist()


def delete(arr: ArrayLike, obj: Any, axis: int | None = None) -> ndarray:
    """A new array without the elements (or the sub-arrays along an axis) at the given indices.

    Examples
    --------
    >>> bc.delete([10, 20, 30], 1)
    array([10, 30])
    """
    return _c.delete(arr, obj if isinstance(obj, slice) else _places("delete", arr, obj, axis), axis)


def insert(arr: ArrayLike, obj: Any, values: ArrayLike, axis: int | None = None) -> ndarray:
    """A new array with `values` put in before the given indices.

    Examples
    --------
    >>> bc.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    """
    at = _places("insert", arr, obj, axis)
    if not isinstance(values, (ndarray, np.ndarray)):
        arr = _c.asanyarray(arr)
        values = _c.asarray(values, arr.dtype)
    return _c.insert(arr, at, values, axis)


def pad(array: ArrayLike, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> ndarray:
    """A new array with a border: constants, ramps, statistics, or the array's own elements repeated, mirrored or wrapped around.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair, dict of axes, or one pair an axis
        How many elements go before and after.
    mode : {'constant', 'edge', 'linear_ramp', 'maximum', 'mean', 'median', 'minimum', 'reflect', 'symmetric', 'wrap', 'empty'} or callable
        A function is called as ``function(vector, widths, axis, kwargs)`` for each 1-d slice along each axis, and writes to it.
    constant_values : scalar, pair, or one pair an axis
        For 'constant'.
    end_values : scalar, pair, or one pair an axis
        Where a 'linear_ramp' ends.
    stat_length : int, pair, or one pair an axis
        How many elements at the edge the statistic is of; all of the axis unless given.
    reflect_type : {'even', 'odd'}
        For 'reflect' and 'symmetric': odd mirrors the values at the edge's value too.

    Raises
    ------
    ValueError
        No such mode, a keyword that is not the mode's, a negative width, or an empty axis that there is nothing to fill with.
    TypeError
        Widths that are no integers.

    Examples
    --------
    >>> bc.pad([1, 2], 1, constant_values=9)
    array([9, 1, 2, 9])
    >>> bc.pad([4, 8], 2, "linear_ramp")
    array([0, 2, 4, 8, 4, 0])
    """
    x = _c.asarray(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(d, pad_width.get(d - x.ndim, (0, 0))) for d in range(x.ndim)]
        pad_width = [(w, w) if np.ndim(w) == 0 else w for w in pad_width]
    if x.ndim and np.asarray(pad_width).dtype.kind != "i":
        raise TypeError("`pad_width` must be of integral type.")
    widths = _pairs(pad_width, x.ndim)
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    padded = _padded(x, widths, mode, kwargs)
    # The result lies in memory as the array does, where that is not C's order.
    return padded.copy("F") if x.flags.fnc and not padded.flags.fnc else padded


def _padded(x: ndarray, widths: list[Any], mode: Any, kwargs: dict[str, Any]) -> ndarray:
    if callable(mode):
        return _pad_by(mode, x, widths, kwargs)
    if mode not in _PAD_KEYWORDS:
        raise ValueError(f"mode '{mode}' is not supported")
    extra = set(kwargs) - _PAD_KEYWORDS[mode]
    if extra:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {extra}")
    if mode in ("constant", "empty"):
        result = _bordered(x, widths)
        if mode == "constant":
            shape = result.shape
            values = _fill_pairs(kwargs.get("constant_values", 0), x)
            for axis, ((before, after), (left, right)) in enumerate(zip(widths, values)):
                # Corners belong to the axis that comes last, as in NumPy.
                outer = (slice(None),) * axis
                result[(*outer, slice(0, before))] = left
                result[(*outer, slice(shape[axis] - after, shape[axis]))] = right
        return result
    for axis, pair in enumerate(widths):
        if x.shape[axis] == 0 and any(pair):
            raise ValueError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
    if mode in ("maximum", "minimum") and any(n == 0 for pair in _pairs(kwargs.get("stat_length"), x.ndim) for n in pair):
        raise ValueError("stat_length of 0 yields no value for padding")
    if not any(any(pair) for pair in widths):
        return x.copy("A")
    if mode == "linear_ramp":
        values = _pairs(kwargs.get("end_values", 0), x.ndim)
        return _extended(x, widths, lambda x, axis, pair: _ramps(x, axis, pair, values[axis]))
    if mode in _STATISTICS:
        lengths = _pairs(kwargs.get("stat_length"), x.ndim)
        if any(n is not None and n < 0 for pair in lengths for n in pair):
            raise ValueError("index can't contain negative values")
        return _extended(x, widths, lambda x, axis, pair: _statistics(x, axis, pair, mode, lengths[axis]))
    if kwargs.get("reflect_type", "even") == "odd":
        for axis, pair in enumerate(widths):
            x = _odd(x, axis, pair, 0 if mode == "symmetric" else 1)
        return x
    if all(max(pair) <= _longest_border(mode, extent) for extent, pair in zip(x.shape, widths)):
        return _continued(x, widths, mode)
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _chosen(x, np.pad(np.arange(x.shape[axis]), (before, after), mode), axis)  # type: ignore[call-overload]
    return x


_STATISTICS = ("maximum", "mean", "median", "minimum")
_PAD_KEYWORDS: dict[str, set[str]] = {
    "constant": {"constant_values"},
    "edge": set(),
    "empty": set(),
    "linear_ramp": {"end_values"},
    **{name: {"stat_length"} for name in _STATISTICS},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "wrap": set(),
}


def _pairs(given: Any, ndim: int) -> list[Any]:
    """One pair an axis."""
    return np.broadcast_to(np.asarray(given), (ndim, 2)).tolist() if ndim else []


def _fill_pairs(given: Any, x: ndarray) -> list[Any]:
    """One pair an axis of what is assigned: NumPy casts one value or one pair as elements, and checks a table of numbers."""
    values = np.asarray(given)
    if values.ndim > 2 or values.size > 2 or values.dtype.kind not in "biufc":
        return _pairs(given, x.ndim)
    elements = _c.asarray(values, device=x.device).astype(x.dtype).ravel()
    return [[elements[0], elements[-1]]] * x.ndim


def _along(axis: int, *part: int | None) -> tuple[slice, ...]:
    return (slice(None),) * axis + (slice(*part),)


def _bordered(x: ndarray, widths: Any) -> ndarray:
    """The array inside a border that is not written yet."""
    shape = [before + extent + after for extent, (before, after) in zip(x.shape, widths)]
    result = _c.empty(shape, x.dtype, "F" if x.flags.fnc else "C", device=x.device)
    result[tuple(slice(before, before + extent) for extent, (before, _) in zip(x.shape, widths))] = x
    return result


def _longest_border(mode: str, extent: int) -> float:
    """The widest border whose elements come from the array once: a wider one repeats them."""
    return math.inf if mode == "edge" else extent - 1 if mode == "reflect" else extent


def _backwards(first: int, count: int) -> slice:
    stop = first - count
    return slice(first, stop if stop >= 0 else None, -1)


def _continued(x: ndarray, widths: Any, mode: str) -> ndarray:
    """The array with a border of its own elements, each side of an axis as one view of what is inside."""
    result = _bordered(x, widths)
    for axis, (extent, (before, after)) in enumerate(zip(x.shape, widths)):
        # The border of an axis covers those of the axes before it, and with them the corners.
        inside = tuple(slice(b, b + n) for n, (b, _) in zip(x.shape[axis + 1 :], widths[axis + 1 :]))
        outer, end = (slice(None),) * axis, before + extent
        if mode == "edge":
            left, right = slice(before, before + 1), slice(end - 1, end)
        elif mode == "wrap":
            left, right = slice(extent, end), slice(before, before + after)
        else:
            skipped = 1 if mode == "reflect" else 0  # the element at the edge stands once
            first, last = before + skipped, end - 1 - skipped
            left, right = _backwards(first + before - 1, before), _backwards(last, after)
        if before:
            result[(*outer, slice(0, before), *inside)] = result[(*outer, left, *inside)]
        if after:
            result[(*outer, slice(end, end + after), *inside)] = result[(*outer, right, *inside)]
    return result


def _pad_by(function: Any, x: ndarray, widths: Any, kwargs: dict[str, Any]) -> ndarray:
    result = _bordered(x, widths)
    for axis, (before, after) in enumerate(widths):
        result[_along(axis, 0, before)] = 0
        result[_along(axis, result.shape[axis] - after, result.shape[axis])] = 0
    for axis, pair in enumerate(widths):
        rows = _c.moveaxis(result, axis, -1)
        for place in np.ndindex(rows.shape[:-1]):
            function(rows[(*place, ...)], tuple(pair), axis, kwargs)
    return result


def _extended(x: ndarray, widths: Any, ends: Any) -> ndarray:
    """The array with what `ends` makes for each axis joined to it, one axis after the other."""
    for axis, pair in enumerate(widths):
        if any(pair):
            left, right = (end.astype(x.dtype, copy=False) for end in ends(x, axis, pair))
            x = _c.concatenate([left, x, right], axis)
    return x


def _ramps(x: ndarray, axis: int, widths: Any, ends: Any) -> list[ndarray]:
    wide = np.complex128 if x.dtype.kind == "c" else np.float64
    ramps = []
    for side, (width, end) in enumerate(zip(widths, ends)):
        at = side * (x.shape[axis] - 1)
        shape = [1] * x.ndim
        shape[axis] = width
        steps = np.arange(width)[:: -1 if side else 1]
        place = _c.asarray(np.ascontiguousarray(steps, wide).reshape(shape), device=x.device)
        rise = x[_along(axis, at, at + 1)].astype(wide) - end
        step = rise / max(width, 1)
        # Where a step is too small to be told from none, NumPy divides first.
        tiny = _c.reduce("any", step == 0)
        y = _c.where(tiny, place / max(width, 1) * rise, place * step) + end
        ramps.append(_ufuncs["floor"](y) if x.dtype.kind in "iu" else y)
    return ramps


def _statistics(x: ndarray, axis: int, widths: Any, mode: str, lengths: Any) -> list[ndarray]:
    extent = x.shape[axis]
    taken = [extent if n is None or n > extent else n for n in lengths]
    if 0 in taken and mode in ("maximum", "minimum"):
        raise ValueError("stat_length of 0 yields no value for padding")
    made = []
    for width, part in zip(widths, (_along(axis, 0, taken[0]), _along(axis, extent - taken[1], extent))):
        if mode == "median":
            from ._quantiles import median  # which needs this module

            value = _c.asarray(median(x[part], axis, keepdims=True))
        else:
            value = _c.reduce({"maximum": "max", "minimum": "min", "mean": "mean"}[mode], x[part], axis, None, None, True)
        if x.dtype.kind in "iu":
            value = _ufuncs["rint"](value) if value.dtype.kind == "f" else value
        made.append(_c.broadcast_to(value, (*x.shape[:axis], width, *x.shape[axis + 1 :])))
    return made


def _odd(x: ndarray, axis: int, widths: Any, skipped: int) -> ndarray:
    """The array with its ends mirrored at the edges' values; `skipped` is 1 where the mirror leaves out the edge itself."""
    before, after = widths
    extent = x.shape[axis]
    if extent == 1 and skipped:
        return _chosen(x, np.zeros(before + 1 + after, np.int64), axis)
    while before or after:
        length = x.shape[axis]
        # Whole periods only, or the next mirror would stand in the wrong place.
        whole = length // extent * extent if not skipped else (length - 1) // (extent - 1) * (extent - 1)
        left, right = min(whole, before), min(whole, after)
        first, last = x[_along(axis, 0, 1)], x[_along(axis, length - 1, length)]
        parts = [
            (2 * first - _c.flip(x[_along(axis, skipped, skipped + left)], axis)).astype(x.dtype, copy=False),
            x,
            (2 * last - _c.flip(x[_along(axis, length - skipped - right, length - skipped)], axis)).astype(x.dtype, copy=False),
        ]
        x = _c.concatenate(parts, axis)
        before, after = before - left, after - right
    return x


def trim_zeros(filt: ArrayLike, trim: str = "fb", axis: AxisLike = None) -> Any:
    """A view without the zeros at the front and the back: of one axis, or the box around everything that is not zero.

    Parameters
    ----------
    filt : array_like
        A 1-d list or tuple gives a list or tuple.
    trim : {'fb', 'f', 'b'}
        Front, back or both.
    axis : int or tuple of ints, optional
        The axes that are cut; all of them unless given.

    Raises
    ------
    ValueError
        `trim` holds another letter.

    Examples
    --------
    >>> bc.trim_zeros(bc.array([0, 0, 1, 2, 0]))
    array([1, 2])
    >>> bc.trim_zeros(bc.array([[0, 0], [0, 3]]))
    array([[3]])
    """
    where = trim.lower()
    if where not in ("f", "b", "fb", "bf"):
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    x = _c.asanyarray(filt)
    axes = normalized_axes(axis, x.ndim)
    if not axes:
        return filt if isinstance(filt, ndarray) else x
    cuts = [slice(None)] * x.ndim
    if x.size == 0:
        return x[tuple(slice(0, 0) if d in axes else slice(None) for d in range(x.ndim))]
    if x.ndim == 1:
        places = _c.nonzero(x)[0]
        first, stop = (int(places[0]), int(places[-1]) + 1) if places.size else (0, 0)
        kept = slice(first if "f" in where else None, stop if "b" in where or not places.size else None)
        return filt[kept] if isinstance(filt, (list, tuple)) else x[kept]
    facts = [_c.reduce("any", x)]
    for d in axes:
        seen = _c.reduce("any", x, tuple(k for k in range(x.ndim) if k != d))
        facts += [_c.reduce("argmax", seen), _c.reduce("argmax", _c.flip(seen))]
    some, *ends = (int(f) for f in _c.asnumpy(_c.stack([_c.asarray(f).astype(np.int64) for f in facts])))
    for d, low, behind in zip(axes, ends[::2], ends[1::2]):
        if not some:
            cuts[d] = slice(0, 0)
            continue
        high = x.shape[d] - behind
        cuts[d] = slice(low if "f" in where else None, high if "b" in where else None)
    return x[tuple(cuts)]


def normalized_axis(axis: Any, ndim: int) -> int:
    """One axis as a non-negative int. Booleans, which are integers to Python, are refused as NumPy's functions refuse them."""
    if isinstance(axis, bool):
        raise TypeError("an integer is required for the axis")
    return normalize_axis_index(operator.index(axis), ndim)


def normalized_axes(axis: AxisLike, ndim: int) -> tuple[int, ...]:
    """The axes as a tuple of non-negative ints; all of them for None."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)  # type: ignore[arg-type]
