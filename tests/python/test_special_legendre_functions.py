"""Legendre functions of broadcloth.scipy.special against SciPy, mpmath's values and their equations."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import special
from broadcloth.scipy.special import _legendre

scipy_special = pytest.importorskip("scipy.special")

X = np.linspace(-0.99, 0.99, 12)
Z = np.array([0.3 + 0.4j, -0.6 - 0.2j, 1.5 + 1j, -2 + 0.5j, 3 - 2j, 0.5 + 1j])


def close(got, expected, **tolerances):
    assert got.shape == expected.shape and got.dtype == expected.dtype
    assert_allclose(got.get(), expected, **tolerances)


@pytest.mark.parametrize("diff_n", [0, 1, 2])
def test_polynomials_and_functions_of_the_sphere(xp, diff_n):
    x, theta = xp.asarray(X), np.arccos(X)
    n = np.arange(30)[:, None]
    close(special.legendre_p(n, x, diff_n=diff_n), scipy_special.legendre_p(n, X, diff_n=diff_n), rtol=1e-12, atol=1e-10)
    close(special.legendre_p_all(9, x, diff_n=diff_n), scipy_special.legendre_p_all(9, X, diff_n=diff_n), rtol=1e-12, atol=1e-12)
    close(
        special.sph_legendre_p_all(9, 5, xp.asarray(theta), diff_n=diff_n),
        scipy_special.sph_legendre_p_all(9, 5, theta, diff_n=diff_n),
        rtol=1e-11,
        atol=1e-11,
    )
    ours = special.sph_harm_y_all(4, 3, xp.asarray(theta), 0.3, diff_n=diff_n)
    theirs = scipy_special.sph_harm_y_all(4, 3, theta, 0.3, diff_n=diff_n)
    for got, expected in zip(ours if diff_n else (ours,), theirs if diff_n else (theirs,), strict=True):
        close(got, expected, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("norm", [False, True])
@pytest.mark.parametrize("branch_cut", [2, 3])
def test_associated_functions(xp, norm, branch_cut):
    options = {"norm": norm, "diff_n": 2}
    close(
        special.assoc_legendre_p_all(12, 8, xp.asarray(X), **options),
        scipy_special.assoc_legendre_p_all(12, 8, X, **options),
        rtol=1e-12,
        atol=1e-9,
    )
    close(
        special.assoc_legendre_p_all(6, 4, xp.asarray(Z), branch_cut=branch_cut, **options),
        scipy_special.assoc_legendre_p_all(6, 4, Z, branch_cut=branch_cut, **options),
        rtol=1e-12,
        atol=1e-12,
    )
    assert special.assoc_legendre_p(2, 1, xp.ones(2, "f4")).dtype == np.float32


def test_limits_at_the_ends(xp):
    _, slope, bend = special.assoc_legendre_p_all(3, 3, xp.array([1.0, -1.0]), diff_n=2).get()
    assert_allclose(slope[3, :, 0], [6, np.inf, -30, 0, 0, -0.25, -np.inf])
    assert_allclose(bend[3, :3, 0], [15, np.inf, -90])
    # (15 x (1 - x**2))'' / 120, where SciPy has -0.25
    assert_allclose(bend[3, 5], [-0.75, 0.75])


def test_large_degrees_do_not_overflow(xp):
    n, m, x = 400, 180, np.array([0.1, 0.8])
    got = special.assoc_legendre_p(n, m, xp.asarray(x), norm=True).get()[0]
    expected = np.sqrt(2 * np.pi) * scipy_special.sph_legendre_p(n, m, np.arccos(x))[0]
    assert_allclose(got, expected, rtol=1e-10)


def test_real_points_on_branch_3(xp):
    x = np.array([1.5, 3.0, -2.0])
    got = special.assoc_legendre_p(3, [[1], [2]], xp.asarray(x), branch_cut=3, diff_n=1).get()
    expected = scipy_special.assoc_legendre_p(3, [[1], [2]], x + 0j, branch_cut=3, diff_n=1)
    assert_allclose(got, expected.real, rtol=1e-12)
    assert np.isnan(special.assoc_legendre_p(3, 1, 1.5).get()).all()


@pytest.mark.parametrize("z", [X, np.array([1.5, 3.0, -2.0, 40.0]), Z], ids=["inside", "outside", "complex"])
def test_second_kind(xp, z):
    for got, expected in zip(special.lqn(5, xp.asarray(z)), scipy_special.lqn(5, z), strict=True):
        close(got, expected, rtol=1e-10)
    for got, expected in zip(special.lqmn(3, 5, xp.asarray(z)), scipy_special.lqmn(3, 5, z), strict=True):
        close(got, expected, rtol=1e-9)
    assert_array_equal(np.isinf(special.lqn(1, xp.array([1.0, -1.0]))[0].get()), True)
    assert special.lqn(2, 1)[0].shape == (3,) and special.lqmn(0, 0, xp.zeros((2, 0)))[0].shape == (1, 1, 2, 0)


def test_second_kind_beside_mpmath(xp):
    """SciPy loses half of the digits at 1.01."""
    assert_allclose(special.lqn(9, xp.array(1.01))[0].get()[9], LQN, rtol=1e-13)


LQN = 0.2622993543484146


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda: special.legendre_p(1.5, 0.5), TypeError),
        (lambda: special.legendre_p(1, 1j), TypeError),
        (lambda: special.legendre_p(1, 0.5, diff_n=-1), ValueError),
        (lambda: special.legendre_p(1, 0.5, diff_n=3), NotImplementedError),
        (lambda: special.legendre_p_all(-1, 0.5), ValueError),
        (lambda: special.legendre_p_all([1], 0.5), TypeError),
        (lambda: special.assoc_legendre_p(1, 0.5, 0.5), TypeError),
        (lambda: special.assoc_legendre_p(1, 1, 0.5, branch_cut=4), ValueError),
        (lambda: special.sph_legendre_p(1.0, 1, 0.5), TypeError),
        (lambda: special.lqn(-1, 0.5), ValueError),
        (lambda: special.lqmn(1, 1.5, 0.5), ValueError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error):
        call()


def test_they_compile_for_cuda():
    i, f = bc.int64, bc.float64
    for function, types in ((_legendre._associated, (i, i, f, i, i, i)), (_legendre._legendre_second, (i, i, f, i))):
        code, _ = cuda.compile_ptx(function.py_func, types, device=True, cc=(9, 0))
        assert ".func" in code
