"""Integrals of Bessel functions of order 0, and the modified Fresnel integrals.

Near 0 their power series. Farther away with what is left beyond x: Bickley's function, the integral of exp(-z cosh(u)) / cosh(u)
(DLMF 10.43.11), and that of E1(z cosh(u)), by the trapezoidal rule; along the real line for K, along the path of steepest descent for
z = -i x, where K is the Hankel function."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._airy import _product_rest
from ._functions import _real, special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["it2i0k0", "it2j0y0", "iti0k0", "itj0y0", "modfresnelm", "modfresnelp"]

_exp1, _wofz = _c.ufuncs["exp1"], _c.ufuncs["wofz"]
_EULER = 0.5772156649015329
_NEAR = 4.0


def _series(t: Any, l: Any, over: Any) -> Any:
    """The sums of w t**k / k!**2 and of that times l - w - (the k-th harmonic number), where w is 1 / (2 k + 1), or 1 / (2 k) from k = 1 on
    for integrals that are `over` the argument."""
    term = 1.0
    harmonic = 0.0
    first = 0.0 if over else 1.0
    second = 0.0 if over else l - 1
    k = 1
    while k < 2000:
        term = term * t / (k * k)
        harmonic += 1 / k
        w = 1 / (2 * k) if over else 1 / (2 * k + 1)
        first += w * term
        second += w * term * (l - w - harmonic)
        if abs(term) < 1e-18 * abs(first):
            break
        k += 1
    return first, second


def _beyond_k(x: Any, over: Any) -> Any:
    """The integral of K0(t) from x on, or of K0(t) / t."""
    h = min(0.11, 0.5 / math.sqrt(x))
    total = 0.5 * (_exp1(x) if over else math.exp(-x))
    for k in range(1, 60):
        c = math.cosh(k * h)
        term = _exp1(x * c) if over else math.exp(-x * c) / c
        total += term
        if term < 1e-18 * total:
            break
    return h * total


def _beyond_h(x: Any, over: Any) -> Any:
    """The integral of J0(t) + i Y0(t) from x on, or of that over t: with cosh(u) = 1 + i p**2."""
    h = min(0.11, 0.5 / math.sqrt(x))
    total = complex(0.0, 0.0)
    for k in range(200):
        q = (k * h) ** 2
        if x * q > 40:
            break
        cosh = complex(1.0, q)
        if over:
            # exp(-i x) E1(-i x cosh(u))
            term = _exp1(complex(x * q, -x)) * complex(math.cos(x), -math.sin(x))
        else:
            term = math.exp(-x * q) / cosh
        term = term / cmath.sqrt(complex(-q, 2.0))
        total = total + (0.5 * term if k == 0 else term)
    # 2 i h exp(i x) is the step of u, and 2 / pi or 2 / (i pi) leads from K0 to the Hankel function.
    wave = complex(math.cos(x), math.sin(x)) * (4 / math.pi * h)
    return total * wave if over else total * wave * 1j


def _of_j(x: Any, over: Any) -> Any:
    size = abs(x)
    if not size < math.inf:
        value = math.inf if over else 1.0
        return math.nan if math.isnan(x) else value if over or x > 0 else -value
    if size <= _NEAR:
        first, _ = _series(-0.25 * x * x, 0.0, over)
        return -first if over else x * first
    rest = _beyond_h(size, over).real
    if over:
        return math.log(0.5 * size) + _EULER + rest
    return 1 - rest if x > 0 else rest - 1


def _of_y(x: Any, over: Any) -> Any:
    if not x >= 0:
        return math.nan
    if x == 0 or x == math.inf:
        return -math.inf if over and x == 0 else 0.0
    if x > _NEAR:
        rest = _beyond_h(x, over).imag
        return rest if over else -rest
    l = math.log(0.5 * x) + _EULER
    _, second = _series(-0.25 * x * x, l, over)
    return math.pi / 6 - (l * l + 2 * second) / math.pi if over else 2 / math.pi * x * second


def _of_i(x: Any, over: Any) -> Any:
    if not abs(x) < 720:
        return math.nan if math.isnan(x) else math.inf if over or x > 0 else -math.inf
    first, _ = _series(0.25 * x * x, 0.0, over)
    return first if over else x * first


def _of_k(x: Any, over: Any) -> Any:
    if not x >= 0:
        return math.nan
    if x == 0:
        return math.inf if over else 0.0
    if x > 1.5:
        rest = _beyond_k(x, over)
        return rest if over else 0.5 * math.pi - rest
    l = math.log(0.5 * x) + _EULER
    _, second = _series(0.25 * x * x, l, over)
    return 0.5 * l * l + math.pi**2 / 24 + second if over else -x * second


def _j_slopes(y: Any, x: Any) -> Any:
    return (_c.ufuncs["j0"](x),)


def _y_slopes(y: Any, x: Any) -> Any:
    return (_c.ufuncs["y0"](x),)


def _i_slopes(y: Any, x: Any) -> Any:
    return (_c.ufuncs["i0"](x),)


def _k_slopes(y: Any, x: Any) -> Any:
    return (_c.ufuncs["k0"](x),)


def _j_over_slopes(y: Any, x: Any) -> Any:
    return ((1 - _c.ufuncs["j0"](x)) / x,)


def _y_over_slopes(y: Any, x: Any) -> Any:
    return (-_c.ufuncs["y0"](x) / x,)


def _i_over_slopes(y: Any, x: Any) -> Any:
    return ((_c.ufuncs["i0"](x) - 1) / x,)


def _k_over_slopes(y: Any, x: Any) -> Any:
    return (-_c.ufuncs["k0"](x) / x,)


@special_function("f d", slopes=_j_slopes)
def _itj0(x: Any) -> Any:
    return _of_j(x, False)


@special_function("f d", slopes=_y_slopes)
def _ity0(x: Any) -> Any:
    return _of_y(x, False)


@special_function("f d", slopes=_i_slopes)
def _iti0(x: Any) -> Any:
    return _of_i(x, False)


@special_function("f d", slopes=_k_slopes)
def _itk0(x: Any) -> Any:
    return _of_k(x, False)


@special_function("f d", slopes=_j_over_slopes)
def _it2j0(x: Any) -> Any:
    return _of_j(x, True)


@special_function("f d", slopes=_y_over_slopes)
def _it2y0(x: Any) -> Any:
    return _of_y(x, True)


@special_function("f d", slopes=_i_over_slopes)
def _it2i0(x: Any) -> Any:
    return _of_i(x, True)


@special_function("f d", slopes=_k_over_slopes)
def _it2k0(x: Any) -> Any:
    return _of_k(x, True)


def itj0y0(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The integrals of the Bessel functions j0 and y0 from 0 to x; the second is NaN for negative x.

    Examples
    --------
    >>> bc.scipy.special.itj0y0(1.0)
    (array(0.91973041), array(-0.63706938))
    """
    return _itj0(x), _ity0(x)


def iti0k0(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The integrals of the modified Bessel functions i0 and k0 from 0 to x; the second is NaN for negative x.

    Examples
    --------
    >>> bc.scipy.special.iti0k0(1.0)
    (array(1.0865211), array(1.24250985))
    """
    return _iti0(x), _itk0(x)


def it2j0y0(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The integral of (1 - j0(t)) / t from 0 to x, and that of y0(t) / t from x > 0 to infinity.

    Examples
    --------
    >>> bc.scipy.special.it2j0y0(1.0)
    (array(0.12116525), array(0.3952729))
    """
    return _it2j0(x), _it2y0(x)


def it2i0k0(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The integral of (i0(t) - 1) / t from 0 to x, and that of k0(t) / t from x > 0 to infinity.

    Examples
    --------
    >>> bc.scipy.special.it2i0k0(1.0)
    (array(0.12897944), array(0.20851829))
    """
    return _it2i0(x), _it2k0(x)


# ---- The modified Fresnel integrals


def _square_wave(x: Any) -> Any:
    """exp(i x**2) with all digits."""
    square = x * x
    rest = _product_rest(x, x, square) if square < 1e200 else 0.0
    return complex(math.cos(square), math.sin(square)) * complex(1.0, rest)


def _fresnel_beyond(x: Any, kind: Any) -> Any:
    """F+ for kind 0 and K+ for kind 1, by w(x exp(i pi / 4)) (DLMF 7.5.10)."""
    if math.isnan(x):
        return complex(math.nan, math.nan)
    size = abs(x)
    half = math.sqrt(math.pi / 8)
    if size == math.inf:
        return complex(0.0, 0.0) if x > 0 else complex(2 * half, 2 * half) if kind == 0 else complex(math.nan, math.nan)
    s = math.sqrt(0.5) * size
    w = _wofz(complex(s, s))
    if kind == 0:
        f = complex(half, half) * _square_wave(size) * w
        return complex(2 * half, 2 * half) - f if x < 0 else f
    return _square_wave(size).conjugate() - 0.5 * w if x < 0 else 0.5 * w


def _fp_slopes(y: Any, x: Any) -> Any:
    return (-_c.ufuncs["exp"](1j * x * x),)


def _fm_slopes(y: Any, x: Any) -> Any:
    return (-_c.ufuncs["exp"](-1j * x * x),)


def _kp_slopes(y: Any, x: Any) -> Any:
    return (-2j * x * y - complex(1.0, -1.0) / math.sqrt(2 * math.pi),)


def _km_slopes(y: Any, x: Any) -> Any:
    return (2j * x * y - complex(1.0, 1.0) / math.sqrt(2 * math.pi),)


@special_function("F D", slopes=_fp_slopes)
def _modfresnel_fp(x: Any) -> Any:
    return _fresnel_beyond(x.real, 0)


@special_function("F D", slopes=_kp_slopes)
def _modfresnel_kp(x: Any) -> Any:
    return _fresnel_beyond(x.real, 1)


@special_function("F D", slopes=_fm_slopes)
def _modfresnel_fm(x: Any) -> Any:
    return _fresnel_beyond(x.real, 0).conjugate()


@special_function("F D", slopes=_km_slopes)
def _modfresnel_km(x: Any) -> Any:
    return _fresnel_beyond(x.real, 1).conjugate()


def modfresnelp(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The modified Fresnel integral F, of exp(1j t**2) from real x to infinity, and K = exp(-1j (x**2 + pi / 4)) F / sqrt(pi).

    Examples
    --------
    >>> f, k = bc.scipy.special.modfresnelp(1.0)
    >>> f
    array(-0.27786717+0.31638877j)
    """
    x = _real("modfresnelp", x)
    return _modfresnel_fp(x), _modfresnel_kp(x)


def modfresnelm(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The modified Fresnel integral F, of exp(-1j t**2) from real x to infinity, and K = exp(1j (x**2 + pi / 4)) F / sqrt(pi).

    Examples
    --------
    >>> f, k = bc.scipy.special.modfresnelm(1.0)
    >>> f
    array(-0.27786717-0.31638877j)
    """
    x = _real("modfresnelm", x)
    return _modfresnel_fm(x), _modfresnel_km(x)
