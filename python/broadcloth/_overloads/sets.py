"""Arrays as sets, and parts of their order."""

from __future__ import annotations

import numpy as np

from ._table import stands_for
from .shapes import one_axis


def _expect_places(kth, a, axis):
    n = np.size(a, axis)
    for k in np.atleast_1d(kth).ravel():
        if a.size > 0 and (k < -n or k >= n):
            raise ValueError(f"kth(={k}) out of bounds ({n})")


@stands_for("numpy.partition")
def partition(a, kth, axis=-1):
    if axis is None:
        return np.partition(a.ravel(), kth)
    _expect_places(kth, a, axis)
    return np.sort(a, axis)


@stands_for("array.partition")
def partition_in_place(a, kth, axis=-1):
    _expect_places(kth, a, axis)
    a.sort(axis)


@stands_for("numpy.argpartition", "array.argpartition")
def argpartition(a, kth, axis=-1):
    if axis is None:
        return argpartition(a.ravel(), kth)
    _expect_places(kth, a, axis)
    return np.argsort(a, axis)


def _joined(a, b, assume_unique):
    """What is in two sets, in order: elements of both stand there twice."""
    if assume_unique:
        return np.sort(np.concatenate((a.ravel(), b.ravel())))
    return np.sort(np.concatenate((np.unique(a), np.unique(b))))


@stands_for("numpy.setxor1d")
def setxor1d(a, b, assume_unique=0):
    joined = _joined(a, b, assume_unique)
    keep = np.ones(joined.size, dtype=np.bool_)
    for i in range(joined.size - 1):
        if joined[i] == joined[i + 1]:
            keep[i] = keep[i + 1] = False
    return joined[keep]


@stands_for("numpy.union1d")
def union1d(a, b):
    return np.unique(np.concatenate((a.ravel(), b.ravel())))


@stands_for("numpy.intersect1d")
def intersect1d(a, b, assume_unique=0):
    joined = _joined(a, b, assume_unique)
    twice = np.zeros(joined.size, dtype=np.bool_)
    for i in range(joined.size - 1):
        twice[i] = joined[i] == joined[i + 1]
    return joined[twice]


@stands_for("numpy.setdiff1d")
def setdiff1d(a, b, assume_unique=0):
    first = a.ravel() if assume_unique else np.unique(a)
    return first[~isin(first, b)]


@stands_for("numpy.unique")
def unique(ar, return_index=0, return_inverse=0, return_counts=0, axis=None, equal_nan=1):
    if axis is not None:
        return _unique_parts(ar, one_axis(axis), return_index, return_inverse, return_counts)
    flat = ar.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    new = np.ones(flat.size, dtype=np.bool_)
    for i in range(1, flat.size):
        x, y = ordered[i - 1], ordered[i]
        new[i] = x != y and (not equal_nan or x == x or y == y)  # NaNs are one value
    first = np.nonzero(new)[0]
    wanted = _places_of_unique(order, new, first, ar.shape, return_index, return_inverse, return_counts)
    return (ordered[first],) + wanted if len(wanted) > 0 else ordered[first]


def _places_of_unique(order, new, first, shape, return_index, return_inverse, return_counts):
    """What unique() gives beside the values: `new` tells where one begins among those in order, `first` where that is."""
    inverse = np.empty(order.size, dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return (
        ((order[first],) if return_index else ())
        + ((inverse.reshape(shape),) if return_inverse else ())
        + ((np.diff(first, append=order.size),) if return_counts else ())
    )


def _unique_parts(ar, axis, return_index, return_inverse, return_counts):
    """What differs along an axis, ordered by the elements of each part."""
    parts = np.ascontiguousarray(np.moveaxis(ar, axis, 0))
    n = parts.shape[0]
    rows = parts.reshape(n, parts.size // max(n, 1))
    order = np.arange(n)
    for column in range(rows.shape[1] - 1, -1, -1):
        order = order[np.argsort(rows[order, column], kind="stable")]
    new = np.ones(n, dtype=np.bool_)
    for i in range(1, n):
        new[i] = np.any(rows[order[i - 1]] != rows[order[i]])
    first = np.nonzero(new)[0]
    values = np.ascontiguousarray(np.moveaxis(parts[order[first]], 0, axis))
    wanted = _places_of_unique(order, new, first, (n,), return_index, return_inverse, return_counts)
    return (values,) + wanted if len(wanted) > 0 else values


@stands_for("numpy.searchsorted")
def searchsorted(a, v, side="left", sorter=None):
    return np.searchsorted(a[sorter], v, side)


@stands_for("numpy.lexsort")
def lexsort(keys):
    shape = np.asarray(keys[0]).shape
    if len(shape) != 1:
        out = np.empty(shape, dtype=np.int64)
        rows = out.reshape(out.size // max(shape[-1], 1), shape[-1])
        for r in range(rows.shape[0]):
            rows[r] = lexsort(_row_of_each(keys, r))
        return out
    order = np.argsort(keys[0], kind="stable")
    if isinstance(keys, tuple):
        return _sorted_by(order, keys[1:])
    for k in range(1, len(keys)):
        order = order[np.argsort(keys[k][order], kind="stable")]
    return order


def _row_of_each(keys, r):
    """The r-th row of each key, of those that have several."""
    if isinstance(keys, tuple):
        return () if len(keys) == 0 else (keys[0].reshape(-1, keys[0].shape[-1])[r],) + _row_of_each(keys[1:], r)
    return keys.reshape(keys.shape[0], -1, keys.shape[-1])[:, r]


def _sorted_by(order, keys):
    return order if len(keys) == 0 else _sorted_by(order[np.argsort(keys[0][order], kind="stable")], keys[1:])


@stands_for("numpy.isin")
def isin(a, b, assume_unique=False, invert=False):
    flat, known = a.ravel(), np.unique(b)
    out = np.zeros(flat.size, dtype=np.bool_)
    for i in range(flat.size):
        at = np.searchsorted(known, flat[i])
        out[i] = (at < known.size and known[at] == flat[i]) != invert
    return out.reshape(a.shape)


@stands_for("numpy.array_equal")
def array_equal(a1, a2, equal_nan):
    if a1.ndim != a2.ndim or a1.shape != a2.shape:
        return False
    if not equal_nan:
        return np.array_equal(a1, a2)
    return bool(np.all((a1 == a2) | (np.isnan(a1) & np.isnan(a2))))


@stands_for("builtins.iter")
def iterate(values):
    for value in values:  # noqa: UP028
        yield value
