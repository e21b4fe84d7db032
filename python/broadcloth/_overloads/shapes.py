"""Making, shaping, taking apart and joining arrays."""

from __future__ import annotations

import numpy as np

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
    if a.flags.c_contiguous or a.ndim < 2:
        return False
    if a.flags.f_contiguous or order == "A":
        return a.flags.f_contiguous
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
def full(shape, fill_value, dtype=None, order="F"):
    _expect_fortran(order)
    return np.full(shape[::-1], fill_value, dtype).T if isinstance(shape, tuple) else np.full(shape, fill_value, dtype)


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
    if not np.isfinite(x).all():
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
    return _cast(np.concatenate(arrays, axis), dtype)


@stands_for("numpy.stack")
def stack(arrays, axis=0, dtype=None):
    return _cast(np.stack(arrays, axis), dtype)


@stands_for("numpy.hstack")
def hstack(tup, dtype=None):
    return _cast(np.hstack(tup), dtype)


@stands_for("numpy.vstack")
def vstack(tup, dtype=None):
    return _cast(np.vstack(tup), dtype)


@stands_for("numpy.full_like")
def full_like(a, fill_value, dtype=None, shape=None):
    return np.full(a.shape if shape is None else shape, fill_value, a.dtype if dtype is None else dtype)


@stands_for("numpy.zeros_like", "numpy.empty_like")
def zeros_like(a, dtype=None, shape=None):
    return np.zeros(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


@stands_for("numpy.ones_like")
def ones_like(a, dtype=None, shape=None):
    return np.ones(a.shape if shape is None else shape, a.dtype if dtype is None else dtype)


@stands_for("numpy.frombuffer")
def frombuffer(buffer, dtype=np.float64):
    if not buffer.flags.c_contiguous:
        raise ValueError("ndarray is not C-contiguous")
    out = buffer.ravel().view(dtype)
    if out.size * out.itemsize != buffer.size * buffer.itemsize:
        raise ValueError("buffer size must be a multiple of element size")
    return out


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


@stands_for("numpy.take", "array.take")
def take(a, indices, axis=None):
    if axis is None:
        return np.take(a, indices)
    if a.ndim == 0:
        return take(a.reshape(1), indices, axis)
    at = axis + a.ndim if axis < 0 else axis
    if at < 0 or at >= a.ndim:
        raise ValueError("take: the axis is out of bounds")
    _expect_places(indices, a.shape[at])
    order = np.moveaxis(a, at, 0)[indices]
    if a.ndim == 1:
        return order
    return np.ascontiguousarray(np.moveaxis(order, 0, at)) if isinstance(indices, np.ndarray | list | tuple) else order.copy()


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
    shape = places.shape
    n, m = a.shape[-1], shape[-1]
    rows, wanted = a.copy().reshape(-1, n), places.copy().reshape(-1, m)
    if rows.shape[0] != wanted.shape[0]:
        raise ValueError("take_along_axis: the arrays' other extents differ")
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
def rot90(m, k=1):
    turns = k % 4
    a = m.copy()
    for _ in range(turns):
        a = np.swapaxes(a[:, ::-1], 0, 1).copy()
    return a


@stands_for("numpy.roll")
def roll(a, shift, axis=None):
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


@stands_for("numpy.broadcast_to")
def broadcast_to(array, shape):
    x = np.asarray(array)
    target = shape if isinstance(shape, tuple) else (shape,)
    if len(target) < x.ndim:
        raise ValueError("input operand has more dimensions than allowed by the axis remapping")
    return np.lib.stride_tricks.as_strided(x, target, _stretched(x.shape, x.strides, target))


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
    if isinstance(index, np.ndarray | list | tuple):
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


@stands_for("array.nonzero2")
def nonzero2(a):
    pairs = argwhere(a)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


@stands_for("numpy.select")
def select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    out = np.full(choicelist[0].shape, default, dtype=choicelist[0].dtype)
    for k in range(len(condlist) - 1, -1, -1):
        out = np.where(condlist[k], choicelist[k], out)
    return out


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
def insert(a, index, value):
    n = a.size
    if index < -n or index > n:
        raise IndexError(f"index {index} is out of bounds for axis 0 with size {n}")
    at = index + n if index < 0 else index
    out = np.empty(n + 1, dtype=a.dtype)
    flat = a.ravel()
    out[:at] = flat[:at]
    out[at] = value
    out[at + 1 :] = flat[at:]
    return out


@stands_for("numpy.fill_diagonal")
def fill_diagonal(a, val, wrap=False):
    if a.ndim == 3:
        if a.shape[0] != a.shape[1] or a.shape[0] != a.shape[2]:
            raise ValueError("All dimensions of input must be of equal length")
        for k in range(a.shape[0]):
            a[k, k, k] = val
        return
    rows, columns = a.shape
    if isinstance(val, np.ndarray | list | tuple):
        for k in range(min(rows, columns)):
            a[k, k] = val[k % len(val)]
    else:
        for k in range(min(rows, columns)):
            a[k, k] = val
        if wrap and rows > columns:
            # Past the last column a row is left out, and the diagonal begins again.
            for k in range(columns + 1, rows):
                if k % (columns + 1) < columns:
                    a[k, k % (columns + 1)] = val


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


@stands_for("array.merged")
def merged(a, axes, last):
    """The array with several of its axes as one behind the others; `last`: the same number of last places."""
    moved = np.moveaxis(a, axes, last)
    rows = moved.shape[: moved.ndim - len(last)]
    return np.ascontiguousarray(moved).reshape(rows + (_product(moved.shape[moved.ndim - len(last) :]),))


def _product(extents):
    return 1 if len(extents) == 0 else extents[0] * _product(extents[1:])
