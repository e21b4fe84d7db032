"""Kelvin's functions of order 0 and their derivatives: I and K of x exp(i pi / 4) (DLMF 10.61.1, 10.61.2), with real and imaginary parts
that keep their digits where one is much smaller."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..._broadcloth import ndarray
from ._airy import _product_rest
from ._bessel import _fraction_k, _grown, _hankel_sums, _i_ratio
from ._functions import _real, special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["bei", "beip", "ber", "berp", "kei", "keip", "kelvin", "ker", "kerp"]

_EULER = 0.5772156649015329
# sqrt(1 / 2) as two numbers
_ROOT = 0.7071067811865476
_ROOT_REST = -4.833646656726457e-17
_HALF_PI = 1.5707963267948966


def _kelvin_sums(x: Any, slope: Any) -> Any:
    """The sums of t**k / k!**2 and of that times the k-th harmonic number for t = i x**2 / 4, or x times their derivatives by x."""
    t = complex(0.0, 0.25 * x * x)
    term = complex(1.0, 0.0)
    plain = complex(0.0 if slope else 1.0, 0.0)
    harmonic = complex(0.0, 0.0)
    h = 0.0
    for k in range(1, 40):
        term = term * t / (k * k)
        h += 1 / k
        weighted = term * (2 * k) if slope else term * 1
        plain = plain + weighted
        harmonic = harmonic + h * weighted
        if abs(weighted) < 1e-19 * abs(plain):
            break
    return plain, harmonic


def _eighth_turn(z: Any) -> Any:
    """z exp(i pi / 4)"""
    return complex(_ROOT * (z.real - z.imag), _ROOT * (z.real + z.imag))


def _scaled_k(z: Any, size: Any) -> Any:
    """exp(z) K of the orders 0 and 1."""
    s, ratio = _fraction_k(0.0, z, size, z.real)
    # exp(-i pi / 8) sqrt(pi / (2 size)), the square root of pi / (2 z)
    scale = math.sqrt(_HALF_PI / size)
    first = complex(0.9238795325112867 * scale, -0.3826834323650898 * scale) / s
    return first, first * ratio


def _scaled_i(z: Any, size: Any, order: Any) -> Any:
    """exp(-z) I of order 0 or 1."""
    if size > 30:
        _, minus = _hankel_sums(float(order), z)
        scale = math.sqrt(0.5 / (math.pi * size))
        return complex(0.9238795325112867 * scale, -0.3826834323650898 * scale) * minus
    first, second = _scaled_k(z, size)
    r = _i_ratio(0.0, z, size)
    i = 1 / (z * (second + r * first))
    return i * r if order == 1 else i


def _wave_of(x: Any) -> Any:
    """exp(i x / sqrt(2)) with all digits, and what the rounded x / sqrt(2) lacks."""
    a = _ROOT * x
    rest = _product_rest(x, _ROOT, a) + x * _ROOT_REST
    return complex(math.cos(a), math.sin(a)) * complex(1.0, rest), rest


def _be(x: Any, slope: Any) -> Any:
    """ber + i bei, or its derivative by x."""
    size = abs(x)
    if not size < 1e6:
        return complex(math.nan, math.nan)
    if size <= 8:
        value, _ = _kelvin_sums(size, slope)
        if slope:
            value = value / size if size > 0 else complex(0.0, 0.0)
    else:
        z = complex(_ROOT * size, _ROOT * size)
        wave, rest = _wave_of(size)
        value = _scaled_i(z, size, 1 if slope else 0) * wave
        value = _eighth_turn(value) if slope else value
        value = _grown(value * (1 + rest), z.real)
    return -value if slope and x < 0 else value


def _ke_of(x: Any, slope: Any) -> Any:
    """ker + i kei, or its derivative by x."""
    if not x >= 0:
        return complex(math.nan, math.nan)
    if x == 0:
        return complex(-math.inf, 0.0) if slope else complex(math.inf, -0.5 * _HALF_PI)
    if x > 1e5:
        return complex(0.0, 0.0)
    if x <= 2.5:
        l = math.log(0.5 * x) + _EULER
        plain, harmonic = _kelvin_sums(x, slope)
        value = harmonic - complex(l, 0.5 * _HALF_PI) * plain
        if slope:
            still, _ = _kelvin_sums(x, False)
            value = (value - still) / x
        return value
    z = complex(_ROOT * x, _ROOT * x)
    wave, rest = _wave_of(x)
    first, second = _scaled_k(z, x)
    value = (-_eighth_turn(second) if slope else first) * wave.conjugate()
    return _grown(value * (1 - rest), -z.real)


# ---- The ufuncs. The second derivative of both pairs u + i v is (i (u + i v) - (u' + i v') / x).


def _ber_slopes(y: Any, x: Any) -> Any:
    return (berp(x),)


def _bei_slopes(y: Any, x: Any) -> Any:
    return (beip(x),)


def _ker_slopes(y: Any, x: Any) -> Any:
    return (kerp(x),)


def _kei_slopes(y: Any, x: Any) -> Any:
    return (keip(x),)


def _berp_slopes(y: Any, x: Any) -> Any:
    return (-bei(x) - y / x,)


def _beip_slopes(y: Any, x: Any) -> Any:
    return (ber(x) - y / x,)


def _kerp_slopes(y: Any, x: Any) -> Any:
    return (-kei(x) - y / x,)


def _keip_slopes(y: Any, x: Any) -> Any:
    return (ker(x) - y / x,)


@special_function("f d", slopes=_ber_slopes)
def ber(x: Any) -> Any:
    """Kelvin's function ber, the real part of jv(0, x exp(3 pi i / 4)).

    Examples
    --------
    >>> bc.scipy.special.ber([0.0, 1.0, 5.0])
    array([ 1.        ,  0.98438178, -6.23008248])
    """
    return _be(x, False).real


@special_function("f d", slopes=_bei_slopes)
def bei(x: Any) -> Any:
    """Kelvin's function bei, the imaginary part of jv(0, x exp(3 pi i / 4)).

    Examples
    --------
    >>> bc.scipy.special.bei([0.0, 1.0, 5.0])
    array([0.        , 0.24956604, 0.11603438])
    """
    return _be(x, False).imag


@special_function("f d", slopes=_berp_slopes)
def berp(x: Any) -> Any:
    """The derivative of Kelvin's function ber.

    Examples
    --------
    >>> bc.scipy.special.berp([0.0, 1.0, 5.0])
    array([ 0.        , -0.06244575, -3.84533947])
    """
    return _be(x, True).real


@special_function("f d", slopes=_beip_slopes)
def beip(x: Any) -> Any:
    """The derivative of Kelvin's function bei.

    Examples
    --------
    >>> bc.scipy.special.beip([0.0, 1.0, 5.0])
    array([ 0.        ,  0.49739651, -4.35414051])
    """
    return _be(x, True).imag


@special_function("f d", slopes=_ker_slopes)
def ker(x: Any) -> Any:
    """Kelvin's function ker, the real part of kv(0, x exp(pi i / 4)) for x >= 0.

    Examples
    --------
    >>> bc.scipy.special.ker([1.0, 5.0])
    array([ 0.28670621, -0.01151173])
    """
    return _ke_of(x, False).real


@special_function("f d", slopes=_kei_slopes)
def kei(x: Any) -> Any:
    """Kelvin's function kei, the imaginary part of kv(0, x exp(pi i / 4)) for x >= 0.

    Examples
    --------
    >>> bc.scipy.special.kei([0.0, 1.0, 5.0])
    array([-0.78539816, -0.49499464,  0.01118759])
    """
    return _ke_of(x, False).imag


@special_function("f d", slopes=_kerp_slopes)
def kerp(x: Any) -> Any:
    """The derivative of Kelvin's function ker.

    Examples
    --------
    >>> bc.scipy.special.kerp([1.0, 5.0])
    array([-0.69460389,  0.0171934 ])
    """
    return _ke_of(x, True).real


@special_function("f d", slopes=_keip_slopes)
def keip(x: Any) -> Any:
    """The derivative of Kelvin's function kei.

    Examples
    --------
    >>> bc.scipy.special.keip([0.0, 1.0, 5.0])
    array([ 0.        ,  0.35236991, -0.00081999])
    """
    return _ke_of(x, True).imag


@special_function("F D")
def _kelvin_be(x: Any) -> Any:
    return _be(x.real, False)


@special_function("F D")
def _kelvin_bep(x: Any) -> Any:
    return _be(x.real, True)


@special_function("F D")
def _kelvin_ke(x: Any) -> Any:
    return _ke_of(x.real, False)


@special_function("F D")
def _kelvin_kep(x: Any) -> Any:
    return _ke_of(x.real, True)


def kelvin(x: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Kelvin's functions ber + i bei and ker + i kei, and the derivatives of both, as complex numbers.

    Examples
    --------
    >>> be, ke, bep, kep = bc.scipy.special.kelvin(1.0)
    >>> be
    array(0.98438178+0.24956604j)
    """
    x = _real("kelvin", x)
    return _kelvin_be(x), _kelvin_ke(x), _kelvin_bep(x), _kelvin_kep(x)
