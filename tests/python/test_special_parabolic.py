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


def test_d_by_each_of_its_ways(xp):
    # Order, x, value and slope by mpmath with 40 digits
    known = np.array([
        (-0.999, 2.01, 0.15303888063849377, -0.21069514993183328),
        (-0.5, 6.29, 2.0004603529345776e-05, -6.444968105449498e-05),
        (0.5, 1.99, 0.5381389018240009, -0.41247770564760466),
        (0.5, 2.01, 0.5298889898459055, -0.41247789164471965),
        (3.7, 3.3, 3.016302033405916, -0.16292626691557638),
        (4.999, 6.1, 0.5706342771345885, -1.2105350451777575),
        (19.99, 1.5, 572377369.351622, -1365131151.8271065),
        (33.3, 2.5, 1.8395462786961244e+18, 1.982171669971499e+18),
        (49.9, 4.4, -4.256072195678631e+31, -1.6825547194355046e+32),
        (0.3, 0.001, 0.7727812821458658, 0.3743912107186924),
    ])  # fmt: skip
    v, x, value, slope = known.T
    got = [y.get() for y in special.pbdv(xp.asarray(v), xp.asarray(x))]
    size = np.sqrt(value**2 + slope**2 / (abs(v) + 1))  # the function oscillates between zeros
    assert (abs(got[0] - value) <= 3e-14 * size).all()
    assert (abs(got[1] - slope) <= 3e-14 * size * np.sqrt(abs(v) + 1)).all()


def test_d_near_whole_orders_at_negative_arguments(xp):
    # Order, x, value and slope by the power series with 150 digits
    known = np.array([
        (1e-15, -6.0, 0.00012340980059819247, 0.0003702294221059967),
        (1e-30, -8.0, 1.1253517471925912e-07, 4.5014069887703647e-07),
        (1.000001, -6.0, -0.00012095646889628359, -0.0037279419337419104),
        (0.999999, -9.0, -20.040695950654257, 85.54839287694605),
        (-1e-14, -9.0, 1.7589173902080984e-06, -7.70027459310752e-06),
        (3.000000000003, -9.0, 3.7666675989706717e-06, -2.4374872394290313e-05),
        (7.000000007, -8.0, -0.16442761659552838, -0.497977449414569),
        (2.009, -2.1, 1.135932667439501, -0.1770383842560766),
    ])  # fmt: skip
    v, x, value, slope = known.T
    got = [y.get() for y in special.pbdv(xp.asarray(v), xp.asarray(x))]
    assert_allclose(got[0], value, rtol=1e-12)
    assert_allclose(got[1], slope, rtol=1e-12)


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
