"""Computes the tables of tests/python/test_special.py, test_special_complex.py and test_special_functions.py:

    python scripts/special_values.py > tests/python/special_values.json
    python scripts/special_values.py complex > tests/python/special_complex_values.json
    python scripts/special_values.py functions > tests/python/special_function_values.json

For each function points over its whole domain (tiny, moderate, huge, near poles and zeros) and the values there, by mpmath in 60 digits,
rounded to float64. Needs mpmath.
"""

from __future__ import annotations

import cmath
import json
import random
import sys
from collections.abc import Callable
from typing import Any

import mpmath as mp

mp.mp.dps = 60
random.seed(7)

REAL = [1e-300, 1e-20, 1e-5, 0.1, 0.49, 0.51, 0.99, 1.01, 1.7, 2.3, 3.9, 4.1, 5.9, 7.9, 8.1, 9.9, 10.1, 16.5, 25.0, 60.0, 150.5]
SIGNED = REAL + [-x for x in REAL]
UNIT = [1e-300, 1e-20, 1e-5, 0.01, 0.1, 0.3, 0.4999, 0.5001, 0.7, 0.9, 0.99, 0.999999, 1 - 2**-50]
HUGE = [1e3, 12345.6789, 1e8, 3e15]


def normal_inverse(p: mp.mpf) -> mp.mpf:
    guess = mp.sqrt(2) * mp.erfinv(2 * p - 1) if p > 1e-10 else -mp.sqrt(-2 * mp.log(p) - mp.log(2 * mp.pi) - mp.log(-2 * mp.log(p)))
    return mp.findroot(lambda x: mp.log(mp.ncdf(x)) - mp.log(p), guess) if p < 0.5 else -mp.findroot(lambda x: mp.ncdf(x) - (1 - p), -guess)


def jacobi(kind: str) -> Callable[[mp.mpf, mp.mpf], mp.mpf]:
    return lambda u, m: mp.ellipfun(kind, u, m=m)


def spherical_y(n: mp.mpf, x: mp.mpf) -> mp.mpf:
    return mp.sqrt(mp.pi / (2 * x)) * mp.bessely(n + mp.mpf(1) / 2, x)


def lower(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    return mp.gammainc(a, 0, x, regularized=True)


def upper(a: mp.mpf, x: mp.mpf) -> mp.mpf:
    return mp.gammainc(a, x, mp.inf, regularized=True)


def ibeta(a: mp.mpf, b: mp.mpf, x: mp.mpf) -> mp.mpf:
    return mp.betainc(a, b, 0, x, regularized=True)


def grid(*axes: list[float], count: int = 24) -> list[tuple[float, ...]]:
    return [tuple(random.choice(axis) for axis in axes) for _ in range(count)]


def wright(a: mp.mpf, b: mp.mpf, x: mp.mpf) -> mp.mpf:
    total, before = mp.mpf(0), mp.mpf(0)
    for k in range(5000):
        term = x**k / mp.factorial(k) * mp.rgamma(a * k + b)
        total += term
        if k > 3 and term < before and term < total * mp.mpf(10) ** -40:
            break
        before = term
    return total


SHAPES = [0.01, 0.3, 0.999, 1.0, 2.5, 9.7, 15.0, 42.0, 180.0]
FUNCTIONS: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "gamma": (mp.gamma, [x for x in SIGNED if abs(x) < 170] + [-170.25, 171.5, -2.0001]),
    "rgamma": (mp.rgamma, SIGNED),
    "gammaln": (lambda x: mp.log(abs(mp.gamma(x))) if x < 1e5 else mp.loggamma(x), SIGNED + HUGE + [1 + 1e-9, 2 - 1e-9, -100.3]),
    "digamma": (mp.digamma, SIGNED + HUGE + [-3.9999, -122.75]),
    "zetac": (lambda x: mp.zeta(x, 2) if x > 2 else mp.zeta(x) - 1, [x for x in SIGNED if x < 60] + [-100.7, -200.3]),
    "erf": (mp.erf, SIGNED),
    "erfc": (mp.erfc, [x for x in SIGNED if x < 26] + [26.2]),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), [x for x in SIGNED if x > -26]),
    "erfinv": (lambda x: mp.findroot(lambda t: mp.erf(t) - x, mp.erfinv(x)), [1e-20, 1e-5, 0.1, 0.3, 0.6, 0.9, 0.99, 0.999999, -0.77]),
    "ndtr": (mp.ncdf, [x for x in SIGNED if x > -37] + [-37.1, -30.3]),
    "log_ndtr": (lambda x: mp.log(mp.ncdf(x)) if x < 0 else mp.log1p(-mp.ncdf(-x)), [x for x in SIGNED if x < 37] + [-1e4]),
    "ndtri": (normal_inverse, [1e-300, 1e-100, 1e-20, 1e-5, 0.01, 0.1, 0.3, 0.7, 0.9, 0.99]),
    "expit": (lambda x: 1 / (1 + mp.exp(-x)), SIGNED),
    "logit": (lambda p: mp.log(p / (1 - p)), UNIT),
    "log_expit": (lambda x: -mp.log1p(mp.exp(-x)), SIGNED),
    "exprel": (lambda x: mp.expm1(x) / x, SIGNED),
    "cosm1": (lambda x: -2 * mp.sin(x / 2) ** 2, SIGNED),
    "i0e": (lambda x: mp.exp(-x) * mp.besseli(0, x), REAL + HUGE[:2]),
    "i1e": (lambda x: mp.exp(-x) * mp.besseli(1, x), REAL + HUGE[:2]),
    "j0": (lambda x: mp.besselj(0, x), REAL + HUGE),
    "j1": (lambda x: mp.besselj(1, x), REAL + HUGE),
    "y0": (lambda x: mp.bessely(0, x), REAL + HUGE),
    "y1": (lambda x: mp.bessely(1, x), REAL + HUGE),
    "k0": (lambda x: mp.besselk(0, x), REAL),
    "k1": (lambda x: mp.besselk(1, x), REAL),
    "k0e": (lambda x: mp.exp(x) * mp.besselk(0, x), REAL + HUGE[:2]),
    "k1e": (lambda x: mp.exp(x) * mp.besselk(1, x), REAL + HUGE[:2]),
    "exp1": (mp.e1, REAL),
    "expi": (mp.ei, SIGNED + [700.5]),
    "sici_si": (mp.si, REAL + HUGE),
    "sici_ci": (mp.ci, REAL + HUGE),
    "shichi_shi": (mp.shi, REAL + [700.5]),
    "shichi_chi": (mp.chi, REAL + [700.5]),
    "ellipk": (mp.ellipk, [-1e6, -3.0, *UNIT]),
    "ellipkm1": (lambda p: mp.pi / 2 / mp.agm(1, mp.sqrt(p)), UNIT),
    "ellipe": (mp.ellipe, [-1e6, -3.0, *UNIT]),
    "zeta": (mp.zeta, grid([1.0001, 1.5, 2.0, 3.3, 10.0, 50.0], [1e-5, 0.3, 1.0, 2.7, 9.5, 33.0, 1000.5])),
    "beta": (mp.beta, grid(SHAPES, SHAPES)),
    "betaln": (lambda a, b: mp.log(mp.beta(a, b)), grid(SHAPES + [1e6], SHAPES)),
    "poch": (mp.rf, grid(SHAPES, [0.5, 2.0, 7.3, 30.0])),
    "binom": (mp.binomial, grid([3.0, 10.0, 55.0, 7.5, 120.25], [0.0, 1.0, 2.0, 2.5, 7.0])),
    "expn": (mp.expint, grid([2, 3, 7, 20, 60], [1e-5, 0.3, 0.99, 1.01, 3.0, 20.0, 200.0])),
    "yn": (mp.bessely, grid([2, 3, 7, 20], [0.1, 0.99, 3.1, 9.0, 40.0])),
    "spherical_yn": (spherical_y, grid([0, 1, 2, 7, 20], [0.1, 0.99, 3.1, 9.0, 40.0])),
    "ellipkinc": (mp.ellipf, grid([0.01, 0.7, 1.5, 2.0, 10.0, -4.0], [-5.0, 1e-9, 0.3, 0.9, 0.999999])),
    "ellipeinc": (mp.ellipe, grid([0.01, 0.7, 1.5, 2.0, 10.0, -4.0], [-5.0, 1e-9, 0.3, 0.9, 0.999999])),
    "ellipj_sn": (jacobi("sn"), grid([0.01, 0.7, 1.5, 4.0, -3.0], [1e-9, 0.3, 0.9, 0.999999])),
    "ellipj_cn": (jacobi("cn"), grid([0.01, 0.7, 1.4, 4.0, -3.0], [1e-9, 0.3, 0.9, 0.999999])),
    "ellipj_dn": (jacobi("dn"), grid([0.01, 0.7, 1.5, 4.0, -3.0], [1e-9, 0.3, 0.9, 0.999999])),
    "gammainc": (lower, grid(SHAPES + [1e4], [1e-5, 0.3, 0.9, 1.6, 4.0, 14.0, 50.0, 170.0, 10100.0], count=40)),
    "gammaincc": (upper, grid(SHAPES, [1e-5, 0.3, 0.9, 1.6, 4.0, 14.0, 50.0, 170.0], count=40)),
    "betainc": (ibeta, grid(SHAPES, SHAPES, [1e-5, 0.1, 0.3, 0.5, 0.8, 0.99], count=40)),
    "pdtr": (lambda k, m: upper(k + 1, m), grid([0, 1, 5, 40], [0.1, 1.0, 6.0, 60.0])),
    "chdtr": (lambda v, x: lower(v / 2, x / 2), grid([1.0, 2.5, 30.0], [0.1, 1.0, 6.0, 60.0])),
    "bdtr": (lambda k, n, p: ibeta(n - k, k + 1, 1 - p), grid([0, 1, 5], [7, 30, 100], [0.01, 0.3, 0.9])),
    "nbdtr": (lambda k, n, p: ibeta(n, k + 1, p), grid([0, 1, 5], [7, 30, 100], [0.1, 0.3, 0.9])),
    "fdtr": (lambda a, b, x: ibeta(a / 2, b / 2, a * x / (b + a * x)), grid([1.0, 2.5, 30.0], [1.0, 2.5, 30.0], [0.1, 1.0, 6.0])),
    "gdtr": (lambda a, b, x: lower(b, a * x), grid([1.0, 2.5], [1.0, 2.5, 30.0], [0.1, 1.0, 6.0])),
    "dawsn": (lambda x: mp.sqrt(mp.pi) / 2 * mp.exp(-x * x) * mp.erfi(x), SIGNED + HUGE[:2]),
    "erfi": (mp.erfi, [x for x in SIGNED if abs(x) < 26] + [26.5]),
    "lpmv": (
        lambda m, v, x: mp.re(mp.legenp(v, m, x)),
        grid([0, 1, 2, 3], [0.3, 1, 2.7, 5, 8.25, 12], [-0.9, -0.3, 0.1, 0.6, 0.99], count=48),
    ),
    "sph_legendre_p": (
        lambda n, m, t: mp.re(mp.spherharm(int(n), int(m), t, 0)) if abs(m) <= n else mp.mpf(0),
        grid([0, 1, 2, 7, 20], [-5, -1, 0, 1, 2, 7], [0.01, 0.5, 1.3, 2.2, 3.1], count=60),
    ),
    "wright_bessel": (wright, grid([0.01, 0.3, 1.0, 2.5, 12.0], [0.0, 0.3, 1.0, 7.5, 40.0], [1e-5, 0.4, 3.0, 40.0, 150.0], count=48)),
}


def plane(low: float, high: float, count: int = 60) -> list[complex]:
    """Points with the logarithm of their size and their angle spread evenly."""
    return [cmath.rect(10 ** random.uniform(low, high), random.uniform(-cmath.pi, cmath.pi)) for _ in range(count)]


def branches() -> list[tuple[complex, int]]:
    """Points of Lambert's W: everywhere, near its branch point, and on its cuts."""
    inverse_e = 0.36787944117144233
    near = [
        complex(-inverse_e + random.choice([1, -1]) * 10 ** random.uniform(-14, -0.5), random.choice([0.0, 1e-9, -1e-3, 0.2]))
        for _ in range(40)
    ]
    cuts = [complex(-(10 ** random.uniform(-300, 3)), 0.0) for _ in range(20)]
    return [
        (z, k)
        for z in [*plane(-300, 300, 20), *plane(-3, 2), *near, *cuts]
        for k in (0, random.choice([-1, 1]), random.choice([2, -3, 10]))
    ]


COMPLEX: dict[str, tuple[Callable[..., Any], list[Any]]] = {
    "gamma": (mp.gamma, plane(-3, 1.8)),
    "rgamma": (mp.rgamma, plane(-3, 1.8)),
    "loggamma": (mp.loggamma, plane(-3, 6) + [1 + 1e-9j, 2 - 1e-9j, -5.5 + 1e-3j, 1.3 + 0.2j, 1.9 - 0.5j]),
    "digamma": (mp.digamma, plane(-3, 5) + [1.46 + 1e-3j, -3.99 + 1e-3j]),
    "erf": (mp.erf, plane(-3, 1.4)),
    "erfc": (mp.erfc, plane(-3, 1.4)),
    "erfcx": (lambda z: mp.exp(z * z) * mp.erfc(z), plane(-3, 1.4)),
    "erfi": (mp.erfi, plane(-3, 1.4)),
    "dawsn": (lambda z: mp.sqrt(mp.pi) / 2 * mp.exp(-z * z) * mp.erfi(z), plane(-3, 1.4)),
    "wofz": (lambda z: mp.exp(-z * z) * mp.erfc(-1j * z), plane(-3, 1.4) + [3.0 + 1e-12j, 5.7 + 0j, 2 - 3j, 1e9 + 1j, 6.2j]),
    "exp1": (mp.e1, plane(-3, 2.4) + [-5 + 0j, -30 + 1e-3j, -60 + 0.5j]),
    "expi": (mp.ei, plane(-3, 2.4) + [5 + 1e-3j, 60 - 0.5j]),
    "lambertw": (mp.lambertw, branches()),
}


def complex_table() -> dict[str, list[list[float]]]:
    """For each function the real and imaginary parts of its arguments, the branch where there is one, and of its value."""
    table = {}
    for name, (f, points) in COMPLEX.items():
        rows = []
        for point in points:
            z, *rest = point if isinstance(point, tuple) else (point,)
            value = f(mp.mpc(z), *rest)
            if mp.mpf("1e-290") < abs(value) < mp.mpf("1e300"):
                rows.append([z.real, z.imag, *rest, float(value.real), float(value.imag)])
        table[name] = rows
    return table


ORDERS = [0, 0.5, 1, -1, 2, -0.3, 0.25, 0.4999, 1.5, -1.75, 3.3, -4.6, 7, 15.2, -22.7, 60.3, 140.6]


def of_order(f: Callable[..., Any]) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """A Bessel function of real order: points for real and for complex arguments."""
    real = [(random.choice(ORDERS), 10 ** random.uniform(-3, 2.6)) for _ in range(60)]
    axes = [complex(0, 1.7), complex(0, -30.5), complex(-2.5, 0.0), complex(40.0, 1e-8), complex(1e-9, 6.5)]
    return f, real, [(random.choice(ORDERS), z) for z in [*plane(-3, 2.6), *axes]]


def of_one(f: Callable[..., Any], high: float) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """A function of one argument: points for real and for complex ones."""
    return f, [(random.choice([1, -1]) * 10 ** random.uniform(-3, high),) for _ in range(40)], [(z,) for z in plane(-3, high)]


def hyp0f1_points(count: int = 40) -> tuple[list[Any], list[Any]]:
    parameters = [0.3, 1, 2.5, 7, 40.5, -0.5, -3.3]
    real = [(random.choice(parameters), random.choice([1, -1]) * 10 ** random.uniform(-3, 4)) for _ in range(count)]
    return real, [(random.choice(parameters), z) for z in plane(-3, 4, count)]


def voigt(x: mp.mpf, sigma: mp.mpf, gamma: mp.mpf) -> mp.mpf:
    z = mp.mpc(x, gamma) / (sigma * mp.sqrt(2))
    return mp.re(mp.exp(-z * z) * mp.erfc(-1j * z)) / (sigma * mp.sqrt(2 * mp.pi))


def kelvin_function(
    f: Callable[..., Any], part: Callable[..., Any], turns: float, sign: int = 0
) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """The real or imaginary part of a Bessel function of order 0 of x exp(i pi turns), or of its derivative, which has a sign."""

    def value(x: mp.mpf) -> mp.mpf:
        turn = mp.expjpi(turns)
        return part(sign * turn * f(1, x * turn) if sign else f(0, x * turn))

    return value, [(10 ** random.uniform(-3, 2.8),) for _ in range(30)], []


def real_points(f: Callable[..., Any], high: float, both: bool = False) -> tuple[Callable[..., Any], list[Any], list[Any]]:
    """A function of one real argument, of both signs or positive."""
    return f, [(random.choice([1, -1] if both else [1]) * 10 ** random.uniform(-3, high),) for _ in range(30)], []


def omega(z: mp.mpc) -> mp.mpc:
    return mp.lambertw(mp.exp(z), int(mp.ceil((mp.im(z) - mp.pi) / (2 * mp.pi))))


def omega_points() -> list[Any]:
    near = [(complex(-1, side * cmath.pi) + z,) for z in plane(-6, 0.5, 30) for side in (1, -1)]
    return [*((z,) for z in plane(-2, 2)), *near]


def integral_y0(x: mp.mpf) -> mp.mpf:
    struve = mp.bessely(1, x) * mp.struveh(0, x) - mp.bessely(0, x) * mp.struveh(1, x)
    return x * mp.bessely(0, x) + mp.pi * x / 2 * struve


def integral_k0(x: mp.mpf) -> mp.mpf:
    struve = mp.besselk(0, x) * mp.struvel(1, x) + mp.besselk(1, x) * mp.struvel(0, x)
    return x * mp.besselk(0, x) + mp.pi * x / 2 * struve


def over_argument(x: mp.mpf, sign: int) -> mp.mpf:
    """By its power series the integral of Y0(t) / t from x on for sign -1, of K0(t) / t for sign 1."""
    with mp.workdps(80 + int(x)):
        t, l = sign * x * x / 4, mp.log(x / 2) + mp.euler
        total, term, harmonic = mp.mpf(0), mp.mpf(1), mp.mpf(0)
        for k in range(1, 200 + int(2 * x)):
            term *= t / k**2
            harmonic += mp.mpf(1) / k
            total += term / (2 * k) * (l - mp.mpf(1) / (2 * k) - harmonic)
        return l * l / 2 + mp.pi**2 / 24 + total if sign > 0 else mp.pi / 6 - (l * l + 2 * total) / mp.pi


def struve_points() -> list[tuple[float, float]]:
    return [(random.choice([*ORDERS, -2.5, -3]), 10 ** random.uniform(-2, 2.4)) for _ in range(60)]


def hypergeometric_points(parameters: int, high: float, both: bool = False, above: float = 1.0) -> list[tuple[float, ...]]:
    """Moderate parameters and arguments, of both signs or that of `above`."""
    of = [0.3, 0.5, 1, 1.7, 2, 3.4, 6.1]
    sides = [1, -1] if both else [above]
    return [(*(random.choice(of) for _ in range(parameters)), random.choice(sides) * 10 ** random.uniform(-2, high)) for _ in range(40)]


# Functions written in Python (name.i: result i): mpmath's, and points for real and for complex arguments, of which the last is complex.
WRITTEN: dict[str, tuple[Callable[..., Any], list[Any], list[Any]]] = {
    "jv": of_order(mp.besselj),
    "yv": of_order(mp.bessely),
    "iv": of_order(mp.besseli),
    "kv": of_order(mp.besselk),
    "hankel1": of_order(mp.hankel1),
    "hankel2": of_order(mp.hankel2),
    "airy.0": of_one(mp.airyai, 1.7),
    "airy.1": of_one(lambda z: mp.airyai(z, derivative=1), 1.7),
    "airy.2": of_one(mp.airybi, 1.7),
    "airy.3": of_one(lambda z: mp.airybi(z, derivative=1), 1.7),
    "fresnel.0": of_one(mp.fresnels, 1.2),
    "fresnel.1": of_one(mp.fresnelc, 1.2),
    "voigt_profile": (voigt, grid([0.0, 1e-3, 0.7, -3.0, 25.0, 1e4], [0.1, 1.0, 30.0], [1e-6, 0.2, 1.0, 50.0], count=40), []),
    "hyp0f1": (mp.hyp0f1, *hyp0f1_points()),
    "wrightomega": (omega, [(x,) for x in [*REAL, *(-x for x in REAL), 1000.0]], omega_points()),
    "ber": kelvin_function(mp.besselj, mp.re, 0.75),
    "bei": kelvin_function(mp.besselj, mp.im, 0.75),
    "berp": kelvin_function(mp.besselj, mp.re, 0.75, -1),
    "beip": kelvin_function(mp.besselj, mp.im, 0.75, -1),
    "ker": kelvin_function(mp.besselk, mp.re, 0.25),
    "kei": kelvin_function(mp.besselk, mp.im, 0.25),
    "kerp": kelvin_function(mp.besselk, mp.re, 0.25, -1),
    "keip": kelvin_function(mp.besselk, mp.im, 0.25, -1),
    "itj0y0.0": real_points(lambda x: x * mp.hyp1f2(0.5, 1, 1.5, -x * x / 4), 2.3, True),
    "itj0y0.1": real_points(integral_y0, 2.3),
    "iti0k0.0": real_points(lambda x: x * mp.hyp1f2(0.5, 1, 1.5, x * x / 4), 2.3, True),
    "iti0k0.1": real_points(integral_k0, 1.7),
    "it2j0y0.0": real_points(lambda x: x * x / 8 * mp.hyp2f3(1, 1, 2, 2, 2, -x * x / 4), 2.3, True),
    "it2j0y0.1": real_points(lambda x: over_argument(x, -1), 2.3),
    "it2i0k0.0": real_points(lambda x: x * x / 8 * mp.hyp2f3(1, 1, 2, 2, 2, x * x / 4), 2.3, True),
    "it2i0k0.1": real_points(lambda x: over_argument(x, 1), 2.3),
    "struve": (mp.struveh, struve_points(), []),
    "modstruve": (mp.struvel, struve_points(), []),
    "hyp1f1": (mp.hyp1f1, hypergeometric_points(2, 2.3, True), []),
    "hyperu": (mp.hyperu, hypergeometric_points(2, 2.3), []),
    "hyp2f1": (mp.hyp2f1, hypergeometric_points(3, -0.01, True) + hypergeometric_points(3, 3, above=-1.0), []),
}


def over_plane(parameters: int, low: float, high: float) -> list[tuple[Any, ...]]:
    """Moderate parameters and complex arguments."""
    of = [-3.6, -0.4, 0.3, 0.5, 1, 1.7, 2, 3.4, 6.1]
    return [(*(random.choice(of) for _ in range(parameters)), z) for z in plane(low, high, 80)]


WRITTEN["hyp1f1"] = (*WRITTEN["hyp1f1"][:2], over_plane(2, -2, 2.6))
WRITTEN["hyp2f1"] = (*WRITTEN["hyp2f1"][:2], [*over_plane(3, -2, 3), *((*p, 1 + z) for *p, z in over_plane(3, -6, -0.3))])
WRITTEN["spence"] = (
    lambda z: mp.polylog(2, 1 - z),
    [(10 ** random.uniform(-3, 3),) for _ in range(30)],
    [*((z,) for z in plane(-3, 3)), *((1 + z,) for z in plane(-9, 0.3))],
)
WRITTEN["sici.0"] = of_one(mp.si, 2)
WRITTEN["sici.1"] = mp.ci, [], [(z,) for z in plane(-3, 2)]
WRITTEN["shichi.0"] = of_one(mp.shi, 2)
WRITTEN["shichi.1"] = mp.chi, [], [(z,) for z in plane(-3, 2)]
COMPLEX_ALONE = {"hankel1", "hankel2"}


def written_table() -> dict[str, list[list[float]]]:
    """Rows of arguments and the value; under "name of complex" the last argument and the value as real and imaginary parts."""
    table: dict[str, list[list[float]]] = {}
    for name, (f, real, complex_points) in WRITTEN.items():
        rows = table.setdefault(name, []) if name not in COMPLEX_ALONE else []
        for point in real:
            value = mp.re(f(*map(mp.mpf, point)))
            if mp.mpf("1e-290") < abs(value) < mp.mpf("1e300"):
                rows.append([*point, float(value)])
        rows = table.setdefault(f"{name} of complex", [])
        for *parameters, z in complex_points:
            value = f(*map(mp.mpf, parameters), mp.mpc(z))
            if mp.mpf("1e-290") < abs(value) < mp.mpf("1e300"):
                rows.append([*parameters, z.real, z.imag, float(mp.re(value)), float(mp.im(value))])
    return {name: rows for name, rows in table.items() if rows}


def written(table: dict[str, Any]) -> str:
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(rows)}" for name, rows in table.items()) + "\n}"


def main() -> None:
    if sys.argv[1:] == ["complex"]:
        print(written(complex_table()))
        return
    if sys.argv[1:] == ["functions"]:
        print(written(written_table()))
        return
    table = {}
    for name, (f, points) in FUNCTIONS.items():
        rows = []
        for point in points:
            arguments = point if isinstance(point, tuple) else (point,)
            try:
                value = mp.re(f(*(mp.mpf(x) for x in arguments)))
            except ValueError:  # a pole
                continue
            # A subnormal result has no full digits.
            if value == 0 or mp.mpf("1e-300") < abs(value) < mp.mpf("1.7e308"):
                rows.append([*map(float, arguments), float(value)])
        table[name] = rows
    print(written(table))


if __name__ == "__main__":
    main()
