"""Airy functions by Bessel functions of the orders 1/3 and 2/3 (DLMF 9.6), of real and complex arguments, and scaled by exponentials."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ..._broadcloth import ndarray
from ._bessel import _grown, _ie, _ie_right, _jy, _ke, _ke_right, _kv_complex
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["airy", "airye"]

_ONE = "f d F D"
_THIRD = 1 / 3
_ROOT_3 = 1.7320508075688772
# Ai(0) and -Ai'(0)
_AI = 0.3550280538878172
_SLOPE = 0.2588194037928068


def _maclaurin(z: Any) -> Any:
    """The solutions 1 + z**3 / 6 ... and z + z**4 / 12 ... (DLMF 9.4.1), and their derivatives, for small z."""
    cube = z * z * z
    f = cube * 0 + 1
    g = z * 1
    p = 0.5 * z * z
    q = cube * 0 + 1
    f_sum = f * 1
    g_sum = g * 1
    p_sum = p * 1
    q_sum = q * 1
    for k in range(12):
        f = f * cube / ((3 * k + 2) * (3 * k + 3))
        g = g * cube / ((3 * k + 3) * (3 * k + 4))
        p = p * cube / ((3 * k + 3) * (3 * k + 5))
        q = q * cube / ((3 * k + 1) * (3 * k + 3))
        f_sum = f_sum + f
        g_sum = g_sum + g
        p_sum = p_sum + p
        q_sum = q_sum + q
    return f_sum, g_sum, p_sum, q_sum


def _near(z: Any, kind: Any) -> Any:
    """Ai, Ai', Bi or Bi' (kinds 0 to 3) for small z."""
    f, g, p, q = _maclaurin(z)
    if kind == 0:
        return _AI * f - _SLOPE * g
    if kind == 1:
        return _AI * p - _SLOPE * q
    return _ROOT_3 * (_AI * f + _SLOPE * g) if kind == 2 else _ROOT_3 * (_AI * p + _SLOPE * q)


def _product_rest(a: Any, b: Any, product: Any) -> Any:
    """What the rounded product lacks (Dekker, Numerische Mathematik 18, 1971)."""
    c = 134217729.0 * a
    a_high = c - (c - a)
    a_low = a - a_high
    c = 134217729.0 * b
    b_high = c - (c - b)
    b_low = b - b_high
    return ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _zeta(x: Any) -> Any:
    """2/3 x**(3/2) as two numbers."""
    root = math.sqrt(x)
    square = root * root
    rest = ((x - square) - _product_rest(root, root, square)) / (2 * root)
    power = x * root
    power_rest = _product_rest(x, root, power) + x * rest
    high = 2 * power / 3
    three = 3 * high
    return high, ((2 * power - three) - _product_rest(3.0, high, three) + 2 * power_rest) / 3


def _airy(x: Any, kind: Any, scaled: Any) -> Any:
    if math.isnan(x) or (scaled and x < 0 and kind < 2):
        return math.nan
    size = abs(x)
    if size > 1e100:
        if x < 0:
            return 0.0 if kind % 2 == 0 else math.nan
        return 0.0 if kind < 2 or (scaled and kind == 2) else math.inf
    if size <= 1:
        value = _near(x, kind)
        if scaled and x > 0:
            zeta = 2 / 3 * x * math.sqrt(x)
            value *= math.exp(zeta) if kind < 2 else math.exp(-zeta)
        return value
    zeta, rest = _zeta(size)
    order = _THIRD if kind % 2 == 0 else 2 * _THIRD
    if x < 0:
        j, y = _jy(order, zeta)
        j, y = j - rest * y, y + rest * j
        if kind == 0:
            return 0.5 * math.sqrt(size) * (j - y / _ROOT_3)
        if kind == 1:
            return 0.5 * size * (j + y / _ROOT_3)
        return -0.5 * math.sqrt(size) * (j / _ROOT_3 + y) if kind == 2 else 0.5 * size * (j / _ROOT_3 - y)
    k = _ke(order, zeta)
    factor = math.sqrt(x / 3) if kind % 2 == 0 else x / _ROOT_3
    if kind < 2:
        value = (factor if kind == 0 else -factor) / math.pi * k
        return value if scaled else value * (1 - rest) * math.exp(-zeta)
    value = factor * (2 * _ie(order, zeta) + _ROOT_3 / math.pi * k * math.exp(-2 * zeta))
    return value if scaled else _grown(value * (1 + rest), zeta)


def _airy_complex(z: Any, kind: Any, scaled: Any) -> Any:
    size = abs(z)
    if not size < 1e100:
        return complex(math.nan, math.nan)
    if z.imag == 0 and (z.real >= 0 or kind >= 2 or not scaled):
        return complex(_airy(z.real, kind, scaled), 0.0)
    below = z.imag < 0
    z = z.conjugate() if below else z
    zeta = 2 / 3 * z * cmath.sqrt(z)
    if size <= 1:
        value = _near(z, kind)
        if scaled:
            value = value * (cmath.exp(zeta) if kind < 2 else cmath.exp(complex(-abs(zeta.real), 0.0)))
        return value.conjugate() if below else value
    order = _THIRD if kind % 2 == 0 else 2 * _THIRD
    factor = cmath.sqrt(z / 3) if kind % 2 == 0 else z / _ROOT_3
    slope = -1.0 if kind % 2 == 1 else 1.0
    here = 2 * z.real >= size  # within pi / 3 of the positive axis, where Re zeta >= 0
    if here and kind >= 2:
        i = _ie_right(order, zeta)
        k = _ke_right(order, zeta)
        turned = complex(math.cos(zeta.imag), math.sin(zeta.imag))
        value = factor * (2 * i * turned + _ROOT_3 / math.pi * k * cmath.exp(-zeta - zeta.real))
    else:
        # exp(zeta) K(zeta), and beyond pi / 3 exp(-zeta) K(-zeta): DLMF 9.2.11 and 9.2.14 with Ai by K.
        k = _kv_complex(order, zeta, True)
        mirrored = k * 0
        if not here:
            mirrored = _ke_right(order, -zeta)
        beyond = 2 * z.real < -size
        if kind < 2:
            if beyond:
                k = slope * mirrored * cmath.exp(2 * zeta) - k
            value = slope * factor / math.pi * k
            value = value if scaled else value * cmath.exp(-zeta)
        else:
            low = mirrored * cmath.exp(zeta + zeta.real)
            high = k * complex(math.cos(zeta.imag), -math.sin(zeta.imag))
            value = 1j * slope * factor / math.pi * (-high - slope * low if beyond else high - 2 * slope * low)
    if kind >= 2 and not scaled:
        value = _grown(value, abs(zeta.real))
    return value.conjugate() if below else value


# ---- The ufuncs and their derivatives: Ai'' = z Ai


def _ai_slopes(y: Any, z: Any) -> Any:
    return (_aip(z),)


def _aip_slopes(y: Any, z: Any) -> Any:
    return (z * _ai(z),)


def _bi_slopes(y: Any, z: Any) -> Any:
    return (_bip(z),)


def _bip_slopes(y: Any, z: Any) -> Any:
    return (z * _bi(z),)


def _ai_of_complex(z: Any) -> Any:
    return _airy_complex(z, 0, False)


def _aip_of_complex(z: Any) -> Any:
    return _airy_complex(z, 1, False)


def _bi_of_complex(z: Any) -> Any:
    return _airy_complex(z, 2, False)


def _bip_of_complex(z: Any) -> Any:
    return _airy_complex(z, 3, False)


def _aie_of_complex(z: Any) -> Any:
    return _airy_complex(z, 0, True)


def _aipe_of_complex(z: Any) -> Any:
    return _airy_complex(z, 1, True)


def _bie_of_complex(z: Any) -> Any:
    return _airy_complex(z, 2, True)


def _bipe_of_complex(z: Any) -> Any:
    return _airy_complex(z, 3, True)


@special_function(_ONE, of_complex=_ai_of_complex, slopes=_ai_slopes)
def _ai(z: Any) -> Any:
    return _airy(z, 0, False)


@special_function(_ONE, of_complex=_aip_of_complex, slopes=_aip_slopes)
def _aip(z: Any) -> Any:
    return _airy(z, 1, False)


@special_function(_ONE, of_complex=_bi_of_complex, slopes=_bi_slopes)
def _bi(z: Any) -> Any:
    return _airy(z, 2, False)


@special_function(_ONE, of_complex=_bip_of_complex, slopes=_bip_slopes)
def _bip(z: Any) -> Any:
    return _airy(z, 3, False)


@special_function(_ONE, of_complex=_aie_of_complex)
def _aie(z: Any) -> Any:
    return _airy(z, 0, True)


@special_function(_ONE, of_complex=_aipe_of_complex)
def _aipe(z: Any) -> Any:
    return _airy(z, 1, True)


@special_function(_ONE, of_complex=_bie_of_complex)
def _bie(z: Any) -> Any:
    return _airy(z, 2, True)


@special_function(_ONE, of_complex=_bipe_of_complex)
def _bipe(z: Any) -> Any:
    return _airy(z, 3, True)


def airy(z: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The Airy functions Ai, Ai', Bi and Bi' of real or complex z.

    Examples
    --------
    >>> ai, aip, bi, bip = bc.scipy.special.airy([-1.0, 0.0, 2.0])
    >>> ai
    array([0.53556088, 0.35502805, 0.03492413])
    """
    return _ai(z), _aip(z), _bi(z), _bip(z)


def airye(z: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The Airy functions, Ai and Ai' times exp(2/3 z sqrt(z)), Bi and Bi' times exp(-abs(2/3 (z sqrt(z)).real)).

    Those of Ai are NaN for a negative real z, where the factor is not real.

    Examples
    --------
    >>> eai, eaip, ebi, ebip = bc.scipy.special.airye([0.0, 2.0, 1000.0])
    >>> eai
    array([0.35502805, 0.23016492, 0.05016417])
    """
    return _aie(z), _aipe(z), _bie(z), _bipe(z)
