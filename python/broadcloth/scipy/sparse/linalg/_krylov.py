"""Iterative methods for systems of equations. Vectors stay on the device; what decides about the next step is read in one copy."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from ...._broadcloth import ndarray
from ...._warnings import warn
from ._operators import IdentityOperator, LinearOperator, aslinearoperator, promoted

if TYPE_CHECKING:
    from ....typing import ArrayLike

_vdot, _sqrt, _where = _c.vdot, _c.ufuncs["sqrt"], _c.where


def norm(x: ndarray) -> ndarray:
    """The Euclidean norm of a vector, not read."""
    return _sqrt(_vdot(x, x).real)


def read(*values: ndarray) -> list[Any]:
    """Numbers of the device in one copy: real where they are, else complex."""
    found = _c.asnumpy(_c.stack(values))
    return [v.real.item() if value.dtype.kind != "c" else v.item() for v, value in zip(found, values, strict=True)]


def right_side(A: LinearOperator, b: Any) -> ndarray:
    """A vector of the system's right sides where the matrix lies."""
    device = getattr(A, "device", None)
    return _c.asarray(b) if device is None else _c.asarray(b, device=device)


class System:
    """A square system A x = b with its preconditioner and first guess, checked as SciPy's methods check them."""

    def __init__(self, name: str, A: Any, b: Any, x0: Any, M: Any) -> None:
        given = A
        self.A = aslinearoperator(A)
        if self.A.shape[0] != self.A.shape[1]:
            raise ValueError(f"expected square matrix, but got shape={(self.A.shape,)}")
        n = self.A.shape[0]
        right = right_side(self.A, b)
        if right.shape not in ((n,), (n, 1)):
            raise ValueError(f"shapes of A {self.A.shape} and b {right.shape} are incompatible")
        dtype = promoted(self.A.dtype, right.dtype)
        self.name, self.n, self.dtype = name, n, dtype
        self.b = right.astype(dtype).reshape(-1)
        self.M = self._preconditioner(given, M)
        self.guessed = x0 is not None
        if x0 is None:
            self.x = _c.zeros(self.b.shape, dtype, device=self.b.device)
        elif isinstance(x0, str):
            if x0 != "Mb":
                raise ValueError(f"{name}: expected x0 to be an array or 'Mb', got {x0!r}")
            self.x = self.M.matvec(self.b)
        else:
            guess = right_side(self.A, x0)
            if guess.shape not in ((n,), (n, 1)):
                raise ValueError(f"shapes of A {self.A.shape} and x0 {guess.shape} are incompatible")
            self.x = guess.astype(dtype).reshape(-1)

    def _preconditioner(self, given: Any, M: Any) -> LinearOperator:
        if M is None:
            solve, adjoint = getattr(given, "psolve", None), getattr(given, "rpsolve", None)
            if solve is None and adjoint is None:
                return IdentityOperator(self.A.shape, self.dtype)
            same = lambda x: x
            return LinearOperator(self.A.shape, solve or same, adjoint or same, dtype=self.dtype)
        found = aslinearoperator(M)
        if found.shape != self.A.shape:
            raise ValueError("matrix and preconditioner have different shapes")
        return found

    def residual(self) -> ndarray:
        """b - A x of the first guess."""
        return self.b - self.A.matvec(self.x) if self.guessed else self.b

    def tolerance(self, rtol: float, atol: float) -> tuple[float, float]:
        """The norm of b, and the norm of a residual that ends the iteration."""
        if isinstance(atol, str) or atol is None or atol < 0:
            raise ValueError(
                f"'scipy.sparse.linalg.{self.name}' called with invalid `atol`={atol}; if set, `atol` must be a real, non-negative number."
            )
        size = float(norm(self.b))
        return size, max(float(atol), float(rtol) * size)

    @property
    def tiny(self) -> float:
        """Inner products below it are a breakdown."""
        return float(np.finfo(self.dtype).eps) ** 2


_PARAMETERS = """
    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (n, n)
        {matrix}
    b : array_like, (n,) or (n, 1)
    x0 : array_like, optional
        The first guess; zeros unless given, and 'Mb' for the preconditioner's product with b.
    rtol, atol : float
        The iteration ends when norm(b - A @ x) <= max(rtol * norm(b), atol).
    maxiter : int, optional
        {steps}
    M : ndarray, sparse matrix or LinearOperator, optional
        A preconditioner: an approximation of the inverse of A.
    callback : callable, optional
        {callback}

    Returns
    -------
    x : ndarray, (n,)
    info : int
        0 where it converged, the number of iterations where it did not, below 0 where the method broke down.
"""


def _documented(
    matrix: str,
    example: str = "[[4.0, 1.0], [1.0, 3.0]]",
    steps: str = "The greatest number of iterations; 10 n unless given.",
    callback: str = "Called with x after each iteration.",
) -> Callable[[Any], Any]:
    """Adds what the methods have in common to the docstring's first line."""

    def add(f: Any) -> Any:
        common = inspect.cleandoc(_PARAMETERS.format(matrix=matrix, steps=steps, callback=callback))
        call = f">>> x, info = bc.scipy.sparse.linalg.{f.__name__}(bc.array({example}), bc.array([1.0, 2.0]), rtol=1e-10)"
        shown = f"{call}\n>>> info, (bc.array({example}) @ x).round(6)\n(0, array([1., 2.]))\n"
        f.__doc__ = f"{inspect.cleandoc(f.__doc__)}\n\n{common}\n\nExamples\n--------\n{shown}"
        return f

    return add


_GENERAL = "Any invertible matrix."
_BOTH = "Any invertible matrix; an operator must have `rmatvec`."


@_documented("A Hermitian positive definite matrix.")
def cg(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The conjugate gradient method (Hestenes & Stiefel, 1952)."""
    s = System("cg", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    x, r = s.x, s.residual()
    # A GPU would wait for each read. So it goes on for some iterations, whose steps are 0 once the residual is small enough.
    every = 1 if callback or s.b.device.type == "cpu" else 8
    live = _c.ones((), bool, device=s.b.device)
    p: Any = None
    rho_before: Any = None
    for iteration in range(s.n * 10 if maxiter is None else maxiter):
        live = live & (norm(r) >= limit)
        if iteration % every == 0 and not bool(live):
            return x, 0
        z = s.M.matvec(r)
        rho = _vdot(r, z)
        p = z if p is None else z + _where(live, rho / rho_before, 0) * p
        q = s.A.matvec(p)
        alpha = _where(live, rho / _vdot(p, q), 0)
        x = x + alpha * p
        r = r - alpha * q
        rho_before = rho
        if callback:
            callback(x)
    return (x, 0) if every > 1 and not bool(live) else (x, s.n * 10 if maxiter is None else maxiter)


@_documented(_BOTH)
def bicg(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The biconjugate gradient method (Fletcher, 1976)."""
    s = System("bicg", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    x, r = s.x, s.residual()
    shadow = r
    p: Any = None
    shadow_p: Any = None
    rho_before: Any = None
    steps = s.n * 10 if maxiter is None else maxiter
    for _ in range(steps):
        z, shadow_z = s.M.matvec(r), s.M.rmatvec(shadow)
        rho = _vdot(shadow, z)
        length, product = read(norm(r), rho)
        if length < limit:
            return x, 0
        if abs(product) < s.tiny * length:
            return x, -10
        if p is None:
            p, shadow_p = z, shadow_z
        else:
            beta = rho / rho_before
            p, shadow_p = z + beta * p, shadow_z + beta.conj() * shadow_p
        q, shadow_q = s.A.matvec(p), s.A.rmatvec(shadow_p)
        divisor = _vdot(shadow_p, q)
        if complex(divisor) == 0:
            return x, -11
        alpha = rho / divisor
        x, r, shadow = x + alpha * p, r - alpha * q, shadow - alpha.conj() * shadow_q
        rho_before = rho
        if callback:
            callback(x)
    return x, steps


@_documented(_GENERAL)
def bicgstab(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The stabilized biconjugate gradient method (van der Vorst, 1992)."""
    s = System("bicgstab", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    x, r = s.x, s.residual()
    shadow = r
    rho_before: Any = None
    alpha: Any = None
    omega: Any = None
    v: Any = None
    p: Any = None
    steps = s.n * 10 if maxiter is None else maxiter
    for _ in range(steps):
        rho = _vdot(shadow, r)
        length, product, *before = read(norm(r), rho, *([] if omega is None else [omega]))
        if length < limit:
            return x, 0
        if abs(product) < s.tiny * length * size:
            return x, -10
        if before and before[0] == 0:
            return x, -11
        p = r if p is None else r + (rho / rho_before) * (alpha / omega) * (p - omega * v)
        preconditioned = s.M.matvec(p)
        v = s.A.matvec(preconditioned)
        divisor = _vdot(shadow, v)
        alpha = rho / divisor
        half = r - alpha * v
        divisor_value, length = read(divisor, norm(half))
        if divisor_value == 0:
            return x, -11
        if length < limit:
            return x + alpha * preconditioned, 0
        second = s.M.matvec(half)
        t = s.A.matvec(second)
        omega = _vdot(t, half) / _vdot(t, t)
        x = x + alpha * preconditioned + omega * second
        r = half - omega * t
        rho_before = rho
        if callback:
            callback(x)
    return x, steps


@_documented(_GENERAL)
def cgs(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The conjugate gradient squared method (Sonneveld, 1989)."""
    s = System("cgs", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    x, r = s.x, s.residual()
    shadow = r
    rho_before: Any = None
    p: Any = None
    q: Any = None
    steps = s.n * 10 if maxiter is None else maxiter
    for _ in range(steps):
        rho = _vdot(shadow, r)
        length, product = read(norm(r), rho)
        if length < limit:
            # Squared residuals lose digits: the method ends by the true residual, and goes on from it where it is too large.
            r = s.b - s.A.matvec(x)
            if float(norm(r)) < limit:
                return x, 0
            shadow, p = r, None
            rho = _vdot(shadow, r)
        elif abs(product) < s.tiny * length * size:
            return x, -10
        if p is None:
            u = p = r
        else:
            beta = rho / rho_before
            u = r + beta * q
            p = u + beta * (q + beta * p)
        v = s.A.matvec(s.M.matvec(p))
        divisor = _vdot(shadow, v)
        if complex(divisor) == 0:
            return x, -11
        alpha = rho / divisor
        q = u - alpha * v
        both = s.M.matvec(u + q)
        x = x + alpha * both
        r = r - alpha * s.A.matvec(both)
        rho_before = rho
        if callback:
            callback(x)
    return x, steps


def _rotation(a: complex, b: complex) -> tuple[float, complex]:
    """c and s of the Givens rotation that takes (a, b) to (r, 0)."""
    length = float(np.hypot(abs(a), abs(b)))
    if length == 0:
        return 1.0, 0.0
    if a == 0:
        return 0.0, np.conj(b) / abs(b)
    return abs(a) / length, (a / abs(a)) * np.conj(b) / length


def orthogonalized(V: Any, w: Any) -> tuple[Any, Any]:
    """`w` less its parts along the rows of V, and those parts, of our arrays or NumPy's: classical Gram-Schmidt, twice (Giraud et
    al., 2005)."""
    h = V.conj() @ w
    w = w - h @ V
    more = V.conj() @ w
    return w - more @ V, h + more


@_documented(
    _GENERAL,
    steps="The greatest number of restart cycles (of inner iterations for a 'legacy' callback); 10 n unless given.",
    callback="See `callback_type`: 'x' (called with x after each cycle), 'pr_norm' or 'legacy' (with the preconditioned residual's\n"
    "        relative norm after each inner iteration). `restart` is the number of inner iterations of a cycle, min(20, n) unless given.",
)
def gmres(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, restart: int | None = None, maxiter: int | None = None,
    M: Any = None, callback: Callable[[Any], Any] | None = None, callback_type: str | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The generalized minimal residual method with restarts (Saad & Schultz, 1986)."""
    if callback is not None and callback_type is None:
        warn("scipy.sparse.linalg.gmres called without specifying `callback_type`: 'legacy' is taken", DeprecationWarning)
    kind = callback_type or "legacy"
    if kind not in ("x", "pr_norm", "legacy"):
        raise ValueError(f"Unknown callback_type: {callback_type!r}")
    s = System("gmres", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    steps = s.n * 10 if maxiter is None else maxiter
    width = min(20 if restart is None else restart, s.n)
    inner_limit = steps if kind == "legacy" and callback else None
    scale = float(norm(s.M.matvec(s.b)))
    x, r, taken = s.x, s.residual(), 0
    length = float(norm(r))
    # The preconditioned residual is what a cycle sees; its target moves until the true residual is small enough.
    share = limit / size
    cycles = 0
    while cycles < steps and length > limit:
        cycles += 1
        z = s.M.matvec(r)
        x, inner, estimate = _cycle(s, x, z, width, share * scale, scale, callback if kind != "x" else None,
                                    None if inner_limit is None else inner_limit - taken)  # fmt: skip
        taken += inner
        r = s.b - s.A.matvec(x)
        length = float(norm(r))
        if callback and kind == "x":
            callback(x)
        if length > limit and estimate <= share * scale:
            share = max(share * 0.25, float(np.finfo(s.dtype).eps))
        if inner_limit is not None and taken >= inner_limit:
            break
        if inner == 0:
            break
    return (x, 0) if length <= limit else (x, cycles if inner_limit is None else taken)


def _cycle(
    s: System, x: ndarray, z: ndarray, width: int, limit: float, scale: float, callback: Any, budget: int | None
) -> tuple[ndarray, int, float]:
    """One cycle of GMRES: Arnoldi's process on the device, the small least squares problem by rotations on the host."""
    beta = float(norm(z))
    if beta == 0:
        return x, 0, 0.0
    V = _c.zeros((width + 1, s.n), s.dtype, device=z.device)
    V[0] = z / beta
    R = np.zeros((width, width), complex if s.dtype.kind == "c" else float)
    g = np.zeros(width + 1, R.dtype)
    g[0] = beta
    rotations: list[tuple[float, complex]] = []
    used = 0
    for j in range(width if budget is None else min(width, budget)):
        w = s.M.matvec(s.A.matvec(V[j]))
        before = norm(w)
        w, h = orthogonalized(V[: j + 1], w)
        after = norm(w)
        column = _c.asnumpy(_c.concatenate([h, after.reshape(1).astype(s.dtype), before.reshape(1).astype(s.dtype)]))
        column, grown = column[:-1].astype(R.dtype), abs(column[-1])
        for i, (c, sine) in enumerate(rotations):
            a, b = column[i], column[i + 1]
            column[i], column[i + 1] = c * a + sine * b, -np.conj(sine) * a + c * b
        below = column[j + 1]
        c, sine = _rotation(column[j], below)
        rotations.append((c, sine))
        column[j] = c * column[j] + sine * below
        R[: j + 1, j] = column[: j + 1]
        g[j], g[j + 1] = c * g[j], -np.conj(sine) * g[j]
        used = j + 1
        if callback:
            callback(abs(g[j + 1]) / scale)
        if abs(g[j + 1]) <= limit or abs(below) <= np.finfo(s.dtype).eps * grown:
            break
        if used < width:
            V[used] = w / after
    y = _solve_upper(R[:used, :used], g[:used])
    return x + _c.asarray(y.astype(s.dtype), device=x.device) @ V[:used], used, float(abs(g[used]))


def _solve_upper(R: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Back substitution; a direction that the matrix takes to zero gets none of the solution."""
    y = np.zeros_like(g)
    tiny = np.finfo(R.dtype).eps * abs(R).max(initial=0)
    for i in range(len(g) - 1, -1, -1):
        if abs(R[i, i]) > tiny:
            y[i] = (g[i] - R[i, i + 1 :] @ y[i + 1 :]) / R[i, i]
    return y


@_documented(
    _GENERAL,
    steps="The greatest number of outer iterations (1000).",
    callback="Called with x after each outer iteration. `inner_m` inner iterations make an outer one, `outer_k` corrections of\n"
    "        earlier ones are kept; `outer_v` is a list of pairs (v, A @ v) that is used and, as corrections come, changed in place.",
)
def lgmres(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int = 1000, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None, inner_m: int = 30, outer_k: int = 3, outer_v: list[Any] | None = None,
    store_outer_Av: bool = True, prepend_outer_v: bool = False,
) -> tuple[ndarray, int]:  # fmt: skip
    """GMRES with corrections of earlier cycles as further directions (Baker, Jessup & Manteuffel, 2005)."""
    s = System("lgmres", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    kept: list[Any] = [] if outer_v is None else outer_v
    x = s.x
    for _ in range(maxiter):
        r = s.b - s.A.matvec(x)
        if callback:
            callback(x)
        if float(norm(r)) <= limit:
            return x, 0
        # The directions' images are made orthonormal; the residual's parts along them say how far each direction goes.
        correction = _augmented(s, s.M.matvec(r), inner_m, kept, prepend_outer_v)
        length = float(norm(correction))
        if length == 0 or not np.isfinite(length):
            break
        x = x + correction
        unit = correction / length
        kept.append((unit, s.A.matvec(unit) if store_outer_Av else None))
        del kept[: max(0, len(kept) - outer_k)]
    return (x, 0) if float(norm(s.b - s.A.matvec(x))) <= limit else (x, maxiter)


def _augmented(s: System, z: ndarray, inner: int, extra: list[Any], first: bool) -> ndarray:
    """The correction with the least preconditioned residual in the span of Krylov vectors and given ones (flexible Arnoldi)."""
    directions: list[ndarray] = []
    width = min(inner, s.n) + len(extra)
    beta = norm(z)
    V = _c.zeros((width + 1, s.n), s.dtype, device=z.device)
    V[0] = z / beta
    columns = []
    for j in range(width):
        krylov = j >= len(extra) if first else j < width - len(extra)
        place = j if first else j - (width - len(extra))
        d, image = (V[j], None) if krylov else extra[place]
        directions.append(d)
        w, h = orthogonalized(V[: j + 1], s.M.matvec(s.A.matvec(d) if image is None else image))
        after = norm(w)
        columns.append(_c.concatenate([h, after.reshape(1).astype(s.dtype)]))
        # A direction whose image is known already leaves a zero row, which gets no part of the solution.
        V[j + 1] = _where(after > 0, w / after, 0)
    H = np.zeros((width + 1, width), s.dtype)
    for j, column in enumerate(columns):
        H[: j + 2, j] = _c.asnumpy(column)
    g = np.zeros(width + 1, s.dtype)
    g[0] = float(beta)
    y = np.linalg.lstsq(H, g, rcond=np.finfo(s.dtype).eps * width)[0]
    return _c.asarray(y.astype(s.dtype), device=z.device) @ _c.stack(directions)


@_documented("A real symmetric or Hermitian matrix, definite or not.", steps="The greatest number of iterations; 5 n unless given.")
def minres(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, shift: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None, show: bool = False, check: bool = False,
) -> tuple[ndarray, int]:  # fmt: skip
    """The minimal residual method (Paige & Saunders, 1975) for (A - shift I) x = b.

    It ends when the residual is small beside norm(A) norm(x).

    `show` prints the estimates of each iteration; `check` looks whether A and M are symmetric and M is positive definite.
    """
    s = System("minres", A, b, x0, M)
    steps = 5 * s.n if maxiter is None else maxiter
    x = s.x
    r1 = s.residual() + shift * x if s.guessed else s.b
    y = s.M.matvec(r1)
    beta1 = float(_vdot(r1, y).real)
    if beta1 < 0:
        raise ValueError("indefinite preconditioner")
    if beta1 == 0 or not float(norm(s.b)):
        return (x, 0) if beta1 == 0 else (s.b, 0)
    beta1 = float(np.sqrt(beta1))
    if check:
        _check_symmetric(s.A, y, "matrix")
        _check_symmetric(s.M, y, "preconditioner")
    r2 = r1
    w = w2 = x * 0
    before, beta, bar, epsilon = 0.0, beta1, 0.0, 0.0
    cosine, sine, phi = -1.0, 0.0, beta1
    square, smallest = 0.0, float(np.finfo(s.dtype).eps)
    done = 0
    for done in range(1, steps + 1):
        v = y / beta
        y = s.A.matvec(v) - shift * v
        if done > 1:
            y = y - (beta / before) * r1
        alpha = _vdot(v, y).real
        y = y - (alpha / beta) * r2
        r1, r2 = r2, y
        y = s.M.matvec(r2)
        alpha, product = read(alpha, _vdot(r2, y).real)
        before = beta
        if product < 0 and product < -smallest * abs(alpha) * beta:
            raise ValueError("non-symmetric matrix")
        beta = float(np.sqrt(max(product, 0.0)))
        square += alpha**2 + before**2 + beta**2
        # The QR factorization of the tridiagonal matrix goes on by one rotation.
        old = epsilon
        delta = cosine * bar + sine * alpha
        gamma_bar = sine * bar - cosine * alpha
        epsilon, bar = sine * beta, -cosine * beta
        gamma = max(float(np.hypot(gamma_bar, beta)), smallest)
        cosine, sine = gamma_bar / gamma, beta / gamma
        step, phi = cosine * phi, sine * phi
        w1, w2 = w2, w
        w = (v - old * w1 - delta * w2) / gamma
        x = x + step * w
        if callback:
            callback(x)
        size, length = float(np.sqrt(square)), float(norm(x))
        if show:
            print(f"{done:6d} residual {abs(phi):.4e} matrix {size:.4e} solution {length:.4e}")
        if abs(phi) <= max(rtol, smallest) * size * length or beta <= smallest * beta1:
            return x, 0
        # A least squares solution: the residual is in the kernel.
        if float(np.hypot(gamma_bar, bar)) <= max(rtol, smallest) * size and done > 1 and abs(gamma_bar) <= smallest * size:
            return x, 0
    return x, done if steps else 0


def _check_symmetric(A: LinearOperator, y: ndarray, what: str) -> None:
    w = A.matvec(y)
    again = A.matvec(w)
    s, t = read(_vdot(w, w).real, _vdot(y, again).real)
    eps = float(np.finfo(w.dtype).eps)
    if abs(s - t) > (abs(s) + eps) * eps ** (1 / 3):
        raise ValueError(f"non-symmetric {what}")


def _own_preconditioner(A: Any, s: System, side: str) -> LinearOperator:
    """One side's preconditioner of a matrix that brings its own along: `psolve(b, "left")`, and `rpsolve` for the adjoint."""
    return LinearOperator(s.A.shape, lambda b: A.psolve(b, side), lambda b: A.rpsolve(b, side), dtype=s.dtype)


@_documented(_BOTH)
def qmr(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M1: Any = None,
    M2: Any = None, callback: Callable[[ndarray], Any] | None = None,
) -> tuple[ndarray, int]:  # fmt: skip
    """The quasi-minimal residual method (Freund & Nachtigal, 1991) without look-ahead, preconditioned from the left and the right."""
    s = System("qmr", A, b, x0, None)
    if M1 is None and M2 is None and hasattr(A, "psolve"):
        left, right = (_own_preconditioner(A, s, side) for side in ("left", "right"))
    else:
        left = IdentityOperator(s.A.shape, s.dtype) if M1 is None else aslinearoperator(M1)
        right = IdentityOperator(s.A.shape, s.dtype) if M2 is None else aslinearoperator(M2)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    x, r = s.x, s.residual()
    steps = s.n * 10 if maxiter is None else maxiter
    v = w = r
    y, z = left.matvec(v), right.rmatvec(w)
    rho, xi = read(norm(y), norm(z))
    gamma, theta = 1.0, 0.0
    eta: Any = -1.0
    p: Any = None
    q: Any = None
    d: Any = None
    t: Any = None
    epsilon: Any = None
    for _ in range(steps):
        length = float(norm(r))
        if length < limit:
            return x, 0
        if rho < s.tiny * size:
            return x, -10
        if xi < s.tiny * size:
            return x, -15
        v, y, w, z = v / rho, y / rho, w / xi, z / xi
        delta = _vdot(z, y).item()
        if abs(delta) < s.tiny:
            return x, -13
        y_new, z_new = right.matvec(y), left.rmatvec(z)
        if p is None:
            p, q = y_new, z_new
        else:
            p = y_new - (xi * delta / epsilon) * p
            q = z_new - np.conj(rho * delta / epsilon) * q
        image = s.A.matvec(p)
        epsilon = _vdot(q, image).item()
        if epsilon == 0 or not np.isfinite(epsilon):
            return x, -14
        beta = epsilon / delta
        if beta == 0:
            return x, -11
        v = image - beta * v
        y = left.matvec(v)
        rho_before = rho
        w = s.A.rmatvec(q) - np.conj(beta) * w
        z = right.rmatvec(w)
        rho, xi = read(norm(y), norm(z))
        gamma_before, theta_before = gamma, theta
        theta = rho / (gamma_before * abs(beta))
        gamma = 1 / float(np.sqrt(1 + theta**2))
        if gamma == 0:
            return x, -12
        eta = eta * -(rho_before / beta) * (gamma / gamma_before) ** 2
        if d is None:
            d, t = eta * p, eta * image
        else:
            factor = (theta_before * gamma) ** 2
            d, t = eta * p + factor * d, eta * image + factor * t
        x, r = x + d, r - t
        if callback:
            callback(x)
    return x, steps


@_documented(_GENERAL)
def tfqmr(
    A: Any, b: ArrayLike, x0: Any = None, *, rtol: float = 1e-5, atol: float = 0.0, maxiter: int | None = None, M: Any = None,
    callback: Callable[[ndarray], Any] | None = None, show: bool = False,
) -> tuple[ndarray, int]:  # fmt: skip
    """The transpose-free quasi-minimal residual method (Freund, 1993). `show` prints how it ended."""
    s = System("tfqmr", A, b, x0, M)
    size, limit = s.tolerance(rtol, atol)
    if size == 0:
        return s.b, 0
    # The system A M y = b with x = M y: the residual is that of A x = b.
    apply = lambda v: s.A.matvec(s.M.matvec(v))
    x, r = s.x, s.residual()
    steps = min(10000, s.n * 10) if maxiter is None else maxiter
    shadow = u = w = r
    v = image = apply(u)
    d = r * 0
    rho = _vdot(shadow, r)
    tau = norm(r)
    theta: Any = 0.0
    eta: Any = 0.0
    alpha: Any = None
    if float(tau) <= limit:
        return x, 0
    for iteration in range(2 * steps):
        even = iteration % 2 == 0
        if even:
            divisor = _vdot(shadow, v)
            if complex(divisor) == 0:
                return x, -1
            alpha = rho / divisor
            following = u - alpha * v
        w = w - alpha * image
        d = u + (theta**2 / alpha) * eta * d
        theta = norm(w) / tau
        c = 1 / _sqrt(1 + theta**2)
        tau = tau * theta * c
        eta = c**2 * alpha
        x = x + eta * s.M.matvec(d)
        # tau times a root bounds the residual's norm.
        if float(tau) * np.sqrt(iteration + 2) <= limit and float(norm(s.b - s.A.matvec(x))) <= limit:
            if show:
                print(f"TFQMR: converged after {iteration // 2 + 1} iterations")
            return x, 0
        if not even:
            if callback:
                callback(x)
            rho_new = _vdot(shadow, w)
            beta = rho_new / rho
            rho = rho_new
            following = w + beta * u
            v = beta * (image + beta * v)
        u = following
        image = apply(u)
        if not even:
            v = v + image
    if show:
        print(f"TFQMR: no convergence after {steps} iterations")
    return x, steps
