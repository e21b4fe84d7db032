"""Polynomials by their coefficients, the highest power first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.exceptions import RankWarning

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._convolution import convolve
from ._manipulation import trim_zeros
from ._types import finfo
from ._warnings import warn
from .linalg import eigvals, lstsq, svd

if TYPE_CHECKING:
    from .typing import ArrayLike


def _coefficients(p: Any) -> ndarray:
    """The coefficients of an array_like or a poly1d, 1-d at least."""
    return p.coeffs if isinstance(p, poly1d) else _c.atleast_1d(_c.asarray(p))


def _like(result: ndarray, *operands: Any) -> Any:
    """The result as a poly1d where an operand is one."""
    return poly1d(result) if any(isinstance(p, poly1d) for p in operands) else result


def _number(value: Any) -> bool:
    """Whether a factor or divisor is a number and no polynomial."""
    return np.isscalar(value) or (isinstance(value, ndarray) and value.ndim == 0)


def _aligned(a1: Any, a2: Any) -> tuple[ndarray, ndarray]:
    """Coefficients with zeros in front of the shorter ones."""
    a, b = _coefficients(a1), _coefficients(a2)
    count = max(len(a), len(b))
    parts = [_c.concatenate([_c.zeros(count - len(p), p.dtype, device=p.device), p]) if len(p) < count else p for p in (a, b)]
    return parts[0], parts[1]


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials.

    Parameters
    ----------
    a1, a2 : array_like or poly1d
        Coefficients, 1-d, the highest power first.

    Returns
    -------
    ndarray, or poly1d where an operand is one

    Examples
    --------
    >>> bc.polyadd([1, 2], [9, 5, 4])
    array([9, 6, 6])
    """
    a, b = _aligned(a1, a2)
    return _like(a + b, a1, a2)


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials; see `polyadd`.

    Examples
    --------
    >>> bc.polysub([2, 10, -2], [3, 10, -4])
    array([-1,  0,  2])
    """
    a, b = _aligned(a1, a2)
    return _like(a - b, a1, a2)


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials; see `polyadd`. Zeros in front are taken off first, which looks.

    Examples
    --------
    >>> bc.polymul([1, 2, 3], [9, 5, 1])
    array([ 9, 23, 38, 17,  3])
    """
    return _like(convolve(poly1d(a1).coeffs, poly1d(a2).coeffs), a1, a2)


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Quotient and remainder of two polynomials; see `polyadd`. Looks, to take zeros off the remainder's front.

    Examples
    --------
    >>> bc.polydiv([3.0, 5.0, 2.0], [2.0, 1.0])
    (array([1.5 , 1.75]), array([0.25]))
    """
    a, b = _coefficients(u) + 0.0, _coefficients(v) + 0.0
    rest = a.astype(np.result_type(a.dtype, b.dtype))
    steps = len(a) - len(b) + 1
    scale = 1.0 / b[0]
    quotient = _c.zeros(max(steps, 1), rest.dtype, device=a.device)
    for k in range(steps):
        quotient[k] = scale * rest[k]
        rest[k : k + len(b)] -= quotient[k] * b
    # Which elements count as zero is NumPy's choice: an absolute tolerance of 1e-8.
    large = ~(abs(rest) <= 1e-8).get() if len(rest) > 1 else np.ones(1, bool)
    rest = rest[int(large.argmax()) if large.any() else len(rest) - 1 :]
    return _like(quotient, u, v), _like(rest, u, v)


def polyval(p: Any, x: Any) -> Any:
    """The value of a polynomial, by Horner's rule.

    Parameters
    ----------
    p : array_like or poly1d
        Coefficients, 1-d, the highest power first.
    x : array_like or poly1d
        Where it is evaluated; a polynomial gives the composition.

    Returns
    -------
    ndarray shaped as `x`, or poly1d

    Examples
    --------
    >>> bc.polyval([3, 0, 1], [5, 0])
    array([76,  1])
    """
    coefficients = p.coeffs if isinstance(p, poly1d) else _c.asarray(p)
    if isinstance(x, poly1d):
        value: Any = 0
    else:
        x = _c.asanyarray(x, device=coefficients.device if isinstance(p, ndarray | poly1d) and not isinstance(x, ndarray) else None)
        value = _c.full_like(x, 0)
    for coefficient in coefficients:
        value = value * x + coefficient
    return value


def _order(m: Any, what: str, other: str) -> int:
    order = int(m)
    if order < 0:
        raise ValueError(f"Order of {what} must be positive (see {other})")
    return order


def polyder(p: Any, m: int = 1) -> Any:
    """The m-th derivative of a polynomial.

    Raises
    ------
    ValueError
        `m` is negative.

    Examples
    --------
    >>> bc.polyder([1, 1, 1, 1])
    array([3, 2, 1])
    """
    order = _order(m, "derivative", "polyint")
    value = p.coeffs if isinstance(p, poly1d) else _c.asarray(p)
    for _ in range(order):
        value = value[:-1] * _c.arange(len(value) - 1, 0, -1, device=value.device)
    return _like(value, p)


def polyint(p: Any, m: int = 1, k: ArrayLike | None = None) -> Any:
    """The m-th antiderivative of a polynomial.

    Parameters
    ----------
    p : array_like or poly1d
    m : int
        How many times it is integrated.
    k : number or array_like of m numbers, optional
        The constants, in the order of integration; zeros unless given.

    Raises
    ------
    ValueError
        `m` is negative, or there are fewer than `m` constants.

    Examples
    --------
    >>> bc.polyint([3.0, 2.0, 1.0])
    array([1., 1., 1., 0.])
    """
    order = _order(m, "integral", "polyder")
    value = p.coeffs if isinstance(p, poly1d) else _c.asarray(p)
    constants = _c.zeros(order, np.float64, device=value.device) if k is None else _c.atleast_1d(_c.asarray(k, device=value.device))
    if len(constants) == 1 and order > 1:
        constants = constants[0] * _c.ones(order, np.float64, device=value.device)
    if len(constants) < order:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    for i in range(order):
        value = _c.concatenate([value / _c.arange(len(value), 0, -1, device=value.device), constants[i : i + 1]])
    return _like(value, p)


def roots(p: ArrayLike) -> ndarray:
    """The roots of a polynomial: the eigenvalues of its companion matrix, as `linalg.eigvals` gives them.

    Parameters
    ----------
    p : array_like, 1-d
        Coefficients, the highest power first. They are looked at.

    Returns
    -------
    ndarray
        1-d: complex, or real where all roots are real.

    Raises
    ------
    ValueError
        `p` has more dimensions.
    LinAlgError
        The eigenvalues do not converge.

    Examples
    --------
    >>> bc.roots([1, -3, 2])
    array([2., 1.])
    """
    coefficients = _c.atleast_1d(_c.asarray(p))
    if coefficients.ndim != 1:
        raise ValueError("Input must be a rank-1 array.")
    device = coefficients.device
    used = np.flatnonzero(_c.asnumpy(coefficients))
    if len(used) == 0:
        return _c.zeros(0, np.float64, device=device)
    zeros = len(coefficients) - int(used[-1]) - 1
    c = coefficients[int(used[0]) : int(used[-1]) + 1]
    if c.dtype.kind not in "fc":
        c = c.astype(np.float64)
    n = len(c) - 1
    if n == 0:
        return _c.zeros(zeros, np.float64, device=device)
    companion = _c.eye(n, n, -1, c.dtype, device=device)
    companion[0] = -c[1:] / c[0]
    found = eigvals(companion)
    return _c.concatenate([found, _c.zeros(zeros, found.dtype, device=device)]) if zeros else found


# ---- Fits -------------------------------------------------------------------------------------------------------------------------------


def _weights(w: ArrayLike, y: ndarray) -> ndarray:
    weights = _c.asarray(w, device=y.device) + 0.0
    if weights.ndim != 1:
        raise TypeError("expected a 1-d array for weights")
    if weights.shape[0] != y.shape[0]:
        raise TypeError("expected w and y to have the same length")
    return weights


def _fit_operands(x: ArrayLike, y: ArrayLike, deg: Any) -> tuple[ndarray, ndarray]:
    places, values = _c.asarray(x) + 0.0, _c.asarray(y) + 0.0
    if deg < 0:
        raise ValueError("expected deg >= 0")
    if places.ndim != 1:
        raise TypeError("expected 1D vector for x")
    if places.size == 0:
        raise TypeError("expected non-empty vector for x")
    if not 1 <= values.ndim <= 2:
        raise TypeError("expected 1D or 2D array for y")
    if places.shape[0] != values.shape[0]:
        raise TypeError("expected x and y to have same length")
    return places, values


def _fit_covariance(lhs: ndarray, scale: ndarray, residuals: ndarray, points: int, unscaled: bool) -> ndarray:
    """The covariance matrix of the coefficients, (aᵀa)⁻¹ by the singular values of a; with one more axis for several columns."""
    _, s, vh = svd(lhs.astype(np.complex128 if lhs.dtype.kind == "c" else np.float64, copy=False), full_matrices=False)
    base = _c.matmul(vh.T / s**2, vh.conj()) / (scale[:, None] * scale)
    if unscaled:
        return base
    order = lhs.shape[1]
    if points <= order:
        raise ValueError("the number of data points must exceed order to scale the covariance matrix")
    return base[:, :, None] * (residuals / (points - order))


def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: bool = False, w: ArrayLike | None = None, cov: Any = False
) -> Any:
    """The polynomial of a degree that is nearest to points in the sense of least squares.

    `linalg.lstsq` with the (N, deg + 1) matrix of powers, whose columns are scaled.

    Parameters
    ----------
    x : array_like, (N,)
    y : array_like, (N,) or (N, K)
        Values; several columns are fitted one by one.
    deg : int
    rcond : float, optional
        Singular values below this share of the largest one count as zero; N times the dtype's eps unless given.
    full : bool
        Gives residuals, rank, singular values and `rcond` too.
    w : array_like, (N,), optional
        What each difference is multiplied with.
    cov : bool or 'unscaled'
        Gives the covariance matrix of the coefficients too.

    Returns
    -------
    ndarray, (deg + 1,) or (deg + 1, K)
        The highest power first; a tuple with what was asked for.

    Raises
    ------
    TypeError
        The points have other shapes, or there are none.
    ValueError
        `deg` is negative, or there are too few points for a covariance.
    LinAlgError
        The singular values do not converge.

    Warns
    -----
    RankWarning
        The matrix has not full rank, so the coefficients are not the only ones.

    Examples
    --------
    >>> bc.polyfit([0.0, 1.0, 2.0, 3.0], [1.0, 3.0, 5.0, 7.0], 1).round(6)
    array([2., 1.])
    """
    order = int(deg) + 1
    places, right = _fit_operands(x, y, deg)
    cutoff = len(places) * finfo(places.dtype).eps if rcond is None else rcond
    lhs = _c.vander(places, order)
    if w is not None:
        weights = _weights(w, right)
        lhs = lhs * weights[:, None]
        right = right * (weights[:, None] if right.ndim == 2 else weights)
    scale = _c.ufuncs["sqrt"]((lhs * lhs).sum(0))
    lhs = lhs / scale
    solution, residuals, rank, singular = lstsq(lhs, right, float(cutoff))
    c = (solution.T / scale).T
    if rank != order and not full:
        warn("Polyfit may be poorly conditioned", RankWarning)
    if full:
        return c, residuals, rank, singular, cutoff
    if not cov:
        return c
    base = _fit_covariance(lhs, scale, residuals, len(places), isinstance(cov, str) and cov == "unscaled")
    if right.ndim == 1:
        return c, base[:, :, 0] if base.ndim == 3 else base
    return c, base[:, :, None] if base.ndim == 2 else base


def poly(seq_of_zeros: Any) -> ndarray:
    """The coefficients of the polynomial with leading coefficient 1 and the given roots.

    Parameters
    ----------
    seq_of_zeros : array_like, 1-d or a square matrix
        The roots. Complex ones are looked at: the coefficients are real where they come in conjugate pairs. Of a square matrix: the
        characteristic polynomial, whose roots are the eigenvalues.

    Returns
    -------
    ndarray
        1-d, of a floating dtype.

    Raises
    ------
    ValueError
        The input has more dimensions, and is no square matrix.
    LinAlgError
        The eigenvalues do not converge.

    Examples
    --------
    >>> bc.poly([-1, 1, 1, 10])
    array([  1., -11.,   9.,  11., -10.])
    """
    zeros = _c.atleast_1d(_c.asarray(seq_of_zeros))
    if zeros.ndim == 2 and zeros.shape[0] == zeros.shape[1] != 0:
        zeros = eigvals(zeros)
    if zeros.ndim != 1:
        raise ValueError("input must be 1d or non-empty square 2d array.")
    if zeros.dtype.kind not in "fc" or zeros.dtype.itemsize < 4:
        zeros = zeros.astype(np.float64)
    if len(zeros) == 0:
        return _c.asarray(1.0)
    # One more root at each step: p(x) (x - r) is p shifted, less r p.
    made = _c.zeros(len(zeros) + 1, zeros.dtype, device=zeros.device)
    made[0] = 1
    for i in range(len(zeros)):
        made[1 : i + 2] -= zeros[i] * made[: i + 1]
    if made.dtype.kind == "c":
        wide = zeros.astype(np.complex128)
        if bool(_c.array_equal(_c.sort(wide), _c.sort(wide.conj()))):
            return made.real.copy()
    return made


class poly1d:
    """A polynomial in one variable, with arithmetic, evaluation, derivative and antiderivative.

    Parameters
    ----------
    c_or_r : array_like or poly1d
        Coefficients, 1-d, the highest power first; or roots. Zeros in front are taken off, which looks.
    r : bool
        Whether roots are given.
    variable : str, optional
        The variable's name in print, 'x' unless given.

    Raises
    ------
    ValueError
        The coefficients have more than one dimension.

    Examples
    --------
    >>> p = bc.poly1d([1, 2, 3])
    >>> print(p)
       2
    1 x + 2 x + 3
    >>> p(0.5)
    array(4.25)
    >>> p * p
    poly1d([ 1,  4, 10, 12,  9])
    >>> p.deriv()
    poly1d([2, 2])
    """

    __hash__ = None  # type: ignore[assignment]
    __array_ufunc__ = None
    _coeffs: ndarray
    _variable: str

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if isinstance(c_or_r, poly1d):
            self._coeffs, self._variable = c_or_r._coeffs, variable or c_or_r._variable
            return
        coefficients = _c.atleast_1d(poly(c_or_r) if r else _c.asarray(c_or_r))
        if coefficients.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        trimmed = trim_zeros(coefficients, "f")
        self._coeffs = trimmed if len(trimmed) else _c.zeros(1, coefficients.dtype, device=coefficients.device)
        self._variable = variable or "x"

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, the highest power first (`c`, `coef` and `coefficients` are other names)."""
        return self._coeffs

    @coeffs.setter
    def coeffs(self, value: Any) -> None:
        # p.coeffs += 1 assigns what it changed in place.
        if value is not self._coeffs:
            raise AttributeError("Cannot set attribute")

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        """The highest power (`o` is another name)."""
        return len(self._coeffs) - 1

    o = order

    @property
    def roots(self) -> ndarray:
        """The roots (`r` is another name); see `roots`."""
        return roots(self._coeffs)

    r = roots

    @property
    def variable(self) -> str:
        """The variable's name in print."""
        return self._variable

    def get(self) -> np.poly1d:
        """NumPy's polynomial with these coefficients, on the host.

        Examples
        --------
        >>> bc.poly1d([1, 2]).get()
        poly1d([1, 2])
        """
        return np.poly1d(self._coeffs.get(), variable=self._variable)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self._coeffs.get().astype(dtype, copy=False) if dtype else self._coeffs.get()

    def __repr__(self) -> str:
        return f"poly1d({repr(self._coeffs)[6:-1]})"

    def __str__(self) -> str:
        return str(self.get())

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Iterator[ndarray]:
        return iter(self._coeffs)

    def __call__(self, val: Any) -> Any:
        return polyval(self._coeffs, val)

    def __neg__(self) -> poly1d:
        return poly1d(-self._coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> poly1d:
        return polyadd(self, poly1d(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> poly1d:
        return polysub(self, poly1d(other))

    def __rsub__(self, other: Any) -> poly1d:
        return polysub(poly1d(other), self)

    def __mul__(self, other: Any) -> poly1d:
        return poly1d(self._coeffs * other) if _number(other) else polymul(self, other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return poly1d(self._coeffs / other) if _number(other) else polydiv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return poly1d(other / self._coeffs) if _number(other) else polydiv(other, self)

    def __pow__(self, val: Any) -> poly1d:
        if not _number(val) or int(val) != val or val < 0:
            raise ValueError("Power to non-negative integers only.")
        result: Any = [1]
        for _ in range(int(val)):
            result = polymul(self._coeffs, result)
        return poly1d(result)

    def __eq__(self, other: object) -> Any:
        if not isinstance(other, poly1d):
            return NotImplemented
        return self._coeffs.shape == other._coeffs.shape and bool((self._coeffs == other._coeffs).all())

    def __ne__(self, other: object) -> Any:
        return NotImplemented if not isinstance(other, poly1d) else not self == other

    def __getitem__(self, val: int) -> Any:
        if not 0 <= val <= self.order:
            return _c.zeros((), self._coeffs.dtype, device=self._coeffs.device)
        return self._coeffs[self.order - val]

    def __setitem__(self, key: int, val: Any) -> None:
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key > self.order:
            missing = _c.zeros(key - self.order, self._coeffs.dtype, device=self._coeffs.device)
            self._coeffs = _c.concatenate([missing, self._coeffs])
        self._coeffs[self.order - key] = val

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """The m-th antiderivative; see `polyint`.

        Examples
        --------
        >>> bc.poly1d([2.0, 1.0]).integ(k=3)
        poly1d([1., 1., 3.])
        """
        return poly1d(polyint(self._coeffs, m, k))

    def deriv(self, m: int = 1) -> poly1d:
        """The m-th derivative; see `polyder`.

        Examples
        --------
        >>> bc.poly1d([2, 1]).deriv()
        poly1d([2])
        """
        return poly1d(polyder(self._coeffs, m))
