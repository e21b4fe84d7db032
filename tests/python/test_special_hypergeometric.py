"""Hypergeometric functions of broadcloth.scipy.special. Values against mpmath are in test_special_functions.py; here special values, edges
between their expansions, gradients and call forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

NAMES = ["hyp1f1", "hyperu", "hyp2f1"]


def check(xp, name, points, rtol):
    arguments = np.array(points, float).T
    got = getattr(special, name)(*map(xp.asarray, arguments)).get()
    assert_allclose(got, getattr(scipy_special, name)(*arguments), rtol=rtol)


def test_hyp1f1_at_the_edges(xp):
    points = [(1, 0, 1), (-2, -3, 2), (-3, -2, 2), (-2, -2, 2), (1, -2, 0), (1, 2, np.inf), (1, 1, np.nan), (2, 1, 800), (1.5, 1.5, -3),
              (0.3, 1.2, 39.9), (0.3, 1.2, 40.1), (0.3, 1.2, -39.9), (0.3, 1.2, -40.1), (2, 5, -1000), (-4, 2.5, 30), (-4, 2.5, -30),
              (0.5, -2.5, 3), (1.3, -20.4, 5), (1e-3, 1e-3, 2), (40.5, 0.3, -8)]  # fmt: skip
    check(xp, "hyp1f1", points, 1e-11)
    assert special.hyp1f1(1.0, 2.0, 0.0) == 1 and special.hyp1f1(0.0, 2.0, 5.0) == 1


def test_hyperu_at_the_edges(xp):
    points = [(1, 2, 0), (1, 0.5, 0), (-2, -3, 2), (-3, -2, 2), (0, 3, 2), (1, 2, -1), (1, 2, np.inf), (1, 1, 0), (2, -3, 0), (0.5, 1, 0),
              (-1.5, 5, 0.01), (0.3, 1, 1e-3), (0.3, 1, 50), (0.99, 0.4, 2), (1.01, 0.4, 2), (-2.5, 1.3, 4), (4, 7.5, 3)]  # fmt: skip
    check(xp, "hyperu", points, 1e-10)
    assert special.hyperu(-2.0, 3.0, 0.0) == 12  # a polynomial; SciPy says inf


def test_hyp2f1_at_the_edges(xp):
    points = [(1, 2, 3, 1.5), (1, 2, 3, 1), (1, 2, 4, 1), (1, 2, 0, 0.5), (-2, 3, -3, 0.5), (-3, 3, -2, 0.5), (-2, 3, -2, 0.5),
              (-2, 3, 1.5, 4), (3, -2, 1.5, -40), (1, 2, 3, -1e10), (0.5, 0.5, 1, 2), (0, 1, 2, 3), (1, 2, 3, np.nan), (1.5, 2, 1.5, 2),
              (2.5, 3, 0.5, 3), (1, 1, -2, 0), (1.2, 0.7, 2.5, 0.59), (1.2, 0.7, 2.5, 0.61), (1.2, 0.7, 2.5, -0.49),
              (1.2, 0.7, 2.5, -0.51), (1.2, 0.7, 1.9, 0.999), (1, 1, 2, 0.999999), (1.5, 2.5, 2, 0.9999), (3, 4, 0.5, 0.9),
              (0.5, 1, 1.5, 1 - 1e-12)]  # fmt: skip
    check(xp, "hyp2f1", points, 1e-11)


def test_hyp2f1_takes_the_form_whose_terms_do_not_cancel(xp):
    known = np.array([  # by mpmath with 60 digits
        (-102.1, -20.3, -80.8, -1.0, 45143784.46783885),
        (-23.1, -38.1, 35.3, -0.94, 1.0637105577418844e-05),
        (12.4, 53.7, -88.7, -1.75, 92642.16985539826),
        (30.3, -106.6, 55.8, -1.6, 1.2831702270741934e34),
        (-17.6, -66.6, 57.3, -1.22, -1.140948948166309e-06),
        (-61.8, -39.7, -8.8, -1.66, 2.2808821135620952e30),
    ])  # fmt: skip
    assert_allclose(special.hyp2f1(*map(xp.asarray, known[:, :4].T)).get(), known[:, 4], rtol=1e-11)


def test_polynomials_of_hyp2f1(xp):
    known = np.array([  # by mpmath with 30 digits: at 1, near 1, far out, and where a or b is c
        (-8.0, -10.0, -6.5, 1.0, -6783.0),
        (-20.0, 5.5, 3.25, 1.0, -1.0394739458284717e-07),
        (-12.0, 40.5, 11.5, 0.999999, 55.17141023244672),
        (-12.0, 3.0, 7.7, 0.97, 0.03481038537475293),
        (-15.0, 2.5, 0.4, -4000.0, 6.025115449945897e+56),
        (-8.0, -10.0, -8.0, 1.0, 9.0),
        (-1.0, -95.0, -95.0, 1.0, 0.0),
        (0.5, -3.0, -3.0, 0.3, 1.1921875),
        (-4.0, -3.0, -3.0, 0.3, 0.232),
        (-3.0, -4.0, -3.0, 0.3, 0.2401),
        (1.2, -7.0, 1.2, 1.0, 0.0),
        (6.0, -12.0, 6.0, 0.9999, 1e-48),
    ])  # fmt: skip
    assert_allclose(special.hyp2f1(*map(xp.asarray, known[:, :4].T)).get(), known[:, 4], rtol=1e-11)


def test_hyp2f1_of_elementary_functions(xp):
    x = np.array([-1e6, -30.0, -1.0, -0.3, 1e-9, 0.4, 0.7, 0.99, 1 - 1e-10])
    assert_allclose(special.hyp2f1(1.0, 1.0, 2.0, xp.asarray(x)).get(), -np.log1p(-x) / x, rtol=1e-12)
    assert_allclose(special.hyp2f1(0.3, 2.0, 2.0, xp.asarray(x)).get(), (1 - x) ** -0.3, rtol=1e-12)


def test_hypergeometric_functions_say_where_they_have_no_digits(xp):
    rng = np.random.default_rng(3)
    a, b = rng.uniform(-60, 60, (2, 200))
    for name, x in (("hyp1f1", rng.uniform(-150, 150, 200)), ("hyperu", rng.uniform(1, 60, 200))):
        got, expected = getattr(special, name)(*map(xp.asarray, (a, b, x))).get(), getattr(scipy_special, name)(a, b, x)
        known = np.isfinite(got) & np.isfinite(expected) & (abs(expected) > 1e-290)
        # SciPy's have no digits for some of these either.
        close = abs(got - expected)[known] < 1e-5 * abs(expected)[known]
        assert close.mean() > 0.9 and known.mean() > 0.5


def test_hyp2f1_of_complex_arguments_at_the_edges(xp):
    # The cut from above, the origin, 1, whole differences of parameters, polynomials, no function at all
    points = [(0.5, 0.2, 1.5, 3), (0.5, 0.2, 1.5, 1), (12.3, 8.0, 20.31, 1), (1, 2, 3, 1.0), (2, 3, 1.5, -0.4), (0.5, 0.2, -10, 0),
              (0.5, 0, -10, 0.2 + 0.2j), (0.5, -10, -10, 0.2 + 0.2j), (-1, 3.2, -1, 0.2 + 0.2j), (1.0, 1.0, 2.0, 30j), (2, 3, 4, -8 + 1j),
              (1, 3, 2, 0.5 + 0.8660254037844386j), (4, 2, 6, 1 + 1e-9j), (-0.5, -0.96, -15.5, 1.5 - 1.1j),
              (-10000, 2.2, 93459345.3, 2 + 2j)]  # fmt: skip
    *parameters, z = (np.array(a) for a in zip(*points, strict=True))
    z = z.astype(complex)
    got = special.hyp2f1(*map(xp.asarray, [*parameters, z])).get()
    assert_allclose(got, scipy_special.hyp2f1(*parameters, z), rtol=1e-11)
    none = special.hyp2f1(xp.asarray([1e7, np.inf, 1.0]), 1.0, xp.asarray([3.0, 3.0, np.nan]), 4 + 1j).get()
    assert np.isnan(none).all()
    assert special.hyp2f1(0.5, 0.2, -10.0, 0.2 + 0.2j).real == np.inf


def test_hyp1f1_of_complex_arguments_at_the_edges(xp):
    points = [(1, 0, 1j), (-2, -3, 2j), (-2, -2, 2 + 1j), (0.5, 1.5, 0), (0.5, 1.5, -3), (1.5, 1.5, -3 + 2j), (0.3, 1.2, 20j), (2, 5, -90j),
              (-4, 2.5, 30 + 4j), (0.3, 1.2, 28 + 28j)]  # fmt: skip
    a, b, z = (np.array(x) for x in zip(*points, strict=True))
    got = special.hyp1f1(*map(xp.asarray, (a, b, z))).get()
    expected = [math.inf, 1 + 4j / 3 - 2 / 3, 4.5 + 3j, 1, scipy_special.hyp1f1(0.5, 1.5, -3), np.exp(-3 + 2j)]
    assert_allclose(got[:6], expected, rtol=1e-13)
    # e**z times 1F1 of b - a and -z
    turned = np.exp(z) * special.hyp1f1(*map(xp.asarray, (b - a, b, -z))).get()
    assert_allclose(got[6:], turned[6:], rtol=1e-12)
    assert np.isnan(special.hyp1f1(1.0, 2.0, complex(np.inf, 0)).item())


@pytest.mark.parametrize("name", ["hyp1f1", "hyp2f1"])
def test_complex_gradients_and_call_forms(xp, name):
    row, parameters = getattr(special, name), (1.3, 0.7, 2.6) if name == "hyp2f1" else (1.3, 2.6)
    z = np.array([0.2 + 1j, -3.5 + 0.3j, 1.2 - 2j])
    a = xp.asarray(z)
    a.requires_grad = True
    row(*parameters, a).real.sum().backward()
    slope = (row(*parameters, xp.asarray(z + 1e-5)).get() - row(*parameters, xp.asarray(z - 1e-5)).get()) / 2e-5
    assert_allclose(a.grad.get(), slope.conj(), rtol=1e-7)
    assert row(*map(np.float32, parameters), xp.ones(3, "c8")).dtype == np.complex64
    with pytest.raises(TypeError, match="no loop"):
        row(*parameters[:-1], 1j, 0.5)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_by_the_argument(xp, name):
    row, parameters = getattr(special, name), (1.3, 0.7, 2.6) if name == "hyp2f1" else (1.3, 2.6)
    x = np.array([0.2, 0.5, 0.9])
    a = xp.asarray(x)
    a.requires_grad = True
    row(*parameters, a).sum().backward()
    slope = (row(*parameters, xp.asarray(x + 1e-5)).get() - row(*parameters, xp.asarray(x - 1e-5)).get()) / 2e-5
    assert_allclose(a.grad.get(), slope, rtol=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_call_forms(xp, name):
    row, count = getattr(special, name), 4 if name == "hyp2f1" else 3
    assert row(*[xp.ones(3, "f4")] * count).dtype == np.float32
    assert row(*[1.0] * (count - 2), xp.arange(1, 4)[:, None], xp.full(4, 0.5)).shape == (3, 4)
    assert_array_equal(row(*[1.0] * (count - 1), xp.zeros((0, 2))).get(), np.zeros((0, 2)))
    a = xp.asarray([0.1, 0.9])
    fused = row(*[0.5, 1.5, 2.5][: count - 1], a) * xp.sin(a)
    assert_allclose(fused.get(), getattr(scipy_special, name)(*[0.5, 1.5, 2.5][: count - 1], a.get()) * np.sin(a.get()), rtol=1e-12)


def test_compiled_functions_call_them():
    hyp1f1, hyp2f1, hyperu = special.hyp1f1, special.hyp2f1, special.hyperu

    @bc.njit
    def total(x):
        return hyp1f1(0.5, 1.5, x) + hyp2f1(0.5, 1.5, 2.5, x) + hyperu(0.5, 1.5, x)

    s = scipy_special
    assert_allclose(total(0.3), s.hyp1f1(0.5, 1.5, 0.3) + s.hyp2f1(0.5, 1.5, 2.5, 0.3) + s.hyperu(0.5, 1.5, 0.3), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_they_compile_for_cuda(name):
    count = 4 if name == "hyp2f1" else 3
    if name != "hyperu":
        function = getattr(special, name)._of_complex
        code, _ = cuda.compile_ptx(function, (bc.float64,) * (count - 1) + (bc.complex128,), device=True, cc=(9, 0))
        assert ".func" in code
    code, _ = cuda.compile_ptx(getattr(special, name).py_func, (bc.float64,) * count, device=True, cc=(9, 0))
    assert ".func" in code
