"""Sylvester's, Lyapunov's and Riccati's equations: residuals that are backward errors, and SciPy's exceptions."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import linalg
from matrices import DTYPES, assert_small, dagger, definite, matrix
from support import host

sl = pytest.importorskip("scipy.linalg")
pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (40, 7), (30, 60)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sylvester(device, dtype, shape):
    m, n = shape
    a, b, q = matrix((m, m), dtype) + 2 * m**0.5 * np.eye(m, dtype=dtype), matrix((n, n), dtype, 1), matrix((m, n), dtype, 2)
    b = b + 2 * n**0.5 * np.eye(n, dtype=dtype)
    x = linalg.solve_sylvester(bc.asarray(a), bc.asarray(b), bc.asarray(q))
    assert x.dtype == np.dtype(dtype)
    scale = (np.linalg.norm(a) + np.linalg.norm(b)) * np.linalg.norm(host(x))
    assert_small(a @ host(x) + host(x) @ b - q, scale, m + n, dtype)


@pytest.mark.parametrize("n", [1, 4, 30])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lyapunov(device, dtype, n):
    a, q = matrix((n, n), dtype) - 2 * n**0.5 * np.eye(n, dtype=dtype), matrix((n, n), dtype, 1)
    x = host(linalg.solve_continuous_lyapunov(bc.asarray(a), bc.asarray(q)))
    assert_small(a @ x + x @ dagger(a) - q, np.linalg.norm(a) * np.linalg.norm(x), 2 * n, dtype)
    assert linalg.solve_lyapunov is linalg.solve_continuous_lyapunov
    a = (a / (2 * np.linalg.norm(a, 2))).astype(dtype)
    for method in (None, "direct", "bilinear"):
        if method == "direct" and n == 30:
            continue
        x = host(linalg.solve_discrete_lyapunov(bc.asarray(a), bc.asarray(q), method))
        assert_small(a @ x @ dagger(a) - x + q, 10 * np.linalg.norm(x), 2 * n, dtype)


def test_equations_without_a_unique_solution_and_wrong_shapes(device):
    with pytest.raises(np.linalg.LinAlgError, match="negative"):
        linalg.solve_sylvester(bc.array([[1.0]]), bc.array([[-1.0]]), bc.array([[1.0]]))
    with pytest.raises(ValueError, match="expected q"):
        linalg.solve_sylvester(bc.eye(2), bc.eye(3), bc.eye(3))
    with pytest.raises(ValueError, match="square"):
        linalg.solve_sylvester(bc.ones((2, 3)), bc.eye(3), bc.ones((2, 3)))
    with pytest.raises(ValueError, match="same shape"):
        linalg.solve_continuous_lyapunov(bc.eye(2), bc.eye(3))
    with pytest.raises(ValueError, match="Unknown solver"):
        linalg.solve_discrete_lyapunov(bc.eye(2), bc.eye(2), "other")


@pytest.mark.parametrize("generalized", [False, True])
@pytest.mark.parametrize("n, m", [(1, 1), (4, 2), (12, 3)])
@pytest.mark.parametrize("dtype", ["d", "D"])
def test_riccati(device, dtype, n, m, generalized):
    a, b, q, r = matrix((n, n), dtype), matrix((n, m), dtype, 1), definite(n, dtype), definite(m, dtype)
    e = np.eye(n, dtype=dtype) * 2 + 0.3 * matrix((n, n), dtype, 4) / n if generalized else np.eye(n, dtype=dtype)
    s = 0.1 * matrix((n, m), dtype, 5) if generalized else np.zeros((n, m), dtype)
    extra = {"e": bc.asarray(e), "s": bc.asarray(s)} if generalized else {}
    given = [bc.asarray(v) for v in (a, b, q, r)]
    x = host(linalg.solve_continuous_are(*given, **extra))
    inner = dagger(e) @ x @ b + s
    residual = dagger(a) @ x @ e + dagger(e) @ x @ a - inner @ np.linalg.solve(r, dagger(inner)) + q
    want = sl.solve_continuous_are(a, b, q, r, e if generalized else None, s if generalized else None, balanced=False)
    gain = np.linalg.norm(b) ** 2 * np.linalg.norm(np.linalg.inv(r)) * np.linalg.norm(x)
    size = np.linalg.norm(x) * (np.linalg.norm(a) + gain) + np.linalg.norm(q)
    assert np.linalg.norm(residual) <= 1e-11 * size
    np.testing.assert_allclose(x, want, 0, 1e-8 * np.linalg.norm(want))
    np.testing.assert_array_equal(x, dagger(x))
    x = host(linalg.solve_discrete_are(*given, **extra))
    inner = dagger(a) @ x @ b + s
    residual = dagger(a) @ x @ a - dagger(e) @ x @ e - inner @ np.linalg.solve(r + dagger(b) @ x @ b, dagger(inner)) + q
    assert np.linalg.norm(residual) <= 1e-10 * np.linalg.norm(x) * (np.linalg.norm(a) ** 2 + np.linalg.norm(e) ** 2)
    want = sl.solve_discrete_are(a, b, q, r, e if generalized else None, s if generalized else None, balanced=False)
    np.testing.assert_allclose(x, want, 0, 1e-8 * np.linalg.norm(want))


def test_riccati_equations_without_a_solution(device):
    for solve in (linalg.solve_continuous_are, linalg.solve_discrete_are):
        with pytest.raises(ValueError, match="q should be symmetric"):
            solve(bc.eye(2), bc.eye(2), bc.array([[1.0, 2.0], [0.0, 1.0]]), bc.eye(2))
        with pytest.raises(ValueError, match="number of rows"):
            solve(bc.eye(2), bc.eye(3), bc.eye(2), bc.eye(3))
        with pytest.raises(np.linalg.LinAlgError):
            solve(bc.eye(2), bc.eye(2), bc.eye(2), bc.zeros((2, 2)))
    with pytest.raises(np.linalg.LinAlgError, match="finite solution"):  # eigenvalues of the Hamiltonian matrix on the axis
        linalg.solve_continuous_are(bc.zeros((2, 2)), bc.zeros((2, 1)), bc.zeros((2, 2)), bc.eye(1))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_large_equations_are_solved_by_halves(xp, dtype):
    """Beyond the size that LAPACK solves as it is; of real matrices no pair of eigenvalues may be cut."""
    rng = np.random.default_rng(0)
    for m, n in ((150, 150), (70, 200), (200, 70)):
        draw = lambda *shape: (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype == "D" else 0)).astype(dtype)
        a, b, q = draw(m, m), draw(n, n), draw(m, n)
        x = host(linalg.solve_sylvester(*map(xp.asarray, (a, b, q))))
        assert x.dtype == dtype
        np.testing.assert_allclose(a @ x + x @ b, q, 1e-7, 1e-7)
        if m == n:
            x = host(linalg.solve_continuous_lyapunov(xp.asarray(a), xp.asarray(q)))
            np.testing.assert_allclose(a @ x + x @ a.conj().T, q, 1e-7, 1e-7)
