"""SciPy's forms of matrices and pairs, bands, rotations and derivatives of the exponential, against SciPy and by what defines them."""

from __future__ import annotations

import importlib.metadata

import numpy as np
import pytest

from broadcloth.scipy import linalg
from matrices import DTYPES, assert_small, dagger, definite, eps, hermitian, matrix
from support import host

sl = pytest.importorskip("scipy.linalg")
pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


def close(got, want, tolerance=1e-12):
    got, want = host(got), np.asarray(want)
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, tolerance, tolerance * max(1.0, float(abs(want).max())) if want.size else 0)


# ---- Eigenvalues of pairs ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvectors_of_pairs_from_both_sides(xp, dtype):
    a, b = matrix((2, 6, 6), dtype), matrix((2, 6, 6), dtype, 1)
    w, left, right = linalg.eig(xp.array(a), xp.array(b), left=True)
    w, left, right = host(w), host(left), host(right)
    scale = np.linalg.norm(a) + abs(w).max() * np.linalg.norm(b)
    assert_small(a @ right - b @ right * w[:, None, :], scale, 6, dtype)
    assert_small(dagger(left) @ a - w[..., None] * (dagger(left) @ b), scale, 6, dtype)
    np.testing.assert_allclose(np.linalg.norm(right, axis=-2), 1, rtol=100 * eps(dtype))
    np.testing.assert_allclose(np.linalg.norm(left, axis=-2), 1, rtol=100 * eps(dtype))
    pairs = host(linalg.eigvals(xp.array(a), xp.array(b), homogeneous_eigvals=True))
    np.testing.assert_allclose(pairs[:, 0] / pairs[:, 1], w, rtol=1e4 * eps(dtype))


def test_a_singular_second_matrix_has_infinite_eigenvalues(xp):
    a, b = matrix((4, 4), "d"), matrix((4, 4), "d", 1)
    b = np.diag([1.0, 2.0, 0.0, 0.0])
    w = host(linalg.eigvals(xp.array(a), xp.array(b)))
    want = sl.eigvals(a, b)
    finite = np.isfinite(want)
    assert (np.isfinite(w) == finite).all() and not finite.all()
    close(w[finite], want[finite], 1e-10)
    both = host(linalg.eigvals(xp.array(np.diag([1.0, 0.0])), xp.array(np.diag([2.0, 0.0]))))
    assert both[0] == 0.5 and np.isnan(both[1])


# ---- Schur's forms ----------------------------------------------------------------------------------------------------------------------

CONDITIONS = {"lhp": lambda x: x.real < 0, "rhp": lambda x: x.real >= 0, "iuc": lambda x: abs(x) <= 1, "ouc": lambda x: abs(x) > 1}


@pytest.mark.parametrize("sort", [*CONDITIONS, "callable"])
@pytest.mark.parametrize("output", ["real", "complex"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted_schur_forms(xp, dtype, output, sort):
    a = matrix((7, 7), dtype)
    real = output == "real" and dtype in "fd"
    given, condition = sort, CONDITIONS.get(sort, CONDITIONS["lhp"])
    if sort == "callable":
        given = (lambda re, im: re < 0) if real else (lambda x: x.real < 0)
    t, z, count = linalg.schur(xp.array(a), output, sort=given)
    t, z = host(t), host(z)
    assert_small(z @ t @ dagger(z) - a, a, 7, dtype)
    assert_small(z @ dagger(z) - np.eye(7), np.ones(7), 7, dtype)
    assert count == sl.schur(a, output, sort=given)[2]
    values = np.linalg.eigvals(t[:count, :count]), np.linalg.eigvals(t[count:, count:])
    assert condition(values[0]).all() and not condition(values[1]).any()


def test_sorted_schur_forms_of_stacks(xp):
    a = matrix((2, 3, 5, 5), "d")
    t, z, count = (host(v) for v in linalg.schur(xp.array(a), sort="lhp"))
    assert count.shape == (2, 3) and count.tolist() == (np.linalg.eigvals(a).real < 0).sum(-1).tolist()
    assert_small(z @ t @ dagger(z) - a, a, 5, "d")


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("dtype", ["f", "d"])
def test_complex_forms_out_of_real_ones(xp, dtype, n):
    a = matrix((2, n, n), dtype)
    t, z = linalg.schur(xp.array(a)) if n else (xp.array(a), xp.array(a))
    form, basis = linalg.rsf2csf(t, z)
    assert form.dtype == basis.dtype == np.result_type(dtype, "F")
    form, basis = host(form), host(basis)
    assert (np.tril(form, -1) == 0).all()
    assert_small(basis @ form @ dagger(basis) - a, a, max(n, 1), dtype)
    for i in range(2):
        if n:
            close(np.diag(form[i]), np.diag(sl.rsf2csf(host(t)[i], host(z)[i])[0]), 1e3 * eps(dtype))


@pytest.mark.parametrize("dtype", ["f", "d"])
def test_real_blocks_out_of_complex_eigenvalues(xp, dtype):
    a = matrix((7, 7), dtype)
    w, v = np.linalg.eig(a)
    for order in (np.arange(7), np.argsort(abs(w.imag), kind="stable")):
        wr, vr = linalg.cdf2rdf(xp.array(w[order]), xp.array(v[:, order]))
        want = sl.cdf2rdf(w[order], v[:, order])
        close(wr, want[0], 10 * eps(dtype))
        close(vr, want[1], 10 * eps(dtype))
    stack = linalg.cdf2rdf(xp.array(np.stack([w, w])), xp.array(np.stack([v, v])))
    assert_small(np.stack([a, a]) @ host(stack[1]) - host(stack[1]) @ host(stack[0]), a, 7, dtype)


@pytest.mark.parametrize("output", ["real", "complex"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_forms_of_pairs(xp, dtype, output):
    a, b = matrix((2, 6, 6), dtype), matrix((2, 6, 6), dtype, 1)
    aa, bb, q, z = (host(v) for v in linalg.qz(xp.array(a), xp.array(b), output))
    assert_small(q @ aa @ dagger(z) - a, a, 6, dtype)
    assert_small(q @ bb @ dagger(z) - b, b, 6, dtype)
    assert (np.tril(bb, -1) == 0).all()
    assert (np.tril(aa, -2 if output == "real" and dtype in "fd" else -1) == 0).all()


@pytest.mark.parametrize("sort", ["lhp", "rhp", "iuc", "ouc", "callable"])
@pytest.mark.parametrize("output", ["real", "complex"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_sorted_forms_of_pairs(xp, dtype, output, sort):
    a, b = matrix((6, 6), dtype), matrix((6, 6), dtype, 1)
    given = (lambda x, y: (x / y).real < 0) if sort == "callable" else sort
    aa, bb, alpha, beta, q, z = (host(v) for v in linalg.ordqz(xp.array(a), xp.array(b), given, output))
    assert_small(q @ aa @ dagger(z) - a, a, 6, dtype)
    assert_small(q @ bb @ dagger(z) - b, b, 6, dtype)
    values = alpha / beta
    is_first = {"lhp": values.real < 0, "rhp": values.real > 0, "iuc": abs(values) < 1, "ouc": abs(values) > 1}
    first = is_first.get(sort, is_first["lhp"])
    assert (np.diff(first.astype(int)) <= 0).all() and first.any()
    assert first.sum() == {"callable": is_first["lhp"]}.get(sort, first).sum()


# ---- Balancing --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flags", [(True, True), (True, False), (False, True), (False, False)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_balanced_matrices(xp, dtype, flags):
    a = (matrix((6, 6), dtype) * 10.0 ** np.arange(-3, 3)[:, None]).astype(dtype)
    a[1, [0, 2, 3, 4, 5]] = 0  # an eigenvalue that stands alone
    a[:4, 4] = 0
    a[5, 4] = 0
    made, t = linalg.matrix_balance(xp.array(a), *flags)
    want = sl.matrix_balance(a, *flags)
    close(made, want[0], 0)
    close(t, want[1], 0)
    _, (scale, order) = linalg.matrix_balance(xp.array(a), *flags, separate=True)
    close(scale, sl.matrix_balance(a, *flags, separate=True)[1][0], 0)
    assert host(order).tolist() == sl.matrix_balance(a, *flags, separate=True)[1][1].tolist()
    assert linalg.matrix_balance(xp.array(np.stack([a, a])))[1].shape == (2, 6, 6)


# ---- Bands ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_of_bands(xp, dtype, lower):
    ab, b = matrix((2, 3, 7), dtype), matrix((7, 2), dtype, 1)
    ab[:, 0 if lower else -1] = 9
    factor = linalg.cholesky_banded(xp.array(ab), lower=lower)
    for i in range(2):
        close(factor[i], sl.cholesky_banded(ab[i], lower=lower), 100 * eps(dtype))
    for right in (b, b[:, 0]):
        want = sl.cho_solve_banded((sl.cholesky_banded(ab[0], lower=lower), lower), right)
        close(linalg.cho_solve_banded((factor[0], lower), xp.array(right)), want, 100 * eps(dtype))
    with pytest.raises(np.linalg.LinAlgError, match="1-th leading minor not positive definite"):
        linalg.cholesky_banded(-xp.array(ab), lower=lower)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_eigenvalues_of_bands(xp, dtype, lower):
    ab = matrix((3, 7), dtype)
    ab[0 if lower else -1] = ab[0 if lower else -1].real
    want = sl.eig_banded(ab, lower=lower, eigvals_only=True)
    w, v = (host(x) for x in linalg.eig_banded(xp.array(ab), lower=lower))
    close(w, want, 100 * eps(dtype))
    a = np.zeros((7, 7), dtype)
    for k in range(3):
        diagonal = ab[k, : 7 - k] if lower else ab[2 - k, k:]
        a += np.diag(diagonal, -k if lower else k)
        if k:
            a += np.diag(diagonal.conj(), k if lower else -k)
    assert_small(a @ v - v * w, a, 7, dtype)
    for kwargs in ({"select": "i", "select_range": (1, 3)}, {"select": "v", "select_range": (float(want[2]) + 1e-3, 1e9)}):
        got = linalg.eigvals_banded(xp.array(ab), lower, **kwargs)
        close(got, sl.eigvals_banded(ab, lower, **kwargs), 100 * eps(dtype))


# ---- Circulant and Toeplitz matrices ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_circulant_systems(xp, dtype):
    c, b = matrix((3, 5), dtype), matrix((5, 3), dtype, 1)
    c[:, 0] += 9
    tolerance = 1e3 * eps(dtype)
    got = linalg.solve_circulant(xp.array(c[0]), xp.array(b))
    assert got.dtype == np.dtype(dtype)
    close(got, sl.solve_circulant(c[0], b), tolerance)
    close(linalg.solve_circulant(xp.array(c), xp.array(b)), sl.solve_circulant(c, b), tolerance)
    close(linalg.solve_circulant(xp.array(c.T), xp.array(b.T), caxis=0, baxis=1, outaxis=-1),
          sl.solve_circulant(c.T, b.T, caxis=0, baxis=1, outaxis=-1), tolerance)  # fmt: skip


def test_singular_circulant_systems(xp):
    c, b = np.array([1.0, 1, 0, 0]), np.array([1.0, 2, 3, 4])
    with pytest.raises(np.linalg.LinAlgError, match="near singular circulant matrix"):
        linalg.solve_circulant(xp.array(c), xp.array(b))
    close(linalg.solve_circulant(xp.array(c), xp.array(b), singular="lstsq"), sl.solve_circulant(c, b, singular="lstsq"))


@pytest.mark.parametrize("shape", [(6, 6), (1, 1), (4, 7), (7, 4), (1, 5)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_products_of_toeplitz_matrices(xp, dtype, shape):
    m, n = shape
    c, r, x = matrix(m, dtype), matrix(n, dtype, 1), matrix((n, 3), dtype, 2)
    for right in (x, x[:, 0], x[:, ::2], x[:, :0]):
        got = linalg.matmul_toeplitz((xp.array(c), xp.array(r)), xp.array(right))
        assert got.dtype == np.dtype(dtype)
        close(got, sl.toeplitz(c, r) @ right, 1e3 * eps(dtype))
        if m == n:
            close(linalg.matmul_toeplitz(xp.array(c), xp.array(right)), sl.toeplitz(c) @ right, 1e3 * eps(dtype))
    close(linalg.matmul_toeplitz(([1, 2], [1, 3]), [1, 1]), sl.matmul_toeplitz(([1, 2], [1, 3]), [1, 1]))


# ---- Products and rotations -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_orthogonal_procrustes(xp, dtype):
    a, b = matrix((6, 4), dtype), matrix((6, 4), dtype, 1)
    for got, want in zip(linalg.orthogonal_procrustes(xp.array(a), xp.array(b)), sl.orthogonal_procrustes(a, b), strict=True):
        close(got, want, 1e4 * eps(dtype))


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 4)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_factors_are_multiplied(xp, dtype, shape):
    a, k = matrix(shape, dtype), min(shape)
    cases = [("left", matrix((k, 2), dtype, 1)), ("left", matrix(k, dtype, 1)), ("right", matrix((2, shape[0]), dtype, 1)),
             ("right", matrix(shape[0], dtype, 1))]  # fmt: skip
    for mode, c in cases:
        for kwargs in ({}, {"pivoting": True}, {"conjugate": True}):
            got = linalg.qr_multiply(xp.array(a), xp.array(c), mode, **kwargs)
            for mine, want in zip(got, sl.qr_multiply(a, c, mode, **kwargs), strict=True):
                close(mine, want, 1e3 * eps(dtype))


# ---- The exponential's derivative, and signs --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-3, 0.1, 0.5, 1, 3, 30])
@pytest.mark.parametrize("dtype", DTYPES)
def test_derivatives_of_the_exponential(xp, dtype, scale):
    a, e = (scale * matrix((3, 5, 5), dtype) / 4).astype(dtype), matrix((3, 5, 5), dtype, 1)
    made, derivative = linalg.expm_frechet(xp.array(a), xp.array(e))
    assert made.dtype == derivative.dtype == a.dtype
    blocks = linalg.expm_frechet(xp.array(a), xp.array(e), "blockEnlarge", compute_expm=False)
    wide = np.result_type(dtype, float)
    for i in range(3):
        want = sl.expm_frechet(a[i].astype(wide), e[i].astype(wide))
        bound = 2000 * (1 + scale) * eps(dtype)
        for got, expected in zip((made[i], derivative[i], blocks[i]), (*want, want[1]), strict=True):
            assert np.linalg.norm(host(got) - expected) <= bound * np.linalg.norm(expected)


@pytest.mark.parametrize("dtype", ["d", "D"])
def test_the_exponentials_condition(xp, dtype):
    a = matrix((2, 4, 4), dtype)
    got = linalg.expm_cond(xp.array(a))
    close(got, np.array([sl.expm_cond(m) for m in a]), 1e-9)


@pytest.mark.parametrize("dtype", DTYPES)
def test_signs_of_matrices(xp, dtype):
    basis, signs = matrix((5, 5), dtype) + 3 * np.eye(5, dtype=dtype), np.array([1, -1, 1, 1, -1])
    a = (basis * (signs * np.array([1, 20, 0.1, 3, 2]))) @ np.linalg.inv(basis)
    want = (basis * signs) @ np.linalg.inv(basis)
    got = linalg.signm(xp.array(a.astype(dtype)))
    assert got.dtype == np.dtype(dtype)
    close(got, want, 1e4 * eps(dtype))


def test_signs_of_singular_matrices(xp):
    a = np.diag([3.0, 0.0, -2.0])
    close(linalg.signm(xp.array(a)), np.diag([1.0, 0.0, -1.0]), 1e-12)
    close(linalg.signm(xp.array(hermitian(4, "d"))), sl.signm(hermitian(4, "d")), 1e-10)
    close(linalg.signm(xp.array(definite(4, "d"))), np.eye(4), 1e-12)


@pytest.mark.parametrize("kind", ["symmetric", "lower", "upper"])
@pytest.mark.parametrize("n", [1, 2, 5, 17])
def test_inverses_of_pascals_matrix(n, kind):
    for exact in (True, False):
        got, want = linalg.invpascal(n, kind, exact), sl.invpascal(n, kind, exact)
        assert got.dtype == (np.int64 if exact else np.float64)
        close(got, want.astype(float), 1e-14)


def errors():
    one, tall = np.ones((2, 2)), np.ones((3, 2))
    return [
        ("rsf2csf", (tall, one)), ("rsf2csf", (one, np.eye(3))), ("cdf2rdf", (np.ones(2), tall)), ("cdf2rdf", (np.array([1j, 1]), one)),
        ("cdf2rdf", (np.ones(3), one)), ("matrix_balance", (tall,)), ("qz", (tall, one)), ("qz", (one, np.eye(3))), ("qz", (one, one, "x")),
        ("qz", (one, one, "real", None, "lhp")), ("ordqz", (one, one, "x")), ("qr_multiply", (one, one, "x")),
        ("schur", (one, "real", None, False, "x")),
        ("qr_multiply", (tall, np.ones((3, 1)), "left")), ("qr_multiply", (tall, np.ones((1, 2)))),
        ("orthogonal_procrustes", (one, tall)), ("expm_frechet", (tall, one)), ("expm_frechet", (one, tall)),
        ("expm_frechet", (one, np.eye(3))), ("expm_frechet", (one, one, "x")), ("expm_cond", (tall,)), ("invpascal", (3, "x")),
        ("solve_circulant", (np.ones(3), np.ones(2))), ("solve_circulant", (np.zeros(3), np.ones(3))),
        ("matmul_toeplitz", (np.ones(3), np.ones(2))), ("cholesky_banded", (np.full((2, 2), np.nan),)),
        ("cho_solve_banded", ((np.ones((1, 3)), False), np.ones(2))), ("eig_banded", (one, False, False, False, "x")),
        ("eig", (one, np.eye(3))),
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


def test_matrices_without_elements(xp):
    a = xp.zeros((0, 0))
    for name in ("schur", "matrix_balance", "signm", "expm_cond"):
        made = getattr(linalg, name)(a) if name != "expm_cond" else linalg.expm_frechet(a, a)
        assert (made[0] if isinstance(made, tuple) else made).shape == (0, 0)
    assert [v.shape for v in linalg.qz(a, a)] == [(0, 0)] * 4
    assert [v.shape for v in linalg.ordqz(a, a)] == [(0, 0), (0, 0), (0,), (0,), (0, 0), (0, 0)]
    assert linalg.schur(a, sort="lhp")[2] == 0
    assert [v.shape for v in linalg.eig(a, a, left=True)] == [(0,), (0, 0), (0, 0)]
    assert linalg.eigvals(xp.zeros((0, 3, 3)), xp.zeros((0, 3, 3))).shape == (0, 3)


def test_strided_operands_and_half_precision(xp):
    a, b = matrix((8, 8), "d"), matrix((8, 8), "d", 1)
    for view in (lambda m: m.T, lambda m: m[::-1, ::-1], lambda m: m[::2, 1::2]):
        x, y = view(a), view(b)
        aa, _, q, z = (host(v) for v in linalg.qz(view(xp.array(a)), view(xp.array(b))))
        assert_small(q @ aa @ z.T - x, a, 8, "d")
        made = linalg.expm_frechet(view(xp.array(a)), view(xp.array(b)), compute_expm=False)
        close(made, sl.expm_frechet(x, y, compute_expm=False), 1e-10)
    assert linalg.signm(xp.eye(2, dtype="e")).dtype == np.float32
    assert linalg.eigvals_banded(xp.ones((2, 3), dtype=int)).dtype == np.float64


# ---- Stacks whose matrices have numbers, flags and places of their own ------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(5,), (5, 4), (2, 3, 5, 4)])
def test_bands_of_a_stack_may_have_counts_of_their_own(xp, shape):
    bands, b = matrix((2, 3, 3, 5), "float64"), matrix(shape, "float64", 1)
    below, above = [2, 1, 0], [0, 1, 2]
    got = host(linalg.solve_banded((below, above), xp.array(bands), xp.array(b)))
    for i, j in np.ndindex(2, 3):
        close(got[i, j], sl.solve_banded((below[j], above[j]), bands[i, j], b[i, j] if b.ndim > 2 else b))
    with pytest.raises(ValueError, match="number of lower and upper diagonals"):
        linalg.solve_banded((below, [0, 2, 2]), xp.array(bands), xp.array(b))


def test_factors_of_a_stack_have_a_flag_each(xp):
    a, b = definite(5, "complex128", (2, 3)), matrix((5, 2), "complex128", 1)
    factor, lower = linalg.cho_factor(xp.array(a))
    assert host(lower).tolist() == [[False] * 3] * 2
    mixed, flags = host(factor).copy(), host(lower).copy()
    mixed[0, 1], flags[0, 1] = dagger(mixed[0, 1]), True
    close(linalg.cho_solve((xp.array(mixed), xp.array(flags)), xp.array(b)), np.linalg.solve(a, b))


def test_scales_and_places_of_a_stack_are_one_array(xp):
    a = matrix((3, 4, 4), "float64") * 10.0 ** np.arange(-6, 6).reshape(3, 1, 4)
    balanced, places = linalg.matrix_balance(xp.array(a), separate=True)
    for k in range(3):
        want, (scale, order) = sl.matrix_balance(a[k], separate=True)
        close(balanced[k], want)
        close(places[k], [scale, order])


@pytest.mark.parametrize("shape", [(0, 0), (2, 0), (0, 2)])
def test_lu_of_empty_matrices(shape):
    a = np.zeros(shape)
    for options in ({}, {"permute_l": True}, {"p_indices": True}):
        got, want = (m.lu(a, **options) for m in (linalg, sl))
        assert [x.shape for x in got] == [x.shape for x in want]


def test_whole_powers_of_whole_matrices_are_whole():
    a = np.array([[1, 2], [3, 4]])
    for power in (0, 1, 2, 3.0, -1):
        got, want = (m.fractional_matrix_power(a, power) for m in (linalg, sl))
        assert got.dtype == want.dtype
        np.testing.assert_allclose(host(got), want, 1e-12)
    for given in (np.ones((2, 3)), np.ones(3)):
        for power in (2, 0.5):
            with pytest.raises(ValueError, match="square"):
                linalg.fractional_matrix_power(given, power)
