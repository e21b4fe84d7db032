"""Airy functions, and those scaled by exponentials: rows of the engine for real arguments, and by Bessel functions of the orders 1/3 and
2/3 (DLMF 9.6) for complex ones."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._bessel import _both_right, _grown, _ke_right, _kv_complex
from ._functions import special_function

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = ["airy", "airye"]

_real_ai, _real_aip, _real_bi, _real_bip = (_c.ufuncs["airy_" + name] for name in ("ai", "aip", "bi", "bip"))
_real_aie, _real_aipe, _real_bie, _real_bipe = (_c.ufuncs["airye_" + name] for name in ("ai", "aip", "bi", "bip"))
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


def _airy(x: Any, kind: Any, scaled: Any) -> Any:
    if scaled:
        if kind < 2:
            return _real_aie(x) if kind == 0 else _real_aipe(x)
        return _real_bie(x) if kind == 2 else _real_bipe(x)
    if kind < 2:
        return _real_ai(x) if kind == 0 else _real_aip(x)
    return _real_bi(x) if kind == 2 else _real_bip(x)


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
        k, i = _both_right(order, zeta)
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


@special_function(_ONE, row="airy_ai", of_complex=_ai_of_complex, slopes=_ai_slopes)
def _ai(z: Any) -> Any:
    return _real_ai(z)


@special_function(_ONE, row="airy_aip", of_complex=_aip_of_complex, slopes=_aip_slopes)
def _aip(z: Any) -> Any:
    return _real_aip(z)


@special_function(_ONE, row="airy_bi", of_complex=_bi_of_complex, slopes=_bi_slopes)
def _bi(z: Any) -> Any:
    return _real_bi(z)


@special_function(_ONE, row="airy_bip", of_complex=_bip_of_complex, slopes=_bip_slopes)
def _bip(z: Any) -> Any:
    return _real_bip(z)


@special_function(_ONE, row="airye_ai", of_complex=_aie_of_complex)
def _aie(z: Any) -> Any:
    return _real_aie(z)


@special_function(_ONE, row="airye_aip", of_complex=_aipe_of_complex)
def _aipe(z: Any) -> Any:
    return _real_aipe(z)


@special_function(_ONE, row="airye_bi", of_complex=_bie_of_complex)
def _bie(z: Any) -> Any:
    return _real_bie(z)


@special_function(_ONE, row="airye_bip", of_complex=_bipe_of_complex)
def _bipe(z: Any) -> Any:
    return _real_bipe(z)


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
