"""Sine and cosine integrals of complex arguments: their power series (DLMF 6.6.5, 6.6.6) and exponential integrals (6.5.5, 6.5.6)."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ... import _broadcloth as _c
from ._functions import special_function

_exp1 = _c.ufuncs["exp1"]
_EULER = 0.5772156649015329


def _near(z: Any, even: Any) -> Any:
    """The sum of (-1)**k z**(n - 1) / (n n!) over odd n, or over even n > 0 less the first factor z."""
    square = -z * z
    term = 0.5 * z if even else complex(1.0, 0.0)
    n = 2.0 if even else 1.0
    total = term / n
    for _ in range(40):
        n += 2
        term = term * square / (n * (n - 1))
        total += term / n
        if abs(term.real) + abs(term.imag) < 1e-18 * (abs(total.real) + abs(total.imag)):
            break
    return -total if even else total


def _sides(z: Any) -> Any:
    """E1(i z) and E1(-i z) for Re z >= 0; on the imaginary axis as from the right."""
    return _exp1(complex(-z.imag, z.real)), _exp1(complex(z.imag, -z.real))


def _si(z: Any) -> Any:
    if cmath.isnan(z):
        return complex(math.nan, math.nan)
    if abs(z) < 3:
        return z * _near(z, False)
    w = complex(abs(z.real), z.imag if z.real >= 0 else -z.imag)
    if cmath.isinf(w):
        return z if z.real == 0 else complex(math.copysign(0.5 * math.pi, z.real), 0.0)
    plus, minus = _sides(w)
    difference = 0.5 * (plus - minus)
    value = complex(0.5 * math.pi + difference.imag, -difference.real)
    return value if z.real >= 0 else -value


def _above_cut(z: Any) -> Any:
    """z without negative zeros: on the cut the values are those above it, as SciPy's."""
    return complex(z.real + 0.0, z.imag + 0.0)


def _ci_far(z: Any) -> Any:
    """Ci of |z| >= 3."""
    w = complex(abs(z.real), z.imag if z.real >= 0 else -z.imag)
    turn = 0.0 if z.real >= 0 else math.copysign(math.pi, z.imag)
    if cmath.isinf(w):
        return complex(0.0, turn) if w.imag == 0 else complex(math.inf, 0.0)
    plus, minus = _sides(w)
    return complex(0.0, turn) - 0.5 * (plus + minus)


def _si_slopes(y: Any, z: Any) -> Any:
    return (_c.where(z == 0, 1.0, _c.ufuncs["sin"](z) / z),)


def _ci_slopes(y: Any, z: Any) -> Any:
    return (_c.ufuncs["cos"](z) / z,)


def _shi_slopes(y: Any, z: Any) -> Any:
    return (_c.where(z == 0, 1.0, _c.ufuncs["sinh"](z) / z),)


def _chi_slopes(y: Any, z: Any) -> Any:
    return (_c.ufuncs["cosh"](z) / z,)


@special_function("F D", slopes=_si_slopes)
def _complex_si(z: Any) -> Any:
    return _si(z)


@special_function("F D", slopes=_ci_slopes)
def _complex_ci(z: Any) -> Any:
    if cmath.isnan(z):
        return complex(math.nan, math.nan)
    if z == 0:
        return complex(-math.inf, math.nan)
    z = _above_cut(z)
    return _EULER + cmath.log(z) + z * _near(z, True) if abs(z) < 3 else _ci_far(z)


@special_function("F D", slopes=_shi_slopes)
def _complex_shi(z: Any) -> Any:
    value = _si(complex(-z.imag, z.real))
    return complex(value.imag, -value.real)


@special_function("F D", slopes=_chi_slopes)
def _complex_chi(z: Any) -> Any:
    if cmath.isnan(z):
        return complex(math.nan, math.nan)
    if z == 0:
        return complex(-math.inf, math.nan)
    z = _above_cut(z)
    w = complex(-z.imag, z.real)
    if abs(z) < 3:
        return _EULER + cmath.log(z) + w * _near(w, True)
    # log(z) - log(i z)
    beyond = z.real < 0 and z.imag >= 0
    return _ci_far(w) + complex(0.0, 1.5 * math.pi if beyond else -0.5 * math.pi)
