"""Ellipsoidal harmonics of broadcloth.scipy.special against SciPy and Lame's equation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")

SEMIAXES = [(5.0, 8.0), (1.0, 2.0), (0.3, 7.0), (25.0, 100.0)]
ORDERS = [(n, p) for n in range(8) for p in range(1, 2 * n + 2)]


@pytest.mark.parametrize(("h2", "k2"), SEMIAXES)
def test_the_first_kind(xp, h2, k2):
    s = np.linspace(-1.5, 1.5, 13) * np.sqrt(k2)
    for n, p in ORDERS:
        expected = scipy_special.ellip_harm(h2, k2, n, p, s, -1, 1)
        got = special.ellip_harm(h2, k2, n, p, xp.asarray(s), -1, 1).get()
        assert_allclose(got, expected, rtol=1e-12, atol=1e-13 * abs(expected).max())


def test_parameters_broadcast_with_the_coordinate(xp):
    n, p = (np.array(x)[:, None] for x in zip(*ORDERS, strict=True))
    s = np.array([0.5, 2.5, 4.0])
    expected = scipy_special.ellip_harm(5.0, 8.0, n, p, s)
    assert_allclose(special.ellip_harm(5.0, 8.0, n, p, xp.asarray(s)).get(), expected, rtol=1e-11, atol=1e-10)
    assert_allclose(special.ellip_harm(5, 8, xp.asarray(n), xp.asarray(p), 4.0).get(), expected[:, 2:], rtol=1e-11, atol=1e-10)
    signs = np.array([1, -1, 1])
    assert_allclose(special.ellip_harm(5, 8, 2, 3, xp.asarray(s), signs).get(), scipy_special.ellip_harm(5, 8, 2, 3, s, signs), rtol=1e-12)
    assert special.ellip_harm(5, 8, 2, 1, xp.ones(0)).shape == (0,)
    assert special.ellip_harm(5, 8, 2, 1, xp.ones((3, 4))[::2, 1:]).shape == (2, 3)


@pytest.mark.parametrize("bad", [(8, 5, 2, 1), (5, 8, 2, 6), (5, 8, 2, 0), (5, 8, -1, 1), (np.nan, 8, 2, 1)])
def test_parameters_without_a_function_give_nan(xp, bad):
    assert np.isnan(special.ellip_harm(*bad, xp.ones(2)).get()).all()
    assert np.isnan(special.ellip_harm_2(*bad, xp.ones(2) * 10).get()).all()
    assert np.isnan(special.ellip_normal(*bad).get())
    assert np.isnan(special.ellip_harm(5, 8, 2, 1, xp.ones(2), 2).get()).all()


def test_types(xp):
    assert special.ellip_harm(5, 8, 2, 1, xp.ones(2, "f4")).dtype == np.float32
    assert special.ellip_harm(5, 8, 2, 1, xp.ones(2, "i4")).dtype == np.float64
    with pytest.raises(TypeError, match="real coordinate"):
        special.ellip_harm(5, 8, 2, 1, xp.ones(2, "c16"))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("h2", "k2"), SEMIAXES)
def test_the_second_kind(xp, h2, k2):
    s = np.array([1.01, 1.3, 3.0, -3.0, 20.0]) * np.sqrt(k2)
    n, p = (np.array(x)[:, None] for x in zip(*[o for o in ORDERS if o[0] < 5], strict=True))
    expected = scipy_special.ellip_harm_2(h2, k2, n, p, s)
    got = special.ellip_harm_2(h2, k2, n, p, xp.asarray(s)).get()
    known = np.isfinite(expected)  # SciPy's quadrature gives NaN where it does not converge
    assert known.mean() > 0.8 and np.isfinite(got).all()
    assert_allclose(got[known], expected[known], rtol=1e-8)
    assert_allclose(special.ellip_harm_2(h2, k2, 3, 5, xp.asarray(s)).get(), got[ORDERS.index((3, 5))], rtol=1e-13)
    assert np.isnan(special.ellip_harm_2(h2, k2, 2, 1, 0.5 * np.sqrt(k2)).get())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("h2", "k2"), SEMIAXES)
def test_normalization(h2, k2):
    n, p = (np.array(x) for x in zip(*ORDERS, strict=True))
    assert_allclose(special.ellip_normal(h2, k2, n, p).get(), scipy_special.ellip_normal(h2, k2, n, p), rtol=1e-10)
