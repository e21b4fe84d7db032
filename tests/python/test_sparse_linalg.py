"""Solvers and eigenvalues of sparse and dense matrices and operators: residuals with bounds, SciPy's arguments, results and exceptions."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import broadcloth as bc
from broadcloth.scipy import sparse
from broadcloth.scipy.sparse import linalg
from matrices import DTYPES, dagger, eps
from support import host

pytest.importorskip("scipy.sparse.linalg")
import scipy.linalg
import scipy.sparse as scipy_sparse
import scipy.sparse.linalg as reference

pytestmark = pytest.mark.filterwarnings("ignore::broadcloth.exceptions.PerformanceWarning")
FORMS = ["dense", "operator", "csr", "csc"]


def laplacian(n, dtype="d", shift=0.0):
    """A positive definite matrix: the differences on a line, with complex phases where the dtype has them."""
    phase = np.exp(0.3j) if np.dtype(dtype).kind == "c" else 1.0
    a = (2.05 + shift) * np.eye(n) - phase * np.eye(n, k=1) - np.conj(phase) * np.eye(n, k=-1)
    return a.astype(dtype)


def general(n, dtype="d", seed=0):
    """Well conditioned and not symmetric."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n)) * (rng.random((n, n)) < 5 / n)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal((n, n)) * (rng.random((n, n)) < 5 / n)
    return (a + np.diag(6 + 4 * rng.random(n))).astype(dtype)


def formed(a, form):
    if form == "dense":
        return bc.asarray(a)
    if form == "operator":
        ga = bc.asarray(a)
        return linalg.LinearOperator(a.shape, lambda v: ga @ v, rmatvec=lambda v: ga.mT.conj() @ v, dtype=a.dtype)
    return getattr(sparse, f"{form}_array")(getattr(scipy_sparse, f"{form}_array")(a))


def residual(a, x, b):
    return np.linalg.norm(a.astype("D") @ host(x).astype("D") - b) / np.linalg.norm(b)


METHODS = {
    "cg": laplacian, "minres": laplacian, "bicg": general, "bicgstab": general, "cgs": general, "gmres": general, "lgmres": general,
    "qmr": general, "tfqmr": general, "gcrotmk": general,
}  # fmt: skip


def test_the_packages_are_loaded_when_they_are_used():
    code = "import broadcloth as bc; print(bc.scipy.sparse.linalg.cg.__name__, bc.scipy.sparse.csgraph.dijkstra.__name__)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.split() == ["cg", "dijkstra"]


# ---- Systems ----------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", METHODS)
def test_methods_reach_the_tolerance(device, name, dtype, form):
    a = METHODS[name](40, dtype)
    b = (np.arange(40) % 7 - 2.5).astype(dtype)
    rtol = 1e-4 if dtype in ("f", "F") or np.dtype(dtype).itemsize in (4,) else 1e-9
    if np.finfo(dtype).eps > 1e-10:
        rtol = 1e-4
    x, info = getattr(linalg, name)(formed(a, form), bc.asarray(b), rtol=rtol)
    assert info == 0 and x.shape == (40,) and x.dtype == np.dtype(dtype)
    # minres measures the residual beside norm(A) norm(x).
    scale = np.linalg.norm(a) * np.linalg.norm(host(x)) / np.linalg.norm(b) if name == "minres" else 1
    assert residual(a, x, b) <= 1.5 * rtol * scale + 400 * eps(dtype)


@pytest.mark.parametrize("name", METHODS)
def test_first_guesses_preconditioners_and_callbacks(device, name):
    a = METHODS[name](60)
    b = np.cos(np.arange(60.0))
    scales = np.geomspace(1, 1e4, 60)
    a = np.sqrt(scales)[:, None] * a * np.sqrt(scales)
    M = bc.diag(bc.asarray(1 / np.diag(a)))
    solve = getattr(linalg, name)
    seen = []
    options = {"callback_type": "x"} if name == "gmres" else {}
    prepared = {"M1": M} if name == "qmr" else {"M": M}
    x, info = solve(bc.asarray(a), b.reshape(-1, 1), rtol=1e-8, callback=lambda v: seen.append(host(v).copy()), **prepared, **options)
    bound = 1e-8 * (np.linalg.norm(a) * np.linalg.norm(host(x)) / np.linalg.norm(b) * 100 if name == "minres" else 1.5)
    assert info == 0 and residual(a, x, b) <= max(bound, 1e-11)
    assert seen and all(v.shape == (60,) for v in seen)
    # From the solution there is nothing to do.
    want = np.linalg.solve(a, b)
    x, info = solve(bc.asarray(a), bc.asarray(b), bc.asarray(want), rtol=1e-6)
    assert info == 0 and np.linalg.norm(host(x) - want) <= 1e-5 * np.linalg.norm(want) * (1 if name != "minres" else 100)
    # b = 0 has the solution 0, at once.
    x, info = solve(bc.asarray(a), bc.zeros(60))
    assert info == 0 and not host(x).any()


@pytest.mark.parametrize("name", METHODS)
def test_what_does_not_converge_says_so(device, name):
    a, b = METHODS[name](60), np.ones(60)
    options = {"gmres": {"restart": 2}, "lgmres": {"inner_m": 3}, "gcrotmk": {"m": 2}}.get(name, {})
    x, info = getattr(linalg, name)(bc.asarray(a), b, rtol=1e-14, maxiter=2, **options)
    assert info == 2 and x.shape == (60,)


@pytest.mark.parametrize("name", METHODS)
def test_wrong_arguments(device, name):
    solve = getattr(linalg, name)
    with pytest.raises(ValueError, match="expected square matrix"):
        solve(bc.ones((2, 3)), bc.ones(2))
    with pytest.raises(ValueError, match="incompatible"):
        solve(bc.eye(3), bc.ones(2))
    with pytest.raises(ValueError, match="incompatible"):
        solve(bc.eye(3), bc.ones(3), bc.ones(2))
    with pytest.raises(TypeError):
        solve(bc.eye(3), bc.ones(3), tol=1e-3)
    if name != "minres":
        with pytest.raises(ValueError, match="invalid `atol`"):
            solve(bc.eye(3), bc.ones(3), atol=-1)
    if name != "qmr":
        with pytest.raises(ValueError, match="different shapes"):
            solve(bc.eye(3), bc.ones(3), M=bc.eye(2))


def test_an_absolute_tolerance(device):
    a, b = laplacian(200), np.random.default_rng(0).standard_normal(200)
    x, info = linalg.cg(bc.asarray(a), b, rtol=0, atol=1e-3)
    assert info == 0 and np.linalg.norm(a @ host(x) - b) <= 1.1e-3
    assert np.linalg.norm(a @ host(x) - b) > 1e-9


def test_integers_are_solved_as_floating_point_numbers(device):
    x, info = linalg.cg(bc.array([[2, 1], [1, 3]]), [3, 4])
    assert info == 0 and x.dtype == np.float64
    np.testing.assert_allclose(host(x), [1, 1], 1e-4)


def test_gmres_callbacks(device):
    a, b = general(50), np.ones(50)
    norms: list[float] = []
    x, info = linalg.gmres(bc.asarray(a), b, rtol=1e-10, restart=10, callback=norms.append, callback_type="pr_norm")
    assert info == 0 and all(isinstance(v, float) for v in norms) and norms[-1] <= 1.1e-10
    with pytest.warns(DeprecationWarning, match="callback_type"):
        x, info = linalg.gmres(bc.asarray(a), b, rtol=1e-12, restart=5, maxiter=3, callback=norms.append)
    assert info == 3
    with pytest.raises(ValueError, match="callback_type"):
        linalg.gmres(bc.asarray(a), b, callback_type="other")


def test_gmres_without_restart_is_exact_after_n_steps(device):
    a = np.roll(np.eye(6), 1, 0)  # the worst case: nothing happens before the last step
    x, info = linalg.gmres(bc.asarray(a), np.eye(6)[0], restart=6, maxiter=1, rtol=1e-12)
    assert info == 0 and residual(a, x, np.eye(6)[0]) <= 1e-12


def test_minres_of_an_indefinite_matrix_and_of_a_shifted_one(device):
    a = laplacian(30) - 1.1 * np.eye(30)
    x, info = linalg.minres(bc.asarray(a), np.ones(30), rtol=1e-10)
    assert info == 0 and residual(a, x, np.ones(30)) <= 1e-7
    x, info = linalg.minres(bc.asarray(laplacian(30)), np.ones(30), shift=1.1, rtol=1e-10, check=True)
    assert info == 0 and residual(a, x, np.ones(30)) <= 1e-7
    with pytest.raises(ValueError, match="non-symmetric matrix"):
        linalg.minres(bc.asarray(general(30)), np.ones(30), check=True)


def test_few_waits_for_the_device(device):
    counts = []
    for n in (20, 60):
        seen = [0]
        real = linalg._krylov.read

        def counted(*values, seen=seen, real=real):
            seen[0] += 1
            return real(*values)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(linalg._krylov, "read", counted)
            steps = [0]
            count = lambda x, steps=steps: steps.__setitem__(0, steps[0] + 1)  # noqa: E731
            linalg.bicgstab(bc.asarray(general(n)), np.ones(n), rtol=1e-10, callback=count)
        counts.append(seen[0] / (steps[0] + 1))
    assert max(counts) <= 2.5


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["lsqr", "lsmr"])
def test_least_squares(device, name, dtype, form):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((30, 12)).astype(dtype)
    if a.dtype.kind == "c":
        a += (1j * rng.standard_normal((30, 12))).astype(dtype)
    b = rng.standard_normal(30).astype(dtype)
    tolerance = 1e-5 if np.finfo(dtype).eps > 1e-10 else 1e-13
    limit = {"iter_lim": 400} if name == "lsqr" else {"maxiter": 400}
    solve = getattr(linalg, name)
    for damp in (0.0, 2.0):
        x, stop, steps, *rest = solve(formed(a, form), bc.asarray(b), damp, atol=tolerance, btol=tolerance, **limit)
        whole = np.vstack([a, damp * np.eye(12)])
        want = np.linalg.lstsq(whole, np.concatenate([b, np.zeros(12)]), rcond=None)[0]
        np.testing.assert_allclose(host(x), want, 0, 100 * tolerance * np.linalg.cond(whole) * np.linalg.norm(want))
        assert stop in (2, 5) and 0 < steps <= 400
        length = np.linalg.norm(a @ want - b)
        np.testing.assert_allclose(rest[0], length if name == "lsqr" or not damp else np.hypot(length, damp * np.linalg.norm(want)), 1e-4)
    theirs = getattr(reference, name)(a.astype("D"), b.astype("D"), atol=1e-12, btol=1e-12)
    ours = solve(formed(a, form), bc.asarray(b), atol=tolerance, btol=tolerance, x0=bc.zeros(12), **limit)
    assert len(ours) == len(theirs)
    start = bc.ones(12, dtype)
    moved = solve(formed(a, form), bc.asarray(b), x0=start, atol=tolerance, btol=tolerance, **limit)[0]
    np.testing.assert_allclose(host(moved), host(ours[0]), 0, 1e-3 if tolerance > 1e-10 else 1e-9)
    assert solve(formed(a, form), bc.zeros(30, dtype))[1] == 0


def test_least_squares_of_a_consistent_system_and_variances(device):
    a = np.random.default_rng(1).standard_normal((9, 4))
    b = a @ np.arange(4.0)
    x, stop, *_, variances = linalg.lsqr(bc.asarray(a), b, calc_var=True, atol=1e-13, btol=1e-13)
    assert stop == 1
    np.testing.assert_allclose(host(x), np.arange(4.0), 1e-9, 1e-9)
    np.testing.assert_allclose(host(variances), np.diag(np.linalg.inv(a.T @ a)), 1e-6)
    assert linalg.lsmr(bc.asarray(a), b, atol=1e-13, btol=1e-13)[1] == 1
    assert linalg.lsqr(bc.asarray(a), b, iter_lim=1)[1] == 7 and linalg.lsmr(bc.asarray(a), b, maxiter=1)[1] == 7


# ---- Operators --------------------------------------------------------------------------------------------------------------------------


def test_arithmetic_of_operators(device):
    a, b = np.random.default_rng(0).standard_normal((2, 4, 4)) + 1j
    A, B = linalg.aslinearoperator(bc.asarray(a)), linalg.aslinearoperator(bc.asarray(b))
    x, X = np.arange(4) - 1j, np.arange(12.0).reshape(4, 3)
    for operator, matrix in [
        (A + B, a + b), (A - B, a - b), (A * B, a @ b), (A @ B, a @ b), (2j * A, 2j * a), (A * 3, 3 * a), (-A, -a), (A**3, a @ a @ a),
        (A / 2, a / 2), (A.H, dagger(a)), (A.T, a.T), ((A * B).H, dagger(a @ b)), ((A + 2j * B).T, (a + 2j * b).T), (A**0, np.eye(4)),
    ]:  # fmt: skip
        np.testing.assert_allclose(host(operator @ bc.asarray(x)), matrix @ x, 1e-12)
        np.testing.assert_allclose(host(operator.matmat(bc.asarray(X))), matrix @ X, 1e-12)
        np.testing.assert_allclose(host(operator.rmatvec(bc.asarray(x))), dagger(matrix) @ x, 1e-12)
        np.testing.assert_allclose(host(operator.rmatmat(bc.asarray(X))), dagger(matrix) @ X, 1e-12)
        np.testing.assert_allclose(host(operator.matvec(x.reshape(4, 1))), (matrix @ x).reshape(4, 1), 1e-12)
        np.testing.assert_allclose(host(bc.asarray(x) @ operator), x @ matrix, 1e-12)
    with pytest.raises(ValueError, match="Scalar operands"):
        A @ 2
    with pytest.raises(ValueError, match="shape mismatch"):
        A + linalg.aslinearoperator(bc.ones((3, 4)))


def test_operators_of_functions_and_subclasses(device):
    only = linalg.LinearOperator((3, 2), matvec=lambda v: bc.ones((3, 2)) @ v)
    assert only.dtype == np.float64 and only.matmat(bc.eye(2)).tolist() == [[1, 1]] * 3
    with pytest.raises(NotImplementedError, match="rmatvec"):
        only.rmatvec(bc.ones(3))
    with pytest.raises(ValueError, match="dimension mismatch"):
        only.matvec(bc.ones(3))
    with pytest.raises(ValueError, match="invalid shape"):
        linalg.LinearOperator((3,), matvec=lambda v: v)

    class Double(linalg.LinearOperator):
        def __init__(self):
            super().__init__(np.float64, (3, 3))

        def _matvec(self, x):
            return 2 * x

        def _adjoint(self):
            return self

    assert Double().matmat(bc.eye(3)).tolist() == (2 * np.eye(3)).tolist()
    assert (Double() @ bc.ones(3)).tolist() == Double().rmatvec(bc.ones(3)).tolist() == [2, 2, 2]
    with pytest.raises(TypeError, match="_matvec or _matmat"):
        type("Nothing", (linalg.LinearOperator,), {})(np.float64, (2, 2))
    with pytest.raises(TypeError, match="not understood"):
        linalg.aslinearoperator(object())


# ---- Eigenvalues ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_symmetric_eigenvalues(device, which, dtype, form):
    rng = np.random.default_rng(0)
    q = np.linalg.qr(rng.standard_normal((60, 60)) + (1j * rng.standard_normal((60, 60)) if np.dtype(dtype).kind == "c" else 0))[0]
    spectrum = np.concatenate([[-40, -30, -22, -16.0], np.linspace(-5, 5.13, 51), [12, 20, 27, 35, 50.0]])
    a = ((q * spectrum) @ dagger(q)).astype(dtype)
    a = (a + dagger(a)) / 2
    if which == "SM":
        a = a @ a
        spectrum = spectrum**2
    k = 4
    w, v = linalg.eigsh(formed(a, form), k, which=which, maxiter=4000, **({"ncv": 40} if which == "SM" else {}))
    order = {
        "LM": np.argsort(-abs(spectrum))[:4], "SM": np.argsort(abs(spectrum))[:4], "LA": np.argsort(-spectrum)[:4],
        "SA": np.argsort(spectrum)[:4], "BE": np.r_[np.argsort(spectrum)[:2], np.argsort(spectrum)[-2:]],
    }[which]  # fmt: skip
    scale = abs(spectrum).max()
    np.testing.assert_allclose(host(w), np.sort(spectrum[order]), 0, 200 * eps(dtype) * scale)
    assert w.dtype == np.dtype(dtype).char.lower() and v.shape == (60, 4)
    assert np.linalg.norm(a @ host(v) - host(v) * host(w)) <= 2000 * eps(dtype) * scale
    np.testing.assert_allclose(dagger(host(v)) @ host(v), np.eye(4), 0, 1000 * eps(dtype))


@pytest.mark.parametrize("mode", ["buckling", "cayley"])
@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_eigsh_in_its_other_modes(mode, which):
    rng = np.random.default_rng(5)
    n, sigma, k = 30, 0.4, 4
    a = rng.standard_normal((n, n))
    a, m = a @ a.T + n * np.eye(n), np.diag(rng.uniform(0.5, 2, n))
    if mode == "buckling":
        m[::3] *= -1  # needs not be definite there
    w, v = linalg.eigsh(bc.asarray(a), k, bc.asarray(m), sigma, which, v0=bc.ones(n), mode=mode)
    expected = reference.eigsh(a, k, m, sigma, which, v0=np.ones(n), mode=mode, return_eigenvectors=False)
    w, v = host(w), host(v)
    np.testing.assert_allclose(w, np.sort(expected), rtol=1e-8)
    np.testing.assert_allclose(a @ v, m @ v * w, atol=1e-7 * abs(w).max())
    with pytest.raises(ValueError, match="unrecognized mode"):
        linalg.eigsh(bc.asarray(a), k, sigma=1.0, mode="other")


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("sigma", [-30.3, 40.0])
def test_smallest_values_of_cayleys_mode_lie_inside_of_the_spectrum(device, form, sigma):
    # (w + sigma) / (w - sigma) is smallest for the w near -sigma.
    rng = np.random.default_rng(2)
    a, m = np.diag(np.arange(1.0, 201)) + 0.1 * np.eye(200, k=1) + 0.1 * np.eye(200, k=-1), np.diag(rng.uniform(1, 3, 200))
    for second in (None, m):
        values = scipy.linalg.eigh(a, second, eigvals_only=True)
        wanted = np.sort(values[np.argsort(abs((values + sigma) / (values - sigma)))[:5]])
        w, v = linalg.eigsh(formed(a, form), 5, None if second is None else formed(second, form), sigma, "SM", mode="cayley")
        np.testing.assert_allclose(host(w), wanted, rtol=1e-9)
        np.testing.assert_allclose(a @ host(v), (np.eye(200) if second is None else m) @ host(v) * host(w), atol=1e-6)


def test_eigenvalues_of_nearly_one_size_converge(device):
    # Eigenvalues fill a disk. Restarts that all keep many directions took 1,500 restarts for it, ten times as long.
    rng = np.random.default_rng(3)
    a = scipy_sparse.random_array((1000, 1000), density=0.005, rng=3, format="csr") + scipy_sparse.eye_array(1000, format="csr")
    w = linalg.eigs(sparse.csr_array(a), 6, v0=bc.asarray(rng.random(1000)), maxiter=700, return_eigenvectors=False)
    expected = reference.eigs(a, 6, v0=np.ones(1000), return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(abs(host(w))), np.sort(abs(expected)), rtol=1e-9)


def test_cayleys_mode_where_minus_sigma_is_an_eigenvalue():
    a = np.diag(np.r_[-2.0, np.linspace(-1, 3, 11)])
    w = linalg.eigsh(bc.asarray(a), 1, sigma=2.0, which="SM", mode="cayley", return_eigenvectors=False)
    np.testing.assert_allclose(host(w), [-2.0], rtol=1e-9)


def test_multiple_eigenvalues_and_invariant_spaces(device):
    a = np.diag(np.r_[[9.0] * 3, [1.0] * 27])
    w, v = linalg.eigsh(bc.asarray(a), 4)
    np.testing.assert_allclose(host(w), [1, 9, 9, 9], 1e-10)
    assert np.linalg.norm(a @ host(v) - host(v) * host(w)) <= 1e-10
    w = linalg.eigsh(bc.asarray(np.eye(12)), 3, return_eigenvectors=False)
    np.testing.assert_allclose(host(w), [1, 1, 1], 1e-12)


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_eigenvalues_near_a_number_and_of_two_matrices(device, form):
    a = laplacian(50)
    m = np.diag(1 + np.arange(50) / 50.0) + 0.1 * (np.eye(50, k=1) + np.eye(50, k=-1))
    w, v = linalg.eigsh(formed(a, form), 3, sigma=1.0)
    values = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(host(w), np.sort(values[np.argsort(abs(values - 1.0))[:3]]), 1e-10)
    import scipy.linalg

    both = scipy.linalg.eigvalsh(a, m)
    w, v = linalg.eigsh(formed(a, form), 3, formed(m, form), which="LA", maxiter=2000)
    np.testing.assert_allclose(host(w), both[-3:], 1e-8)
    assert np.linalg.norm(a @ host(v) - m @ host(v) * host(w)) <= 1e-6
    np.testing.assert_allclose(host(v).T @ m @ host(v), np.eye(3), 0, 1e-8)
    w, v = linalg.eigsh(formed(a, form), 3, formed(m, form), sigma=0.5)
    np.testing.assert_allclose(host(w), np.sort(both[np.argsort(abs(both - 0.5))[:3]]), 1e-8)
    w, _ = linalg.eigs(formed(a, form), 3, formed(m, form), sigma=0.5)
    np.testing.assert_allclose(np.sort(host(w).real), np.sort(both[np.argsort(abs(both - 0.5))[:3]]), 1e-8)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("which", ["LM", "LR", "SR", "LI"])
def test_general_eigenvalues(device, which, dtype, form):
    rng = np.random.default_rng(0)
    a = rng.standard_normal((50, 50)) + (1j * rng.standard_normal((50, 50)) if np.dtype(dtype).kind == "c" else 0)
    a = a.astype(dtype)
    w, v = linalg.eigs(formed(a, form), 4, which=which, ncv=25, maxiter=3000)
    everything = np.linalg.eigvals(a.astype("D"))
    keys = {"LM": lambda x: -abs(x), "LR": lambda x: -x.real, "SR": lambda x: x.real, "LI": lambda x: -abs(x.imag)}
    if np.dtype(dtype).kind == "c":  # whose eigenvalues come in no pairs: the largest imaginary part, not its magnitude, as in SciPy
        keys["LI"] = lambda x: -x.imag
    best = np.sort(keys[which](everything))[:4]
    found = host(w)
    got = np.sort(keys[which](found))
    np.testing.assert_allclose(got, best, 1e4 * eps(dtype))
    assert np.linalg.norm(a @ host(v) - host(v) * found) <= 1e4 * eps(dtype) * np.linalg.norm(a)


def test_eigenvalues_that_do_not_converge(device):
    with pytest.raises(linalg.ArpackNoConvergence, match="No convergence") as caught:
        linalg.eigsh(bc.asarray(laplacian(400)), 5, which="SM", maxiter=1)
    assert len(caught.value.eigenvalues) == caught.value.eigenvectors.shape[1] < 5
    for arguments, words in [({"k": 0}, "0 < k"), ({"k": -1}, "0 < k"), ({"which": "XX"}, "which must be"), ({"ncv": 3}, "ncv must be")]:
        with pytest.raises(ValueError, match=words):
            linalg.eigsh(bc.asarray(laplacian(50)), **{"k": 6, **arguments})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(40, 25), (25, 40), (4, 4)])
def test_singular_values(device, shape, dtype, form):
    rng = np.random.default_rng(0)
    a = (rng.standard_normal(shape) + (1j * rng.standard_normal(shape) if np.dtype(dtype).kind == "c" else 0)).astype(dtype)
    k = 3
    u, s, vh = linalg.svds(formed(a, form), k)
    want = np.linalg.svd(a, compute_uv=False)
    np.testing.assert_allclose(host(s), want[:k][::-1], 500 * eps(dtype))
    assert u.shape == (shape[0], k) and vh.shape == (k, shape[1])
    assert np.linalg.norm(a @ dagger(host(vh)) - host(u) * host(s)) <= 2000 * eps(dtype) * want[0]
    np.testing.assert_allclose(dagger(host(u)) @ host(u), np.eye(k), 0, 500 * eps(dtype))
    small = linalg.svds(formed(a, form), 2, which="SM", return_singular_vectors=False, maxiter=2000)
    np.testing.assert_allclose(host(small), want[-2:][::-1], 0, 100 * np.sqrt(eps(dtype)) * want[0] if shape[0] > 4 else 1e-3)
    u, s, vh = linalg.svds(formed(a, form), k, return_singular_vectors="u")
    assert vh is None and u is not None


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
def test_lobpcg(device, dtype, largest):
    a = laplacian(80, dtype)
    a = a + np.diag(np.arange(80) / 8).astype(dtype)
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 3)).astype(dtype)
    tolerance = 1e-8 if np.finfo(dtype).eps < 1e-10 else 1e-3
    w, v, history, norms = linalg.lobpcg(
        bc.asarray(a), bc.asarray(x), tol=tolerance, maxiter=300, largest=largest, retLambdaHistory=True, retResidualNormsHistory=True
    )
    everything = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(host(w), everything[::-1][:3] if largest else everything[:3], 0, 10 * tolerance)
    assert np.linalg.norm(a @ host(v) - host(v) * host(w)) <= 3 * tolerance + 1e3 * eps(dtype)
    assert len(history) == len(norms) and norms[0].shape == (3,)


def test_lobpcg_with_a_preconditioner_constraints_and_a_second_matrix(device):
    import scipy.linalg

    a, b = laplacian(60) + np.diag(np.arange(60.0)), np.diag(1 + np.arange(60) / 60.0)
    x = np.random.default_rng(0).standard_normal((60, 2))
    values, vectors = scipy.linalg.eigh(a, b)
    inverse = bc.asarray(np.linalg.inv(a))
    w, v = linalg.lobpcg(bc.asarray(a), bc.asarray(x), bc.asarray(b), M=lambda r: inverse @ r, tol=1e-8, maxiter=100, largest=False)
    np.testing.assert_allclose(host(w), values[:2], 1e-9)
    w, v = linalg.lobpcg(
        bc.asarray(a), bc.asarray(x), bc.asarray(b), inverse, bc.asarray(vectors[:, :2]), tol=1e-8, maxiter=100, largest=False
    )
    np.testing.assert_allclose(host(w), values[2:4], 1e-9)
    with pytest.warns(UserWarning, match="Exited at iteration 1 "):
        linalg.lobpcg(bc.asarray(a), bc.asarray(x), tol=1e-12, maxiter=1)


# ---- Factorizations and functions -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dense", "csr", "csc"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_direct_solvers(device, dtype, form):
    a, b = general(30, dtype), np.arange(60).reshape(30, 2).astype(dtype)
    A = formed(a, form)
    bound = 1e3 * eps(dtype) * np.linalg.norm(b)
    for right in (b, b[:, 0]):
        x = linalg.spsolve(A, bc.asarray(right))
        assert x.shape == right.shape and x.dtype == np.dtype(dtype)
        assert np.linalg.norm(a @ host(x) - right) <= bound
    assert linalg.spsolve(A, bc.asarray(b[:, :1])).shape == (30,)
    lu = linalg.splu(A)
    for trans, op in [("N", a), ("T", a.T), ("H", dagger(a))]:
        assert np.linalg.norm(op @ host(lu.solve(bc.asarray(b), trans)) - b) <= bound
    assert np.linalg.norm(a @ host(linalg.factorized(A)(bc.asarray(b))) - b) <= bound
    assert np.linalg.norm(a @ host(linalg.spilu(A, drop_tol=0).solve(bc.asarray(b))) - b) <= bound
    assert sorted(host(lu.perm_c).tolist()) == list(range(30)) and lu.shape == (30, 30)
    for lower in (True, False):
        triangle = np.tril(a) if lower else np.triu(a)
        T = formed(triangle, form)
        assert np.linalg.norm(triangle @ host(linalg.spsolve_triangular(T, bc.asarray(b), lower)) - b) <= bound
    with pytest.raises(ValueError, match="incompatible size"):
        lu.solve(bc.ones(3))


def test_singular_sparse_systems(device):
    a = bc.array([[1.0, 1.0], [1.0, 1.0]])
    with pytest.warns(linalg.MatrixRankWarning):
        assert np.isnan(host(linalg.spsolve(a, bc.ones(2)))).all()
    with pytest.raises(RuntimeError, match="singular"):
        linalg.splu(a)
    with pytest.raises(ValueError, match="square"):
        linalg.splu(bc.ones((2, 3)))
    with pytest.raises(np.linalg.LinAlgError):
        linalg.spsolve_triangular(bc.array([[0.0, 0.0], [1.0, 1.0]]), bc.ones(2))


def test_the_factors_are_those_of_the_permuted_matrix(device):
    a = general(12)
    lu = linalg.splu(formed(a, "csc"))
    rows, columns = np.zeros((12, 12)), np.zeros((12, 12))
    rows[host(lu.perm_r), np.arange(12)] = 1
    columns[np.arange(12), host(lu.perm_c)] = 1
    np.testing.assert_allclose(host((lu.L @ lu.U).toarray()), rows @ a @ columns, 0, 1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_the_action_of_the_exponential(device, dtype, form):
    import scipy.linalg

    a = (general(20, dtype) - 8 * np.eye(20)).astype(dtype)
    b = np.arange(40).reshape(20, 2).astype(dtype) - 3
    for right in (b, b[:, 0]):
        want = scipy.linalg.expm(a.astype("D")) @ right
        got = host(linalg.expm_multiply(formed(a, form), bc.asarray(right)))
        assert np.linalg.norm(got - want) <= 1e3 * eps(dtype) * np.linalg.norm(want) * np.exp(np.linalg.norm(a, 1) / 4)
        assert got.dtype == np.dtype(dtype)
    times = host(linalg.expm_multiply(formed(a, form), bc.asarray(b), 0.5, 1.5, 3, endpoint=True))
    assert times.shape == (3, 20, 2)
    for row, t in zip(times, (0.5, 1.0, 1.5), strict=True):
        want = scipy.linalg.expm(t * a.astype("D")) @ b
        assert np.linalg.norm(row - want) <= 1e3 * eps(dtype) * np.linalg.norm(want) * np.exp(np.linalg.norm(a, 1) / 4)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_estimates_of_the_1_norm(device, dtype, form):
    a = general(40, dtype)
    estimate = float(linalg.onenormest(formed(a, form)))
    assert 0.3 * np.linalg.norm(a, 1) <= estimate <= np.linalg.norm(a, 1) * (1 + 40 * eps(dtype))
    estimate, v, w = linalg.onenormest(formed(a, form), compute_v=True, compute_w=True)
    np.testing.assert_allclose(host(w), a @ host(v), 0, 100 * eps(dtype) * np.linalg.norm(a))
    np.testing.assert_allclose(np.linalg.norm(host(w), 1), estimate * np.linalg.norm(host(v), 1), 1e-4)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo"])
def test_norms_of_sparse_matrices(device, kind):
    a = general(12)
    A, B = formed(a, kind), scipy_sparse.csr_array(a)
    for order in (None, "fro", 1, -1, np.inf, -np.inf, 2):
        np.testing.assert_allclose(float(linalg.norm(A, order)), float(reference.norm(B, order)), 1e-9)
    for axis in (0, 1, -1):
        for order in (None, 0, 1, 2, np.inf, -np.inf, 3):
            np.testing.assert_allclose(host(linalg.norm(A, order, axis)), reference.norm(B, order, axis), 1e-12)
    with pytest.raises(ValueError, match="Invalid norm order"):
        linalg.norm(A, "nuc")
    with pytest.raises(TypeError, match="not sparse"):
        linalg.norm(bc.eye(3))


def test_norms_of_narrow_integers_do_not_wrap(device):
    assert linalg.norm(sparse.csr_array(bc.asarray(np.array([[300, 400]], "i2")))) == 500


def test_inverses_powers_and_bands(device):
    a = general(10)
    for form in ("csc", "csr"):
        A = formed(a, form)
        np.testing.assert_allclose(host(linalg.inv(A).toarray()), np.linalg.inv(a), 0, 1e-12)
        np.testing.assert_allclose(host(linalg.matrix_power(A, 3).toarray()), a @ a @ a, 1e-12)
        import scipy.linalg

        np.testing.assert_allclose(host(linalg.expm(A * 0.1).toarray()), scipy.linalg.expm(a * 0.1), 1e-11)
        assert linalg.spbandwidth(formed(np.triu(a), form))[0] == 0
        assert linalg.is_sptriangular(formed(np.tril(a), form)) == (True, False)
    assert linalg.matrix_power(bc.asarray(a), 0).tolist() == np.eye(10).tolist()


def test_preconditioners_of_incomplete_factors(device):
    a = laplacian(200)
    lu = linalg.spilu(formed(a, "csc"))
    M = linalg.LinearOperator(a.shape, lu.solve, dtype="d")
    steps = [0, 0]

    def count(which):
        return lambda x: steps.__setitem__(which, steps[which] + 1)

    linalg.cg(formed(a, "csr"), np.ones(200), rtol=1e-10, callback=count(0))
    x, info = linalg.cg(formed(a, "csr"), np.ones(200), M=M, rtol=1e-10, callback=count(1))
    assert info == 0 and steps[1] < steps[0] / 4 and residual(a, x, np.ones(200)) <= 2e-10


@pytest.mark.parametrize("conditions", ["neumann", "dirichlet", "periodic"])
@pytest.mark.parametrize("grid", [(1,), (2,), (6,), (2, 3), (1, 4), (3, 2, 4)])
def test_laplacians_of_grids(device, grid, conditions):
    mine = linalg.LaplacianNd(grid, boundary_conditions=conditions)
    n = int(np.prod(grid))
    whole = host(mine.toarray())
    if min(grid) > 2:  # SciPy's two forms of the matrix differ for shorter periodic axes
        np.testing.assert_array_equal(whole, reference.LaplacianNd(grid, boundary_conditions=conditions).toarray())
    np.testing.assert_array_equal(whole, whole.T)
    assert mine.tosparse().format == "dia" and mine.tosparse().dtype == mine.dtype == np.int8
    for dtype in ("i4", "f4", "F"):
        x = np.arange(2 * n).reshape(n, 2).astype(dtype)
        for of in (x, x[:, 0], x[:, :1]):
            product = mine @ bc.asarray(of)
            assert product.dtype == of.dtype and product.shape == of.shape
            np.testing.assert_array_equal(host(product), whole @ of)
    values, vectors = host(mine.eigenvalues()), host(mine.eigenvectors())
    np.testing.assert_allclose(values, np.linalg.eigvalsh(whole.astype(float)), atol=1e-12)
    np.testing.assert_allclose(whole @ vectors, vectors * values, atol=1e-12)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(n), atol=1e-12)
    np.testing.assert_array_equal(host(mine.eigenvalues(1)), values[-1:])
    with pytest.raises(ValueError, match="boundary_conditions"):
        linalg.LaplacianNd(grid, boundary_conditions="robin")


@pytest.mark.parametrize("truncate", ["oldest", "smallest"])
def test_directions_of_one_system_serve_the_next(device, truncate):
    a, b = general(80), np.sin(np.arange(80.0))
    kept, counts = [], []
    for _ in range(2):
        calls = []
        A = linalg.LinearOperator(a.shape, lambda v: (calls.append(1), bc.asarray(a) @ v)[1], dtype=a.dtype)
        x, info = linalg.gcrotmk(A, bc.asarray(b), rtol=1e-10, m=3, k=6, CU=kept, truncate=truncate)
        assert info == 0 and residual(a, x, b) <= 1e-9
        counts.append(len(calls))
    assert counts[1] < counts[0] and 0 < len(kept) <= 6
    for c, u in kept:
        np.testing.assert_allclose(a @ host(u), host(c), atol=1e-5)  # rounding errors grow with the inverses of the corrections' lengths
    linalg.gcrotmk(bc.asarray(a), bc.asarray(b), CU=kept, discard_C=True)
    assert all(c is None for c, _ in kept)
    with pytest.raises(ValueError, match="truncate"):
        linalg.gcrotmk(bc.asarray(a), bc.asarray(b), truncate="newest")


@pytest.mark.parametrize("which", ["LI", "SI"])
def test_imaginary_parts_of_complex_matrices_have_signs(device, which):
    values = np.exp(2j * np.pi * np.arange(40) / 40) * np.linspace(1, 3, 40)
    unitary = np.linalg.qr(np.random.default_rng(0).random((40, 40)) + 1j * np.eye(40))[0]
    a = unitary @ np.diag(values) @ unitary.conj().T
    got = host(linalg.eigs(bc.asarray(a), 3, which=which, return_eigenvectors=False))
    want = values[np.argsort(-values.imag if which == "LI" else values.imag)[:3]]
    np.testing.assert_allclose(sorted(got, key=lambda w: w.imag), sorted(want, key=lambda w: w.imag), rtol=1e-9)
    theirs = reference.eigs(a, 3, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(sorted(got.imag), sorted(theirs.imag), rtol=1e-9)


def test_lobpcg_of_a_small_problem_is_solved_as_a_dense_one(xp):
    a, b = np.diag(np.arange(1.0, 9.0)), np.diag(np.arange(8.0, 0.0, -1.0))
    for largest in (True, False):
        with pytest.warns(UserWarning, match="The problem size 8"):
            w, v = linalg.lobpcg(xp.array(a), xp.array(np.random.default_rng(0).normal(size=(8, 2))), xp.array(b), largest=largest)
        want = np.sort(np.arange(1.0, 9.0) / np.arange(8.0, 0.0, -1.0))
        np.testing.assert_allclose(host(w), want[::-1][:2] if largest else want[:2], 1e-13)
        np.testing.assert_allclose(a @ host(v), b @ host(v) * host(w), atol=1e-12)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 1.5}, "`k` must be an integer"), ({"ncv": 2}, "`ncv` must be an integer"), ({"tol": -1}, "`tol` must be a non-negative"),
        ({"which": "LA"}, "`which` must be in"), ({"v0": np.ones(3)}, "`v0` must have shape"), ({"maxiter": -1}, "`maxiter` must be"),
        ({"v0": np.ones(7, int)}, "`v0` must be of floating"), ({"return_singular_vectors": "x"}, "`return_singular_vectors` must be in"),
    ],
)  # fmt: skip
def test_parameters_of_svds_are_checked(xp, parameters, message):
    with pytest.raises(ValueError, match=message):
        linalg.svds(xp.array(np.random.default_rng(0).normal(size=(9, 7))), **({"k": 2} | parameters))


def test_inverses_of_operators_in_single_precision_have_its_digits(xp):
    rng = np.random.default_rng(0)
    a = rng.normal(size=(12, 12)).astype("f4")
    m = (a @ a.T + 12 * np.eye(12)).astype("f4")
    s = (a + a.T).astype("f4")
    w = linalg.eigsh(linalg.aslinearoperator(xp.array(s)), 3, linalg.aslinearoperator(xp.array(m)), return_eigenvectors=False)
    want = np.linalg.eigvals(np.linalg.solve(m.astype("f8"), s.astype("f8"))).real
    np.testing.assert_allclose(np.sort(abs(host(w))), np.sort(abs(want))[-3:], 1e-3)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("form", FORMS)
def test_functions_of_matrices_times_vectors(xp, dtype, form):
    a, b = general(60, dtype) / 4, np.random.default_rng(1).normal(size=60).astype(dtype)
    made = {"dense": xp.array, "operator": lambda v: linalg.aslinearoperator(xp.array(v))}.get(form) or getattr(sparse, f"{form}_array")
    given = made(a) if form in ("dense", "operator") else made(xp.array(a))
    y = linalg.funm_multiply_krylov(bc.scipy.linalg.expm, given, xp.array(b), t=-0.5, rtol=1e-12, restart_every_m=8)
    wide = a.astype("c16")
    w, v = np.linalg.eig(wide)
    want = v @ (np.exp(-0.5 * w) * np.linalg.solve(v, b.astype("c16")))
    assert y.dtype == dtype and abs(host(y) - want).max() < 1e4 * eps(dtype)
    y = linalg.funm_multiply_krylov(lambda x: x @ x @ x - x, given, xp.array(b), restart_every_m=7)
    assert abs(host(y) - (wide @ wide @ wide - wide) @ b).max() < 1e4 * eps(dtype)
    assert not host(linalg.funm_multiply_krylov(bc.scipy.linalg.expm, given, xp.array(0 * b))).any()
    for wrong in ({"assume_a": "x"}, {"restart_every_m": 0}, {"max_restarts": 0}, {"atol": -1}):
        with pytest.raises(ValueError):
            linalg.funm_multiply_krylov(bc.scipy.linalg.expm, given, xp.array(b), **wrong)


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("part", [None, "r", "i"])
def test_eigs_with_a_complex_shift_of_a_real_matrix_iterates_with_a_part_of_the_inverse(xp, part, general):
    rng = np.random.default_rng(3)
    a, m = rng.standard_normal((60, 60)), np.diag(rng.random(60) + 1)
    sigma = 0.5 + 2j
    every = np.linalg.eigvals(np.linalg.solve(m, a) if general else a)
    there, beside = 1 / (every - sigma), 1 / (every - np.conj(sigma))
    wanted = every[np.argsort(-abs(there - beside if part == "i" else there + beside))[:4]]
    second = xp.asarray(m) if general else None
    w, v = linalg.eigs(xp.asarray(a), 4, M=second, sigma=sigma, OPpart=part, rng=0)
    w, v = host(w), host(v)
    np.testing.assert_allclose(np.sort_complex(w.round(9)), np.sort_complex(wanted.round(9)), 1e-7)
    np.testing.assert_allclose(a @ v, (m @ v if general else v) * w, atol=1e-9)


def test_eigs_refuses_parts_that_do_not_exist(xp):
    a = xp.asarray(np.diag(np.arange(20.0)))
    for operand, sigma, part, words in (
        (a, None, "r", "sigma = None or complex A"),
        (a * 1j, 1j, "r", "sigma = None or complex A"),
        (a, 0.5, "i", "cannot be 'i' if sigma is real"),
        (a, 0.5, "x", "must be one of"),
    ):
        with pytest.raises(ValueError, match=words):
            linalg.eigs(operand, 2, sigma=sigma, OPpart=part)


# ---- Direct solvers: layouts and special inputs ------------------------------------------------------------------------------------------


def laid_out(b, layout):
    """Elements of b, (n, m) or (n,), in another layout of memory."""
    if layout == "F":
        return bc.asfortranarray(bc.asarray(b))
    if layout == "strided":
        whole = bc.zeros((2 * b.shape[0], *b.shape[1:]), b.dtype)
        whole[::2] = bc.asarray(b)
        return whole[::2]
    if layout == "reversed":
        return bc.asarray(b[::-1].copy())[::-1]
    if layout == "broadcast":
        return bc.broadcast_to(bc.asarray(b[:1]), b.shape)
    return bc.asarray(b)


LAYOUTS = ["C", "F", "strided", "reversed", "broadcast"]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_triangular_solves_of_every_layout(device, dtype, form, layout):
    a, b = general(9, dtype), (np.arange(27).reshape(9, 3) - 5).astype(dtype)
    for lower in (True, False):
        for unit in (False, True):
            triangle = np.tril(a) if lower else np.triu(a)
            if unit:
                np.fill_diagonal(triangle, 1)
            for right in (b, b[:, 0]):
                given = laid_out(right, layout)
                x = linalg.spsolve_triangular(formed(triangle, form), given, lower=lower, unit_diagonal=unit)
                assert x.dtype == np.dtype(dtype) and x.shape == right.shape
                expected = np.linalg.solve(triangle.astype("D"), host(given))
                np.testing.assert_allclose(host(x), expected, atol=1e3 * eps(dtype) * abs(expected).max())


def test_triangular_solves_of_special_inputs(device):
    lower = np.array([[2.0, 0, 0], [1, 4, 0], [0, -1, 0.5]])
    A, theirs = sparse.csr_array(bc.asarray(lower)), scipy_sparse.csr_array(lower)
    # Unsorted columns, an element in two parts, and zeros that are stored in the other triangle
    for kind in ("csr_array", "csc_array"):
        parts = ([0.0, 2.0, 3.0, 1.0, 1.0, 0.5, -1.0], ([0, 0, 1, 1, 1, 2, 2], [2, 0, 1, 0, 1, 2, 1]))
        x = linalg.spsolve_triangular(getattr(sparse, kind)(parts, shape=(3, 3)), bc.asarray([1.0, 2.0, 3.0]))
        np.testing.assert_allclose(host(x), np.linalg.solve(lower, [1.0, 2.0, 3.0]))
    # Infinities where rows are solved one by one, NaN from inverses of blocks
    assert not np.isfinite(host(linalg.spsolve_triangular(A, bc.asarray([np.inf, 1.0, 1.0])))).any()
    for b in ([1.0, np.nan, 1.0], [0.0, -0.0, 0.0], [1, 2, 3], [True, False, True]):
        b = np.array(b)
        np.testing.assert_array_equal(host(linalg.spsolve_triangular(A, bc.asarray(b))), reference.spsolve_triangular(theirs, b))
    x = linalg.spsolve_triangular(A.astype("f4"), bc.asarray(np.array([1, 2j, 3], "F")))
    assert x.dtype == np.complex64
    assert linalg.spsolve_triangular(A, bc.zeros((3, 0))).shape == (3, 0)
    assert linalg.spsolve_triangular(sparse.csr_array((0, 0)), bc.zeros(0)).shape == (0,)
    expected = reference.spsolve_triangular(theirs, np.ones(3), lower=False)  # the other triangle is left out
    np.testing.assert_array_equal(host(linalg.spsolve_triangular(A, bc.ones(3), lower=False)), expected)
    twice = tuple(map(bc.asarray, ([1.0, 2.0, 3.0, 4.0], np.array([0, 0, 1, 1], "i4"), np.array([0, 2, 4], "i4"))))
    np.testing.assert_allclose(host(linalg.spsolve_triangular(sparse.csr_array(twice), bc.ones(2))), [1 / 3, 1 / 7])
    with pytest.raises(np.linalg.LinAlgError):
        linalg.spsolve_triangular(sparse.csr_array(bc.asarray([[1.0, 0], [1, 0]])), bc.ones(2))
    with pytest.raises(ValueError, match="size"):
        linalg.spsolve_triangular(A, bc.ones(4))
    before = host(A.data).copy()
    linalg.spsolve_triangular(A, bc.ones(3), overwrite_A=True, overwrite_b=True)
    np.testing.assert_array_equal(host(A.data), before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_superlu_takes_right_sides_of_every_layout(device, dtype, layout):
    a, b = general(11, dtype), (np.arange(33).reshape(11, 3) - 7).astype(dtype)
    bound = 1e3 * eps(dtype) * np.linalg.norm(b)
    lu = linalg.splu(formed(a, "csc"))
    for right in (b, b[:, 0], b[:, :1]):
        given = laid_out(right, layout)
        kept = host(given).copy()
        for trans, op in [("N", a), ("T", a.T), ("H", dagger(a))]:
            x = lu.solve(given, trans)
            assert x.shape == right.shape and np.linalg.norm(op @ host(x) - kept) <= bound
        assert np.linalg.norm(a @ host(linalg.spsolve(formed(a, "csr"), given)).reshape(right.shape) - kept) <= bound
        np.testing.assert_array_equal(host(given), kept)


def test_superlu_takes_matrices_of_every_form(device):
    a, b = general(8), np.arange(8.0)
    expected = np.linalg.solve(a, b)
    unsorted = scipy_sparse.csc_array(a)
    for j in range(8):
        part = slice(unsorted.indptr[j], unsorted.indptr[j + 1])
        unsorted.indices[part], unsorted.data[part] = unsorted.indices[part][::-1].copy(), unsorted.data[part][::-1].copy()
    parts = [bc.asarray(x.copy()) for x in (unsorted.data, unsorted.indices, unsorted.indptr)]
    wide = [parts[0], parts[1].astype(np.int64), parts[2].astype(np.int64)]
    rows, columns = np.nonzero(a)
    halves = np.concatenate([a[rows, columns] / 2] * 2), (np.concatenate([rows] * 2), np.concatenate([columns] * 2))
    compressed = [sparse.csc_array(tuple(part), shape=(8, 8)) for part in (parts, wide)]
    kinds = [kind(bc.asarray(a)) for kind in (sparse.csc_matrix, sparse.lil_array, sparse.dok_array, bc.asarray)]
    for A in (*compressed, sparse.coo_array(halves, shape=(8, 8)), *kinds):
        np.testing.assert_allclose(host(linalg.splu(A).solve(bc.asarray(b))), expected)
        np.testing.assert_allclose(host(linalg.spsolve(A, bc.asarray(b))), expected)
        np.testing.assert_allclose(host(linalg.spilu(A, drop_tol=0).solve(bc.asarray(b))), expected)
    np.testing.assert_allclose(host(linalg.spsolve(formed(a, "csc"), bc.arange(8))), expected)
    one = linalg.splu(sparse.csc_array(bc.asarray([[4.0]])))
    assert host(one.solve(bc.asarray([2.0]))).tolist() == [0.5] and one.nnz == reference.splu(scipy_sparse.csc_array([[4.0]])).nnz
    assert np.isnan(host(linalg.splu(formed(a, "csc")).solve(bc.asarray([np.nan] + [0.0] * 7)))).any()
    right = sparse.csc_array(bc.asarray(np.eye(8)[:, :2]))
    solved = linalg.spsolve(formed(a, "csc"), right)
    np.testing.assert_allclose(host(solved.toarray()), np.linalg.inv(a)[:, :2], atol=1e-14)


def test_laplacians_of_grids_take_operands_of_every_layout(device):
    operator, theirs = linalg.LaplacianNd((3, 4), dtype=np.float64), reference.LaplacianNd((3, 4), dtype=np.float64)
    x = np.random.default_rng(2).standard_normal((12, 3))
    for layout in LAYOUTS:
        for of in (x, x[:, 0]):
            given = laid_out(of, layout)
            np.testing.assert_allclose(host(operator @ given), theirs @ host(given), atol=1e-14)
            np.testing.assert_allclose(host(operator.H @ given), theirs.H @ host(given), atol=1e-14)
    assert np.isnan(host(operator @ bc.full(12, np.nan))).all()
    np.testing.assert_allclose(host(operator.eigenvalues(5)), theirs.eigenvalues(5), atol=1e-13)


def test_eigenvalues_of_a_real_matrix_are_real_or_come_with_their_conjugates():
    rng = np.random.default_rng(3)
    a = np.diag(np.arange(1.0, 201.0)) + np.triu(rng.standard_normal((200, 200)), 1)
    found, vectors = (host(x) for x in linalg.eigs(bc.asarray(a), 5, tol=1e-10))
    assert (found.imag == 0).all() and (vectors.imag == 0).all()
    np.testing.assert_allclose(sorted(found.real), np.arange(196.0, 201.0), rtol=1e-8)
    for i in range(0, 200, 2):
        a[i, i + 1], a[i + 1, i], a[i + 1, i + 1] = 0.5, -0.5, a[i, i]
    for k in (3, 4):  # one splits a pair
        found = host(linalg.eigs(bc.asarray(a), k, return_eigenvectors=False, tol=1e-10))
        want = np.linalg.eigvals(a)
        np.testing.assert_allclose(np.sort(abs(found)), np.sort(abs(want))[-k:], rtol=1e-8)
        pairs = [z for z in found if z.conjugate() in found]
        assert len(pairs) == 2 * (k // 2)


def test_an_operator_makes_its_adjoint_once():
    operator = linalg.aslinearoperator(sparse.csr_array(bc.eye(3)))
    assert operator.H is operator.H
    operator.A.data[...] = 2
    assert host(operator.rmatvec(bc.ones(3))).tolist() == [2, 2, 2]


def test_bandwidths_of_all_formats():
    a = np.diag([1.0, 2.0, 3.0], -1) + np.diag([1.0, 1.0], 2)
    for format in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok"):
        made = getattr(sparse, format + "_array")(bc.asarray(a))
        assert linalg.spbandwidth(made) == (1, 2) and linalg.is_sptriangular(made) == (False, False)
    assert linalg.spbandwidth(sparse.csr_array((3, 3))) == (0, 0)
    assert linalg.is_sptriangular(sparse.csc_array(bc.tri(4))) == (True, False)
    assert linalg.spbandwidth(sparse.csc_array(bc.ones((2, 5)))) == (1, 4)


def test_qmr_asks_a_matrix_for_its_own_preconditioner(xp):
    """SciPy's: `psolve(b, side)` and `rpsolve(b, side)` of the matrix, from the left and the right."""
    dense = np.diag([4.0, 5.0, 6.0, 7.0]) + np.diag([1.0, 2.0, 1.0], 1) - np.diag([2.0, 1.0, 1.0], -1)
    calls = []

    class Preconditioned(linalg.LinearOperator):
        def __init__(self):
            super().__init__(np.dtype(float), dense.shape)
            self.matrix = xp.asarray(dense)

        def _matvec(self, x):
            return self.matrix @ x

        def _rmatvec(self, x):
            return self.matrix.T @ x

        def psolve(self, b, side):
            calls.append(side)
            return b / xp.asarray(np.diag(dense)) if side == "left" else b

        rpsolve = psolve

    b = np.array([1.0, 2.0, 3.0, 4.0])
    x, info = linalg.qmr(Preconditioned(), xp.asarray(b), rtol=1e-12)
    assert info == 0 and {"left", "right"} == set(calls)
    np.testing.assert_allclose(host(x), np.linalg.solve(dense, b), rtol=1e-9)


@pytest.mark.parametrize("part", ["r", "i"])
def test_eigs_near_a_complex_shift_of_an_operator(xp, part):
    dense = np.diag(np.arange(1.0, 9)) + np.diag(np.ones(7), 1) - np.diag(np.ones(7), -1)
    a = xp.asarray(dense)
    operator = linalg.LinearOperator(dense.shape, lambda x: a @ x, lambda x: a.T @ x, dtype=np.float64)
    found = np.sort_complex(host(linalg.eigs(operator, 2, sigma=2.5 + 0.5j, OPpart=part, v0=xp.asarray(np.ones(8)))[0]))
    whole = np.linalg.eigvals(dense)
    assert all(np.abs(whole - value).min() < 1e-8 for value in found), (found, whole)


def test_operators_take_numpys_matrices_to_the_default_device(xp):
    A, b = np.diag([1.0, 2.0, 3.0]), np.ones(3)
    got = linalg.funm_multiply_krylov(xp.scipy.linalg.expm, A, b)
    assert got.device == xp.default_device()
    np.testing.assert_allclose(host(got), np.exp([1.0, 2.0, 3.0]), rtol=1e-10)
    assert linalg.aslinearoperator(A).device == xp.default_device()


@pytest.mark.parametrize("name", ["csr_array", "csc_array", "csr_matrix", "csc_matrix", "coo_array"])
def test_sparse_right_sides_give_the_form_of_the_matrix(device, name):
    a = np.diag([2.0, 4, 5]) + np.eye(3, k=1)
    for right in (np.eye(3)[:, :2], np.ones((3, 1))):
        for other in ("csr_matrix", "csc_array"):
            want = reference.spsolve(getattr(scipy_sparse, name)(a), getattr(scipy_sparse, other)(right))
            got = linalg.spsolve(getattr(sparse, name)(a), getattr(sparse, other)(right))
            assert type(got).__name__ == type(want).__name__
            got, want = (x.toarray() if hasattr(x, "toarray") else x for x in (got, want))
            np.testing.assert_allclose(host(got), want)


def test_all_eigenvalues_of_dense_matrices_are_those_of_scipy_linalg(device):
    a = np.diag([3.0, -1, 2, 7]) + 0.5
    with pytest.warns(RuntimeWarning, match="eigh"):
        w, v = linalg.eigsh(bc.asarray(a), 4)
    np.testing.assert_allclose(host(w), np.linalg.eigvalsh(a), 1e-12)
    np.testing.assert_allclose(a @ host(v), host(v) * host(w), 1e-12, 1e-12)
    with pytest.warns(RuntimeWarning, match="eig"):
        w = linalg.eigs(bc.asarray(a), 9, return_eigenvectors=False)
    np.testing.assert_allclose(np.sort(host(w).real), np.linalg.eigvalsh(a), 1e-12)
    for given in (sparse.csr_array(a), linalg.aslinearoperator(bc.asarray(a))):
        for solver in (linalg.eigsh, linalg.eigs):
            with pytest.warns(RuntimeWarning), pytest.raises(TypeError, match="k >= N"):
                solver(given, 4)


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA"])
def test_eigenvalues_alone_have_scipy_s_order(device, which):
    a = np.diag([5, -6, 4, -3, 2, 1.0, 0.5, -0.1, *(0.01 * np.arange(1, 20))])
    want = reference.eigsh(a, 4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(host(linalg.eigsh(bc.asarray(a), 4, which=which, return_eigenvectors=False)), want, 1e-6)
    which = which.replace("A", "R")
    want = reference.eigs(np.abs(a), 4, which=which, return_eigenvectors=False)
    np.testing.assert_allclose(host(linalg.eigs(bc.asarray(np.abs(a)), 4, which=which, return_eigenvectors=False)), want, 1e-6)
