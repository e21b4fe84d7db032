"""Integrals of Bessel functions of order 0, and the modified Fresnel integrals.

Near 0 their power series. Farther away with what is left beyond x: Bickley's function, the integral of exp(-z cosh(u)) / cosh(u)
(DLMF 10.43.11), and that of E1(z cosh(u)), along the real line for K, along the path of steepest descent for z = -i x, where K is the
Hankel function. Fits in 1 / x give them (scripts/integral_coefficients.py)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._generated_loops import generated
from . import _integral_fits as _fits
from ._airy import _product_rest
from ._functions import _real, special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["it2i0k0", "it2j0y0", "iti0k0", "itj0y0", "modfresnelm", "modfresnelp"]

_wofz = _c.ufuncs["wofz"]
_EULER = 0.5772156649015329
_NEAR = 4.0


def _polynomial(name: str, coefficients: Sequence[float]) -> Callable[[Any], Any]:
    """The function of t that adds coefficients times powers of t, without a loop."""
    expression = repr(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        expression = f"({expression}) * t + {c!r}"
    return generated(f"def {name}(t):\n    return {expression}\n", name, {})


def _sums(over: bool, of_harmonic: bool) -> list[float]:
    """Coefficients of the sum of w t**k / k!**2, where w is 1 / (2 k + 1), or 1 / (2 k) from k = 1 on for integrals that are `over` the
    argument; or of that times w + (the k-th harmonic number)."""
    made = []
    factorial, harmonic = Fraction(1), Fraction(0)
    for k in range(27):
        if k:
            factorial *= k
            harmonic += Fraction(1, k)
        w = Fraction(0) if over and k == 0 else Fraction(1, 2 * k if over else 2 * k + 1)
        made.append(float(w / factorial**2 * (w + harmonic if of_harmonic else 1)))
    return made


_first, _second = _polynomial("_first", _sums(False, False)), _polynomial("_second", _sums(False, True))
_first_over, _second_over = _polynomial("_first_over", _sums(True, False)), _polynomial("_second_over", _sums(True, True))
_hankel_re, _hankel_im = _polynomial("_hankel_re", _fits.HANKEL_RE), _polynomial("_hankel_im", _fits.HANKEL_IM)
_hankel_over_re = _polynomial("_hankel_over_re", _fits.HANKEL_OVER_RE)
_hankel_over_im = _polynomial("_hankel_over_im", _fits.HANKEL_OVER_IM)
_k_middle, _k_far = _polynomial("_k_middle", _fits.K_MIDDLE), _polynomial("_k_far", _fits.K_FAR)
_k_middle_over, _k_far_over = _polynomial("_k_middle_over", _fits.K_MIDDLE_OVER), _polynomial("_k_far_over", _fits.K_FAR_OVER)
_i_middle, _i_far = _polynomial("_i_middle", _fits.I_MIDDLE), _polynomial("_i_far", _fits.I_FAR)
_i_middle_over, _i_far_over = _polynomial("_i_middle_over", _fits.I_MIDDLE_OVER), _polynomial("_i_far_over", _fits.I_FAR_OVER)


def _series(t: Any, l: Any, over: Any) -> Any:
    """The sums of w t**k / k!**2 and of that times l - w - (the k-th harmonic number)."""
    first = _first_over(t) if over else _first(t)
    return first, l * first - (_second_over(t) if over else _second(t))


def _beyond_k(x: Any, over: Any) -> Any:
    """The integral of K0(t) from x >= 1.5 on, or of K0(t) / t."""
    v = 1 / x
    if x < 5:
        t = v * (30 / 7) - 13 / 7
        value = _k_middle_over(t) if over else _k_middle(t)
    else:
        t = v * 10 - 1
        value = _k_far_over(t) if over else _k_far(t)
    return value * math.exp(-x) / math.sqrt(x) * (v if over else 1.0)


def _beyond_h(x: Any, over: Any) -> Any:
    """The real and the imaginary part of the integral of J0(t) + i Y0(t) from x >= 4 on, or of that over t."""
    v = 1 / x
    t = v * 8 - 1
    a = _hankel_over_re(t) if over else _hankel_re(t)
    b = _hankel_over_im(t) if over else _hankel_im(t)
    c = math.cos(x)
    s = math.sin(x)
    scale = (v if over else 1.0) / math.sqrt(x)
    return scale * (a * c - b * s), scale * (a * s + b * c)


def _of_j(x: Any, over: Any) -> Any:
    size = abs(x)
    if not size < math.inf:
        value = math.inf if over else 1.0
        return math.nan if math.isnan(x) else value if over or x > 0 else -value
    if size <= _NEAR:
        first, _ = _series(-0.25 * x * x, 0.0, over)
        return -first if over else x * first
    rest, _ = _beyond_h(size, over)
    if over:
        return math.log(0.5 * size) + _EULER + rest
    return 1 - rest if x > 0 else rest - 1


def _of_y(x: Any, over: Any) -> Any:
    if not x >= 0:
        return math.nan
    if x == 0 or x == math.inf:
        return -math.inf if over and x == 0 else 0.0
    if x > _NEAR:
        _, rest = _beyond_h(x, over)
        return rest if over else -rest
    l = math.log(0.5 * x) + _EULER
    _, second = _series(-0.25 * x * x, l, over)
    return math.pi / 6 - (l * l + 2 * second) / math.pi if over else 2 / math.pi * x * second


def _of_i(x: Any, over: Any) -> Any:
    if not abs(x) < 720:
        return math.nan if math.isnan(x) else math.inf if over or x > 0 else -math.inf
    size = abs(x)
    if size <= 8:
        t = 0.25 * x * x
        return _first_over(t) if over else x * _first(t)
    v = 1 / size
    if size < 20:
        t = v * (80 / 3) - 7 / 3
        value = _i_middle_over(t) if over else _i_middle(t)
    else:
        t = v * 40 - 1
        value = _i_far_over(t) if over else _i_far(t)
    half = math.exp(0.5 * size)
    value = half * (value * math.sqrt(v)) * half
    return value * v if over else math.copysign(value, x)


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
