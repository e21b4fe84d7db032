"""Nodes and weights of Gauss's quadrature for the classical weights.

The nodes are eigenvalues of the symmetric tridiagonal matrix of the recurrence (Golub & Welsch 1969), polished by Newton's method. The
weights come from the sum of the squares of the orthonormal polynomials there. It has no cancellation, but varies fast near the ends of the
interval: nodes that are rounded to float64 would cost the weights four digits, so they are polished in the C compiler's long double. All is
a small computation on the host, whose result goes to the default device.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from ... import _broadcloth as _c

__all__ = [
    "c_roots", "cg_roots", "h_roots", "he_roots", "j_roots", "js_roots", "l_roots", "la_roots", "p_roots", "ps_roots", "roots_chebyc",
    "roots_chebys", "roots_chebyt", "roots_chebyu", "roots_gegenbauer", "roots_genlaguerre", "roots_hermite", "roots_hermitenorm",
    "roots_jacobi", "roots_laguerre", "roots_legendre", "roots_sh_chebyt", "roots_sh_chebyu", "roots_sh_jacobi", "roots_sh_legendre",
    "s_roots", "t_roots", "ts_roots", "u_roots", "us_roots",
]  # fmt: skip

_Host: TypeAlias = "np.ndarray[Any, Any]"
_Rule: TypeAlias = tuple[_Host, _Host, float]


def _count(n: Any) -> int:
    if n < 1 or n != int(n):
        raise ValueError(f"n must be a positive integer, got {n!r}")
    return int(n)


def _degrees(n: int) -> _Host:
    return np.arange(1, n + 1).astype(np.longdouble)


def _given(rule: _Rule, mu: bool) -> Any:
    x, w, total = rule
    arrays = _c.asarray(x.astype(np.float64)), _c.asarray(w.astype(np.float64))
    return (*arrays, total) if mu else arrays


def _gauss(diagonal: _Host, beside: _Host, total: float, symmetric: bool = False) -> _Rule:
    """The rule of n nodes, in long double, from the recurrence of the orthonormal polynomials,
    beside[k] p(k + 1) = (x - diagonal[k]) p(k) - beside[k - 1] p(k - 1); the last of the n numbers `beside` only scales p(n)."""
    x = diagonal.copy()
    if len(x) > 1:
        from ..linalg import eigvalsh_tridiagonal

        d, e = (_c.array(part.astype(np.float64), device="cpu") for part in (diagonal, beside[:-1]))
        x[:] = eigvalsh_tridiagonal(d, e).get()
    half = x[len(x) // 2 :] if symmetric else x
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        # One step is enough: the error of an eigenvalue is that of float64, and is squared. By Christoffel and Darboux's formula
        # beside[-1] p'(n) p(n - 1) is the sum of the squares at a node.
        value, before, squares = _orthonormal(diagonal, beside, half)
        step = value * before * beside[-1] / squares
        half -= np.where(np.isfinite(step), step, 0)
        if symmetric and len(x) % 2:
            half[0] = 0
        squares = _orthonormal(diagonal, beside, half)[2]
        # Where the polynomials overflow the weight is below the smallest number.
        w = total / np.where(np.isnan(squares), np.inf, squares)
    if symmetric:
        mirrored = slice(None, None if len(x) % 2 == 0 else 0, -1)
        x, w = np.concatenate([-half[mirrored], half]), np.concatenate([w[mirrored], w])
    return x, w * (total / w.sum()), total


def _orthonormal(diagonal: _Host, beside: _Host, x: _Host) -> tuple[_Host, _Host, _Host]:
    """p(n) and p(n - 1) at x, and the sum of the squares of p(0) = 1 to p(n - 1)."""
    before, now, squares = np.zeros_like(x), np.ones_like(x), np.zeros_like(x)
    last = 0.0
    for shift, scale in zip(diagonal, beside, strict=True):
        squares += now * now
        before, now = now, ((x - shift) * now - last * before) / scale
        last = scale
    return now, before, squares


def _jacobi(n: int, a: float, b: float) -> _Rule:
    """DLMF 18.9.2 for orthonormal polynomials."""
    if a <= -1 or b <= -1:
        raise ValueError(f"alpha and beta must be greater than -1, got {a} and {b}")
    k = _degrees(n)
    s = np.longdouble(a) + b
    t = 2 * k + s
    with np.errstate(invalid="ignore"):
        squares = 4 * k * (k + a) * (k + b) * (k + s) / (t * t * (t + 1) * (t - 1))
    squares[0] = 4 * (1 + np.longdouble(a)) * (1 + np.longdouble(b)) / ((2 + s) ** 2 * (3 + s))
    diagonal = np.empty_like(k)
    diagonal[0] = (b - a) / (2 + s)
    diagonal[1:] = (b - a) * s / (t[:-1] * (t[:-1] + 2))
    total = 2.0 ** (a + b + 1) * float(_c.ufuncs["beta"](_c.array(a + 1.0, device="cpu"), b + 1.0))
    return _gauss(diagonal, np.sqrt(squares), total, symmetric=a == b)


def _chebyt(n: int) -> _Rule:
    return np.sin(np.arange(1 - n, n, 2) * (math.pi / (2 * n))), np.full(n, math.pi / n), math.pi


def _chebyu(n: int) -> _Rule:
    angle = np.arange(1 - n, n, 2) * (math.pi / (2 * (n + 1)))
    return np.sin(angle), np.cos(angle) ** 2 * (math.pi / (n + 1)), math.pi / 2


def _gegenbauer(n: int, a: float) -> _Rule:
    if a < -0.5:
        raise ValueError(f"alpha must be greater than -0.5, got {a}")
    return _chebyt(n) if a == 0 else _jacobi(n, a - 0.5, a - 0.5)


def _genlaguerre(n: int, a: float) -> _Rule:
    if a <= -1:
        raise ValueError(f"alpha must be greater than -1, got {a}")
    k = _degrees(n)
    return _gauss(2 * k - 1 + a, np.sqrt(k * (k + a)), math.gamma(a + 1))


def _hermitenorm(n: int) -> _Rule:
    return _gauss(np.zeros(n, np.longdouble), np.sqrt(_degrees(n)), math.sqrt(2 * math.pi), symmetric=True)


def _hermite(n: int) -> _Rule:
    return _gauss(np.zeros(n, np.longdouble), np.sqrt(_degrees(n) / 2), math.sqrt(math.pi), symmetric=True)


def _scaled(rule: _Rule, weight: float) -> _Rule:
    """The rule on the unit interval instead of [-1, 1]."""
    x, w, total = rule
    return (x + 1) / 2, w * weight, total * weight


def roots_legendre(n: int, mu: bool = False) -> Any:
    """Gauss and Legendre's quadrature: weight 1 on [-1, 1].

    The polynomials of degree 2 n - 1 and less are integrated exactly. The rule is computed on the host, and its arrays go to the default
    device.

    Parameters
    ----------
    n : int
        The number of nodes, the zeros of the polynomial of degree n.
    mu : bool
        Whether the sum of the weights is returned, too.

    Returns
    -------
    x, w : ndarray of float64, (n,)
        Nodes, ascending, and weights.
    mu : float

    Raises
    ------
    ValueError
        `n` is not a positive whole number.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_legendre(2)
    >>> x
    array([-0.57735027,  0.57735027])
    >>> w
    array([1., 1.])
    """
    return _given(_jacobi(_count(n), 0.0, 0.0), mu)


def roots_jacobi(n: int, alpha: float, beta: float, mu: bool = False) -> Any:
    """Gauss and Jacobi's quadrature: weight (1 - x)**alpha (1 + x)**beta on [-1, 1]; see `roots_legendre`.

    Raises
    ------
    ValueError
        `n` is not a positive whole number, or `alpha` or `beta` is not above -1.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_jacobi(2, 1.0, 0.0)
    >>> x
    array([-0.68989795,  0.28989795])
    """
    return _given(_jacobi(_count(n), float(alpha), float(beta)), mu)


def roots_sh_jacobi(n: int, p1: float, q1: float, mu: bool = False) -> Any:
    """Gauss and Jacobi's quadrature on [0, 1]: weight (1 - x)**(p1 - q1) x**(q1 - 1); see `roots_legendre`.

    Raises
    ------
    ValueError
        `n` is not a positive whole number, p1 - q1 is not above -1, or `q1` not above 0.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_sh_jacobi(2, 2.0, 1.0)
    >>> x
    array([0.15505103, 0.64494897])
    """
    if p1 - q1 <= -1 or q1 <= 0:
        raise ValueError(f"(p - q) must be greater than -1, and q must be greater than 0, got p = {p1} and q = {q1}")
    return _given(_scaled(_jacobi(_count(n), float(p1 - q1), float(q1 - 1)), 2.0**-p1), mu)


def roots_sh_legendre(n: int, mu: bool = False) -> Any:
    """Gauss and Legendre's quadrature on [0, 1]; see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_sh_legendre(2)
    >>> x
    array([0.21132487, 0.78867513])
    """
    return _given(_scaled(_jacobi(_count(n), 0.0, 0.0), 0.5), mu)


def roots_gegenbauer(n: int, alpha: float, mu: bool = False) -> Any:
    """Gauss and Gegenbauer's quadrature: weight (1 - x**2)**(alpha - 1/2) on [-1, 1]; see `roots_legendre`.

    Raises
    ------
    ValueError
        `n` is not a positive whole number, or `alpha` is not above -1/2.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_gegenbauer(2, 1.0)
    >>> x
    array([-0.5,  0.5])
    """
    return _given(_gegenbauer(_count(n), float(alpha)), mu)


def roots_chebyt(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the first kind: weight 1 / sqrt(1 - x**2) on [-1, 1]; see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_chebyt(3)
    >>> x
    array([-0.8660254,  0.       ,  0.8660254])
    """
    return _given(_chebyt(_count(n)), mu)


def roots_chebyu(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the second kind: weight sqrt(1 - x**2) on [-1, 1]; see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_chebyu(2)
    >>> x
    array([-0.5,  0.5])
    """
    return _given(_chebyu(_count(n)), mu)


def roots_chebyc(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the first kind on [-2, 2]: weight 1 / sqrt(1 - x**2 / 4); see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_chebyc(3)
    >>> x
    array([-1.73205081,  0.        ,  1.73205081])
    """
    x, w, total = _chebyt(_count(n))
    return _given((2 * x, 2 * w, 2 * total), mu)


def roots_chebys(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the second kind on [-2, 2]: weight sqrt(1 - x**2 / 4); see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_chebys(2)
    >>> x
    array([-1.,  1.])
    """
    x, w, total = _chebyu(_count(n))
    return _given((2 * x, 2 * w, 2 * total), mu)


def roots_sh_chebyt(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the first kind on [0, 1]: weight 1 / sqrt(x - x**2); see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_sh_chebyt(3)
    >>> x
    array([0.0669873, 0.5      , 0.9330127])
    """
    return _given(_scaled(_chebyt(_count(n)), 1.0), mu)


def roots_sh_chebyu(n: int, mu: bool = False) -> Any:
    """Gauss and Chebyshev's quadrature of the second kind on [0, 1]: weight sqrt(x - x**2); see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_sh_chebyu(2)
    >>> x
    array([0.25, 0.75])
    """
    return _given(_scaled(_chebyu(_count(n)), 0.25), mu)


def roots_laguerre(n: int, mu: bool = False) -> Any:
    """Gauss and Laguerre's quadrature: weight exp(-x) on [0, inf); see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_laguerre(2)
    >>> x
    array([0.58578644, 3.41421356])
    """
    return _given(_genlaguerre(_count(n), 0.0), mu)


def roots_genlaguerre(n: int, alpha: float, mu: bool = False) -> Any:
    """Gauss and Laguerre's generalized quadrature: weight x**alpha exp(-x) on [0, inf); see `roots_legendre`.

    Raises
    ------
    ValueError
        `n` is not a positive whole number, or `alpha` is not above -1.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_genlaguerre(2, 1.0)
    >>> x
    array([1.26794919, 4.73205081])
    """
    return _given(_genlaguerre(_count(n), float(alpha)), mu)


def roots_hermite(n: int, mu: bool = False) -> Any:
    """Gauss and Hermite's quadrature: weight exp(-x**2) on the real line; see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_hermite(2)
    >>> x
    array([-0.70710678,  0.70710678])
    """
    return _given(_hermite(_count(n)), mu)


def roots_hermitenorm(n: int, mu: bool = False) -> Any:
    """Gauss and Hermite's quadrature of the probabilists: weight exp(-x**2 / 2) on the real line; see `roots_legendre`.

    Examples
    --------
    >>> x, w = bc.scipy.special.roots_hermitenorm(2)
    >>> x
    array([-1.,  1.])
    """
    return _given(_hermitenorm(_count(n)), mu)


# SciPy's old names.
p_roots, ps_roots, j_roots, js_roots, cg_roots = roots_legendre, roots_sh_legendre, roots_jacobi, roots_sh_jacobi, roots_gegenbauer
t_roots, u_roots, c_roots, s_roots, ts_roots, us_roots = (
    roots_chebyt, roots_chebyu, roots_chebyc, roots_chebys, roots_sh_chebyt, roots_sh_chebyu,
)  # fmt: skip
l_roots, la_roots, h_roots, he_roots = roots_laguerre, roots_genlaguerre, roots_hermite, roots_hermitenorm
