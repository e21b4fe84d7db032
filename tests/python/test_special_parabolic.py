"""Parabolic cylinder functions of broadcloth.scipy.special against mpmath's values, SciPy and their own equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _parabolic

scipy_special = pytest.importorskip("scipy.special")

NAMES = ["pbdv", "pbvv", "pbwa"]


@pytest.mark.parametrize("name", NAMES)
def test_parabolic_cylinder_functions_beside_scipy(xp, name):
    v, x = np.meshgrid([-3.0, -1.5, 0.0, 0.3, 1.0, 2.5, 4.0], [-4.5, -2.0, -0.5, 0.0, 0.5, 1.99, 2.01, 2.8, 2.9, 4.5, np.nan])
    for got, expected in zip(getattr(special, name)(xp.asarray(v), xp.asarray(x)), getattr(scipy_special, name)(v, x), strict=True):
        assert_allclose(got.get(), expected, rtol=3e-8, atol=1e-12)
    for got in getattr(special, name)(xp.ones(3, "f4"), xp.ones(3, "f4")):
        assert got.dtype == np.float32


def test_d_of_whole_orders_is_hermites(xp):
    x = np.array([-30.0, -3.0, 0.0, 0.7, 6.2, 6.4, 30.0])
    for n in range(5):
        expected = np.exp(-(x**2) / 4) * scipy_special.eval_hermitenorm(n, x)
        got = special.pbdv(float(n), xp.asarray(x))[0].get()
        assert_allclose(got, expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_and_the_equation(xp, name):
    x = np.array([-3.1, -0.4, 0.3, 2.2])
    for part in range(2):
        a = xp.asarray(x)
        a.requires_grad = True
        getattr(special, name)(1.3, a)[part].sum().backward()
        values = [getattr(special, name)(1.3, xp.asarray(x + h))[part].get() for h in (1e-5, -1e-5)]
        assert_allclose(a.grad.get(), (values[0] - values[1]) / 2e-5, rtol=1e-7, atol=1e-9)


def test_w_has_no_values_beyond_five(xp):
    assert np.isnan(special.pbwa(5.5, 1.0)[0].get()) and np.isnan(special.pbwa(1.0, -5.5)[1].get())


@pytest.mark.parametrize("name", ["_pbdv", "_pbdvp", "_pbvv", "_pbvvp", "_pbwa", "_pbwap"])
def test_they_compile_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(_parabolic, name).py_func, (bc.float64, bc.float64), device=True, cc=(9, 0))
    assert ".func" in code
