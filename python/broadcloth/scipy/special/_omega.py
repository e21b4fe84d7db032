"""Wright's omega function, of real numbers a row of the engine: iterations of Fritsch, Shafer and Crowley as Lawrence, Corless and Jeffrey
have them (Algorithm 917, ACM Transactions on Mathematical Software 38, 2012), and the series at its branch points."""

from __future__ import annotations

import cmath
import math
from typing import Any

from ... import _broadcloth as _c
from ._functions import special_function

__all__ = ["wrightomega"]

_omega = _c.ufuncs["wrightomega"]


def _branch_series(count: int) -> tuple[float, ...]:
    """The coefficients of the solution u = s + ... of u + log(1 - u) = -s**2 / 2 (Marsaglia and Marsaglia, American Mathematical Monthly
    97, 1990), after the first."""
    made = [0.0, 1.0]
    for k in range(2, count + 2):
        made.append((-made[k - 1] - sum(j * made[j] * made[k + 1 - j] for j in range(2, k))) / (k + 1))
    return tuple(made[2:])


_TERMS = 16
_SERIES = _branch_series(_TERMS)
# What the rounded pi lacks.
_PI_REST = 1.2246467991473532e-16


def _better(w: Any, r: Any) -> Any:
    """The relative step from w with the residual r = z - w - log(w)."""
    one = w + 1
    two = 2 * one * (one + r * (2 / 3))
    return r / one * (two - r) / (two - 2 * r)


def _first_guess(z: Any, from_branch: Any, s: Any) -> Any:
    """A point from which the iterations find the solution for Im z >= 0; `from_branch` is z - i pi."""
    if abs(s) < 2.4:
        u = s * 0
        for i in range(_TERMS):
            u = u * s + _SERIES[_TERMS - 1 - i]
        return (u * s + 1) * s - 1
    if z.real <= -1:
        return cmath.exp(z) if from_branch.imag <= 0 else from_branch - cmath.log(-from_branch)
    if abs(z - 1) < 2.5:
        d = z - 1
        return 1 + 0.5 * d + d * d * (1 / 16 - d / 192)
    return z - cmath.log(z)


def _omega_of_complex(z: Any) -> Any:
    if z.imag == 0:
        return complex(_omega(z.real), 0.0)
    if cmath.isnan(z):
        return complex(math.nan, math.nan)
    below = z.imag < 0
    up = z.conjugate() if below else z
    from_branch = complex(up.real, (up.imag - math.pi) - _PI_REST)
    if up.real < -800 and from_branch.imag <= 0:
        return complex(0.0, 0.0)
    if abs(up) > 1e20:
        return z
    d = from_branch + 1
    # i sqrt(2 d), whose cut for d < 0 belongs to what is below it
    s = cmath.sqrt(2 * d.conjugate()).conjugate() * 1j
    w = _first_guess(up, from_branch, s)
    if abs(s) > 0.3:
        small = up.real < 1 and from_branch.imag <= 0
        e = cmath.exp(up) if small else w
        for _ in range(10):
            if small and abs(w) < 0.7:
                r = cmath.log(e / w) - w
            elif w.real < 0:
                r = from_branch - w - cmath.log(-w)
            else:
                r = up - w - cmath.log(w)
            step = _better(w, r)
            w = w + w * step
            if abs(step) < 1e-5:
                break
    return w.conjugate() if below else w


def _omega_slopes(y: Any, z: Any) -> Any:
    return (y / (y + 1),)


@special_function("f d F D", row="wrightomega", of_complex=_omega_of_complex, slopes=_omega_slopes)
def wrightomega(z: Any) -> Any:
    """Wright's omega function of real or complex z: the solution w of w + log(w) = z, and Lambert's W of exp(z) on the branch
    ceil((z.imag - pi) / (2 pi)).

    It jumps where z.imag passes pi or -pi for z.real < -1. As the number nearest to pi is below pi, it lies with the principal branch.

    Examples
    --------
    >>> bc.scipy.special.wrightomega([-1.0, 0.0, 1.0, 10.0])
    array([0.27846454, 0.56714329, 1.        , 7.9294201 ])
    """
    return _omega(z)
