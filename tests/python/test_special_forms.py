"""Special functions whose loops have a form without branches: it and the plain form give the same bits; orthogonal polynomials, and values
and derivatives of the rest."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

RNG = np.random.default_rng(3)
# Ordinary operands, and one element for which the plain form runs.
FORMS = {
    "gammaln": ([RNG.uniform(0.1, 50, 200)], [-3.5]),
    "loggamma": ([RNG.uniform(0.1, 50, 200)], [0.0]),
    "digamma": ([RNG.uniform(0.01, 50, 200)], [-3.5]),
    "zeta": ([RNG.uniform(1.01, 20, 200), RNG.uniform(0.1, 50, 200)], [2.0, -0.5]),
    "zetac": ([RNG.uniform(-0.4, 90, 200)], [-2.5]),
    "riemann_zeta": ([RNG.uniform(-0.4, 90, 200)], [-2.5]),
    "poch": ([RNG.uniform(0.1, 50, 200), RNG.uniform(-0.05, 50, 200)], [-2.5, 1.5]),
    "binom": ([RNG.uniform(-0.9, 50, 200), RNG.uniform(-0.9, 60, 200)], [-2.5, 1.5]),
    "trigamma": ([RNG.uniform(0.01, 50, 200)], [-3.5]),
    "yn": ([RNG.integers(-5, 11, 200), RNG.uniform(0.1, 50, 200)], [31.0, 4.0]),
    "sph_legendre_p": ([RNG.integers(0, 21, 200), RNG.integers(-12, 13, 200), RNG.uniform(0.1, 3, 200)], [31.0, 3.0, 0.3]),
    "kl_div": ([RNG.uniform(0.1, 5, 200), RNG.uniform(0.1, 5, 200)], [0.0, 1.0]),
    "rel_entr": ([RNG.uniform(0.1, 5, 200), RNG.uniform(0.1, 5, 200)], [0.0, 1.0]),
    "agm": ([RNG.uniform(0.1, 5, 200), RNG.uniform(0.1, 5, 200)], [0.0, 1.0]),
    "eval_chebyt": ([RNG.integers(-9, 25, 200), RNG.uniform(-1.2, 1.2, 200)], [31.0, 0.3]),
    "eval_chebyu": ([RNG.integers(0, 25, 200), RNG.uniform(-1.2, 1.2, 200)], [-4.0, 0.3]),
    "eval_chebyc": ([RNG.integers(-9, 25, 200), RNG.uniform(-2.2, 2.2, 200)], [31.0, 0.3]),
    "eval_chebys": ([RNG.integers(0, 25, 200), RNG.uniform(-2.2, 2.2, 200)], [31.0, 0.3]),
    "eval_sh_chebyt": ([RNG.integers(-9, 25, 200), RNG.uniform(-0.1, 1.1, 200)], [31.0, 0.3]),
    "eval_sh_chebyu": ([RNG.integers(0, 25, 200), RNG.uniform(-0.1, 1.1, 200)], [31.0, 0.3]),
    "eval_legendre": ([RNG.integers(-9, 25, 200), RNG.uniform(-1.2, 1.2, 200)], [31.0, 0.3]),
    "eval_sh_legendre": ([RNG.integers(-9, 25, 200), RNG.uniform(-0.1, 1.1, 200)], [31.0, 0.3]),
    "eval_gegenbauer": ([RNG.integers(0, 25, 200), RNG.uniform(-0.4, 5, 200), RNG.uniform(-1.2, 1.2, 200)], [31.0, 0.7, 0.3]),
    "eval_genlaguerre": ([RNG.integers(0, 25, 200), RNG.uniform(-0.9, 5, 200), RNG.uniform(-2, 30, 200)], [31.0, 0.7, 0.3]),
    "eval_laguerre": ([RNG.integers(0, 25, 200), RNG.uniform(-2, 30, 200)], [31.0, 0.3]),
    "eval_hermite": ([RNG.integers(0, 25, 200), RNG.uniform(-5, 5, 200)], [31.0, 0.3]),
    "eval_hermitenorm": ([RNG.integers(0, 25, 200), RNG.uniform(-5, 5, 200)], [31.0, 0.3]),
}
POLYNOMIALS = sorted(name for name in FORMS if name.startswith("eval_"))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("name", sorted(FORMS))
def test_both_forms_give_the_same_bits(xp, name, dtype):
    operands, other = FORMS[name]
    row = bc._c.ufuncs[name]
    given = [x.astype(dtype) for x in operands]
    alone = row(*map(xp.asarray, given)).get()
    beside = row(*(xp.asarray(np.append(x, dtype and np.dtype(dtype).type(y))) for x, y in zip(given, other, strict=True))).get()
    assert_array_equal(alone, beside[:-1])


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_beside_scipys(xp, name):
    operands, _ = FORMS[name]
    ours, theirs = getattr(special, name), getattr(scipy_special, name)
    expected = theirs(*operands)
    assert_allclose(ours(*map(xp.asarray, operands)).get(), expected, rtol=2e-11, atol=1e-12 * np.abs(expected).max() * 1e-2)


# By mpmath: degree, further operands, value. Small points and ends of the interval, where a plain recurrence has no digits left.
VALUES = [
    ("eval_legendre", (3, 1e-20), -1.5e-20), ("eval_legendre", (7, 0.9999999), 0.99999720000189147327),
    ("eval_legendre", (100, 0.3), 0.057127392202801350449), ("eval_legendre", (24, -0.99), -0.3761384694439166543),
    ("eval_legendre", (2.5, 0.3), -0.46366101345722319298), ("eval_chebyt", (21, 1e-10), 2.1e-9),
    ("eval_chebyt", (100, 0.9999), 0.15593205355938235309), ("eval_chebyt", (2.5, 0.3), -0.9997199607890201562),
    ("eval_chebyt", (2.5, 1.5), 5.590169943749474241), ("eval_chebyu", (2.5, 0.3), -1.0071620448643726724),
    ("eval_gegenbauer", (4, 1e-9, 0.5), -2.5000000054166668249e-10), ("eval_gegenbauer", (2, 0.0, 0.5), 0.0),
    ("eval_genlaguerre", (3, -2.5, 0.5), 0.16666666666666666667), ("eval_hermite", (3, 0.5), -5.0),
    ("eval_hermitenorm", (40, 0.0), 3.1983098677287777082e23), ("eval_jacobi", (3, 1.0, 2.0, 1.0), 4.0),
    ("eval_jacobi", (3, 1.0, 2.0, -1.0), -10.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "expected"), VALUES)
def test_values_by_mpmath(xp, name, operands, expected):
    given = [xp.asarray(np.array([x])) for x in operands]
    assert_allclose(getattr(special, name)(*given).get(), [expected], rtol=1e-13)


def test_degrees_without_a_polynomial(xp):
    x = xp.asarray([0.3])
    assert_array_equal(special.eval_chebyu(-1, x).get(), [0.0])
    assert_allclose(special.eval_chebyu([-5], x).get(), -special.eval_chebyu([3], x).get())
    assert_allclose(special.eval_legendre([-4], x).get(), special.eval_legendre([3], x).get())
    assert_array_equal(special.eval_gegenbauer([-2], 1.0, x).get(), [0.0])
    assert np.isnan(special.eval_hermite([-1], x).get()).all()
    assert np.isinf(special.eval_chebyt(0.5, xp.asarray([-2.0])).get()).all()
    for name in POLYNOMIALS:
        count = len(FORMS[name][0]) - 1
        assert np.isnan(bc._c.ufuncs[name](xp.asarray([np.nan]), *[x] * count).get()).all(), name


def test_whole_degrees_run_in_double_precision_as_scipys(xp):
    x = np.array([0.5], np.float32)
    for n in (3, np.array([3]), 3.0, np.array([3.0], np.float32)):
        ours = special.eval_legendre(xp.asarray(n) if isinstance(n, np.ndarray) else n, xp.asarray(x))
        assert ours.dtype == scipy_special.eval_legendre(n, x).dtype
    assert special.eval_hermite(xp.asarray([2]), xp.asarray(x)).dtype == np.float64


@pytest.mark.parametrize("name", POLYNOMIALS)
@pytest.mark.parametrize("n", [0.0, 1.0, 4.0])
def test_gradients_of_polynomials(xp, name, n):
    row, h = bc._c.ufuncs[name], 1e-6
    middle = [2.5] if len(FORMS[name][0]) == 3 else []
    x = xp.asarray([0.3, 0.45, 0.7])
    x.requires_grad = True
    row(n, *middle, x).sum().backward()
    at = x.detach()
    assert_allclose(x.grad.get(), ((row(n, *middle, at + h) - row(n, *middle, at - h)) / (2 * h)).get(), rtol=1e-7, atol=1e-7)


def test_gradients_of_means_and_omega(xp):
    a, b = xp.asarray([1.0, 3.0, 0.2]), xp.asarray([1.0, 0.5, 4.0])
    a.requires_grad = b.requires_grad = True
    special.agm(a, b).sum().backward()
    h, p, q = 1e-6, a.detach(), b.detach()
    assert_allclose(a.grad.get(), ((special.agm(p + h, q) - special.agm(p - h, q)) / (2 * h)).get(), rtol=1e-8)
    assert_allclose(b.grad.get(), ((special.agm(p, q + h) - special.agm(p, q - h)) / (2 * h)).get(), rtol=1e-8)
    z = xp.asarray([-3.0, 0.5, 20.0])
    z.requires_grad = True
    y = special.wrightomega(z)
    y.sum().backward()
    assert_allclose(z.grad.get(), (y / (y + 1)).detach().get(), rtol=1e-14)


def test_counts_are_exact(xp):
    n, k = np.meshgrid(np.arange(31.0), np.arange(31.0))
    expected = scipy_special.comb(n, k)
    assert_array_equal(special.comb(xp.asarray(n), xp.asarray(k)).get(), np.rint(expected))
    assert_array_equal(special.poch(xp.asarray([3.0, 1.0, 7.0]), xp.asarray([2.0, 15.0, 0.0])).get(), [12.0, 1307674368000.0, 1.0])
    assert_array_equal(special.factorial(xp.asarray(np.arange(16.0))).get(), scipy_special.factorial(np.arange(16)))


def test_zeta_at_its_edges(xp):
    s = np.array([1.0, 1.0 + 1e-12, 2.0, 2.0, 40.0, 300.0, 5.0, np.nan, 2.0])
    q = np.array([3.0, 3.0, 1e-200, 1e9, 0.5, 2.0, np.inf, 1.0, np.nan])
    got = special.zeta(xp.asarray(s), xp.asarray(q)).get()
    assert_allclose(got[[0, 2]], [np.inf, np.inf])
    assert_allclose(got[[1, 3, 4, 5]], [999911107319.3471979, 1.0000000005e-9, 1.0995116277760000001e12, 2.0**-300], rtol=1e-13)
    assert_array_equal(np.isnan(got[7:]), [True, True])


def test_divergences_of_near_and_far_numbers(xp):
    x = np.array([1.0, 1.0 + 1e-15, 1e-300, 1e300, 2.0, np.inf, 0.0, 1.0])
    y = np.array([1.0, 1.0, 1.0, 1e-300, 1.0 + 2.0**-40, 1.0, 2.0, 0.0])
    with np.errstate(all="ignore"):
        expected = scipy_special.rel_entr(x, y)
    expected[1] = 1.110223024625156e-15  # log1p of the distance
    assert_allclose(special.rel_entr(xp.asarray(x), xp.asarray(y)).get(), expected, rtol=1e-13)
    got = special.kl_div(xp.asarray(x), xp.asarray(y)).get()
    assert_allclose(got[[0, 1, 6, 7]], [0.0, 6.162975822039152e-31, 2.0, np.inf], rtol=1e-12)
