"""SciPy's special functions. Nearly all are rows of the engine: ufuncs that fuse into expressions and are called in compiled functions and
kernels, on both devices. They run in float32 (also for float16 and small integers) and float64; the gamma and the error functions, exp1,
expi, xlogy and xlog1py in complex64 and complex128 too, wofz in these alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ... import _broadcloth as _c
from ... import _docs, _math
from ..._broadcloth import ndarray
from ..._namespace import face
from .. import _special_docs
from . import (
    _airy,
    _bessel,
    _combinatorics,
    _distributions,
    _elementary,
    _ellipsoidal,
    _elliptic,
    _errors,
    _faddeeva,
    _function_integrals,
    _function_zeros,
    _hypergeometric,
    _hypergeometric_complex,
    _integrals,
    _inverses,
    _kelvin,
    _legendre,
    _mathieu,
    _noncentral,
    _omega,
    _orthopoly,
    _parabolic,
    _polynomials,
    _quadrature,
    _sequences,
    _sine_integrals,
    _spherical,
    _spheroidal,
    _struve,
    _zeros,
)
from ._airy import *  # noqa: F403
from ._bessel import *  # noqa: F403
from ._combinatorics import *  # noqa: F403
from ._distributions import *  # noqa: F403
from ._elementary import *  # noqa: F403
from ._ellipsoidal import *  # noqa: F403
from ._elliptic import *  # noqa: F403
from ._errors import *  # noqa: F403
from ._faddeeva import *  # noqa: F403
from ._function_integrals import *  # noqa: F403
from ._function_zeros import *  # noqa: F403
from ._hypergeometric import *  # noqa: F403
from ._hypergeometric_complex import *  # noqa: F403
from ._integrals import *  # noqa: F403
from ._inverses import *  # noqa: F403
from ._kelvin import *  # noqa: F403
from ._legendre import *  # noqa: F403
from ._mathieu import *  # noqa: F403
from ._noncentral import *  # noqa: F403
from ._omega import *  # noqa: F403
from ._orthopoly import *  # noqa: F403
from ._parabolic import *  # noqa: F403
from ._polynomials import *  # noqa: F403
from ._quadrature import *  # noqa: F403
from ._sequences import *  # noqa: F403
from ._spherical import *  # noqa: F403
from ._spheroidal import *  # noqa: F403
from ._struve import *  # noqa: F403
from ._zeros import *  # noqa: F403
from ._zeta import _complex_zeta

if TYPE_CHECKING:
    from ...typing import ArrayLike, AxisLike

_ufuncs = _c.ufuncs
_asarray = _c.asarray

_docs.document({name: (text, f"bc.scipy.special.{name}({arguments})", result)
                for name, (text, arguments, result) in _special_docs.TABLE.items()})  # fmt: skip
globals().update({name: _ufuncs[name] for name in _special_docs.TABLE})
_docs.document(
    {
        "i0": (
            "The modified Bessel function of the first kind, order 0.",
            "bc.scipy.special.i0([0.0, 1.0])",
            "array([1.        , 1.26606588])",
        ),
        "bessel_i1": (
            "The modified Bessel function of the first kind, order 1.",
            "bc.scipy.special.i1([0.0, 1.0])",
            "array([0.        , 0.5651591])",
        ),
    }
)
# Rows that NumPy names too, and second names.
cbrt, exp2, expm1, log1p = _ufuncs["cbrt"], _ufuncs["exp2"], _ufuncs["expm1"], _ufuncs["log1p"]
round = _ufuncs["rint"]
i0, i1 = _ufuncs["i0"], _ufuncs["bessel_i1"]
psi = _ufuncs["digamma"]
sinc = _math.sinc

__all__ = sorted(
    [
        *_special_docs.TABLE,
        *_airy.__all__,
        *_bessel.__all__,
        *_combinatorics.__all__,
        *_distributions.__all__,
        *_elementary.__all__,
        *_ellipsoidal.__all__,
        *_elliptic.__all__,
        *_faddeeva.__all__,
        *_function_integrals.__all__,
        *_function_zeros.__all__,
        *_hypergeometric.__all__,
        *_hypergeometric_complex.__all__,
        *_integrals.__all__,
        *_errors.__all__,
        *_inverses.__all__,
        *_kelvin.__all__,
        *_legendre.__all__,
        *_mathieu.__all__,
        *_noncentral.__all__,
        *_omega.__all__,
        *_orthopoly.__all__,
        *_parabolic.__all__,
        *_polynomials.__all__,
        *_quadrature.__all__,
        *_sequences.__all__,
        *_spherical.__all__,
        *_spheroidal.__all__,
        *_struve.__all__,
        *_zeros.__all__,
        "cbrt", "ellipj", "exp2", "expm1", "i0", "i1", "lambertw", "log1p", "log_softmax", "logsumexp", "multigammaln", "polygamma", "psi",
        "round", "shichi", "sici", "sinc", "softmax", "sph_harm", "sph_harm_y", "spherical_yn", "zeta",
    ]
)  # fmt: skip


if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...

else:
    __getattr__, __dir__ = face(__name__, __all__)


def zeta(x: ArrayLike, q: ArrayLike | None = None, out: ndarray | None = None) -> ndarray:
    """Riemann's zeta function of real or complex x, or with `q` Hurwitz's of real x: the sum of (k + q)**-x over k = 0, 1, ...

    Complex values take time that grows with the imaginary part, and their errors are 1e-16 times it; NaN beyond 1e5.

    Examples
    --------
    >>> bc.scipy.special.zeta([2.0, 4.0])
    array([1.64493407, 1.08232323])
    >>> bc.scipy.special.zeta(2.0, bc.array([1.0, 2.0]))
    array([1.64493407, 0.64493407])
    """
    if q is not None:
        return _ufuncs["zeta"](x, q, out=out)
    if not isinstance(x, (int, float)) and _asarray(x).dtype.kind == "c":
        return _complex_zeta(x, out=out)
    return _ufuncs["riemann_zeta"](x, out=out)


def polygamma(n: ArrayLike, x: ArrayLike) -> ndarray:
    """The n-th derivative of the digamma function.

    Examples
    --------
    >>> bc.scipy.special.polygamma(1, [1.0, 2.0])
    array([1.64493407, 0.64493407])
    """
    n, x = _asarray(n), _asarray(x)
    order = n + 1.0
    sign = 1.0 - 2.0 * (n % 2 == 0)
    return _c.where(n == 0, psi(x), sign * _ufuncs["gamma"](order) * _ufuncs["zeta"](order, x))


def multigammaln(a: ArrayLike, d: int) -> ndarray:
    """The logarithm of the multivariate gamma function of dimension `d`, for a > (d - 1) / 2.

    Raises
    ------
    ValueError
        `d` is not a positive whole number, or an `a` is too small.

    Examples
    --------
    >>> bc.scipy.special.multigammaln(23.5, 10)
    array(457.17667478)
    """
    a = _asarray(a)
    if not np.isscalar(d) or np.floor(d) != d or d < 1:
        raise ValueError("d should be a positive integer (dimension)")
    if bool((a <= 0.5 * (d - 1)).any()):
        raise ValueError(f"condition a ({float(a.min()):f}) > 0.5 * (d-1) ({0.5 * (d - 1):f}) not met")
    terms = _ufuncs["gammaln"](a[..., None] - 0.5 * _asarray(np.arange(d), device=a.device))
    return terms.sum(axis=-1) + d * (d - 1) * 0.25 * float(np.log(np.pi))


def sici(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The sine and cosine integrals Si(x) and Ci(x), of real and complex arguments.

    Examples
    --------
    >>> bc.scipy.special.sici(1.0)
    (array(0.94608307), array(0.33740392))
    """
    x = _asarray(x)
    if x.dtype.kind == "c":
        return _sine_integrals._complex_si(x), _sine_integrals._complex_ci(x)
    return _ufuncs["sici_si"](x), _ufuncs["sici_ci"](x)


def shichi(x: ArrayLike) -> tuple[ndarray, ndarray]:
    """The hyperbolic sine and cosine integrals Shi(x) and Chi(x), of real and complex arguments.

    Examples
    --------
    >>> bc.scipy.special.shichi(1.0)
    (array(1.05725088), array(0.83786694))
    """
    x = _asarray(x)
    if x.dtype.kind == "c":
        return _sine_integrals._complex_shi(x), _sine_integrals._complex_chi(x)
    return _ufuncs["shichi_shi"](x), _ufuncs["shichi_chi"](x)


def ellipj(u: ArrayLike, m: ArrayLike) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """Jacobi's elliptic functions sn, cn, dn of u and the parameter m in [0, 1], and the amplitude.

    Examples
    --------
    >>> sn, cn, dn, ph = bc.scipy.special.ellipj(1.0, 0.5)
    >>> sn
    array(0.80300182)
    """
    sn, cn, dn, ph = (_ufuncs[f"ellipj_{part}"](u, m) for part in ("sn", "cn", "dn", "ph"))
    return sn, cn, dn, ph


def spherical_yn(n: ArrayLike, z: ArrayLike, derivative: bool = False) -> ndarray:
    """The spherical Bessel function of the second kind of whole order n >= 0 and real z, or its derivative.

    Examples
    --------
    >>> bc.scipy.special.spherical_yn([0, 1], 1.0)
    array([-0.54030231, -1.38177329])
    """
    row = _ufuncs["spherical_yn"]
    if not derivative:
        return row(n, z)
    n, z = _asarray(n), _asarray(z)
    return n / z * row(n, z) - row(n + 1, z)


def lambertw(z: ArrayLike, k: ArrayLike = 0, tol: float = 1e-8) -> ndarray:
    """Lambert's W function: the solution w of w exp(w) = z on branch `k`, complex.

    Parameters
    ----------
    z : array_like
        Real or complex numbers; the result is complex128.
    k : array_like of int, optional
        The branch, which broadcasts with `z`. 0 is the principal one; 0 and -1 are real on parts of the real axis.
    tol : float, optional
        SciPy's bound for the iteration. Results here always have full precision, which is within any bound.

    Raises
    ------
    TypeError
        `k` is complex.

    Examples
    --------
    >>> bc.scipy.special.lambertw([0.0, 1.0]).real
    array([0.        , 0.56714329])
    >>> bc.scipy.special.lambertw(-0.1, k=-1)
    array(-3.57715206+0.j)
    """
    branch = _asarray(k)
    if branch.dtype.kind == "c":
        raise TypeError(f"lambertw: expected whole numbers k, got {branch.dtype}")
    if not tol >= 0:
        raise ValueError(f"lambertw: expected tol >= 0, got {tol!r}")
    return _ufuncs["lambertw"](z, branch if isinstance(k, ndarray) or branch.ndim else k)


def _harmonic_operands(*operands: ArrayLike) -> tuple[list[ndarray], Any]:
    """Degree, order and two angles as arrays of one real type, float32 where both angles are that, and its complex type."""
    arrays = [_asarray(x) for x in operands]
    angles = [x.dtype for x, given in zip(arrays[2:], operands[2:], strict=True) if not isinstance(given, (int, float))]
    narrow = bool(angles) and all(t.kind == "f" and t.itemsize <= 4 for t in angles)
    real, wide = (np.float32, np.complex64) if narrow else (np.float64, np.complex128)
    return [x.astype(real) for x in arrays], wide


def sph_harm_y(n: ArrayLike, m: ArrayLike, theta: ArrayLike, phi: ArrayLike, *, diff_n: int = 0) -> Any:
    """The spherical harmonic of degree `n` and order `m`, with the Condon-Shortley phase, and its derivatives.

    Parameters
    ----------
    n, m : array_like of int
        Degree and order; 0 where abs(m) > n, NaN where n < 0.
    theta : array_like
        The polar angle, in [0, pi].
    phi : array_like
        The azimuthal angle.
    diff_n : int, optional
        With 1 the gradient comes too, with 2 the Hessian matrix besides.

    Returns
    -------
    ndarray or tuple of ndarray
        Complex values of the operands' common shape; the gradient by (theta, phi) has one more axis of 2, the Hessian matrix two.

    Raises
    ------
    TypeError
        `n` or `m` are not whole numbers.
    ValueError
        `diff_n` is not 0, 1 or 2.

    Examples
    --------
    >>> bc.scipy.special.sph_harm_y([0, 1], 0, 0.5, 0.0).real
    array([0.28209479, 0.42878904])
    """
    if not isinstance(diff_n, (int, np.integer)) or not 0 <= diff_n <= 2:
        raise ValueError(f"sph_harm_y: expected 0, 1 or 2 derivatives, got diff_n={diff_n!r}")
    for name, x in (("n", n), ("m", m)):
        if _asarray(x).dtype.kind not in "biu":
            raise TypeError(f"sph_harm_y: expected whole numbers {name}, got {_asarray(x).dtype}")
    (n, m, theta, phi), wide = _harmonic_operands(n, m, theta, phi)
    turn = _ufuncs["exp"](1j * (m * phi)).astype(wide)

    def legendre(step: int) -> ndarray:
        return _ufuncs["sph_legendre_p"](n, m + step, theta)

    def ladder(step: int) -> ndarray:
        """(n - m')(n + m' + 1) for the step up from m' = m + step."""
        return _ufuncs["maximum"]((n - m - step) * (n + m + (step + 1)), 0.0)

    value = legendre(0) * turn
    if diff_n == 0:
        return value
    root = _ufuncs["sqrt"]
    # The ladder of orders: dP_m = (c_m P_(m + 1) - c_(m - 1) P_(m - 1)) / 2.
    slope = 0.5 * (root(ladder(0)) * legendre(1) - root(ladder(-1)) * legendre(-1)) * turn
    gradient = _c.stack([slope, 1j * m * value], axis=-1)
    if diff_n == 1:
        return value, gradient
    up, down = root(ladder(0) * ladder(1)) * legendre(2), root(ladder(-1) * ladder(-2)) * legendre(-2)
    bend = 0.25 * (up - (ladder(0) + ladder(-1)) * legendre(0) + down) * turn
    mixed = 1j * m * slope
    return value, gradient, _c.stack([_c.stack([bend, mixed], axis=-1), _c.stack([mixed, -m * m * value], axis=-1)], axis=-2)


def sph_harm(m: ArrayLike, n: ArrayLike, theta: ArrayLike, phi: ArrayLike) -> ndarray:
    """The spherical harmonic in SciPy's old order of arguments: order, degree, azimuthal angle, polar angle.

    Orders and degrees are cut off to whole numbers; NaN where abs(m) > n.

    Examples
    --------
    >>> bc.scipy.special.sph_harm(0, 1, 0.0, 0.5).real
    array(0.42878904)
    """
    (n, m, polar, azimuth), wide = _harmonic_operands(n, m, phi, theta)
    order: Any = _ufuncs["trunc"](m)
    value = _ufuncs["sph_legendre_p"](n, order, polar) * _ufuncs["exp"](1j * (order * azimuth)).astype(wide)
    return _c.where(abs(order) > _ufuncs["trunc"](n), np.nan, value)


def _floating(x: ArrayLike) -> ndarray:
    a = _asarray(x)
    return a.astype(np.float64) if a.dtype.kind in "biu" else a


def _largest(a: ndarray, axis: AxisLike) -> ndarray:
    """The largest real part along axes that stay, 0 where it is not finite."""
    if a.size == 0:
        return a.sum(axis=axis, keepdims=True).real
    top = a.real.max(axis=axis, keepdims=True)
    return _c.where(_ufuncs["isfinite"](top), top, 0.0)


def logsumexp(
    a: ArrayLike, axis: AxisLike = None, b: ArrayLike | None = None, keepdims: bool = False, return_sign: bool = False
) -> ndarray | tuple[ndarray, ndarray]:
    """log(sum(b exp(a))) along axes, without overflow on the way.

    Parameters
    ----------
    a : array_like
        The exponents; integers run in float64.
    axis : int or tuple of int, optional
        The axes of the sum; all by default.
    b : array_like, optional
        Factors, which broadcast with `a`; an exponent with the factor 0 does not count, even inf.
    keepdims : bool
        Whether the axes stay, with extent 1.
    return_sign : bool
        Whether the result is the logarithm of the sum's absolute value, and the sum's sign (or phase) besides. Without it a negative sum
        gives NaN.

    Examples
    --------
    >>> bc.scipy.special.logsumexp([1000.0, 1000.0])
    array(1000.69314718)
    """
    a = _floating(a)
    if b is not None:
        b = _asarray(b)
        a = _c.where(b == 0, -np.inf, a)
    top = _largest(a, axis)
    terms = _ufuncs["exp"](a - top)
    total = (terms if b is None else terms * b).sum(axis=axis, keepdims=True)
    sign = _ufuncs["sign"](total)
    if return_sign:
        total = _ufuncs["absolute"](total)
    result = _ufuncs["log"](total) + top
    if not keepdims:
        axes = tuple(range(a.ndim)) if axis is None else axis
        result, sign = result.squeeze(axis=axes), sign.squeeze(axis=axes)
    return (result, sign) if return_sign else result


def softmax(x: ArrayLike, axis: AxisLike = None) -> ndarray:
    """exp(x) / sum(exp(x)) along axes (all by default), without overflow on the way.

    Examples
    --------
    >>> bc.scipy.special.softmax([0.0, 0.0, 1000.0])
    array([0., 0., 1.])
    """
    x = _floating(x)
    powers = _ufuncs["exp"](x - x.max(axis=axis, keepdims=True))
    return powers / powers.sum(axis=axis, keepdims=True)


def log_softmax(x: ArrayLike, axis: AxisLike = None) -> ndarray:
    """log(softmax(x)) along axes (all by default), with all digits where the softmax is near 0 or 1.

    Examples
    --------
    >>> bc.scipy.special.log_softmax([1000.0, 1.0])
    array([   0., -999.])
    """
    x = _floating(x)
    less = x - _largest(x, axis)
    return less - _ufuncs["log"](_ufuncs["exp"](less).sum(axis=axis, keepdims=True))
