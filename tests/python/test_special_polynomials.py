"""broadcloth.scipy.special: values of orthogonal polynomials against their recurrences in fractions, call forms against SciPy."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

X = np.array([-1.5, -1, -1 + 1e-9, -0.99, -0.7, -0.5, -0.3, -1e-7, 0, 1e-9, 0.2, 0.45, 0.51, 0.8, 0.999, 1 - 1e-12, 1, 1.2, 3])
DEGREES = [0, 1, 2, 3, 5, 8, 25, 60]


def jacobi(n, a, b, x):
    """DLMF 18.9.2, in fractions."""
    before, now = Fraction(1), (a + 1) + (a + b + 2) * (x - 1) / 2
    if n == 0:
        return before
    for k in range(1, n):
        t = 2 * k + a + b
        after = (t + 1) * ((t + 2) * t * x + a * a - b * b) * now - 2 * (k + a) * (k + b) * (t + 2) * before
        before, now = now, after / (2 * (k + 1) * (k + a + b + 1) * t)
    return now


def three_terms(first, factor, shift, back):
    """p(k + 1) = (factor(k) x + shift(k)) p(k) - back(k) p(k - 1), from p(1) = first(x)."""

    def value(n, *parameters_and_x):
        *p, x = parameters_and_x
        before, now = Fraction(1), first(*p, x)
        if n == 0:
            return before
        for k in range(1, n):
            before, now = now, (factor(k, *p) * x + shift(k, *p)) * now - back(k, *p) * before
        return now

    return value


zero = lambda k, *p: 0  # noqa: E731
chebyt = three_terms(lambda x: x, lambda k: 2, zero, lambda k: 1)
chebyu = three_terms(lambda x: 2 * x, lambda k: 2, zero, lambda k: 1)
legendre = three_terms(lambda x: x, lambda k: Fraction(2 * k + 1, k + 1), zero, lambda k: Fraction(k, k + 1))
gegenbauer = three_terms(lambda a, x: 2 * a * x, lambda k, a: 2 * (k + a) / (k + 1), zero, lambda k, a: (k + 2 * a - 1) / (k + 1))
laguerre = three_terms(
    lambda a, x: a + 1 - x, lambda k, a: Fraction(-1, k + 1), lambda k, a: (2 * k + 1 + a) / (k + 1), lambda k, a: (k + a) / (k + 1)
)


def sh_jacobi(n, p, q, x):
    scale = Fraction(1)
    for i in range(n):
        scale *= (2 * n + p - 1 - i) / (i + 1)
    return jacobi(n, p - q, q - 1, 2 * x - 1) / scale


# name: (the polynomial in fractions, lists of parameters, where it is evaluated)
FAMILIES = {
    "legendre": (legendre, [()], X),
    "sh_legendre": (lambda n, x: legendre(n, 2 * x - 1), [()], (X + 1) / 2),
    "chebyt": (chebyt, [()], X),
    "chebyu": (chebyu, [()], X),
    "chebyc": (lambda n, x: 2 * chebyt(n, x / 2), [()], 2 * X),
    "chebys": (lambda n, x: chebyu(n, x / 2), [()], 2 * X),
    "sh_chebyt": (lambda n, x: chebyt(n, 2 * x - 1), [()], (X + 1) / 2),
    "sh_chebyu": (lambda n, x: chebyu(n, 2 * x - 1), [()], (X + 1) / 2),
    "gegenbauer": (gegenbauer, [(0.25,), (1.5,), (7.0,), (-0.75,)], X),
    "jacobi": (jacobi, [(0.25, 0.5), (1.5, -0.75), (-0.25, 7.0), (0.0, 0.0)], X),
    "sh_jacobi": (sh_jacobi, [(1.25, 0.5), (3.5, 0.75), (2.0, 2.0)], (X + 1) / 2),
    "laguerre": (lambda n, x: laguerre(n, Fraction(0), x), [()], np.array([0, 1e-8, 0.1, 0.5, 1, 3, 7.75, 20, 50, -1, -5])),
    "genlaguerre": (laguerre, [(0.5,), (-0.75,), (4.0,), (-1.5,)], np.array([0, 1e-8, 0.1, 0.5, 1, 3, 7.75, 20, 50, -1, -5])),
    "hermite": (three_terms(lambda x: 2 * x, lambda k: 2, zero, lambda k: 2 * k), [()], 3 * X),
    "hermitenorm": (three_terms(lambda x: x, lambda k: 1, zero, lambda k: k), [()], 3 * X),
}
PARAMETERS = {name: parameters[0] for name, (_, parameters, _) in FAMILIES.items()}


@pytest.mark.parametrize("name", FAMILIES)
def test_values_are_those_of_the_recurrence_in_fractions(xp, name):
    polynomial, lists, points = FAMILIES[name]
    for parameters in lists:
        given = [Fraction(p) for p in parameters]
        expected = np.array([[float(polynomial(n, *given, Fraction(x))) for x in points] for n in DEGREES])
        got = getattr(special, f"eval_{name}")(xp.asarray(DEGREES)[:, None], *parameters, xp.asarray(points)).get()
        # Between zeros the rounding of x itself moves the value by its derivative.
        moved = [Fraction(x) * (1 + Fraction(1, 2**60)) for x in points]
        there = [[polynomial(n, *given, x) for x in moved] for n in DEGREES]
        slope = np.array([[abs(float(p - polynomial(n, *given, Fraction(x))) * 2**60) for p, x in zip(row, points, strict=True)]
                          for n, row in zip(DEGREES, there, strict=True)])  # fmt: skip
        error = np.where(got == expected, 0, np.abs(got - expected))
        rtol = 1e-13 if name != "genlaguerre" or parameters[0] > -1 else 1e-12  # where SciPy has NaN
        assert_array_equal(error > rtol * np.abs(expected) + 4e-15 * slope, False, err_msg=str(parameters))


@pytest.mark.parametrize("name", FAMILIES)
def test_dtypes_complex_numbers_and_layouts_are_scipys(xp, name):
    ours, theirs = getattr(special, f"eval_{name}"), getattr(scipy_special, f"eval_{name}")
    p, x = PARAMETERS[name], np.linspace(-1.2, 2, 12).reshape(3, 4)
    assert ours.types == theirs.types
    n = np.array([2, 3, 4, 5], np.int32)
    for view in (lambda a: a, lambda a: a[::-1, ::2], lambda a: a.T, lambda a: a[:0]):
        assert_allclose(ours(4, *p, view(xp.asarray(x))).get(), theirs(4, *p, view(x)), rtol=1e-12, atol=1e-14)
    assert_allclose(ours(xp.asarray(n), *p, xp.asarray(x)).get(), theirs(n, *p, x), rtol=1e-12, atol=1e-14)
    assert_allclose(ours(n.tolist(), *p, 0.25).get(), theirs(n, *p, 0.25), rtol=1e-12)
    assert ours(2, *p, 0.25).shape == ours(2, *p, xp.array(0.25)).shape == ()
    out = xp.zeros((3, 4))
    assert ours(4, *p, xp.asarray(x), out=out) is out and ours(4, *p, xp.asarray(x), out) is out
    assert_allclose(out.get(), theirs(4, *p, x), rtol=1e-12, atol=1e-14)
    masked = ours(4, *p, xp.asarray(x), where=xp.asarray(x) > 0, out=xp.zeros((3, 4))).get()
    assert_allclose(masked, np.where(x > 0, theirs(4, *p, x), 0), rtol=1e-12, atol=1e-14)
    single = x.astype("f4")
    assert ours(4, *p, xp.asarray(single)).dtype == theirs(4, *p, single).dtype
    if not name.startswith("hermite"):
        parameters = [np.float32(q) for q in p]
        got = ours(np.float32(4), *parameters, xp.asarray(single))
        assert got.dtype == np.float32
        assert_allclose(got.get(), theirs(4, *p, single.astype("f8")), rtol=1e-6, atol=1e-6)
        z = x + 0.3j
        assert_allclose(ours(5, *p, xp.asarray(z)).get(), theirs(5, *p, z), rtol=1e-12)
        assert ours(np.float32(4), *parameters, xp.asarray(z.astype("F"))).dtype == np.complex64
        assert_array_equal(ours(xp.array([3.0]), *p, 0.25).get(), ours(3, *p, 0.25).get())
        # Degrees that are not whole: hypergeometric functions, of which SciPy's have fewer digits.
        degrees = np.array([2.5, 3.0, -0.3, np.nan])
        assert_allclose(ours(2.5, *p, 0.25), theirs(2.5, *p, 0.25), rtol=1e-11)
        assert_allclose(ours(xp.asarray(degrees), *p, 0.25).get(), theirs(degrees, *p, 0.25), rtol=1e-10)
        assert_allclose(ours(xp.asarray(degrees), *p, 0.25 - 0.3j).get(), theirs(degrees, *p, 0.25 - 0.3j), rtol=1e-10)
        assert ours(np.float32(2.5), *parameters, xp.asarray(single)).dtype == np.float32
    else:
        with pytest.raises(TypeError, match="no loop"):
            ours(2.0, *p, 0.25)
    assert np.isnan(ours(3, *p, np.nan).item())
    assert pickle.loads(pickle.dumps(ours)) is ours
    with pytest.raises(TypeError, match="operands"):
        ours(2)
    with pytest.raises(TypeError, match="keyword"):
        ours(2, *p, 0.5, nothing=1)
    with pytest.raises(ValueError, match="broadcast"):
        ours(xp.zeros(3, int), *p, xp.zeros(4))


@pytest.mark.parametrize("name", ["legendre", "sh_legendre", "chebyt", "chebyu", "chebyc", "chebys", "sh_chebyt", "sh_chebyu", "laguerre"])
def test_negative_degrees(xp, name):
    n, x = np.arange(-7, 0)[:, None], np.linspace(-0.8, 0.9, 6)
    got = getattr(special, f"eval_{name}")(xp.asarray(n), xp.asarray(x)).get()
    assert_allclose(got, getattr(scipy_special, f"eval_{name}")(n, x), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("name", "kind"), [("chebyt", 1), ("chebyu", 2)])
def test_chebyshevs_of_large_degrees_and_complex_arguments(xp, name, kind):
    n = 123456
    t = np.array([1.2 + 1e-5j, 0.01 + 2e-5j, 2.5 - 1e-4j, 1.57 + 1e-5j])
    expected = np.cos(n * t) if kind == 1 else np.sin((n + 1) * t) / np.sin(t)
    assert_allclose(getattr(special, f"eval_{name}")(n, xp.asarray(np.cos(t))).get(), expected, rtol=1e-7)
    ends = getattr(special, f"eval_{name}")(n, xp.asarray([1 + 0j, -1 + 0j])).get()
    assert_allclose(ends, [1, 1] if kind == 1 else [n + 1, n + 1])


def test_recurrences_of_huge_degrees_are_not_run(xp):
    z, huge = xp.asarray(0.5 + 0.01j), 10**10
    assert np.isnan(special.eval_legendre(huge, z).get()) and np.isnan(special.eval_laguerre(huge, z).get())
    assert np.isnan(special.eval_jacobi(huge, 1.0, 2.0, 0.5).get()) and np.isnan(special.eval_sh_jacobi(huge, 2.0, 1.0, 0.5).get())
    assert np.isnan(special.eval_gegenbauer(huge, 0.3, z).get())


def test_they_fuse_and_compiled_functions_call_them(xp):
    x = xp.asarray(np.linspace(-1, 1, 100))
    with xp.profiler.record() as recorded:
        y = special.eval_legendre(5, x) * 2 + special.eval_chebyt(4, x)
        y.get()
    assert len(recorded.kernels) == 1

    @bc.njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += special.eval_legendre(5, x[i])
        return s

    v = np.linspace(-1, 0.8, 100)
    assert_allclose(total(v), scipy_special.eval_legendre(5, v).sum(), rtol=1e-12)


def test_assoc_laguerre(xp):
    got = special.assoc_laguerre(xp.array([0.5, 2.0]), 3, 1.5).get()
    np.testing.assert_allclose(got, scipy_special.assoc_laguerre(np.array([0.5, 2.0]), 3, 1.5), rtol=1e-13)


def test_signatures_choose_loops(xp):
    assert special.eval_legendre(2, xp.array(0.5), sig="dd->d").dtype == np.float64
    assert special.eval_legendre(2, 0.5, signature=("f", "f", "f")).dtype == np.float32
    with pytest.raises(TypeError, match="has no loop 'gg->g'"):
        special.eval_legendre(2, 0.5, signature="gg->g")
