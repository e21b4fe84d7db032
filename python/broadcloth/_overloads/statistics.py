"""Sums, means, quantiles, histograms and what else describes data."""

from __future__ import annotations

import builtins
import math
import operator

import numpy as np

from ._table import stands_for
from .shapes import merged, one_axis

# ---- reductions of the elements that a mask chooses, or that begin with a number


def _expect_mask(where):
    if isinstance(where, np.ndarray) and where.dtype != np.bool_:
        raise TypeError("Cannot cast array data to dtype('bool') according to the rule 'safe'")


def _expect_shape(shape, expected):
    if shape != expected:
        raise ValueError("a mask of a reduction broadcasts to the array")


def _chosen(a, where, otherwise):
    _expect_mask(where)
    chosen = np.where(where, a, otherwise)
    _expect_shape(chosen.shape, a.shape)
    return chosen


def _begun(dtype, initial):
    begun = dtype.type(initial)
    if isinstance(initial, int) and begun != initial:
        raise OverflowError("the initial value is out of bounds for the type of the result")
    return begun


@stands_for("numpy.sum")
def sum_of(a, axis=None, dtype=None, initial=0, where=True):
    total = np.sum(_chosen(a, where, a.dtype.type(0)), axis, dtype)
    return total + _begun(total.dtype, initial)


@stands_for("numpy.prod")
def product_of(a, axis=None, dtype=None, initial=1, where=True):
    product = np.prod(_chosen(a, where, a.dtype.type(1)), axis, dtype)
    return product * _begun(product.dtype, initial)


def _expect_initial(initial):
    if initial is None:
        raise ValueError("the reduction has no identity, so to use a where mask one has to specify 'initial'")


@stands_for("numpy.max", "numpy.amax")
def greatest(a, axis=None, initial=None, where=True):
    return _extreme(np.max, np.maximum, a, axis, initial, where)


@stands_for("numpy.min", "numpy.amin")
def least(a, axis=None, initial=None, where=True):
    return _extreme(np.min, np.minimum, a, axis, initial, where)


def _extreme(reduce, of_two, a, axis, initial, where):
    _expect_initial(initial)
    begun = _begun(a.dtype, 0 if initial is None else initial)
    if axis is None:
        return begun if a.size == 0 else of_two(reduce(_chosen(a, where, begun)), begun)
    if a.size == 0:
        return of_two((np.sum(a, axis) * 0).astype(a.dtype) + begun, begun)
    return of_two(reduce(_chosen(a, where, begun), axis), begun)


@stands_for("numpy.any")
def any_of(a, axis=None, where=True):
    return np.any(_chosen(a != 0, where, False), axis)


@stands_for("numpy.all")
def all_of(a, axis=None, where=True):
    return np.all(_chosen(a != 0, where, True), axis)


@stands_for("numpy.mean")
def mean_of(a, axis=None, where=True):
    if isinstance(a.dtype.type(0), int | bool):
        total = np.sum(_chosen(a, where, a.dtype.type(0)), axis, np.float64)
    else:
        total = np.sum(_chosen(a, where, a.dtype.type(0)), axis)
    return np.divide(total, np.sum(np.broadcast_to(where, a.shape), axis).astype(total.dtype))


@stands_for("numpy.var")
def variance(a, axis=None, dtype=None, ddof=0, where=None, mean=None, correction=None):
    less = _correction(ddof, correction)
    if mean is None and where is None:
        return np.var(a, axis, dtype, ddof=less)
    counted = np.broadcast_to(True if where is None else where, a.shape)
    squares = _squares(a, axis, dtype, counted, mean)
    return np.divide(squares, np.maximum(np.sum(counted, axis) - less, 0).astype(squares.dtype))


@stands_for("numpy.std")
def deviation(a, axis=None, dtype=None, ddof=0, where=None, mean=None, correction=None):
    return np.sqrt(variance(a, axis, dtype, ddof, where, mean, correction))


def _correction(ddof, correction):
    if correction is None:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return correction


def _expect_inexact(dtype):
    if dtype is not None and isinstance(np.zeros(1, dtype)[0], int | bool):
        raise TypeError("If a is inexact, then dtype must be inexact")


def _squares(a, axis, dtype, counted, mean):
    """The sums of the squared distances from the mean of the elements that `counted` chooses."""
    _expect_mask(counted)
    _expect_inexact(dtype)
    values = a if dtype is None else a.astype(dtype)
    if mean is None:
        total = np.sum(np.where(counted, values, values.dtype.type(0)), axis, keepdims=True)
        centre = np.divide(total, np.sum(counted, axis, keepdims=True).astype(total.dtype))
    else:
        centre = mean
    parts = np.where(counted, np.abs(values - centre), 0)
    return np.sum(parts * parts, axis) if dtype is None else np.sum(parts * parts, axis).astype(dtype)


# ---- differences


@stands_for("numpy.ediff1d")
def ediff1d(ary, to_end=None, to_begin=None):
    inner = np.diff(ary.ravel())
    if to_begin is not None:
        inner = np.concatenate((_ends(to_begin, inner), inner))
    if to_end is not None:
        inner = np.concatenate((inner, _ends(to_end, inner)))
    return inner


def _ends(given, inner):
    """What stands beside the differences, in their type: an error where it is of another kind."""
    values = np.atleast_1d(given).ravel()
    ends = np.empty(values.shape, dtype=inner.dtype)
    np.positive(values, out=ends)
    return ends


def _edge(given, rows, axis):
    """What diff() puts before or behind the last axis of `rows`: an array, or one element for each row."""
    edge = np.asarray(given)
    if edge.ndim > 0:
        return np.moveaxis(edge, axis, -1)
    return np.broadcast_to(edge, rows.shape[:-1] + (1,))


@stands_for("numpy.diff")
def diff(a, n=1, axis=-1, prepend=None, append=None):
    if n < 0:
        raise ValueError("diff(): order must be non-negative")
    rows = np.moveaxis(a, one_axis(axis), -1)
    first = rows.copy() if prepend is None else np.concatenate((_edge(prepend, rows, axis), rows), -1)
    out = first if append is None else np.concatenate((first, _edge(append, rows, axis)), -1)
    for _ in range(n):
        out = out[..., 1:] - out[..., :-1]
    return np.ascontiguousarray(np.moveaxis(out, -1, axis))


def _first_of_best(a, better):
    best = a[0]
    for i in range(1, a.size):
        if better(a[i], best):
            best = a[i]
    return best


@stands_for("builtins.least")
def first_least(a):
    """min() of an array."""
    if a.size == 0:
        raise ValueError("min() iterable argument is empty")
    return _first_of_best(a, operator.lt)


@stands_for("builtins.greatest")
def first_greatest(a):
    """max() of an array."""
    if a.size == 0:
        raise ValueError("max() iterable argument is empty")
    return _first_of_best(a, operator.gt)


@stands_for("numpy.cumsum")
def cumsum(a, axis=None, dtype=None):
    return _running(np.cumsum, np.add, a, axis) if dtype is None else _running(np.cumsum, np.add, a.astype(dtype), axis).astype(dtype)


@stands_for("numpy.cumprod")
def cumprod(a, axis=None, dtype=None):
    if dtype is None:
        return _running(np.cumprod, np.multiply, a, axis)
    return _running(np.cumprod, np.multiply, a.astype(dtype), axis).astype(dtype)


def _running(of_vector, of_two, a, axis):
    """The results over the elements up to each one, along an axis."""
    values = np.asarray(a)
    if values.ndim == 0 and axis is not None and axis != 0 and axis != -1:
        raise ValueError("the axis is out of bounds for an array without dimensions")
    if axis is None or values.ndim == 0:
        return of_vector(values.ravel())
    out = np.empty(values.shape, dtype=of_vector(values.ravel()[:0]).dtype)
    source, results = np.moveaxis(values, one_axis(axis), 0), np.moveaxis(out, axis, 0)
    for k in range(source.shape[0]):
        results[k] = source[k] if k == 0 else of_two(results[k - 1], source[k])
    return out


@stands_for("numpy.average")
def average(a, axis=None, weights=None, returned=0):
    if returned:
        mean = np.average(a, axis, weights)
        ones = np.ones(a.shape) if weights is None else weights if weights.shape == a.shape else weights.reshape(-1)
        total = ones.sum(axis) if weights is None or weights.shape == a.shape else mean * 0 + ones.sum()
        return mean, total
    if weights is None:
        return np.mean(a, axis)
    if a.shape == weights.shape:
        return np.divide((a * weights).sum(axis), _nonzero(weights.sum(axis)))
    if axis is None or weights.ndim != 1:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    rows = np.moveaxis(a, axis, -1)
    if rows.shape[-1] != weights.size:
        raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
    return (rows * weights).sum(-1) / _nonzero(weights.sum())


def _nonzero(total):
    if np.any(total == 0.0):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total


@stands_for("numpy.ptp")
def ptp(a, axis=None, keepdims=0):
    if a.dtype == np.bool_:
        raise TypeError("ptp() does not take booleans, which have no difference: convert with astype()")
    if keepdims:
        return np.max(a, axis, keepdims=True) - np.min(a, axis, keepdims=True)
    return np.max(a, axis) - np.min(a, axis)


@stands_for("numpy.median")
def median(a, axis):
    return _by_rows(np.median, a, axis)


def _by_rows(f, a, axis):
    """f of the vectors along an axis."""
    rows = merged(a, axis) if isinstance(axis, tuple) else np.moveaxis(a, axis, -1).copy()
    if rows.ndim == 1:
        return f(rows)
    n = rows.shape[-1]
    flat = rows.reshape(rows.size // max(n, 1), n)
    out = np.empty(rows.shape[:-1])
    if out.size != flat.shape[0]:
        return np.full(rows.shape[:-1], np.nan)
    results = out.ravel()
    for i in range(flat.shape[0]):
        results[i] = f(flat[i])
    return out


@stands_for("numpy.bincount")
def bincount(x, weights=None, minlength=0):
    if weights is None:
        return np.bincount(x, minlength=minlength)
    if x.size != weights.size:
        raise ValueError("The weights and list don't have the same length.")
    length = minlength
    for k in x:
        if k < 0:
            raise ValueError("'list' argument must have no negative elements")
        length = max(length, k + 1)
    out = np.zeros(length)
    for k in range(x.size):
        out[x[k]] += weights[k]
    return out


def _expect_method(method):
    if method != "linear" and method != "lower" and method != "higher" and method != "midpoint" and method != "nearest":
        raise ValueError("method must be 'linear', 'lower', 'higher', 'midpoint' or 'nearest' in compiled functions")


def _between(below, above, part, low, method):
    """What lies at a part of the way from the lowth number in order to the next."""
    if method == "linear":
        # From the nearer end, as NumPy interpolates.
        return above - (above - below) * (1.0 - part) if part >= 0.5 else below + (above - below) * part
    if method == "midpoint":
        return below + (above - below) * 0.5 if part > 0 else below * 1.0
    up = part > 0.5 or (part == 0.5 and low % 2 == 1) if method == "nearest" else method == "higher" and part > 0
    return (above if up else below) * 1.0


def _quantile_sorted(s, q, method):
    n = s.size
    if n == 0:
        return np.nan
    at = q * (n - 1)
    low = math.floor(at)
    return _between(s[low], s[min(low + 1, n - 1)], at - low, low, method)


@stands_for("numpy.quantile")
def quantile(a, q, axis=None, method="linear"):
    if a.dtype == np.bool_:
        raise TypeError("quantiles of booleans cannot be interpolated")
    if a.size == 0:
        raise IndexError("an array without elements has no quantiles")
    _expect_method(method)
    return _quantiles(a, q, method) if axis is None else _quantiles_along(a, q, axis, method, False)


def _quantiles_along(a, q, axis, method, numbers=True):
    """Those of the vectors along an axis; `numbers`: without their NaNs."""
    if isinstance(axis, tuple):
        rows = merged(a, axis)
    else:
        rows = np.ascontiguousarray(np.moveaxis(a, axis, -1))
    if rows.ndim == 1:
        return _quantiles(rows[~np.isnan(rows)] if numbers else rows, q, method)
    wanted = np.asarray(q)
    flat = rows.reshape(np.empty(rows.shape[:-1]).size, rows.shape[-1])
    out = np.empty((wanted.size, flat.shape[0]))
    for i in range(flat.shape[0]):
        row = flat[i][~np.isnan(flat[i])] if numbers else flat[i]
        out[:, i] = _quantiles(row, wanted.ravel(), method)
    return out.reshape(wanted.shape + rows.shape[:-1])


def _quantiles(a, q, method):
    if not isinstance(q, np.ndarray | list | tuple):
        return _one_quantile(np.asarray(a).ravel().astype(np.float64), q, method)
    s = np.sort(np.asarray(a).ravel().astype(np.float64))
    broken = s.size > 0 and np.isnan(s[-1])
    wanted = np.asarray(q)
    out = np.empty(wanted.size)
    for i in range(wanted.size):
        if wanted[i] < 0 or wanted[i] > 1:
            raise ValueError("Quantiles must be in the range [0, 1]")
        out[i] = np.nan if broken else _quantile_sorted(s, wanted[i], method)
    return out


def _one_quantile(a, q, method):
    """Without sorting all."""
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    n = a.size
    if n == 0 or np.isnan(a).any():
        return np.nan
    at = q * (n - 1)
    low = math.floor(at)
    s = np.partition(a, low)
    below = s[low]
    above = s[low + 1 :].min() if low + 1 < n else below
    return _between(below, above, at - low, low, method)


@stands_for("numpy.percentile")
def percentile(a, q, axis=None, method="linear"):
    return quantile(a, np.asarray(q) / 100 if isinstance(q, list | tuple) else q / 100, axis, method)


@stands_for("numpy.nanquantile")
def nanquantile(a, q, axis=None, method="linear"):
    if a.dtype == np.bool_:
        raise TypeError("quantiles of booleans cannot be interpolated")
    if a.size > 0:
        _expect_method(method)
    if axis is None:
        flat = np.asarray(a).ravel()
        return _quantiles(flat[~np.isnan(flat)], q, method)
    return _quantiles_along(a, q, axis, method)


@stands_for("numpy.nanpercentile")
def nanpercentile(a, q, axis=None, method="linear"):
    return nanquantile(a, np.asarray(q) / 100 if isinstance(q, list | tuple) else q / 100, axis, method)


def _with(a, where, otherwise):
    """The array with `otherwise` in the place of NaN, and of what `where` does not choose."""
    numbers = np.asarray(np.where(np.isnan(a), a.dtype.type(otherwise), a))
    return numbers if where is None else _chosen(numbers, where, a.dtype.type(otherwise))


def _counted(a, where):
    """Which elements are numbers, and chosen."""
    return np.asarray(~np.isnan(a) if where is None else _chosen(~np.isnan(a), where, False))


@stands_for("numpy.nansum")
def nansum(a, axis=None, dtype=None, initial=None, where=None):
    total = np.sum(_with(a, where, 0), axis, dtype)
    return total if initial is None else total + _begun(total.dtype, initial)


@stands_for("numpy.nanprod")
def nanprod(a, axis=None, dtype=None, initial=None, where=None):
    product = np.prod(_with(a, where, 1), axis, dtype)
    return product if initial is None else product * _begun(product.dtype, initial)


@stands_for("numpy.nanmean")
def nanmean(a, axis=None, dtype=None, where=None):
    if isinstance(a.dtype.type(0), int | bool):
        return np.mean(a, axis, dtype, where=True if where is None else where)
    _expect_inexact(dtype)
    total = np.sum(_with(a, where, 0), axis, dtype)
    return np.divide(total, np.sum(_counted(a, where), axis).astype(total.dtype))


@stands_for("numpy.nanmin")
def nanmin(a, axis=None, initial=None, where=None):
    return _extreme_of_numbers(np.min, np.minimum, a, axis, initial, where, np.inf)


@stands_for("numpy.nanmax")
def nanmax(a, axis=None, initial=None, where=None):
    return _extreme_of_numbers(np.max, np.maximum, a, axis, initial, where, -np.inf)


def _extreme_of_numbers(reduce, of_two, a, axis, initial, where, otherwise):
    if isinstance(a.dtype.type(0), int | bool):
        if initial is None and where is None:
            return reduce(a, axis)
        return _extreme(reduce, of_two, a, axis, initial, True if where is None else where)
    if initial is not None:
        return _extreme(reduce, of_two, _with(a, where, otherwise), axis, initial, True)
    if where is not None:
        _expect_initial(initial)
    found = reduce(_with(a, where, otherwise), axis)
    return np.where(np.sum(_counted(a, where), axis) > 0, found, np.nan)


@stands_for("numpy.nanmedian")
def nanmedian(a, axis=None):
    if axis is None:
        flat = np.asarray(a).ravel()
        return np.median(flat[~np.isnan(flat)])
    return _by_rows(_median_of_numbers, a, axis)


def _median_of_numbers(flat):
    return np.median(flat[~np.isnan(flat)])


@stands_for("numpy.nanvar")
def nanvar(a, axis=None, dtype=None, ddof=0, where=None, mean=None, correction=None):
    if isinstance(a.dtype.type(0), int | bool):
        return variance(a, axis, dtype, ddof, where, mean, correction)
    counted, less = _counted(a, where), _correction(ddof, correction)
    count = np.sum(counted, axis)
    squares = _squares(a, axis, dtype, counted, mean)
    return np.where(count > less, np.divide(squares, (count - less).astype(squares.dtype)), squares.dtype.type(np.nan))


@stands_for("numpy.nanstd")
def nanstd(a, axis=None, dtype=None, ddof=0, where=None, mean=None, correction=None):
    return np.sqrt(nanvar(a, axis, dtype, ddof, where, mean, correction))


@stands_for("numpy.nancumsum")
def nancumsum(a, axis=None, dtype=None):
    return cumsum(_with(a, None, 0), axis, dtype)


@stands_for("numpy.nancumprod")
def nancumprod(a, axis=None, dtype=None):
    return cumprod(_with(a, None, 1), axis, dtype)


@stands_for("numpy.nanargmax")
def nanargmax(a, axis=None):
    _expect_numbers(a, axis)
    return np.argmax(np.where(np.isnan(a), -np.inf, a), one_axis(axis))


@stands_for("numpy.nanargmin")
def nanargmin(a, axis=None):
    _expect_numbers(a, axis)
    return np.argmin(np.where(np.isnan(a), np.inf, a), one_axis(axis))


def _expect_numbers(a, axis):
    if np.any(np.all(np.isnan(a), axis)):
        raise ValueError("All-NaN slice encountered")


def _edges(a, low, high, bins, given):
    """The edges of equal bins, in single precision where the values are; NumPy computes there too unless the range is Python's numbers."""
    if a.dtype == np.float32:
        if given:
            return np.linspace(low, high, bins + 1).astype(np.float32)
        first = np.float32(low)
        step = (np.float32(high) - first) / np.float32(bins)
        edges = np.arange(bins + 1).astype(np.float32) * step
        edges += first
        edges[bins] = np.float32(high)
        return edges
    return np.linspace(low, high, bins + 1)


def _bound(a, x):
    """A bound of the range as the values are compared with it."""
    if a.dtype == np.float32:
        return np.float64(np.float32(x))
    return x


def _shift(a, edges, scale):
    """What is added to integers before their places are computed: between integers that are edges no number is near one."""
    if a.size > 0 and isinstance(a[0], np.integer) and scale <= 1 and np.all(np.floor(edges) == edges):
        return 0.5
    return 0.0


@stands_for("numpy.histogram")
def histogram(a, bins=10, range=None, density=0, weights=None):
    counts, edges = _histogram(a, bins, range)
    if weights is not None:
        counts = _weighed(a.ravel(), edges, weights)
    if density:
        return counts / np.diff(edges) / counts.sum(), edges
    return counts, edges


def _weighed(flat, edges, weights):
    if weights.size != flat.size:
        raise ValueError("weights should have the same shape as a.")
    sums = np.zeros(edges.size - 1, dtype=weights.dtype)
    given = weights.ravel()
    for i in builtins.range(flat.size):
        if flat[i] >= edges[0] and flat[i] <= edges[-1]:
            sums[min(np.searchsorted(edges, flat[i], side="right") - 1, sums.size - 1)] += given[i]
    return sums


def _histogram(a, bins, range):
    flat = a.ravel()
    if not isinstance(bins, np.ndarray | list | tuple) and bins < 1:
        raise ValueError("`bins` must be positive, when an integer")
    if isinstance(bins, np.ndarray):
        for i in builtins.range(bins.size - 1):
            if bins[i] > bins[i + 1]:
                raise ValueError("`bins` must increase monotonically, when an array")
        counts = np.zeros(bins.size - 1, dtype=np.int64)
        for x in flat:
            if x >= bins[0] and x <= bins[-1]:
                counts[min(np.searchsorted(bins, x, side="right") - 1, counts.size - 1)] += 1
        return counts, bins
    if range is None:
        low, high = (flat.min() * 1.0, flat.max() * 1.0) if flat.size > 0 else (0.0, 1.0)
    else:
        low, high = range[0] * 1.0, range[1] * 1.0
    if not (np.isfinite(low) and np.isfinite(high)):
        raise ValueError("the range of the values is not finite")
    if low > high:
        raise ValueError("max must be larger than min in range parameter.")
    if low == high:
        low -= 0.5
        high += 0.5
    edges = _edges(flat, low, high, bins, range is not None)
    low, high = _bound(flat, low), _bound(flat, high)
    if bins >= 2**31 - 1:
        raise MemoryError("a histogram of so many bins does not fit into memory")
    # Two tables, so that counting one element need not wait for the one before.
    counts = np.zeros(bins + 1, dtype=np.int64)
    others = np.zeros(bins + 1, dtype=np.int64)
    scale = bins / (high - low)
    # A place far enough from both ends of its bin is right whatever was rounded; near them what the edges say holds. In pieces, whose
    # places are computed as vectors. What lies outside is counted behind the last bin.
    near = 64 * np.finfo(edges.dtype).eps * (bins + (abs(low) + abs(high)) * scale)
    shift = _shift(flat, edges, scale)
    outside = np.int32(bins)
    places = np.empty(256, dtype=np.int32)
    for begin in builtins.range(0, flat.size, 256):
        part = flat[begin : begin + 256]
        doubts = 0
        for i in builtins.range(part.size):
            x = part[i] * 1.0
            place = (x - low + shift) * scale
            doubts += x != low and not abs(place - np.rint(place)) > near
            places[i] = np.int32(min(place, bins - 1.0)) if x >= low and x <= high else outside
        if doubts > 0:
            for i in builtins.range(part.size):
                x = part[i] * 1.0
                if x >= low and x <= high:
                    at = max(min(np.int64(places[i]), bins - 1), 0)
                    if x < edges[at]:
                        at -= 1
                    elif x >= edges[at + 1] and at < bins - 1:
                        at += 1
                    places[i] = np.int32(at)
        for i in builtins.range(0, part.size - 1, 2):
            counts[np.uint64(places[i])] += 1
            others[np.uint64(places[i + 1])] += 1
        if part.size % 2 == 1:
            counts[np.uint64(places[part.size - 1])] += 1
    return counts[:bins] + others[:bins], edges


def _below(a, b):
    """Whether a comes before b where a NaN comes last."""
    return a < b or (b != b and a == a)


@stands_for("numpy.digitize")
def digitize(x, bins, right=False):
    descending = bins.size > 1 and _below(bins[-1], bins[0])
    for k in range(bins.size - 1):
        if _below(bins[k], bins[k + 1]) if descending else _below(bins[k + 1], bins[k]):
            raise ValueError("bins must be monotonically increasing or decreasing")
    rising = bins[::-1].copy() if descending else bins.copy()
    if isinstance(x, np.ndarray):
        flat = x.ravel()
        out = np.empty(flat.size, dtype=np.int64)
        for i in range(flat.size):
            at = np.searchsorted(rising, flat[i]) if right else np.searchsorted(rising, flat[i], side="right")
            out[i] = bins.size - at if descending else at
        return out.reshape(x.shape)
    at = np.searchsorted(rising, x) if right else np.searchsorted(rising, x, side="right")
    return bins.size - at if descending else at


def _expect_matrix(m):
    if m.ndim > 2:
        raise ValueError("m or y has more than 2 dimensions")


def _variables(m, in_rows):
    rows = (m if m.ndim == 2 else m.reshape(1, m.size)) + np.zeros(1)  # at least double
    return rows if in_rows else np.ascontiguousarray(rows.T)


@stands_for("numpy.cov")
def cov(m, y=None, rowvar=True, bias=False, ddof=None, dtype=None):
    if dtype is not None:
        _expect_inexact(dtype)
        return cov(m, y, rowvar, bias, ddof).astype(dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    if less != int(less):
        raise ValueError("ddof must be integer")
    _expect_matrix(m)
    if y is None:
        if m.ndim < 2:
            wide = m.ravel() + np.zeros(1)
            return np.array(np.divide(np.var(wide) * m.size, max(m.size - less, 0)) + np.zeros(1, dtype=wide.dtype)[0])
        rows = _variables(m, rowvar)
    else:
        _expect_matrix(y)
        first = _variables(m, rowvar or m.ndim == 1)
        if first.shape[0] == 0:
            return np.zeros((0, 0))
        rows = np.vstack((first, _variables(y, rowvar or y.ndim == 1 or y.shape[0] == 1)))
    k, n = rows.shape
    centred = np.empty_like(rows)
    for i in range(k):
        centred[i] = rows[i] - rows[i].mean()
    return np.divide(centred @ np.conj(centred.T), max(n - less, 0))


@stands_for("numpy.corrcoef")
def corrcoef(x, y=None, rowvar=True, dtype=None):
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    n = c.shape[0]
    scale = np.sqrt(np.real(np.diag(c)))
    out = np.divide(np.divide(c, scale.reshape(n, 1)), scale.reshape(1, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = _within_one(out[i, j])
    return out


def _within_one(r):
    """Rounding may leave a correlation beyond what one can be."""
    if isinstance(r, np.complexfloating):
        real, imag = r.real, r.imag
        return complex(_within_one(real), _within_one(imag))
    return r if r != r else min(max(r, -1.0), 1.0)
