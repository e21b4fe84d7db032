"""Ellipsoidal harmonics: Lame's functions, which separate Laplace's equation in ellipsoidal coordinates.

A function of the first kind is s**a |s**2 - h2|**(b / 2) |s**2 - k2|**(c / 2) P(s**2) with a, b and c 0 or 1 (DLMF 29.12) and P a monic
polynomial, the solution of Heun's equation. Its coefficients in powers of s**2 - h2 are an eigenvector of a tridiagonal matrix, found on
the host; `s` stays on its device. The second kind's integral runs by the tanh-sinh rule (Takahasi & Mori 1974), whose nodes gather where
the integrand grows as s comes near k."""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["ellip_harm", "ellip_harm_2", "ellip_normal"]

_abs, _where = _c.ufuncs["absolute"], _c.where


def _exponents(n: int, p: int) -> tuple[int, int, int, int]:
    """The exponents a, b, c of the function of order p, and its place within its class."""
    half = n // 2
    odd = n % 2
    place = p - 1
    for size, exponents in (
        (half + 1, (odd, 0, 0)),
        (n - half, (1 - odd, 1, 0)),
        (n - half, (1 - odd, 0, 1)),
        (half, (odd, 1, 1)),
    ):
        if place < size:
            return (*exponents, place)
        place -= size
    raise AssertionError("p is at most 2 n + 1")


@functools.lru_cache(maxsize=4096)
def _lame(h2: float, k2: float, n: float, p: float) -> tuple[tuple[int, int, int], np.ndarray] | None:
    """The exponents a, b, c and the coefficients of P in powers of t - h2, lowest first; None for what is not defined."""
    if not (0 <= h2 <= k2 < math.inf and 0 <= n < math.inf and 1 <= p <= 2 * n + 1):
        return None
    n = int(n)
    a, b, c, place = _exponents(n, int(p))
    degree = (n - a - b - c) // 2
    j = np.arange(degree + 1.0)
    beta = k2 - h2
    sigma = a + b + c + 1.5
    last = degree * (degree + sigma - 1)
    below = (j[:-1] * (j[:-1] - 1) + sigma * j[:-1]) - last
    middle = (h2 - beta) * j * (j - 1) + ((b + 0.5) * (h2 - beta) + (c + 0.5) * h2 - (a + 0.5) * beta) * j - last * h2
    above = -h2 * beta * j[1:] * (j[:-1] + b + 0.5)
    with np.errstate(all="ignore"):
        off = np.sqrt(below * above)
        vector = np.linalg.eigh(np.diag(middle) + np.diag(off, 1) + np.diag(off, -1))[1][:, degree - place]
        scales = np.concatenate([[1.0], np.cumprod(off / above)])
        coefficients = vector * scales
        return (a, b, c), coefficients / coefficients[-1]


def _host(x: Any) -> np.ndarray:
    return np.asarray(x.get() if isinstance(x, ndarray) else x)


class _Parameters:
    """Functions of the first kind for parameters on the host: the exponents and coefficients as arrays of the parameters' common shape,
    with the degree's axis first."""

    def __init__(self, h2: Any, k2: Any, n: Any, p: Any) -> None:
        given = np.broadcast_arrays(*(_host(x) for x in (h2, k2, n, p)))
        self.shape = given[0].shape
        columns = [x.astype(float).ravel().tolist() for x in given]
        rows = [_lame(*row) for row in zip(*columns, strict=True)]
        size = max((len(row[1]) for row in rows if row), default=1)
        coefficients = np.full((size, len(rows)), np.nan)
        exponents = np.zeros((3, len(rows)), bool)
        degrees = np.zeros(len(rows), int)
        for i, row in enumerate(rows):
            if row:
                coefficients[:, i] = 0
                coefficients[: len(row[1]), i] = row[1]
                exponents[:, i] = row[0]
                degrees[i] = len(row[1]) - 1
        self.h2, self.k2, self.n = (np.array(x, float).reshape(self.shape) for x in columns[:3])
        self.coefficients = coefficients.reshape(size, *self.shape)
        self.exponents = exponents.reshape(3, *self.shape)
        self.degrees = degrees.reshape(self.shape)

    def on(self, host: np.ndarray, like: Any) -> Any:
        """A parameter as an operand beside `like`: a number where there is one set of parameters."""
        if host.ndim == 0:
            return host.item()
        return _c.asarray(host, device=like.device) if isinstance(like, ndarray) else host

    def polynomial(self, t: Any) -> Any:
        """P at t, by Horner's rule in t - h2."""
        u = t - self.on(self.h2, t)
        value = u * 0 + self.on(self.coefficients[-1], t)
        for row in self.coefficients[-2::-1]:
            value = value * u + self.on(row, t)
        return value

    def first(self, s: Any) -> Any:
        """The function of the first kind at s, its prefactors positive."""
        t = s * s
        value = self.polynomial(t)
        factors = (s, abs(t - self.on(self.h2, s)) ** 0.5, abs(t - self.on(self.k2, s)) ** 0.5)
        for used, factor in zip(self.exponents, factors, strict=True):
            if used.ndim == 0:
                value = value * factor if used else value
            elif isinstance(s, ndarray):
                value = value * _where(self.on(used, s), factor, 1.0)
            else:
                value = value * np.where(used, factor, 1.0)
        return value


def _coordinate(s: Any) -> ndarray:
    s = _c.asarray(s)
    if s.dtype.kind == "c":
        raise TypeError(f"ellip_harm: expected a real coordinate s, got {s.dtype}")
    return s


def _single(parameters: tuple[Any, ...], s: Any) -> bool:
    """Whether the result is of single precision: some array is, and none needs more."""
    arrays = [x.dtype for x in (*parameters, s) if hasattr(x, "dtype")]
    return bool(arrays) and all(np.can_cast(x, np.float32, "safe") for x in arrays)


def ellip_harm(
    h2: ArrayLike, k2: ArrayLike, n: ArrayLike, p: ArrayLike, s: ArrayLike, signm: ArrayLike = 1, signn: ArrayLike = 1
) -> ndarray:
    """The ellipsoidal harmonic of the first kind: Lame's function of degree n and order p at s.

    The parameters `h2 <= k2`, `n >= 0` and `p` from 1 to 2 n + 1 are read on the host and broadcast with `s`; NaN for other ones.

    Parameters
    ----------
    signm, signn : array_like of 1 and -1
        The signs of the factors with s**2 - h2 and s**2 - k2; NaN for other numbers.

    Examples
    --------
    >>> bc.scipy.special.ellip_harm(5, 8, 1, 1, [2.5, 4.0])
    array([2.5, 4. ])
    """
    x = _coordinate(s)
    parameters = _Parameters(h2, k2, n, p)
    value = parameters.first(x.astype("f8", copy=False))
    for sign, used in ((signm, parameters.exponents[1]), (signn, parameters.exponents[2])):
        host = _host(sign).astype(float)
        if host.ndim or host != 1:
            value = value * parameters.on(np.where(abs(host) == 1, np.where(used, host, 1.0), np.nan), x)
    return value.astype("f4") if _single((h2, k2, n, p), s) else value


@functools.cache
def _tanh_sinh() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes in (0, 1), their distances from 1 and their weights."""
    step = 1 / 16
    y = np.arange(-56, 57) * step
    inner = np.pi / 2 * np.sinh(y)
    near = 1 / (1 + np.exp(2 * inner))  # 1 - x
    x = 1 / (1 + np.exp(-2 * inner))
    return x, near, step * np.pi * np.cosh(y) * x * near


def ellip_harm_2(h2: ArrayLike, k2: ArrayLike, n: ArrayLike, p: ArrayLike, s: ArrayLike) -> ndarray:
    """The ellipsoidal harmonic of the second kind: Lame's function that vanishes at infinity, for s beyond k.

    F(s) = (2 n + 1) E(s) times the integral of 1 / (E(1 / u)**2 sqrt((1 - u**2 k2) (1 - u**2 h2))) over u from 0 to 1 / s. The parameters
    are read on the host and broadcast with `s`; NaN for s below k.

    Examples
    --------
    >>> bc.scipy.special.ellip_harm_2(5, 8, 2, 1, 10.0)
    array(0.00108057)
    """
    x = _coordinate(s).astype("f8", copy=False)
    q = _Parameters(h2, k2, n, p)
    inverse = 1 / (x * x)
    ratio_h, ratio_k = q.on(q.h2, x) * inverse, q.on(q.k2, x) * inverse
    total = 0.0
    for node, near, weight in zip(*(part.tolist() for part in _tanh_sinh()), strict=True):
        total = total + weight * _second_integrand(q, x, inverse, ratio_h, ratio_k, node, near)
    n_of = q.on(q.n, x)
    power = _abs(x) ** (-2 * n_of) / x
    value = (2 * n_of + 1) * q.first(x) * power * total
    return _where(x * x >= q.on(q.k2, x), value, math.nan)


def _second_integrand(q: _Parameters, x: Any, inverse: Any, ratio_h: Any, ratio_k: Any, node: float, near: float) -> Any:
    """The integrand at u = node / s without the power of s; `near` is 1 - node."""
    square = node * node
    rest = near * (1 + node)
    from_h = (1 - ratio_h) + ratio_h * rest
    from_k = (1 - ratio_k) + ratio_k * rest
    t = square * inverse
    # P's homogeneous form: t**degree P(1 / t), where t - h2 becomes 1 - h2 t.
    value = 0.0
    for k in range(len(q.coefficients) - 1, -1, -1):
        missing = np.maximum(q.degrees - k, 0)
        value = value * from_h + q.on(q.coefficients[k], x) * t ** q.on(missing, x)
    b, c = (q.on(q.exponents[i] + 0.5, x) for i in (1, 2))
    return node ** q.on(2 * q.n, x) / (from_h**b * from_k**c * value * value)


def ellip_normal(h2: ArrayLike, k2: ArrayLike, n: ArrayLike, p: ArrayLike) -> ndarray:
    """The normalization constants of the ellipsoidal harmonics: the integral of their squares over the ellipsoid's surface.

    Examples
    --------
    >>> bc.scipy.special.ellip_normal(5, 8, 3, 7)
    array(1723.38796997)
    """
    q = _Parameters(h2, k2, n, p)
    h, beta = q.h2, q.k2 - q.h2
    count = 1000  # the midpoint rule: the integrands have the period pi and no singularity on the axis
    angles = ((np.arange(count) + 0.5) * (math.pi / 2 / count)).reshape(count, *[1] * h.ndim)
    sine, cosine = np.sin(angles) ** 2, np.cos(angles) ** 2
    with np.errstate(all="ignore"):
        x2, y2 = h * sine, h + beta * sine
        inner = q.first(np.sqrt(x2)) ** 2 / np.sqrt(q.k2 - x2)
        outer = q.first(np.sqrt(y2)) ** 2 / np.sqrt(y2)
        sums = [part.sum(axis=0) for part in (inner, inner * h * cosine, outer, outer * beta * sine)]
        # y**2 - x**2 as (y**2 - h2) + (h2 - x**2), so that nothing cancels.
        value = 8 * (sums[3] * sums[0] + sums[2] * sums[1]) * (math.pi / 2 / count) ** 2
    return _c.asarray(np.float32(value) if _single((h2, k2, n, p), None) else value)
