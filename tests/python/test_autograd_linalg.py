"""Derivatives of linear algebra and of transforms, against differences."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc
from broadcloth import linalg
from broadcloth.autograd import grad, gradcheck, hessian, vmap
from broadcloth.scipy import fft as scipy_fft
from broadcloth.scipy import linalg as scipy_linalg

DTYPES = ["float64", "complex128"]


def matrix(*shape, dtype="float64", seed=1):
    random = np.random.default_rng(seed)
    x = random.standard_normal(shape)
    return x + 1j * random.standard_normal(shape) if dtype == "complex128" else x


def definite(n, dtype="float64"):
    x = matrix(n, n, dtype=dtype, seed=7)
    return x @ x.conj().T + n * np.eye(n)


def hermitian(f):
    """f of the Hermitian part: differences move the one triangle without the other."""
    return lambda a, *rest: f((a + a.conj().swapaxes(-1, -2)) / 2, *rest)


def triangular(lower):
    """f of one triangle, whose diagonal is far from zero."""
    return lambda f: lambda a, *rest: f((bc.tril if lower else bc.triu)(a) + 3 * bc.eye(a.shape[-1]), *rest)


def without_phase(v):
    """Eigenvectors and singular vectors turned so that their first elements are positive: what depends on the phase has no derivative."""
    first = v[..., :1, :]
    return v * (abs(first) / first)


# A name, the function and the shapes of its operands.
FUNCTIONS = {
    "solve": (linalg.solve, [(3, 3), (3, 2)]),
    "solve a vector": (linalg.solve, [(3, 3), (3,)]),
    "solve stacks": (linalg.solve, [(2, 3, 3), (3, 1)]),
    "inv": (linalg.inv, [(2, 3, 3)]),
    "det": (linalg.det, [(2, 3, 3)]),
    "logabsdet": (lambda a: linalg.slogdet(a)[1], [(3, 3)]),
    "sign": (lambda a: linalg.slogdet(a)[0] * 1, [(3, 3)]),
    "cholesky": (hermitian(lambda a: linalg.cholesky(a @ a + 2 * bc.eye(3))), [(3, 3)]),
    "cholesky upper": (hermitian(lambda a: linalg.cholesky(a @ a + 2 * bc.eye(3), upper=True)), [(3, 3)]),
    "cho_solve": (triangular(True)(lambda c, b: scipy_linalg.cho_solve((c, True), b)), [(3, 3), (3, 2)]),
    "cho_solve upper": (triangular(False)(lambda c, b: scipy_linalg.cho_solve((c, False), b)), [(3, 3), (3, 2)]),
    "triangular": (triangular(True)(lambda t, b: scipy_linalg.solve_triangular(t, b, lower=True)), [(3, 3), (3, 2)]),
    "triangular upper": (triangular(False)(scipy_linalg.solve_triangular), [(3, 3), (3, 2)]),
    "triangular transposed": (triangular(True)(lambda t, b: scipy_linalg.solve_triangular(t, b, trans=1, lower=True)), [(3, 3), (3, 2)]),
    "triangular adjoint": (triangular(True)(lambda t, b: scipy_linalg.solve_triangular(t, b, trans="C", lower=True)), [(3, 3), (3, 2)]),
    "triangular of ones": (
        triangular(True)(lambda t, b: scipy_linalg.solve_triangular(t, b, lower=True, unit_diagonal=True)),
        [(3, 3), (3, 2)],
    ),
    "eigh": (hermitian(lambda a: (lambda w, v: (w, without_phase(v)))(*linalg.eigh(a))), [(3, 3)]),
    "eigvalsh": (hermitian(linalg.eigvalsh), [(2, 3, 3)]),
    "eigvals": (lambda a: abs(linalg.eigvals(a)), [(3, 3)]),
    "eig": (lambda a: (lambda w, v: (abs(w), abs(v)))(*linalg.eig(a)), [(3, 3)]),
    "svd": (lambda a: linalg.svd(a, compute_uv=False), [(2, 3, 4)]),
    "svd of a tall one": (lambda a: (lambda u, s, vh: (s, abs(u), abs(vh), (u * s) @ vh))(*linalg.svd(a, full_matrices=False)), [(4, 3)]),
    "svd of a wide one": (lambda a: (lambda u, s, vh: (s, abs(u), abs(vh)))(*linalg.svd(a, full_matrices=False)), [(3, 4)]),
    "svd of a square": (lambda a: (lambda u, s, vh: (s, abs(u), abs(vh), u @ vh))(*linalg.svd(a)), [(3, 3)]),
    "qr": (linalg.qr, [(2, 4, 3)]),
    "qr of a wide one": (linalg.qr, [(3, 5)]),
    "r": (lambda a: linalg.qr(a, "r"), [(4, 3)]),
    "lstsq": (lambda a, b: (lambda x, r, k, s: (x, r, s))(*linalg.lstsq(a, b, rcond=None)), [(5, 3), (5, 2)]),
    "lstsq of a wide one": (lambda a, b: linalg.lstsq(a, b, rcond=None)[0], [(3, 5), (3, 2)]),
    "pinv": (linalg.pinv, [(4, 3)]),
    "nuclear norm": (lambda a: linalg.norm(a, "nuc"), [(3, 4)]),
    "spectral norm": (lambda a: linalg.norm(a, 2), [(3, 4)]),
    "matrix_power": (lambda a: linalg.matrix_power(a, -2), [(3, 3)]),
    "fft": (bc.fft.fft, [(2, 5)]),
    "fft longer": (lambda a: bc.fft.fft(a, 8, axis=0, norm="ortho"), [(5, 2)]),
    "fft shorter": (lambda a: bc.fft.fft(a, 3), [(2, 5)]),
    "ifft2": (bc.fft.ifft2, [(3, 4)]),
    "irfft": (lambda a: bc.fft.irfft(a, 6), [(2, 4)]),
    "irfft odd": (lambda a: bc.fft.irfft(a, 7), [(2, 4)]),
    "irfftn": (lambda a: bc.fft.irfftn(a, (3, 6), axes=(0, 1)), [(3, 4)]),
    "hfft": (lambda a: bc.fft.hfft(a, 6), [(2, 4)]),
}
REAL = {
    "rfft": (bc.fft.rfft, [(2, 6)]),
    "rfft odd": (lambda a: bc.fft.rfft(a, norm="forward"), [(2, 5)]),
    "rfftn": (bc.fft.rfftn, [(3, 5)]),
    "ihfft": (bc.fft.ihfft, [(2, 6)]),
    **{
        f"{name} {kind} {norm}": (
            lambda a, name=name, kind=kind, norm=norm: getattr(scipy_fft, name)(a, kind, norm=norm, axes=(0, 1)),
            [(4, 5)],
        )
        for name in ("dctn", "dstn", "idctn", "idstn")
        for kind in (1, 2, 3, 4)
        for norm in (None, "ortho")
    },
}


def check(function, shapes, dtype, device):
    operands = [bc.asarray(matrix(*shape, dtype=dtype, seed=k + 2), device=device) for k, shape in enumerate(shapes)]
    assert gradcheck(function, operands, atol=1e-4)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_differences(name, dtype, device):
    check(*FUNCTIONS[name], dtype, device)


@pytest.mark.parametrize("name", REAL)
def test_real_transforms_against_differences(name, device):
    check(*REAL[name], "float64", device)


@pytest.mark.parametrize("name", ["solve", "inv", "det", "cholesky", "eigvalsh", "svd", "fft"])
def test_second_derivatives_against_differences(name, device):
    function, shapes = FUNCTIONS[name]
    operands = [bc.asarray(matrix(*shape, seed=k + 2), device=device) for k, shape in enumerate(shapes)]
    first = grad(lambda a, *rest: (abs(function(a, *rest)) ** 2).sum())
    assert gradcheck(first, operands, atol=1e-3)


def test_equal_eigenvalues_leave_the_gradient_of_a_function_of_them_finite(device):
    a = bc.eye(3, device=device)
    np.testing.assert_allclose(bc.asnumpy(grad(lambda x: linalg.eigvalsh(x).sum())(a)), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(bc.asnumpy(grad(lambda x: linalg.eigh(x)[0].sum())(a)), np.eye(3), atol=1e-12)
    np.testing.assert_allclose(bc.asnumpy(grad(lambda x: linalg.norm(x, "nuc"))(a)), np.eye(3), atol=1e-12)


def test_what_is_not_determined_has_no_derivative(device):
    a = bc.asarray(matrix(4, 3), device=device)
    for f in (
        lambda x: linalg.svd(x)[0].sum(),
        lambda x: linalg.qr(x, "complete")[0].sum(),
        lambda x: scipy_linalg.lu_factor(x[:3])[0].sum(),
    ):
        with pytest.raises(NotImplementedError, match="no derivative"):
            grad(lambda x, f=f: f(x).sum())(a)


def test_log_likelihood_of_a_normal_distribution(device):
    """A program: the gradient of a Gaussian process's likelihood by its length scale."""
    x = np.linspace(0, 1, 12)
    squares = bc.asarray((x[:, None] - x) ** 2, device=device)
    y = bc.asarray(np.sin(6 * x), device=device)

    def loss(scale):
        k = bc.exp(-squares / (2 * scale * scale)) + 1e-2 * bc.eye(12, device=device)
        factor = linalg.cholesky(k)
        return 0.5 * y @ scipy_linalg.cho_solve((factor, True), y) + bc.log(bc.diagonal(factor)).sum()

    assert gradcheck(loss, [bc.asarray(0.3, device=device)])


SINGULAR = [
    [[1.0, 2], [2, 4]],
    [[0.0, 0], [0, 1]],
    [[0.0, 0], [0, 0]],
    [[0.0, 0, 0], [0, 1, 2], [0, 3, 4]],
    [[1.0, 2, 3], [2, 4, 6], [1, 0, 1]],
]


@pytest.mark.parametrize("a", SINGULAR)
def test_a_singular_matrix_has_its_adjugate_as_derivative_of_det(a, device):
    a = np.array(a)
    n = len(a)
    minors = [[np.linalg.det(np.delete(np.delete(a, i, 0), k, 1)) * (-1) ** (i + k) for k in range(n)] for i in range(n)]
    np.testing.assert_allclose(grad(bc.linalg.det)(bc.array(a, device=device)).get(), minors, rtol=1e-12, atol=1e-13)


MANY = {
    "solve": lambda a, b: linalg.solve(a, b),
    "solve_triangular": lambda a, b: scipy_linalg.solve_triangular(a, b, lower=True),
    "inv": lambda a, b: linalg.inv(a),
    "cholesky": lambda a, b: linalg.cholesky(a),
    "qr": lambda a, b: linalg.qr(a)[1] @ b,
    "eigvalsh": lambda a, b: linalg.eigvalsh(a),
    "svd": lambda a, b: linalg.svd(a)[1],
    "det": lambda a, b: linalg.det(a) * b,
    "fft": lambda a, b: bc.fft.fft(a, axis=0) @ b,
    "rfftn": lambda a, b: bc.fft.irfftn(bc.fft.rfftn(a) * 2, a.shape),
    "dct": lambda a, b: scipy_fft.dct(a),
}


@pytest.mark.parametrize("name", MANY)
def test_many_examples_at_once(name, device):
    a = bc.array(np.stack([definite(3), definite(3) + 5 * np.eye(3)]), device=device)
    b = bc.array(matrix(2, 3), device=device)
    each = [MANY[name](a[k], b[k]).get() for k in range(2)]
    np.testing.assert_allclose(vmap(MANY[name])(a, b).get(), each, rtol=1e-12, atol=1e-13)
    one = [MANY[name](a[k], b[0]).get() for k in range(2)]
    np.testing.assert_allclose(vmap(lambda a: MANY[name](a, b[0]))(a).get(), one, rtol=1e-12, atol=1e-13)


def test_a_matrix_of_many_that_fails_is_an_error(device):
    a = bc.array(np.stack([np.eye(2), np.zeros((2, 2))]), device=device)
    with pytest.raises(np.linalg.LinAlgError, match="Singular matrix"):
        vmap(linalg.inv)(a)
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        vmap(linalg.cholesky)(a)


FORMS = {**MANY, "cholesky": hermitian(MANY["cholesky"]), "expm": lambda a, b: scipy_linalg.expm(a / 10)}


@pytest.mark.parametrize("name", ["solve", "solve_triangular", "cholesky", "qr", "expm", "det"])
def test_hessians_against_differences(name, device):
    b = bc.array([1.0, 2.0], device=device)
    a = definite(2)

    def loss(x):
        return (FORMS[name](x, b) ** 3).sum()

    found = hessian(loss)(bc.array(a, device=device)).get()
    step = 1e-5
    for i in np.ndindex(2, 2):
        moved = np.zeros((2, 2))
        moved[i] = step
        high, low = (grad(loss)(bc.array(a + sign * moved, device=device)).get() for sign in (1, -1))
        np.testing.assert_allclose(found[(..., *i)], (high - low) / (2 * step), rtol=1e-6, atol=1e-7 * abs(found).max())


@pytest.mark.parametrize("dtype", ["f8", "c16"])
@pytest.mark.parametrize("pinv", [linalg.pinv, scipy_linalg.pinv])
def test_pseudo_inverses_of_equal_singular_values(pinv, dtype):
    # The singular vectors have no derivative there, the pseudo-inverse has.
    rng = np.random.default_rng(4)
    normal = lambda *shape: rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if dtype == "c16" else 0)
    q = np.linalg.qr(normal(3, 3))[0]
    for a in (q, q * [2.0, 2.0, 5.0] @ q.conj().T, np.vstack([q, q]), np.hstack([q, 2 * q])):
        weights = normal(*a.shape[::-1])
        x = bc.array(a).requires_grad_()
        (bc.array(weights.conj()) * pinv(x)).real.sum().backward()
        along = normal(*a.shape)
        up, down = (np.linalg.pinv(a + step * along) for step in (1e-6, -1e-6))
        want = (weights.conj() * (up - down)).real.sum() / 2e-6
        np.testing.assert_allclose((x.grad.get() * along.conj()).real.sum(), want, rtol=1e-6, atol=1e-6)


def test_exponentials_of_a_stack_that_are_squared_differently():
    rng = np.random.default_rng(5)
    a = rng.standard_normal((3, 4, 4)) * np.array([0.1, 3.0, 12.0])[:, None, None]
    weights, along = rng.standard_normal((2, 3, 4, 4))
    x = bc.array(a).requires_grad_()
    (scipy_linalg.expm(x) * bc.array(weights)).sum().backward()
    scale = np.array([1e-7, 1e-7, 1e-8])[:, None, None]
    up, down = (scipy_linalg.expm(bc.array(a + sign * scale * along)).get() for sign in (1, -1))
    want = (weights * (up - down) / (2 * scale)).sum((1, 2))
    np.testing.assert_allclose((x.grad.get() * along).sum((1, 2)), want, rtol=1e-5)


@pytest.mark.parametrize("side", ["right", "left"])
def test_real_parts_of_complex_decompositions_that_are_broadcast(side):
    # The singular values lie in a buffer of complex numbers, and are read more than once.
    rng = np.random.default_rng(6)
    a, along, weights = (rng.standard_normal((3, 3)) + 1j * rng.standard_normal((3, 3)) for _ in range(3))
    value = lambda x: sum((part * bc.array(weights.conj())).real.sum() for part in scipy_linalg.polar(x, side))
    x = bc.array(a).requires_grad_()
    value(x).backward()
    want = (value(bc.array(a + 1e-6 * along)).item() - value(bc.array(a - 1e-6 * along)).item()) / 2e-6
    np.testing.assert_allclose((x.grad.get() * along.conj()).real.sum(), want, rtol=1e-6)
