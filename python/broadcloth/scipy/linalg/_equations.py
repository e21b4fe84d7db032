"""Matrix equations: Sylvester's, Lyapunov's and Riccati's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from ... import _broadcloth as _c
from ... import linalg as _linalg
from ..._broadcloth import ndarray
from ._operands import back, dagger, eps, on_host, operand, over_stacks

if TYPE_CHECKING:
    from ...typing import ArrayLike

_BLOCK = 64  # below it a triangular equation is solved by LAPACK, whose products are not blocked


def _one_square(x: Any, name: str, device: Any = None) -> ndarray:
    a = operand(x, device=device)
    if a.ndim != 2 or a.shape[0] != a.shape[1]:
        raise ValueError(f"Matrix {name} should be square.")
    return a


def _half(t: ndarray) -> int:
    """About half of a Schur form's rows, so that no block of two eigenvalues is cut."""
    h = t.shape[0] // 2
    return h + 1 if t.dtype.kind != "c" and bool(t[h, h - 1] != 0) else h


def _triangular_sylvester(r: ndarray, s: ndarray, f: ndarray, adjoint: bool) -> ndarray:
    """X of r X + X s = f, or r X + X s^H = f, for Schur forms r and s, by halves (Jonsson & Kagstrom, 2002)."""
    m, n = f.shape
    if max(m, n) <= _BLOCK:
        return _c.linalg_sylvester(r, s, f, adjoint)
    if m >= n:
        h = _half(r)
        below = _triangular_sylvester(r[h:, h:], s, f[h:], adjoint)
        return _c.concatenate([_triangular_sylvester(r[:h, :h], s, f[:h] - r[:h, h:] @ below, adjoint), below], 0)
    h = _half(s)
    if adjoint:
        right = _triangular_sylvester(r, s[h:, h:], f[:, h:], adjoint)
        return _c.concatenate([_triangular_sylvester(r, s[:h, :h], f[:, :h] - right @ dagger(s[:h, h:]), adjoint), right], 1)
    left = _triangular_sylvester(r, s[:h, :h], f[:, :h], adjoint)
    return _c.concatenate([left, _triangular_sylvester(r, s[h:, h:], f[:, h:] - left @ s[:h, h:], adjoint)], 1)


@over_stacks(a=2, b=2, q=2)
def solve_sylvester(a: ArrayLike, b: ArrayLike, q: ArrayLike) -> ndarray:
    """The solution X of a @ X + X @ b = q, by the Schur forms of a and b (Bartels & Stewart, 1972).

    Computed by LAPACK; of a GPU's arrays on copies in host memory, with a `PerformanceWarning`.

    Parameters
    ----------
    a : array_like, (m, m)
    b : array_like, (n, n)
    q : array_like, (m, n)

    Raises
    ------
    LinAlgError
        An eigenvalue of a is the negative of one of b, so that there is no unique solution.

    Examples
    --------
    >>> bc.scipy.linalg.solve_sylvester([[1.0, 0.0], [0.0, 2.0]], [[3.0]], [[4.0], [5.0]])
    array([[1.],
           [1.]])
    """
    first = _one_square(a, "a")
    second, right = _one_square(b, "b", first.device), operand(q, device=first.device)
    if right.shape != (first.shape[0], second.shape[0]):
        raise ValueError(f"expected q of shape {(first.shape[0], second.shape[0])}, got {right.shape}")
    dtype = np.result_type(first.dtype, second.dtype, right.dtype)
    x, y, f = on_host("solve_sylvester", first, second, right)
    if 0 in f.shape:
        return back(first.device, f.astype(dtype))[0]
    r, u = _c.linalg_schur(x.astype(dtype, copy=False))
    s, v = _c.linalg_schur(y.astype(dtype, copy=False))
    found = u @ _triangular_sylvester(r, s, dagger(u) @ f.astype(dtype, copy=False) @ v, False) @ dagger(v)
    return back(first.device, found)[0]


@over_stacks(a=2, q=2)
def solve_continuous_lyapunov(a: ArrayLike, q: ArrayLike) -> ndarray:
    """The solution X of a @ X + X @ a.conj().T = q, by the Schur form of a.

    Parameters
    ----------
    a, q : array_like, (n, n)

    Examples
    --------
    >>> bc.scipy.linalg.solve_continuous_lyapunov([[1.0, 0.0], [0.0, 2.0]], [[2.0, 3.0], [3.0, 8.0]])
    array([[1., 1.],
           [1., 2.]])
    """
    first = _one_square(a, "a")
    second = _one_square(q, "q", first.device)
    if first.shape != second.shape:
        raise ValueError("Matrix a and q should have the same shape.")
    dtype = np.result_type(first.dtype, second.dtype)
    x, f = on_host("solve_continuous_lyapunov", first, second)
    if f.size == 0:
        return back(first.device, f.astype(dtype))[0]
    r, u = _c.linalg_schur(x.astype(dtype, copy=False))
    found = u @ _triangular_sylvester(r, r, dagger(u) @ f.astype(dtype, copy=False) @ u, True) @ dagger(u)
    return back(first.device, found)[0]


solve_lyapunov = solve_continuous_lyapunov


@over_stacks(a=2, q=2)
def solve_discrete_lyapunov(a: ArrayLike, q: ArrayLike, method: str | None = None) -> ndarray:
    """The solution X of a @ X @ a.conj().T - X + q = 0.

    Parameters
    ----------
    a, q : array_like, (n, n)
    method : {'direct', 'bilinear'}, optional
        As a system of n**2 equations, or as a continuous equation of the Cayley transform; the first for n < 10 unless given.

    Examples
    --------
    >>> bc.scipy.linalg.solve_discrete_lyapunov([[0.5]], [[3.0]])
    array([[4.]])
    """
    first = _one_square(a, "a")
    second = _one_square(q, "q", first.device)
    if first.shape != second.shape:
        raise ValueError("Matrix a and q should have the same shape.")
    n = first.shape[0]
    kind = ("direct" if n < 10 else "bilinear") if method is None else method.lower()
    if kind not in ("direct", "bilinear"):
        raise ValueError(f"Unknown solver {method}")
    dtype = np.result_type(first.dtype, second.dtype)
    first, second = first.astype(dtype), second.astype(dtype)
    if kind == "direct":
        products = first[:, None, :, None] * first.conj()[None, :, None, :]
        left = _c.eye(n * n, dtype=dtype, device=first.device) - products.reshape(n * n, n * n)
        return _linalg.solve(left, second.reshape(-1)).reshape(n, n)
    one = _c.eye(n, dtype=dtype, device=first.device)
    inverse = _linalg.inv(dagger(first) + one)
    turned = (dagger(first) - one) @ inverse
    return solve_continuous_lyapunov(dagger(turned), -2 * (dagger(inverse) @ second @ inverse))


class _Riccati:
    """A Riccati equation without S and E: those are folded into the other matrices."""

    def __init__(self, a: Any, b: Any, q: Any, r: Any, e: Any, s: Any) -> None:
        self.a = _one_square(a, "a")
        device, n = self.a.device, self.a.shape[0]
        self.b = operand(b, device=device)
        if self.b.ndim == 1:
            self.b = self.b[:, None]
        if self.b.ndim != 2 or self.b.shape[0] != n:
            raise ValueError("Matrix a and b should have the same number of rows.")
        self.q, self.r = _one_square(q, "q", device), _one_square(_c.atleast_2d(_c.asarray(r)), "r", device)
        if self.q.shape != self.a.shape:
            raise ValueError("Matrix a and q should have the same shape.")
        if self.r.shape[0] != self.b.shape[1]:
            raise ValueError("Matrix b and r should have the same number of columns.")
        for name, x in (("q", self.q), ("r", self.r)):
            if bool((_linalg.norm(x - dagger(x)) > _linalg.norm(x) * 100 * eps(x)).any()):
                raise ValueError(f"Matrix {name} should be symmetric/hermitian.")
        dtypes = [x.dtype for x in (self.a, self.b, self.q, self.r)]
        self.e = None if e is None else _one_square(e, "e", device)
        if self.e is not None:
            if self.e.shape != self.a.shape:
                raise ValueError("Matrix a and e should have the same shape.")
            dtypes.append(self.e.dtype)
        cross = None if s is None else operand(s, device=device)
        if cross is not None:
            cross = cross.reshape(self.b.shape) if cross.size == self.b.size else cross
            if cross.shape != self.b.shape:
                raise ValueError("Matrix b and s should have the same shape.")
            dtypes.append(cross.dtype)
        dtype = np.result_type(*dtypes, np.float64)
        self.a, self.b, self.q, self.r = (x.astype(dtype) for x in (self.a, self.b, self.q, self.r))
        self.one = _c.eye(n, dtype=dtype, device=device)
        if self.e is not None:
            self.e = self.e.astype(dtype)
            both = _linalg.solve(self.e, _c.concatenate([self.a, self.b], 1))
            self.a, self.b = both[:, :n], both[:, n:]
        if cross is not None:
            cross = cross.astype(dtype)
            feedback = _linalg.solve(self.r, dagger(cross))
            self.a, self.q = self.a - self.b @ feedback, self.q - cross @ feedback

    def finished(self, x: ndarray) -> ndarray:
        """The solution for E, Hermitian."""
        if not bool(_c.ufuncs["isfinite"](x).all()):
            raise LinAlgError("Failed to find a finite solution.")
        if self.e is not None:
            x = _linalg.solve(dagger(self.e), dagger(_linalg.solve(dagger(self.e), dagger(x))))
        return (x + dagger(x)) / 2


@over_stacks(a=2, b=2, q=2, r=2, e=2, s=2)
def solve_continuous_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, balanced: bool = True
) -> ndarray:
    """The stabilizing solution X of the Riccati equation A^H X + X A - X B R^-1 B^H X + Q = 0.

    By the sign function of the Hamiltonian matrix (Roberts, 1971; Byers, 1987), and steps of Newton's method (Kleinman, 1968) for the
    last digits.

    Parameters
    ----------
    a : array_like, (n, n)
    b : array_like, (n, m)
    q : array_like, (n, n)
    r : array_like, (m, m)
        Invertible.
    e : array_like, (n, n), optional
    s : array_like, (n, m), optional
        The equation is then A^H X E + E^H X A - (E^H X B + S) R^-1 (B^H X E + S^H) + Q = 0.
    balanced : bool
        Of no effect: the iteration is scaled by itself.

    Raises
    ------
    LinAlgError
        There is no stabilizing solution.

    Examples
    --------
    >>> bc.scipy.linalg.solve_continuous_are([[0.0]], [[1.0]], [[4.0]], [[1.0]]).round(9)
    array([[2.]])
    """
    p = _Riccati(a, b, q, r, e, s)
    n = p.a.shape[0]
    gain = p.b @ _linalg.solve(p.r, dagger(p.b))
    z = _c.concatenate([_c.concatenate([p.a, -gain], 1), _c.concatenate([-p.q, -dagger(p.a)], 1)], 0)
    for _ in range(100):
        try:
            inverse = _linalg.inv(z)
        except LinAlgError:
            raise LinAlgError("Failed to find a finite solution.") from None
        # The determinant's modulus 1 makes the iteration fast far from the sign.
        factor = _c.ufuncs["exp"](-_linalg.slogdet(z)[1] / (2 * n))
        following = (factor * z + inverse / factor) / 2
        change, size = _c.asnumpy(_c.stack([_linalg.norm(following - z, 1), _linalg.norm(following, 1)]))
        z = following
        if not np.isfinite(size):
            raise LinAlgError("Failed to find a finite solution.")
        if change <= 1e-9 * size:
            z = (z + _linalg.inv(z)) / 2
            break
    else:
        raise LinAlgError("Failed to find a finite solution.")
    one = p.one
    left = _c.concatenate([z[:n, n:], z[n:, n:] + one], 0)
    right = _c.concatenate([z[:n, :n] + one, z[n:, :n]], 0)
    x = _linalg.lstsq(left, -right)[0]
    x = (x + dagger(x)) / 2
    for _ in range(2):
        residual = dagger(p.a) @ x + x @ p.a - x @ gain @ x + p.q
        closed = p.a - gain @ x
        better = x + solve_continuous_lyapunov(dagger(closed), -residual)
        x = (better + dagger(better)) / 2
    return p.finished(x)


@over_stacks(a=2, b=2, q=2, r=2, e=2, s=2)
def solve_discrete_are(
    a: ArrayLike, b: ArrayLike, q: ArrayLike, r: ArrayLike, e: ArrayLike | None = None, s: ArrayLike | None = None, balanced: bool = True
) -> ndarray:
    """The stabilizing solution X of the Riccati equation A^H X A - X - A^H X B (R + B^H X B)^-1 B^H X A + Q = 0.

    By structure-preserving doubling (Chu, Fan, Lin & Wang, 2004), whose steps converge quadratically.

    Parameters
    ----------
    a, b, q, r, e, s, balanced :
        As `solve_continuous_are`'s. With `e` and `s` the equation is A^H X A - E^H X E - (A^H X B + S) (R + B^H X B)^-1 (B^H X A + S^H) + Q
        = 0.

    Raises
    ------
    LinAlgError
        There is no stabilizing solution, or R is singular.

    Examples
    --------
    >>> bc.scipy.linalg.solve_discrete_are([[0.5]], [[1.0]], [[1.0]], [[1.0]]).round(6)
    array([[1.132782]])
    """
    p = _Riccati(a, b, q, r, e, s)
    g, h, f, one = p.b @ _linalg.solve(p.r, dagger(p.b)), p.q, p.a, p.one
    for _ in range(60):
        try:
            both = _linalg.solve(one + g @ h, _c.concatenate([f, g], 1))
        except LinAlgError:
            raise LinAlgError("Failed to find a finite solution.") from None
        n = f.shape[0]
        through, moved = both[:, :n], both[:, n:]
        added = dagger(f) @ h @ through
        g = g + f @ moved @ dagger(f)
        g = (g + dagger(g)) / 2
        h_new = h + (added + dagger(added)) / 2
        f = f @ through
        change, size = _c.asnumpy(_c.stack([_linalg.norm(h_new - h, 1), _linalg.norm(h_new, 1)]))
        h = h_new
        if not np.isfinite(size):
            raise LinAlgError("Failed to find a finite solution.")
        if change <= 4 * eps(h) * size:
            return p.finished(h)
    raise LinAlgError("Failed to find a finite solution.")
