"""SciPy's linear algebra, against SciPy and by what defines it."""

from __future__ import annotations

import importlib.metadata
import inspect
import subprocess
import sys
import warnings

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import linalg
from matrices import DTYPES, LAYOUTS, assert_small, dagger, definite, eps, hermitian, laid, matrix
from support import host

sl = pytest.importorskip("scipy.linalg")
pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


def close(got, want, tolerance=1e-12):
    got, want = host(got), np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, tolerance, tolerance * max(1.0, float(abs(want).max())) if want.size else 0)


# ---- Solvers ----------------------------------------------------------------------------------------------------------------------------

STRUCTURES = {
    "general": lambda a: a,
    "upper triangular": np.triu,
    "lower triangular": np.tril,
    "diagonal": lambda a: np.einsum("...ii->...i", a)[..., None] * np.eye(a.shape[-1], dtype=a.dtype),
    "positive definite": lambda a: a @ dagger(a) + np.eye(a.shape[-1], dtype=a.dtype),
    "hermitian": lambda a: a + dagger(a),
    "symmetric": lambda a: a + a.swapaxes(-1, -2),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kind", STRUCTURES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_solve_finds_and_takes_structures(xp, dtype, kind, layout):
    a = STRUCTURES[kind](matrix((2, 5, 5), dtype) + 3 * np.eye(5, dtype=dtype)).astype(dtype)
    b = matrix((2, 5, 3), dtype, 1)
    for assumed in (None, kind):
        for transposed in (False, True):
            x = linalg.solve(laid(xp, a, layout), xp.asarray(b), assume_a=assumed, transposed=transposed)
            assert x.dtype == np.dtype(dtype)
            left = a.swapaxes(-1, -2) if transposed else a
            assert_small(left @ host(x) - b, np.linalg.norm(a) * np.linalg.norm(host(x)), 5, dtype)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("kind", ["positive definite", "hermitian", "symmetric"])
def test_solve_reads_one_triangle(xp, kind, lower):
    a, b = STRUCTURES[kind](matrix((4, 4), "D")), matrix(4, "D", 1)
    dirty = np.tril(a) if lower else np.triu(a)
    close(linalg.solve(xp.array(dirty), xp.array(b), lower=lower, assume_a=kind), np.linalg.solve(a, b), 1e-10)


def test_a_hermitian_matrix_that_is_not_definite_is_solved_all_the_same(xp):
    a = np.array([[1.0, 2], [2, 1]])
    close(linalg.solve(xp.array(a), xp.array([1.0, 2])), [1, 0])


@pytest.mark.parametrize("trans", [0, 1, 2, "N", "T", "C"])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular_solve(xp, dtype, lower, unit, trans):
    a, b = matrix((5, 5), dtype) + 4 * np.eye(5, dtype=dtype), matrix((5, 2), dtype, 1)
    for right in (b, b[:, 0]):
        want = sl.solve_triangular(a, right, trans, lower, unit)
        close(linalg.solve_triangular(xp.array(a), xp.array(right), trans, lower, unit), want, 1000 * eps(dtype) * abs(want).max())


@pytest.mark.parametrize("dtype", DTYPES)
def test_bands(xp, dtype):
    n = 7
    for below, above in [(1, 2), (0, 0), (2, 0), (0, 1), (3, 3)]:
        ab, b = matrix((below + above + 1, n), dtype), matrix((n, 2), dtype, 1)
        ab[above] += 8
        for right in (b, b[:, 0]):
            got = linalg.solve_banded((below, above), xp.array(ab), xp.array(right))
            close(got, sl.solve_banded((below, above), ab, right), 100 * eps(dtype))
    for lower in (False, True):
        ab = matrix((3, n), dtype)
        ab[0 if lower else -1] = 9
        close(linalg.solveh_banded(xp.array(ab), xp.array(b), lower=lower), sl.solveh_banded(ab, b, lower=lower), 100 * eps(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_toeplitz_systems(xp, dtype):
    c, r, b = matrix(6, dtype), matrix(6, dtype, 1), matrix((6, 2), dtype, 2)
    c[0] = r[0] = 9
    for given in (c.real.astype(dtype) if dtype in "FD" else c, (c, r)):
        want = sl.solve_toeplitz(given, b)
        first = tuple(map(xp.array, given)) if isinstance(given, tuple) else xp.array(given)
        close(linalg.solve_toeplitz(first, xp.array(b)), want, 100 * eps(dtype))


@pytest.mark.parametrize("shape", [(5, 5), (6, 3), (3, 6), (2, 4, 4), (1, 1)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lu(xp, dtype, shape):
    a = matrix(shape, dtype)
    x, tolerance = xp.array(a), 100 * eps(dtype)
    for kwargs in ({}, {"permute_l": True}, {"p_indices": True}):
        for got, want in zip(linalg.lu(x, **kwargs), sl.lu(a, **kwargs), strict=True):
            assert got.dtype == want.dtype or kwargs or shape == (1, 1)  # SciPy's P of one element has its dtype
            close(got, want, tolerance)
    for got, want in zip(linalg.lu_factor(x), sl.lu_factor(a), strict=True):
        assert got.dtype == want.dtype
        close(got, want, tolerance)


@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_solve(xp, dtype):
    a, p = matrix((2, 5, 5), dtype), definite(5, dtype, (2,))
    for b in (matrix((2, 5, 3), dtype, 1), matrix(5, dtype, 1)):
        for trans in (0, 1, 2):
            left = [a, a.swapaxes(-1, -2), dagger(a)][trans]
            x = host(linalg.lu_solve(linalg.lu_factor(xp.array(a)), xp.array(b), trans))
            rest = left @ x - b if b.ndim > 1 else np.einsum("bij,bj->bi", left, x) - b
            assert_small(rest, np.linalg.norm(a) * np.linalg.norm(x), 5, dtype)
        for lower in (False, True):
            x = host(linalg.cho_solve(linalg.cho_factor(xp.array(p), lower), xp.array(b)))
            rest = p @ x - b if b.ndim > 1 else np.einsum("bij,bj->bi", p, x) - b
            assert_small(rest, np.linalg.norm(p) * np.linalg.norm(x), 5, dtype)
            factor = host(linalg.cholesky(xp.array(p), lower))
            assert_small((factor @ dagger(factor) if lower else dagger(factor) @ factor) - p, p, 5, dtype)


def test_a_singular_factor_is_warned_of_at_the_callers_line(xp):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        linalg.lu_factor(xp.ones((2, 2)))
    assert [(w.category, str(w.message)) for w in caught] == [(linalg.LinAlgWarning, "Diagonal number 2 is exactly zero. Singular matrix.")]
    assert caught[0].filename == __file__


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("shape, columns", [((9, 4), 0), ((4, 9), 2), ((5, 5), 1), ((7, 1), 0), ((3, 4), 0), ((0, 3), 1), ((3, 0), 0)])
def test_lstsq_by_column_exchanges(xp, dtype, shape, columns):
    rng = np.random.default_rng(7)
    m, n = shape
    t, wide = np.dtype(dtype), 1e4 * np.finfo(dtype).eps
    a, b = ((rng.standard_normal(s) + (1j * rng.standard_normal(s) if t.kind == "c" else 0)).astype(t)
            for s in (shape, (m, columns) if columns else (m,)))  # fmt: skip
    if n > 2:
        a[:, 1] = a[:, 0]  # so that the rank is not full
    got, want = (f(x, y, 1e-3, lapack_driver="gelsy") for f, x, y in ((linalg.lstsq, xp.array(a), xp.array(b)), (sl.lstsq, a, b)))
    np.testing.assert_allclose(host(got[0]), want[0], rtol=wide, atol=wide)
    assert got[0].dtype == want[0].dtype and got[2] == want[2]
    assert type(linalg.lstsq(xp.array(a), xp.array(b))[2]) is int
    assert (got[3] is None) == (want[3] is None) and (m * n == 0 or host(got[1]).shape == want[1].shape)
    with pytest.raises(ValueError, match="driver"):
        linalg.lstsq(xp.array(a), xp.array(b), lapack_driver="gels")



@pytest.mark.parametrize("dtype", DTYPES)
def test_inverses(xp, dtype):
    a, p = matrix((2, 4, 4), dtype), definite(4, dtype, (2,))
    close(linalg.inv(xp.array(p)), sl.inv(p), 1e4 * eps(dtype))
    close(linalg.inv(xp.array(p), assume_a="pos"), sl.inv(p), 1e4 * eps(dtype))
    close(linalg.det(xp.array(p)), sl.det(p), 1e3 * eps(dtype))
    for m in (a, a[:, :2], a[..., :2]):
        got, rank = linalg.pinv(xp.array(m), return_rank=True)
        close(got, sl.pinv(m), 1e4 * eps(dtype))
        assert host(rank).tolist() == [min(m.shape[-2:])] * 2
    h = hermitian(4, dtype)
    close(linalg.pinvh(xp.array(h)), sl.pinvh(h), 1e4 * eps(dtype))
    for b in (matrix(5, dtype, 1), matrix((5, 2), dtype, 1)):
        tall = matrix((5, 3), dtype)
        for got, want in zip(linalg.lstsq(xp.array(tall), xp.array(b)), sl.lstsq(tall, b), strict=True):
            close(got, want, 1e3 * eps(dtype))


# ---- Decompositions ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5, 5), (6, 3), (3, 6)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_qr_and_rq(xp, dtype, shape):
    a = matrix(shape, dtype)
    x, n = xp.array(a), max(shape)
    for mode in ("full", "economic"):
        want = sl.qr(a, mode=mode, pivoting=True)
        q, r = linalg.qr(x, mode=mode)
        assert (q.shape, r.shape) == (want[0].shape, want[1].shape)
        assert_small(host(q) @ host(r) - a, a, n, dtype)
        q, r, p = linalg.qr(x, mode=mode, pivoting=True)
        assert p.dtype == want[2].dtype and sorted(host(p).tolist()) == list(range(shape[1]))
        assert_small(host(q) @ host(r) - a[:, host(p)], a, n, dtype)
        assert (np.diff(abs(np.diag(host(r)))) <= 1e-5).all()
        r, q = linalg.rq(x, mode=mode)
        want = sl.rq(a, mode=mode)
        assert (r.shape, q.shape) == (want[0].shape, want[1].shape)
        close(r, want[0], 1e3 * eps(dtype))  # with LAPACK's signs
        assert_small(host(r) @ host(q) - a, a, n, dtype)
        assert_small(host(q) @ dagger(host(q)) - np.eye(q.shape[0]), np.ones(n), n, dtype)
        k = min(shape)
        assert (np.tril(host(r)[:, -k:][-k:], -1) == 0).all()
    assert linalg.qr(x, mode="r")[0].shape == sl.qr(a, mode="r")[0].shape
    (h, tau), r = linalg.qr(x, mode="raw")
    (want_h, want_tau), want_r = sl.qr(a, mode="raw")
    for got, want in ((h, want_h), (tau, want_tau), (r, want_r)):
        close(got, want, 100 * eps(dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_of_both_sides(xp, dtype):
    a = matrix((5, 5), dtype)
    w, left, right = linalg.eig(xp.array(a), left=True)
    assert w.dtype.kind == "c"
    assert_small(a @ host(right) - host(right) * host(w), a, 5, dtype)
    assert_small(dagger(host(left)) @ a - host(w)[:, None] * dagger(host(left)), a, 5, dtype)
    b = definite(5, dtype)
    w, v = linalg.eig(xp.array(a), xp.array(b))
    assert_small(a @ host(v) - b @ host(v) * host(w), 100 * np.linalg.norm(a), 5, dtype)
    real = linalg.eig(xp.array(np.diag([1.0, 2.0])))
    assert real[0].dtype == np.complex128 and real[1].dtype == np.float64
    pairs = linalg.eigvals(xp.array(a), homogeneous_eigvals=True)
    assert pairs.shape == (2, 5)


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_generalized_hermitian_problems(xp, dtype, lower, kind):
    a, b = hermitian(5, dtype), definite(5, dtype)
    dirty = (np.tril if lower else np.triu)(a)
    w, v = linalg.eigh(xp.array(dirty), xp.array(b), lower=lower, type=kind)
    tolerance = 1e4 * eps(dtype)
    close(w, sl.eigh(a, b, type=kind, eigvals_only=True), tolerance)
    v, w = host(v), host(w)
    left = {1: a @ v - b @ v * w, 2: a @ b @ v - v * w, 3: b @ a @ v - v * w}[kind]
    assert abs(left).max() <= tolerance * np.linalg.norm(a) * np.linalg.norm(b)


def test_parts_of_the_spectrum(xp):
    a = hermitian(6, "D")
    want = sl.eigh(a, eigvals_only=True)
    x = xp.array(a)
    close(linalg.eigvalsh(x, subset_by_index=[1, 3]), want[1:4])
    w, v = linalg.eigh(x, subset_by_value=[want[2], np.inf])
    assert v.shape == (6, w.size) and w.size in (3, 4)
    with pytest.raises(ValueError, match="not valid"):
        linalg.eigh(x, subset_by_index=[3, 9])
    with pytest.raises(ValueError, match="Either index or value"):
        linalg.eigh(x, subset_by_index=[0, 1], subset_by_value=[0, 1])


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_tridiagonal_matrices(xp, dtype):
    d, e = matrix(7, dtype), matrix(6, dtype, 1)
    a = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    w, v = linalg.eigh_tridiagonal(xp.array(d), xp.array(e))
    assert_small(a @ host(v) - host(v) * host(w), a, 7, dtype)
    close(linalg.eigvalsh_tridiagonal(xp.array(d), xp.array(e)), sl.eigvalsh_tridiagonal(d, e), 100 * eps(dtype))
    close(linalg.eigvalsh_tridiagonal(xp.array(d), xp.array(e), "i", (1, 3)), host(w)[1:4], 100 * eps(dtype))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 6, 20])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_ldl(xp, dtype, lower, n):
    for kind in (True, False):
        a = hermitian(n, dtype) if kind else matrix((n, n), dtype) + matrix((n, n), dtype).T
        a = a - np.diag(np.diag(a))  # without a diagonal there are blocks of two
        outer, d, order = (host(v) for v in linalg.ldl(xp.array(a), lower=lower, hermitian=kind))
        assert_small(outer @ d @ (dagger(outer) if kind else outer.T) - a, 10 * np.linalg.norm(a), n, dtype)
        triangular = outer[order]
        assert ((np.tril(triangular) if lower else np.triu(triangular)) == triangular).all()
        if n:
            want = sl.ldl(a, lower=lower, hermitian=kind)
            close(outer, want[0], 1e3 * eps(dtype))
            close(d, want[1], 1e3 * eps(dtype))
            assert order.tolist() == want[2].tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_schur_and_hessenberg(xp, dtype):
    a = matrix((2, 6, 6), dtype)
    for output in ("real", "complex"):
        t, z = (host(v) for v in linalg.schur(xp.array(a), output))
        assert_small(z @ t @ dagger(z) - a, a, 6, dtype)
        assert_small(z @ dagger(z) - np.eye(6), np.ones(6), 6, dtype)
        assert (np.tril(t, -1 if output == "complex" or dtype in "FD" else -2) == 0).all()
    h, q = (host(v) for v in linalg.hessenberg(xp.array(a), calc_q=True))
    assert_small(q @ h @ dagger(q) - a, a, 6, dtype)
    assert (np.tril(h, -2) == 0).all()
    assert host(linalg.hessenberg(xp.array(a))).shape == a.shape


@pytest.mark.parametrize("shape", [(5, 5), (6, 3), (3, 6)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_polar_and_ranges(xp, dtype, shape):
    a = matrix(shape, dtype)
    x = xp.array(a)
    for side in ("right", "left"):
        u, p = (host(v) for v in linalg.polar(x, side))
        want = sl.polar(a, side)
        close(u, want[0], 1e3 * eps(dtype))
        close(p, want[1], 1e3 * eps(dtype))
    low = a.copy()
    low[:, -1] = low[:, 0]
    basis, null = host(linalg.orth(xp.array(low))), host(linalg.null_space(xp.array(low)))
    assert basis.shape == sl.orth(low).shape and null.shape == sl.null_space(low).shape
    assert_small(low @ null, low, max(shape), dtype)
    assert_small(basis @ (dagger(basis) @ low) - low, low, max(shape), dtype)
    u, s, vh = linalg.svd(x, full_matrices=False)
    assert_small((host(u) * host(s)) @ host(vh) - a, a, max(shape), dtype)
    close(linalg.svdvals(x), sl.svdvals(a), 100 * eps(dtype))


def test_subspace_angles(xp):
    a, b = matrix((6, 3), "d"), matrix((6, 2), "d", 1)
    close(linalg.subspace_angles(xp.array(a), xp.array(b)), sl.subspace_angles(a, b), 1e-10)
    close(linalg.subspace_angles(xp.array(b), xp.array(a)), sl.subspace_angles(b, a), 1e-10)


# ---- Functions of matrices --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1, 30])
@pytest.mark.parametrize("dtype", DTYPES)
def test_expm(xp, dtype, scale):
    a = (scale * matrix((3, 5, 5), dtype) / 4).astype(dtype)
    want = sl.expm(a.astype(np.result_type(dtype, float)))
    got = linalg.expm(xp.array(a))
    assert got.dtype == a.dtype
    for g, w in zip(host(got), want, strict=True):
        assert np.linalg.norm(g - w) <= 2000 * (1 + scale) * eps(dtype) * np.linalg.norm(w)
    close(linalg.expm(xp.array(a[0])), host(got)[0], 1e4 * (1 + scale) * eps(dtype))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_roots_and_logarithms(xp, dtype):
    special = np.eye(3), np.array([[1, 1], [0, 1]]), np.diag([1.0, -4.0])
    for a in (definite(5, dtype), matrix((5, 5), dtype), *(m.astype(dtype) for m in special)):
        root = host(linalg.sqrtm(xp.array(a)))
        assert np.linalg.norm(root @ root - a) <= 1e-12 * np.linalg.norm(a) * max(1, np.linalg.norm(root))
        log = linalg.logm(xp.array(a))
        assert np.linalg.norm(host(linalg.expm(log)) - a) <= 1e-11 * np.linalg.norm(a)
        close(log, sl.logm(a), 1e-10)
        close(root, sl.sqrtm(a), 1e-10)
    p = definite(4, dtype)
    close(linalg.fractional_matrix_power(xp.array(p), 2.5), sl.fractional_matrix_power(p, 2.5), 1e-9)
    close(linalg.fractional_matrix_power(xp.array(p), -1), np.linalg.inv(p), 1e-9)


def test_numbers_below_zero_have_the_principal_logarithm(xp):
    for seed in range(20):
        a = np.random.default_rng(seed).normal(size=(5, 5))
        below = sum(v.real < 0 and v.imag == 0 for v in np.linalg.eigvals(a))
        log = host(linalg.logm(xp.array(a)))
        np.testing.assert_allclose(np.trace(log).imag, np.pi * below, atol=1e-10)


def test_a_matrix_without_a_root_is_warned_of(xp):
    with pytest.warns(linalg.LinAlgWarning, match="singular"):
        linalg.sqrtm(xp.array([[0.0, 1.0], [0.0, 0.0]]))


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_functions_of_matrices(xp, dtype):
    a = matrix((4, 4), dtype)
    for name in ("sinm", "cosm", "tanm", "sinhm", "coshm", "tanhm"):
        close(getattr(linalg, name)(xp.array(a)), getattr(sl, name)(a), 1e-10)
    close(linalg.funm(xp.array(a), xp.exp), sl.expm(a), 1e-10)
    got, error = linalg.funm(xp.array(a), lambda v: v * v, disp=False)
    close(got, a @ a, 1e-10)
    assert 0 < float(error) < 1e-10


# ---- Special matrices -------------------------------------------------------------------------------------------------------------------

MATRICES = [
    ("toeplitz", ([1, 2, 3],)), ("toeplitz", ([1, 2, 3], [1, 4, 5, 6])), ("toeplitz", ([1 + 2j, 3j],)), ("toeplitz", ([[1, 2], [3, 4]],)),
    ("circulant", ([1.5, 2, 3],)), ("circulant", ([[1, 2], [3, 4]],)), ("hankel", ([1, 2, 3],)), ("hankel", ([1, 2], [2, 3, 4])),
    ("hadamard", (8,)), ("hadamard", (1,)), ("hadamard", (4, np.int8)), ("leslie", ([0.1, 2, 1], [0.2, 0.8])),
    ("block_diag", ([[1, 0], [0, 1]], [[3, 4, 5]], [[7]])), ("block_diag", ()), ("block_diag", ([], 2.5, [1, 2])),
    ("block_diag", (np.ones((3, 2, 2)), np.zeros((1, 2)))), ("companion", ([1, -10, 31, -30],)), ("companion", ([[1.0, 2, 3], [2, 3, 4]],)),
    ("convolution_matrix", ([1, 2, 3], 4)), ("convolution_matrix", ([1, 2, 3], 4, "same")), ("convolution_matrix", ([1, 2, 3], 4, "valid")),
    ("convolution_matrix", ([1, 2, 3], 2, "same")), ("convolution_matrix", ([1, 2, 3, 4], 2, "valid")), ("convolution_matrix", ([2], 1)),
    ("dft", (5,)), ("dft", (4, "sqrtn")), ("dft", (4, "n")), ("fiedler", ([1, 4, 12],)), ("fiedler", ([[1.0, 4], [2, 9]],)),
    *(("fiedler_companion", (np.arange(1.0, n),)) for n in range(3, 9)), ("helmert", (5,)), ("helmert", (5, True)), ("hilbert", (4,)),
    ("invhilbert", (5,)), ("invhilbert", (5, True)), ("pascal", (5,)), ("pascal", (5, "lower")), ("pascal", (5, "upper", False)),
    ("khatri_rao", ([[1, 2], [3, 4]], [[5, 6], [7, 8], [9, 1]])), ("diagsvd", ([3.0, 2.0], 2, 4)), ("diagsvd", ([3.0, 2.0], 4, 2)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), MATRICES, ids=[f"{name}-{i}" for i, (name, _) in enumerate(MATRICES)])
def test_special_matrices(xp, name, args):
    got, want = getattr(linalg, name)(*args), getattr(sl, name)(*args)
    assert got.dtype == want.dtype
    close(got, want, 1e-14)
    on_device = [xp.asarray(a) if isinstance(a, list | np.ndarray) else a for a in args]
    close(getattr(linalg, name)(*on_device), want, 1e-14)


def test_kron(xp):
    assert linalg.kron(xp.array([[1, 2]]), [[1], [3]]).tolist() == [[1, 2], [3, 6]]


def test_what_matrices_are(xp):
    for a in (np.triu(np.ones((4, 4)), -1), np.tril(np.ones((3, 5)), 2), np.zeros((2, 2)), np.ones((0, 3)), np.eye(3)):
        assert linalg.bandwidth(xp.array(a)) == sl.bandwidth(a)
    h = hermitian(3, "D")
    for a in (h, h + 1e-9 * np.triu(np.ones((3, 3)), 1), h.real):
        for kwargs in ({}, {"atol": 1e-6}, {"rtol": 1e-6}):
            assert linalg.ishermitian(xp.array(a), **kwargs) is bool(sl.ishermitian(a, **kwargs))
            assert linalg.issymmetric(xp.array(a), **kwargs) is bool(sl.issymmetric(a, **kwargs))


# ---- Errors -----------------------------------------------------------------------------------------------------------------------------


def errors():
    one, nan = np.ones((2, 2)), np.full((2, 2), np.nan)
    return [
        ("solve", (nan, one)), ("solve", (np.ones((2, 3)), one)), ("solve", (one, np.ones(3))), ("solve_triangular", (one * 0, one)),
        ("solve_triangular", (np.ones((2, 3)), one)), ("inv", (np.ones((2, 3)),)), ("inv", (nan,)), ("det", (np.ones((2, 3)),)),
        ("cholesky", (-np.eye(2),)), ("cholesky", (np.diag([1.0, 1, -1]),)), ("cholesky", (np.ones((2, 3)),)),
        ("cho_factor", (-np.eye(3),)),
        ("svd", (nan,)), ("svd", (np.ones(2),)), ("eigh", (np.ones((2, 3)),)), ("eig", (np.ones((2, 3)),)), ("eig", (nan,)),
        ("expm", (np.ones((2, 3)),)), ("solve_banded", ((1, 1), np.ones((2, 3)), np.ones(3))),
        ("solve_banded", ((0, 0), np.zeros((1, 3)), np.ones(3))), ("qr", (one, False, None, "x")), ("schur", (one, "x")),
        ("polar", (one, "x")),
        ("companion", ([1],)), ("companion", ([0, 1],)), ("hadamard", (3,)), ("hadamard", (0,)), ("leslie", ([1, 2], [1, 2])),
        ("convolution_matrix", ([1, 2], 0)), ("convolution_matrix", ([], 3)), ("convolution_matrix", ([1, 2], 3, "x")), ("dft", (3, "x")),
        ("khatri_rao", (np.ones((2, 3)), np.ones((2, 2)))), ("bandwidth", (np.ones(3),)), ("lstsq", (one, np.ones(3))),
        ("pinv", (nan,)), ("issymmetric", (np.ones((2, 3)),)), ("ishermitian", (np.ones(3),)),
        ("lu", (np.ones(2),)), ("lu_solve", ((np.eye(2), np.array([0, 1])), np.ones(3))), ("cho_solve", ((np.eye(2), True), np.ones(3))),
        ("eigh_tridiagonal", (np.ones(2), np.ones(2))), ("ldl", (np.ones((2, 3)),)), ("hessenberg", (np.ones((2, 3)),)),
        ("solve_toeplitz", (np.array([1.0, 2]), np.ones(3))), ("sqrtm", (np.ones(3),)),
        ("solve", (one, one[0], False, False, False, True, "x")),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "args"), errors(), ids=[f"{name}-{i}" for i, (name, _) in enumerate(errors())])
def test_errors_are_scipys(xp, name, args):
    with pytest.raises(Exception) as want:  # noqa: PT011 (whatever SciPy raises)
        getattr(sl, name)(*args)
    with pytest.raises(want.type) as got:
        getattr(linalg, name)(*(xp.array(a) if isinstance(a, np.ndarray) else a for a in args))
    # SciPy words errors anew from release to release; ours have the words of this one.
    if importlib.metadata.version("scipy").startswith("1.17."):
        assert str(got.value) == str(want.value)


def test_errors_that_say_more(xp):
    for call in (
        lambda: linalg.solve(xp.ones((2, 2)), xp.ones(2)),
        lambda: linalg.inv(xp.ones((2, 2))),
        lambda: linalg.solve(-xp.eye(2), xp.ones(2), assume_a="pos"),
        lambda: linalg.solve(xp.zeros((2, 2)), xp.ones(2)),
    ):
        with pytest.raises(np.linalg.LinAlgError, match="A singular matrix detected"):
            call()
    with pytest.raises(np.linalg.LinAlgError, match="leading minor not positive definite"):
        linalg.solveh_banded(-xp.ones((1, 3)), xp.ones(3))
    with pytest.raises(ValueError, match="'sort' parameter"):
        linalg.schur(xp.eye(2), sort="x")
    with pytest.raises(ValueError, match="trans: expected"):
        linalg.solve_triangular(xp.eye(2), xp.ones(2), trans=3)


def test_half_precision_and_integers(xp):
    assert linalg.solve(xp.eye(2, dtype="e"), xp.ones(2, dtype="e")).dtype == np.float32
    assert linalg.inv(xp.eye(2, dtype=int)).dtype == np.float64


def test_parameters_are_scipys():
    """All of SciPy's parameters, in its order."""
    other = {"LinAlgError", "LinAlgWarning", "kron"}
    if not importlib.metadata.version("scipy").startswith("1.17."):
        pytest.skip("the parameters are those of SciPy 1.17")
    for name in set(linalg.__all__) - other:
        ours, theirs = (list(inspect.signature(getattr(m, name)).parameters) for m in (linalg, sl))
        assert ours == theirs, name


def test_the_names_that_are_expected_are_there():
    assert dir(bc.scipy.linalg)
    for name in "bandwidth block_diag circulant companion convolution_matrix dft expm fiedler hadamard hankel helmert hilbert".split():
        assert name in linalg.__all__


def test_powers_and_logarithms_of_singular_matrices(xp):
    ones, shift = np.ones((2, 2)), np.diag([1.0], 1)
    a = np.array([ones, [[1, 2], [3, 4]], [[0, 1], [0, 2]], np.zeros((2, 2)), shift])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t in (0.5, 1.5, -0.5):
            got = host(linalg.fractional_matrix_power(xp.array(a), t))
            for k in range(5):
                np.testing.assert_allclose(got[k], sl.fractional_matrix_power(a[k], t), 1e-12, 1e-12)
        for k in (0, 2, 3, 4):
            np.testing.assert_allclose(host(linalg.logm(xp.array(a[k]))), sl.logm(a[k]), 1e-13)
    with pytest.warns(linalg.LinAlgWarning, match="singular"):
        linalg.logm(xp.array(ones))


@pytest.mark.parametrize("dtype", ["f", "d", "F", "D"])
def test_exponentials_of_all_sizes_are_the_same_from_the_body_and_from_composed_ops(xp, monkeypatch, dtype):
    rng = np.random.default_rng(2)
    for n in (1, 3, 12, 13, 40):
        a = rng.standard_normal((5, n, n)) + (1j * rng.standard_normal((5, n, n)) if dtype in "FD" else 0)
        a = (a / n * np.array([0.01, 0.2, 0.9, 2.0, 30.0])[:, None, None]).astype(dtype)
        got = host(linalg.expm(xp.array(a)))
        assert got.dtype == dtype
        with monkeypatch.context() as patch:
            patch.setattr(bc._broadcloth, "linalg_expm", lambda a: [])
            composed = host(linalg.expm(xp.array(a)))
        for k in range(5):
            want = sl.expm(a[k].astype("D"))
            scale = abs(want).max()
            for x in (got[k], composed[k]):
                np.testing.assert_allclose(x / scale, want / scale, 0, 2e-5 if dtype in "fF" else 1e-13)


def test_roots_and_complex_forms_of_real_matrices(xp):
    rng = np.random.default_rng(4)
    for n in (1, 2, 5, 30):
        a = rng.standard_normal((n, n)) + 0.1 * np.eye(n)
        root = host(linalg.sqrtm(xp.array(a)))
        np.testing.assert_allclose(root @ root, a, 1e-9, 1e-9)
        assert np.iscomplexobj(root) == np.iscomplexobj(sl.sqrtm(a))
        t, z = sl.schur(a)
        form, basis = map(host, linalg.rsf2csf(xp.array(t), xp.array(z)))
        np.testing.assert_allclose(basis @ form @ basis.conj().T, a, 1e-11, 1e-11)
        np.testing.assert_array_equal(np.tril(form, -1), 0)


def test_exponentials_of_matrices_whose_powers_are_small(xp):
    """Scaled by their norm they would be squared so often that no digit is left."""
    burkardt = np.array([[0, 1e-8, 0], [-(2e10 + 4e8 / 6), -3, 2e10], [200 / 3, 0, -200 / 3]])
    want = [[0.446849468283175, 1.54044157383952e-09, 0.462811453558774], [-5743067.77947947, -0.0152830038686819, -4526542.71278401],
            [0.447722977849494, 1.54270484519591e-09, 0.463480648837651]]  # fmt: skip
    np.testing.assert_allclose(host(linalg.expm(xp.array(burkardt))), want, 1e-9)
    shift = 1e8 * np.eye(4, k=1)
    want = np.array([[1, 1e8, 5e15, 1e24 / 6], [0, 1, 1e8, 5e15], [0, 0, 1, 1e8], [0, 0, 0, 1]])
    both = np.array([shift, np.diag([1.0, 2, 3, 4]), 30 * np.eye(4)[::-1], np.zeros((4, 4))])
    got = host(linalg.expm(xp.array(both)))
    np.testing.assert_allclose(got[0], want, 1e-14)
    np.testing.assert_allclose(host(linalg.expm(xp.array(shift.T))), want.T, 1e-14, atol=1e-18)
    np.testing.assert_allclose(got[1], np.diag(np.exp([1.0, 2, 3, 4])), 1e-14)
    np.testing.assert_allclose(got[2], np.cosh(30) * np.eye(4) + np.sinh(30) * np.eye(4)[::-1], 1e-12)
    np.testing.assert_allclose(got[3], np.eye(4), 1e-15)


HOST_FUNCTIONS = {
    "toeplitz": [(range(5),), (range(4), range(3)), ([1 + 2j, 3j, 4],), ([True, False],)],
    "hankel": [(range(5),), (range(3), range(2, 6)), ([1.5],)],
    "circulant": [(range(5),), ([1j, 2, 3],)],
    "block_diag": [([[1.0, 2.0]], [[3.0], [4.0]]), (np.ones((2, 3))[:, ::-1], np.arange(4.0).reshape(2, 2).T)],
    "companion": [([2.0, -3.0, 4.0, 5.0],), ([1, 2],)],
    "convolution_matrix": [([1.5, 2.0, 3.0], n, mode) for n in (1, 2, 5) for mode in ("full", "same", "valid")],
    "hilbert": [(n,) for n in (1, 2, 30)],
    "leslie": [([0.1, 2.0, 1.0], [0.2, 0.8])],
    "bandwidth": [
        (np.tril(np.ones((5, 7)), 1),), (np.triu(np.ones((40, 30)), -3).T,), (np.zeros((3, 4)),), (-np.zeros((3, 4)),),
        (np.diag([np.nan, 1.0], 1),), (np.eye(3, 9, 5, "i8"),), (np.eye(70, 70, -60, "F"),), (np.eye(9, dtype="?"),),
    ],
    "issymmetric": [(np.ones((40, 40)),), (np.eye(33) + np.eye(33, k=32),), (np.diag([np.nan, 1.0]),), (np.ones((3, 3), "i4"),)],
    "ishermitian": [(np.array([[1, 2j], [-2j, 1]]),), (np.array([[1j, 2], [2, 1]]),), (np.array([[0.0, -0.0], [0.0, 1.0]]),)],
    "lu": [(np.arange(12.0).reshape(3, 4) % 5,), (np.arange(12.0).reshape(4, 3) % 5, True), (np.eye(3)[::-1], False, False, True, True)],
}  # fmt: skip
HOST_PARTS = [
    "linalg_constant_along", "linalg_block_diagonal", "linalg_over_subdiagonal", "linalg_bandwidth", "linalg_is_symmetric",
    "linalg_lu_parts", "linalg_is_finite",
]  # fmt: skip


@pytest.mark.parametrize("composed", [False, True])
@pytest.mark.parametrize("name", HOST_FUNCTIONS)
def test_matrices_that_are_made_on_the_host(name, composed, monkeypatch):
    if composed:
        for part in HOST_PARTS:
            monkeypatch.setattr(bc._broadcloth, part, lambda *args: None)
    for args in HOST_FUNCTIONS[name]:
        operands = [np.array(list(x)) if isinstance(x, range) else x for x in args]
        want = getattr(sl, name)(*operands)
        got = getattr(linalg, name)(*(bc.asarray(x) if isinstance(x, np.ndarray) else x for x in operands))
        for g, w in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
            assert np.shape(g) == np.shape(w)
            np.testing.assert_allclose(host(g) if isinstance(g, bc.ndarray) else g, w, 1e-12)
            assert not isinstance(g, bc.ndarray) or g.dtype == w.dtype


STREAMS = """
import numpy as np, broadcloth as bc
from broadcloth import cuda
from broadcloth.scipy import linalg
a = bc.asarray(np.triu(np.ones((5, 5))) + 2 * np.eye(5))
facts = lambda: (linalg.inv(a).get().tobytes(), linalg.bandwidth(a), linalg.issymmetric(a), bc._broadcloth.linalg_is_finite(a))
before = facts()
with bc.profiler.record():
    assert facts() == before
with bc.device("null"):
    stream = cuda.Stream()
assert facts() == before
a = a + 0
assert facts() == before
"""


def test_structure_is_seen_beside_other_streams_and_a_profiler():
    """Zeros of an inverse have the same sign, whatever else the process does."""
    subprocess.run([sys.executable, "-c", STREAMS], check=True)


@pytest.mark.parametrize("dtype", ["f4", "f8", "F", "D"])
@pytest.mark.parametrize("n", [1, 3, 20, 90])
def test_problems_that_lapack_has_routines_for(dtype, n):
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n)).astype(dtype)
    if dtype in "FD":
        a = (a + 1j * rng.standard_normal((n, n))).astype(dtype)
    h, p = a + a.conj().T, (a @ a.conj().T + n * np.eye(n)).astype(dtype)
    tolerance = {"rtol": 0, "atol": 3e-4 * n if dtype in ("f4", "F") else 1e-11 * n}
    near = lambda x, y: np.testing.assert_allclose(host(x), y, **tolerance)
    for triangle in (np.tril(p), np.triu(p)):
        near(linalg.inv(bc.asarray(triangle)), sl.inv(triangle))
    for lower in (False, True):
        near(linalg.inv(bc.asarray(p), assume_a="pos", lower=lower), sl.inv(p))
        w, v = linalg.eigh(bc.asarray(h), bc.asarray(p), lower=lower)
        near(w, sl.eigvalsh(h, p))
        near(bc.asarray(h) @ v, host(bc.asarray(p) @ v) * host(w))
    near(linalg.inv(bc.asarray(p)), sl.inv(p))
    low, high = n // 3, max(n // 3, n // 2)
    w, v = linalg.eigh(bc.asarray(h), subset_by_index=(low, high))
    assert w.shape == (high - low + 1,) and v.shape == (n, high - low + 1)
    near(w, sl.eigvalsh(h)[low : high + 1])
    near(bc.asarray(h) @ v, host(v) * host(w))
    band = np.array([np.diag(h, k).tolist() + [0] * k for k in range(min(3, n))], dtype)
    banded = sum(np.diag(np.diag(h, k), k) + (np.diag(np.diag(h, k), k).conj().T if k else 0) for k in range(min(3, n))).conj()
    w, v = linalg.eig_banded(bc.asarray(band), lower=True)
    near(w, sl.eigvalsh(banded))
    near(bc.asarray(banded) @ v, host(v) * host(w))
    if dtype in ("f4", "f8") and n > 1:
        d, e = h.diagonal().copy(), h.diagonal(1).copy()
        w, v = linalg.eigh_tridiagonal(bc.asarray(d), bc.asarray(e), select="i", select_range=(low, high))
        near(w, sl.eigvalsh_tridiagonal(d, e)[low : high + 1])
        near(bc.asarray(np.diag(d) + np.diag(e, 1) + np.diag(e, -1)) @ v, host(v) * host(w))


def test_failures_of_problems_that_lapack_has_routines_for():
    with pytest.raises(np.linalg.LinAlgError, match="singular"):
        linalg.inv(bc.asarray([[1.0, 2.0], [0.0, 0.0]]))
    with pytest.raises(np.linalg.LinAlgError):
        linalg.inv(bc.asarray([[1.0, 2.0], [2.0, 1.0]]), assume_a="pos")
    with pytest.raises(np.linalg.LinAlgError, match="leading minor of order 2 of B"):
        linalg.eigh(bc.eye(2), bc.asarray([[1.0, 2.0], [2.0, 1.0]]))


FINITE = """
import numpy as np, broadcloth as bc
for n, exceeds in ((1, -1), (100, 63), (5000, 4999)):
    for value in (np.nan, np.inf, -np.inf):
        for dtype in ("f4", "f8", "F", "D"):
            x = np.full(n, np.finfo(dtype).max, dtype)
            assert bc._broadcloth.linalg_is_finite(bc.asarray(x, device="cpu")) is True
            x[exceeds] = value
            assert bc._broadcloth.linalg_is_finite(bc.asarray(x, device="cpu")) is False
"""


def test_whether_host_memory_is_finite():
    # In a process of its own: where other streams were made, the host does not look at memory.
    subprocess.run([sys.executable, "-c", FINITE], check=True, timeout=100)
