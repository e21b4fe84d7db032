"""Making, shaping, taking apart and joining arrays."""

from __future__ import annotations

import numpy as np

from ._table import stands_for


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
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(min(m.shape[1], i + k + 1)):
            out[i, j] = m[i, j]
    return out


@stands_for("numpy.triu")
def triu(m, k=0):
    out = np.zeros_like(m)
    for i in range(m.shape[0]):
        for j in range(max(0, i + k), m.shape[1]):
            out[i, j] = m[i, j]
    return out


@stands_for("numpy.tri")
def tri(n, m=None, k=0):
    columns = n if m is None else m
    out = np.zeros((n, columns))
    for i in range(n):
        for j in range(min(columns, i + k + 1)):
            out[i, j] = 1.0
    return out


@stands_for("numpy.vander")
def vander(x, n=None, increasing=False):
    count = len(x) if n is None else n
    out = np.empty((len(x), count), dtype=x.dtype)
    for i in range(len(x)):
        for j in range(count):
            out[i, j] = x[i] ** (j if increasing else count - 1 - j)
    return out


@stands_for("numpy.column_stack")
def column_stack(arrays):
    return np.stack(arrays, 0).T.copy() if arrays[0].ndim == 1 else np.hstack(arrays)


@stands_for("numpy.dstack")
def dstack(arrays):
    first = arrays[0]
    out = np.empty((first.shape[0], first.shape[1], len(arrays)), dtype=first.dtype)
    for k in range(len(arrays)):
        out[:, :, k] = arrays[k]
    return out


@stands_for("numpy.atleast_1d")
def atleast_1d(a):
    if isinstance(a, np.ndarray):
        return a
    return np.array([a])


@stands_for("numpy.atleast_2d")
def atleast_2d(a):
    return a.reshape(1, a.size) if a.ndim == 1 else a


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
        a = a[:, ::-1].T.copy()
    return a


@stands_for("numpy.roll")
def roll(a, shift):
    flat = a.ravel()
    n = flat.size
    out = np.empty(n, dtype=a.dtype)
    for i in range(n):
        out[(i + shift) % n] = flat[i]
    return out.reshape(a.shape)


@stands_for("numpy.broadcast_to")
def broadcast_to(a, shape):
    out = np.empty(shape, dtype=a.dtype)
    out[:] = a
    return out


@stands_for("numpy.delete")
def delete(a, index):
    n = a.size
    gone = np.zeros(n, dtype=np.bool_)
    if isinstance(index, np.ndarray):
        for i in index:
            if i < -n or i >= n:
                raise IndexError("delete: the index is out of bounds")
            gone[i] = True
    else:
        if index < -n or index >= n:
            raise IndexError("delete: the index is out of bounds")
        gone[index] = True
    return a.ravel()[~gone]


@stands_for("numpy.extract")
def extract(condition, a):
    return a.ravel()[condition.ravel() != 0]


@stands_for("numpy.argwhere")
def argwhere(a):
    if a.ndim == 1:
        return np.flatnonzero(a).reshape(-1, 1)
    rows, columns = a.shape
    n = np.count_nonzero(a)
    out = np.empty((n, 2), dtype=np.int64)
    k = 0
    for i in range(rows):
        for j in range(columns):
            if a[i, j]:
                out[k, 0] = i
                out[k, 1] = j
                k += 1
    return out


@stands_for("array.nonzero2")
def nonzero2(a):
    pairs = argwhere(a)
    return pairs[:, 0].copy(), pairs[:, 1].copy()


@stands_for("numpy.select")
def select(conditions, choices, default=0):
    out = np.full(choices[0].shape, default, dtype=choices[0].dtype)
    for k in range(len(conditions) - 1, -1, -1):
        out = np.where(conditions[k], choices[k], out)
    return out


@stands_for("numpy.tile")
def tile(a, reps):
    out = np.empty(a.size * reps, dtype=a.dtype)
    flat = a.ravel()
    for k in range(reps):
        out[k * a.size : (k + 1) * a.size] = flat
    return out


@stands_for("numpy.array_split")
def array_split(a, sections):
    n = a.shape[0]
    long = n % sections
    parts = [a[:0]]
    begin = 0
    for k in range(sections):
        end = begin + n // sections + (1 if k < long else 0)
        parts.append(a[begin:end])
        begin = end
    return parts[1:]


@stands_for("numpy.split")
def split(a, sections):
    if a.shape[0] % sections != 0:
        raise ValueError("array split does not result in an equal division")
    return array_split(a, sections)


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
        raise IndexError("insert: the index is out of bounds")
    at = index + n if index < 0 else index
    out = np.empty(n + 1, dtype=a.dtype)
    flat = a.ravel()
    out[:at] = flat[:at]
    out[at] = value
    out[at + 1 :] = flat[at:]
    return out


@stands_for("numpy.fill_diagonal")
def fill_diagonal(a, value):
    for k in range(min(a.shape[0], a.shape[1])):
        a[k, k] = value


@stands_for("numpy.meshgrid")
def meshgrid(x, y):
    first = np.empty((y.size, x.size), dtype=x.dtype)
    second = np.empty((y.size, x.size), dtype=y.dtype)
    for k in range(y.size):
        first[k] = x
        second[k] = y[k]
    return first, second


@stands_for("array.tolist")
def tolist(a):
    if a.ndim == 1:
        return list(a)
    return [list(row) for row in a]
