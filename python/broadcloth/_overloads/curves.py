"""Functions given by samples: differences, integrals, interpolation, convolution, polynomials."""

from __future__ import annotations

import numpy as np

from ._table import stands_for
from .shapes import one_axis


@stands_for("numpy.gradient")
def gradient(f, *varargs, axis=None, edge_order=1):
    if axis is None:
        return _slopes(f, varargs, 0, edge_order) if f.ndim == 1 else _all_slopes(f, varargs, f.shape, edge_order)
    return _slopes(f, varargs, one_axis(axis), edge_order)


def _all_slopes(f, steps, shape, edge_order):
    """The slopes along the axes that `shape` still has."""
    if len(shape) == 0:
        return ()
    axis = len(shape) - 1
    own = steps if len(steps) < 2 else (steps[axis],)
    return _all_slopes(f, steps if len(steps) < 2 else steps[:axis], shape[:-1], edge_order) + (_slopes(f, own, axis, edge_order),)


def _slopes(f, steps, axis, edge_order):
    y = np.moveaxis(f, axis, -1)
    n = y.shape[-1]
    if edge_order != 1 and edge_order != 2:
        raise ValueError("'edge_order' greater than 2 not supported")
    if n < edge_order + 1:
        raise ValueError("gradient: expected at least two elements, and three for edge_order=2")
    if f.dtype == np.bool_:
        raise TypeError("gradient() does not take booleans, which have no difference")
    y = y / 1.0  # differences of unsigned integers would wrap around
    out = np.empty(y.shape, dtype=y.dtype)
    spacing = steps[0] if len(steps) > 0 else 1.0
    if isinstance(spacing, np.ndarray):
        if spacing.size != n:
            raise ValueError("when 1d, distances must match the length of the corresponding dimension")
        h = np.diff(spacing) * 1.0
        if not np.all(h == h[0]):
            _uneven_slopes(y, h, out, edge_order)
            return out if f.ndim == 1 else np.ascontiguousarray(np.moveaxis(out, -1, axis))
        step = h[0]
    else:
        step = spacing * 1.0
    out[..., 1:-1] = (y[..., 2:] - y[..., :-2]) / (2.0 * step)
    if edge_order == 1:
        out[..., 0] = (y[..., 1] - y[..., 0]) / step
        out[..., -1] = (y[..., -1] - y[..., -2]) / step
    else:
        out[..., 0] = -1.5 / step * y[..., 0] + 2.0 / step * y[..., 1] - 0.5 / step * y[..., 2]
        out[..., -1] = 0.5 / step * y[..., -3] - 2.0 / step * y[..., -2] + 1.5 / step * y[..., -1]
    return out if f.ndim == 1 else np.ascontiguousarray(np.moveaxis(out, -1, axis))


def _uneven_slopes(y, h, out, edge_order):
    p, q = h[:-1], h[1:]
    out[..., 1:-1] = -q / (p * (p + q)) * y[..., :-2] + (q - p) / (p * q) * y[..., 1:-1] + p / (q * (p + q)) * y[..., 2:]
    if edge_order == 1:
        out[..., 0] = (y[..., 1] - y[..., 0]) / h[0]
        out[..., -1] = (y[..., -1] - y[..., -2]) / h[-1]
    else:
        p, q = h[0], h[1]
        out[..., 0] = -(2.0 * p + q) / (p * (p + q)) * y[..., 0] + (p + q) / (p * q) * y[..., 1] - p / (q * (p + q)) * y[..., 2]
        p, q = h[-2], h[-1]
        out[..., -1] = q / (p * (p + q)) * y[..., -3] - (q + p) / (p * q) * y[..., -2] + (2.0 * q + p) / (q * (p + q)) * y[..., -1]


def _interval(x, xp, at):
    """The interval from xp[k] to xp[k + 1] that holds x: searched from `at` in steps that double, then by halves."""
    low, high, step = 0, xp.size - 1, 1
    if x >= xp[at]:
        low = at
        while low + step < high and x >= xp[low + step]:
            low += step
            step *= 2
        high = min(high, low + step)
    else:
        high = at
        while high - step > 0 and x < xp[high - step]:
            high -= step
            step *= 2
        low = max(0, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        if x >= xp[middle]:
            low = middle
        else:
            high = middle
    return low


def _interpolated(x, xp, fp, left, right, at):
    """The value at x, and the interval that holds x; `at` is the interval to look at first, which that of the last x often is."""
    n = xp.size
    if np.isnan(x):
        return fp[0] * 1.0 if n == 1 else np.nan, at
    if x < xp[0]:
        return left, at
    if x >= xp[n - 1]:
        return right if x > xp[n - 1] else fp[n - 1] * 1.0, at
    at = _interval(x, xp, at)
    # As floats: differences of unsigned integers would wrap around.
    low, high, start, stop = fp[at] * 1.0, fp[at + 1] * 1.0, xp[at] * 1.0, xp[at + 1] * 1.0
    if x == start:
        return low, at  # beside an infinity too
    slope = (high - low) / (stop - start)
    y = slope * (x - start) + low
    if np.isnan(y):  # beside an infinity: from the other end, as NumPy
        y = slope * (x - stop) + high
        if np.isnan(y) and low == high:
            y = low
    return y, at


@stands_for("numpy.interp")
def interp(x, xp, fp, left=None, right=None, period=None):
    if xp.size != fp.size:
        raise ValueError("fp and xp are not of the same length.")
    if xp.size == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        span = abs(period) * 1.0
        places = xp % span
        order = np.argsort(places, kind="stable")
        px, pf = places[order], fp[order] * 1.0
        around = np.concatenate((px[-1:] - span, px, px[:1] + span))
        return interp(x % span, around, np.concatenate((pf[-1:], pf, pf[:1])))
    first = fp[0] * 1.0 if left is None else left * 1.0
    last = fp[-1] * 1.0 if right is None else right * 1.0
    if isinstance(x, np.ndarray):
        flat = x.ravel()
        out = np.empty(flat.size)
        at = 0
        for i in range(flat.size):
            out[i], at = _interpolated(flat[i], xp, fp, first, last, at)
        return out.reshape(x.shape)
    return _interpolated(x, xp, fp, first, last, 0)[0]


@stands_for("numpy.convolve")
def convolve(a, v, mode="full"):
    if a.ndim == 0 or v.ndim == 0:
        return convolve(np.atleast_1d(a), np.atleast_1d(v), mode)
    if a.size == 0 or v.size == 0:
        raise ValueError("convolve: the arrays cannot be empty")
    if mode != "full" and mode != "valid" and mode != "same":
        raise ValueError("mode must be 'full', 'valid' or 'same'")
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
    # NumPy works on the longer one first, and turns the result around.
    if v.size > a.size:
        return _conjugate(convolve(v, _conjugate(a[::-1]), mode)[::-1]).copy()
    return convolve(a, _conjugate(v[::-1]), mode)


def _conjugate(x):
    """np.conj(), which makes integers of booleans, of complex numbers only."""
    return np.conj(x) if np.iscomplexobj(x) else x


def _along_last(x, axis):
    """The places that belong to an axis, which comes last: a vector's, or those of an array of several dimensions."""
    return x if x is None or x.ndim == 1 else np.moveaxis(x, axis, -1)


@stands_for("numpy.trapz", "numpy.trapezoid")
def trapezoid(y, x=None, dx=1.0, axis=-1):
    if axis != -1:
        return trapezoid(np.moveaxis(y, one_axis(axis), -1), _along_last(x, axis), dx)
    pairs = y[..., 1:] + y[..., :-1]
    steps = dx if x is None else x[..., 1:] - x[..., :-1]
    return (steps * pairs / 2.0).sum(axis=-1)


@stands_for("numpy.polyval")
def polyval(p, x):
    r = x * p.dtype.type(0)
    for c in p:
        r = r * x + c
    return r


def _coefficients(first, second):
    """Coefficients, the highest power first, with zeros in front up to one length."""
    a, b = np.atleast_1d(first), np.atleast_1d(second)
    n = max(a.size, b.size)
    x = np.zeros(n, dtype=(a[:0] + b[:0]).dtype)
    y = np.zeros_like(x)
    x[n - a.size :] = a
    y[n - b.size :] = b
    return x, y


@stands_for("numpy.polyfit")
def polyfit(x, y, deg):
    """By least squares, as NumPy, with columns of one length."""
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if x.size == 0:
        raise TypeError("expected non-empty vector for x")
    if x.size != y.shape[0]:
        raise TypeError("expected x and y to have same length")
    table = np.vander(x * 1.0, deg + 1)
    scale = np.sqrt((table * table).sum(0))
    return (np.linalg.lstsq(table / scale, y * 1.0, x.size * np.finfo(np.float64).eps)[0].T / scale).T


@stands_for("numpy.polyadd")
def add_polynomials(a1, a2):
    x, y = _coefficients(a1, a2)
    return x + y


@stands_for("numpy.polysub")
def subtract_polynomials(a1, a2):
    x, y = _coefficients(a1, a2)
    return x - y


def _from_first(c):
    """Without the zeros in front."""
    if c.size == 0:
        return np.zeros_like(c, shape=(1,))
    k = 0
    while k < c.size - 1 and c[k] == 0:
        k += 1
    return c[k:]


@stands_for("numpy.polymul")
def multiply_polynomials(a1, a2):
    return np.convolve(_from_first(np.atleast_1d(a1)), _from_first(np.atleast_1d(a2)))


@stands_for("numpy.polynomial.polyadd")
def polyadd(c1, c2):
    n = max(len(c1), len(c2))
    out = np.zeros(n, dtype=(np.asarray(c1)[:0] * 1.0 + np.asarray(c2)[:0]).dtype)
    out[: len(c1)] += np.asarray(c1)
    out[: len(c2)] += np.asarray(c2)
    return trimseq(out)


@stands_for("numpy.polynomial.polysub")
def polysub(c1, c2):
    n = max(len(c1), len(c2))
    out = np.zeros(n, dtype=(np.asarray(c1)[:0] * 1.0 + np.asarray(c2)[:0]).dtype)
    out[: len(c1)] += np.asarray(c1)
    out[: len(c2)] -= np.asarray(c2)
    return trimseq(out)


@stands_for("numpy.polynomial.polymul")
def polymul(c1, c2):
    return trimseq(np.convolve(np.asarray(c1) * 1.0, np.asarray(c2) * 1.0))


@stands_for("numpy.polynomial.polydiv")
def polydiv(c1, c2):
    over, by = trimseq(np.asarray(c1) * 1.0).copy(), trimseq(np.asarray(c2) * 1.0)
    if by[-1] == 0:
        raise ZeroDivisionError
    if over.size < by.size:
        return over[:1] * 0, over
    steps = over.size - by.size + 1
    quotient = np.zeros(steps, dtype=(over[:0] * by[:0]).dtype)
    for k in range(steps - 1, -1, -1):
        quotient[k] = over[k + by.size - 1] / by[-1]
        for j in range(by.size):
            over[k + j] -= quotient[k] * by[j]
    return quotient, trimseq(over[: max(1, by.size - 1)].copy())


@stands_for("numpy.polynomial.polyint")
def polyint(c, m=1):
    out = np.asarray(c) * 1.0
    for _ in range(m):
        wider = np.zeros(out.size + 1, dtype=out.dtype)
        for k in range(out.size):
            wider[k + 1] = out[k] / (k + 1)
        out = wider
    return out


@stands_for("numpy.polynomial.polyval")
def polyval_rising(x, c):
    r = x * 0.0
    for k in range(len(c) - 1, -1, -1):
        r = r * x + c[k]
    return r


@stands_for("numpy.polynomial.trimseq")
def trimseq(seq):
    last = len(seq)
    while last > 1 and seq[last - 1] == 0:
        last -= 1
    return seq[:last]


@stands_for("numpy.linspace")
def linspace(start, stop, num=50, endpoint=True, dtype=None, retstep=0):
    points = np.linspace(start, stop, num, endpoint)
    if retstep:
        parts = num - 1 if endpoint else num
        return points if dtype is None else points.astype(dtype), (stop - start) / parts if parts > 0 else np.nan
    one = np.ones(1, dtype)
    if isinstance(one[0], int) and one.dtype != np.bool_:
        return np.floor(points).astype(dtype)
    return points.astype(dtype)


@stands_for("numpy.logspace")
def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None):
    points = base ** np.linspace(start, stop, num, endpoint)
    return points if dtype is None else points.astype(dtype)


@stands_for("numpy.geomspace")
def geomspace(start, stop, num=50, endpoint=True):
    if start == 0 or stop == 0:
        raise ValueError("Geometric sequence cannot include zero")
    out = np.exp(np.linspace(0.0, 1.0, num, endpoint) * np.log(stop / start)) * start
    if num > 0:
        out[0] = start
    if num > 1 and endpoint:
        out[-1] = stop
    return out


def _window(m, first, second, third):
    out = np.empty(max(m, 0))
    for k in range(out.size):
        turn = 2 * np.pi * k / (m - 1) if m > 1 else np.pi
        out[k] = first - second * np.cos(turn) + third * np.cos(2 * turn)
    return out


@stands_for("numpy.bartlett")
def bartlett(M):
    out = np.ones(max(M, 0))
    for k in range(out.size if M > 1 else 0):
        out[k] = 2.0 * min(k, M - 1 - k) / (M - 1)
    return out


@stands_for("numpy.blackman")
def blackman(M):
    return _window(M, 0.42, 0.5, 0.08)


@stands_for("numpy.hamming")
def hamming(M):
    return _window(M, 0.54, 0.46, 0.0)


@stands_for("numpy.hanning")
def hanning(M):
    return _window(M, 0.5, 0.5, 0.0)


def _bessel_i0(x):
    """The power series of the modified Bessel function; its terms are all positive."""
    half = x * x / 4.0
    term, s, k = 1.0, 1.0, 1
    while term > s * 1e-17:
        term *= half / (k * k)
        s += term
        k += 1
    return s


@stands_for("numpy.kaiser")
def kaiser(M, beta):
    out = np.ones(max(M, 0))
    for k in range(out.size if M > 1 else 0):
        x = 2.0 * k / (M - 1) - 1.0
        out[k] = _bessel_i0(beta * np.sqrt(max(0.0, 1.0 - x * x))) / _bessel_i0(beta * 1.0)
    return out


@stands_for("numpy.unwrap")
def unwrap(p, discont=None, axis=-1, period=6.283185307179586):
    half = period / 2.0
    least = half if discont is None else max(discont, half)
    if p.ndim == 1 and (axis == 0 or axis == -1):
        return _unwrapped(p, least, period)
    rows = np.moveaxis(p, one_axis(axis), -1).copy()
    n = rows.shape[-1]
    flat = rows.reshape(rows.size // max(n, 1), n)
    out = np.empty(rows.shape, dtype=(p[:0] * 1.0).dtype)
    turned = out.reshape(flat.shape)
    for i in range(flat.shape[0]):
        turned[i] = _unwrapped(flat[i], least, period)
    return np.ascontiguousarray(np.moveaxis(out, -1, axis))


def _unwrapped(p, least, period):
    out = p * 1.0
    half = period / 2.0
    shift = 0.0
    steps = (p[1:] - p[:-1]) * 1.0  # of unsigned integers they wrap around before they become floats
    for k in range(1, p.size):
        step = steps[k - 1]
        turned = (step + half) % period - half
        if turned == -half and step > 0:
            turned = half
        if abs(step) >= least:
            shift += turned - step
        out[k] = p[k] + shift
    return out
