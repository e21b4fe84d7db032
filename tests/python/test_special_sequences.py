"""Sequences of special functions over orders in broadcloth.scipy.special, against SciPy, mpmath's values and their equations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from broadcloth.scipy import special

scipy_special = pytest.importorskip("scipy.special")


@pytest.mark.parametrize(
    ("name", "orders"), [("riccati_jn", (0, 1, 6)), ("riccati_yn", (0, 1, 6)), ("lmbda", (0, 0.5, 3, 4.3)), ("pbdv_seq", (0, 0.3, 1, 3.5))]
)
def test_sequences_are_scipys(xp, name, orders):
    for v in orders:
        for x in (0.3, 1.5, 20.0):
            for got, expected in zip(getattr(special, name)(v, x), getattr(scipy_special, name)(v, x), strict=True):
                assert got.dtype == np.float64 and got.device == xp.array(0.0).device
                assert_allclose(got.get(), expected, rtol=1e-12)
    for v, x in (([1], 1.0), (1, [1.0])):
        with pytest.raises(ValueError, match=f"{name}: arguments must be scalars"):
            getattr(special, name)(v, x)


@pytest.mark.parametrize(("name", "v"), [("riccati_jn", -1), ("riccati_yn", 1.5), ("lmbda", -0.5), ("pbdn_seq", 0.5)])
def test_wrong_orders(name, v):
    with pytest.raises(ValueError, match=f"{name}: "):
        getattr(special, name)(v, 1.0)


def test_pbvv_seq():
    for v in (0.3, 1.5, 4.0):
        for got, expected in zip(special.pbvv_seq(v, 1.2), scipy_special.pbvv_seq(v, 1.2), strict=True):
            assert_allclose(got.get(), expected, rtol=1e-10)


def test_negative_orders_of_d_go_down():
    values, slopes = special.pbdv_seq(-2.5, 1.0)
    expected, steeps = scipy_special.pbdv([-0.5, -1.5, -2.5], 1.0)
    assert_allclose(values.get(), expected, rtol=1e-10)
    assert_allclose(slopes.get(), steeps, rtol=1e-10)


def test_riccati_at_0():
    assert [part.get().tolist() for part in special.riccati_jn(2, 0.0)] == [[0, 0, 0], [1, 0, 0]]
    assert [part.get().tolist() for part in special.riccati_yn(2, 0.0)] == [[-1, -math.inf, -math.inf], [0, math.inf, math.inf]]


@pytest.mark.parametrize("z", [1 + 1j, -2 + 0.5j, 0.1, 5.0, 3j, 0.05 - 1j, 10.0, -4.0])
def test_d_of_complex_arguments(z):
    """The recurrences, D(0) and D(-1) of all z, and SciPy's values on the real axis."""
    for n in (7, -7):
        values, slopes = (part.get() for part in special.pbdn_seq(n, z))
        k = np.arange(1, 7) * np.sign(n)
        up, down = (values[2:], values[:-2]) if n > 0 else (values[:-2], values[2:])
        assert_allclose(up - z * values[1:-1] + k * down, 0, atol=2e-12 * abs(z * values[1:-1]).max())
        assert_allclose(values[0], np.exp(-0.25 * z * z), rtol=1e-14)
        assert_allclose(slopes[1:-1], 0.5 * z * values[1:-1] - up, atol=1e-13 * abs(up).max())
        if n < 0:
            assert_allclose(values[1], np.sqrt(np.pi / 2) * np.exp(-0.25 * z * z) * scipy_special.wofz(1j * z / np.sqrt(2)), rtol=1e-13)
        elif np.isreal(z):
            assert_allclose(values, scipy_special.pbdn_seq(n, z)[0], rtol=1e-12)
    assert_array_equal([part.shape for part in special.pbdn_seq(0, z)], [(2,), (2,)])


def test_d_beside_mpmath():
    assert_allclose(special.pbdn_seq(-6, 0.1)[0].get()[6], 0.0526981081104132, rtol=1e-12)
