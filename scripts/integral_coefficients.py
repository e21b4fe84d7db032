"""Computes the polynomials of python/broadcloth/scipy/special/_integral_fits.py.

    python scripts/integral_coefficients.py > python/broadcloth/scipy/special/_integral_fits.py

What integrals of Bessel and Struve functions of order 0 have left beyond x, without their exponential or wave and their power of x, as
Chebyshev interpolants in 1 / x, cut where the coefficients fall below 2e-17 of the largest, and written as powers of the variable mapped to
[-1, 1] (Trefethen, Approximation Theory and Approximation Practice, 2013). Needs mpmath.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
from mpmath import mpf
from special_coefficients import powers

mp.mp.dps = 40
NODES = 48
HALF = mpf(1) / 2


def fit(name: str, f: Callable[[mpf], Any], a: object, b: object) -> None:
    """Prints the interpolant of f(x), of v = 1 / x on [a, b]."""
    a, b = mpf(a), mpf(b)
    angles = [mp.pi * (k + HALF) / NODES for k in range(NODES)]
    values = [f(1 / ((a + b) / 2 + (b - a) / 2 * mp.cos(t))) for t in angles]
    parts = {name: values}
    if isinstance(values[0], mp.mpc):
        parts = {f"{name}_RE": [v.real for v in values], f"{name}_IM": [v.imag for v in values]}
    for part, numbers in parts.items():
        c = [2 * mp.fsum(v * mp.cos(j * t) for v, t in zip(numbers, angles, strict=True)) / NODES for j in range(NODES)]
        c[0] /= 2
        largest = max(abs(v) for v in c)
        n = max(j for j, v in enumerate(c) if abs(v) > mpf("2e-17") * largest) + 1
        assert n < NODES - 6, part
        print(f"# On [{mp.nstr(a, 6)}, {mp.nstr(b, 6)}]")
        print(f"{part} = (")
        for v in powers(c[:n]):
            print(f"    {float(v)!r},")
        print(")")


def hankel(x: mpf, over: bool) -> Any:
    """The integral of J0 + i Y0, or of that over t, from x on, without exp(i x), along the path of steepest descent."""

    def integrand(p: mpf) -> Any:
        root = mp.sqrt(mp.mpc(-p * p, 2))
        if over:
            return mp.exp(mp.mpc(0, -x)) * mp.expint(1, mp.mpc(x * p * p, -x)) / root
        return 1j * mp.exp(-x * p * p) / (mp.mpc(1, p * p) * root)

    w = 1 / mp.sqrt(x)
    return mp.quad(integrand, [0, w, 2 * w, 4 * w, 7 * w, 10 * w]) * 4 / mp.pi * mp.sqrt(x) * (x if over else 1)


def modified(x: mpf, over: bool) -> mpf:
    """The integral of K0, or of that over t, from x on, without exp(-x)."""

    def integrand(u: mpf) -> mpf:
        return mp.expint(1, x * mp.cosh(u)) * mp.exp(x) if over else mp.exp(-x * (mp.cosh(u) - 1)) / mp.cosh(u)

    end = mp.acosh(1 + 90 / x)
    return mp.quad(integrand, [0, end / 8, end / 4, end / 2, end]) * mp.sqrt(x) * (x if over else 1)


def growing(x: mpf, over: bool) -> mpf:
    """The integral of I0, or of (I0 - 1) / t, from 0 to x, without exp(x)."""
    t = x * x / 4
    value = mp.hyp2f3(1, 1, 2, 2, 2, t) * t / 2 if over else x * mp.hyp1f2(HALF, 1, 3 * HALF, t)
    return value * mp.exp(-x) * mp.sqrt(x) * (x if over else 1)


def struve(x: mpf, over: bool) -> mpf:
    """What the integral of Struve's function less Y0 is less than its logarithm, times x**2; or the integral of their difference over t
    from x on, times pi / 2 x."""

    def integrand(s: mpf) -> mpf:
        root = mp.sqrt(1 + (s / x) ** 2)
        return mp.expint(1, s) / root if over else -mp.exp(-s) * s / (root * (1 + root))

    return mp.quad(integrand, [0, mpf("1e-6"), mpf("0.01"), 1, 4, 12, 35, 95])


def main() -> None:
    print('"""Fits of integrals of Bessel and Struve functions, made by scripts/integral_coefficients.py; do not edit."""\n')
    print("# fmt: off")
    for over, end in ((False, ""), (True, "_OVER")):
        fit(f"HANKEL{end}", lambda x, over=over: hankel(x, over), 0, "0.25")
        fit(f"K_MIDDLE{end}", lambda x, over=over: modified(x, over), "0.2", mpf(2) / 3)
        fit(f"K_FAR{end}", lambda x, over=over: modified(x, over), 0, "0.2")
        fit(f"I_MIDDLE{end}", lambda x, over=over: growing(x, over), "0.05", "0.125")
        fit(f"I_FAR{end}", lambda x, over=over: growing(x, over), 0, "0.05")
        fit(f"STRUVE{end}", lambda x, over=over: struve(x, over), 0, "0.2")
    print("# fmt: on")


if __name__ == "__main__":
    main()
