"""Legendre functions of whole degree and order with their derivatives.

A function of the first kind is a power of sqrt(1 - z**2) times a derivative of Legendre's polynomial, which runs upwards in the degree
(DLMF 18.9.19, 14.10.3); derivatives follow by the product rule, with the right limits at 1 and -1. Functions of the second kind run in the
degree in the direction that is stable, and in the order by Legendre's equation."""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import _real, special_function
from ._polynomials import eval_legendre

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = [
    "assoc_legendre_p", "assoc_legendre_p_all", "legendre_p", "legendre_p_all", "lqmn", "lqn", "sph_harm_y_all", "sph_legendre_p",
    "sph_legendre_p_all",
]  # fmt: skip


# ---- The first kind, one element


def _polynomial(n: Any, k: Any, z: Any) -> Any:
    """The k-th derivative of Legendre's polynomial of degree n, over (2 k - 1)!!."""
    before = z * 0
    if n < k:
        return before
    now = before + 1
    for degree in range(k, n):
        after = ((2 * degree + 1) * z * now - (degree + k) * before) / (degree + 1 - k)
        before = now
        now = after
    return now


def _first_kind(n: Any, m: Any, z: Any, root: Any, turned: Any, norm: Any, derivative: Any) -> Any:
    """P of degree n and order m, or its first or second derivative. `root` is sqrt(1 - z**2), or sqrt(z**2 - 1) where `turned`."""
    order = abs(m)
    if order > n or n < 0:
        return z * 0
    # The factor that all terms share; a step of the order takes two steps of the factorials, so that nothing overflows on the way.
    factor = math.sqrt(n + 0.5) if norm else 1.0
    for k in range(1, order + 1):
        factor *= 2 * k - 1
        pair = (n - order + 2 * k - 1.0) * (n - order + 2 * k)
        if norm:
            factor /= math.sqrt(pair)
        elif m < 0:
            factor /= pair
    if not turned and m > 0 and order % 2 == 1:
        factor = -factor
    side = 1 if turned else -1
    total = z * 0
    for step in range(derivative + 1):
        # The step-th derivative of root**order times the other of the polynomial
        share = 1.0
        if step == 1:
            share = 2.0 * order * side if derivative == 2 else 1.0 * order * side
        power = order - 2 * step
        part = z * 0 + share
        if step == 1:
            part = part * z
        if step == 2:
            # side order root**(order - 2) + order (order - 2) z**2 root**(order - 4)
            part = order * (order - 2) * z * z
        if abs(part) == 0:
            continue
        polynomial = _polynomial(n, order + derivative - step, z)
        for k in range(derivative - step):
            polynomial = polynomial * (2 * order + 2 * k + 1)
        if abs(polynomial) == 0:
            continue
        total = total + part * polynomial * _power(root, power)
    if derivative == 2 and order > 0:
        total = total + side * order * _polynomial(n, order, z) * _power(root, order - 2)
    return total * factor


def _power(x: Any, n: Any) -> Any:
    """x**n for whole n, with infinities at 0."""
    result = x * 0 + 1
    for _ in range(abs(n)):
        result = result * x
    if n >= 0:
        return result
    return result * 0 + math.inf if result == 0 else 1 / result


def _assoc(n: Any, m: Any, z: Any, branch: Any, norm: Any, derivative: Any) -> Any:
    square = (1 - z) * (1 + z)
    if branch == 3:
        square = -square
    if not square >= 0:
        return _first_kind(n, m, z, math.nan, branch == 3, norm, derivative)
    root = math.sqrt(square)
    return _first_kind(n, m, z, -root if branch == 3 and z < 0 else root, branch == 3, norm, derivative)


def _assoc_complex(n: Any, m: Any, z: Any, branch: Any, norm: Any, derivative: Any) -> Any:
    if branch == 3:
        root = cmath.sqrt(z * z - 1)
        return _first_kind(n, m, z, -root if math.copysign(1.0, z.real) < 0 else root, True, norm, derivative)
    return _first_kind(n, m, z, cmath.sqrt(1 - z * z), False, norm, derivative)


@special_function("llflll lldlll llFlll llDlll", of_complex=_assoc_complex)
def _associated(n: Any, m: Any, z: Any, branch: Any, norm: Any, derivative: Any) -> Any:
    return _assoc(n, m, z, branch, norm, derivative)


@special_function("lfl ldl")
def _legendre_derivative(n: Any, z: Any, derivative: Any) -> Any:
    degree = n if n >= 0 else -1 - n
    value = _polynomial(degree, derivative, z)
    return 3 * value if derivative == 2 else value


# ---- The functions


def _derivatives(name: str, diff_n: Any) -> range:
    if not isinstance(diff_n, (int, np.integer)) or diff_n < 0:
        raise ValueError(f"{name}: diff_n must be a non-negative integer, got {diff_n!r}")
    if diff_n > 2:
        raise NotImplementedError(f"{name}: diff_n is currently only implemented for orders 0, 1, and 2, got {diff_n}")
    return range(int(diff_n) + 1)


def _integers(name: str, **operands: Any) -> list[Any]:
    arrays = []
    for what, x in operands.items():
        a = _c.asarray(x)
        if a.dtype.kind not in "biu":
            raise TypeError(f"{name}: expected whole numbers {what}, got {a.dtype}")
        arrays.append(a.astype(np.int64, copy=False))
    return arrays


def _count(name: str, what: str, n: Any) -> int:
    if not isinstance(n, (int, np.integer)):
        raise TypeError(f"{name}: {what} must be a non-negative integer, got {n!r}")
    return int(n)


def _degrees(name: str, n: Any, dimensions: int) -> Any:
    """0 to n along the first of so many axes."""
    if _count(name, "n", n) < 0:
        raise ValueError(f"{name}: n must be a non-negative integer, got {n!r}")
    return np.arange(int(n) + 1).reshape((-1,) + (1,) * (dimensions - 1))


def _orders(name: str, m: Any, dimensions: int) -> Any:
    """0 to m and -m to -1 along the second axis."""
    size = abs(_count(name, "m", m))
    return np.concatenate([np.arange(size + 1), np.arange(-size, 0)]).reshape((1, -1) + (1,) * (dimensions - 2))


def _on(x: ndarray, host: Any) -> ndarray:
    return _c.asarray(host, device=x.device)


def _values(n: Any, z: ndarray) -> ndarray:
    """Legendre's polynomial in the points' precision."""
    return eval_legendre(n, z).astype(z.dtype if z.dtype.kind == "f" else np.float64, copy=False)


def legendre_p(n: ArrayLike, z: ArrayLike, *, diff_n: int = 0) -> ndarray:
    """Legendre's polynomial of degree n, and its derivatives up to order diff_n, along a first axis of diff_n + 1.

    Parameters
    ----------
    n : array_like of int
        The degree; of degree -n - 1 it is that of n.
    z : array_like of float
        The points, which broadcast with the degrees.
    diff_n : int, optional
        How many derivatives, 2 at the most.

    Returns
    -------
    ndarray of float
        Of shape (diff_n + 1, ...); float32 for float32 points, else float64.

    Raises
    ------
    TypeError
        The degrees are not whole numbers, or the points are complex.
    ValueError
        `diff_n` is negative or not whole.
    NotImplementedError
        `diff_n` is above 2.

    Examples
    --------
    >>> bc.scipy.special.legendre_p(2, [0.0, 0.5], diff_n=1)
    array([[-0.5  , -0.125],
           [ 0.   ,  1.5  ]])
    """
    (degree,) = _integers("legendre_p", n=n)
    points = _real("legendre_p", z)
    # Values are a row of the engine, derivatives a function of one element.
    orders = _derivatives("legendre_p", diff_n)
    return _c.stack([_legendre_derivative(degree, points, k) if k else _values(degree, points) for k in orders])


def legendre_p_all(n: int, z: ArrayLike, *, diff_n: int = 0) -> ndarray:
    """Legendre's polynomials of degree 0 to n, and their derivatives: of shape (diff_n + 1, n + 1, ...); see `legendre_p`.

    Examples
    --------
    >>> bc.scipy.special.legendre_p_all(2, 0.5)
    array([[ 1.   ,  0.5  , -0.125]])
    """
    points = _c.asarray(z)
    return legendre_p(_on(points, _degrees("legendre_p_all", n, points.ndim + 1)), points, diff_n=diff_n)


def assoc_legendre_p(
    n: ArrayLike, m: ArrayLike, z: ArrayLike, *, branch_cut: ArrayLike = 2, norm: bool = False, diff_n: int = 0
) -> ndarray:
    """The associated Legendre function of degree n and order m, with the Condon-Shortley phase, and its derivatives.

    Parameters
    ----------
    n, m : array_like of int
        Degree and order; 0 where abs(m) > n.
    z : array_like of float or complex
        The points. Real ones with abs(z) > 1 have a value on branch 3 only, those between on branch 2 only.
    branch_cut : array_like of int, optional
        2 for a cut on the real axis outside of [-1, 1], 3 for one inside.
    norm : bool, optional
        Whether the function has the factor sqrt((2 n + 1) (n - m)! / (2 (n + m)!)).
    diff_n : int, optional
        How many derivatives come along the first axis, 2 at the most.

    Returns
    -------
    ndarray
        Of shape (diff_n + 1, ...) and of the points' precision.

    Raises
    ------
    TypeError
        Degrees or orders are not whole numbers.
    ValueError
        `diff_n` is negative or not whole, or a `branch_cut` is neither 2 nor 3.
    NotImplementedError
        `diff_n` is above 2.

    Examples
    --------
    >>> bc.scipy.special.assoc_legendre_p(2, 1, [0.0, 0.5], diff_n=1)
    array([[-0.        , -1.29903811],
           [-3.        , -1.73205081]])
    """
    degree, order, branch = _integers("assoc_legendre_p", n=n, m=m, branch_cut=branch_cut)
    if not isinstance(branch_cut, ndarray) and not np.isin(np.asarray(branch_cut), (2, 3)).all():
        raise ValueError(f"assoc_legendre_p: branch_cut must be 2 or 3, got {branch_cut!r}")
    steps = _derivatives("assoc_legendre_p", diff_n)
    points = _c.asarray(z)
    return _c.stack([_associated(degree, order, points, branch, int(bool(norm)), k) for k in steps])


def assoc_legendre_p_all(n: int, m: int, z: ArrayLike, *, branch_cut: ArrayLike = 2, norm: bool = False, diff_n: int = 0) -> ndarray:
    """The associated Legendre functions of degrees 0 to n and orders 0 to m and -m to -1, and their derivatives; see `assoc_legendre_p`.

    Returns
    -------
    ndarray
        Of shape (diff_n + 1, n + 1, 2 * m + 1, ...).

    Examples
    --------
    >>> bc.scipy.special.assoc_legendre_p_all(1, 1, 0.5)
    array([[[ 1.       ,  0.       ,  0.       ],
            [ 0.5      , -0.8660254,  0.4330127]]])
    """
    points = _c.asarray(z)
    degrees, orders = (_on(points, f("assoc_legendre_p_all", x, points.ndim + 2)) for f, x in ((_degrees, n), (_orders, m)))
    return assoc_legendre_p(degrees, orders, points, branch_cut=branch_cut, norm=norm, diff_n=diff_n)


def sph_legendre_p(n: ArrayLike, m: ArrayLike, theta: ArrayLike, *, diff_n: int = 0) -> ndarray:
    """The associated Legendre function of cos(theta) with the norm of the spherical harmonics, and its derivatives by the polar angle.

    Parameters
    ----------
    n, m : array_like of int
        Degree and order; 0 where abs(m) > n.
    theta : array_like of float
        The polar angle.
    diff_n : int, optional
        How many derivatives come along the first axis, 2 at the most.

    Returns
    -------
    ndarray of float
        Of shape (diff_n + 1, ...).

    Raises
    ------
    TypeError
        Degrees or orders are not whole numbers.
    ValueError
        `diff_n` is negative or not whole.
    NotImplementedError
        `diff_n` is above 2.

    Examples
    --------
    >>> bc.scipy.special.sph_legendre_p(1, [0, 1], 0.5)
    array([[ 0.42878904, -0.16563872]])
    """
    whole = _integers("sph_legendre_p", n=n, m=m)
    steps = _derivatives("sph_legendre_p", diff_n)
    given = _c.asarray(theta)
    real = np.float32 if given.dtype in (np.float16, np.float32) else np.float64
    degree, order, angle = (x.astype(real, copy=False) for x in (*whole, given))
    row, root = _c.ufuncs["sph_legendre_p"], _c.ufuncs["sqrt"]

    def ladder(step: int) -> ndarray:
        """(n - m')(n + m' + 1) for the step up from m' = m + step."""
        return _c.ufuncs["maximum"]((degree - order - step) * (degree + order + (step + 1)), 0.0)

    values = [row(degree, order, angle)]
    if 1 in steps:
        values.append(0.5 * (root(ladder(0)) * row(degree, order + 1, angle) - root(ladder(-1)) * row(degree, order - 1, angle)))
    if 2 in steps:
        up = root(ladder(0) * ladder(1)) * row(degree, order + 2, angle)
        down = root(ladder(-1) * ladder(-2)) * row(degree, order - 2, angle)
        values.append(0.25 * (up - (ladder(0) + ladder(-1)) * values[0] + down))
    return _c.stack(values)


def sph_legendre_p_all(n: int, m: int, theta: ArrayLike, *, diff_n: int = 0) -> ndarray:
    """The functions of `sph_legendre_p` of degrees 0 to n and orders 0 to m and -m to -1: of shape (diff_n + 1, n + 1, 2 * m + 1, ...).

    Examples
    --------
    >>> bc.scipy.special.sph_legendre_p_all(1, 1, 0.5)
    array([[[ 0.28209479,  0.        ,  0.        ],
            [ 0.42878904, -0.16563872,  0.16563872]]])
    """
    angles = _c.asarray(theta)
    degrees, orders = (_on(angles, f("sph_legendre_p_all", x, angles.ndim + 2)) for f, x in ((_degrees, n), (_orders, m)))
    return sph_legendre_p(degrees, orders, angles, diff_n=diff_n)


def sph_harm_y_all(n: int, m: int, theta: ArrayLike, phi: ArrayLike, *, diff_n: int = 0) -> Any:
    """The spherical harmonics of degrees 0 to n and orders 0 to m and -m to -1, of shape (n + 1, 2 * m + 1, ...); see `sph_harm_y`.

    With diff_n = 1 the gradient comes too, with 2 the Hessian matrix besides, with more axes of 2 at the end.

    Examples
    --------
    >>> bc.scipy.special.sph_harm_y_all(1, 1, 0.5, 0.0).real
    array([[ 0.28209479,  0.        ,  0.        ],
           [ 0.42878904, -0.16563872,  0.16563872]])
    """
    from . import sph_harm_y

    polar = _c.asarray(theta)
    dimensions = max(polar.ndim, _c.asarray(phi).ndim) + 2
    degrees, orders = (_on(polar, f("sph_harm_y_all", x, dimensions)) for f, x in ((_degrees, n), (_orders, m)))
    return sph_harm_y(degrees, orders, polar, phi, diff_n=diff_n)


# ---- The second kind


def _second_kind(n: Any, z: Any, first: Any, size: Any) -> Any:
    """Q of degrees n and n - 1, from Q of degree 0; `size` is the ratio of the recurrence's two solutions."""
    if n == 0:
        return first, z * 0
    if 2 * n * math.log(size) < 2:
        before = first
        now = z * first - 1
        for k in range(1, n):
            after = ((2 * k + 1) * z * now - k * before) / (k + 1)
            before = now
            now = after
        return now, before
    # Miller's method from far above
    after = z * 0
    now = after + 1e-290
    wanted = z * 0
    below = z * 0
    for k in range(n + 12 + int(20 / math.log(size)), 0, -1):
        if k == n:
            wanted = now
        following = ((2 * k + 1) * z * now - (k + 1) * after) / k
        after = now
        now = following
        if k == n:
            below = now
        if abs(now) > 1e200:
            now = now * 1e-200
            after = after * 1e-200
            wanted = wanted * 1e-200
            below = below * 1e-200
    return wanted * (first / now), below * (first / now)


def _second_of_order(n: Any, m: Any, z: Any, value: Any, below: Any, root: Any, turned: Any, slope: Any) -> Any:
    """Q of order m by its polynomial's equation differentiated: the derivatives of Q times powers of the root, or the derivative."""
    square = 1 - z * z
    before = value
    now = (n * (below - z * value) if n > 0 else z * 0 + 1) / square
    if m == 0:
        return now if slope else value
    for k in range(m - 1):
        after = (2 * (k + 1) * z * now - (n * (n + 1) - k * (k + 1)) * before) / square
        before = now
        now = after
    sign = -1.0 if not turned and m % 2 == 1 else 1.0
    if not slope:
        return sign * now * _power(root, m)
    after = (2 * m * z * now - (n * (n + 1) - m * (m - 1)) * before) / square
    return sign * (after * _power(root, m) + (m if turned else -m) * z * now * _power(root, m - 2))


def _legendre_q(m: Any, n: Any, x: Any, slope: Any) -> Any:
    if math.isnan(x):
        return x
    size = abs(x)
    if size == 1:
        return math.inf
    if size < 1:
        value, below = _second_kind(n, x, math.atanh(x), 1.0)
        return _second_of_order(n, m, x, value, below, math.sqrt((1 - x) * (1 + x)), False, slope)
    if size == math.inf:
        return 0.0
    root = math.sqrt((size - 1) * (size + 1))
    first = 0.5 * math.log1p(2 / (size - 1))
    value, below = _second_kind(n, size, first, size + root)
    value = _second_of_order(n, m, size, value, below, root, True, slope)
    # Q(-x) = (-1)**(n + 1) Q(x) for |x| > 1; each derivative changes the sign, the root does not.
    turns = n + 1 + m + (1 if slope else 0)
    return -value if x < 0 and turns % 2 == 1 else value


def _legendre_q_complex(m: Any, n: Any, z: Any, slope: Any) -> Any:
    size = abs(z)
    if z == 1 or z == -1:
        return complex(math.inf, 0.0)
    turned = size > 1
    first = 0.5 * (cmath.log((z + 1) / (z - 1)) if turned else cmath.log((1 + z) / (1 - z)))
    outer = z + cmath.sqrt(z * z - 1)
    ratio = max(abs(outer), 1 / abs(outer))
    # Inside the unit circle the function is not the small solution.
    value, below = _second_kind(n, z, first, ratio if turned else 1.0)
    root = cmath.sqrt(z * z - 1) if turned else cmath.sqrt(1 - z * z)
    return _second_of_order(n, m, z, value, below, root, turned, slope)


@special_function("llfl lldl llFl llDl", of_complex=_legendre_q_complex)
def _legendre_second(m: Any, n: Any, z: Any, slope: Any) -> Any:
    return _legendre_q(m, n, z, slope)


def _whole_count(name: str, what: str, n: Any) -> int:
    if not isinstance(n, (int, float, np.integer, np.floating)) or int(n) != n or n < 0:
        raise ValueError(f"{name}: {what} must be a non-negative integer, got {n!r}")
    return int(n)


def _points(z: ArrayLike) -> ndarray:
    points = _c.asarray(z)
    return points.astype(np.float64) if points.dtype.kind in "biu" else points


def lqn(n: int, z: ArrayLike) -> tuple[ndarray, ndarray]:
    """Legendre functions of the second kind of degrees 0 to n, and their derivatives by z.

    Real points have real values: the mean of both sides of the cut in (-1, 1). Complex ones have the cut of the logarithm.

    Parameters
    ----------
    n : int
        The largest degree.
    z : array_like
        Real or complex points.

    Returns
    -------
    qn, qn' : ndarray
        Of shape (n + 1, ...). inf at 1 and -1, where SciPy has numbers of 1e300.

    Raises
    ------
    ValueError
        `n` is negative or not whole.

    Examples
    --------
    >>> q, slope = bc.scipy.special.lqn(2, 0.5)
    >>> q
    array([ 0.54930614, -0.72534693, -0.81866327])
    """
    points = _points(z)
    degrees = _on(points, np.arange(_whole_count("lqn", "n", n) + 1).reshape((-1,) + (1,) * points.ndim))
    return _legendre_second(0, degrees, points, 0), _legendre_second(0, degrees, points, 1)


def lqmn(m: int, n: int, z: ArrayLike) -> tuple[ndarray, ndarray]:
    """Associated Legendre functions of the second kind of orders 0 to m and degrees 0 to n, and their derivatives by z; see `lqn`.

    Those with abs(z) < 1 have the factor (-sqrt(1 - z**2))**m, those beyond the factor sqrt(z**2 - 1)**m.

    Returns
    -------
    Qmn, Qmn' : ndarray
        Of shape (m + 1, n + 1, ...).

    Raises
    ------
    ValueError
        `m` or `n` is negative or not whole.

    Examples
    --------
    >>> q, slope = bc.scipy.special.lqmn(1, 1, 0.5)
    >>> q
    array([[ 0.54930614, -0.72534693],
           [-1.15470054, -1.05306334]])
    """
    points = _points(z)
    rows = np.arange(_whole_count("lqmn", "m", m) + 1).reshape((-1, 1) + (1,) * points.ndim)
    columns = np.arange(_whole_count("lqmn", "n", n) + 1).reshape((1, -1) + (1,) * points.ndim)
    orders, degrees = _on(points, rows), _on(points, columns)
    return _legendre_second(orders, degrees, points, 0), _legendre_second(orders, degrees, points, 1)
