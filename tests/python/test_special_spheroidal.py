"""Spheroidal wave functions of broadcloth.scipy.special against SciPy and their Wronskian determinant."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _spheroidal

scipy_special = pytest.importorskip("scipy.special")

M = np.arange(0, 4.0)[:, None, None]
N = M + np.arange(0, 6.0)[None, :, None]
C = np.array([0.5, 1.0, 3.0, 8.0])


def both(name, xp, *operands):
    ours = getattr(special, name)(*(xp.asarray(x) for x in operands))
    theirs = getattr(scipy_special, name)(*operands)
    return [(got.get(), expected) for got, expected in zip(ours, theirs, strict=True)]


@pytest.mark.parametrize("kind", ["pro", "obl"])
def test_characteristic_values(xp, kind):
    got = getattr(special, f"{kind}_cv")(xp.asarray(M), xp.asarray(N), xp.asarray(C))
    assert_allclose(got.get(), getattr(scipy_special, f"{kind}_cv")(M, N, C), rtol=1e-13)
    one = xp.ones(1, "f4")
    assert getattr(special, f"{kind}_cv")(one, one, one).dtype == np.float32
    assert np.isnan(getattr(special, f"{kind}_cv")(2.0, 1.0, 1.0).get())
    assert_allclose(getattr(special, f"{kind}_cv_seq")(1, 6, 2.5).get(), getattr(scipy_special, f"{kind}_cv_seq")(1, 6, 2.5), rtol=1e-13)
    for m, n, c in (([1], 2, 1.0), (0.5, 2, 1.0), (0, 300, 1.0), (2, 1, 1.0)):
        with pytest.raises(ValueError, match="_cv_seq"):
            getattr(special, f"{kind}_cv_seq")(m, n, c)


@pytest.mark.parametrize("kind", ["pro", "obl"])
@pytest.mark.parametrize("x", [0.0, 0.3, -0.8])
def test_angular_functions(xp, kind, x):
    for got, expected in both(f"{kind}_ang1", xp, M, N, C, np.array(x)):
        assert_allclose(got, expected, rtol=1e-7, atol=1e-9)
    cv = getattr(special, f"{kind}_cv")(1.0, 3.0, 2.0)
    for got, expected in zip(
        getattr(special, f"{kind}_ang1_cv")(1.0, 3.0, 2.0, cv, x), getattr(special, f"{kind}_ang1")(1.0, 3.0, 2.0, x), strict=True
    ):
        assert_allclose(got.get(), expected.get(), rtol=1e-14)
    assert np.isnan(getattr(special, f"{kind}_ang1")(1.0, 3.0, 2.0, 1.5)[0].get())


@pytest.mark.parametrize("kind", ["pro", "obl"])
@pytest.mark.parametrize("x", [1.05, 1.5, 3.0])
def test_radial_functions(xp, kind, x):
    first = both(f"{kind}_rad1", xp, M, N, C, np.array(x))
    for got, expected in first:
        assert_allclose(got, expected, rtol=1e-7)
    second = [got for got, _ in both(f"{kind}_rad2", xp, M, N, C, np.array(x))]
    # Flammer 4.1.21: where the second kind has a value the determinant is right.
    determinant = (first[0][0] * second[1] - first[1][0] * second[0]) * C * (x * x + (1 if kind == "obl" else -1))
    there = np.isfinite(determinant)
    assert_allclose(determinant[there], 1, rtol=1e-7)
    if x == 3.0:
        assert there.mean() > 0.8
        expected = getattr(scipy_special, f"{kind}_rad2")(M, N, C, x)[0]
        assert_allclose(second[0][there], expected[there], rtol=1e-6)
    cv = getattr(special, f"{kind}_cv")(1.0, 2.0, 3.0)
    for radial in ("rad1", "rad2"):
        whole = getattr(special, f"{kind}_{radial}")(1.0, 2.0, 3.0, x)
        for got, expected in zip(getattr(special, f"{kind}_{radial}_cv")(1.0, 2.0, 3.0, cv, x), whole, strict=True):
            assert_allclose(got.get(), expected.get(), rtol=1e-14)
        assert np.isnan(getattr(special, f"{kind}_{radial}")(1.0, 2.0, 3.0, -0.5)[0].get())


@pytest.mark.parametrize("name", ["_pro_ang1", "_obl_rad1p", "_pro_rad2", "_obl_rad2p"])
def test_they_compile_for_cuda(name):
    code, _ = cuda.compile_ptx(getattr(_spheroidal, name).py_func, (bc.float64,) * 4, device=True, cc=(9, 0))
    assert ".func" in code


@pytest.mark.parametrize("kind", ["pro", "obl"])
def test_characteristic_values_of_large_parameters(kind):
    # LAPACK's eigenvalues of the symmetric matrix (DLMF 30.8)
    linalg = pytest.importorskip("scipy.linalg")
    for m, n, c in ((0, 0, 50.0), (0, 1, 50.0), (3, 20, 200.0), (40, 90, 300.0), (0, 198, 30.0),
                    (1000, 1003, 20.0), (2, 7, 1e-6), (5, 12, 13.7)):  # fmt: skip
        q = c * c if kind == "pro" else -c * c
        r = (n - m) % 2 + 2.0 * np.arange(200 + int(c))
        e = abs(_spheroidal._above(m, q, r) * _spheroidal._below(m, q, r + 2)) ** 0.5
        index = (n - m) // 2
        (want,) = linalg.eigh_tridiagonal(_spheroidal._at(m, q, r), e[:-1], eigvals_only=True, select="i", select_range=(index, index))
        assert_allclose(getattr(special, f"{kind}_cv")(m, n, c).get(), want, rtol=1e-12, atol=1e-11 * (1 + abs(q)))


def test_radial_functions_keep_their_digits_where_the_sum_cancels():
    # Order, degree, c, x, value and derivative by mpmath, with 80 digits and c more
    known = [
        (0, 1, 10.0, 1.5, -0.0750852565501475, None),
        (0, 0, 20.0, 1.2, 0.05219266203640142, None),
        (0, 3, 30.0, 2.0, -0.0171614856685037, None),
        (1, 2, 38.989, 1.5, -0.012907651564360873, None),
        (0, 3, 48.819, 2.0, -0.00039447203502314507, None),
        (0, 0, 20.0, 1.01, -0.04732324664543281, -16.307963934156867),
        (0, 1, 22.5, 1.5, -0.015961372660046224, 0.9224758186947039),
        (2, 5, 25.0, 3.0, 0.012912144432062797, 0.12538645193327133),
        (4, 11, 24.0, 1.2, 0.00914150699965195, 1.6862186915534965),
        (1, 1, 40.0, 1.001, 0.11502147791618818, 5.306425966228577),
        (3, 7, 60.0, 2.25, -0.006966438594017867, 0.24728675616871995),
        (0, 6, 120.0, 1.1, 0.00534868916411883, -2.9747640390639862),
    ]
    for m, n, c, x, value, slope in known:
        for form in ("pro_rad1", "pro_rad1_cv"):
            last = (x,) if form == "pro_rad1" else (special.pro_cv(m, n, c), x)
            got = [float(y) for y in getattr(special, form)(m, n, c, *last)]
            # The argument c x, and so the phase, is rounded.
            bound = 1e-13 * c * x
            assert abs(got[0] - value) <= bound * max(abs(value), 1 / (c * x)), (form, m, n, c, x)
            assert slope is None or abs(got[1] - slope) <= bound * max(abs(slope), 1), (form, m, n, c, x)
    assert np.isnan(special.pro_rad1(0, 0, 40.0, 1e6)[0].get())  # too many steps


def test_sums_that_cancel_have_no_value():
    assert np.isnan(special.obl_ang1(0, 0, 50.0, 0.5)[0].get())
