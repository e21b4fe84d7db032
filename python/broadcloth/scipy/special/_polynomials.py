"""Values of orthogonal polynomials, of whole degree by the recurrences of DLMF 18.9 in the degree, for each element on its device. Those of
real arguments are rows of the engine (src/device/special/polynomials.h), but for Jacobi's, which have four operands.

Near an end of the interval the three terms of a recurrence cancel. There it runs in differences of polynomials that are scaled to 1 at the
end (Reinsch's modification), which keeps all digits; the other end is the mirror image. Functions of other degrees are hypergeometric
functions (DLMF 18.5).
"""

from __future__ import annotations

import cmath
import math
from typing import TYPE_CHECKING, Any

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._functions import special_function
from ._hypergeometric import _hyp1f1, _hyp2f1
from ._hypergeometric_complex import _hyp1f1_of_complex, _hyp2f1_of_complex

if TYPE_CHECKING:
    from ...typing import ArrayLike

__all__ = [
    "assoc_laguerre", "eval_chebyc", "eval_chebys", "eval_chebyt", "eval_chebyu", "eval_gegenbauer", "eval_genlaguerre", "eval_hermite",
    "eval_hermitenorm", "eval_jacobi", "eval_laguerre", "eval_legendre", "eval_sh_chebyt", "eval_sh_chebyu", "eval_sh_jacobi",
    "eval_sh_legendre",
]  # fmt: skip

_binom, _poch, _rgamma, _lpmv = (_c.ufuncs[name] for name in ("binom", "poch", "rgamma", "lpmv"))
_chebyt, _chebyu, _chebyc, _chebys = (_c.ufuncs[f"eval_cheby{kind}"] for kind in "tucs")
_sh_chebyt, _sh_chebyu = _c.ufuncs["eval_sh_chebyt"], _c.ufuncs["eval_sh_chebyu"]
_legendre_row, _sh_legendre_row = _c.ufuncs["eval_legendre"], _c.ufuncs["eval_sh_legendre"]
_gegenbauer_row = _c.ufuncs["eval_gegenbauer"]
_laguerre_row, _genlaguerre_row = _c.ufuncs["eval_laguerre"], _c.ufuncs["eval_genlaguerre"]
_hermite_row, _hermitenorm_row = _c.ufuncs["eval_hermite"], _c.ufuncs["eval_hermitenorm"]
_ONE = "ld ff fF dd dD"
_TWO = "ldd fff ffF ddd ddD"
_THREE = "lddd ffff fffF dddd dddD"


_LARGEST = 1000000  # the degree up to which recurrences run; values of larger degrees are NaN, but for Chebyshev's polynomials


# ---- One element. `x` may be complex; `below` and `above` are its distances x - 1 and x + 1 from the ends, as exact as the caller has them


def _sign(n: Any) -> Any:
    return 1.0 if n % 2 == 0 else -1.0


def _at_one(n: Any, a: Any) -> Any:
    """n + a over n."""
    value = 1.0 if n <= _LARGEST else math.nan
    for k in range(1, min(n, _LARGEST) + 1):
        value *= (a + k) / k
    return value


def _ultraspherical(n: Any, a: Any, x: Any, below: Any, above: Any) -> Any:
    """Gegenbauer's polynomial of degree n >= 0 and a > -1/2 over its value at 1."""
    if n == 0 or n > _LARGEST:
        return x * 0 + (1.0 if n == 0 else math.nan)
    if abs(x.real) <= 0.5 or n == 1:
        before = x * 0 + 1
        now = x * 1
        for k in range(1, n):
            scale = 1 / (k + 2 * a)  # does not wait for the values of the step before
            after = 2 * (k + a) * scale * x * now - k * scale * before
            before = now
            now = after
        return now
    mirrored = x.real < 0
    distance = -above if mirrored else below
    value = 1 + distance
    difference = distance * 1
    for k in range(1, n):
        scale = 1 / (k + 2 * a)
        difference = 2 * (k + a) * scale * distance * value + k * scale * difference
        value = value + difference
    return value * _sign(n) if mirrored else value


def _chebyshev_of_large(n: Any, kind: Any, distance: Any) -> Any:
    """Chebyshev's polynomial of degree n at 1 + distance, by powers of 1 + r = exp(acosh(1 + distance))."""
    root = cmath.sqrt(distance * (2 + distance))
    r = distance + root
    log = complex(0.5 * math.log1p(r.real * (2 + r.real) + r.imag * r.imag), math.atan2(r.imag, 1 + r.real))
    if kind == 1:
        return 0.5 * (cmath.exp(n * log) + cmath.exp(-n * log))
    return 0.5 * (cmath.exp((n + 1) * log) - cmath.exp(-(n + 1) * log)) / root if root != 0 else complex(n + 1.0, 0.0)


def _chebyshev(n: Any, kind: Any, x: Any, below: Any, above: Any) -> Any:
    """Chebyshev's polynomial of degree n >= 0 and the first or second kind."""
    if n > 100000:
        value = _chebyshev_of_large(n, kind, -above if x.real < 0 else below)
        return value * _sign(n) if x.real < 0 else value
    if abs(x.real) <= 0.5:
        now = x * 0 + 1
        before = x if kind == 1 else x * 0
        for _ in range(n):
            after = 2 * x * now - before
            before = now
            now = after
        return now
    mirrored = x.real < 0
    distance = -above if mirrored else below
    value = x * 0 + 1
    difference = -distance if kind == 1 else value
    for _ in range(n):
        difference = 2 * distance * value + difference
        value = value + difference
    return value * _sign(n) if mirrored else value


def _first_kind(n: Any, x: Any, below: Any, above: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    return _chebyshev(int(abs(n)), 1, x, below, above)


def _second_kind(n: Any, x: Any, below: Any, above: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    k = int(n)
    if k == -1:
        return x * 0
    return _chebyshev(k, 2, x, below, above) if k >= 0 else -_chebyshev(-2 - k, 2, x, below, above)


def _legendre(n: Any, x: Any, below: Any, above: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    k = int(n)
    return _ultraspherical(k if k >= 0 else -1 - k, 0.5, x, below, above)


def _gegenbauer(n: Any, a: Any, x: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    k = int(n)
    if k < 0:
        return x * 0
    if k == 0 or k > _LARGEST:
        return x * 0 + (1.0 if k == 0 else math.nan)
    if a > -0.5:
        if a == 0:
            return x * 0
        return _at_one(k, 2 * a - 1) * _ultraspherical(k, a, x, x - 1, x + 1)
    before = x * 0 + 1
    now = 2 * a * x
    for i in range(1, k):
        after = (2 * (i + a) * x * now - (i + 2 * a - 1) * before) / (i + 1)
        before = now
        now = after
    return now


def _jacobi_from(n: Any, a: Any, b: Any, below: Any) -> Any:
    """Jacobi's polynomial of degree n > 0 and a > -1; `below` is x - 1. In differences of polynomials that are 1 at 1."""
    s = a + b
    difference = below * ((s + 2) / (2 * (a + 1)))
    value = 1 + difference
    scale = a + 1
    for k in range(1, n):
        t = 2 * k + s
        # The factors do not wait for the values of the step before.
        inverse = 1 / ((k + s + 1) * (k + a + 1) * t * (k + 1))
        factor = inverse * (k + 1)
        forward = below * ((t + 1) * t * (t + 2) * 0.5 * factor)
        difference = forward * value + k * (k + b) * (t + 2) * factor * difference
        value = value + difference
        scale = scale * ((k + a + 1) * (k + a + 1) * (k + s + 1) * t * inverse)
    return scale * value


def _jacobi(n: Any, a: Any, b: Any, x: Any, below: Any, above: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    k = int(n)
    if k < 0:
        return x * 0
    if k == 0 or k > _LARGEST:
        return x * 0 + (1.0 if k == 0 else math.nan)
    if a == b and a > -1:
        return _at_one(k, a) * _ultraspherical(k, a + 0.5, x, below, above)
    if x.real < 0 and b > -1:
        return _sign(k) * _jacobi_from(k, b, a, -above)
    if a > -1:
        return _jacobi_from(k, a, b, below)
    s = a + b
    before = x * 0 + 1
    now = (a + 1) + below * ((s + 2) / 2)
    for i in range(1, k):
        t = 2 * i + s
        after = (t + 1) * ((t + 2) * t * x + s * (a - b)) * now - 2 * (i + a) * (i + b) * (t + 2) * before
        after = after / (2 * (i + 1) * (i + s + 1) * t)
        before = now
        now = after
    return now


def _laguerre(n: Any, a: Any, x: Any) -> Any:
    if n != math.floor(n):
        return x * math.nan
    k = int(n)
    if k < 0:
        return x * 0
    if k == 0 or k > _LARGEST:
        return x * 0 + (1.0 if k == 0 else math.nan)
    if a > -1:
        difference = -x / (a + 1)
        value = 1 + difference
        for i in range(1, k):
            difference = (i * difference - x * value) / (i + a + 1)
            value = value + difference
        return _at_one(k, a) * value
    before = x * 0 + 1
    now = a + 1 - x
    for i in range(1, k):
        after = ((2 * i + 1 + a - x) * now - (i + a) * before) / (i + 1)
        before = now
        now = after
    return now


# ---- Degrees that are not whole (DLMF 18.5.7 to 18.5.12)


def _gauss(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _hyp2f1_of_complex(a, b, c, x) if isinstance(x, complex) else _hyp2f1(a, b, c, x)


def _kummer(a: Any, b: Any, x: Any) -> Any:
    return _hyp1f1_of_complex(a, b, x) if isinstance(x, complex) else _hyp1f1(a, b, x)


def _legendre_of_fraction(n: Any, x: Any) -> Any:
    if not isinstance(x, complex) and abs(x) < 1:
        return _lpmv(0.0, 1.0 * n, x)
    return _gauss(-n, n + 1, 1.0, 0.5 * (1 - x))


def _sh_legendre_of_fraction(n: Any, x: Any) -> Any:
    if not isinstance(x, complex) and 0 < x < 1:
        return _lpmv(0.0, 1.0 * n, 2 * x - 1)
    return _gauss(-n, n + 1, 1.0, 1 - x)


def _first_of_fraction(n: Any, x: Any) -> Any:
    return _gauss(-n, n, 0.5, 0.5 * (1 - x))


def _second_of_fraction(n: Any, x: Any) -> Any:
    return (n + 1) * _gauss(-n, n + 2, 1.5, 0.5 * (1 - x))


def _c_of_fraction(n: Any, x: Any) -> Any:
    return 2 * _first_of_fraction(n, 0.5 * x)


def _s_of_fraction(n: Any, x: Any) -> Any:
    return _second_of_fraction(n, 0.5 * x)


def _sh_first_of_fraction(n: Any, x: Any) -> Any:
    return _gauss(-n, n, 0.5, 1 - x)


def _sh_second_of_fraction(n: Any, x: Any) -> Any:
    return (n + 1) * _gauss(-n, n + 2, 1.5, 1 - x)


def _gegenbauer_of_fraction(n: Any, a: Any, x: Any) -> Any:
    return _poch(2 * a, n) * _rgamma(n + 1) * _gauss(-n, n + 2 * a, a + 0.5, 0.5 * (1 - x))


def _jacobi_of_fraction(n: Any, a: Any, b: Any, x: Any) -> Any:
    return _binom(n + a, n) * _gauss(-n, n + a + b + 1, a + 1, 0.5 * (1 - x))


def _sh_jacobi_of_fraction(n: Any, p: Any, q: Any, x: Any) -> Any:
    return _binom(n + p - q, n) * _gauss(-n, n + p, p - q + 1, 1 - x) / _binom(2 * n + p - 1, n)


def _laguerre_of_fraction(n: Any, x: Any) -> Any:
    return _kummer(-n, 1.0, x)


def _genlaguerre_of_fraction(n: Any, a: Any, x: Any) -> Any:
    return _binom(n + a, n) * _kummer(-n, a + 1, x)


# ---- The ufuncs


def _legendre_of_complex(n: Any, x: Any) -> Any:
    return _legendre(n, x, x - 1, x + 1)


@special_function(_ONE, row="eval_legendre", of_complex=_legendre_of_complex, whole=True, of_fractions=_legendre_of_fraction)
def eval_legendre(n: Any, x: Any) -> Any:
    """Legendre's polynomial of degree n; of degree -n - 1 it is that of n.

    Examples
    --------
    >>> bc.scipy.special.eval_legendre([1, 2, 3], 0.5)
    array([ 0.5   , -0.125 , -0.4375])
    """
    return _legendre_row(1.0 * n, x)


def _sh_legendre_of_complex(n: Any, x: Any) -> Any:
    return _legendre(n, 2 * x - 1, 2 * (x - 1), 2 * x)


@special_function(_ONE, row="eval_sh_legendre", of_complex=_sh_legendre_of_complex, whole=True, of_fractions=_sh_legendre_of_fraction)
def eval_sh_legendre(n: Any, x: Any) -> Any:
    """Legendre's polynomial of degree n on [0, 1]: eval_legendre(n, 2 x - 1).

    Examples
    --------
    >>> bc.scipy.special.eval_sh_legendre([1, 2, 3], 0.75)
    array([ 0.5   , -0.125 , -0.4375])
    """
    return _sh_legendre_row(1.0 * n, x)


def _chebyt_of_complex(n: Any, x: Any) -> Any:
    return _first_of_fraction(n, x) if n != math.floor(n) else _first_kind(n, x, x - 1, x + 1)


@special_function(_ONE, row="eval_chebyt", of_complex=_chebyt_of_complex)
def eval_chebyt(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the first kind and degree n: T_n(cos t) = cos(n t).

    Examples
    --------
    >>> bc.scipy.special.eval_chebyt([1, 2, 3], 0.5)
    array([ 0.5, -0.5, -1. ])
    """
    return _chebyt(1.0 * n, x)


def _chebyu_of_complex(n: Any, x: Any) -> Any:
    return _second_of_fraction(n, x) if n != math.floor(n) else _second_kind(n, x, x - 1, x + 1)


@special_function(_ONE, row="eval_chebyu", of_complex=_chebyu_of_complex)
def eval_chebyu(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the second kind and degree n: U_n(cos t) = sin((n + 1) t) / sin(t).

    Examples
    --------
    >>> bc.scipy.special.eval_chebyu([1, 2, 3], 0.5)
    array([ 1.,  0., -1.])
    """
    return _chebyu(1.0 * n, x)


def _chebyc_of_complex(n: Any, x: Any) -> Any:
    return _c_of_fraction(n, x) if n != math.floor(n) else 2 * _first_kind(n, x / 2, (x - 2) / 2, (x + 2) / 2)


@special_function(_ONE, row="eval_chebyc", of_complex=_chebyc_of_complex)
def eval_chebyc(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the first kind on [-2, 2]: 2 eval_chebyt(n, x / 2).

    Examples
    --------
    >>> bc.scipy.special.eval_chebyc([1, 2, 3], 1.0)
    array([ 1., -1., -2.])
    """
    return _chebyc(1.0 * n, x)


def _chebys_of_complex(n: Any, x: Any) -> Any:
    return _s_of_fraction(n, x) if n != math.floor(n) else _second_kind(n, x / 2, (x - 2) / 2, (x + 2) / 2)


@special_function(_ONE, row="eval_chebys", of_complex=_chebys_of_complex)
def eval_chebys(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the second kind on [-2, 2]: eval_chebyu(n, x / 2).

    Examples
    --------
    >>> bc.scipy.special.eval_chebys([1, 2, 3], 1.0)
    array([ 1.,  0., -1.])
    """
    return _chebys(1.0 * n, x)


def _sh_chebyt_of_complex(n: Any, x: Any) -> Any:
    return _sh_first_of_fraction(n, x) if n != math.floor(n) else _first_kind(n, 2 * x - 1, 2 * (x - 1), 2 * x)


@special_function(_ONE, row="eval_sh_chebyt", of_complex=_sh_chebyt_of_complex)
def eval_sh_chebyt(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the first kind on [0, 1]: eval_chebyt(n, 2 x - 1).

    Examples
    --------
    >>> bc.scipy.special.eval_sh_chebyt([1, 2, 3], 0.75)
    array([ 0.5, -0.5, -1. ])
    """
    return _sh_chebyt(1.0 * n, x)


def _sh_chebyu_of_complex(n: Any, x: Any) -> Any:
    return _sh_second_of_fraction(n, x) if n != math.floor(n) else _second_kind(n, 2 * x - 1, 2 * (x - 1), 2 * x)


@special_function(_ONE, row="eval_sh_chebyu", of_complex=_sh_chebyu_of_complex)
def eval_sh_chebyu(n: Any, x: Any) -> Any:
    """Chebyshev's polynomial of the second kind on [0, 1]: eval_chebyu(n, 2 x - 1).

    Examples
    --------
    >>> bc.scipy.special.eval_sh_chebyu([1, 2, 3], 0.75)
    array([ 1.,  0., -1.])
    """
    return _sh_chebyu(1.0 * n, x)


def _gegenbauer_of_complex(n: Any, alpha: Any, x: Any) -> Any:
    return _gegenbauer(n, alpha, x)


@special_function(_TWO, row="eval_gegenbauer", of_complex=_gegenbauer_of_complex, whole=True, of_fractions=_gegenbauer_of_fraction)
def eval_gegenbauer(n: Any, alpha: Any, x: Any) -> Any:
    """Gegenbauer's (the ultraspherical) polynomial of degree n.

    Examples
    --------
    >>> bc.scipy.special.eval_gegenbauer([1, 2, 3], 2.0, 0.5)
    array([ 2.,  1., -2.])
    """
    return _gegenbauer_row(1.0 * n, alpha, x)


@special_function(_THREE, whole=True, of_fractions=_jacobi_of_fraction)
def eval_jacobi(n: Any, alpha: Any, beta: Any, x: Any) -> Any:
    """Jacobi's polynomial of degree n.

    Examples
    --------
    >>> bc.scipy.special.eval_jacobi([1, 2, 3], 1.0, 2.0, 0.5)
    array([ 0.75  , -0.1875, -0.8125])
    """
    return _jacobi(n, alpha, beta, x, x - 1, x + 1)


@special_function(_THREE, whole=True, of_fractions=_sh_jacobi_of_fraction)
def eval_sh_jacobi(n: Any, p: Any, q: Any, x: Any) -> Any:
    """Jacobi's polynomial of degree n on [0, 1]: eval_jacobi(n, p - q, q - 1, 2 x - 1) over (2 n + p - 1 over n).

    Examples
    --------
    >>> bc.scipy.special.eval_sh_jacobi([1, 2, 3], 2.0, 1.5, 0.75)
    array([ 0.25    ,  0.      , -0.015625])
    """
    return _jacobi(n, p - q, q - 1, 2 * x - 1, 2 * (x - 1), 2 * x) / _at_one(int(n), n + p - 1)


def _laguerre_of_complex(n: Any, x: Any) -> Any:
    return _laguerre(n, 0.0, x)


@special_function(_ONE, row="eval_laguerre", whole=True, of_complex=_laguerre_of_complex, of_fractions=_laguerre_of_fraction)
def eval_laguerre(n: Any, x: Any) -> Any:
    """Laguerre's polynomial of degree n.

    Examples
    --------
    >>> bc.scipy.special.eval_laguerre([1, 2, 3], 0.5)
    array([ 0.5       ,  0.125     , -0.14583333])
    """
    return _laguerre_row(1.0 * n, x)


def _genlaguerre_of_complex(n: Any, alpha: Any, x: Any) -> Any:
    return _laguerre(n, alpha, x)


@special_function(_TWO, row="eval_genlaguerre", of_complex=_genlaguerre_of_complex, whole=True, of_fractions=_genlaguerre_of_fraction)
def eval_genlaguerre(n: Any, alpha: Any, x: Any) -> Any:
    """The generalized (associated) polynomial of Laguerre's of degree n.

    Examples
    --------
    >>> bc.scipy.special.eval_genlaguerre([1, 2, 3], 1.0, 0.5)
    array([1.5       , 1.625     , 1.47916667])
    """
    return _genlaguerre_row(1.0 * n, alpha, x)


def assoc_laguerre(x: ArrayLike, n: ArrayLike, k: ArrayLike = 0.0) -> ndarray:
    """The generalized Laguerre polynomial of degree n and order k > -1, with the argument first: eval_genlaguerre(n, k, x).

    Examples
    --------
    >>> bc.scipy.special.assoc_laguerre(0.5, [1, 2], 1.0)
    array([1.5  , 1.625])
    """
    return eval_genlaguerre(n, k, x)


@special_function("ld", row="eval_hermite")
def eval_hermite(n: Any, x: Any) -> Any:
    """The physicists' polynomial of Hermite's of degree n, an integer; NaN below degree 0.

    Examples
    --------
    >>> bc.scipy.special.eval_hermite([1, 2, 3], 0.5)
    array([ 1., -1., -5.])
    """
    return _hermite_row(1.0 * n, x)


@special_function("ld", row="eval_hermitenorm")
def eval_hermitenorm(n: Any, x: Any) -> Any:
    """The probabilists' polynomial of Hermite's of degree n, an integer; NaN below degree 0.

    Examples
    --------
    >>> bc.scipy.special.eval_hermitenorm([1, 2, 3], 0.5)
    array([ 0.5  , -0.75 , -1.375])
    """
    return _hermitenorm_row(1.0 * n, x)
