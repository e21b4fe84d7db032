"""Orthogonal polynomials as objects: coefficients, roots and weights, made on the host; their arrays lie on the default device."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._polynomials import poly1d
from . import _polynomials as _values
from . import _quadrature as _rules

__all__ = [
    "chebyc", "chebys", "chebyt", "chebyu", "gegenbauer", "genlaguerre", "hermite", "hermitenorm", "jacobi", "laguerre", "legendre",
    "sh_chebyt", "sh_chebyu", "sh_jacobi", "sh_legendre",
]  # fmt: skip

_Host = np.ndarray[Any, Any]
_exp, _sqrt = _c.ufuncs["exp"], _c.ufuncs["sqrt"]


class orthopoly1d(poly1d):
    """An orthogonal polynomial: a poly1d that knows its roots and weights, and evaluates by its recurrence.

    Attributes
    ----------
    weights : ndarray of float64, (n, 3)
        The roots, the weights of Gauss's quadrature, and these over the weight function there.
    weight_func : callable
    limits : tuple of float
        The interval on which it is orthogonal to those of other degrees.
    normcoef : float
        The root of the integral of its square times the weight function.

    Examples
    --------
    >>> bc.scipy.special.legendre(2)
    orthopoly1d([ 1.5,  0. , -0.5])
    """

    def __init__(
        self,
        coefficients: _Host,
        weights: _Host,
        normcoef: float,
        weight_func: Callable[[Any], Any],
        limits: tuple[float, float],
        value: Callable[[Any], Any],
    ) -> None:
        super().__init__(_c.asarray(coefficients))
        self.weights: ndarray = _c.asarray(weights)
        self.weight_func, self.limits, self.normcoef = weight_func, limits, normcoef
        self._value = value

    def __call__(self, val: Any) -> Any:
        return super().__call__(val) if isinstance(val, poly1d) else self._value(val)

    def __repr__(self) -> str:
        return "ortho" + super().__repr__()


def _made(
    n: Any,
    monic: bool,
    coefficients: Callable[[int], _Host],
    evaluate: Callable[[int, Any], Any],
    rule: Callable[..., Any],
    weight_func: Callable[[Any], Any],
    limits: tuple[float, float],
) -> orthopoly1d:
    if n < 0 or n != int(n):
        raise ValueError(f"n must be nonnegative, got {n!r}")
    n = int(n)
    with _c.device("cpu"):
        # The rule of one node more integrates the square exactly; it checks the parameters, too.
        x, w = rule(n + 1)
        found = coefficients(n).astype(np.float64)
        leading = float(found[0]) if monic else 1.0
        norm = math.sqrt(float((w * evaluate(n, x) ** 2).sum())) / abs(leading)
        weights = np.zeros((0, 3))
        if n > 0:
            x, w = rule(n)
            weights = np.stack([x.get(), w.get(), (w / weight_func(x)).get()], axis=1)
    value = (lambda x: evaluate(n, x) / leading) if monic else (lambda x: evaluate(n, x))
    return orthopoly1d(found / leading, weights, norm, weight_func, limits, value)


def _recurrence(
    n: int, first: tuple[float, float], factor: Callable[[Any], Any], shift: Callable[[Any], Any], back: Callable[[Any], Any]
) -> _Host:
    """Coefficients of p(n), the highest power first, from p(0) = 1, p(1) = first[0] x + first[1] and
    p(k + 1) = (factor(k) x + shift(k)) p(k) - back(k) p(k - 1)."""
    before, now = np.ones(1, np.longdouble), np.array(first, np.longdouble)
    if n == 0:
        return before
    for k in map(np.longdouble, range(1, n)):
        after = np.append(factor(k) * now, 0)
        after[1:] += shift(k) * now
        after[2:] -= back(k) * before
        before, now = now, after
    return now


def _shifted(n: int, p: float, b: float, first: float) -> _Host:
    """Coefficients of the polynomial of DLMF 15.9.1, first times 2F1(-n, n + p; b + 1; x)."""
    made = [np.longdouble(first)]
    for k in range(n):
        made.append(made[-1] * (k - n) * (n + np.longdouble(p) + k) / ((b + 1 + np.longdouble(k)) * (k + 1)))
    return np.array(made[::-1])


def _choose(n: int, a: float) -> float:
    """n + a over n."""
    return float(math.prod((np.longdouble(a) + k) / k for k in range(1, n + 1)))


def _zero(k: Any) -> Any:
    return 0


def _one(x: Any) -> Any:
    return _c.asarray(x) * 0.0 + 1.0


def _jacobi_coefficients(n: int, a: float, b: float) -> _Host:
    s = np.longdouble(a) + b
    return _recurrence(
        n, (float(s / 2 + 1), float((np.longdouble(a) - b) / 2)),
        lambda k: (2 * k + s + 1) * (2 * k + s + 2) / (2 * (k + 1) * (k + s + 1)),
        lambda k: s * (np.longdouble(a) - b) * (2 * k + s + 1) / (2 * (k + 1) * (k + s + 1) * (2 * k + s)),
        lambda k: (k + a) * (k + b) * (2 * k + s + 2) / ((k + 1) * (k + s + 1) * (2 * k + s)),
    )  # fmt: skip


def legendre(n: int, monic: bool = False) -> orthopoly1d:
    """Legendre's polynomial of degree n, as an object.

    Parameters
    ----------
    n : int
        The degree.
    monic : bool
        Whether it is scaled so that the coefficient of x**n is 1.

    Returns
    -------
    orthopoly1d
        A `poly1d` with `weights`, `weight_func`, `limits` and `normcoef`; calls evaluate by the recurrence (`eval_legendre`), which is
        more accurate than the coefficients.

    Raises
    ------
    ValueError
        `n` is negative or not whole.

    Examples
    --------
    >>> p = bc.scipy.special.legendre(3)
    >>> p
    orthopoly1d([ 2.5,  0. , -1.5,  0. ])
    >>> p(0.5)
    array(-0.4375)
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (1, 0), lambda k: (2 * k + 1) / (k + 1), _zero, lambda k: k / (k + 1)),
        _values.eval_legendre, _rules.roots_legendre, _one, (-1, 1),
    )  # fmt: skip


def sh_legendre(n: int, monic: bool = False) -> orthopoly1d:
    """Legendre's polynomial of degree n on [0, 1], as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.sh_legendre(2)
    orthopoly1d([ 6., -6.,  1.])
    """
    return _made(
        n, monic, lambda n: _shifted(n, 1, 0, (-1) ** n), _values.eval_sh_legendre, _rules.roots_sh_legendre, _one, (0, 1)
    )  # fmt: skip


def chebyt(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the first kind and degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.chebyt(3)
    orthopoly1d([ 4.,  0., -3.,  0.])
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (1, 0), lambda k: 2, _zero, lambda k: 1), _values.eval_chebyt, _rules.roots_chebyt,
        lambda x: 1 / _sqrt(1 - x * x), (-1, 1),
    )  # fmt: skip


def chebyu(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the second kind and degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.chebyu(3)
    orthopoly1d([ 8.,  0., -4.,  0.])
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (2, 0), lambda k: 2, _zero, lambda k: 1), _values.eval_chebyu, _rules.roots_chebyu,
        lambda x: _sqrt(1 - x * x), (-1, 1),
    )  # fmt: skip


def chebyc(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the first kind and degree n on [-2, 2], as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.chebyc(3)
    orthopoly1d([ 1.,  0., -3.,  0.])
    """
    return _made(
        n, monic, lambda n: 2 * _recurrence(n, (0.5, 0), lambda k: 1, _zero, lambda k: 1), _values.eval_chebyc, _rules.roots_chebyc,
        lambda x: 1 / _sqrt(1 - x * x / 4), (-2, 2),
    )  # fmt: skip


def chebys(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the second kind and degree n on [-2, 2], as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.chebys(3)
    orthopoly1d([ 1.,  0., -2.,  0.])
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (1, 0), lambda k: 1, _zero, lambda k: 1), _values.eval_chebys, _rules.roots_chebys,
        lambda x: _sqrt(1 - x * x / 4), (-2, 2),
    )  # fmt: skip


def sh_chebyt(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the first kind and degree n on [0, 1], as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.sh_chebyt(2)
    orthopoly1d([ 8., -8.,  1.])
    """
    return _made(
        n, monic, lambda n: _shifted(n, 0, -0.5, (-1) ** n), _values.eval_sh_chebyt, _rules.roots_sh_chebyt,
        lambda x: 1 / _sqrt(x - x * x), (0, 1),
    )  # fmt: skip


def sh_chebyu(n: int, monic: bool = False) -> orthopoly1d:
    """Chebyshev's polynomial of the second kind and degree n on [0, 1], as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.sh_chebyu(2)
    orthopoly1d([ 16., -16.,   3.])
    """
    return _made(
        n, monic, lambda n: _shifted(n, 2, 0.5, (-1) ** n * (n + 1)), _values.eval_sh_chebyu, _rules.roots_sh_chebyu,
        lambda x: _sqrt(x - x * x), (0, 1),
    )  # fmt: skip


def jacobi(n: int, alpha: float, beta: float, monic: bool = False) -> orthopoly1d:
    """Jacobi's polynomial of degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.jacobi(1, 1.0, 2.0)
    orthopoly1d([ 2.5, -0.5])
    """
    a, b = float(alpha), float(beta)
    return _made(
        n, monic, lambda n: _jacobi_coefficients(n, a, b), lambda n, x: _values.eval_jacobi(n, a, b, x),
        lambda n: _rules.roots_jacobi(n, a, b), lambda x: (1 - x) ** a * (1 + x) ** b, (-1, 1),
    )  # fmt: skip


def sh_jacobi(n: int, p: float, q: float, monic: bool = False) -> orthopoly1d:
    """Jacobi's polynomial of degree n on [0, 1], as an object, whose coefficient of x**n is 1; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.sh_jacobi(1, 3.0, 2.0)
    orthopoly1d([ 1. , -0.5])
    """

    def coefficients(n: int) -> _Host:
        made = _shifted(n, p, q - 1, 1.0)
        return made / made[0]

    return _made(
        n, monic, coefficients, lambda n, x: _values.eval_sh_jacobi(n, float(p), float(q), x),
        lambda n: _rules.roots_sh_jacobi(n, p, q), lambda x: (1 - x) ** (p - q) * x ** (q - 1), (0, 1),
    )  # fmt: skip


def gegenbauer(n: int, alpha: float, monic: bool = False) -> orthopoly1d:
    """Gegenbauer's (the ultraspherical) polynomial of degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.gegenbauer(2, 2.0)
    orthopoly1d([12.,  0., -2.])
    """
    a = float(alpha)
    return _made(
        n, monic, lambda n: _recurrence(n, (2 * a, 0), lambda k: 2 * (k + a) / (k + 1), _zero, lambda k: (k + 2 * a - 1) / (k + 1)),
        lambda n, x: _values.eval_gegenbauer(n, a, x), lambda n: _rules.roots_gegenbauer(n, a),
        lambda x: (1 - x * x) ** (a - 0.5), (-1, 1),
    )  # fmt: skip


def laguerre(n: int, monic: bool = False) -> orthopoly1d:
    """Laguerre's polynomial of degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.laguerre(2)
    orthopoly1d([ 0.5, -2. ,  1. ])
    """
    return genlaguerre(n, 0.0, monic)


def genlaguerre(n: int, alpha: float, monic: bool = False) -> orthopoly1d:
    """The generalized (associated) polynomial of Laguerre's of degree n, as an object; see `legendre`.

    Raises
    ------
    ValueError
        `n` is negative or not whole, or `alpha` is not above -1.

    Examples
    --------
    >>> bc.scipy.special.genlaguerre(2, 1.0)
    orthopoly1d([ 0.5, -3. ,  3. ])
    """
    a = float(alpha)

    def coefficients(n: int) -> _Host:
        made = [np.longdouble(_choose(n, a))]
        for k in range(n):
            made.append(made[-1] * (k - n) / ((k + 1) * (np.longdouble(a) + k + 1)))
        return np.array(made[::-1])

    return _made(
        n, monic, coefficients, lambda n, x: _values.eval_genlaguerre(n, a, x), lambda n: _rules.roots_genlaguerre(n, a),
        lambda x: x**a * _exp(-x), (0, math.inf),
    )  # fmt: skip


def hermite(n: int, monic: bool = False) -> orthopoly1d:
    """The physicists' polynomial of Hermite's of degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.hermite(3)
    orthopoly1d([  8.,   0., -12.,   0.])
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (2, 0), lambda k: 2, _zero, lambda k: 2 * k), _values.eval_hermite, _rules.roots_hermite,
        lambda x: _exp(-x * x), (-math.inf, math.inf),
    )  # fmt: skip


def hermitenorm(n: int, monic: bool = False) -> orthopoly1d:
    """The probabilists' polynomial of Hermite's of degree n, as an object; see `legendre`.

    Examples
    --------
    >>> bc.scipy.special.hermitenorm(3)
    orthopoly1d([ 1.,  0., -3.,  0.])
    """
    return _made(
        n, monic, lambda n: _recurrence(n, (1, 0), lambda k: 1, _zero, lambda k: k), _values.eval_hermitenorm, _rules.roots_hermitenorm,
        lambda x: _exp(-x * x / 2), (-math.inf, math.inf),
    )  # fmt: skip
