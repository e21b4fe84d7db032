"""scikit-cuda's calls, against NumPy and SciPy, and programs written for it with only their import lines changed."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.cuda.pycuda import gpuarray
from broadcloth.cuda.skcuda import cublas, cusolver, fft, integrate, linalg, misc
from matrices import DTYPES, assert_small, dagger, definite, eps, hermitian, matrix
from support import host

LETTERS = dict(zip("SDCZ", ["float32", "float64", "complex64", "complex128"], strict=True))
pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")


@pytest.fixture
def handle(device):
    made = cublas.cublasCreate()
    yield made
    cublas.cublasDestroy(made)


def call(letter: str, name: str, *args):
    return getattr(cublas, f"cublas{letter}{name}")(*args)


def near(got, want, dtype, scale=1.0):
    np.testing.assert_allclose(host(got), want, 0, 64 * eps(dtype) * max(1.0, float(np.abs(want).max(initial=0))) * scale)


def fortran(a):
    """A matrix column by column, as cuBLAS reads it, in a device array whose rows are its columns."""
    return bc.asarray(np.ascontiguousarray(a.T))


def operated(a, trans):
    return {"n": a, "t": a.T, "c": a.T.conj()}[trans]


def triangle(a, uplo, diag="n"):
    kept = np.tril(a) if uplo == "l" else np.triu(a)
    if diag == "u":
        np.fill_diagonal(kept, 1)
    return kept


# ---- cuBLAS ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("letter", LETTERS)
def test_vectors(handle, letter):
    dtype, alpha = LETTERS[letter], 2.5 - (1j if letter in "CZ" else 0)
    x, y = matrix(7, dtype), matrix(7, dtype, 1)
    gx, gy = bc.asarray(x), bc.asarray(y)
    call(letter, "axpy", handle, 7, alpha, gx.gpudata, 1, gy.gpudata, 1)
    near(gy, y + np.dtype(dtype).type(alpha) * x, dtype)
    assert gy.dtype == dtype
    call(letter, "scal", handle, 7, alpha, gx.gpudata, 1)
    near(gx, x * np.dtype(dtype).type(alpha), dtype)
    call(letter, "swap", handle, 7, gx.gpudata, 1, gy.gpudata, 1)
    near(gy, x * np.dtype(dtype).type(alpha), dtype)
    call(letter, "copy", handle, 7, gy.gpudata, 1, gx.gpudata, 1)
    np.testing.assert_array_equal(host(gx), host(gy))
    c, s = 0.6, 0.8
    gx, gy = bc.asarray(x), bc.asarray(y)
    call(letter, "rot", handle, 7, gx.gpudata, 1, gy.gpudata, 1, c, s)
    near(gx, c * x + s * y, dtype)
    near(gy, c * y - s * x, dtype)


@pytest.mark.parametrize("steps", [(1, 1), (2, 3), (-1, 1), (2, -2)])
@pytest.mark.parametrize("letter", LETTERS)
def test_steps_and_addresses_inside_arrays(handle, letter, steps):
    dtype = LETTERS[letter]
    x, y = matrix(12, dtype), matrix(12, dtype, 1)
    gx, gy = bc.asarray(x), bc.asarray(y)
    item = np.dtype(dtype).itemsize
    call(letter, "axpy", handle, 3, 1.0, int(gx.gpudata) + item, steps[0], int(gy.gpudata) + 2 * item, steps[1])
    takes = [np.arange(3)[:: 1 if s > 0 else -1] * abs(s) for s in steps]
    want = y.copy()
    want[takes[1] + 2] += x[takes[0] + 1]
    near(gy, want, dtype)


@pytest.mark.parametrize("letter", LETTERS)
def test_results_that_are_numbers(handle, letter):
    dtype = LETTERS[letter]
    x, y = matrix(9, dtype), matrix(9, dtype, 1)
    gx, gy = bc.asarray(x), bc.asarray(y)
    args = (handle, 9, gx.gpudata, 1, gy.gpudata, 1)
    if letter in "SD":
        near(call(letter, "dot", *args), x @ y, dtype, 9)
    else:
        near(call(letter, "dotu", *args), x @ y, dtype, 9)
        near(call(letter, "dotc", *args), x.conj() @ y, dtype, 9)
    real = {"C": "Sc", "Z": "Dz"}.get(letter, letter)
    parts = abs(x.real) + abs(x.imag)
    near(call(real, "nrm2", handle, 9, gx.gpudata, 1), np.linalg.norm(x), dtype, 9)
    near(call(real, "asum", handle, 9, gx.gpudata, 1), parts.sum(), dtype, 9)
    assert call("I", f"{letter.lower()}amax", handle, 9, gx.gpudata, 1) == parts.argmax()
    assert call("I", f"{letter.lower()}amin", handle, 9, gx.gpudata, 1) == parts.argmin()


@pytest.mark.parametrize("trans", "ntc")
@pytest.mark.parametrize("letter", LETTERS)
def test_matrix_times_vector(handle, letter, trans):
    dtype = LETTERS[letter]
    a = matrix((5, 3), dtype)
    left = operated(a, trans)
    x, y = matrix(left.shape[1], dtype, 1), matrix(left.shape[0], dtype, 2)
    ga, gx, gy = fortran(a), bc.asarray(x), bc.asarray(y)
    call(letter, "gemv", handle, trans, 5, 3, 2.0, ga.gpudata, 5, gx.gpudata, 1, -1.0, gy.gpudata, 1)
    near(gy, 2 * (left @ x) - y, dtype, 5)
    gy = bc.full(left.shape[0], bc.nan, dtype)  # with beta 0 it is not read
    call(letter, "gemv", handle, trans, 5, 3, 1.0, ga.gpudata, 5, gx.gpudata, 1, 0.0, gy.gpudata, 1)
    near(gy, left @ x, dtype, 5)


@pytest.mark.parametrize("transb", "ntc")
@pytest.mark.parametrize("transa", "ntc")
@pytest.mark.parametrize("letter", LETTERS)
def test_matrix_times_matrix_inside_larger_ones(handle, letter, transa, transb):
    dtype = LETTERS[letter]
    m, n, k = 4, 5, 3
    a, b = matrix((m, k) if transa == "n" else (k, m), dtype), matrix((k, n) if transb == "n" else (n, k), dtype, 1)
    c = matrix((m + 2, n), dtype, 2)
    ga, gb, gc = fortran(a), fortran(b), fortran(c)
    args = (3.0, ga.gpudata, a.shape[0], gb.gpudata, b.shape[0], 0.5, gc.gpudata, m + 2)
    call(letter, "gemm", handle, transa, transb, m, n, k, *args)
    want = c.copy()
    want[:m] = 3 * (operated(a, transa) @ operated(b, transb)) + 0.5 * c[:m]
    near(host(gc).T, want, dtype, 8)


@pytest.mark.parametrize("letter", LETTERS)
def test_stacks_of_products(handle, letter):
    dtype = LETTERS[letter]
    a, b = matrix((6, 2, 3), dtype), matrix((6, 4, 3), dtype, 1)
    ga, gb, gc = bc.asarray(a.swapaxes(1, 2).copy()), bc.asarray(b.swapaxes(1, 2).copy()), bc.empty((6, 4, 2), dtype)
    args = ("n", "c", 2, 4, 3, 1.0, ga.gpudata, 2, 6, gb.gpudata, 4, 12, 0.0, gc.gpudata, 2, 8, 6)
    call(letter, "gemmStridedBatched", handle, *args)
    near(host(gc).swapaxes(1, 2), a @ dagger(b), dtype, 4)


@pytest.mark.parametrize("uplo", "lu")
@pytest.mark.parametrize("letter", LETTERS)
def test_symmetric_and_hermitian_matrices_by_one_triangle(handle, letter, uplo):
    dtype = LETTERS[letter]
    a, x, y, b = matrix((4, 4), dtype), matrix(4, dtype, 1), matrix(4, dtype, 2), matrix((4, 3), dtype, 3)
    for kind in ["sy"] + (["he"] if letter in "CZ" else []):
        half = triangle(a, uplo)
        full = half + (dagger(half) if kind == "he" else half.T)
        np.fill_diagonal(full, np.diagonal(a).real if kind == "he" else np.diagonal(a))
        gy = bc.asarray(y)
        call(letter, f"{kind}mv", handle, uplo, 4, 2.0, fortran(a).gpudata, 4, bc.asarray(x).gpudata, 1, 1.0, gy.gpudata, 1)
        near(gy, 2 * (full @ x) + y, dtype, 4)
        for side, right in (("l", b), ("r", b.T)):
            m, n = right.shape
            gc = bc.empty((n, m), dtype)
            args = (1.0, fortran(a).gpudata, 4, fortran(right).gpudata, m, 0.0, gc.gpudata, m)
            call(letter, f"{kind}mm", handle, side, uplo, m, n, *args)
            near(host(gc).T, full @ right if side == "l" else right @ full, dtype, 4)
        ga = fortran(a)
        call(letter, kind + "r", handle, uplo, 4, 2.0, bc.asarray(x).gpudata, 1, ga.gpudata, 4)
        outer = np.outer(x, x.conj() if kind == "he" else x)
        near(host(ga).T, np.where(triangle(np.ones((4, 4)), uplo) > 0, a + 2 * outer, a), dtype, 4)
        gc = fortran(a)
        call(letter, kind + "rk", handle, uplo, "n", 4, 3, 1.0, fortran(b).gpudata, 4, 1.0, gc.gpudata, 4)
        product = b @ (dagger(b) if kind == "he" else b.T)
        near(host(gc).T, np.where(triangle(np.ones((4, 4)), uplo) > 0, a + product, a), dtype, 4)


@pytest.mark.parametrize("diag", "nu")
@pytest.mark.parametrize("trans", "ntc")
@pytest.mark.parametrize("uplo", "lu")
@pytest.mark.parametrize("letter", LETTERS)
def test_triangular_matrices(handle, letter, uplo, trans, diag):
    dtype = LETTERS[letter]
    a = matrix((4, 4), dtype) + 4 * np.eye(4, dtype=dtype)
    x, b = matrix(4, dtype, 1), matrix((4, 3), dtype, 2)
    op = operated(triangle(a, uplo, diag), trans)
    scale = np.linalg.cond(op) * 4
    gx = bc.asarray(x)
    call(letter, "trmv", handle, uplo, trans, diag, 4, fortran(a).gpudata, 4, gx.gpudata, 1)
    near(gx, op @ x, dtype, 4)
    call(letter, "trsv", handle, uplo, trans, diag, 4, fortran(a).gpudata, 4, gx.gpudata, 1)
    near(gx, x, dtype, scale)
    for side, right in (("l", b), ("r", b.T.copy())):
        m, n = right.shape
        gb, gc = fortran(right), bc.empty((n, m), dtype)
        call(letter, "trmm", handle, side, uplo, trans, diag, m, n, 2.0, fortran(a).gpudata, 4, gb.gpudata, m, gc.gpudata, m)
        near(host(gc).T, 2 * (op @ right if side == "l" else right @ op), dtype, 4)
        call(letter, "trsm", handle, side, uplo, trans, diag, m, n, 0.5, fortran(a).gpudata, 4, gc.gpudata, m)
        near(host(gc).T, right, dtype, scale)


@pytest.mark.parametrize("letter", LETTERS)
def test_sums_outer_products_and_diagonals(handle, letter):
    dtype = LETTERS[letter]
    a, b, x, y = matrix((4, 3), dtype), matrix((3, 4), dtype, 1), matrix(4, dtype, 2), matrix(3, dtype, 3)
    gc = bc.empty((3, 4), dtype)
    call(letter, "geam", handle, "n", "c", 4, 3, 2.0, fortran(a).gpudata, 4, -1.0, fortran(b).gpudata, 3, gc.gpudata, 4)
    near(host(gc).T, 2 * a - dagger(b), dtype)
    for mode, v, want in (("l", x, x[:, None] * a), ("r", y, a * y)):
        call(letter, "dgmm", handle, mode, 4, 3, fortran(a).gpudata, 4, bc.asarray(v).gpudata, 1, gc.gpudata, 4)
        near(host(gc).T, want, dtype)
    for name, right in [("ger", y)] if letter in "SD" else [("geru", y), ("gerc", y.conj())]:
        ga = fortran(a)
        call(letter, name, handle, 4, 3, 2.0, bc.asarray(x).gpudata, 1, bc.asarray(y).gpudata, 1, ga.gpudata, 4)
        near(host(ga).T, a + 2 * np.outer(x, right), dtype)


def test_handles_and_arguments_are_checked(device):
    handle = cublas.cublasCreate()
    x = bc.ones(4)
    with pytest.raises(ValueError, match="cublasDgemv: expected lda >= 4"):
        cublas.cublasDgemv(handle, "n", 4, 1, 1.0, x.gpudata, 1, x.gpudata, 1, 0.0, x.gpudata, 1)
    with pytest.raises(ValueError, match="cublasDgemm: expected trans"):
        cublas.cublasDgemm(handle, "x", "n", 1, 1, 1, 1.0, x.gpudata, 1, x.gpudata, 1, 0.0, x.gpudata, 1)
    with pytest.raises(ValueError, match="increment"):
        cublas.cublasDscal(handle, 4, 2.0, x.gpudata, 0)
    with pytest.raises(TypeError, match="expected a handle"):
        cublas.cublasDscal(None, 4, 2.0, x.gpudata, 1)
    cublas.cublasDestroy(handle)
    with pytest.raises(ValueError, match="destroyed"):
        cublas.cublasDscal(handle, 4, 2.0, x.gpudata, 1)


def test_what_waits_is_seen_by_calls_by_address_and_the_other_way_round(handle):
    x = bc.arange(4.0) + 1
    before = x * 1
    cublas.cublasDscal(handle, 4, 10.0, int(x.gpudata), 1)
    x += 1
    assert before.tolist() == [1, 2, 3, 4] and x.tolist() == [11, 21, 31, 41]


# ---- Transforms --------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("shape", [(16,), (15,), (6, 8), (4, 5, 6)])
@pytest.mark.parametrize("pair", ["fF", "dD", "FF", "DD"])
def test_transforms_there_and_back(device, pair, shape, batch):
    x = matrix((batch, *shape), pair[0])
    axes = tuple(range(1, x.ndim))
    want = (np.fft.rfftn if pair[0] in "fd" else np.fft.fftn)(x.astype("D" if pair[0] in "FD" else "d"), axes=axes)
    given = x if batch > 1 else x[0]
    gx = gpuarray.to_gpu(given)
    spectrum, back = gpuarray.empty(want.shape, pair[1]), gpuarray.empty(given.shape, pair[0])
    forward, inverse = fft.Plan(shape, pair[0], pair[1], batch), fft.Plan(shape, pair[1], pair[0], batch)
    n = int(np.prod(shape))
    fft.fft(gx, spectrum, forward)
    near(spectrum, want, pair[1], np.log2(n) + 1)
    fft.fft(gx, spectrum, forward, scale=True)
    near(spectrum, want / n, pair[1], np.log2(n) + 1)
    fft.fft(gx, spectrum, forward, scale=False)
    fft.ifft(spectrum, back, inverse, True)
    near(back, given, pair[0], np.log2(n) + 1)
    fft.ifft(spectrum, back, inverse)
    near(back, given * n, pair[0], np.log2(n) + 1)


def test_advanced_layout_transforms_columns(device):
    x = matrix((8, 5), "D")
    gx, out = gpuarray.to_gpu(x), gpuarray.empty((8, 5), "complex128")
    plan = fft.Plan(8, np.complex128, np.complex128, 5, inembed=8, istride=5, idist=1, onembed=8, ostride=5, odist=1)
    fft.fft(gx, out, plan)
    near(out, np.fft.fft(x, axis=0), "D", 4)


def test_plans_and_data_are_checked(device):
    with pytest.raises(ValueError, match="type combination"):
        fft.Plan(4, np.float32, np.complex128)
    with pytest.raises(ValueError, match="one to three axes"):
        fft.Plan((2, 2, 2, 2), np.complex64, np.complex64)
    plan = fft.Plan(4, np.complex64, np.complex64)
    with pytest.raises(TypeError, match="complex64"):
        fft.fft(bc.ones(4), bc.ones(4, "complex64"), plan)
    with pytest.raises(ValueError, match="elements"):
        fft.fft(bc.ones(5, "complex64"), bc.ones(4, "complex64"), plan)
    with pytest.raises(ValueError, match="ends at element"):
        layout = fft.Plan(4, np.complex64, np.complex64, 2, inembed=4, istride=2, idist=8)
        fft.fft(bc.ones(8, "complex64"), bc.ones(8, "complex64"), layout)


# ---- linalg ------------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(device, dtype):
    a, b, c = matrix((4, 3), dtype), matrix((4, 5), dtype, 1), matrix((3, 5), dtype, 2)
    ga, gb = bc.asarray(a), bc.asarray(b)
    near(linalg.dot(ga, gb, transa="C"), dagger(a) @ b, dtype, 4)
    near(linalg.dot(ga, gb, "T", "N"), a.T @ b, dtype, 4)
    x, y = matrix(6, dtype, 3), matrix(6, dtype, 4)
    near(linalg.dot(bc.asarray(x), bc.asarray(y)), x @ y, dtype, 6)
    gc = bc.asarray(c)
    assert linalg.add_dot(ga, gb, gc, "C", alpha=2, beta=3) is gc
    near(gc, 2 * (dagger(a) @ b) + 3 * c, dtype, 8)
    near(linalg.mdot(gc, gb.T, ga), host(gc) @ b.T @ a, dtype, 500)
    d = matrix(4, dtype, 5)
    near(linalg.dot_diag(bc.asarray(d), ga), d[:, None] * a, dtype)
    near(linalg.multiply(ga, ga, overwrite=False), a * a, dtype)
    linalg.scale(2.0, ga)
    near(ga, 2 * a, dtype)
    stack = matrix((3, 2, 2), dtype, 6)
    gs, out = bc.asarray(stack), bc.zeros((3, 2, 2), dtype)
    near(linalg.add_dot_strided(gs, gs, out, "T"), stack.swapaxes(1, 2) @ stack, dtype, 4)


@pytest.mark.parametrize("dtype", DTYPES)
def test_forms(device, dtype):
    a = matrix((4, 4), dtype)
    ga = bc.asarray(a)
    for got, want in [
        (linalg.transpose(ga), a.T), (linalg.hermitian(ga), dagger(a)), (linalg.conj(ga), a.conj()), (linalg.diag(ga), np.diag(a)),
        (linalg.diag(ga[0]), np.diag(a[0])), (linalg.eye(4, dtype), np.eye(4)), (linalg.tril(ga), np.tril(a)),
        (linalg.triu(ga), np.triu(a)), (linalg.vander(ga[0], 3), np.vander(a[0], 3, increasing=True)),
    ]:  # fmt: skip
        np.testing.assert_allclose(host(got), want, 8 * eps(dtype))
    near(linalg.trace(ga), np.trace(a), dtype)
    near(linalg.norm(ga), np.linalg.norm(a), dtype, 4)
    near(linalg.add_diag(ga[0].copy(), ga.copy()), a + np.diag(a[0]), dtype)
    linalg.tril(ga, overwrite=True)
    np.testing.assert_array_equal(host(ga), np.tril(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_decompositions(device, dtype):
    a = matrix((5, 3), dtype)
    ga = bc.asarray(a)
    u, s, vh = linalg.svd(ga, "S", "S")
    assert u.shape == (5, 3) and vh.shape == (3, 3)
    assert_small((host(u) * host(s)) @ host(vh) - a, np.linalg.norm(a), 5, dtype)
    assert linalg.svd(ga)[0].shape == (5, 5)
    np.testing.assert_allclose(host(linalg.svd(ga, "N", "N")), np.linalg.svd(a, compute_uv=False), 100 * eps(dtype))
    assert [x.shape for x in linalg.svd(ga, "S", "N")] == [(5, 3), (3,)]
    q, r = linalg.qr(ga)
    assert_small(host(q) @ host(r) - a, np.linalg.norm(a), 5, dtype)
    square = matrix((4, 4), dtype) + 3 * np.eye(4, dtype=dtype)
    gs = bc.asarray(square)
    assert_small(host(linalg.inv(gs)) @ square - np.eye(4), np.linalg.cond(square), 4, dtype)
    near(linalg.det(gs), np.linalg.det(square), dtype, 16)
    assert_small(host(linalg.pinv(ga, 1e-6)) @ a - np.eye(3), np.linalg.cond(a), 5, dtype)
    vr, w = linalg.eig(gs)
    assert_small(square @ host(vr) - host(vr) * host(w), np.linalg.norm(square), 4, dtype)
    assert linalg.eig(gs, "N", "N").shape == (4,)
    symmetric = hermitian(5, dtype)
    _, w = linalg.eig(bc.asarray(symmetric))
    np.testing.assert_allclose(np.sort(host(w).real), np.linalg.eigvalsh(symmetric), 0, 200 * eps(dtype) * np.linalg.norm(symmetric))


@pytest.mark.parametrize("uplo", "LU")
@pytest.mark.parametrize("dtype", DTYPES)
def test_positive_definite_systems_in_place(device, dtype, uplo):
    a, b = definite(5, dtype), matrix((5, 2), dtype, 1)
    ga, gb = bc.asarray(a), bc.asarray(b)
    linalg.cho_solve(ga, gb, uplo)
    assert_small(a @ host(gb) - b, np.linalg.cond(a) * np.linalg.norm(b), 5, dtype)
    factor = host(ga)
    assert_small((factor @ dagger(factor) if uplo == "L" else dagger(factor) @ factor) - a, np.linalg.norm(a), 5, dtype)


@pytest.mark.parametrize("method", ["standard", "fast"])
def test_randomized_singular_values_of_a_matrix_of_low_rank(device, method):
    a = matrix((30, 4), "d") @ matrix((4, 20), "d", 1)
    u, s, vh = linalg.rsvd(bc.asarray(a), k=4, p=4, q=1, method=method)
    assert_small((host(u) * host(s)) @ host(vh) - a, np.linalg.norm(a) * 1e4, 30, "d")


def test_the_methods_of_the_handles_of_cusolver(device):
    handle = cusolver.cusolverDnCreate()
    for letter, dtype in LETTERS.items():
        real = np.dtype(dtype).char.lower()

        def solver(name, *args, letter=letter):
            return getattr(cusolver, f"cusolverDn{letter}{name}")(handle, *args)

        a, info = matrix((5, 3), dtype), bc.full(1, -1, "int32")
        s, u, vt = bc.empty(3, real), bc.empty((5, 5), dtype), bc.empty((3, 3), dtype)
        work = bc.empty(solver("gesvd_bufferSize", 5, 3), dtype)
        vectors = (u.gpudata, 5, vt.gpudata, 3)
        solver("gesvd", "A", "A", 5, 3, fortran(a).gpudata, 5, s.gpudata, *vectors, work.gpudata, work.size, 0, info.gpudata)
        assert_small((host(u).T[:, :3] * host(s)) @ host(vt).T - a, np.linalg.norm(a), 5, dtype)
        assert info.tolist() == [0]
        square, b = matrix((4, 4), dtype), matrix((4, 2), dtype, 1)
        ga, gb, pivots = fortran(square), fortran(b), bc.empty(4, "int32")
        solver("getrf", 4, 4, ga.gpudata, 4, work.gpudata, pivots.gpudata, info.gpudata)
        assert info.tolist() == [0] and 1 <= int(pivots.min()) and int(pivots.max()) <= 4
        solver("getrs", "n", 4, 2, ga.gpudata, 4, pivots.gpudata, gb.gpudata, 4, info.gpudata)
        assert_small(square @ host(gb).T - b, np.linalg.cond(square) * np.linalg.norm(b), 4, dtype)
        good, gb = definite(4, dtype), fortran(b)
        ga = fortran(good)
        solver("potrf", "l", 4, ga.gpudata, 4, work.gpudata, 1, info.gpudata)
        solver("potrs", "l", 4, 2, ga.gpudata, 4, gb.gpudata, 4, info.gpudata)
        assert_small(good @ host(gb).T - b, np.linalg.cond(good) * np.linalg.norm(b), 4, dtype)
        ga = fortran(-good)
        solver("potrf", "l", 4, ga.gpudata, 4, work.gpudata, 1, info.gpudata)
        assert info.tolist() == [1]
        even, w = hermitian(4, dtype), bc.empty(4, real)
        ga = fortran(even)
        solver("syevd" if letter in "SD" else "heevd", "v", "l", 4, ga.gpudata, 4, w.gpudata, work.gpudata, 1, info.gpudata)
        vectors = host(ga).T
        assert_small(even @ vectors - vectors * host(w), np.linalg.norm(even), 4, dtype)
    cusolver.cusolverDnDestroy(handle)


# ---- misc and integrate ------------------------------------------------------------------------------------------------------------------


def test_arithmetic_and_statistics(device):
    x, y = matrix((3, 4), "d"), matrix((3, 4), "d", 1)
    gx, gy = bc.asarray(x), bc.asarray(y)
    for name, want in [("add", x + y), ("subtract", x - y), ("multiply", x * y), ("divide", x / y)]:
        np.testing.assert_array_equal(host(getattr(misc, name)(gx, gy)), want)
        with pytest.raises(ValueError, match="same shape"):
            getattr(misc, name)(gx, gy[0])
    for name in ("sum", "mean", "max", "min", "argmax", "argmin", "var", "std"):
        for axis in (None, 0, 1):
            np.testing.assert_allclose(host(getattr(misc, name)(gx, axis=axis)), getattr(np, name)(x, axis=axis), 1e-14)
    for op, f in [("add", np.add), ("sub", np.subtract), ("mult", np.multiply), ("div", np.divide)]:
        matvec = getattr(misc, f"{op}_matvec")
        np.testing.assert_array_equal(host(matvec(gx, gy[0])), f(x, y[0]))
        np.testing.assert_array_equal(host(matvec(gx, gy[:, 0])), f(x, y[:, :1]))
        np.testing.assert_array_equal(host(matvec(gx, gy[:, 0], axis=0)), f(x, y[:, :1]))
        with pytest.raises(ValueError, match="do not fit"):
            matvec(gx, gy[0], axis=0)
    assert misc.zeros((2,), np.float32).tolist() == [0, 0] and misc.ones_like(gx).shape == (3, 4)
    np.testing.assert_array_equal(host(misc.cumsum(gx)), np.cumsum(x))
    np.testing.assert_array_equal(host(misc.diff(gx[0])), np.diff(x[0]))
    assert float(misc.maxabs(gx)) == abs(x).max()
    v = bc.zeros(4)
    misc.set_by_index(v, np.array([1, 3]), bc.array([5.0, 6.0]))
    assert v.tolist() == [0, 5, 0, 6] and misc.get_by_index(v, np.array([3, 1])).tolist() == [6, 5]
    misc.set_realloc(v, np.arange(4.0))
    assert v.tolist() == [0, 1, 2, 3]
    assert misc.iscomplextype(np.complex64) and not misc.isdoubletype(np.complex64)


@pytest.mark.parametrize("n", [2, 3, 6, 9])
def test_integrals(device, n):
    x = matrix(n, "d")
    near(integrate.trapz(bc.asarray(x), 0.5), np.trapezoid(x, dx=0.5), "d")
    grid = matrix((n, 4), "d")
    near(integrate.trapz2d(bc.asarray(grid), 0.5, 2.0), np.trapezoid(np.trapezoid(grid, dx=0.5, axis=1), dx=2.0), "d", 4)
    # Simpson's rule is exact for cubics over an odd number of samples, the trapezoidal rule for lines.
    t = np.arange(n) * 0.25
    values = t**3 - t if n % 2 else 2 * t + 1
    exact = t[-1] ** 4 / 4 - t[-1] ** 2 / 2 if n % 2 else t[-1] ** 2 + t[-1]
    for even in ("avg", "first", "last"):
        near(integrate.simps(bc.asarray(values), 0.25, even), exact, "d")


# ---- Programs ----------------------------------------------------------------------------------------------------------------------------


def test_the_program_of_axpy_gemv_and_gemm(device):
    a = np.float32(10)
    x, y = np.float32([1, 2, 3]), np.float32([-0.345, 8.15, -15.867])
    x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    cublas_context_h = cublas.cublasCreate()
    cublas.cublasSaxpy(cublas_context_h, x_gpu.size, a, x_gpu.gpudata, 1, y_gpu.gpudata, 1)
    assert np.allclose(a * x + y, y_gpu.get())
    w_gpu, v_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    dot_output = cublas.cublasSdot(cublas_context_h, w_gpu.size, w_gpu.gpudata, 1, v_gpu.gpudata, 1)
    assert np.allclose(dot_output, np.dot(x, y))
    m, n = 10, 100
    A = np.random.default_rng(0).random((m, n)).astype("float32")
    x, y = np.random.default_rng(1).random(n).astype("float32"), np.random.default_rng(2).random(m).astype("float32")
    A_columnwise = A.T.copy()
    A_gpu, x_gpu, y_gpu = gpuarray.to_gpu(A_columnwise), gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    cublas.cublasSgemv(
        cublas_context_h, cublas._CUBLAS_OP["N"], m, n, np.float32(1), A_gpu.gpudata, m, x_gpu.gpudata, 1, np.float32(0), y_gpu.gpudata, 1
    )
    assert np.allclose(y_gpu.get(), A @ x)
    cublas.cublasDestroy(cublas_context_h)


def test_the_programs_of_convolution(device):
    x, y = np.random.default_rng(0).random((2, 64)).astype(np.complex64)
    x_gpu, y_gpu = gpuarray.to_gpu(x), gpuarray.to_gpu(y)
    x_hat, y_hat = gpuarray.empty(64, np.complex64), gpuarray.empty(64, np.complex64)
    plan = fft.Plan(x_gpu.shape, np.complex64, np.complex64)
    inverse_plan = fft.Plan(x_gpu.shape, np.complex64, np.complex64)
    fft.fft(x_gpu, x_hat, plan)
    fft.fft(y_gpu, y_hat, plan)
    linalg.multiply(x_hat, y_hat, overwrite=True)
    conv_gpu = gpuarray.empty_like(y_hat)
    fft.ifft(y_hat, conv_gpu, inverse_plan, scale=True)
    want = [sum(x[j] * y[i - j] for j in range(64)) for i in range(64)]
    np.testing.assert_allclose(conv_gpu.get(), want, 1e-4)
    image, kernel = np.random.default_rng(1).random((2, 32, 32)).astype(np.float32)
    plan, back = fft.Plan((32, 32), np.float32, np.complex64), fft.Plan((32, 32), np.complex64, np.float32)
    spectra = [gpuarray.empty((32, 17), np.complex64) for _ in range(2)]
    for source, target in zip((image, kernel), spectra, strict=True):
        fft.fft(gpuarray.to_gpu(source), target, plan)
    out = gpuarray.empty((32, 32), np.float32)
    fft.ifft(misc.multiply(*spectra), out, back, scale=True)
    np.testing.assert_allclose(out.get(), np.fft.irfft2(np.fft.rfft2(image) * np.fft.rfft2(kernel)), 1e-4)


def test_the_program_of_principal_components(device):
    linalg.init()
    rng = np.random.default_rng(3)
    vectors = np.float32(rng.standard_normal((400, 5)) * [10, 5, 1, 0.1, 0.01]) @ np.float32(np.linalg.qr(rng.standard_normal((5, 5)))[0])
    u, s, vt = linalg.svd(gpuarray.to_gpu(vectors.T.copy()), lib="cusolver")
    np.testing.assert_allclose(s.get(), np.linalg.svd(vectors, compute_uv=False), 0, 1e-4 * 400)
    assert_small(u.get().T @ u.get() - np.eye(5), 1, 400, "f")
    scores = linalg.PCA(n_components=2).fit_transform(gpuarray.to_gpu(vectors)).get()
    centered = vectors - vectors.mean(0)
    want = np.linalg.svd(centered, compute_uv=False)[:2]
    np.testing.assert_allclose(np.linalg.norm(scores, axis=0), want, 1e-4)
    assert abs(scores[:, 0] @ scores[:, 1]) < 1e-4 * want[0] * want[1]
