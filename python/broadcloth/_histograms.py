"""Histograms: each element's bin is found on its device, and the bins are counted by one scatter."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._indexing import ndim as _ndim
from ._quantiles import percentile
from ._warnings import warn

if TYPE_CHECKING:
    from .typing import ArrayLike

_asarray = _c.asarray
_reduce = _c.reduce
_ufuncs = _c.ufuncs


def _flat(a: ArrayLike, weights: ArrayLike | None) -> tuple[ndarray, ndarray | None]:
    x = _asarray(a)
    if x.dtype.kind == "b":
        warn(f"Converting input from {x.dtype} to {np.uint8} for compatibility.", RuntimeWarning)
        x = x.astype(np.uint8)
    elif x.dtype.name == "bfloat16":  # to compare with the type would load ml_dtypes
        x = x.astype(np.float32)
    if weights is None:
        return _c.ravel(x), None
    w = _asarray(weights, device=x.device)
    if w.shape != x.shape:
        raise ValueError("weights should have the same shape as a.")
    return _c.ravel(x), _c.ravel(w)


def _on_host(value: Any) -> Any:
    """NumPy's scalar of an array without dimensions; what is no array of ours as it is."""
    return value.get()[()] if isinstance(value, ndarray) else value


def _extremes(x: ndarray) -> tuple[Any, Any]:
    """The least and the greatest element, read together."""
    low, high = _reduce("min", x), _reduce("max", x)
    return _on_host(low), _on_host(high)


def _ends(x: ndarray, limits: Any) -> tuple[Any, Any]:
    """The first and the last edge on the host: from `range` or, which looks, from the elements."""
    if limits is not None:
        first, last = map(_on_host, limits)
        if first > last:
            raise ValueError("max must be larger than min in range parameter.")
        what = "supplied"
    else:
        first, last = _extremes(x) if x.size else (0, 1)
        what = "autodetected"
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"{what} range of [{first}, {last}] is not finite")
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _difference(high: Any, low: Any) -> Any:
    """high - low of scalars, as an unsigned number where their type is a signed integer, which might not hold it."""
    t = np.result_type(high, low)
    if t.kind != "i":
        return np.subtract(high, low, dtype=t)
    return np.subtract(np.asarray(high, t), np.asarray(low, t), dtype=f"u{t.itemsize}", casting="unsafe")


# ---- How many bins ----------------------------------------------------------------------------------------------------------------------


def _spread(x: ndarray) -> Any:
    low, high = _extremes(x)
    return _difference(high, low)


def _sqrt_width(x: ndarray, ends: Any) -> Any:
    return _spread(x) / np.sqrt(x.size)


def _sturges_width(x: ndarray, ends: Any) -> Any:
    return _spread(x) / (np.log2(x.size) + 1.0)


def _rice_width(x: ndarray, ends: Any) -> Any:
    return _spread(x) / (2.0 * x.size ** (1.0 / 3))


def _scott_width(x: ndarray, ends: Any) -> Any:
    return (24.0 * np.pi**0.5 / x.size) ** (1.0 / 3.0) * _on_host(x.std())


def _stone_width(x: ndarray, ends: Any) -> Any:
    """Stone's rule: the number of bins with the least estimated integrated squared error."""
    n, spread = x.size, _spread(x)
    if n <= 1 or spread == 0:
        return 0
    most = max(100, int(np.sqrt(n)))
    shares = [histogram(x, count, ends)[0] / n for count in range(1, most + 1)]
    squares = _on_host(_c.stack([_reduce("sum", p * p) for p in shares]))
    errors = [(2 - (n + 1) * square) / (spread / count) for count, square in enumerate(squares, 1)]
    count = 1 + min(range(most), key=errors.__getitem__)
    if count == most:
        warn("The number of bins estimated may be suboptimal.", RuntimeWarning)
    return spread / count


def _doane_width(x: ndarray, ends: Any) -> Any:
    n = x.size
    if n <= 2:
        return 0.0
    sigma = x.std()
    skewness = (((x - x.mean()) / sigma) ** 3).mean()
    if not _on_host(sigma) > 0.0:
        return 0.0
    error = np.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    return _spread(x) / (1.0 + np.log2(n) + np.log2(1.0 + np.absolute(_on_host(skewness)) / error))


def _freedman_diaconis_width(x: ndarray, ends: Any) -> Any:
    upper, lower = _on_host(percentile(x, [75, 25]))
    return 2.0 * (upper - lower) * x.size ** (-1.0 / 3.0)


def _auto_width(x: ndarray, ends: Any) -> Any:
    wide = max(_freedman_diaconis_width(x, ends), _sqrt_width(x, ends) / 2)
    return min(wide, _sturges_width(x, ends))


_WIDTHS: dict[str, Callable[[ndarray, Any], Any]] = {
    "stone": _stone_width,
    "auto": _auto_width,
    "doane": _doane_width,
    "fd": _freedman_diaconis_width,
    "rice": _rice_width,
    "scott": _scott_width,
    "sqrt": _sqrt_width,
    "sturges": _sturges_width,
}


def _estimated_count(x: ndarray, rule: str, limits: Any, weights: ndarray | None) -> tuple[int, tuple[Any, Any]]:
    """The number of bins by a rule, and the first and the last edge."""
    if rule not in _WIDTHS:
        raise ValueError(f"{rule!r} is not a valid estimator for `bins`")
    if weights is not None:
        raise TypeError("Automated estimation of the number of bins is not supported for weighted data")
    ends = _ends(x, limits)
    if limits is not None:
        x = x[(x >= ends[0]) & (x <= ends[1])]
    width = _WIDTHS[rule](x, ends) if x.size else 0
    if not width:
        return 1, ends
    if x.dtype.kind in "iu" and width < 1:
        width = 1
    return int(np.ceil(_difference(ends[1], ends[0]) / width)), ends


# ---- Edges ------------------------------------------------------------------------------------------------------------------------------


def _given_edges(bins: Any, device: Any, complaint: str) -> ndarray:
    edges = _asarray(bins, device=device)
    if bool(_reduce("any", edges[:-1] > edges[1:])):
        raise ValueError(complaint)
    return edges


def _edges(x: ndarray, bins: Any, limits: Any, weights: ndarray | None) -> tuple[ndarray, tuple[Any, Any, int] | None]:
    """The edges, and (first, last, number of bins) where all bins are equally wide."""
    if isinstance(bins, str):
        count, ends = _estimated_count(x, bins, limits, weights)
    elif _ndim(bins) == 0:
        try:
            count = operator.index(bins)
        except TypeError:
            raise TypeError("`bins` must be an integer, a string, or an array") from None
        if count < 1:
            raise ValueError("`bins` must be positive, when an integer")
        ends = _ends(x, limits)
    elif _ndim(bins) == 1:
        return _given_edges(bins, x.device, "`bins` must increase monotonically, when an array"), None
    else:
        raise ValueError("`bins` must be 1d, when an array")
    t = np.result_type(*ends, x.dtype)
    if t.kind in "iu":
        t = np.result_type(t, float)
    # A few numbers between two of the host: what they are is checked without waiting for the device.
    edges = np.linspace(*ends, count + 1, dtype=t)
    if np.any(edges[:-1] >= edges[1:]):
        raise ValueError(f"Too many bins for data range. Cannot create {count} finite-sized bins.")
    return _asarray(edges, device=x.device), (*ends, count)


# ---- Counting ---------------------------------------------------------------------------------------------------------------------------


def _equal_bins(x: ndarray, edges: ndarray, first: Any, last: Any, count: int) -> ndarray:
    """The bin of each element by division, corrected by the edges; `count` for elements outside."""
    inside = (x >= first) & (x <= last)
    v = x.astype(edges.dtype, copy=False)
    place = (v - first) / _difference(last, first) * count
    at = _ufuncs["minimum"](_c.where(inside, place, 0.0).astype(np.int64), count - 1)
    at = _ufuncs["maximum"](_c.where(v < edges[at], at - 1, at), 0)
    at = _c.where((v >= edges[at + 1]) & (at != count - 1), at + 1, at)
    return _c.where(inside, at, count)


def _any_bins(x: ndarray, edges: ndarray) -> ndarray:
    """The bin of each element by search, 0 for what lies before the first edge and `len(edges)` for what lies behind the last."""
    if edges.size == 0:
        return _c.zeros(x.shape, np.int64, device=x.device)
    return _c.searchsorted(edges, x, "right") - (x == edges[-1])


def _sorted_counts(x: ndarray, edges: ndarray) -> ndarray:
    """How many elements lie in each bin: the edges' places among the sorted elements, less the ones before them."""
    ordered = _c.sort(x)
    places = _c.searchsorted(ordered, edges[:-1]), _c.searchsorted(ordered, edges[-1:], "right")
    return _c.diff(_c.concatenate(list(places)), 1, -1, None, None)


def _counted(at: ndarray, count: int, weights: ndarray | None) -> ndarray:
    """How many of 0, 1, … count - 1 are in `at`, or the sums of their weights, in a wide type."""
    if weights is None:
        return _c.count_places(at, count, _c.ones((), np.int64, device=at.device))
    wide = {"f": np.float64, "V": np.float64, "c": np.complex128}.get(weights.dtype.kind, np.int64)
    return _c.count_places(at, count, weights.astype(wide, copy=False))


def histogram_bin_edges(a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None) -> ndarray:
    """The edges of the bins that `histogram` uses; see there for the parameters.

    Examples
    --------
    >>> bc.histogram_bin_edges([0.0, 1.0, 4.0], 4)
    array([0., 1., 2., 3., 4.])
    >>> len(bc.histogram_bin_edges(bc.arange(100.0), "sturges"))
    9
    """
    x, w = _flat(a, weights)
    return _edges(x, bins, range, w)[0]


def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[ndarray, ndarray]:
    """How many elements lie in each of several intervals.

    Parameters
    ----------
    a : array_like, real
        Flattened first.
    bins : int, str or 1-d array_like
        How many bins of one width; the rule that tells how many ('auto', 'doane', 'fd', 'rice', 'scott', 'sqrt', 'stone', 'sturges'); or
        the edges, ascending.
    range : (float, float), optional
        The first and the last edge where `bins` is a number or a rule; without it the elements are looked at. Elements outside do not
        count.
    density : bool
        Gives the density of probability, whose integral is 1, in the place of counts.
    weights : array_like, optional
        Shaped as `a`: what each element counts for.

    Returns
    -------
    hist : ndarray
        Shape (number of bins,): int64, the weights' dtype, or float64 for a density. A bin holds its left edge; the last one both.
    bin_edges : ndarray
        One more than bins.

    Raises
    ------
    ValueError
        The range is not finite or not ascending, edges do not ascend, or `weights` has another shape.
    TypeError
        `bins` is neither of these, or a rule beside weights.

    Examples
    --------
    >>> bc.histogram([1, 2, 1, 4], bins=[1, 2, 3, 4])
    (array([2, 1, 1]), array([1, 2, 3, 4]))
    >>> bc.histogram(bc.arange(4), bins=2, density=True)[0]
    array([0.33333333, 0.33333333])
    """
    x, w = _flat(a, weights)
    edges, equal = _edges(x, bins, range, w)
    if equal is not None:
        # Without limits the elements were looked at, so that nothing waits.
        near = _near_counts(x, edges, equal) if w is None and range is None and x.device.type == "cpu" else None
        counts = _counted(_equal_bins(x, edges, *equal), equal[2] + 1, w)[:-1] if near is None else near
    elif w is None and edges.size > 1 and x.device.type == "cpu":
        # A processor guesses the branches of a sort better than those of a search for each element (1e5 elements: 1.4 and 15 ms).
        counts = _sorted_counts(x, edges)
    else:
        counts = _counted(_any_bins(x, edges), edges.size + 1, w)[1:-1]
    if w is not None:
        counts = counts.astype(w.dtype, copy=False)
    if density:
        widths = _c.diff(edges, 1, -1, None, None).astype(np.float64, copy=False)
        return counts / widths / counts.sum(), edges
    return counts, edges


def _near_counts(x: ndarray, edges: ndarray, equal: tuple[Any, Any, int]) -> ndarray | None:
    """Counts of computed elements in host memory in bins of one width, or None where kernels count."""
    exact = x.astype(np.float32) if x.dtype.char == "e" else x
    return _c.histogram_near(exact, edges.astype(np.float64, copy=False), float(equal[0]), float(equal[1]))


def _columns(sample: Any) -> list[ndarray]:
    """The coordinates of points given as (N, D) array or as a sequence of D arrays."""
    if getattr(sample, "ndim", None) == 2:
        points = _asarray(sample)
        return [points[:, d] for d in range(points.shape[1])]
    return list(_c.atleast_2d(_asarray(sample)))


def _dimension_edges(x: ndarray, bins: Any, limits: Any, i: int) -> ndarray:
    if _ndim(bins) == 1:
        return _given_edges(bins, x.device, f"`bins[{i}]` must be monotonically increasing, when an array")
    if _ndim(bins) > 1:
        raise ValueError(f"`bins[{i}]` must be a scalar or 1d array")
    if bins < 1:
        raise ValueError(f"`bins[{i}]` must be positive, when an integer")
    ends = _ends(x, limits)
    try:
        count = operator.index(bins)
    except TypeError:
        raise TypeError(f"`bins[{i}]` must be an integer, when a scalar") from None
    return _asarray(np.linspace(*ends, count + 1), device=x.device)


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[ndarray, list[ndarray]]:
    """How many points lie in each cell of a grid.

    Parameters
    ----------
    sample : (N, D) array, or sequence of D arrays of N coordinates
    bins : int, or sequence of D ints or 1-d arrays
        How many bins each dimension has, or their edges.
    range : sequence of D (float, float) or None, optional
        The first and the last edge of each dimension; None looks at the coordinates.
    density : bool
        Gives the density of probability in the place of counts.
    weights : (N,) array_like, optional
        What each point counts for.

    Returns
    -------
    H : ndarray of float64
        D dimensions.
    edges : list of D ndarrays

    Raises
    ------
    ValueError
        `bins` or `range` has not one entry a dimension, or one of them is refused as in `histogram`.

    Examples
    --------
    >>> counts, edges = bc.histogramdd(bc.array([[0.0, 0.0], [1.0, 1.0], [1.0, 0.9]]), bins=(2, 2))
    >>> counts
    array([[1., 0.],
           [0., 2.]])
    """
    columns = _columns(sample)
    dimensions = len(columns)
    try:
        given: Sequence[Any] = list(bins)
    except TypeError:
        given = [bins] * dimensions
    if len(given) != dimensions:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    if range is not None and len(range) != dimensions:
        raise ValueError("range argument must have one entry per dimension")
    edges = [_dimension_edges(x, given[i], None if range is None else range[i], i) for i, x in enumerate(columns)]
    shape = [e.size + 1 for e in edges]
    if math.prod(shape) > sys.maxsize:
        raise ValueError(f"array is too big: a histogram of {dimensions} dimensions with {math.prod(shape)} cells")
    w = None
    if weights is not None:
        w = _asarray(weights, device=columns[0].device)
        if w.dtype.kind == "c":
            raise TypeError(f"Cannot cast array data from dtype('{w.dtype}') to dtype('float64') according to the rule 'safe'")
        if w.shape != columns[0].shape:
            raise ValueError("The weights and list don't have the same length.")
    at: Any = 0
    for x, e, extent in zip(columns, edges, shape, strict=True):
        at = at * extent + _any_bins(x, e)
    counts = _counted(at, math.prod(shape), w).reshape(shape)
    counts = counts[(slice(1, -1),) * dimensions].astype(np.float64, copy=False)
    if not density:
        return counts, edges
    total = counts.sum()
    for d, e in enumerate(edges):
        counts = counts / _c.diff(e, 1, -1, None, None).reshape((-1,) + (1,) * (dimensions - d - 1))
    return counts / total, edges


def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Any = None, density: bool | None = None, weights: ArrayLike | None = None
) -> tuple[ndarray, ndarray, ndarray]:
    """How many points of the plane lie in each cell of a grid; see `histogramdd`.

    Parameters
    ----------
    x, y : (N,) array_like
    bins : int, 1-d array_like, or a pair of these
        One for both dimensions, or one for each.

    Returns
    -------
    H : ndarray of float64
        Shape (bins along x, bins along y).
    xedges, yedges : ndarray

    Raises
    ------
    ValueError
        `x` and `y` differ in length; or see `histogramdd`.

    Examples
    --------
    >>> counts, xedges, yedges = bc.histogram2d([0.0, 1.0, 1.0], [0.0, 0.0, 2.0], bins=2)
    >>> counts
    array([[1., 0.],
           [1., 1.]])
    """
    if len(x) != len(y):  # type: ignore[arg-type]
        raise ValueError("x and y must have the same length.")
    x, y = _asarray(x), _asarray(y)
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"histogram2d: expected 1-d samples, got {x.ndim} and {y.ndim} dimensions")
    try:
        given = len(bins)
    except TypeError:
        given = 1
    if given not in (1, 2):
        bins = [_asarray(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]
