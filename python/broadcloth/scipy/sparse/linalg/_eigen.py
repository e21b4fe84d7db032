"""Some eigenvalues or singular values of large matrices. Long vectors stay on the device; projected matrices are the host's."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from .... import linalg as _linalg
from ...._broadcloth import ndarray
from ...._warnings import warn
from ...linalg import eig, eigh
from ...linalg._operands import LinAlgWarning
from ._krylov import norm
from ._operators import LinearOperator, aslinearoperator, device_of, is_sparse, ours, promoted

if TYPE_CHECKING:
    from ....typing import ArrayLike


class ArpackError(RuntimeError):
    """An eigenvalue iteration failed.

    Examples
    --------
    >>> issubclass(bc.scipy.sparse.linalg.ArpackNoConvergence, bc.scipy.sparse.linalg.ArpackError)
    True
    """


class ArpackNoConvergence(ArpackError):
    """An eigenvalue iteration did not converge; `eigenvalues` and `eigenvectors` are what did.

    Examples
    --------
    >>> try:
    ...     bc.scipy.sparse.linalg.eigsh(bc.diag(bc.arange(200.0)), 3, maxiter=1, tol=1e-12)
    ... except bc.scipy.sparse.linalg.ArpackNoConvergence as e:
    ...     print(len(e.eigenvalues) < 3)
    True
    """

    def __init__(self, msg: str, eigenvalues: Any, eigenvectors: Any) -> None:
        super().__init__(msg)
        self.eigenvalues = eigenvalues
        self.eigenvectors = eigenvectors


class _Problem:
    """A x = lambda B x as a standard problem of an operator: `apply`, with the inner product of `B` where there is one."""

    def __init__(
        self, name: str, A: Any, k: int, M: Any, sigma: Any, inverses: tuple[Any, Any], v0: Any, rng: Any, part: str | None = None,
        mode: str = "normal",
    ) -> None:  # fmt: skip
        given = A
        self.A = aslinearoperator(A)
        if self.A.shape[0] != self.A.shape[1]:
            raise ValueError(f"expected square matrix (shape={self.A.shape})")
        self.n = self.A.shape[0]
        if not 0 < k < self.n:
            raise ValueError(f"{name}: expected 0 < k < {self.n}, got {k}")
        Minv, OPinv = inverses
        if M is None and Minv is not None:
            raise ValueError("Minv should not be specified with M = None.")
        if sigma is None and OPinv is not None:
            raise ValueError("OPinv should not be specified with sigma = None.")
        if sigma is not None and Minv is not None:
            raise ValueError("Minv should not be specified when sigma is")
        self.B = None if M is None else aslinearoperator(M)
        if self.B is not None and self.B.shape != self.A.shape:
            raise ValueError(f"wrong M dimensions {self.B.shape}, should be {self.A.shape}")
        self.dtype = promoted(self.A.dtype, None if self.B is None else self.B.dtype)
        # The real or the imaginary part of the inverse of a real matrix less a complex shift, in whose place it is the operator.
        self.part = part
        if part is None and sigma is not None and _is_complex(sigma):
            self.dtype = np.result_type(self.dtype, np.complex64)
        self.sigma, self.mass, self.mode = sigma, self.B, mode
        self.device = getattr(self.A, "device", None) or (_c.asarray(v0).device if isinstance(v0, ndarray) else _c.default_device())
        self.v0 = self._start(v0, rng)
        if sigma is not None:
            inverse = aslinearoperator(OPinv) if OPinv is not None else _inverse(given, M, sigma, self.A)
            if mode == "buckling":
                self.B = self.A
            above = self._cayley if mode == "cayley" else self.times_B
            self.apply = lambda v: self._part_of(inverse, above(v))
        elif self.B is None:
            self.apply = self.A.matvec
        else:
            inverse = aslinearoperator(Minv) if Minv is not None else _inverse(M, None, 0.0, self.B)
            self.apply = lambda v: inverse.matvec(self.A.matvec(v))

    def _start(self, v0: Any, rng: Any) -> ndarray:
        if v0 is not None:
            found = _c.asarray(v0, device=self.device).astype(self.dtype)
            if found.shape not in ((self.n,), (self.n, 1)):
                raise ValueError(f"expected v0 to have {self.n} elements, got shape {found.shape}")
            return found.reshape(-1)
        return self.random(np.random.default_rng(rng))

    def random(self, generator: np.random.Generator) -> ndarray:
        """A random vector, of NumPy's numbers so that a seed means the same everywhere."""
        values = generator.uniform(-1, 1, self.n)
        if self.dtype.kind == "c":
            values = values + 1j * generator.uniform(-1, 1, self.n)
        return _c.asarray(values.astype(self.dtype), device=self.device)

    def times_B(self, v: ndarray) -> ndarray:
        """B @ v; v itself without B."""
        return v if self.B is None else self.B.matvec(v)

    def _cayley(self, v: ndarray) -> ndarray:
        return self.A.matvec(v) + self.sigma * self.times_B(v)

    def _part_of(self, inverse: LinearOperator, v: ndarray) -> ndarray:
        """The inverse, or the part of it that is the operator, times v; restarts may make v complex."""
        if self.part is None:
            return inverse.matvec(v)
        if v.dtype.kind == "c":
            return self._part_of(inverse, v.real.copy()) + 1j * self._part_of(inverse, v.imag.copy())
        w = inverse.matvec(v)
        return (w.real if self.part == "r" else w.imag).copy()

    def values(self, found: np.ndarray, vectors: ndarray) -> np.ndarray:
        """Eigenvalues of the problem from those of the operator; of a part of the inverse, which may have one for several of the problem,
        from its eigenvectors."""
        if self.part is None:
            if self.sigma is None or self.mode == "normal":
                return found if self.sigma is None else self.sigma + 1 / found
            return self.sigma * (found + 1 if self.mode == "cayley" else found) / (found - 1)
        second = self.mass
        products = [self.A.matmat(vectors), vectors if second is None else second.matmat(vectors)]
        above, below = (_c.asnumpy((vectors.conj() * x).sum(0)) for x in products)
        return above / below


def _is_complex(sigma: Any) -> bool:
    return np.iscomplexobj(sigma) and complex(sigma).imag != 0


def _inverse(A: Any, M: Any, sigma: Any, operator: LinearOperator) -> LinearOperator:
    """The operator of inv(A - sigma M): by a factorization of a matrix, by an iteration of an operator."""
    from ._direct import factor_operator
    from ._krylov import gmres

    shifted = _shifted(A, M, sigma)
    if shifted is not None:
        return factor_operator(shifted)
    second = None if M is None else aslinearoperator(M)
    apply = lambda v: operator.matvec(v) - sigma * (v if second is None else second.matvec(v))
    dtype = np.result_type(operator.dtype, np.complex64) if _is_complex(sigma) else operator.dtype
    whole = LinearOperator(operator.shape, apply, dtype=dtype)

    def solve(b: ndarray) -> ndarray:
        b = b.reshape(-1)
        precision = float(np.finfo(b.dtype).eps)
        x, info = gmres(whole, b, rtol=precision * 4, restart=min(100, operator.shape[0]))
        # Rounding may keep it from the last digits; SciPy asks for no more than this.
        if info and float(norm(b - apply(x))) > 1000 * math.sqrt(b.size) * precision * float(norm(b)):
            raise ValueError("the inverse of a LinearOperator did not converge: give OPinv or Minv")
        return x

    return LinearOperator(operator.shape, solve, dtype=dtype)


def _shifted(A: Any, M: Any, sigma: Any) -> Any:
    """A - sigma M as a matrix, or None of operators."""
    if isinstance(A, LinearOperator) or isinstance(M, LinearOperator):
        return None
    if is_sparse(A):
        A = ours(A)
        if M is None and sigma == 0:
            return A
        from ... import sparse

        identity = sparse.eye_array(A.shape[0], dtype=A.dtype, format="csr")
        if device_of(A) is not None and device_of(identity) != device_of(A):
            with device_of(A):
                identity = sparse.eye_array(A.shape[0], dtype=A.dtype, format="csr")
        return A - sigma * (identity if M is None else ours(M))
    A = _c.asarray(A)
    if is_sparse(M):
        M = ours(M).toarray()
    if M is None and sigma == 0:
        return A
    return A - sigma * (_c.eye(A.shape[0], device=A.device) if M is None else _c.asarray(M, device=A.device))


def _krylov_on_host(p: _Problem, V: np.ndarray, H: np.ndarray, first: int, width: int, generator: np.random.Generator) -> None:
    """Arnoldi's steps as below on the host's arrays, where nothing has to wait for a device."""
    least = 8 * float(np.finfo(p.dtype).eps)
    for j in range(first, width):
        w = _c.asnumpy(p.apply(_c.asarray(V[j], device=p.device)))
        size = math.sqrt(np.vdot(w, w).real)
        w, H[: j + 1, j] = _orthogonal(p, V[: j + 1], w)
        after = math.sqrt(np.vdot(w, w).real)
        H[j + 1, j] = after
        if after <= least * size or not math.isfinite(after):
            H[j + 1, j] = 0
            w, _ = _orthogonal(p, V[: j + 1], _c.asnumpy(p.random(generator)))
            after = math.sqrt(np.vdot(w, w).real)
        V[j + 1] = w / after


def _krylov(p: _Problem, V: Any, H: np.ndarray, first: int, width: int, generator: np.random.Generator) -> None:
    """Arnoldi's steps `first` to `width`: rows of V get their vectors, H their coefficients. One copy at the end reads all of those.

    Where a step's vector vanishes the space is invariant: a random vector goes on, with nothing to do with the ones before it.
    """
    if isinstance(V, np.ndarray):
        return _krylov_on_host(p, V, H, first, width, generator)
    at = first
    while at < width:
        columns = []
        for j in range(at, width):
            w = p.apply(V[j])
            size = _length(p, w)
            w, h = _orthogonal(p, V[: j + 1], w)
            after = _length(p, w)
            columns.append(_c.concatenate([h, after.reshape(1).astype(h.dtype), size.reshape(1).astype(h.dtype)]))
            V[j + 1] = w / after
        broken = None
        for j, column in zip(range(at, width), columns, strict=True):
            values = _c.asnumpy(column)
            H[: j + 2, j] = values[:-1]
            # Rounding is all that is left of the vector, and of all that came after it.
            if abs(values[j + 1]) <= 8 * np.finfo(p.dtype).eps * abs(values[-1]) or not np.isfinite(values[j + 1]):
                broken = j
                break
        if broken is None:
            return
        H[broken + 1, broken] = 0
        w = p.random(generator)
        w, _ = _orthogonal(p, V[: broken + 1], w)
        V[broken + 1] = w / _length(p, w)
        at = broken + 1


def _length(p: _Problem, w: ndarray) -> ndarray:
    if p.B is None:
        return norm(w)
    return _c.ufuncs["sqrt"](_c.ufuncs["maximum"](_c.vdot(w, p.times_B(w)).real, 0))


def _orthogonal(p: _Problem, V: Any, w: Any) -> tuple[Any, Any]:
    """Classical Gram-Schmidt, twice, in the inner product of B."""
    # The conjugate of V times x, by conjugates of vectors.
    along = (lambda x: (V @ x.conj()).conj()) if p.dtype.kind == "c" else (lambda x: V @ x)
    h = along(p.times_B(w))
    w = w - h @ V
    more = along(p.times_B(w))
    return w - more @ V, h + more


_KEYS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "LM": lambda w: -abs(w), "SM": lambda w: abs(w), "LA": lambda w: -w, "SA": lambda w: w, "LR": lambda w: -w.real,
    "SR": lambda w: w.real, "LI": lambda w: -abs(w.imag), "SI": lambda w: abs(w.imag),
    "signed LI": lambda w: -w.imag, "signed SI": lambda w: w.imag,
}  # fmt: skip


def _chosen(w: np.ndarray, which: str, k: int) -> np.ndarray:
    """The places of the k wanted values, the best first; of 'BE' from both ends in turns."""
    if which != "BE":
        return np.argsort(_KEYS[which](w), kind="stable")[:k]
    order = np.argsort(w)
    return np.concatenate([order[len(w) - (k - k // 2) :], order[: k // 2]])


def _kept_basis(T: np.ndarray, w: np.ndarray, Y: np.ndarray, places: np.ndarray, most: int) -> np.ndarray:
    """An orthonormal basis of the space of some eigenvectors of T. If T is real the basis is, so that the iteration stays real: the
    conjugates of eigenvalues are kept with them, unless the space would have more than `most` dimensions."""
    chosen = {*places.tolist()}
    if np.isrealobj(T) and np.iscomplexobj(w):
        # LAPACK has pairs side by side, the one with the positive imaginary part first.
        chosen |= {i + int(np.sign(w[i].imag)) for i in chosen}
        if len(chosen) <= most:
            parts = (x for i in sorted(chosen) if w[i].imag >= 0 for x in (Y[:, i].real, Y[:, i].imag)[: 2 if w[i].imag else 1])
            return np.linalg.qr(np.stack([*parts], 1))[0]
    return np.linalg.qr(Y[:, places])[0]


def _restarted(
    p: _Problem, k: int, which: str, width: int, maxiter: int, tol: float, symmetric: bool, rng: Any
) -> tuple[np.ndarray, ndarray]:
    """The wanted eigenvalues of the operator and its eigenvectors as rows: Krylov-Schur restarts (Stewart, 2001; Wu & Simon, 2000)."""
    generator = np.random.default_rng(rng)
    eps = float(np.finfo(p.dtype).eps)
    V = _zeros(p, (width + 1, p.n), p.dtype)
    start = p.v0 / _length(p, p.v0)
    V[0] = _c.asnumpy(start) if isinstance(V, np.ndarray) else start
    H = np.zeros((width + 1, width), complex if p.dtype.kind == "c" else float)
    kept, converged = 0, np.zeros(0, bool)
    values, vectors = np.zeros(0), np.zeros((0, 0))
    for restart in range(maxiter):
        _krylov(p, V, H, kept, width, generator)
        T, coupling = H[:width].copy(), H[width].copy()
        if symmetric:
            # Rounding is taken off: the projection of a Hermitian operator is Hermitian.
            T = (T + T.conj().T) / 2
            w, Y = np.linalg.eigh(T)
        else:
            w, Y = np.linalg.eig(T)
        best = _chosen(w, which, k)
        residuals = abs(coupling @ Y[:, best])
        # Residuals below the rounding of the products with the operator tell nothing. Near it, rounding brings in an eigenvector that
        # the start hardly has, which would be missed if its neighbours ended the search; so the first restarts ask for more than that.
        rounding = (0.25 if restart < 20 else 8) * eps * abs(w).max()
        converged = residuals <= np.maximum(tol * abs(w[best]), rounding)
        values, vectors = w[best], Y[:, best]
        if converged.all() or restart == maxiter - 1:
            break
        # Some more directions than are wanted make the restart better, the more the more have converged. Where many eigenvalues are of
        # nearly one size, that alone may take ten times as long as few directions do; every third restart with few is never much worse.
        done = int(converged.sum())
        keep = min(k + (max(done, (width - k) // 2) if restart % 3 else min(done, (width - k) // 2) + 1), width - 1)
        more = _chosen(w, which, keep)
        Q = Y[:, more] if symmetric else _kept_basis(T, w, Y, more, width - 1)
        keep = Q.shape[1]
        H = H.astype(np.result_type(H, Q)) if np.iscomplexobj(Q) else H
        rotated = coupling @ Q
        H[:] = 0
        H[:keep, :keep] = np.diag(w[more]) if symmetric else Q.conj().T @ T @ Q
        H[keep, :keep] = rotated
        # The rows of V go along: V^T Q, and the vector that the last step left.
        dtype = np.result_type(p.dtype, np.complex64) if np.iscomplexobj(Q) else p.dtype
        turned = _times_space(p, Q.astype(dtype), V[:width])
        last, V = V[width].copy(), _zeros(p, V.shape, dtype)
        V[:keep] = turned
        V[keep] = last
        kept = keep
        p.dtype = np.dtype(dtype)
        # `_krylov` fills columns from `kept` on; the coupling row is the first one's part along the kept directions, which
        # Gram-Schmidt finds again.
    if not converged.all():
        some = np.flatnonzero(converged)
        found = _basis(p, V, vectors[:, some], width)
        text = f"ARPACK error -1: No convergence ({maxiter} iterations, {len(some)}/{k} eigenvectors converged)"
        raise ArpackNoConvergence(text, _c.asarray(p.values(values[some], found), device=p.device), found)
    return values, _basis(p, V, vectors, width)


def _zeros(p: _Problem, shape: tuple[int, ...], dtype: Any) -> Any:
    """The rows of a Krylov space: the host's array where the problem is in its memory and has the standard inner product."""
    if p.B is None and p.device.type == "cpu":
        return np.zeros(shape, dtype)
    return _c.zeros(shape, dtype, device=p.device)


def _times_space(p: _Problem, Q: np.ndarray, V: Any) -> Any:
    turn = np.ascontiguousarray(Q.T)
    return (turn if isinstance(V, np.ndarray) else _c.asarray(turn, device=p.device)) @ V


def _basis(p: _Problem, V: Any, Y: np.ndarray, width: int) -> ndarray:
    dtype = np.result_type(p.dtype, np.complex64) if np.iscomplexobj(Y) else p.dtype
    return _c.asarray(_times_space(p, Y.astype(dtype), V[:width]), device=p.device).T


def _dense(A: Any, M: Any, device: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Small matrices as the host's, by products with the identity."""

    def whole(x: Any) -> np.ndarray:
        operator = aslinearoperator(x)
        return _c.asnumpy(operator.matmat(_c.eye(operator.shape[1], dtype=promoted(operator.dtype), device=device)))

    return whole(A), None if M is None else whole(M)


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: Any = None,
    which: str = "LM",
    v0: ArrayLike | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """k eigenvalues, and eigenvectors, of a symmetric or Hermitian matrix, by Lanczos' method with thick restarts (Wu & Simon, 2000).

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (n, n)
    k : int
        How many, below n.
    M : ndarray, sparse matrix or LinearOperator, optional
        The positive definite matrix of A @ x = w * M @ x.
    sigma : float, optional
        The eigenvalues nearest to it are looked for, by `OPinv` or by a factorization of A - sigma M; `which` is then about
        1 / (w - sigma).
    which : {'LM', 'SM', 'LA', 'SA', 'BE'}
        The largest or smallest in magnitude, the largest, the smallest, or from both ends.
    v0 : array_like, (n,), optional
        The first vector; random unless given.
    ncv : int, optional
        How many vectors are kept; max(2 k + 1, 20) unless given.
    maxiter : int, optional
        How many restarts; 10 n unless given.
    tol : float
        The relative accuracy; the dtype's precision for 0.
    return_eigenvectors : bool
    Minv, OPinv : optional
        Inverses of M, or of A - sigma M.
    mode : {'normal', 'buckling', 'cayley'}
        Of what with `sigma` the k values are looked for: 1 / (w - sigma), w / (w - sigma), for which A must be positive definite and M need
        not be, or (w + sigma) / (w - sigma).
    rng : optional
        Seeds the random vectors.

    Returns
    -------
    w, v : ndarray
        Eigenvalues in ascending order and eigenvectors as columns; w alone without `return_eigenvectors`, and
        without `sigma` then the most wanted one last, as in SciPy. All n of a dense matrix come from `scipy.linalg.eigh`, with a warning.

    Raises
    ------
    ArpackNoConvergence
        There are fewer eigenvalues than asked for after `maxiter` restarts.

    Examples
    --------
    >>> w, v = bc.scipy.sparse.linalg.eigsh(bc.diag(bc.arange(50.0)), 2)
    >>> w.round(9)
    array([48., 49.])
    """
    if mode not in ("normal", "buckling", "cayley"):
        raise ValueError(f"unrecognized mode '{mode}'")
    if which not in ("LM", "SM", "LA", "SA", "BE"):
        raise ValueError(f"which must be one of 'LM', 'SM', 'LA', 'SA', 'BE', got {which!r}")
    if _wants_all("eigsh", A, k, M, "eigh"):
        return eigh(A, M, eigvals_only=not return_eigenvectors)
    p = None
    if mode == "cayley" and which == "SM" and sigma is not None and OPinv is None:
        p = _reciprocal(A, k, M, sigma, Minv, v0, rng)
    if p is not None:
        which = "LM"
    else:
        p = _Problem("eigsh", A, k, M, sigma, (Minv, OPinv), v0, rng, mode=mode)
    width = min(p.n, max(2 * k + 1, 20) if ncv is None else ncv)
    if width <= k:
        raise ValueError(f"ncv must be k<ncv<=n, ncv={ncv}")
    found, vectors = _restarted(p, k, which, width, p.n * 10 if maxiter is None else maxiter, tol, True, rng)
    w = p.values(found, vectors)
    order = np.argsort(w)
    if not return_eigenvectors and sigma is None and which in ("LM", "SM", "SA"):
        order = np.argsort({"LM": abs(w), "SM": -abs(w), "SA": -w}[which])
    values = _c.asarray(w[order].astype(p.dtype.char.lower()), device=p.device)
    return (values, vectors[:, order.tolist()]) if return_eigenvectors else values


def _wants_all(name: str, A: Any, k: int, M: Any, instead: str) -> bool:
    """Whether as many eigenvalues are asked for as there are, which only dense matrices can give: with a warning, as in SciPy."""
    n = aslinearoperator(A).shape[0]
    if k < n or aslinearoperator(A).shape[1] != n:
        return False
    warn(f"{name}: k={k} is not less than {n}, the order of the matrix. Using scipy.linalg.{instead} instead.", RuntimeWarning)
    for x in (A, M):
        if is_sparse(x) or isinstance(x, LinearOperator):
            what = "a LinearOperator" if isinstance(x, LinearOperator) else "a sparse matrix"
            raise TypeError(f"{name}: cannot use scipy.linalg.{instead} for {what} with k >= N: give a dense matrix or reduce k.")
    return True


def _reciprocal(A: Any, k: int, M: Any, sigma: Any, Minv: Any, v0: Any, rng: Any) -> _Problem | None:
    """Cayley's operator of -sigma, which is the inverse of that of sigma: its largest eigenvalues, which converge, belong to the smallest
    of sigma's, which lie inside of its spectrum and hardly converge. None where A + sigma M has no inverse."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)
            p = _Problem("eigsh", A, k, M, -sigma, (Minv, None), v0, rng, mode="cayley")
        return p if math.isfinite(float(norm(p.apply(p.v0)))) else None
    except (RuntimeError, np.linalg.LinAlgError):  # what SuperLU and LAPACK raise for a singular matrix
        return None


def eigs(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: Any = None,
    which: str = "LM",
    v0: ArrayLike | None = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    OPpart: Any = None,
    rng: Any = None,
) -> Any:
    """k eigenvalues, and eigenvectors, of a square matrix, by Arnoldi's method with Krylov-Schur restarts (Stewart, 2001).

    Parameters are those of `eigsh`; `which` is 'LM', 'SM', 'LR', 'SR', 'LI' or 'SI' (by magnitude, real or imaginary part, of real
    matrices by its size). Of a real matrix and a complex `sigma`, the operator is the real part of the inverse, or with `OPpart` 'i' the
    imaginary part, and `which` is about its eigenvalues 1 / 2 (1 / (w - sigma) + 1 / (w - conj(sigma))), or 1 / 2i times the difference:
    those near to conj(sigma) are found, too.

    Returns
    -------
    w, v : ndarray
        Complex eigenvalues and eigenvectors as columns; w alone without `return_eigenvectors`.

    Examples
    --------
    >>> w = bc.scipy.sparse.linalg.eigs(bc.diag(bc.arange(50.0)), 2, return_eigenvectors=False)
    >>> sorted(w.real.round(9).tolist())
    [48.0, 49.0]
    """
    part = _part(A, sigma, OPpart)
    if which not in ("LM", "SM", "LR", "SR", "LI", "SI"):
        raise ValueError(f"which must be one of 'LM', 'SM', 'LR', 'SR', 'LI', 'SI', got {which!r}")
    if _wants_all("eigs", A, k, M, "eig"):
        return eig(A, M, right=return_eigenvectors)
    if which in ("LI", "SI") and any(x is not None and aslinearoperator(x).dtype.kind == "c" for x in (A, M)):
        # Eigenvalues of real matrices come in pairs, so that the part's size counts; those of complex ones do not.
        which = "signed " + which
    p = _Problem("eigs", A, k, M, sigma, (Minv, OPinv), v0, rng, part)
    # The standard inner product serves a problem that is not symmetric.
    second, p.B = p.B, None
    if second is not None and sigma is not None:
        inverse = p.apply
        p.apply = lambda v: inverse(second.matvec(v))
    width = min(p.n, max(2 * k + 1, 20) if ncv is None else ncv)
    if width <= k:
        raise ValueError(f"ncv must be k<ncv<=n, ncv={ncv}")
    found, vectors = _restarted(p, k, which, width, p.n * 10 if maxiter is None else maxiter, tol, False, rng)
    if part is not None:
        found, vectors = _with_conjugate(found, vectors)
    w = p.values(found, vectors)
    if part is not None:
        order = _chosen(1 / (w - sigma), which, k)
        w, vectors = w[order], vectors[:, order.tolist()]
    dtype = np.result_type(p.dtype, np.complex64)
    if not return_eigenvectors:
        w = w[::-1]  # as SciPy's, the most wanted one last
    values = _c.asarray(w.astype(dtype), device=p.device)
    return (values, vectors.astype(dtype)) if return_eigenvectors else values


def _part(A: Any, sigma: Any, OPpart: Any) -> str | None:
    """Which part of the inverse is iterated with: of real matrices and complex shifts the real one unless it is said, else the whole."""
    complex_matrix = aslinearoperator(A).dtype.kind == "c"
    if OPpart is not None:
        if sigma is None or complex_matrix:
            raise ValueError("OPpart should not be specified with sigma = None or complex A")
        OPpart = OPpart.lower()
        if OPpart not in ("r", "i"):
            raise ValueError("OPpart must be one of ('r','i')")
        if OPpart == "i" and not _is_complex(sigma):
            raise ValueError("OPpart cannot be 'i' if sigma is real")
    return (OPpart or "r") if sigma is not None and _is_complex(sigma) and not complex_matrix else None


def _with_conjugate(found: np.ndarray, vectors: ndarray) -> tuple[np.ndarray, ndarray]:
    """A pair of conjugate eigenvalues of a real operator with both, where the number of wanted ones ends inside it."""
    last = found[-1]
    if abs(last.imag) <= 1e-6 * abs(last) or np.isclose(found[:-1], np.conj(last), rtol=1e-6, atol=0).any():
        return found, vectors
    return np.append(found, np.conj(last)), _c.concatenate([vectors, vectors[:, -1:].conj()], 1)


def svds(
    A: Any,
    k: int = 6,
    ncv: int | None = None,
    tol: float = 0,
    which: str = "LM",
    v0: ArrayLike | None = None,
    maxiter: int | None = None,
    return_singular_vectors: bool | str = True,
    solver: str = "arpack",
    rng: Any = None,
    options: dict[str, Any] | None = None,
    *,
    random_state: Any = None,
) -> Any:
    """k singular values, and vectors, of a matrix: eigenvalues of A.H @ A or A @ A.H, whichever is smaller.

    Singular values below the root of the dtype's precision times the largest one have no correct digits.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (m, n)
        An operator must have `rmatvec`.
    k : int
        How many, at most min(m, n).
    ncv, tol, v0, maxiter, rng : optional
        As `eigsh`'s; `random_state` is `rng`.
    which : {'LM', 'SM'}
        The largest or the smallest.
    return_singular_vectors : bool, 'u' or 'vh'
        'u' and 'vh' leave the other out, which is then None.
    solver : {'arpack', 'lobpcg', 'propack'}
        'arpack' and 'propack' are Lanczos' method; 'lobpcg' is `lobpcg`.
    options : dict, optional
        None may be given.

    Returns
    -------
    u, s, vh : ndarray
        s in ascending order; s alone where `return_singular_vectors` is False.

    Examples
    --------
    >>> bc.scipy.sparse.linalg.svds(bc.diag(bc.arange(50.0)), 2, return_singular_vectors=False).round(6)
    array([48., 49.])
    """
    solver, which = str(solver).lower(), str(which).upper()
    if solver not in ("arpack", "lobpcg", "propack"):
        raise ValueError("solver must be one of {'arpack', 'lobpcg', 'propack'}.")
    if options:
        raise NotImplementedError(f"svds: options are not taken, got {options}")
    operator = aslinearoperator(A)
    m, n = operator.shape
    _check_svds(operator, k, ncv, tol, which, v0, maxiter, return_singular_vectors, solver)
    k = int(k)
    seed = rng if rng is not None else random_state
    tall = m >= n
    adjoint = operator.H
    first, second = (operator, adjoint) if tall else (adjoint, operator)
    size = min(m, n)
    dtype = promoted(operator.dtype)
    once, blocks = lambda v: second.matvec(first.matvec(v)), lambda X: second.matmat(first.matmat(X))
    gram = LinearOperator((size, size), once, matmat=blocks, dtype=dtype)
    device = getattr(operator, "device", None) or (v0.device if isinstance(v0, ndarray) else _c.default_device())
    gram.device = device
    if k >= size - 1 or size < 4:
        whole, _ = _dense(operator, None, device)
        u, s, vh = _linalg.svd(_c.asarray(whole, device=device), full_matrices=False)
        places = slice(None, k) if which == "LM" else slice(size - k, None)
        u, s, vh = u[:, places][:, ::-1], s[places][::-1], vh[places][::-1]
    else:
        if solver == "lobpcg":
            start = np.random.default_rng(seed).standard_normal((size, k)).astype(dtype)
            if v0 is not None:
                start[:, 0] = _c.asnumpy(_c.asarray(v0)).reshape(-1)
            found = lobpcg(gram, _c.asarray(start, device=device), tol=(tol or None), maxiter=maxiter or 20 * k, largest=which == "LM")
            vectors = found[1]
        else:
            vectors = eigsh(gram, k, which="LA" if which == "LM" else "SA", v0=v0, ncv=ncv, maxiter=maxiter, tol=tol, rng=seed)[1]
        # The small side's singular value decomposition gives orthonormal vectors of both sides, and accurate values.
        vectors = _linalg.qr(vectors)[0]
        left, s, turn = _linalg.svd(first.matmat(vectors), full_matrices=False)
        right = vectors @ turn.mT.conj()
        left, s, right = left[:, ::-1], s[::-1], right[:, ::-1]
        u, vh = (left, right.mT.conj()) if tall else (right, left.mT.conj())
    if return_singular_vectors is False:
        return s
    return (None if return_singular_vectors == "vh" else u), s, (None if return_singular_vectors == "u" else vh)


def _check_svds(
    operator: LinearOperator, k: Any, ncv: Any, tol: Any, which: str, v0: Any, maxiter: Any, vectors: Any, solver: str
) -> None:
    """Raises SciPy's errors for parameters of svds. All min(m, n) singular values may be asked for, which SciPy refuses."""
    least = min(operator.shape)
    if np.dtype(operator.dtype).kind not in "biufc":
        raise ValueError("`A` must be of numeric data type.")
    if math.prod(operator.shape) == 0:
        raise ValueError("`A` must not be empty.")
    if int(k) != k or not 0 < k <= least:
        raise ValueError(f"`k` must be an integer satisfying `0 < k < min(A.shape)`, or that; got {k}")
    if solver == "arpack" and ncv is not None and (int(ncv) != ncv or not k < ncv < least):
        raise ValueError("`ncv` must be an integer satisfying `k < ncv < min(A.shape)`.")
    if tol < 0 or not np.isfinite(tol):
        raise ValueError("`tol` must be a non-negative floating point value.")
    if which not in ("LM", "SM"):
        raise ValueError("`which` must be in {'LM', 'SM'}.")
    if v0 is not None:
        start = v0 if isinstance(v0, ndarray) else np.asarray(v0)
        if start.dtype.kind not in "fc":
            raise ValueError("`v0` must be of floating or complex floating data type.")
        shape = (operator.shape[0] if solver == "propack" else least,)
        if np.atleast_1d(np.empty(start.shape)).shape != shape:
            raise ValueError(f"`v0` must have shape {shape}.")
    if maxiter is not None and (int(maxiter) != maxiter or maxiter <= 0):
        raise ValueError("`maxiter` must be a positive integer.")
    if vectors not in (True, False, "vh", "u"):
        raise ValueError("`return_singular_vectors` must be in {True, False, 'u', 'vh'}.")


def _b_orthonormal(V: ndarray, BV: ndarray) -> tuple[ndarray, ndarray, bool]:
    """V and B V with V^H B V = I, by Cholesky; false where V has not full rank."""
    gram = V.mT.conj() @ BV
    factor, failed = _c.linalg_cholesky_unchecked(gram, True)
    if bool((failed != 0).any()):
        return V, BV, False
    turn = _linalg.inv(factor).mT.conj()
    return V @ turn, BV @ turn, True


def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: ArrayLike | None = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
) -> Any:
    """Eigenvalues at one end of a Hermitian matrix, by the locally optimal block preconditioned conjugate gradient method (Knyazev, 2001).

    Parameters
    ----------
    A : ndarray, sparse matrix, LinearOperator or callable
    X : array_like, (n, k)
        The first guess of the eigenvectors.
    B : optional
        The positive definite matrix of A @ x = w * B @ x.
    M : optional
        A preconditioner: an approximation of the inverse of A.
    Y : array_like, (n, l), optional
        Eigenvectors are looked for that are orthogonal to these, by B.
    tol : float, optional
        The residuals' norm that ends the iteration; n times the root of the precision unless given.
    maxiter : int, optional
        20 unless given.
    largest : bool
        Whether the largest eigenvalues are looked for, else the smallest.
    verbosityLevel : int
        Above 0, iterations are printed.
    retLambdaHistory, retResidualNormsHistory : bool
        Whether lists of each iteration's values and residuals' norms are results too.
    restartControl : int
        The conjugate directions are left out for a step when residuals are so many times the best ones.

    Returns
    -------
    w, v : ndarray
        Eigenvalues (descending where they are the largest, else ascending) and eigenvectors as columns; then the histories.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> w, v = bc.scipy.sparse.linalg.lobpcg(bc.diag(bc.arange(1.0, 51.0)), bc.array(rng.random((50, 2))), maxiter=60, tol=1e-6)
    >>> w.round(6)
    array([50., 49.])
    """
    problem = _Pencil(A, B, M)
    guess = _c.asarray(X)
    if guess.ndim != 2:
        raise ValueError("expected rank-2 array for argument X")
    n, k = guess.shape
    if k < 1 or k > n:
        raise ValueError(f"lobpcg: expected 1 to {n} vectors, got {k}")
    guess = guess.astype(promoted(guess.dtype, getattr(A, "dtype", None)))
    limit = float(np.sqrt(float(np.finfo(guess.dtype).eps))) * n if tol is None else float(tol)
    steps = 20 if maxiter is None else maxiter
    if Y is None and n < 5 * k:
        warn(f"The problem size {n} is too small relative to the block size {k}. A dense eigensolver is used, and there is no history.",
             UserWarning)  # fmt: skip
        dense = _rayleigh_ritz([problem.block(_c.eye(n, dtype=guess.dtype, device=guess.device))], k, largest)
        if dense is None:
            raise ValueError("lobpcg: B is not positive definite")
        return tuple(_c.asarray(np.ascontiguousarray(x), device=guess.device) for x in dense)
    if Y is not None:
        problem.constrain(_c.asarray(Y, device=guess.device).astype(guess.dtype))

    values, at = _first_block(problem, guess, largest)
    directions: _Block | None = None
    values_history, norms_history = [], []
    best: Any = (values, at[0])
    best_norm = float("inf")
    for iteration in range(steps + 1):
        residuals = at[1] - at[2] * values
        lengths = _c.asnumpy(_c.ufuncs["sqrt"]((abs(residuals) ** 2).sum(0)))
        values_history.append(values)
        norms_history.append(lengths)
        if verbosityLevel > 0:
            print(f"{iteration:4d} residual {lengths.max():.4e}")
        worst = float(lengths.max())
        if worst < best_norm:
            best, best_norm = (values, at[0]), worst
        if worst <= limit or iteration == steps:
            break
        if worst > restartControl * best_norm:
            directions = None
        active = np.flatnonzero(lengths > limit).tolist()
        preconditioned = _residual_block(problem, at, residuals[:, active])
        if preconditioned is None:
            break
        parts = [at, preconditioned]
        if directions is not None:
            parts.append(_active_directions(directions, active))
        found = _rayleigh_ritz(parts, k, largest)
        if found is None and len(parts) == 3:
            parts = parts[:2]
            found = _rayleigh_ritz(parts, k, largest)
        if found is None:
            break
        w, coefficients = found
        values = _c.asarray(w.astype(values.dtype), device=guess.device)
        at, directions = _combined(parts, _c.asarray(np.ascontiguousarray(coefficients).astype(guess.dtype), device=guess.device))
    if best_norm > limit:
        warn(f"Exited at iteration {iteration} with accuracies of {best_norm:.3g}, not reaching the tolerance {limit:.3g}.", UserWarning)
    results: list[Any] = [*best]
    if retLambdaHistory:
        results.append(values_history)
    if retResidualNormsHistory:
        results.append(norms_history)
    return tuple(results)


_Block = tuple[ndarray, ndarray, ndarray]  # vectors V as columns, A V and B V


class _Pencil:
    """The matrices of A x = w B x and the preconditioner M as functions of vectors, and the constraints Y."""

    def __init__(self, A: Any, B: Any, M: Any) -> None:
        self.A, self.B, self.M = (self._function(F) for F in (A, B, M))
        self._constraint: _Block | None = None

    @staticmethod
    def _function(F: Any) -> Callable[[ndarray], ndarray]:
        if F is None:
            return lambda V: V
        return F if callable(F) and not isinstance(F, LinearOperator) else aslinearoperator(F).matmat

    def block(self, V: ndarray) -> _Block:
        return V, self.A(V), self.B(V)

    def constrain(self, Y: ndarray) -> None:
        BY = self.B(Y)
        self._constraint = (Y, BY, _linalg.inv(Y.mT.conj() @ BY))

    def free(self, V: ndarray) -> ndarray:
        """V without its part along the constraints."""
        if self._constraint is None:
            return V
        y, by, inverse = self._constraint
        return V - y @ (inverse @ (by.mT.conj() @ V))


def _first_block(problem: _Pencil, guess: ndarray, largest: bool) -> tuple[ndarray, _Block]:
    """The Ritz values and vectors in the span of the first guess."""
    X = problem.free(guess)
    X, BX, independent = _b_orthonormal(X, problem.B(X))
    if not independent:
        raise ValueError("lobpcg: the vectors of X are not independent")
    AX = problem.A(X)
    values, turn = _c.linalg_eigh(X.mT.conj() @ AX, True, True)[:2]
    if largest:
        values, turn = values[::-1], turn[:, ::-1]
    return values, (X @ turn, AX @ turn, BX @ turn)


def _residual_block(problem: _Pencil, at: _Block, residuals: ndarray) -> _Block | None:
    """The preconditioned residuals, orthogonal by B to the vectors and to each other; None where they have not full rank."""
    X, _, BX = at
    W = problem.free(problem.M(residuals))
    W = W - X @ (BX.mT.conj() @ W)
    W, BW, independent = _b_orthonormal(W, problem.B(W))
    if not independent:
        W = _linalg.qr(W)[0]
        W = W - X @ (BX.mT.conj() @ W)
        W, BW, independent = _b_orthonormal(W, problem.B(W))
        if not independent:
            return None
    return W, problem.A(W), BW


def _active_directions(directions: _Block, active: list[int]) -> _Block:
    """The conjugate directions of the vectors that still move, with norm 1 by B."""
    P, AP, BP = (part[:, active] for part in directions)
    scale = _c.ufuncs["sqrt"]((P.conj() * BP).real.sum(0))
    scale = _c.where(scale > 0, scale, 1).astype(P.dtype)
    return P / scale, AP / scale, BP / scale


def _combined(parts: list[_Block], coefficients: ndarray) -> tuple[_Block, _Block]:
    """The new vectors, and the directions in which they moved: what the parts other than the old vectors add."""
    blocks = np.cumsum([0, *(part[0].shape[1] for part in parts)])
    rest = [coefficients[blocks[i] : blocks[i + 1]] for i in range(1, len(parts))]
    moved: list[Any] = [sum(part[j] @ c for part, c in zip(parts[1:], rest, strict=True)) for j in range(3)]
    head = coefficients[: blocks[1]]
    X, AX, BX = parts[0]
    return (X @ head + moved[0], AX @ head + moved[1], BX @ head + moved[2]), (moved[0], moved[1], moved[2])


def _rayleigh_ritz(parts: list[_Block], k: int, largest: bool) -> tuple[np.ndarray, np.ndarray] | None:
    """The wanted eigenvalues of the matrix in the span of the parts, and the coefficients; None where the parts are dependent."""
    S, AS, BS = (_c.concatenate([part[i] for part in parts], 1) for i in range(3))
    left = S.mT.conj()
    both = _c.asnumpy(_c.stack([left @ AS, left @ BS]))
    a, b = ((x + x.conj().T) / 2 for x in both)
    try:
        lower = np.linalg.cholesky(b)
    except np.linalg.LinAlgError:
        return None
    if np.linalg.cond(lower) > 1 / np.sqrt(np.finfo(b.dtype).eps):
        return None
    inverse = np.linalg.inv(lower)
    w, y = np.linalg.eigh(inverse @ a @ inverse.conj().T)
    c = inverse.conj().T @ y
    order = slice(None, -k - 1, -1) if largest else slice(0, k)
    return w[order], c[:, order]
