"""How functions of scipy.linalg are called: stacks of matrices and vectors that broadcast, dates, deprecated keywords, corners."""


import numpy as np
import pytest
import scipy.linalg as scipy_linalg
from numpy.testing import assert_allclose

import broadcloth as bc
import broadcloth.scipy.linalg as linalg

RANDOM = np.random.default_rng(5)


def numbers(*shape):
    return RANDOM.standard_normal(shape)


A, B, P = numbers(2, 3, 4, 4), numbers(2, 3, 4, 4), numbers(2, 3, 4, 4)
P = P @ P.swapaxes(-1, -2) + 4 * np.eye(4)
TALL = numbers(2, 3, 5, 3)
Q, R = np.linalg.qr(numbers(2, 3, 4, 3), mode="complete")
CALLS = [
    ("orth", (A,)),
    ("null_space", (numbers(2, 3, 2, 4),)),
    ("subspace_angles", (numbers(2, 3, 4, 2), numbers(3, 4, 2))),
    ("ldl", (A + A.swapaxes(-1, -2),)),
    ("lstsq", (TALL, numbers(2, 3, 5, 2))),
    ("lstsq", (TALL[0, 0], numbers(2, 3, 5, 2))),
    ("lstsq", (TALL, numbers(5))),
    ("matmul_toeplitz", (numbers(2, 3, 4), numbers(2, 3, 4, 2))),
    ("matmul_toeplitz", ((numbers(2, 3, 4), numbers(2, 3, 5)), numbers(5, 2))),
    ("matmul_toeplitz", (numbers(2, 3, 4), numbers(4))),
    ("bandwidth", (np.tril(A),)),
    ("issymmetric", (np.stack([P[0], A[0]]),)),
    ("ishermitian", (np.stack([P[0], A[0]]),)),
    ("solve_sylvester", (A, P, B)),
    ("solve_continuous_lyapunov", (A, B)),
    ("solve_discrete_lyapunov", (A, B[0])),
    ("solve_continuous_are", (A, B, P, P[0, 0])),
    ("solve_discrete_are", (A, B, P, P)),
    ("qr_insert", (Q, R, numbers(3), 1)),
    ("qr_insert", (Q, R, numbers(3), np.array([0, 1, 2]))),
    ("qr_update", (Q, R, numbers(4), numbers(3))),
]


@pytest.mark.parametrize("name, operands", CALLS, ids=[f"{name}-{i}" for i, (name, _) in enumerate(CALLS)])
def test_stacks_are_those_of_scipy(name, operands):
    expected, got = getattr(scipy_linalg, name)(*operands), getattr(linalg, name)(*operands)
    if name.startswith("qr_"):
        expected, got = [expected[0] @ expected[1]], [got[0] @ got[1]]  # signs of columns are free
    elif not isinstance(expected, (tuple, list)):
        expected, got = [expected], [got]
    assert len(got) == len(expected)
    for ours, theirs in zip(got, expected, strict=True):
        assert ours.shape == theirs.shape and ours.dtype.kind == theirs.dtype.kind
        assert_allclose(ours.get().astype(theirs.dtype), theirs, rtol=1e-7, atol=1e-8)


def test_stacks_without_matrices_are_refused_as_scipys():
    with pytest.raises(ValueError, match="zero-size batches"):
        linalg.solve_sylvester(np.ones((0, 2, 2)), np.ones((0, 2, 2)), np.ones((0, 2, 2)))


@pytest.mark.parametrize("dtype", ["M8[s]", "m8[s]"])
@pytest.mark.parametrize("name", ["det", "inv", "solve", "svdvals", "cosm", "issymmetric", "bandwidth", "solve_toeplitz"])
def test_dates_and_times_are_no_numbers(name, dtype):
    times = np.array([[1, 2], [3, 5]], dtype)
    operands = (times[0], np.eye(2)) if name == "solve_toeplitz" else (times, np.eye(2)) if name == "solve" else (times,)
    with pytest.raises(TypeError):
        getattr(linalg, name)(*operands)


@pytest.mark.parametrize("b", [None, P], ids=["standard", "generalized"])
def test_homogeneous_eigenvalues_of_stacks_are_pairs_of_each_matrix(b):
    expected = scipy_linalg.eigvals(A, b, homogeneous_eigvals=True)
    got = linalg.eigvals(A, b, homogeneous_eigvals=True)
    assert got.shape == expected.shape
    ours, theirs = (np.sort_complex((w[..., 0, :] / w[..., 1, :]).round(12)) for w in (got.get(), expected))
    assert_allclose(ours, theirs, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["sqrtm", "logm"])
def test_disp_is_deprecated_and_gives_an_estimate(name):
    with pytest.deprecated_call():
        made, error = getattr(linalg, name)(P[0, 0], disp=False)
    assert_allclose(made.get(), getattr(scipy_linalg, name)(P[0, 0]), rtol=1e-9, atol=1e-9)  # newer SciPy has no `disp`
    assert float(error) < 1e-12


def test_blocksize_is_deprecated():
    with pytest.deprecated_call():
        linalg.sqrtm(np.eye(2), blocksize=10)


def test_norm_looks_for_nan_and_does_not_overflow():
    with pytest.raises(ValueError, match="infs or NaNs"):
        linalg.norm([1.0, np.nan])
    assert np.isnan(float(linalg.norm([1.0, np.nan], check_finite=False)))
    for x in (np.array([1e20], np.float32), np.array([3e200, 4e200]), np.array([3e-200, 4e-200]), np.zeros(3), np.zeros(0)):
        got, expected = linalg.norm(a=x), scipy_linalg.norm(x)
        assert got.dtype == x.dtype
        assert_allclose(float(got), expected, rtol=1e-6)
    assert_allclose(linalg.norm(A, axis=(0, 1)).get(), scipy_linalg.norm(A, axis=(0, 1)))


def test_corners_of_decompositions():
    h, q = linalg.hessenberg(np.array([[2.0, 1.0], [3.0, 4.0j]]), calc_q=True)
    assert_allclose(h.get(), [[2.0, 1.0], [3.0, 4.0j]])
    assert_allclose(q.get(), np.eye(2))
    r, q = linalg.rq(np.empty((0, 2)))
    assert r.shape == (0, 2)
    assert_allclose(q.get(), np.eye(2))
    assert_allclose(linalg.expm(1.0).get(), scipy_linalg.expm(1.0))
    with pytest.warns(np.exceptions.ComplexWarning):
        linalg.ldl(np.array([[1.0 + 1j, 0.0], [0.0, 1.0]]))
    with pytest.raises(TypeError):
        linalg.svd([[1.0]], lapack_driver=1.0)
    with pytest.raises(ValueError, match="requires input b"):
        linalg.eigh(np.eye(2), driver="gvx")
    assert bc.array(linalg.issymmetric(np.eye(2))).dtype == bool
