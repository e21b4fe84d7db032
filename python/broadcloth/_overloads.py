"""Python functions that stand for the libraries' in compiled functions, where those cannot be compiled or the compiler does not know them.

They are compiled as if the caller had written them, for the types that it calls them with. Branches on `ndim` and `isinstance` are decided
when they are compiled.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np

OVERLOADS: dict[str, Callable[..., Any]] = {}


def stands_for(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under the names that the compiler asks for."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            OVERLOADS[name] = function
        return function

    return register


# ---- heapq


def _sift_down(heap, start, at):
    item = heap[at]
    while at > start:
        parent = (at - 1) >> 1
        above = heap[parent]
        if item < above:
            heap[at] = above
            at = parent
            continue
        break
    heap[at] = item


def _sift_up(heap, at):
    end = len(heap)
    start = at
    item = heap[at]
    child = 2 * at + 1
    while child < end:
        right = child + 1
        if right < end and not heap[child] < heap[right]:
            child = right
        heap[at] = heap[child]
        at = child
        child = 2 * at + 1
    heap[at] = item
    _sift_down(heap, start, at)


@stands_for("_heapq.heappush", "heapq.heappush")
def heappush(heap, item):
    heap.append(item)
    _sift_down(heap, 0, len(heap) - 1)


@stands_for("_heapq.heappop", "heapq.heappop")
def heappop(heap):
    last = heap.pop()
    if len(heap) > 0:
        top = heap[0]
        heap[0] = last
        _sift_up(heap, 0)
        return top
    return last


@stands_for("_heapq.heapify", "heapq.heapify")
def heapify(heap):
    for i in range(len(heap) // 2 - 1, -1, -1):
        _sift_up(heap, i)


@stands_for("_heapq.heapreplace", "heapq.heapreplace")
def heapreplace(heap, item):
    top = heap[0]
    heap[0] = item
    _sift_up(heap, 0)
    return top


@stands_for("_heapq.heappushpop", "heapq.heappushpop")
def heappushpop(heap, item):
    if len(heap) > 0 and heap[0] < item:
        top = heap[0]
        heap[0] = item
        _sift_up(heap, 0)
        return top
    return item


@stands_for("bisect.bisect_left", "_bisect.bisect_left")
def bisect_left(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if a[middle] < x:
            low = middle + 1
        else:
            high = middle
    return low


@stands_for("bisect.bisect_right", "_bisect.bisect_right", "bisect.bisect", "_bisect.bisect")
def bisect_right(a, x):
    low, high = 0, len(a)
    while low < high:
        middle = (low + high) // 2
        if x < a[middle]:
            high = middle
        else:
            low = middle + 1
    return low


# ---- making and shaping arrays


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


@stands_for("numpy.swapaxes", "array.swapaxes")
def swapaxes(a, axis1, axis2):
    if a.ndim == 2:
        return a.T
    raise ValueError("swapaxes: expected a matrix")


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


@stands_for("numpy.ediff1d")
def ediff1d(a):
    return np.diff(a.ravel())


@stands_for("numpy.partition")
def partition(a, kth):
    return np.sort(a)


@stands_for("numpy.argpartition")
def argpartition(a, kth):
    return np.argsort(a)


@stands_for("numpy.select")
def select(conditions, choices, default=0):
    out = np.full(choices[0].shape, default, dtype=choices[0].dtype)
    for k in range(len(conditions) - 1, -1, -1):
        out = np.where(conditions[k], choices[k], out)
    return out


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
    first, second = np.unique(a), np.unique(b)
    keep = np.zeros(first.size, dtype=np.bool_)
    for i in range(first.size):
        at = np.searchsorted(second, first[i])
        keep[i] = at < second.size and second[at] == first[i]
    return first[keep]


@stands_for("numpy.setdiff1d")
def setdiff1d(a, b):
    first, second = np.unique(a), np.unique(b)
    keep = np.ones(first.size, dtype=np.bool_)
    for i in range(first.size):
        at = np.searchsorted(second, first[i])
        keep[i] = not (at < second.size and second[at] == first[i])
    return first[keep]


@stands_for("numpy.isin")
def isin(a, b):
    flat, known = a.ravel(), np.unique(b)
    out = np.zeros(flat.size, dtype=np.bool_)
    for i in range(flat.size):
        at = np.searchsorted(known, flat[i])
        out[i] = at < known.size and known[at] == flat[i]
    return out.reshape(a.shape)


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


@stands_for("numpy.inner")
def inner(a, b):
    return np.dot(a, b.T)


@stands_for("array.tolist")
def tolist(a):
    if a.ndim == 1:
        return list(a)
    return [list(row) for row in a]


# ---- math


@stands_for("math.factorial")
def factorial(n):
    if n < 0:
        raise ValueError("factorial() not defined for negative values")
    if n > 20:
        raise OverflowError("factorial() of more than 20 does not fit into 64 bits")
    product = 1
    for k in range(2, n + 1):
        product *= k
    return product


@stands_for("math.comb")
def comb(n, k):
    if n < 0 or k < 0:
        raise ValueError("comb() takes numbers of at least zero")
    if k > n:
        return 0
    chosen = 1
    for j in range(min(k, n - k)):
        chosen = chosen * (n - j) // (j + 1)
    return chosen


@stands_for("math.perm")
def perm(n, k):
    product = 1
    for j in range(k):
        product *= n - j
    return product


@stands_for("math.isclose")
def isclose(a, b, rel_tol=1e-09, abs_tol=0.0):
    if a == b:
        return True
    if math.isinf(a) or math.isinf(b):
        return False
    return abs(a - b) <= max(rel_tol * max(abs(a), abs(b)), abs_tol)


@stands_for("math.isqrt")
def isqrt(n):
    if n < 0:
        raise ValueError("isqrt() argument must be nonnegative")
    root = min(int(math.sqrt(n)), 3037000499)
    while root * root > n:
        root -= 1
    while root < 3037000499 and (root + 1) * (root + 1) <= n:
        root += 1
    return root


@stands_for("math.prod")
def prod(values):
    product = values[0]
    for k in range(1, len(values)):
        product *= values[k]
    return product


# ---- statistics


@stands_for("numpy.diff")
def diff(a, n=1):
    out = a.copy()
    for _ in range(n):
        out = out[1:] - out[:-1]
    return out


@stands_for("numpy.average")
def average(a, weights=None):
    if weights is None:
        return np.mean(a)
    return (a * weights).sum() / weights.sum()


@stands_for("numpy.gradient")
def gradient(f, step=1.0):
    n = f.size
    if n < 2:
        raise ValueError("gradient: expected at least two elements")
    out = np.empty(n)
    out[0] = (f[1] - f[0]) / step
    out[n - 1] = (f[n - 1] - f[n - 2]) / step
    for k in range(1, n - 1):
        out[k] = (f[k + 1] - f[k - 1]) / (2.0 * step)
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


@stands_for("numpy.norm")
def norm(x, ord=None):
    order = ord
    if order is None:
        return np.linalg.norm(x)
    if x.ndim == 1:
        size = np.abs(x)
        if order == np.inf:
            return size.max() * 1.0
        if order == -np.inf:
            return size.min() * 1.0
        if order == 0:
            return np.count_nonzero(x) * 1.0
        return (size**order).sum() ** (1.0 / order)
    if order == 1 or order == -1:
        sums = np.abs(x).sum(0)
        return (sums.max() if order == 1 else sums.min()) * 1.0
    if order == np.inf or order == -np.inf:
        sums = np.abs(x).sum(1)
        return (sums.max() if order > 0 else sums.min()) * 1.0
    if order == 2 or order == -2:
        _, s, _ = svd(x, False)
        return s[0] if order == 2 else s[-1]
    raise ValueError("Invalid norm order for matrices.")


def _quantile_sorted(s, q):
    n = s.size
    if n == 0:
        return np.nan
    at = q * (n - 1)
    low = math.floor(at)
    high = min(low + 1, n - 1)
    part = at - low
    # From the nearer end, as NumPy interpolates.
    if part >= 0.5:
        return s[high] - (s[high] - s[low]) * (1.0 - part)
    return s[low] + (s[high] - s[low]) * part


@stands_for("numpy.quantile")
def quantile(a, q):
    s = np.sort(a.ravel().astype(np.float64))
    broken = s.size > 0 and np.isnan(s[-1])
    if isinstance(q, np.ndarray):
        out = np.empty(q.size)
        for i in range(q.size):
            if q[i] < 0 or q[i] > 1:
                raise ValueError("Quantiles must be in the range [0, 1]")
            out[i] = np.nan if broken else _quantile_sorted(s, q[i])
        return out
    if q < 0 or q > 1:
        raise ValueError("Quantiles must be in the range [0, 1]")
    return np.nan if broken else _quantile_sorted(s, q)


@stands_for("numpy.percentile")
def percentile(a, q):
    return quantile(a, q / 100)


@stands_for("numpy.nanquantile")
def nanquantile(a, q):
    flat = a.ravel()
    return quantile(flat[~np.isnan(flat)], q)


@stands_for("numpy.nanpercentile")
def nanpercentile(a, q):
    return nanquantile(a, q / 100)


@stands_for("numpy.nanmedian")
def nanmedian(a):
    flat = a.ravel()
    return np.median(flat[~np.isnan(flat)])


@stands_for("numpy.nanvar")
def nanvar(a):
    flat = a.ravel()
    return np.var(flat[~np.isnan(flat)])


@stands_for("numpy.nanstd")
def nanstd(a):
    return math.sqrt(nanvar(a))


@stands_for("numpy.nanprod")
def nanprod(a):
    flat = a.ravel()
    return np.prod(flat[~np.isnan(flat)])


@stands_for("numpy.nancumsum")
def nancumsum(a):
    flat = a.ravel()
    return np.cumsum(np.where(np.isnan(flat), 0.0, flat))


@stands_for("numpy.nancumprod")
def nancumprod(a):
    flat = a.ravel()
    return np.cumprod(np.where(np.isnan(flat), 1.0, flat))


@stands_for("numpy.nanargmax")
def nanargmax(a):
    return np.argmax(np.where(np.isnan(a), -np.inf, a))


@stands_for("numpy.nanargmin")
def nanargmin(a):
    return np.argmin(np.where(np.isnan(a), np.inf, a))


@stands_for("numpy.histogram")
def histogram(a, bins=10, range=None):
    flat = a.ravel()
    if isinstance(bins, np.ndarray):
        counts = np.zeros(bins.size - 1, dtype=np.int64)
        for x in flat:
            if x >= bins[0] and x <= bins[-1]:
                counts[min(np.searchsorted(bins, x, side="right") - 1, counts.size - 1)] += 1
        return counts, bins.astype(np.float64)
    if range is None:
        low, high = (flat.min() * 1.0, flat.max() * 1.0) if flat.size > 0 else (0.0, 1.0)
    else:
        low, high = range[0] * 1.0, range[1] * 1.0
    if low == high:
        low -= 0.5
        high += 0.5
    edges = np.linspace(low, high, bins + 1)
    counts = np.zeros(bins, dtype=np.int64)
    for x in flat:
        if x < low or x > high:
            continue
        at = min(int((x - low) / (high - low) * bins), bins - 1)
        if x < edges[at]:
            at -= 1
        elif x >= edges[at + 1] and at < bins - 1:
            at += 1
        counts[at] += 1
    return counts, edges


@stands_for("numpy.digitize")
def digitize(x, bins, right=False):
    descending = bins.size > 1 and bins[0] > bins[-1]
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


def _interpolated(x, xp, fp):
    n = xp.size
    if np.isnan(x):
        return np.nan
    if x <= xp[0]:
        return fp[0] * 1.0
    if x >= xp[n - 1]:
        return fp[n - 1] * 1.0
    at = np.searchsorted(xp, x, side="right") - 1
    return fp[at] + (fp[at + 1] - fp[at]) / (xp[at + 1] - xp[at]) * (x - xp[at])


@stands_for("numpy.interp")
def interp(x, xp, fp):
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length.")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if isinstance(x, np.ndarray):
        flat = x.ravel()
        out = np.empty(flat.size)
        for i in range(flat.size):
            out[i] = _interpolated(flat[i], xp, fp)
        return out.reshape(x.shape)
    return _interpolated(x, xp, fp)


@stands_for("numpy.cov")
def cov(m, y=None, rowvar=True, bias=False):
    if y is None:
        if m.ndim == 1:
            return np.array(np.var(m) * m.size / (m.size - (0 if bias else 1)))
        rows = m.astype(np.float64) if rowvar else m.T.astype(np.float64)
    else:
        rows = np.vstack((m.reshape(-1, m.shape[-1]), y.reshape(-1, y.shape[-1]))).astype(np.float64)
    k, n = rows.shape
    centred = np.empty((k, n))
    for i in range(k):
        centred[i] = rows[i] - rows[i].mean()
    return centred @ centred.T / (n - (0 if bias else 1))


@stands_for("numpy.corrcoef")
def corrcoef(x, y=None):
    c = cov(x) if y is None else cov(x, y)
    if c.ndim == 0:
        return c / c
    n = c.shape[0]
    out = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            out[i, j] = c[i, j] / math.sqrt(c[i, i]) / math.sqrt(c[j, j])
    return out


@stands_for("numpy.convolve")
def convolve(a, v, mode="full"):
    if a.size == 0 or v.size == 0:
        raise ValueError("convolve: the arrays cannot be empty")
    n, m = a.size, v.size
    full = np.zeros(n + m - 1, dtype=(a[:1] * v[:1]).dtype)
    for i in range(n):
        for j in range(m):
            full[i + j] += a[i] * v[j]
    if mode == "full":
        return full
    short, long = min(n, m), max(n, m)
    if mode == "valid":
        return full[short - 1 : long].copy()
    first = (short - 1) // 2
    return full[first : first + long].copy()


@stands_for("numpy.correlate")
def correlate(a, v, mode="valid"):
    return convolve(a, v[::-1].copy(), mode)


@stands_for("numpy.trapz", "numpy.trapezoid")
def trapezoid(y, x=None, dx=1.0):
    s = 0.0
    for i in range(y.size - 1):
        step = dx if x is None else x[i + 1] - x[i]
        s += step * (y[i] + y[i + 1]) / 2.0
    return s


@stands_for("numpy.polyval")
def polyval(p, x):
    r = x * 0.0
    for c in p:
        r = r * x + c
    return r


@stands_for("numpy.cross")
def cross(a, b):
    if a.ndim != 1 or b.ndim != 1 or a.size != 3 or b.size != 3:
        raise ValueError("cross: expected two vectors of three elements")
    out = np.empty(3, dtype=(a * b).dtype)
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]
    return out


@stands_for("numpy.kron")
def kron(a, b):
    if a.ndim == 1:
        return np.outer(a, b).ravel()
    n, m = a.shape
    k, w = b.shape
    out = np.empty((n * k, m * w), dtype=(a[:1, :1] * b[:1, :1]).dtype)
    for i in range(n):
        for j in range(m):
            out[i * k : (i + 1) * k, j * w : (j + 1) * w] = a[i, j] * b
    return out


@stands_for("numpy.nan_to_num")
def nan_to_num(x):
    out = np.where(np.isnan(x), 0.0, x)
    out = np.where(out == np.inf, 1.7976931348623157e308, out)
    return np.where(out == -np.inf, -1.7976931348623157e308, out)


@stands_for("numpy.angle")
def angle(z):
    return np.arctan2(np.imag(z), np.real(z))


# ---- linear algebra


@stands_for("numpy.cholesky")
def cholesky(a):
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    out = np.zeros((n, n))
    for j in range(n):
        s = a[j, j] * 1.0
        for k in range(j):
            s -= out[j, k] * out[j, k]
        if not s > 0:
            raise np.linalg.LinAlgError("Matrix is not positive definite.")
        out[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j] * 1.0
            for k in range(j):
                t -= out[i, k] * out[j, k]
            out[i, j] = t / out[j, j]
    return out


@stands_for("numpy.qr")
def qr(a):
    """Householder's reflections; signs as LAPACK's."""
    m, n = a.shape
    k = min(m, n)
    r = a.astype(np.float64)
    q = np.eye(m)
    for j in range(min(m - 1, n)):
        norm = 0.0
        for i in range(j, m):
            norm += r[i, j] * r[i, j]
        norm = math.sqrt(norm)
        if norm == 0.0:
            continue
        alpha = -norm if r[j, j] >= 0 else norm
        v = r[j:, j].copy()
        v[0] -= alpha
        length = 0.0
        for x in v:
            length += x * x
        if length == 0.0:
            continue
        for c in range(j, n):
            s = 0.0
            for i in range(m - j):
                s += v[i] * r[j + i, c]
            s *= 2.0 / length
            for i in range(m - j):
                r[j + i, c] -= s * v[i]
        for c in range(m):
            s = 0.0
            for i in range(m - j):
                s += q[c, j + i] * v[i]
            s *= 2.0 / length
            for i in range(m - j):
                q[c, j + i] -= s * v[i]
        for i in range(j + 1, m):
            r[i, j] = 0.0
    return q[:, :k].copy(), r[:k].copy()


@stands_for("numpy.eigh")
def eigh(a):
    """Jacobi's rotations, cyclic by rows (Golub & Van Loan, 8.5)."""
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    s = np.empty((n, n))
    for i in range(n):
        for j in range(i + 1):
            s[i, j] = s[j, i] = a[i, j]
    v = np.eye(n)
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += s[i, j] * s[i, j]
    for _ in range(60):
        off = 0.0
        for i in range(n):
            for j in range(i):
                off += s[i, j] * s[i, j]
        if off <= 1e-32 * total:
            break
        for p in range(n - 1):
            for q in range(p + 1, n):
                if s[p, q] == 0.0:
                    continue
                theta = (s[q, q] - s[p, p]) / (2.0 * s[p, q])
                t = 1.0 / (abs(theta) + math.sqrt(theta * theta + 1.0))
                if theta < 0:
                    t = -t
                c = 1.0 / math.sqrt(t * t + 1.0)
                d = t * c
                for k in range(n):
                    x, y = s[k, p], s[k, q]
                    s[k, p] = c * x - d * y
                    s[k, q] = d * x + c * y
                for k in range(n):
                    x, y = s[p, k], s[q, k]
                    s[p, k] = c * x - d * y
                    s[q, k] = d * x + c * y
                for k in range(n):
                    x, y = v[k, p], v[k, q]
                    v[k, p] = c * x - d * y
                    v[k, q] = d * x + c * y
    w = np.empty(n)
    for i in range(n):
        w[i] = s[i, i]
    order = np.argsort(w)
    vectors = np.empty((n, n))
    for j in range(n):
        for i in range(n):
            vectors[i, j] = v[i, order[j]]
    return w[order], vectors


@stands_for("numpy.eigvalsh")
def eigvalsh(a):
    w, _ = eigh(a)
    return w


@stands_for("numpy.svd")
def svd(a, full_matrices=True):
    """One-sided Jacobi rotations of the columns (Hestenes 1958)."""
    m, n = a.shape
    wide = m < n
    work = a.T.astype(np.float64) if wide else a.astype(np.float64)
    rows, columns = work.shape
    v = np.eye(columns)
    for _ in range(60):
        turned = False
        for p in range(columns - 1):
            for q in range(p + 1, columns):
                alpha, beta, gamma = 0.0, 0.0, 0.0
                for i in range(rows):
                    alpha += work[i, p] * work[i, p]
                    beta += work[i, q] * work[i, q]
                    gamma += work[i, p] * work[i, q]
                if gamma == 0.0 or abs(gamma) <= 1e-16 * math.sqrt(alpha * beta):
                    continue
                turned = True
                zeta = (beta - alpha) / (2.0 * gamma)
                t = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
                if zeta < 0:
                    t = -t
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = c * t
                for i in range(rows):
                    x, y = work[i, p], work[i, q]
                    work[i, p] = c * x - s * y
                    work[i, q] = s * x + c * y
                for i in range(columns):
                    x, y = v[i, p], v[i, q]
                    v[i, p] = c * x - s * y
                    v[i, q] = s * x + c * y
        if not turned:
            break
    sizes = np.empty(columns)
    for j in range(columns):
        length = 0.0
        for i in range(rows):
            length += work[i, j] * work[i, j]
        sizes[j] = math.sqrt(length)
    order = np.argsort(-sizes)
    values = sizes[order]
    left = np.zeros((rows, columns))
    right = np.empty((columns, columns))
    smallest = values[0] * 1e-15 * rows if columns > 0 else 0.0
    for j in range(columns):
        at = order[j]
        for i in range(columns):
            right[i, j] = v[i, at]
        if values[j] > smallest:
            for i in range(rows):
                left[i, j] = work[i, at] / values[j]
    wanted = rows if full_matrices else columns
    basis = np.zeros((rows, wanted))
    for j in range(wanted):
        fresh = j >= columns or values[j] <= smallest
        if not fresh:
            basis[:, j] = left[:, j]
            continue
        # A direction that the others do not have, by Gram and Schmidt twice.
        for start in range(rows):
            x = np.zeros(rows)
            x[start] = 1.0
            for _ in range(2):
                for k in range(wanted):
                    if k < j or (k < columns and values[k] > smallest):
                        other = basis[:, k] if k < j else left[:, k]
                        d = 0.0
                        for i in range(rows):
                            d += x[i] * other[i]
                        for i in range(rows):
                            x[i] -= d * other[i]
            length = math.sqrt((x * x).sum())
            if length > 0.5 / math.sqrt(rows + 1.0):
                basis[:, j] = x / length
                break
    if wide:
        return right, values, basis.T.copy()
    return basis, values, right.T.copy()


@stands_for("numpy.matrix_rank")
def matrix_rank(a, tol=None):
    if a.ndim < 2:
        return int(np.any(a != 0))
    _, s, _ = svd(a, False)
    limit = s[0] * max(a.shape[0], a.shape[1]) * 2.220446049250313e-16 if tol is None else tol
    return np.count_nonzero(s > limit)


@stands_for("numpy.pinv")
def pinv(a, rcond=1e-15):
    u, s, v = svd(a, False)
    scaled = np.zeros(s.size)
    for i in range(s.size):
        if s[i] > rcond * s[0]:
            scaled[i] = 1.0 / s[i]
    return (v.T * scaled) @ u.T


@stands_for("numpy.lstsq")
def lstsq(a, b, rcond=-1.0):
    _, s, _ = svd(a, False)
    x = pinv(a, 2.220446049250313e-16 * max(a.shape[0], a.shape[1])) @ b
    rank = matrix_rank(a)
    left = a @ x - b
    if b.ndim == 1:
        residuals = np.array([(left * left).sum()])
    else:
        residuals = (left * left).sum(0).ravel()
    if rank < a.shape[1] or a.shape[0] <= a.shape[1]:
        residuals = residuals[:0]
    return x, residuals, rank, s


@stands_for("numpy.cond")
def cond(a):
    _, s, _ = svd(a, False)
    return np.inf if s[-1] == 0 else s[0] / s[-1]


@stands_for("numpy.slogdet")
def slogdet(a):
    d = np.linalg.det(a)
    # The scale goes through the factors, so that large determinants do not overflow.
    q, r = qr(a)
    log = 0.0
    for i in range(r.shape[0]):
        if r[i, i] == 0.0:
            return 0.0, -np.inf
        log += math.log(abs(r[i, i]))
    sign = 1.0
    for i in range(r.shape[0]):
        if r[i, i] < 0:
            sign = -sign
    if np.linalg.det(q) < 0:
        sign = -sign
    return (math.copysign(1.0, d) if d != 0.0 and abs(d) < np.inf else sign), log


@stands_for("numpy.matrix_power")
def matrix_power(a, n):
    power = abs(n)
    base = np.linalg.inv(a) if n < 0 else a.copy()
    out = np.eye(a.shape[0]).astype(base.dtype)
    while power > 0:
        if power & 1:
            out = out @ base
        base = base @ base
        power >>= 1
    return out


@stands_for("numpy.eigvals")
def eigvals(a):
    w, _ = eig(a)
    return w


@stands_for("numpy.eig")
def eig(a):
    """The shifted QR method on a Hessenberg matrix, in complex arithmetic (Golub & Van Loan, 7.5); vectors by back substitution."""
    n = a.shape[0]
    if a.shape[1] != n:
        raise np.linalg.LinAlgError("Last 2 dimensions of the array must be square.")
    h = a.astype(np.complex128)
    z = np.eye(n).astype(np.complex128)
    scale = np.abs(h).max() if n > 0 else 0.0
    low = n - 1
    turns = 0
    while low > 0:
        # A subdiagonal that is nothing beside its neighbours splits the matrix.
        split = low
        while split > 0:
            around = abs(h[split, split]) + abs(h[split - 1, split - 1])
            left = 0.0
            for j in range(split):
                left += abs(h[split, j])
            if left <= 2.3e-16 * (around if around > 0 else scale):
                for j in range(split):
                    h[split, j] = 0.0
                break
            split -= 1
        if split == low:
            low -= 1
            turns = 0
            continue
        turns += 1
        if turns > 300:
            raise np.linalg.LinAlgError("Eigenvalues did not converge")
        p, q, r, s = h[low - 1, low - 1], h[low - 1, low], h[low, low - 1], h[low, low]
        half = (p + s) / 2.0
        root = np.sqrt(half * half - (p * s - q * r))
        shift = half + root if abs(half + root - s) < abs(half - root - s) else half - root
        if turns % 11 == 0:
            shift = s + abs(h[low, low - 1])
        m = low - split + 1
        block = h[split : low + 1, split : low + 1].copy()
        for i in range(m):
            block[i, i] -= shift
        u = np.eye(m).astype(np.complex128)
        for j in range(m - 1):
            norm = 0.0
            for i in range(j, m):
                norm += abs(block[i, j]) ** 2
            norm = math.sqrt(norm)
            if norm == 0.0:
                continue
            head = block[j, j]
            alpha = -norm * (head / abs(head)) if abs(head) > 0 else -norm + 0j
            v = block[j:, j].copy()
            v[0] -= alpha
            length = 0.0
            for i in range(m - j):
                length += abs(v[i]) ** 2
            if length == 0.0:
                continue
            for c in range(j, m):
                t = 0j
                for i in range(m - j):
                    t += np.conj(v[i]) * block[j + i, c]
                t *= 2.0 / length
                for i in range(m - j):
                    block[j + i, c] -= t * v[i]
            for c in range(m):
                t = 0j
                for i in range(m - j):
                    t += u[c, j + i] * v[i]
                t *= 2.0 / length
                for i in range(m - j):
                    u[c, j + i] -= t * np.conj(v[i])
        for c in range(n):
            row = np.zeros(m, dtype=np.complex128)
            other = np.zeros(m, dtype=np.complex128)
            for i in range(m):
                for k in range(m):
                    row[i] += np.conj(u[k, i]) * h[split + k, c]
            for i in range(m):
                h[split + i, c] = row[i]
        for c in range(n):
            row = np.zeros(m, dtype=np.complex128)
            other = np.zeros(m, dtype=np.complex128)
            for i in range(m):
                for k in range(m):
                    row[i] += h[c, split + k] * u[k, i]
                    other[i] += z[c, split + k] * u[k, i]
            for i in range(m):
                h[c, split + i] = row[i]
                z[c, split + i] = other[i]
    w = np.empty(n, dtype=np.complex128)
    vectors = np.zeros((n, n), dtype=np.complex128)
    for k in range(n):
        w[k] = h[k, k]
        y = np.zeros(n, dtype=np.complex128)
        y[k] = 1.0
        for i in range(k - 1, -1, -1):
            t = 0j
            for j in range(i + 1, k + 1):
                t += h[i, j] * y[j]
            gap = h[k, k] - h[i, i]
            if abs(gap) < 1e-300 + 2.3e-16 * scale:
                gap = 2.3e-16 * (scale if scale > 0 else 1.0) + 0j
            y[i] = t / gap
        x = np.zeros(n, dtype=np.complex128)
        for i in range(n):
            for j in range(k + 1):
                x[i] += z[i, j] * y[j]
        length = 0.0
        for i in range(n):
            length += abs(x[i]) ** 2
        length = math.sqrt(length)
        for i in range(n):
            vectors[i, k] = x[i] / length
    return w, vectors


# ---- random numbers


@stands_for("numpy.random.choice")
def choice(a, size=None, replace=True):
    if isinstance(a, np.ndarray):
        pool = a.ravel()
    else:
        pool = np.arange(a)
    if pool.size == 0:
        raise ValueError("a must not be empty")
    if size is None:
        return pool[np.random.randint(0, pool.size)]
    shape = np.empty(size, dtype=pool.dtype)
    flat = shape.ravel()
    if replace:
        for i in range(flat.size):
            flat[i] = pool[np.random.randint(0, pool.size)]
    else:
        if flat.size > pool.size:
            raise ValueError("Cannot take a larger sample than population when 'replace=False'")
        order = np.random.permutation(pool.size)
        for i in range(flat.size):
            flat[i] = pool[order[i]]
    return flat.reshape(shape.shape)


def _one_exponential():
    return -math.log1p(-np.random.random())


def _one_gamma(shape):
    """Marsaglia & Tsang (2000)."""
    if shape < 1.0:
        u = np.random.random()
        while u == 0.0:
            u = np.random.random()
        return _one_gamma_from_one(shape + 1.0) * u ** (1.0 / shape)
    return _one_gamma_from_one(shape)


def _one_gamma_from_one(shape):
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = np.random.standard_normal()
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = np.random.random()
        if u < 1.0 - 0.0331 * x * x * x * x or (u > 0.0 and math.log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))):
            return d * v


def _one_poisson(lam):
    if lam < 0:
        raise ValueError("lam < 0")
    count = 0
    # Sums of independent Poisson numbers are Poisson: large means are halved by gamma times (Ahrens & Dieter 1974).
    while lam > 20.0:
        m = int(lam * 0.875)
        x = _one_gamma(float(m))
        if x > lam:
            return count + _one_binomial(m - 1, lam / x)
        count += m
        lam -= x
    limit = math.exp(-lam)
    product = np.random.random()
    while product > limit:
        count += 1
        product *= np.random.random()
    return count


def _one_binomial(n, p):
    if n < 0:
        raise ValueError("n < 0")
    if p < 0.0 or p > 1.0:
        raise ValueError("p < 0, p > 1 or p is NaN")
    count = 0
    # The middle of n uniforms is beta; what is left is a smaller binomial (Devroye 1986, X.4.3).
    while n > 40:
        i = (n + 1) // 2
        a = _one_gamma(float(i))
        b = _one_gamma(float(n + 1 - i))
        x = a / (a + b)
        if x <= p:
            count += i
            n -= i
            p = (p - x) / (1.0 - x)
        else:
            n = i - 1
            p = p / x
    for _ in range(n):
        if np.random.random() < p:
            count += 1
    return count


@stands_for("numpy.random.exponential")
def exponential(scale=1.0, size=None):
    if size is None:
        return scale * _one_exponential()
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * _one_exponential()
    return out


@stands_for("numpy.random.standard_exponential")
def standard_exponential(size=None):
    return exponential(1.0, size)


@stands_for("numpy.random.gamma")
def gamma(shape, scale=1.0, size=None):
    if shape < 0 or scale < 0:
        raise ValueError("gamma: expected a shape and a scale of at least zero")
    if size is None:
        return scale * _one_gamma(shape * 1.0)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * _one_gamma(shape * 1.0)
    return out


@stands_for("numpy.random.standard_gamma")
def standard_gamma(shape, size=None):
    return gamma(shape, 1.0, size)


@stands_for("numpy.random.beta")
def beta(a, b, size=None):
    if size is None:
        x = _one_gamma(a * 1.0)
        return x / (x + _one_gamma(b * 1.0))
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        x = _one_gamma(a * 1.0)
        flat[i] = x / (x + _one_gamma(b * 1.0))
    return out


@stands_for("numpy.random.chisquare")
def chisquare(df, size=None):
    return gamma(df / 2.0, 2.0, size)


@stands_for("numpy.random.standard_t")
def standard_t(df, size=None):
    if size is None:
        return np.random.standard_normal() / math.sqrt(2.0 * _one_gamma(df / 2.0) / df)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = np.random.standard_normal() / math.sqrt(2.0 * _one_gamma(df / 2.0) / df)
    return out


@stands_for("numpy.random.poisson")
def poisson(lam=1.0, size=None):
    if size is None:
        return _one_poisson(lam * 1.0)
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_poisson(lam * 1.0)
    return out


@stands_for("numpy.random.binomial")
def binomial(n, p, size=None):
    if size is None:
        return _one_binomial(n, p * 1.0)
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_binomial(n, p * 1.0)
    return out


@stands_for("numpy.random.geometric")
def geometric(p, size=None):
    if size is None:
        return math.ceil(math.log1p(-np.random.random()) / math.log1p(-p)) if p < 1.0 else 1
    out = np.empty(size, dtype=np.int64)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = math.ceil(math.log1p(-np.random.random()) / math.log1p(-p)) if p < 1.0 else 1
    return out


@stands_for("numpy.random.lognormal")
def lognormal(mean=0.0, sigma=1.0, size=None):
    if size is None:
        return math.exp(np.random.normal(mean, sigma))
    return np.exp(np.random.normal(mean, sigma, size))


@stands_for("numpy.random.laplace")
def laplace(loc=0.0, scale=1.0, size=None):
    if size is None:
        return loc + scale * (_one_exponential() - _one_exponential())
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = loc + scale * (_one_exponential() - _one_exponential())
    return out


@stands_for("numpy.random.weibull")
def weibull(a, size=None):
    if size is None:
        return _one_exponential() ** (1.0 / a)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = _one_exponential() ** (1.0 / a)
    return out


@stands_for("numpy.random.pareto")
def pareto(a, size=None):
    if size is None:
        return math.expm1(_one_exponential() / a)
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = math.expm1(_one_exponential() / a)
    return out


@stands_for("numpy.random.rayleigh")
def rayleigh(scale=1.0, size=None):
    if size is None:
        return scale * math.sqrt(2.0 * _one_exponential())
    out = np.empty(size)
    flat = out.ravel()
    for i in range(flat.size):
        flat[i] = scale * math.sqrt(2.0 * _one_exponential())
    return out


@stands_for("numpy.random.triangular")
def triangular(left, mode, right):
    u = np.random.random()
    c = (mode - left) / (right - left)
    if u < c:
        return left + math.sqrt(u * (right - left) * (mode - left))
    return right - math.sqrt((1.0 - u) * (right - left) * (right - mode))


@stands_for("random.choice")
def random_choice(values):
    return values[random.randrange(len(values))]


@stands_for("random.shuffle")
def random_shuffle(values):
    for i in range(len(values) - 1, 0, -1):
        j = random.randrange(i + 1)
        kept = values[i]
        values[i] = values[j]
        values[j] = kept


@stands_for("random.expovariate")
def expovariate(rate):
    return _one_exponential() / rate
