"""broadcloth.scipy.special: nodes and weights of Gauss's quadrature, against zeros in 60 digits and SciPy."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

RULES = {
    "legendre": (), "sh_legendre": (), "chebyt": (), "chebyu": (), "chebyc": (), "chebys": (), "sh_chebyt": (), "sh_chebyu": (),
    "jacobi": (0.3, -0.6), "sh_jacobi": (2.1, 1.4), "gegenbauer": (1.7,), "laguerre": (), "genlaguerre": (0.6,), "hermite": (),
    "hermitenorm": (),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_rules_are_scipys(xp, name, n):
    p = RULES[name]
    ours, theirs = getattr(special, f"roots_{name}")(n, *p, mu=True), getattr(scipy_special, f"roots_{name}")(n, *p, mu=True)
    for got, expected in zip(ours[:2], theirs[:2], strict=True):
        assert got.shape == (n,) and got.dtype == np.float64 and got.device == xp.array(0.0).device
        assert_allclose(got.get(), expected, rtol=2e-13, atol=1e-15)
    assert_allclose(ours[2], theirs[2], rtol=1e-14)
    assert len(getattr(special, f"roots_{name}")(n, *p)) == 2
    assert_allclose(ours[1].sum().item(), theirs[2], rtol=1e-14)


def legendre(n, x):
    """p(n) and p'(n)."""
    before, now = Decimal(1), x
    for k in range(1, n):
        before, now = now, ((2 * k + 1) * x * now - k * before) / (k + 1)
    return now, n * (before - x * now) / (1 - x * x)


def laguerre(n, x):
    before, now = Decimal(1), 1 - x
    for k in range(1, n):
        before, now = now, ((2 * k + 1 - x) * now - k * before) / (k + 1)
    return now, n * (now - before) / x


def hermite(n, x):
    before, now = Decimal(1), 2 * x
    for k in range(1, n):
        before, now = now, 2 * x * now - 2 * k * before
    return now, 2 * n * before


PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459")
DIGITS = {
    "legendre": (legendre, lambda n, x, slope: 2 / ((1 - x * x) * slope**2)),
    "laguerre": (laguerre, lambda n, x, slope: 1 / (x * slope**2)),
    "hermite": (hermite, lambda n, x, slope: Decimal(2) ** (n + 1) * math.factorial(n) * PI.sqrt() / slope**2),
}


@pytest.mark.parametrize("name", DIGITS)
@pytest.mark.parametrize("n", [40, 151])
def test_rules_in_60_digits(name, n):
    polynomial, weight = DIGITS[name]
    x, w = (a.get() for a in getattr(special, f"roots_{name}")(n))
    with localcontext(prec=60):
        for i in {*range(0, n, n // 5), n - 1}:
            root = Decimal(float(x[i]))
            for _ in range(4):
                value, slope = polynomial(n, root)
                root -= value / slope
            assert_allclose(x[i], float(root), rtol=1e-15, atol=1e-30)
            assert_allclose(w[i], float(weight(n, root, polynomial(n, root)[1])), rtol=1e-14)


def test_symmetric_rules_are_symmetric_and_weights_may_vanish():
    for name, p in (("legendre", ()), ("hermite", ()), ("hermitenorm", ()), ("gegenbauer", (0.8,)), ("chebyt", ()), ("chebyu", ())):
        for n in (1, 7, 10):
            x, w = (a.get() for a in getattr(special, f"roots_{name}")(n, *p))
            assert_array_equal(x, -x[::-1])
            assert_array_equal(w, w[::-1]) if name != "chebyu" else assert_allclose(w, w[::-1], rtol=1e-15)
    x, w = (a.get() for a in special.roots_hermite(600))
    assert np.isfinite(x).all() and (w >= 0).all() and w[0] == 0
    assert_allclose(w.sum(), math.sqrt(math.pi), rtol=1e-14)


def test_errors_and_old_names():
    for n in (0, -1, 1.5):
        with pytest.raises(ValueError, match="positive integer"):
            special.roots_legendre(n)
    with pytest.raises(ValueError, match="alpha and beta"):
        special.roots_jacobi(3, -1, 0)
    with pytest.raises(ValueError, match="alpha"):
        special.roots_genlaguerre(3, -1)
    with pytest.raises(ValueError, match="alpha"):
        special.roots_gegenbauer(3, -0.6)
    with pytest.raises(ValueError, match="p - q"):
        special.roots_sh_jacobi(3, 1, 2)
    old_names = {"p": "legendre", "t": "chebyt", "us": "sh_chebyu", "la": "genlaguerre", "he": "hermitenorm", "h": "hermite"}
    for old, name in old_names.items():
        rule = getattr(special, f"{old}_roots")
        assert rule is getattr(special, f"roots_{name}")
        assert_allclose(rule(3, *RULES[name])[0].get(), getattr(scipy_special, f"{old}_roots")(3, *RULES[name])[0], atol=1e-15)
