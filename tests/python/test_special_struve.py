"""Struve's functions of broadcloth.scipy.special. Their values against mpmath are in test_special_functions.py; here special values, the
edges between their expansions, gradients and call forms."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

NAMES = ["struve", "modstruve"]


@pytest.mark.parametrize("name", NAMES)
def test_struve_at_the_edges(xp, name):
    v, x = np.meshgrid([0.0, 1.0, -1.0, -2.0, -3.0, -0.5, 1.5, 2.0], [0.0, -2.0, -40.0, 29.99, 30.01, 2.0, np.nan])
    got, expected = getattr(special, name)(xp.asarray(v), xp.asarray(x)).get(), getattr(scipy_special, name)(v, x)
    assert_allclose(got, expected, rtol=1e-12)
    assert np.isnan(getattr(special, name)(xp.asarray([np.nan, np.inf, 1e6]), 1.0).get()).all()


@pytest.mark.parametrize("name", NAMES)
def test_struve_of_orders_beside_the_argument(xp, name):
    x = np.array([35.0, 60.0, 100.0, 150.0])
    for v in (0.7 * x, x, 1.3 * x, 2.0 * x, -0.15 * x):
        assert_allclose(getattr(special, name)(xp.asarray(v), xp.asarray(x)).get(), getattr(scipy_special, name)(v, x), rtol=2e-11)


def test_struve_says_where_it_has_no_digits(xp):
    got = special.struve(xp.asarray([400.0, 500.0]), xp.asarray([390.0, 480.0])).get()
    expected = scipy_special.struve([400.0, 500.0], [390.0, 480.0])
    assert all(np.isnan(a) or abs(a - b) < 1e-8 * abs(b) for a, b in zip(got, expected, strict=True))


def test_struve_of_orders_that_are_bessel_functions(xp):
    x = np.array([0.3, 4.0, 50.0])
    assert_allclose(special.struve(-1.5, xp.asarray(x)).get(), -scipy_special.jv(1.5, x), rtol=1e-13)
    assert_allclose(special.struve(-2.5, xp.asarray(x)).get(), scipy_special.jv(2.5, x), rtol=1e-13)
    assert_allclose(special.modstruve(-1.5, xp.asarray(x)).get(), scipy_special.iv(1.5, x), rtol=1e-13)
    assert_allclose(special.struve(0.5, xp.asarray(x)).get(), np.sqrt(2 / (np.pi * x)) * (1 - np.cos(x)), rtol=1e-11)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_of_struve(xp, name):
    row = getattr(special, name)
    x = np.array([0.4, 2.0, 33.0])
    a = xp.asarray(x)
    a.requires_grad = True
    row(1.3, a).sum().backward()
    slope = (row(1.3, xp.asarray(x + 1e-5)).get() - row(1.3, xp.asarray(x - 1e-5)).get()) / 2e-5
    assert_allclose(a.grad.get(), slope, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_struve_call_forms(xp, name):
    row = getattr(special, name)
    assert row(xp.ones(3, "f4"), xp.ones(3, "f4")).dtype == np.float32
    assert row(xp.arange(3)[:, None], xp.ones(4)).shape == (3, 4)
    assert_array_equal(row(xp.zeros((0, 2)), 1.0).get(), np.zeros((0, 2)))
    x = np.linspace(0.5, 6, 6)

    @bc.njit
    def total(x):
        s = 0.0
        for i in range(x.size):
            s += row(1.0, x[i])
        return s

    assert_allclose(total(x), getattr(scipy_special, name)(1.0, x).sum(), rtol=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_struve_compiles_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(special, name).py_func, (bc.float64, bc.float64), device=True, cc=(9, 0))
    assert ".func" in code
