"""Making, shaping, taking apart and joining arrays."""

from __future__ import annotations

import math

import numpy as np
from numpy.exceptions import AxisError

from ._table import stands_for


def one_axis(axis):
    """The axis, which is no tuple of such."""
    if isinstance(axis, tuple):
        raise TypeError("an axis is an integer")
    return axis


# ---- Fortran's order: the transposed array in C order.


def _expect_fortran(order):
    if order != "F":
        raise ValueError("order must be 'C' or 'F' in compiled functions")


def _in_fortran_order(a, order):
    """Whether `order` means Fortran's for this array; of 'A' and 'K' its layout tells."""
    if order == "C" or order is None:
        return False
    if order == "F":
        return True
    if order != "A" and order != "K":
        raise ValueError("order must be one of 'C', 'F', 'A' and 'K'")
    if a.flags.typed_c_contiguous or a.ndim < 2:
        return False
    if a.flags.typed_f_contiguous or order == "A":
        return a.flags.typed_f_contiguous
    if a.ndim == 2:
        return abs(a.strides[0]) < abs(a.strides[1])
    raise ValueError("order 'K' of arrays of three dimensions needs contiguous ones in compiled functions")


@stands_for("numpy.ravel", "array.ravel")
def ravel(a, order):
    return a.T.ravel() if _in_fortran_order(a, order) else a.ravel()


@stands_for("array.flatten")
def flatten(a, order):
    return a.T.flatten() if _in_fortran_order(a, order) else a.flatten()


@stands_for("numpy.reshape")
def reshape(a, shape, order):
    if order == "K":
        raise ValueError("order 'K' is not permitted for reshaping")
    if not _in_fortran_order(a, order):
        return a.reshape(shape)
    return a.T.reshape(shape[::-1]).T if isinstance(shape, tuple) else a.T.reshape(shape)


@stands_for("numpy.copy", "array.copy")
def copy(a, order):
    return a.T.copy().T if _in_fortran_order(a, order) else a.copy()


@stands_for("numpy.zeros")
def zeros(shape, dtype=np.float64, order="F"):
    _expect_fortran(order)
    return np.zeros(shape[::-1], dtype).T if isinstance(shape, tuple) else np.zeros(shape, dtype)


@stands_for("numpy.ones")
def ones_of(shape, dtype=np.float64, order="F"):
    _expect_fortran(order)
    return np.ones(shape[::-1], dtype).T if isinstance(shape, tuple) else np.ones(shape, dtype)


@stands_for("numpy.empty")
def empty(shape, dtype=np.float64, order="F"):
    _expect_fortran(order)
    return np.empty(shape[::-1], dtype).T if isinstance(shape, tuple) else np.empty(shape, dtype)


@stands_for("numpy.full")
def full(shape, fill_value, dtype=None, order="C"):
    out = np.empty(shape, np.asarray(fill_value).dtype if dtype is None else dtype, order)
    out[...] = fill_value
    return out


@stands_for("numpy.eye")
def eye(N, M=None, k=0, dtype=np.float64, order="F"):
    _expect_fortran(order)
    return np.eye(N if M is None else M, N, -k, dtype).T


@stands_for("numpy.array")
def array(object, dtype=None, copy=True, order="C", ndmin=0):
    a = np.asarray(object, dtype)
    if order != "C":
        _expect_fortran(order)
        return with_axes(a.T.copy().T, (1,) * ndmin)
    return with_axes(a.copy(), (1,) * ndmin)


@stands_for("numpy.asarray")
def asarray(a, dtype=None, copy=True, order="F"):
    _expect_fortran(order)
    if not copy:
        x = np.asarray(a, dtype, copy=False)
        if not x.flags.f_contiguous:
            raise ValueError("Unable to avoid copy while creating an array as requested.")
        return x
    return np.asfortranarray(a, dtype)


@stands_for("array.astype")
def astype(a, dtype, order="F", casting="unsafe", copy=True):
    _expect_fortran(order)
    return a.T.astype(dtype, casting=casting).T


# ---- making arrays


@stands_for("numpy.diag")
def diag(v, k=0):
    if v.ndim == 1:
        n = v.shape[0] + abs(k)
        out = np.zeros((n, n), dtype=v.dtype)
        for i in range(v.shape[0]):
            if k >= 0:
                out[i, i + k] = v[i]
            else:
                out[i - k, i] = v[i]
        return out
    rows, columns = v.shape
    first = max(0, -k)
    n = max(0, min(rows - first, columns - max(0, k)))
    out = np.empty(n, dtype=v.dtype)
    for i in range(n):
        out[i] = v[i + first, i + first + k]
    return out


@stands_for("numpy.tril")
def tril(m, k=0):
    if m.ndim == 0:
        raise ValueError("tril: expected an array of at least one dimension")
    a = _rows_of(m)
    out = np.zeros_like(a)
    for i in range(a.shape[-2]):
        for j in range(min(a.shape[-1], i + k + 1)):
            out[..., i, j] = a[..., i, j]
    return out


@stands_for("numpy.triu")
def triu(m, k=0):
    if m.ndim == 0:
        raise ValueError("triu: expected an array of at least one dimension")
    a = _rows_of(m)
    out = np.zeros_like(a)
    for i in range(a.shape[-2]):
        for j in range(max(0, i + k), a.shape[-1]):
            out[..., i, j] = a[..., i, j]
    return out


def _rows_of(m):
    """A vector as the rows of a square matrix, as NumPy's masks broadcast it."""
    return np.broadcast_to(m, (m.size, m.size)) if m.ndim < 2 else m


@stands_for("numpy.tri")
def tri(N, M=None, k=0, dtype=np.float64):
    rows = max(N, 0)
    columns = rows if M is None else max(M, 0)
    out = np.zeros((rows, columns), dtype=dtype)
    for i in range(rows):
        for j in range(min(columns, i + k + 1)):
            out[i, j] = 1
    return out


@stands_for("numpy.vander")
def vander(x, N=None, increasing=False):
    count = len(x) if N is None else N
    if x.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    wide = x + np.zeros(x.shape, dtype=np.int64)
    out = np.empty((len(x), count), dtype=wide.dtype)
    for i in range(len(x)):
        for j in range(count):
            out[i, j] = wide[i] ** (j if increasing else count - 1 - j)
    return out


@stands_for("numpy.column_stack")
def column_stack(arrays):
    if isinstance(arrays, list):
        return stack(arrays, -1) if arrays[0].ndim < 2 else concatenate(arrays, 1)
    return np.concatenate(_columns(arrays), 1)


def _columns(arrays):
    return () if len(arrays) == 0 else (_column(np.asarray(arrays[0])),) + _columns(arrays[1:])


def _column(a):
    return a.reshape(a.size, 1) if a.ndim < 2 else a


@stands_for("numpy.dstack")
def dstack(arrays):
    return np.concatenate(_all_with_three(arrays), 2)


@stands_for("numpy.row_stack")
def row_stack(arrays):
    return np.vstack(arrays)


@stands_for("numpy.atleast_1d")
def atleast_1d(*arys):
    return _with_one(arys[0]) if len(arys) == 1 else _all_with_one(arys)


def _with_one(a):
    x = np.asarray(a)
    return x.reshape(1) if x.ndim == 0 else x


def _all_with_one(arys):
    return () if len(arys) == 0 else (_with_one(arys[0]),) + _all_with_one(arys[1:])


@stands_for("numpy.atleast_2d")
def atleast_2d(*arys):
    return _with_two(arys[0]) if len(arys) == 1 else _all_with_two(arys)


def _with_two(a):
    x = np.asarray(a)
    return x.reshape(1, x.size) if x.ndim < 2 else x


def _all_with_two(arys):
    return () if len(arys) == 0 else (_with_two(arys[0]),) + _all_with_two(arys[1:])


@stands_for("numpy.atleast_3d")
def atleast_3d(*arys):
    return _with_three(arys[0]) if len(arys) == 1 else _all_with_three(arys)


def _with_three(a):
    x = np.asarray(a)
    if x.ndim < 2:
        return x.reshape(1, x.size, 1)
    return x.reshape(x.shape[0], x.shape[1], 1) if x.ndim == 2 else x


def _all_with_three(arys):
    return () if len(arys) == 0 else (_with_three(arys[0]),) + _all_with_three(arys[1:])


@stands_for("numpy.diagflat")
def diagflat(v, k=0):
    return diag(np.asarray(v).ravel(), k)


@stands_for("numpy.asarray_chkfinite")
def asarray_chkfinite(a, dtype=None, order=None):
    x = np.asarray(a, dtype, order)
    if not np.all(np.isfinite(x)):
        raise ValueError("array must not contain infs or NaNs")
    return x


@stands_for("numpy.asfortranarray")
def asfortranarray(a, dtype=None):
    return np.ascontiguousarray(a.T, dtype).T


# ---- joined arrays in another type, and arrays like others of another shape


def _cast(joined, dtype):
    """An array in another type, into which its own may be cast as `same_kind`."""
    out = np.empty(joined.shape, dtype)
    np.multiply(joined, True, out=out)
    return out


@stands_for("numpy.concatenate")
def concatenate(arrays, axis=0, dtype=None):
    if dtype is not None:
        return _cast(np.concatenate(arrays, axis), dtype)
    # A list, of as many arrays as are in it when it runs.
    if axis is None:
        return concatenate([a.ravel() for a in arrays])
    _expect_some(arrays)
    first = np.moveaxis(arrays[0], axis, 0)
    count = 0
    for a in arrays:
        count += np.size(a, axis)
    out = np.empty((count,) + first.shape[1:], dtype=first.dtype)
    at = 0
    for a in arrays:
        part = np.moveaxis(a, axis, 0)
        if part.shape[1:] != first.shape[1:]:
            raise ValueError("all the input array dimensions except for the concatenation axis must match exactly")
        out[at : at + part.shape[0]] = part
        at += part.shape[0]
    return np.ascontiguousarray(np.moveaxis(out, 0, axis))


def _expect_some(arrays):
    if len(arrays) == 0:
        raise ValueError("need at least one array to concatenate")


@stands_for("numpy.stack")
def stack(arrays, axis=0, dtype=None):
    if dtype is not None:
        return _cast(np.stack(arrays, axis), dtype)
    if isinstance(arrays, tuple):  # along an axis that is known when it runs
        return np.ascontiguousarray(np.moveaxis(np.stack(arrays), 0, axis))
    _expect_some(arrays)
    out = np.empty((len(arrays),) + arrays[0].shape, dtype=arrays[0].dtype)
    for k in range(len(arrays)):
        if arrays[k].shape != arrays[0].shape:
            raise ValueError("all input arrays must have the same shape")
        out[k] = arrays[k]
    return np.ascontiguousarray(np.moveaxis(out, 0, axis))


@stands_for("numpy.hstack")
def hstack(tup, dtype=None):
    if dtype is not None:
        return _cast(np.hstack(tup), dtype)
    return concatenate(tup, 0 if tup[0].ndim < 2 else 1)


@stands_for("numpy.vstack")
def vstack(tup, dtype=None):
    if dtype is not None:
        return _cast(np.vstack(tup), dtype)
    return stack(tup) if tup[0].ndim < 2 else concatenate(tup)


@stands_for("numpy.full_like")
def full_like(a, fill_value, dtype=None, order="C", shape=None):
    return np.full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype, order)


@stands_for("numpy.zeros_like")
def zeros_like(prototype, dtype=None, order="C", shape=None):
    return np.zeros(prototype.shape if shape is None else shape, prototype.dtype if dtype is None else dtype, order)


@stands_for("numpy.empty_like")
def empty_like(prototype, dtype=None, order="C", shape=None):
    return np.empty(prototype.shape if shape is None else shape, prototype.dtype if dtype is None else dtype, order)


@stands_for("numpy.ones_like")
def ones_like(a, dtype=None, order="C", shape=None):
    return np.ones(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, order)


@stands_for("numpy.written")
def written(out, result):
    """What is given as `out`, with the result in it."""
    if out.shape != np.asarray(result).shape:
        raise ValueError("the result does not have the shape of out")
    np.positive(result, out=out) if out.dtype != np.bool_ else np.logical_or(result, False, out=out)
    return out


@stands_for("numpy.frombuffer")
def frombuffer(buffer, dtype=None, count=-1, offset=0):
    if not buffer.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    bytes_of = buffer.ravel().view(np.uint8)
    if offset < 0 or offset > bytes_of.size:
        raise ValueError(f"offset must be non-negative and no greater than buffer length ({bytes_of.size})")
    width = np.empty(0, np.float64 if dtype is None else dtype).itemsize
    if count >= 0 and offset + count * width > bytes_of.size:
        raise ValueError("buffer is smaller than requested size")
    if count < 0 and (bytes_of.size - offset) % width != 0:
        raise ValueError("buffer size must be a multiple of element size")
    return bytes_of[offset : offset + count * width if count >= 0 else bytes_of.size].view(np.float64 if dtype is None else dtype)


@stands_for("numpy.resize")
def resize(a, new_shape):
    source = np.asarray(a).ravel()
    out = np.zeros(new_shape, dtype=source.dtype)
    flat = out.ravel()
    for k in range(flat.size if source.size > 0 else 0):
        flat[k] = source[k % source.size]
    return flat.reshape(out.shape)


@stands_for("numpy.append")
def append(a, values, axis=None):
    if axis is None:
        return np.concatenate((np.asarray(a).ravel(), np.asarray(values).ravel()))
    return np.concatenate((a, values), axis)


@stands_for("numpy.repeat", "array.repeat")
def repeat(a, repeats, axis=None):
    if axis is None:
        return _repeated(np.asarray(a).ravel(), repeats)
    rows = np.moveaxis(a, one_axis(axis), 0)
    return np.ascontiguousarray(np.moveaxis(rows[_repeated(np.arange(rows.shape[0]), repeats)], 0, axis))


def _repeated(flat, repeats):
    if not isinstance(repeats, np.ndarray | list | tuple):
        return np.repeat(flat, repeats)
    counts = np.asarray(repeats).ravel()
    if counts.size == 1:
        return np.repeat(flat, counts[0])
    if counts.size != flat.size:
        raise ValueError(f"operands could not be broadcast together with shape ({flat.size},) ({counts.size},)")
    for count in counts:
        if count < 0:
            raise ValueError("repeats may not contain negative values.")
    out = np.empty(counts.sum(), dtype=flat.dtype)
    at = 0
    for k in range(flat.size):
        out[at : at + counts[k]] = flat[k]
        at += counts[k]
    return out


def _within(indices, n, mode):
    """Places among n elements, those outside moved as `mode` says."""
    places = np.asarray(indices)
    if n == 0 and places.size > 0:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    moved = np.clip(places, 0, n - 1) if mode == "clip" else places % n
    return moved if isinstance(indices, np.ndarray | list | tuple) else moved.item()


@stands_for("numpy.take", "array.take")
def take(a, indices, axis=None, mode="raise"):
    if mode != "raise":
        if mode != "clip" and mode != "wrap":
            raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
        return np.take(a, _within(indices, a.size if axis is None else np.size(a, axis), mode), axis)
    if axis is None:
        return np.take(a, indices)
    if a.ndim == 0:
        return take(a.reshape(1), indices, axis)
    at = axis + a.ndim if axis < 0 else axis
    if at < 0 or at >= a.ndim:
        raise ValueError("take: the axis is out of bounds")
    _expect_places(indices, a.shape[at])
    if not isinstance(indices, np.ndarray | list | tuple):
        part = np.moveaxis(a, at, 0)[indices]
        return part if a.ndim == 1 else part.copy()
    places = np.asarray(indices)
    # The axes of the places stand where the axis was.
    taken = np.moveaxis(a, at, -1)[..., places.ravel()]
    moved = np.ascontiguousarray(np.moveaxis(taken, -1, at))
    return moved.reshape(a.shape[:axis] + places.shape + a.shape[axis + 1 :]) if places.ndim != 1 else moved


def _expect_places(indices, n):
    if isinstance(indices, np.ndarray):
        for i in indices.ravel():
            if i < -n or i >= n:
                raise IndexError(f"index {i} is out of bounds for size {n}")
    elif isinstance(indices, list | tuple):
        for i in indices:
            if i < -n or i >= n:
                raise IndexError(f"index {i} is out of bounds for size {n}")
    elif indices < -n or indices >= n:
        raise IndexError(f"index {indices} is out of bounds for size {n}")


@stands_for("numpy.take_along_axis")
def take_along_axis(arr, indices, axis=-1):
    if axis is None:
        return arr.ravel()[indices]
    a, places = np.moveaxis(arr, one_axis(axis), -1), np.moveaxis(indices, axis, -1)
    n, m = a.shape[-1], places.shape[-1]
    around = np.broadcast_shapes(a.shape[:-1], places.shape[:-1])
    shape = around + (m,)
    rows = np.broadcast_to(a, around + (n,)).copy().reshape(-1, n)
    wanted = np.broadcast_to(places, shape).copy().reshape(-1, m)
    out = np.empty(wanted.shape, dtype=arr.dtype)
    for i in range(wanted.shape[0]):
        for j in range(m):
            k = wanted[i, j]
            if k < -n or k >= n:
                raise IndexError(f"index {k} is out of bounds for size {n}")
            out[i, j] = rows[i, k]
    return np.ascontiguousarray(np.moveaxis(out.reshape(shape), -1, axis))


@stands_for("numpy.broadcast_shapes")
def broadcast_shapes(*shapes):
    joint = shapes[0] if isinstance(shapes[0], tuple) else (shapes[0],)
    for extent in joint:
        if extent < 0:
            raise ValueError("negative dimensions are not allowed")
    return joint if len(shapes) == 1 else _joint_shape(joint, broadcast_shapes(*shapes[1:]))


def _joint_shape(a, b):
    if len(a) < len(b):
        return _joint_shape(b, a)
    if len(b) == 0:
        return a
    x, y = a[-1], b[-1]
    if x != y and x != 1 and y != 1:
        raise ValueError("shape mismatch: objects cannot be broadcast to a single shape")
    return _joint_shape(a[:-1], b[:-1]) + (y if x == 1 else x,)


@stands_for("numpy.broadcast_arrays")
def broadcast_arrays(*args):
    return _all_broadcast(args, broadcast_shapes(*_shapes(args)))


def _shapes(arys):
    return () if len(arys) == 0 else (np.asarray(arys[0]).shape,) + _shapes(arys[1:])


def _all_broadcast(arys, shape):
    return () if len(arys) == 0 else (np.broadcast_to(np.asarray(arys[0]), shape),) + _all_broadcast(arys[1:], shape)


@stands_for("numpy.indices")
def indices(dimensions, dtype=np.int64):
    out = np.empty((len(dimensions),) + dimensions, dtype)
    if len(dimensions) == 0:
        return out
    rows = out.reshape((len(dimensions), product(dimensions)))
    step = rows.shape[1]
    if step > 0:
        for axis in range(len(dimensions)):
            step //= dimensions[axis]
            for i in range(rows.shape[1]):
                rows[axis, i] = i // step % dimensions[axis]
    return out


@stands_for("numpy.tril_indices")
def tril_indices(n, k=0, m=None):
    return np.nonzero(tri(n, m, k))


@stands_for("numpy.triu_indices")
def triu_indices(n, k=0, m=None):
    return np.nonzero(tri(n, m, k - 1) == 0)


@stands_for("numpy.tril_indices_from")
def tril_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


@stands_for("numpy.triu_indices_from")
def triu_indices_from(arr, k=0):
    if arr.ndim != 2:
        raise ValueError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


@stands_for("numpy.trim_zeros")
def trim_zeros(filt, trim="fb"):
    ends = trim.upper()
    if ends != "F" and ends != "B" and ends != "FB" and ends != "BF":
        raise ValueError("trim must be 'f', 'b' or both")
    first, last = 0, len(filt)
    if "f" in trim or "F" in trim:
        while first < last and filt[first] == 0:
            first += 1
    if "b" in trim or "B" in trim:
        while last > first and filt[last - 1] == 0:
            last -= 1
    return filt[first:last]


@stands_for("numpy.fliplr")
def fliplr(a):
    return a[:, ::-1]


@stands_for("numpy.flipud")
def flipud(a):
    return a[::-1]


@stands_for("numpy.rot90")
def rot90(m, k=1, axes=(0, 1)):
    if m.ndim < 2:
        raise ValueError("rot90() takes arrays of two dimensions or more")
    first, second = axes[0] % m.ndim, axes[1] % m.ndim
    if first == second:
        raise ValueError("Axes must be different.")
    a = np.moveaxis(m, (first, second), (0, 1)).copy()
    for _ in range(k % 4):
        a = np.swapaxes(a[:, ::-1], 0, 1).copy()
    return np.ascontiguousarray(np.moveaxis(a, (0, 1), (first, second)))


def _rolled(a, shift, axis):
    """roll() by several shifts, or along several axes."""
    if isinstance(shift, tuple) and len(shift) > 1:
        if isinstance(axis, tuple) and len(axis) > 1:
            return _rolled(roll(a, shift[0], axis[0]), shift[1:], axis[1:])
        return _rolled(_rolled(a, shift[0], axis), shift[1:], axis)
    if isinstance(axis, tuple) and len(axis) > 1:
        return _rolled(roll(a, shift, axis[0]), shift, axis[1:])
    return roll(a, shift[0] if isinstance(shift, tuple) else shift, axis[0] if isinstance(axis, tuple) else axis)


@stands_for("numpy.roll")
def roll(a, shift, axis=None):
    if isinstance(shift, tuple) or isinstance(axis, tuple):
        if axis is None:
            return _rolled(a.ravel(), shift, 0).reshape(a.shape)
        if isinstance(shift, tuple) and isinstance(axis, tuple) and len(shift) != len(axis) and len(shift) != 1 and len(axis) != 1:
            raise ValueError("'shift' and 'axis' should be scalars or 1D sequences of one length")
        return _rolled(a, shift, axis)
    if axis is not None:
        rows = np.moveaxis(a, axis, 0)
        order = (np.arange(rows.shape[0]) - shift) % rows.shape[0]
        return np.ascontiguousarray(np.moveaxis(rows[order], 0, axis))
    flat = a.ravel()
    n = flat.size
    out = np.empty(n, dtype=a.dtype)
    for i in range(n):
        out[(i + shift) % n] = flat[i]
    return out.reshape(a.shape)


@stands_for("numpy.expand_dims")
def expand_dims(a, axis):
    x = np.asarray(a)
    place = axis + x.ndim + 1 if axis < 0 else axis
    if place < 0 or place > x.ndim:
        raise AxisError("expand_dims(): the axis is out of bounds")
    return np.lib.stride_tricks.as_strided(x, _with_item(x.shape, place, 1), _with_item(x.strides, place, 0))


def _with_item(items, place, item):
    return items + (item,) if len(items) == 0 or place == len(items) else _with_item(items[:-1], place, item) + (items[-1],)


@stands_for("numpy.broadcast_to")
def broadcast_to(array, shape):
    x = np.asarray(array)
    target = shape if isinstance(shape, tuple) else (shape,)
    if len(target) < x.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    for extent in target:
        if extent < 0:
            raise ValueError("all elements of broadcast shape must be non-negative")
    return np.lib.stride_tricks.as_strided(x, target, _stretched(x.shape, x.strides, target), False, False)


def _stretched(shape, strides, target):
    """The steps of an array of `shape` that is stretched to `target`."""
    if len(target) == 0:
        return ()
    if len(shape) == 0:
        return _stretched(shape, strides, target[:-1]) + (0,)
    if shape[-1] != target[-1] and shape[-1] != 1:
        raise ValueError(f"operands could not be broadcast together: an axis of {shape[-1]} elements cannot become one of {target[-1]}")
    return _stretched(shape[:-1], strides[:-1], target[:-1]) + (strides[-1] if shape[-1] == target[-1] else 0,)


@stands_for("numpy.delete")
def delete(a, index, axis=None):
    if axis is None:
        return a.ravel()[_kept(a.size, index)]
    rows = np.moveaxis(a, one_axis(axis), 0)
    return np.ascontiguousarray(np.moveaxis(rows[np.flatnonzero(_kept(rows.shape[0], index))], 0, axis))


def _kept(n, index):
    """What of n elements stays where those at an index are deleted."""
    if isinstance(index, np.ndarray) and index.dtype == np.bool_:
        if index.size != n:
            raise ValueError("delete: a boolean mask must have the size of the array")
        return ~index
    kept = np.ones(n, dtype=np.bool_)
    if isinstance(index, slice):
        kept[index] = False
    elif isinstance(index, np.ndarray | list | tuple):
        for i in index:
            if i < -n or i >= n:
                raise IndexError(f"index {i} is out of bounds for axis 0 with size {n}")
            kept[i] = False
    else:
        if index < -n or index >= n:
            raise IndexError(f"index {index} is out of bounds for axis 0 with size {n}")
        kept[index] = False
    return kept


@stands_for("numpy.extract")
def extract(condition, a):
    return np.take(a.ravel(), np.flatnonzero(condition.ravel() != 0))


@stands_for("numpy.argwhere")
def argwhere(a):
    x = np.asarray(a)
    if x.ndim == 1:
        return np.flatnonzero(x).reshape(-1, 1)
    if x.ndim == 2:
        out = np.empty((np.count_nonzero(x), 2), dtype=np.int64)
        k = 0
        for i in range(x.shape[0]):
            for j in range(x.shape[1]):
                if x[i, j]:
                    out[k, 0] = i
                    out[k, 1] = j
                    k += 1
        return out
    places = np.flatnonzero(x)
    out = np.empty((places.size, x.ndim), dtype=np.int64)
    if x.ndim > 0:
        for k in range(places.size):
            at = places[k]
            for d in range(x.ndim - 1, -1, -1):
                out[k, d] = at % x.shape[d]
                at //= x.shape[d]
    return out


@stands_for("array.nonzero")
def nonzero(a):
    return _each_column(argwhere(a), a.shape)


def _each_column(table, like):
    """The columns of a table, as many as the tuple `like` has items."""
    return () if len(like) == 0 else _each_column(table, like[:-1]) + (table[:, len(like) - 1].copy(),)


@stands_for("numpy.choose", "array.choose")
def choose(a, choices, mode="raise"):
    places = np.asarray(a)
    if mode != "raise":
        if mode != "clip" and mode != "wrap":
            raise ValueError("clipmode must be one of 'clip', 'raise', or 'wrap'")
        return choose(_within(places, len(choices), mode), choices)
    if np.any(places < 0) or np.any(places >= len(choices)):
        raise ValueError("invalid entry in choice array")
    if isinstance(choices, tuple):
        return _choice(places, choices, 0)
    out = np.where(places == 0, choices[0], choices[0])  # a new array, in the shape of both
    for k in range(1, len(choices)):
        out = np.where(places == k, choices[k], out)
    return out


def _choice(places, choices, first):
    """The elements of the choices from the `first` one on; where another one is wanted, any."""
    others = choices[0] if len(choices) == 1 else _choice(places, choices[1:], first + 1)
    return np.where(places == first, choices[0], others)


@stands_for("numpy.select")
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    out = np.full(choicelist[0].shape, default, dtype=choicelist[0].dtype)
    for k in range(len(condlist) - 1, -1, -1):
        out = np.where(condlist[k], choicelist[k], out)
    return out


@stands_for("numpy.diagonal", "array.diagonal")
def diagonal(a, offset=0, axis1=0, axis2=1):
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    moved = np.moveaxis(a, (axis1, axis2), (-2, -1))
    rows, columns = moved.shape[-2], moved.shape[-1]
    first = moved[..., max(-offset, 0) :, max(offset, 0) :] if -rows <= offset <= columns else moved[..., :0, :0]
    shape = first.shape[:-2] + (min(first.shape[-2], first.shape[-1]),)
    steps = first.strides[:-2] + (first.strides[-2] + first.strides[-1],)
    return np.lib.stride_tricks.as_strided(first, shape, steps, writeable=False)


@stands_for("array.contains")
def contains(a, item):
    return np.any(a == item)


@stands_for("numpy.size")
def size(a, axis=None):
    total = 1
    for d in axis:
        total *= np.size(a, d)
    return total


@stands_for("numpy.tile")
def tile(a, reps):
    return _tiled(a, reps) if isinstance(reps, tuple) else _tiled(a, (reps,))


def _tiled(a, reps):
    x, times = with_axes(a, reps), _with_ones(reps, a.shape)
    out = np.empty(products(x.shape, times), dtype=a.dtype)
    out.reshape(interleaved(times, x.shape))[...] = x.reshape(interleaved(ones(times), x.shape))
    return out


def with_axes(a, like):
    """The array with leading axes of one element, as many as the tuple `like` is longer than its shape."""
    return a if a.ndim >= len(like) else with_axes(a.reshape((1,) + a.shape), like)


def _with_ones(numbers, like):
    return numbers if len(numbers) >= len(like) else _with_ones((1,) + numbers, like)


def ones(numbers):
    return () if len(numbers) == 0 else (1,) + ones(numbers[1:])


def products(a, b):
    return () if len(a) == 0 else (a[0] * b[0],) + products(a[1:], b[1:])


def interleaved(a, b):
    return () if len(a) == 0 else (a[0], b[0]) + interleaved(a[1:], b[1:])


@stands_for("numpy.array_split")
def array_split(ary, indices_or_sections, axis=0):
    a = np.moveaxis(ary, one_axis(axis), 0)
    n = a.shape[0]
    parts = [np.moveaxis(a[:0], 0, axis)]
    begin = 0
    if isinstance(indices_or_sections, np.ndarray | list | tuple):
        for cut in indices_or_sections:
            parts.append(np.moveaxis(a[begin:cut], 0, axis))
            begin = cut
        parts.append(np.moveaxis(a[begin:], 0, axis))
        return parts[1:]
    sections = indices_or_sections
    if sections <= 0:
        raise ValueError("number sections must be larger than 0")
    long = n % sections
    for k in range(sections):
        end = begin + n // sections + (1 if k < long else 0)
        parts.append(np.moveaxis(a[begin:end], 0, axis))
        begin = end
    return parts[1:]


@stands_for("numpy.split")
def split(ary, indices_or_sections, axis=0):
    if not isinstance(indices_or_sections, np.ndarray | list | tuple):  # noqa: SIM102 - the first is decided when it is compiled
        if ary.shape[axis] % indices_or_sections != 0:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@stands_for("numpy.vsplit")
def vsplit(ary, indices_or_sections):
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


@stands_for("numpy.hsplit")
def hsplit(ary, indices_or_sections):
    if ary.ndim < 1:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 0 if ary.ndim == 1 else 1)


@stands_for("numpy.dsplit")
def dsplit(ary, indices_or_sections):
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


@stands_for("numpy.flip")
def flip(m, axis=None):
    if axis is None or m.ndim == 1:
        return np.flip(m)
    if axis == 0 or axis == -m.ndim:
        return m[::-1]
    if m.ndim == 2 and (axis == 1 or axis == -1):
        return m[:, ::-1]
    raise ValueError("flip: the axis is out of bounds")


@stands_for("numpy.insert")
def insert(arr, obj, values, axis=None):
    if axis is None:
        return insert(arr.ravel(), obj, values, 0)
    rows = np.moveaxis(arr, one_axis(axis), 0)
    given = with_axes(np.asarray(values), arr.shape)
    if given.ndim > arr.ndim:
        raise ValueError("insert(): the values have more dimensions than the array")
    if not isinstance(obj, np.ndarray | list | tuple):
        return _inserted(rows, obj, given, axis)
    places = np.asarray(obj).ravel().astype(np.int64)
    if places.size == 1:
        return _inserted(rows, places[0], np.moveaxis(given, axis, 0), axis)
    for k in range(places.size):
        places[k] = _insertion(places[k], rows.shape[0])
    order = np.argsort(places, kind="stable")
    places[order] += np.arange(places.size)
    shape = np.moveaxis(np.empty((places.size,) + rows.shape[1:], dtype=np.bool_), 0, axis).shape
    new = np.moveaxis(np.broadcast_to(given, shape), axis, 0).astype(arr.dtype)
    old = np.ones(rows.shape[0] + places.size, dtype=np.bool_)
    out = np.empty((old.size,) + rows.shape[1:], dtype=arr.dtype)
    for k in range(places.size):
        out[places[k]] = new[k]
        old[places[k]] = False
    at = 0
    for k in range(old.size):
        if old[k]:
            out[k] = rows[at]
            at += 1
    return np.ascontiguousarray(np.moveaxis(out, 0, axis))


def _inserted(rows, index, given, axis):
    """The array with all that is given at one place."""
    at = _insertion(index, rows.shape[0])
    new = np.broadcast_to(given, given.shape[:1] + rows.shape[1:]).astype(rows.dtype)
    return np.ascontiguousarray(np.moveaxis(np.concatenate((rows[:at], new, rows[at:])), 0, axis))


def _insertion(index, n):
    if index < -n or index > n:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {n}")
    return index + n if index < 0 else index


@stands_for("numpy.fill_diagonal")
def fill_diagonal(a, val, wrap=False):
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    end = a.size
    if a.ndim == 2:
        step = a.shape[1] + 1
        if not wrap:
            end = min(end, a.shape[1] * a.shape[1])
    else:
        step, turn = 1, 1
        for axis in range(a.ndim - 1):
            if a.shape[axis] != a.shape[axis + 1]:
                raise ValueError("All dimensions of input must be of equal length")
            turn *= a.shape[axis]
            step += turn
    values = np.asarray(val).ravel()
    if len(values) > 0:
        for k in range(0, end, step):
            a.flat[k] = values[k // step % len(values)]


@stands_for("numpy.pad")
def pad(array, pad_width, mode="constant", constant_values=0):
    a = np.asarray(array)
    if mode == "constant":
        return _padded(a, pad_width, constant_values)
    if mode != "edge" and mode != "reflect" and mode != "symmetric" and mode != "wrap":
        raise ValueError("pad(): mode must be 'constant', 'edge', 'reflect', 'symmetric' or 'wrap' in compiled functions")
    out = a.copy()
    for axis in range(a.ndim):
        before, after = _width(pad_width, axis)
        n = a.shape[axis]
        if n == 0 and before + after > 0:
            raise ValueError("can't extend an empty axis using modes other than 'constant' or 'empty'")
        places = np.arange(-before, n + after)
        if mode == "edge":
            places = np.clip(places, 0, n - 1)
        elif mode == "wrap":
            places %= n
        else:
            turn = 2 * n if mode == "symmetric" else max(2 * n - 2, 1)
            places %= turn
            places = np.minimum(places, turn - (1 if mode == "symmetric" else 0) - places)
        out = take(out, places, axis)
    return out


def _width(pad_width, axis):
    """How many elements stand before and behind an axis: of a number, of a pair for all axes or of a pair for each."""
    if not isinstance(pad_width, tuple):
        return pad_width, pad_width
    if not isinstance(pad_width[0], tuple):
        return pad_width[0], pad_width[-1]
    widths = np.asarray(pad_width)
    row = axis if widths.shape[0] > 1 else 0
    return widths[row, 0], widths[row, -1]


def _padded(a, pad_width, value):
    out = np.empty(_padded_shape(a.shape, pad_width), dtype=a.dtype)
    out[...] = value
    inner = out
    for axis in range(a.ndim):
        before, _ = _width(pad_width, axis)
        inner = np.moveaxis(np.moveaxis(inner, axis, 0)[before : before + a.shape[axis]], 0, axis)
    inner[...] = a
    return out


def _padded_shape(shape, pad_width):
    if len(shape) == 0:
        return ()
    before, after = _width(pad_width, len(shape) - 1)
    return _padded_shape(shape[:-1], pad_width) + (shape[-1] + before + after,)


@stands_for("numpy.copyto")
def copyto(dst, src, where=True):
    if isinstance(where, bool) and where:
        dst[...] = src
    else:
        dst[...] = np.where(where, src, dst)


@stands_for("numpy.put")
def put(a, ind, v):
    places, values = np.atleast_1d(ind).ravel(), np.atleast_1d(v).ravel()
    for k in range(places.size):
        if places[k] < -a.size or places[k] >= a.size:
            raise IndexError(f"index {places[k]} is out of bounds for axis 0 with size {a.size}")
        a.flat[places[k]] = values[k % values.size]


@stands_for("numpy.putmask")
def putmask(a, mask, values):
    given, chosen = np.atleast_1d(values).ravel(), np.asarray(mask).ravel()
    for k in range(a.size):
        if chosen[k]:
            a.flat[k] = given[k % given.size]


@stands_for("numpy.compress")
def compress(condition, a, axis=None):
    chosen = np.flatnonzero(condition)
    return take(np.asarray(a).ravel(), chosen) if axis is None else take(a, chosen, axis)


@stands_for("numpy.unravel_index")
def unravel_index(indices, shape):
    extents = shape if isinstance(shape, tuple) else (shape,)
    if isinstance(indices, np.ndarray | list | tuple):
        places = np.asarray(indices)
        total = math.prod(extents)
        for i in places.ravel():
            if i < 0 or i >= total:
                raise ValueError(f"index {i} is out of bounds for array with size {total}")
        return _unraveled(places, extents)
    if indices < 0 or indices >= math.prod(extents):
        raise ValueError(f"index {indices} is out of bounds for array with size {math.prod(extents)}")
    return _unraveled(indices, extents)


def _unraveled(places, extents):
    if len(extents) == 0:
        return ()
    return _unraveled(places // extents[-1], extents[:-1]) + (places % extents[-1],)


@stands_for("numpy.meshgrid")
def meshgrid(*xi, indexing="xy"):
    if indexing != "xy" and indexing != "ij":
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    if len(xi) == 1:
        return (np.asarray(xi[0]).flatten(),)
    x, y = np.asarray(xi[0]).ravel(), np.asarray(xi[1]).ravel()
    rows = indexing == "ij"
    first, second = (0, 1) if rows else (1, 0)
    if len(xi) == 2:
        shape = (x.size, y.size) if rows else (y.size, x.size)
        return _spread(x, shape, first), _spread(y, shape, second)
    z = np.asarray(xi[2]).ravel()
    room = (x.size, y.size, z.size) if rows else (y.size, x.size, z.size)
    return _spread(x, room, first), _spread(y, room, second), _spread(z, room, 2)


def _spread(x, shape, axis):
    """The vector along an axis of an array of `shape`."""
    out = np.empty(shape, dtype=x.dtype)
    np.moveaxis(out, axis, -1)[...] = x
    return out


@stands_for("array.tolist")
def tolist(a):
    if a.ndim == 0:
        return a.item()
    if a.ndim == 1:
        return list(a)
    return [tolist(row) for row in a]


@stands_for("array.contiguous")
def contiguous(a, columns):
    """Whether the elements lie without gaps, the first axis running fastest if `columns` is set, else the last one."""
    if a.size == 0:
        return True
    step = a.itemsize
    for k in range(a.ndim):
        axis = k if columns else a.ndim - 1 - k
        if a.shape[axis] != 1 and a.strides[axis] != step:
            return False
        step *= a.shape[axis]
    return True


@stands_for("array.merged")
def merged(a, axes):
    """The array with several of its axes as one behind the others."""
    moved = np.moveaxis(a, axes, _last_places(axes))
    rows = moved.shape[: moved.ndim - len(axes)]
    return np.ascontiguousarray(moved).reshape(rows + (product(moved.shape[moved.ndim - len(axes) :]),))


def _last_places(axes):
    return () if len(axes) == 0 else (-len(axes),) + _last_places(axes[1:])


def product(extents):
    return 1 if len(extents) == 0 else extents[0] * product(extents[1:])
