"""Zeros of the Airy, Kelvin, error and Fresnel functions, and of Bessel functions over all orders or off the real axis: small computations
on the host, from asymptotic expansions (DLMF 7.13, 9.9, 10.70) or a look along the axis, then Newton's method with our own functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ._airy import airy
from ._bessel import yv
from ._faddeeva import fresnel
from ._kelvin import bei, beip, ber, berp, kei, keip, ker, kerp
from ._zeros import _between, _checked, _Host, jn_zeros, jnp_zeros, yn_zeros, ynp_zeros

__all__ = [
    "ai_zeros", "bei_zeros", "beip_zeros", "ber_zeros", "berp_zeros", "bi_zeros", "erf_zeros", "fresnel_zeros", "fresnelc_zeros",
    "fresnels_zeros", "jnjnp_zeros", "jnyn_zeros", "kei_zeros", "keip_zeros", "kelvin_zeros", "ker_zeros", "kerp_zeros", "y0_zeros",
    "y1_zeros", "y1p_zeros",
]  # fmt: skip

_NEWTON = 12


def _count(name: str, nt: Any) -> int:
    return _checked(name, 0, nt)[1]


def _values(function: Callable[..., Any], *operands: Any) -> Any:
    """A function of ours of host arrays, computed on the CPU."""
    result = function(*(_c.array(x, device="cpu") if isinstance(x, np.ndarray) else x for x in operands))
    return tuple(part.get() for part in result) if isinstance(result, tuple) else result.get()


def _newton(step: Callable[[_Host], _Host], x: _Host) -> _Host:
    for _ in range(_NEWTON):
        x = x - step(x)
    return x


# ---- Airy functions


def _airy_part(kind: int, slope: bool, x: _Host) -> _Host:
    return _values(airy, x)[2 * kind + slope]


def _airy_zeros(kind: int, count: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The zeros of Ai (kind 0) or Bi and of the derivative, the function at the latter, the derivative at the former (DLMF 9.9.6 on)."""
    k = np.arange(1.0, count + 1)
    t, u = (3 * math.pi / 8 * (4 * k - shift) for shift in ((1, 3), (3, 1))[kind])
    x = -(t ** (2 / 3)) * (1 + 5 / 48 / t**2 - 5 / 36 / t**4)
    y = -(u ** (2 / 3)) * (1 - 7 / 48 / u**2 + 35 / 288 / u**4)
    x = _newton(lambda x: _airy_part(kind, False, x) / _airy_part(kind, True, x), x)
    y = _newton(lambda y: _airy_part(kind, True, y) / (y * _airy_part(kind, False, y)), y)
    a, b, c, d = (_c.asarray(part) for part in (x, y, _airy_part(kind, False, y), _airy_part(kind, True, x)))
    return a, b, c, d


def ai_zeros(nt: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The first nt zeros of the Airy function Ai and of its derivative, all negative, by their size.

    Parameters
    ----------
    nt : int
        How many zeros.

    Returns
    -------
    a, ap, ai, aip : ndarray of float64, (nt,)
        The zeros of Ai, those of Ai', Ai at the zeros of Ai', Ai' at the zeros of Ai. They are computed on the host.

    Raises
    ------
    ValueError
        `nt` is not a positive whole number.

    Examples
    --------
    >>> a, ap, ai, aip = bc.scipy.special.ai_zeros(3)
    >>> a
    array([-2.33810741, -4.08794944, -5.52055983])
    """
    return _airy_zeros(0, _count("ai_zeros", nt))


def bi_zeros(nt: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The first nt negative zeros of the Airy function Bi and of its derivative, with the values there; see `ai_zeros`.

    Examples
    --------
    >>> b, bp, bi, bip = bc.scipy.special.bi_zeros(3)
    >>> b
    array([-1.17371322, -3.2710933 , -4.83073784])
    """
    return _airy_zeros(1, _count("bi_zeros", nt))


# ---- Kelvin functions

_GAP = math.sqrt(2) * math.pi
_FAR = 600.0
_TERMS = ((-1 / 8, False), (3 / 8, True))


def _phase(x: _Host, order: int, sign: int) -> _Host:
    """theta of ber and bei (sign 1) or phi of ker and kei (sign -1) for large x: DLMF 10.68.18, 10.68.21."""
    mu, root = 4.0 * order * order, math.sqrt(2)
    return (
        sign * x / root
        + sign * (order / 2 - sign / 8) * math.pi
        + (mu - 1) / (8 * root * x)
        + sign * (mu - 1) / (16 * x**2)
        - (mu - 1) * (mu - 25) / (384 * root * x**3)
    )


def _kelvin_zeros(function: Callable[..., Any], count: int) -> _Host:
    """Signs on a grid give intervals for those that are near; the last ones of these, whose distance is nearly constant, give the rest."""
    near = min(count, int(_FAR / _GAP) - 4)
    x = np.arange(0.2, _GAP * (near + 3), 0.4)
    low = np.flatnonzero(np.diff(np.sign(_values(function, x))))[:near]
    found = _between(lambda at: _values(function, at), x[low], x[low + 1])
    return found if count == near else np.concatenate([found, _far_zeros(function, found[-1], count - near)])


def _far_zeros(function: Any, last: float, count: int) -> _Host:
    """The zeros behind a large one, by the phases."""
    slope, sign = function.__name__.endswith("p"), -1 if function.__name__.startswith("k") else 1
    start = _phase(np.asarray(last), int(slope), sign)
    wanted = start + sign * math.pi * np.arange(1, count + 1)
    x = last + _GAP * np.arange(1, count + 1)
    for _ in range(_NEWTON):
        x = x - sign * math.sqrt(2) * (_phase(x, int(slope), sign) - wanted)
    return x


def _kelvin(name: str, function: Callable[..., Any], nt: int) -> ndarray:
    return _c.asarray(_kelvin_zeros(function, _count(name, nt)))


def ber_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the Kelvin function ber.

    Parameters
    ----------
    nt : int
        How many zeros.

    Returns
    -------
    ndarray of float64, (nt,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        `nt` is not a positive whole number.

    Examples
    --------
    >>> bc.scipy.special.ber_zeros(3)
    array([ 2.84891782,  7.23882945, 11.67396355])
    """
    return _kelvin("ber_zeros", ber, nt)


def bei_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the Kelvin function bei; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.bei_zeros(3)
    array([ 5.02622395,  9.4554063 , 13.89348785])
    """
    return _kelvin("bei_zeros", bei, nt)


def ker_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the Kelvin function ker; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.ker_zeros(3)
    array([ 1.71854296,  6.12727913, 10.56294271])
    """
    return _kelvin("ker_zeros", ker, nt)


def kei_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the Kelvin function kei; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.kei_zeros(3)
    array([ 3.91466761,  8.34422506, 12.78255715])
    """
    return _kelvin("kei_zeros", kei, nt)


def berp_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of ber; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.berp_zeros(3)
    array([ 6.03871081, 10.51364251, 14.96844542])
    """
    return _kelvin("berp_zeros", berp, nt)


def beip_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of bei; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.beip_zeros(3)
    array([ 3.7726733 ,  8.28098785, 12.74214752])
    """
    return _kelvin("beip_zeros", beip, nt)


def kerp_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of ker; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.kerp_zeros(3)
    array([ 2.66583979,  7.17212212, 11.63218639])
    """
    return _kelvin("kerp_zeros", kerp, nt)


def keip_zeros(nt: int) -> ndarray:
    """The first nt positive zeros of the derivative of kei; see `ber_zeros`.

    Examples
    --------
    >>> bc.scipy.special.keip_zeros(3)
    array([ 4.93181194,  9.40405458, 13.85826916])
    """
    return _kelvin("keip_zeros", keip, nt)


def kelvin_zeros(nt: int) -> tuple[ndarray, ...]:
    """The first nt positive zeros of ber, bei, ker, kei and of their derivatives, in this order; see `ber_zeros`.

    Examples
    --------
    >>> len(bc.scipy.special.kelvin_zeros(2))
    8
    """
    functions = (ber, bei, ker, kei, berp, beip, kerp, keip)
    return tuple(_kelvin("kelvin_zeros", function, nt) for function in functions)


# ---- The error function and Fresnel's integrals


def erf_zeros(nt: int) -> ndarray:
    """The first nt zeros of erf(z) in the first quadrant, by their size.

    Returns
    -------
    ndarray of complex128, (nt,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        `nt` is not a positive whole number.

    Examples
    --------
    >>> bc.scipy.special.erf_zeros(2)
    array([1.45061616+1.880943j  , 2.24465927+2.61657514j])
    """
    count = _count("erf_zeros", nt)
    # DLMF 7.13.1
    t = np.sqrt(math.pi * (np.arange(1.0, count + 1) - 0.125))
    mu = np.log(t * math.sqrt(2 * math.pi))
    start = t * (1 + 1j) + (-1 + 1j) * mu / (4 * t)
    return _c.asarray(_newton(lambda z: 0.5 * math.sqrt(math.pi) * _values(_c.ufuncs["erf"], z) * np.exp(z * z), start))


def _fresnel_zeros(kind: int, count: int) -> _Host:
    """The zeros of S (kind 0) or C (kind 1) in the first quadrant: DLMF 7.13.5, 7.13.6."""
    t = np.sqrt(4 * np.arange(1.0, count + 1) - kind)
    start = t + 1j * np.log(math.pi * t) / (math.pi * t)
    slope = np.cos if kind else np.sin
    return _newton(lambda z: _values(fresnel, z)[kind] / slope(0.5 * math.pi * z * z), start)


def fresnelc_zeros(nt: int) -> ndarray:
    """The first nt zeros of the Fresnel integral C(z) in the first quadrant; see `erf_zeros`.

    Examples
    --------
    >>> bc.scipy.special.fresnelc_zeros(2)
    array([1.74366749+0.30573506j, 2.6514596 +0.25290396j])
    """
    return _c.asarray(_fresnel_zeros(1, _count("fresnelc_zeros", nt)))


def fresnels_zeros(nt: int) -> ndarray:
    """The first nt zeros of the Fresnel integral S(z) in the first quadrant; see `erf_zeros`.

    Examples
    --------
    >>> bc.scipy.special.fresnels_zeros(2)
    array([2.00925701+0.2885479j , 2.83347723+0.24428524j])
    """
    return _c.asarray(_fresnel_zeros(0, _count("fresnels_zeros", nt)))


def fresnel_zeros(nt: int) -> tuple[ndarray, ndarray]:
    """The first nt zeros of the Fresnel integrals S(z) and C(z) in the first quadrant; see `erf_zeros`.

    Examples
    --------
    >>> s, c = bc.scipy.special.fresnel_zeros(1)
    >>> s, c
    (array([2.00925701+0.2885479j]), array([1.74366749+0.30573506j]))
    """
    count = _count("fresnel_zeros", nt)
    return _c.asarray(_fresnel_zeros(0, count)), _c.asarray(_fresnel_zeros(1, count))


# ---- Bessel functions


def _second_kind(order: int, slope: bool, z: _Host) -> _Host:
    value = _values(yv, float(order), z)
    return _values(yv, float(order - 1), z) - order / z * value if slope else value


def _y_pairs(name: str, nt: int, complex_: bool, order: int, slope: bool) -> tuple[ndarray, ndarray]:
    """Zeros of Y or Y', and Y' or Y there."""
    count = _count(name, nt)
    if not complex_:
        z = (ynp_zeros if slope else yn_zeros)(order, count).get().astype(np.complex128)
    else:
        # They lie above the zeros of J on the negative axis, near the line whose height is log(3) / 2; those of order 1 begin beside 0.
        first = {(0, False): [], (1, False): [-0.5 + 0.79j], (1, True): [0.58 + 0.9j, -1.94 + 0.72j]}[order, slope]
        behind = jnp_zeros(order, count + 1).get()[1:] if slope else jn_zeros(order, count).get()
        z = np.concatenate([first, -behind + 0.5j * math.log(3)])[:count]
        z = _newton(lambda z: _complex_step(order, slope, z), z)
    return _c.asarray(z), _c.asarray(_second_kind(order, not slope, z) if order else -_second_kind(1, False, z))


def _complex_step(order: int, slope: bool, z: _Host) -> _Host:
    """f / f' by Bessel's equation."""
    value = _second_kind(order, False, z)
    derivative = _second_kind(order, True, z) if order else -_second_kind(1, False, z)
    if not slope:
        return value / derivative
    return derivative / (-derivative / z - (1 - order * order / z**2) * value)


def y0_zeros(nt: int, complex: bool = False) -> tuple[ndarray, ndarray]:
    """The first nt zeros of the Bessel function Y0, and its derivative there.

    Parameters
    ----------
    nt : int
        How many zeros.
    complex : bool, optional
        Whether these are the zeros with negative real and positive imaginary part instead of the positive ones.

    Returns
    -------
    z, y : ndarray of complex128, (nt,)
        On the default device; computed on the host.

    Raises
    ------
    ValueError
        `nt` is not a positive whole number.

    Examples
    --------
    >>> z, y = bc.scipy.special.y0_zeros(2)
    >>> z.real
    array([0.89357697, 3.95767842])
    """
    return _y_pairs("y0_zeros", nt, bool(complex), 0, False)


def y1_zeros(nt: int, complex: bool = False) -> tuple[ndarray, ndarray]:
    """The first nt zeros of the Bessel function Y1, and its derivative there; see `y0_zeros`.

    Examples
    --------
    >>> z, y = bc.scipy.special.y1_zeros(2)
    >>> z.real
    array([2.19714133, 5.42968104])
    """
    return _y_pairs("y1_zeros", nt, bool(complex), 1, False)


def y1p_zeros(nt: int, complex: bool = False) -> tuple[ndarray, ndarray]:
    """The first nt zeros of the derivative of the Bessel function Y1, and Y1 there; see `y0_zeros`.

    Examples
    --------
    >>> z, y = bc.scipy.special.y1p_zeros(2)
    >>> z.real
    array([3.68302286, 6.94149995])
    """
    return _y_pairs("y1p_zeros", nt, bool(complex), 1, True)


def jnyn_zeros(n: int, nt: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The first nt positive zeros of Jn, Jn', Yn and Yn'; see `jn_zeros`.

    Examples
    --------
    >>> bc.scipy.special.jnyn_zeros(1, 1)
    (array([3.83170597]), array([1.84118378]), array([2.19714133]), array([3.68302286]))
    """
    _checked("jnyn_zeros", n, nt)
    return jn_zeros(n, nt), jnp_zeros(n, nt), yn_zeros(n, nt), ynp_zeros(n, nt)


def jnjnp_zeros(nt: int) -> tuple[ndarray, ndarray, ndarray, ndarray]:
    """The first nt zeros of the Bessel functions Jn and of their derivatives over all orders n >= 0, by their size.

    Parameters
    ----------
    nt : int
        How many zeros, 1200 at the most, as in SciPy.

    Returns
    -------
    zo : ndarray of float64, (nt,)
        The zeros; the first is 0, of the derivative of J0.
    n, m, t : ndarray of int32, (nt,)
        The order of each, its number among the function's zeros, and 0 for a zero of Jn or 1 for one of Jn'.

    Raises
    ------
    ValueError
        `nt` is not a whole number from 1 to 1200.

    Examples
    --------
    >>> zo, n, m, t = bc.scipy.special.jnjnp_zeros(4)
    >>> zo
    array([0.        , 1.84118378, 2.40482556, 3.05423693])
    """
    if _count("jnjnp_zeros", nt) > 1200:
        raise ValueError(f"jnjnp_zeros: nt must be at most 1200, got {nt}")
    # About x**2 / (2 pi) zeros of each kind are below x; those of order n lie above n.
    bound = math.sqrt(math.pi * nt) + 4
    rows = [(0.0, 0, 0, 1)]
    for order in range(int(bound) + 1):
        each = max(1, int((bound - order) / math.pi) + 3)
        rows += [(float(x), order, k + 1, 0) for k, x in enumerate(jn_zeros(order, each).get())]
        rows += [(float(x), order, k + 1, 1) for k, x in enumerate(jnp_zeros(order, each).get())]
    rows = sorted(rows, key=lambda row: (row[0], -row[1]))[: int(nt)]
    zeros, *numbers = (np.array(column) for column in zip(*rows, strict=True))
    orders, counts, kinds = (_c.asarray(column.astype(np.int32)) for column in numbers)
    return _c.asarray(zeros), orders, counts, kinds
