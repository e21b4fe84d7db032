"""Medians, percentiles and quantiles: few order statistics are selected, and only what depends on the number of NaNs is sorted."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._manipulation import normalized_axes
from ._warnings import warn

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike

_asarray = _c.asarray
_ufuncs = _c.ufuncs


def _continuous(alpha: float, beta: float) -> Callable[..., Any]:
    """The place of a quantile between order statistics (Hyndman & Fan, "Sample quantiles in statistical packages", 1996)."""
    return lambda n, q, xp: n * q + (alpha + q * (1 - alpha - beta)) - 1


def _step(place: Callable[..., Any], at_step: Callable[..., Any]) -> Callable[..., Any]:
    """Of the two order statistics around a place the upper one, and the lower one where `at_step` holds."""

    def rank(n: Any, q: ArrayLike, xp: Any) -> Any:
        at = place(n, q)
        low = xp.floor(at)
        return xp.maximum(xp.where(at_step(at, low), low, low + 1), 0.0)

    return rank


# Where a quantile lies among n sorted values, counted from 0. `xp` is numpy, or this module where n is an array on a device.
_PLACES: dict[str, Callable[..., Any]] = {
    "inverted_cdf": _step(lambda n, q: n * q - 1, lambda at, low: at == low),
    "averaged_inverted_cdf": lambda n, q, xp: n * q - 1,
    "closest_observation": _step(lambda n, q: n * q - 1 - 0.5, lambda at, low: (at == low) & (low % 2 == 1)),
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": lambda n, q, xp: (n - 1) * q,
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "lower": lambda n, q, xp: xp.floor((n - 1) * q),
    "higher": lambda n, q, xp: xp.ceil((n - 1) * q),
    "midpoint": lambda n, q, xp: 0.5 * (xp.floor((n - 1) * q) + xp.ceil((n - 1) * q)),
    "nearest": lambda n, q, xp: xp.rint((n - 1) * q),
}
_DISCRETE = {"inverted_cdf", "closest_observation", "lower", "higher", "nearest"}


class _Device:
    """The functions of _PLACES on a device."""

    floor, ceil, rint, maximum = _ufuncs["floor"], _ufuncs["ceil"], _ufuncs["rint"], _ufuncs["maximum"]
    where = staticmethod(_c.where)


def _weight(method: str, gamma: Any, place: Any, xp: Any) -> Any:
    """How much the upper of two order statistics counts."""
    if method == "averaged_inverted_cdf":
        return xp.where(gamma == 0, 0.5, 1.0)
    if method == "midpoint":
        return xp.where(place % 1 == 0, 0.0, 0.5)
    return gamma


def _between(low: Any, high: Any, weight: Any) -> ndarray:
    """Linear interpolation from the nearer end, as NumPy rounds it."""
    step = high - low
    if isinstance(weight, float):
        return high - step * (1 - weight) if weight >= 0.5 else low + step * weight
    return _c.where(_asarray(weight >= 0.5), high - step * (1 - weight), low + step * weight)


def _place_of(method: str) -> Callable[..., Any]:
    try:
        return _PLACES[method]
    except (KeyError, TypeError):
        raise ValueError(f"{method!r} is not a valid method. Use one of: {_PLACES.keys()}") from None


class _Axes:
    """The reduced axes of an array as one last axis, and how a result gets its axes and goes to `out`."""

    def __init__(self, a: ndarray, axis: Any, given: Any) -> None:
        self.given = given
        self.axes = normalized_axes(axis, a.ndim)
        self.ndim = a.ndim
        self.kept = [d for d in range(a.ndim) if d not in self.axes]
        self.lead = tuple(a.shape[d] for d in self.kept)

    def lines(self, a: ndarray) -> ndarray:
        """Shape (kept axes…, n)."""
        if self.ndim == 0:
            return a.reshape(1)
        if len(self.axes) == 1:
            return _c.moveaxis(a, self.axes[0], -1)
        count = math.prod(a.shape[d] for d in self.axes)
        return _c.transpose(a, (*self.kept, *self.axes)).reshape((*self.lead, count))

    def finish(self, made: ndarray, q_ndim: int, keepdims: bool, out: Any, stretches: bool = False, unsafe: bool = False) -> ndarray:
        """`made` has the axes of the quantiles first and then those that are kept. With `stretches` it may be broadcast to `out`."""
        if keepdims:
            made = _c.expand_dims(made, tuple(q_ndim + d for d in self.axes))
        if out is None:
            return _c.as_result(made, self.given)
        target = out[0] if isinstance(out, tuple) else out
        if stretches and target.ndim > made.ndim and _broadcasts(made.shape, target.shape):
            made = _c.broadcast_to(made, target.shape)
        if target.shape != made.shape:
            raise ValueError(f"Wrong shape of argument 'out', shape={made.shape} is required; got shape={target.shape}.")
        _c.copyto(target, made, casting="unsafe" if unsafe or made.dtype.kind == target.dtype.kind else "same_kind")
        return target


def _broadcasts(shape: tuple[int, ...], to: tuple[int, ...]) -> bool:
    try:
        return np.broadcast_shapes(shape, to) == to
    except ValueError:
        return False


def _notice_nan(made: ndarray, message: str) -> ndarray:
    """The warning is given when a NaN of the result is first read; see the design notes on warnings."""
    _c.notice(made, message)
    return made


# ---- Median --------------------------------------------------------------------------------------------------------------------------


def median(
    a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: bool = False
) -> ndarray:
    """The middle value along axes, or the mean of the two middle ones. NaN where there is a NaN.

    Parameters
    ----------
    a : array_like
    axis : int, tuple of ints or None
        None: the flattened array.
    out : ndarray, optional
        Where the result goes; it must have the result's shape.
    overwrite_input : bool
        Allowed for NumPy's sake; the input stays as it is.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.

    Examples
    --------
    >>> bc.median([[10, 7, 4], [3, 2, 1]], axis=1)
    array([7., 2.])
    """
    x = _asarray(a)
    at = _Axes(x, axis, a)
    lines = at.lines(x)
    n = lines.shape[-1]
    result = np.dtype(x.dtype if x.dtype.kind in "fcm" else np.float64)
    if n == 0:
        return at.finish(lines.mean(axis=-1, dtype=None if result.kind == "m" else result), 0, keepdims, out, unsafe=True)
    middle = [(n - 1) // 2] if n % 2 else [n // 2 - 1, n // 2]
    checked = x.dtype.kind in "fcm"
    ranks = sorted({*middle, n - 1}) if checked else middle
    found = _c.order_statistics(lines, ranks, -1)
    if len(middle) == 1 and x.dtype.kind in "biuf":
        made = found[..., 0].astype(result)
    else:
        made = found[..., : len(middle)].mean(axis=-1, dtype=None if result.kind == "m" else result)
    if checked:
        last = found[..., -1]
        made = _c.where(last != last, last, made)
    return at.finish(made, 0, keepdims, out, unsafe=True)


def nanmedian(
    a: ArrayLike, axis: AxisLike = None, out: ndarray | None = None, overwrite_input: bool = False, keepdims: Any = False
) -> ndarray:
    """The median of what is not NaN; see `median`.

    Examples
    --------
    >>> bc.nanmedian([1.0, bc.nan, 3.0, 5.0])
    array(3.)
    """
    x = _asarray(a)
    keep = keepdims is not np._NoValue and bool(keepdims)  # type: ignore[attr-defined]
    if x.dtype.kind not in "fcm" or x.size == 0:
        return median(x, axis, out, overwrite_input, keep)
    at = _Axes(x, axis, a)
    lines = at.lines(x)
    count = _numbers_in(lines)
    if x.dtype.kind == "f" and x.device.type == "cpu" and lines.size:
        # NaN comes last: lines with as many numbers have their middle at the same places, which are selected without a sort.
        least, most = (int(n) for n in _c.asnumpy(_c.stack([count.min(), count.max()])))
        if least == most > 0:
            ranks = sorted({(most - 1) // 2, most // 2})
            return at.finish(_c.order_statistics(lines, ranks, -1).mean(axis=-1), 0, keep, out, unsafe=True)
    ordered = _c.sort(lines)
    low, high = _c.clip((count - 1) // 2, 0, None), _c.clip(count // 2, 0, None)
    pair = _c.take_along_axis(ordered, _c.stack([low, high], -1), -1)
    made = _notice_nan(pair.mean(axis=-1), "All-NaN slice encountered")
    return at.finish(made, 0, keep, out, unsafe=True)


def _numbers_in(lines: ndarray) -> ndarray:
    """How many elements of each line are not NaN, int64."""
    return _c.reduce("sum", lines == lines, -1, "int64")


# ---- Quantiles -----------------------------------------------------------------------------------------------------------------------


def _check_real(x: ndarray) -> None:
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")


def _nan_where_one_is(made: ndarray, last: ndarray) -> ndarray:
    """`made`, and NaN where the greatest element is one."""
    return _c.where(last != last, last.astype(made.dtype), made)


def _selected_one(lines: ndarray, q: float) -> ndarray:
    """What `_selected` gives for one number by the usual method: without arrays of one element, which took most of its time."""
    n = lines.shape[-1]
    place = (n - 1) * q
    low = min(math.floor(place), n - 1)
    high = min(low + 1, n - 1)
    checked = lines.dtype.kind in "fmM"
    ranks = sorted({low, high, n - 1} if checked else {low, high})
    found = _c.order_statistics(lines, ranks, -1)
    made = _between(found[..., ranks.index(low)], found[..., ranks.index(high)], place - math.floor(place))
    return _nan_where_one_is(made, found[..., -1]) if checked else made


def _selected(at: _Axes, lines: ndarray, q: np.ndarray, method: str, weak: bool) -> ndarray:
    """Quantiles of lines that all have n elements, shape q.shape + kept axes."""
    n = lines.shape[-1]
    if weak and method == "linear" and q.dtype.char == "d" and n:
        return _selected_one(lines, float(q))
    place = np.asarray(_place_of(method)(n, q, np))
    if n == 0:
        raise IndexError("index -1 is out of bounds for axis 0 with size 0")
    interpolates = method not in _DISCRETE and not (method == "linear" and place.dtype.kind in "iu")
    low = np.minimum(np.maximum(np.floor(place), 0), n - 1).astype(np.int64)
    high = np.where(place < 0, 0, np.minimum(low + 1, n - 1)) if interpolates else low
    checked = lines.dtype.kind in "fmM"
    # np.unique imports numpy.ma, which takes longer than most quantiles.
    ranks = sorted({*low.ravel().tolist(), *high.ravel().tolist(), *([n - 1] if checked else [])})
    found = _c.order_statistics(lines, ranks, -1)
    lead, ascending = len(at.kept), np.array(ranks)

    def at_ranks(wanted: np.ndarray) -> ndarray:
        """Shape q.shape + kept axes."""
        taken = _c.take(found, ascending.searchsorted(wanted), -1)
        return _c.moveaxis(taken, list(range(lead, taken.ndim)), list(range(q.ndim))) if q.ndim else taken

    made = at_ranks(low)
    if interpolates:
        gamma = np.asarray(_weight(method, place - np.floor(place), place, np), dtype=place.dtype)
        weight: Any = float(gamma) if weak else gamma.reshape(q.shape + (1,) * lead)
        made = _between(made, at_ranks(high), weight if weak else _asarray(weight))
    return _nan_where_one_is(made, found[..., -1]) if checked else made


def _counted(at: _Axes, lines: ndarray, q: np.ndarray, method: str, weak: bool) -> ndarray:
    """Quantiles of what is not NaN, shape q.shape + kept axes: each line has a number of elements of its own."""
    place_of = _place_of(method)
    ordered, count = _c.sort(lines), _numbers_in(lines)
    n = count.astype(np.float64)
    kind = q.dtype if q.dtype.kind == "f" else np.dtype(np.float64)
    parts = []
    for one in q.reshape(-1).tolist():
        place = place_of(n, one, _Device)
        low = _c.clip(_Device.floor(place), 0.0, _Device.maximum(n - 1, 0.0))
        values = _c.take_along_axis(ordered, low.astype(np.int64)[..., None], -1)[..., 0]
        if method not in _DISCRETE:
            high = _c.where(place < 0, 0.0, _c.clip(low + 1, 0.0, _Device.maximum(n - 1, 0.0)))
            above = _c.take_along_axis(ordered, high.astype(np.int64)[..., None], -1)[..., 0]
            gamma = _weight(method, place - _Device.floor(place), place, _Device)
            values = _between(values, above, gamma.astype(lines.dtype if weak and lines.dtype.kind == "f" else kind))
        parts.append(values)
    made = _c.stack(parts, 0).reshape(q.shape + at.lead) if parts else _c.empty(q.shape + at.lead, device=lines.device)
    return _notice_nan(made, "All-NaN slice encountered")


def _weighted(at: _Axes, x: ndarray, weights: ArrayLike, lines: ndarray, q: np.ndarray, skip_nan: bool) -> ndarray:
    """The inverse of the weighted distribution function, shape q.shape + kept axes."""
    w = _asarray(weights)
    if w.shape != x.shape:
        if w.ndim != len(at.axes) or w.shape != tuple(x.shape[d] for d in at.axes):
            raise ValueError("Shape of weights must be consistent with shape of a along specified axis.")
        shape = [1] * x.ndim
        for d, extent in zip(at.axes, w.shape, strict=True):
            shape[d] = extent
        w = w.reshape(shape)
    w = at.lines(_c.broadcast_to(w, x.shape)).astype(np.float64)
    if bool((w < 0).any()):
        raise ValueError("Weights must be non-negative.")
    if skip_nan:
        w = _c.where(lines == lines, w, 0.0)
    order = _c.argsort(lines)
    ordered = _c.take_along_axis(lines, order, -1)
    total = _c.cumsum(_c.take_along_axis(w, order, -1), -1)
    share = total / total[..., -1:]
    if not skip_nan and bool((share[..., -1] != share[..., -1]).any()):
        raise ValueError("Weights included NaN, inf or were all zero.")
    share = _c.where(share == 0, -1.0, share)  # the first value with a weight is the lowest quantile
    last = lines.shape[-1] - 1
    parts = []
    for one in q.reshape(-1).tolist():
        at_rank = _c.clip(_c.reduce("sum", share < one, -1, "int64"), 0, last)
        parts.append(_c.take_along_axis(ordered, at_rank[..., None], -1)[..., 0])
    made = _c.stack(parts, 0).reshape(q.shape + at.lead)
    if x.dtype.kind in "fmM" and not skip_nan:
        end = ordered[..., -1]
        made = _c.where(end != end, end, made)
    return made


def _quantile(
    a: ArrayLike,
    q: Any,
    axis: AxisLike,
    out: ndarray | None,
    method: str,
    keepdims: Any,
    weights: ArrayLike | None,
    scale: float | None,
    skip_nan: bool,
    what: str,
) -> ndarray:
    x = _asarray(a)
    _check_real(x)
    weak = type(q) in (int, float)
    host = np.asarray(q.get() if isinstance(q, ndarray) else q)
    if scale is not None:
        host = np.true_divide(host, scale)
    if host.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if host.size and not ((host >= 0).all() and (host <= 1).all()):
        raise ValueError(what)
    if weights is not None and method != "inverted_cdf":
        raise ValueError(f"Only method 'inverted_cdf' supports weights. Got: {method}.")
    _place_of(method)
    at = _Axes(x, axis, a)
    lines = at.lines(x)
    floats, gaps = x.dtype.kind == "f", x.dtype.kind in "fmM"
    if skip_nan and x.size == 0:
        warn("Mean of empty slice", RuntimeWarning)
        made = _c.asarray(np.full(host.shape + at.lead, np.nan, x.dtype if floats else np.dtype(np.float64)))
    elif weights is not None:
        made = _weighted(at, x, weights, lines, host, skip_nan and gaps)
    else:
        made = (_counted if skip_nan and gaps else _selected)(at, lines, host, method, weak)
    keep = keepdims is not np._NoValue and bool(keepdims)  # type: ignore[attr-defined]
    return at.finish(made, host.ndim, keep, out, stretches=True)


_UNIT = "Quantiles must be in the range [0, 1]"
_HUNDRED = "Percentiles must be in the range [0, 100]"


def quantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The q-th quantiles along axes. NaN where there is a NaN.

    Parameters
    ----------
    a : array_like, real
    q : array_like of floats in [0, 1], at most 2-d
        Read on the host. Its axes come first in the result.
    axis : int, tuple of ints or None
        None: the flattened array.
    out : ndarray, optional
        Where the result goes; it must have the result's shape.
    overwrite_input : bool
        Allowed for NumPy's sake; the input stays as it is.
    method : str
        'linear', or another of NumPy's thirteen methods of estimating a quantile.
    keepdims : bool
        Whether the reduced axes stay, with extent 1.
    weights : array_like, optional
        Not negative, shaped as `a` or as its reduced axes; with method 'inverted_cdf' only.

    Raises
    ------
    TypeError
        `a` is complex.
    ValueError
        A quantile is out of range, or the method is not known.

    Examples
    --------
    >>> bc.quantile([10, 7, 4, 3, 2, 1], [0.25, 0.5])
    array([2.25, 3.5 ])
    """
    return _quantile(a, q, axis, out, method, keepdims, weights, None, False, _UNIT)


def percentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The q-th percentiles along axes, q in [0, 100]; see `quantile`.

    Examples
    --------
    >>> bc.percentile([[10, 7, 4], [3, 2, 1]], 50, axis=0)
    array([6.5, 4.5, 2.5])
    """
    return _quantile(a, q, axis, out, method, keepdims, weights, 100, False, _HUNDRED)


def nanquantile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The q-th quantiles of what is not NaN; see `quantile`.

    Examples
    --------
    >>> bc.nanquantile([1.0, bc.nan, 3.0], 0.5)
    array(2.)
    """
    return _quantile(a, q, axis, out, method, keepdims, weights, None, True, _UNIT)


def nanpercentile(
    a: ArrayLike,
    q: ArrayLike,
    axis: AxisLike = None,
    out: ndarray | None = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: Any = False,
    *,
    weights: ArrayLike | None = None,
) -> ndarray:
    """The q-th percentiles of what is not NaN; see `percentile`.

    Examples
    --------
    >>> bc.nanpercentile([[1.0, bc.nan], [3.0, 4.0]], 50, axis=0)
    array([2., 4.])
    """
    return _quantile(a, q, axis, out, method, keepdims, weights, 100, True, _HUNDRED)
