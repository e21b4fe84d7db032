"""Riemann's zeta function of a complex variable, by the Euler-Maclaurin formula (DLMF 25.2.10) and the reflection (DLMF 25.4.1)."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ... import _broadcloth as _c
from ._functions import special_function

_loggamma, _riemann_zeta = _c.ufuncs["loggamma"], _c.ufuncs["riemann_zeta"]
_LOG_2_PI = 1.8378770664093453


def _power(k: Any, s: Any) -> Any:
    """k**-s"""
    l = math.log(k)
    return math.exp(-s.real * l) * complex(math.cos(s.imag * l), -math.sin(s.imag * l))


def _right(s: Any) -> Any:
    """zeta(s) for a real part that is not negative, s not 1."""
    if s.real > 60:
        return 1 + _power(2.0, s)
    last = 12 + int(0.7 * abs(s.imag))
    total = complex(0.0, 0.0)
    for k in range(last - 1, 0, -1):
        total = total + _power(float(k), s)
    edge = _power(float(last), s)
    total = total + edge * last / (s - 1) + 0.5 * edge
    # B(2 j) / (2 j)! is 2 (-1)**(j + 1) zeta(2 j) / (2 pi)**(2 j).
    factor = edge * s / last
    for j in range(1, 20):
        # zeta(2 j), to the last place
        even = 1.0
        for k in range(2, 60):
            power = float(k) ** (-2 * j)
            if power < 1e-18:
                break
            even += power
        if j == 1:
            even = math.pi * math.pi / 6
        if j == 2:
            even = math.pi**4 / 90
        if j == 3:
            even = math.pi**6 / 945
        if j == 4:
            even = math.pi**8 / 9450
        part = factor * (2 * even / (2 * math.pi) ** (2 * j))
        total = total + part if j % 2 == 1 else total - part
        if abs(part) < 1e-17 * abs(total):
            break
        factor = factor * ((s + (2 * j - 1)) * (s + 2 * j)) / (last * last)
    return total


@special_function("F D")
def _complex_zeta(s: Any) -> Any:
    if math.isnan(s.real) or math.isnan(s.imag) or math.isinf(s.imag) or abs(s.imag) > 1e5 or s.real == -math.inf:
        return complex(math.nan, math.nan)
    if s.imag == 0:
        return complex(_riemann_zeta(s.real), s.imag)
    if s.real >= 0:
        return _right(s)
    # 2 (2 pi)**(s - 1) sin(pi s / 2) gamma(1 - s) zeta(1 - s), with the large factors' logarithms added up
    turn = complex(math.fmod(s.real, 4.0), s.imag) * (0.5 * math.pi)
    if abs(turn.imag) < 300:
        sine = cmath.sin(turn)
        return 2 * sine * cmath.exp((s - 1) * _LOG_2_PI + _loggamma(1 - s)) * _right(1 - s)
    # sin(z) is i exp(-i z) / 2 for a large imaginary part
    side = 1.0 if turn.imag > 0 else -1.0
    exponent = (s - 1) * _LOG_2_PI + _loggamma(1 - s) + turn * complex(0.0, -side)
    return complex(0.0, side) * cmath.exp(exponent) * _right(1 - s)
