"""Least squares by Golub and Kahan's bidiagonalization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .... import _broadcloth as _c
from ._krylov import norm, right_side
from ._operators import LinearOperator, aslinearoperator, promoted

if TYPE_CHECKING:
    from ....typing import ArrayLike


class _Bidiagonalization:
    """Vectors u and v and the numbers alpha and beta of A v = beta u + ..., from b - A x0 on."""

    def __init__(self, A: Any, b: Any, x0: Any) -> None:
        self.A: LinearOperator = aslinearoperator(A)
        m, self.n = self.A.shape
        right = right_side(self.A, b)
        if right.shape not in ((m,), (m, 1)):
            raise ValueError(f"shapes of A {self.A.shape} and b {right.shape} are incompatible")
        dtype = promoted(self.A.dtype, right.dtype, None if x0 is None else _c.asarray(x0).dtype)
        right = right.astype(dtype).reshape(-1)
        self.size = float(norm(right))
        if x0 is None:
            self.x, self.u = _c.zeros(self.n, dtype, device=right.device), right
        else:
            self.x = right_side(self.A, x0).astype(dtype).reshape(-1)
            self.u = right - self.A.matvec(self.x)
        self.beta = float(norm(self.u))
        self.alpha = 0.0
        self.v = self.x * 0
        if self.beta > 0:
            self.u = self.u / self.beta
            self._next_v()

    def _next_v(self) -> None:
        v = self.A.rmatvec(self.u) - self.beta * self.v
        self.alpha = float(norm(v))
        self.v = v / self.alpha if self.alpha > 0 else v

    def step(self) -> None:
        """The next u, beta, v and alpha."""
        u = self.A.matvec(self.v) - self.alpha * self.u
        self.beta = float(norm(u))
        if self.beta > 0:
            self.u = u / self.beta
            self._next_v()
        else:
            self.u, self.alpha = u, 0.0


def _symmetric_rotation(a: float, b: float) -> tuple[float, float, float]:
    """c, s and r with c a + s b = r and s a - c b = 0."""
    r = float(np.hypot(a, b))
    return (1.0, 0.0, 0.0) if r == 0 else (a / r, b / r, r)


def _reason(first: float, limit_1: float, second: float, atol: float, condition: float, conlim: float, eps: float) -> int:
    """Why an iteration ends, as both methods number it; 0 where it goes on."""
    if first <= limit_1:
        return 1
    if second <= atol:
        return 2
    if conlim > 0 and condition >= conlim:
        return 3
    if 1 + first <= 1 + eps and first <= eps:
        return 4
    if second <= eps:
        return 5
    return 6 if condition >= 1 / eps else 0


def lsqr(
    A: Any,
    b: ArrayLike,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    iter_lim: int | None = None,
    show: bool = False,
    calc_var: bool = False,
    x0: ArrayLike | None = None,
) -> tuple[Any, ...]:
    """The x with the least norm(A @ x - b)**2 + damp**2 * norm(x - x0)**2, by LSQR (Paige & Saunders, 1982).

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (m, n)
        An operator must have `rmatvec`.
    b : array_like, (m,) or (m, 1)
    damp : float
    atol, btol : float
        Relative errors that A and b are taken to have.
    conlim : float
        The iteration ends when the estimate of the condition reaches it; 0 for no limit.
    iter_lim : int, optional
        2 n unless given.
    show : bool
        Whether each iteration is printed.
    calc_var : bool
        Whether the diagonal of inv(A.H @ A + damp**2 I) is estimated.
    x0 : array_like, (n,), optional

    Returns
    -------
    x, istop, itn, r1norm, r2norm, anorm, acond, arnorm, xnorm, var
        The solution; why it ended (0: x0 is the solution, 1: of a system, 2: of least squares, 3: the condition's limit, 7: too many
        iterations, 4 to 6: the same within rounding); iterations; norms of the residual without and with damping, of A, its condition, of
        A.H @ r, of x; the variances or zeros.

    Examples
    --------
    >>> x = bc.scipy.sparse.linalg.lsqr(bc.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), bc.array([1.0, 0.0, -1.0]))[0]
    >>> x.round(6)
    array([ 1., -1.])
    """
    g = _Bidiagonalization(A, b, x0)
    limit = 2 * g.n if iter_lim is None else iter_lim
    eps = float(np.finfo(g.x.dtype).eps)
    x, w = g.x, g.v
    variances = _c.zeros(g.n, g.x.real.dtype, device=x.device)
    rho_bar, phi_bar = g.alpha, g.beta
    residual = total = g.beta
    normal = g.alpha * g.beta
    if normal == 0:
        return x, 0, 0, residual, total, 0.0, 0.0, normal, float(norm(x)), variances
    squares = inverse_squares = damped = 0.0
    stop = taken = 0
    anorm = acond = xnorm = 0.0
    while taken < limit and not stop:
        taken += 1
        alpha_before = g.alpha
        g.step()
        squares += alpha_before**2 + g.beta**2 + damp**2
        # Damping is taken out by a rotation, then the subdiagonal.
        c, s, rho = _symmetric_rotation(rho_bar, damp)
        psi, phi_bar = s * phi_bar, c * phi_bar
        c, s, rho = _symmetric_rotation(rho, g.beta)
        theta, rho_bar = s * g.alpha, -c * g.alpha
        phi, phi_bar = c * phi_bar, s * phi_bar
        direction = w / rho
        x = x + phi * direction
        w = g.v - theta * direction
        if calc_var:
            variances = variances + abs(direction) ** 2
        inverse_squares += float(norm(direction)) ** 2
        damped += psi**2
        anorm, xnorm = float(np.sqrt(squares)), float(norm(x))
        acond = anorm * float(np.sqrt(inverse_squares))
        total = float(np.sqrt(phi_bar**2 + damped))
        normal = g.alpha * abs(s * phi)
        square = total**2 - damp**2 * xnorm**2
        residual = float(np.sign(square) * np.sqrt(abs(square)))
        first = total / g.size if g.size else 0.0
        second = normal / (anorm * total + eps)
        stop = _reason(first, btol + atol * anorm * xnorm / (g.size or 1.0), second, atol, acond, conlim, eps)
        if show:
            print(f"{taken:6d} residual {residual:10.4e} compatible {first:8.2e} least squares {second:8.2e} condition {acond:8.2e}")
    return x, stop or 7, taken, residual, total, anorm, acond, normal, xnorm, variances


def lsmr(
    A: Any,
    b: ArrayLike,
    damp: float = 0.0,
    atol: float = 1e-6,
    btol: float = 1e-6,
    conlim: float = 1e8,
    maxiter: int | None = None,
    show: bool = False,
    x0: ArrayLike | None = None,
) -> tuple[Any, ...]:
    """The x with the least norm(A @ x - b)**2 + damp**2 * norm(x - x0)**2, by LSMR (Fong & Saunders, 2011).

    Its norm(A.H @ r) falls from iteration to iteration.

    Parameters
    ----------
    A : ndarray, sparse matrix or LinearOperator, (m, n)
        An operator must have `rmatvec`.
    b : array_like, (m,) or (m, 1)
    damp : float
    atol, btol : float
        Relative errors that A and b are taken to have.
    conlim : float
        The iteration ends when the estimate of the condition reaches it; 0 for no limit.
    maxiter : int, optional
        min(m, n) unless given.
    show : bool
        Whether each iteration is printed.
    x0 : array_like, (n,), optional

    Returns
    -------
    x, istop, itn, normr, normar, norma, conda, normx
        As `lsqr`'s; without variances.

    Examples
    --------
    >>> x = bc.scipy.sparse.linalg.lsmr(bc.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]]), bc.array([1.0, 0.0, -1.0]))[0]
    >>> x.round(6)
    array([ 1., -1.])
    """
    g = _Bidiagonalization(A, b, x0)
    limit = min(g.A.shape) if maxiter is None else maxiter
    eps = float(np.finfo(g.x.dtype).eps)
    x, h = g.x, g.v
    h_bar = x * 0
    alpha_bar, zeta_bar = g.alpha, g.alpha * g.beta
    rho = rho_bar = c_bar = 1.0
    s_bar = 0.0
    # The residual's norm, by the rotations of Section 5.1 of the paper.
    beta_dd, beta_d, rho_d_old, tau_old, theta_tilde, zeta, square_d = g.beta, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0
    squares = g.alpha**2
    largest, smallest = 0.0, float("inf")
    normr, normar, norma, conda, normx = g.beta, abs(zeta_bar), g.alpha, 1.0, float(norm(x))
    if normar == 0:
        return x, 0, 0, normr, normar, norma, conda, normx
    stop = taken = 0
    while taken < limit and not stop:
        taken += 1
        g.step()
        c_hat, s_hat, alpha_hat = _symmetric_rotation(alpha_bar, damp)
        rho_old = rho
        c, s, rho = _symmetric_rotation(alpha_hat, g.beta)
        theta_new, alpha_bar = s * g.alpha, c * g.alpha
        rho_bar_old, zeta_old = rho_bar, zeta
        theta_bar, before = s_bar * rho, c_bar * rho
        c_bar, s_bar, rho_bar = _symmetric_rotation(before, theta_new)
        zeta, zeta_bar = c_bar * zeta_bar, -s_bar * zeta_bar
        h_bar = h - (theta_bar * rho / (rho_old * rho_bar_old)) * h_bar
        x = x + (zeta / (rho * rho_bar)) * h_bar
        h = g.v - (theta_new / rho) * h
        acute, check = c_hat * beta_dd, -s_hat * beta_dd
        hat, beta_dd = c * acute, -s * acute
        theta_tilde_old = theta_tilde
        c_tilde, s_tilde, rho_tilde_old = _symmetric_rotation(rho_d_old, theta_bar)
        theta_tilde, rho_d_old = s_tilde * rho_bar, c_tilde * rho_bar
        beta_d = -s_tilde * beta_d + c_tilde * hat
        tau_old = (zeta_old - theta_tilde_old * tau_old) / rho_tilde_old
        tau_d = (zeta - theta_tilde * tau_old) / rho_d_old
        square_d += check**2
        normr = float(np.sqrt(square_d + (beta_d - tau_d) ** 2 + beta_dd**2))
        squares += g.beta**2
        norma = float(np.sqrt(squares))
        squares += g.alpha**2
        largest = max(largest, rho_bar_old)
        if taken > 1:
            smallest = min(smallest, rho_bar_old)
        conda = max(largest, before) / min(smallest, before) if before else float("inf")
        normar, normx = abs(zeta_bar), float(norm(x))
        first = normr / g.size if g.size else 0.0
        second = normar / (norma * normr) if norma * normr else float("inf")
        stop = _reason(first, btol + atol * norma * normx / (g.size or 1.0), second, atol, conda, conlim, eps)
        if show:
            print(f"{taken:6d} residual {normr:10.4e} compatible {first:8.2e} least squares {second:8.2e} condition {conda:8.2e}")
    return x, stop or 7, taken, normr, normar, norma, conda, normx
