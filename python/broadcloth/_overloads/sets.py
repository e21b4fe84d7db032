"""Arrays as sets, and parts of their order."""

from __future__ import annotations

import numpy as np

from ._table import stands_for


@stands_for("numpy.partition")
def partition(a, kth):
    return np.sort(a)


@stands_for("numpy.argpartition")
def argpartition(a, kth):
    return np.argsort(a)


@stands_for("numpy.setxor1d")
def setxor1d(a, b):
    joined = np.sort(np.concatenate((np.unique(a), np.unique(b))))
    keep = np.ones(joined.size, dtype=np.bool_)
    for i in range(joined.size - 1):
        if joined[i] == joined[i + 1]:
            keep[i] = keep[i + 1] = False
    return joined[keep]


@stands_for("numpy.union1d")
def union1d(a, b):
    return np.unique(np.concatenate((a.ravel(), b.ravel())))


@stands_for("numpy.intersect1d")
def intersect1d(a, b):
    joined = np.sort(np.concatenate((np.unique(a), np.unique(b))))
    twice = np.zeros(joined.size, dtype=np.bool_)
    for i in range(joined.size - 1):
        twice[i] = joined[i] == joined[i + 1]
    return joined[twice]


@stands_for("numpy.setdiff1d")
def setdiff1d(a, b):
    first = np.unique(a)
    return first[~isin(first, b)]


@stands_for("numpy.unique")
def unique(ar, return_index=0, return_inverse=0, return_counts=0):
    flat = ar.ravel()
    order = np.argsort(flat, kind="stable")
    ordered = flat[order]
    new = np.ones(flat.size, dtype=np.bool_)
    for i in range(1, flat.size):
        x, y = ordered[i - 1], ordered[i]
        new[i] = x != y and (x == x or y == y)  # NaNs are one value
    first = np.nonzero(new)[0]
    inverse = np.empty(flat.size, dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return (
        (ordered[first],)
        + ((order[first],) if return_index else ())
        + ((inverse.reshape(ar.shape),) if return_inverse else ())
        + ((np.diff(first, append=flat.size),) if return_counts else ())
    )


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
