"""Functions given by samples: differences, integrals, interpolation, convolution, polynomials."""

from __future__ import annotations

import numpy as np

from ._table import stands_for


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
