"""Zeros of special functions in broadcloth.scipy.special, against mpmath's values and SciPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from broadcloth.scipy import special
from broadcloth.scipy.special import _function_zeros

scipy_special = pytest.importorskip("scipy.special")


def parts(result):
    return [part.get() for part in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("name", sorted(set(_function_zeros.__all__) - {"jnyn_zeros", "y0_zeros"}))
def test_zeros_beside_scipys(xp, name):
    """SciPy's Newton iterations stop at 1e-9."""
    for nt in (1, 2, 17):
        for got, expected in zip(parts(getattr(special, name)(nt)), parts_of_scipy(name, nt), strict=True):
            assert got.shape == expected.shape and got.dtype == expected.dtype
            assert_allclose(got, expected, rtol=2e-7)
    for nt in (0, -1, 1.5, [1]):
        with pytest.raises(ValueError, match=name):
            getattr(special, name)(nt)


def parts_of_scipy(name, nt):
    result = getattr(scipy_special, name)(nt)
    return result if isinstance(result, tuple) else (result,)


def test_values_of_mpmath():
    assert_allclose(special.kei_zeros(3).get(), [3.914667606843246, 8.344225062937332, 12.7825571486002], rtol=2e-15)
    zeros, slopes = parts(special.y0_zeros(2, complex=True))
    assert_allclose(zeros, [-2.403016631993776 + 0.5398823130426641j, -5.519876702353645 + 0.5471800106069643j], rtol=2e-15)
    assert_allclose(slopes, -scipy_special.yv(1, zeros), rtol=1e-13)


@pytest.mark.parametrize("name", ["y0_zeros", "y1_zeros", "y1p_zeros"])
def test_complex_zeros_of_y(name):
    z, value = parts(getattr(special, name)(20, complex=True))
    order = 0 if name == "y0_zeros" else 1
    at, beside = scipy_special.yv(order, z), scipy_special.yvp(order, z)
    if name == "y1p_zeros":
        at, beside = beside, at
    assert_allclose(at, 0, atol=1e-13)
    assert_allclose(value, beside, rtol=1e-12)
    assert_allclose(z, getattr(scipy_special, name)(20, True)[0], rtol=1e-8)


def test_real_zeros_of_y0_come_with_the_derivative():
    z, slope = parts(special.y0_zeros(3))
    assert_array_equal(z.real, special.yn_zeros(0, 3).get())
    assert_allclose(slope, -scipy_special.y1(z.real), rtol=1e-13)


def test_jnyn_zeros():
    for got, expected in zip(special.jnyn_zeros(3, 5), scipy_special.jnyn_zeros(3, 5), strict=True):
        assert_allclose(got.get(), expected, rtol=1e-13)


@pytest.mark.parametrize("name", ["ber", "kei", "berp", "kerp"])
def test_far_zeros_of_kelvin_functions_go_on(name):
    """Behind x = 600 they come from the phases, which join what is found before."""
    x = getattr(special, f"{name}_zeros")(300).get()
    gaps = np.diff(x)
    assert_allclose(gaps[100:], np.sqrt(2) * np.pi, rtol=1e-5)
    assert (abs(np.diff(gaps[125:140])) < 2e-5).all()
