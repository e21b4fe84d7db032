"""Joining, splitting and rearranging arrays. Views wherever NumPy makes views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_tuple

from . import _broadcloth as _c
from ._broadcloth import ndarray

transpose = permute_dims = _c.transpose
broadcast_to, broadcast_arrays, broadcast_shapes = _c.broadcast_to, _c.broadcast_arrays, _c.broadcast_shapes
moveaxis, expand_dims, squeeze, flip, diagonal = _c.moveaxis, _c.expand_dims, _c.squeeze, _c.flip, _c.diagonal
concatenate = concat = _c.concatenate
stack, roll, tile, repeat = _c.stack, _c.roll, _c.tile, _c.repeat
copyto = _c.copyto
_ufuncs = _c.ufuncs


def reshape(a: Any, /, shape: Any = None, order: Any = "C", *, newshape: Any = None, copy: bool | None = None) -> ndarray:
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


def ravel(a: Any, order: Any = "C") -> ndarray:
    """The elements along one axis, as a view where that is possible.

    Examples
    --------
    >>> bc.ravel([[1, 2], [3, 4]])
    array([1, 2, 3, 4])
    """
    return _c.ravel(a, order)


def swapaxes(a: Any, axis1: int, axis2: int) -> ndarray:
    """A view with two axes exchanged.

    Examples
    --------
    >>> bc.swapaxes(bc.zeros((2, 3, 4)), 0, 2).shape
    (4, 3, 2)
    """
    return _c.swapaxes(a, axis1, axis2)


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """A view with one axis moved before another.

    Examples
    --------
    >>> bc.rollaxis(bc.zeros((2, 3, 4)), 2).shape
    (4, 2, 3)
    """
    return _c.rollaxis(a, axis, start)


def matrix_transpose(x: Any, /) -> ndarray:
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


def fliplr(m: Any) -> ndarray:
    """A view with the second axis reversed.

    Examples
    --------
    >>> bc.fliplr([[1, 2], [3, 4]])
    array([[2, 1],
           [4, 3]])
    """
    x = _c.asarray(m)
    if x.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return x[:, ::-1]


def flipud(m: Any) -> ndarray:
    """A view with the first axis reversed.

    Examples
    --------
    >>> bc.flipud([1, 2, 3])
    array([3, 2, 1])
    """
    x = _c.asarray(m)
    if x.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return x[::-1]


def rot90(m: Any, k: int = 1, axes: Sequence[int] = (0, 1)) -> ndarray:
    """A view turned by k times 90 degrees in the plane of two axes.

    Examples
    --------
    >>> bc.rot90([[1, 2], [3, 4]])
    array([[2, 4],
           [1, 3]])
    """
    return _c.rot90(m, k, axes)


def _each(make: Any, arrays: tuple[Any, ...]) -> Any:
    made = tuple(map(make, arrays))
    return made[0] if len(made) == 1 else made


def atleast_1d(*arys: Any) -> Any:
    """Arrays with at least one dimension.

    Examples
    --------
    >>> bc.atleast_1d(3.0)
    array([3.])
    """
    return _each(_c.atleast_1d, arys)


def atleast_2d(*arys: Any) -> Any:
    """Arrays with at least two dimensions.

    Examples
    --------
    >>> bc.atleast_2d([1, 2])
    array([[1, 2]])
    """
    return _each(_c.atleast_2d, arys)


def atleast_3d(*arys: Any) -> Any:
    """Arrays with at least three dimensions.

    Examples
    --------
    >>> bc.atleast_3d([1, 2]).shape
    (1, 2, 1)
    """
    return _each(_c.atleast_3d, arys)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    """Joins arrays side by side: along the second axis, or the first of 1-d arrays.

    Examples
    --------
    >>> bc.hstack(([1, 2], [3]))
    array([1, 2, 3])
    """
    return _c.hstack(tup, dtype=dtype, casting=casting)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> ndarray:
    """Joins arrays one below the other.

    Examples
    --------
    >>> bc.vstack(([1, 2], [3, 4]))
    array([[1, 2],
           [3, 4]])
    """
    return _c.vstack(tup, dtype=dtype, casting=casting)


def dstack(tup: Sequence[Any]) -> ndarray:
    """Joins arrays along the third axis.

    Examples
    --------
    >>> bc.dstack(([1, 2], [3, 4])).shape
    (1, 2, 2)
    """
    return _c.dstack(tup)


def column_stack(tup: Sequence[Any]) -> ndarray:
    """Joins 1-d arrays as the columns of a matrix; 2-d ones are joined as they are.

    Examples
    --------
    >>> bc.column_stack(([1, 2], [3, 4]))
    array([[1, 3],
           [2, 4]])
    """
    return _c.column_stack(tup)


def append(arr: Any, values: Any, axis: int | None = None) -> ndarray:
    """A new array with `values` at the end; both are flattened when no axis is given.

    Examples
    --------
    >>> bc.append([1, 2], [3])
    array([1, 2, 3])
    """
    return _c.append(arr, values, axis)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Views of nearly equal parts, or of the parts between indices.

    Examples
    --------
    >>> bc.array_split(bc.arange(5), 2)
    [array([0, 1, 2]), array([3, 4])]
    """
    return _c.array_split(ary, indices_or_sections, axis)


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
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


def hsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the second axis (the first of a 1-d array).

    Examples
    --------
    >>> bc.hsplit(bc.arange(4), 2)
    [array([0, 1]), array([2, 3])]
    """
    x = _c.asarray(ary)
    if x.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(x, indices_or_sections, 1 if x.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the first axis.

    Examples
    --------
    >>> [p.shape for p in bc.vsplit(bc.zeros((4, 2)), 2)]
    [(2, 2), (2, 2)]
    """
    x = _c.asarray(ary)
    if x.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(x, indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[ndarray]:
    """Splits along the third axis.

    Examples
    --------
    >>> [p.shape for p in bc.dsplit(bc.zeros((1, 2, 4)), 2)]
    [(1, 2, 2), (1, 2, 2)]
    """
    x = _c.asarray(ary)
    if x.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(x, indices_or_sections, 2)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Views of the parts along an axis, without that axis.

    Examples
    --------
    >>> bc.unstack([[1, 2], [3, 4]])
    (array([1, 2]), array([3, 4]))
    """
    return tuple(_c.unstack(x, axis=axis))


def resize(a: Any, new_shape: Any) -> ndarray:
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


def _places(arr: Any, obj: Any, axis: int | None) -> Any:
    """Indices as numbers, where they are given as a slice or a mask."""
    if isinstance(obj, slice):
        extents = np.shape(arr) if not isinstance(arr, ndarray) else arr.shape
        extent = int(np.prod(extents)) if axis is None else extents[axis]
        return list(range(*obj.indices(extent)))
    found = obj.get() if isinstance(obj, ndarray) else np.asarray(obj)
    return np.flatnonzero(found).tolist() if found.dtype == bool else found.tolist()


def delete(arr: Any, obj: Any, axis: int | None = None) -> ndarray:
    """A new array without the elements (or the sub-arrays along an axis) at the given indices.

    Examples
    --------
    >>> bc.delete([10, 20, 30], 1)
    array([10, 30])
    """
    return _c.delete(arr, _places(arr, obj, axis), axis)


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> ndarray:
    """A new array with `values` put in before the given indices.

    Examples
    --------
    >>> bc.insert([1, 2, 3], 1, 9)
    array([1, 9, 2, 3])
    """
    return _c.insert(arr, _places(arr, obj, axis), values, axis)


def pad(array: Any, pad_width: Any, mode: str = "constant", **kwargs: Any) -> ndarray:
    """A new array with a border: constants, or the array's own elements repeated, mirrored or wrapped around.

    Parameters
    ----------
    array : array_like
    pad_width : int, pair, or one pair an axis
        How many elements go before and after.
    mode : {'constant', 'edge', 'reflect', 'symmetric', 'wrap', 'empty'}
    constant_values : scalar, pair, or one pair an axis
        For 'constant'.

    Raises
    ------
    NotImplementedError
        Another mode of NumPy's.

    Examples
    --------
    >>> bc.pad([1, 2], 1, constant_values=9)
    array([9, 1, 2, 9])
    """
    x = _c.asarray(array)
    if isinstance(pad_width, dict):
        pad_width = [pad_width.get(d, pad_width.get(d - x.ndim, (0, 0))) for d in range(x.ndim)]
        pad_width = [(w, w) if np.ndim(w) == 0 else w for w in pad_width]
    widths = np.broadcast_to(np.asarray(pad_width), (x.ndim, 2)).tolist() if x.ndim else []
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError("index can't contain negative values")
    shape = [before + extent + after for extent, (before, after) in zip(x.shape, widths)]
    inside = tuple(slice(before, before + extent) for extent, (before, _) in zip(x.shape, widths))
    if mode in ("constant", "empty"):
        allowed = {"constant_values"} if mode == "constant" else set()
        _check_keywords(mode, kwargs, allowed)
        result = _c.empty(shape, x.dtype, device=x.device)
        if mode == "constant":
            values = np.broadcast_to(np.asarray(kwargs.get("constant_values", 0)), (x.ndim, 2)).tolist() if x.ndim else []
            for axis, ((before, after), (left, right)) in enumerate(zip(widths, values)):
                # Corners belong to the axis that comes last, as in NumPy.
                outer = (slice(None),) * axis
                result[(*outer, slice(0, before))] = left
                result[(*outer, slice(shape[axis] - after, shape[axis]))] = right
        result[inside] = x
        return result
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        if mode in ("linear_ramp", "maximum", "mean", "median", "minimum") or callable(mode):
            raise NotImplementedError(f"pad: mode {mode!r} is not built in; pad the host copy, numpy.pad(x.get(), …)")
        raise ValueError(f"mode '{mode}' is not supported")
    _check_keywords(mode, kwargs, {"reflect_type"} if mode in ("reflect", "symmetric") else set())
    if kwargs.get("reflect_type", "even") != "even":
        raise NotImplementedError("pad: reflect_type 'odd' is not built in; pad the host copy, numpy.pad(x.get(), …)")
    for axis, (before, after) in enumerate(widths):
        if before or after:
            x = _chosen(x, np.pad(np.arange(x.shape[axis]), (before, after), mode), axis)  # type: ignore[call-overload]
    return x


def _check_keywords(mode: str, given: dict[str, Any], allowed: set[str]) -> None:
    extra = set(given) - allowed
    if extra:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {extra}")


def trim_zeros(filt: Any, trim: str = "fb") -> ndarray:
    """A view of a 1-d array without the zeros at its front and back.

    Examples
    --------
    >>> bc.trim_zeros(bc.array([0, 0, 1, 2, 0]))
    array([1, 2])
    """
    x = _c.asarray(filt)
    if x.ndim != 1:
        raise ValueError(f"trim_zeros: expected a 1-d array, got {x.ndim} dimensions")
    found = np.flatnonzero(_c.asnumpy(x))
    if not len(found):
        return x[:0]
    where = trim.lower()
    return x[(found[0] if "f" in where else 0) : (found[-1] + 1 if "b" in where else x.size)]


def normalized_axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """The axes as a tuple of non-negative ints; all of them for None."""
    return tuple(range(ndim)) if axis is None else normalize_axis_tuple(axis, ndim)
