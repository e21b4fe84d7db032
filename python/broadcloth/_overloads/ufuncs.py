"""Methods of vectorized functions: each takes the function and its identity in front of its own arguments."""

from __future__ import annotations

import numpy as np

from ._table import stands_for
from .shapes import one_axis, ones


def _made(f, a):
    """The dtype of the function's results of elements of the array."""
    none = np.empty(0, a.dtype)
    return f(none, none).dtype


def _operand(array, dtype):
    return array if dtype is None else array.astype(dtype)


def _expect_of_one_kind(a, dtype):
    np.empty(0, a.dtype).astype(dtype, casting="same_kind")


def _beginning(identity, initial):
    if initial is not None:
        return initial
    return None if isinstance(identity, str) else identity


def _joined(f, begin, rows, dtype):
    """The function of the first row and the second, of that and the third, and so on."""
    first = 1 if begin is None else 0
    if rows.shape[0] < first:
        raise ValueError("zero-size array to reduction operation which has no identity")
    if rows.ndim == 1:
        one = dtype.type(rows[0] if begin is None else begin)
        for i in range(first, rows.shape[0]):
            one = dtype.type(f(one, rows[i]))
        return one
    made = np.empty(rows.shape[1:], dtype)
    made[...] = rows[0] if begin is None else begin
    for i in range(first, rows.shape[0]):
        made[...] = f(made, rows[i])
    return made


def _given(made, out):
    if out is None:
        return made
    if out.shape != np.shape(made):
        raise ValueError("output parameter has the wrong shape: expected that of the result")
    out[...] = made
    return out


def _expect_axes(axes, ndim):
    numbers = np.asarray(axes)  # of integers that are known, each has a type of its own
    for k in range(numbers.size):
        if numbers[k] < -ndim or numbers[k] >= ndim:
            raise ValueError(f"axis {numbers[k]} is out of bounds for array of dimension {ndim}")
        for other in range(k):
            if numbers[k] % ndim == numbers[other] % ndim:
                raise ValueError("duplicate value in 'axis'")


def _behind(shape, axes):
    """The extents behind as many as there are axes."""
    return shape if len(axes) == 0 else _behind(shape[1:], axes[1:])


def _rows(a, axis):
    """The array with what is joined along its first axis."""
    if axis is None:
        return a.ravel()
    if not isinstance(axis, tuple):
        _expect_axes((axis,), a.ndim)
        return np.moveaxis(a, axis, 0)
    _expect_axes(axis, a.ndim)
    moved = np.moveaxis(a, axis, _in_turn(len(axis), axis))
    rest = _behind(moved.shape, axis)
    count = 1
    for k in axis:
        count *= a.shape[k]
    return np.ascontiguousarray(moved).reshape((count,) + rest)


def _in_turn(count, axes):
    return () if len(axes) == 0 else (count - len(axes),) + _in_turn(count, axes[1:])


def _kept(a, axis, made):
    if axis is None:
        return np.asarray(made).reshape(ones(a.shape))
    axes = np.asarray(axis if isinstance(axis, tuple) else (axis,)) % a.ndim
    return np.asarray(made).reshape(_one_at(a.shape, axes, 0))


def _one_at(shape, axes, k):
    """The extents, of which those of the axes are 1; `k` of the array's are in front of them."""
    return () if len(shape) == 0 else (1 if np.any(axes == k) else shape[0],) + _one_at(shape[1:], axes, k + 1)


@stands_for("ufunc.reduce")
def reduce(ufunc, identity, array, axis=0, dtype=None, out=None, keepdims=0, initial=None):
    a = _operand(array, dtype)
    kind = _made(ufunc, a)
    _expect_of_one_kind(a, kind)
    begin = _beginning(identity, initial)
    if isinstance(axis, tuple) and len(axis) == 0:
        return _given(a.astype(kind) if begin is None else ufunc(kind.type(begin), a), out)
    made = _joined(ufunc, begin, _rows(a, axis), kind)
    return _given(_kept(a, axis, made) if keepdims else made, out)


@stands_for("ufunc.accumulate")
def accumulate(ufunc, identity, array, axis=0, dtype=None, out=None):
    a = _operand(array, dtype)
    kind = _made(ufunc, a)
    _expect_of_one_kind(a, kind)
    rows = _rows(a, one_axis(axis))
    made = np.empty(rows.shape, kind)
    if rows.shape[0] > 0:
        made[0] = rows[0]
    for i in range(1, rows.shape[0]):
        made[i] = ufunc(made[i - 1], rows[i])
    return _given(np.ascontiguousarray(np.moveaxis(made, 0, axis)), out)


@stands_for("ufunc.reduceat")
def reduceat(ufunc, identity, array, indices, axis=0, dtype=None, out=None):
    a = _operand(array, dtype)
    kind = _made(ufunc, a)
    _expect_of_one_kind(a, kind)
    rows = _rows(a, one_axis(axis))
    n = rows.shape[0]
    made = np.empty((indices.shape[0],) + rows.shape[1:], kind)
    for k in range(indices.shape[0]):
        start = indices[k]
        if start < 0 or start >= n:
            raise IndexError(f"index {start} out-of-bounds in reduceat [0, {n})")
        end = indices[k + 1] if k + 1 < indices.shape[0] else n
        made[k] = _joined(ufunc, None, rows[start : max(end, start + 1)], kind)
    return _given(np.ascontiguousarray(np.moveaxis(made, 0, axis)), out)


@stands_for("ufunc.outer")
def outer(ufunc, identity, A, B):
    return ufunc(A.reshape(A.shape + ones(B.shape)), B)


@stands_for("ufunc.at")
def at(ufunc, identity, a, indices, b=None):
    """In place at the indices, one after the other, so that repeated ones count each time."""
    if isinstance(indices, tuple) and len(indices) == 0:
        a[()] = ufunc(a[()]) if b is None else ufunc(a[()], b)
        return
    places = np.asarray(np.arange(a.size).reshape(a.shape)[np.asarray(indices) if isinstance(indices, list) else indices])
    flat = a.ravel()
    if b is None:
        for p in places.ravel():
            flat[p] = a.dtype.type(ufunc(flat[p]))
    else:
        _at_with(ufunc, flat, places, np.asarray(b))
    if not a.flags.typed_c_contiguous:
        a[...] = flat.reshape(a.shape)


def _at_with(ufunc, flat, places, operand):
    _expect_to_fit(operand, places)
    operands = np.broadcast_to(operand, places.shape).copy().ravel()
    for k, p in enumerate(places.ravel()):
        flat[p] = flat.dtype.type(ufunc(flat[p], operands[k]))


def _expect_to_fit(operand, places):
    if operand.ndim == 0:
        return
    fits = operand.ndim <= places.ndim
    for k in range(1, min(operand.ndim, places.ndim) + 1):
        extent = operand.shape[operand.ndim - k]
        fits = fits and (extent == 1 or extent == places.shape[places.ndim - k])
    if not fits:
        raise ValueError("operands could not be broadcast together with remapped shapes [original->remapped]")
