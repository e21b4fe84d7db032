"""Elementwise functions that NumPy writes as functions, and what is made of differences and sums."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray
from ._indexing import shape as _shape
from ._warnings import warn

if TYPE_CHECKING:
    from .typing import ArrayLike, AxisLike

_NoValue: Any = np._NoValue  # type: ignore[attr-defined]
_ufuncs = _c.ufuncs
_reduce = _c.reduce
_asarray = _c.asarray

where = _c.where
angle_row = _ufuncs["angle"]


def clip(
    a: ArrayLike,
    a_min: ArrayLike | None = _NoValue,
    a_max: ArrayLike | None = _NoValue,
    out: ndarray | None = None,
    *,
    min: ArrayLike | None = _NoValue,
    max: ArrayLike | None = _NoValue,
    **kwargs: Any,
) -> ndarray:
    """Values limited to an interval.

    Parameters
    ----------
    a : array_like
    a_min, a_max : array_like or None
        The bounds (`min` and `max` are other names for them); None is no bound.
    out : ndarray, optional
        Where the result goes.

    Raises
    ------
    TypeError
        A Python integer bound does not fit the array's type, or names are mixed.

    Examples
    --------
    >>> bc.clip(bc.arange(5), 1, 3)
    array([1, 1, 2, 3, 3])
    """
    if a_min is _NoValue and a_max is _NoValue:
        a_min = None if min is _NoValue else min
        a_max = None if max is _NoValue else max
    elif a_min is _NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_min'")
    elif a_max is _NoValue:
        raise TypeError("clip() missing 1 required positional argument: 'a_max'")
    elif min is not _NoValue or max is not _NoValue:
        raise ValueError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    return _c.clip(a, a_min, a_max, out, **kwargs)


def round(a: ArrayLike, decimals: int = 0, out: ndarray | None = None) -> ndarray:
    """Values rounded to a number of decimals, halves to even.

    Examples
    --------
    >>> bc.round(bc.array([0.5, 1.5, 2.46]), 1)
    array([0.5, 1.5, 2.5])
    """
    return _c.round(a, decimals, out)


around = round


def fix(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Values rounded towards zero.

    Examples
    --------
    >>> bc.fix(bc.array([1.7, -1.7]))
    array([ 1., -1.])
    """
    return _ufuncs["trunc"](x, out=out)


def sinc(x: ArrayLike) -> ndarray:
    """sin(pi x) / (pi x), and 1 at 0.

    Examples
    --------
    >>> bc.sinc(0.0)
    array(1.)
    """
    return _ufuncs["sinc"](x)


def i0(x: ArrayLike) -> ndarray:
    """The modified Bessel function of the first kind, order 0.

    Examples
    --------
    >>> bc.i0(0.0)
    array(1.)
    """
    return _ufuncs["i0"](x)


def real(val: ArrayLike) -> Any:
    """The real part: a view of a complex array, the array itself otherwise.

    Examples
    --------
    >>> bc.real(bc.array([1 + 2j]))
    array([1.])
    """
    return val.real if isinstance(val, (ndarray, int, float, complex)) else _c.as_result(_asarray(val).real)


def imag(val: ArrayLike) -> Any:
    """The imaginary part: a view of a complex array, zeros otherwise.

    Examples
    --------
    >>> bc.imag(bc.array([1 + 2j]))
    array([2.])
    """
    return val.imag if isinstance(val, (ndarray, int, float, complex)) else _c.as_result(_asarray(val).imag)


def angle(z: ArrayLike, deg: bool = False) -> ndarray:
    """The angle of complex numbers, in radians unless `deg`.

    Examples
    --------
    >>> bc.angle(bc.array([1j]), deg=True)
    array([90.])
    """
    return _c.angle(z, deg)


def real_if_close(a: ArrayLike, tol: float = 100) -> ndarray:
    """The real part where all imaginary parts are close to zero (which looks), else the array itself.

    Examples
    --------
    >>> bc.real_if_close(bc.array([1 + 1e-15j]))
    array([1.])
    """
    x = _c.asanyarray(a)
    if x.dtype.kind != "c":
        return x
    limit = tol * float(np.finfo(x.dtype).eps) if tol > 1 else tol
    return x.real if bool(_reduce("all", _ufuncs["absolute"](x.imag) < limit)) else x


def iscomplex(x: ArrayLike) -> ndarray:
    """Tells for each element whether its imaginary part is not zero.

    Examples
    --------
    >>> bc.iscomplex(bc.array([1 + 1j, 1 + 0j]))
    array([ True, False])
    """
    return _c.iscomplex(x)


def isreal(x: ArrayLike) -> ndarray:
    """Tells for each element whether its imaginary part is zero.

    Examples
    --------
    >>> bc.isreal(bc.array([1 + 1j, 1 + 0j]))
    array([False,  True])
    """
    return _c.isreal(x)


def isposinf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Tells for each element whether it is positive infinity.

    Examples
    --------
    >>> bc.isposinf(bc.array([bc.inf, -bc.inf]))
    array([ True, False])
    """
    return _ufuncs["isposinf"](x, out=out)


def isneginf(x: ArrayLike, out: ndarray | None = None) -> ndarray:
    """Tells for each element whether it is negative infinity.

    Examples
    --------
    >>> bc.isneginf(bc.array([bc.inf, -bc.inf]))
    array([False,  True])
    """
    return _ufuncs["isneginf"](x, out=out)


def nan_to_num(
    x: ArrayLike, copy: bool = True, nan: ArrayLike = 0.0, posinf: ArrayLike | None = None, neginf: ArrayLike | None = None
) -> ndarray:
    """NaN and infinities replaced by numbers.

    Parameters
    ----------
    x : array_like
    copy : bool
        False writes into `x`.
    nan, posinf, neginf : scalars
        What replaces them; 0 and the type's largest and smallest numbers unless given.

    Examples
    --------
    >>> bc.nan_to_num(bc.array([bc.nan, 1.0]))
    array([0., 1.])
    """
    always = (copy is np._CopyMode.ALWAYS) if isinstance(copy, np._CopyMode) else copy
    target: Any = x if always or isinstance(x, ndarray) else _asarray(x, copy=None if copy is None else False)
    result = _c.nan_to_num(target, nan, posinf, neginf)
    if always:
        return result
    if target.dtype.kind in "fc":
        target[...] = result
    return target if target.ndim else target[()]


# ---- Closeness --------------------------------------------------------------------------------------------------------------------------


def isclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Tells for each pair whether abs(a - b) <= atol + rtol * abs(b).

    Examples
    --------
    >>> bc.isclose(bc.array([1.0, 2.0]), [1.0 + 1e-9, 2.1])
    array([ True, False])
    """
    plain = type(rtol) in (int, float) and type(atol) in (int, float)
    if plain and type(atol) is float:
        return _c.isclose(a, b, rtol, atol, equal_nan)
    x, y = _asarray(a), _asarray(b)
    if plain and x.dtype.kind != "m":
        return _c.isclose(a, b, rtol, atol, equal_nan)
    # Tolerances with a type or a shape of their own, and differences of times with a tolerance in their unit.
    if y.dtype.kind in "biu":
        y = y.astype(np.float64)
    near = _ufuncs["less_equal"](_ufuncs["absolute"](x - y), atol + rtol * _ufuncs["absolute"](y)) & _ufuncs["isfinite"](y)
    result = near | (x == y)
    return result | (_ufuncs["isnan"](x) & _ufuncs["isnan"](y)) if equal_nan else result


def allclose(a: ArrayLike, b: ArrayLike, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Tells whether all pairs are close (see isclose).

    Examples
    --------
    >>> bc.allclose(bc.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    if type(rtol) in (int, float) and type(atol) is float:
        return _c.allclose(a, b, rtol, atol, equal_nan)
    return builtins.bool(isclose(a, b, rtol, atol, equal_nan).all())


def _as_numpys(a: Any) -> Any:
    return _c.asnumpy(a) if isinstance(a, ndarray) else a


def array_equal(a1: ArrayLike, a2: ArrayLike, equal_nan: bool = False) -> bool:
    """Tells whether two arrays have the same shape and elements.

    Examples
    --------
    >>> bc.array_equal([1, 2], bc.array([1, 2]))
    True
    """
    try:
        return _c.array_equal(a1, a2, equal_nan)
    except (TypeError, ValueError):  # texts, objects, and what is no array
        return np.array_equal(_as_numpys(a1), _as_numpys(a2), equal_nan)


def array_equiv(a1: ArrayLike, a2: ArrayLike) -> bool:
    """Tells whether two arrays have the same elements once they are broadcast.

    Examples
    --------
    >>> bc.array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    try:
        return _c.array_equiv(a1, a2)
    except (TypeError, ValueError):
        return np.array_equiv(_as_numpys(a1), _as_numpys(a2))


# ---- Differences ------------------------------------------------------------------------------------------------------------------------


def diff(a: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike = _NoValue, append: ArrayLike = _NoValue) -> ndarray:
    """The n-th differences along an axis.

    Parameters
    ----------
    a : array_like
    n : int
        How many times the difference is taken.
    axis : int
    prepend, append : array_like
        What is joined to `a` before.

    Raises
    ------
    ValueError
        `n` is negative, or `a` is a 0-d array.

    Examples
    --------
    >>> bc.diff(bc.array([1, 2, 4, 7]))
    array([1, 2, 3])
    """
    if n == 0:  # what was given, of whatever type
        return _asarray(a) if isinstance(a, np.ndarray) else cast(ndarray, a)
    return _c.diff(a, n, axis, None if prepend is _NoValue else prepend, None if append is _NoValue else append)


def ediff1d(ary: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> ndarray:
    """Differences between neighbours of the flattened array, with values joined to the ends.

    Examples
    --------
    >>> bc.ediff1d([1, 2, 4], to_begin=-99)
    array([-99,   1,   2])
    """
    return _c.ediff1d(ary, to_end, to_begin)


def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1) -> ndarray:
    """The integral along an axis by the trapezoidal rule.

    Examples
    --------
    >>> bc.trapezoid([1.0, 2.0, 3.0])
    array(4.)
    """
    return _c.trapezoid(y, x, dx, axis)


def gradient(f: ArrayLike, *varargs: ArrayLike, axis: AxisLike = None, edge_order: int = 1) -> Any:
    """Differences of second order inside, one-sided ones at the ends, over unit, constant or uneven spacings.

    Parameters
    ----------
    f : array_like
    *varargs : scalars or 1-d arrays
        One spacing for all axes, or for each axis a spacing or its coordinates. Coordinates in an array of this library are not looked at:
        they count as uneven.
    axis : int or tuple of ints, optional
    edge_order : {1, 2}
        The order of the differences at the ends.

    Raises
    ------
    ValueError
        Coordinates do not fit their axis, or an axis is too short.
    TypeError
        Neither no spacing, nor one, nor one for each axis.

    Examples
    --------
    >>> bc.gradient(bc.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    >>> bc.gradient(bc.array([0.0, 1.0, 9.0]), [0.0, 1.0, 3.0], edge_order=2)
    array([0., 2., 6.])
    """
    results = _c.gradient(f, varargs, axis, edge_order)
    return results[0] if len(results) == 1 else results


def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
    """The cross product of vectors with three components.

    Raises
    ------
    ValueError
        The vectors do not have three components.

    Examples
    --------
    >>> bc.cross([1, 0, 0], [0, 1, 0])
    array([0, 0, 1])
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    for shape, at in ((_shape(a), axisa), (_shape(b), axisb)):
        if -len(shape) <= at < len(shape) and shape[at] == 2:
            text = "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated in NumPy 2.0)"
            warn(text, DeprecationWarning)
            break
    return _c.cross(a, b, axisa, axisb, axisc)


def select(condlist: Sequence[ArrayLike], choicelist: Sequence[ArrayLike], default: ArrayLike = 0) -> ndarray:
    """Elements of the first choice whose condition holds.

    Examples
    --------
    >>> x = bc.arange(4)
    >>> bc.select([x < 1, x < 3], [x, x * 10], -1)
    array([ 0, 10, 20, -1])
    """
    weak = (int, float, complex)
    if any(type(choice) in weak for choice in choicelist):
        # Python's numbers lend their kind only.
        parts: list[Any] = [choice if type(choice) in weak else _asarray(choice) for choice in (*choicelist, default)]
        common = _c.result_type(*parts)
        otherwise: Any = parts[-1]
        default = _asarray(otherwise).astype(common) if type(otherwise) in weak else otherwise
        choicelist = [_asarray(choice).astype(common, copy=False) for choice in parts[:-1]]
    return _c.select(condlist, choicelist, default)


def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> ndarray:
    """Angles without jumps of more than half a period between neighbours.

    Examples
    --------
    >>> bc.unwrap(bc.array([0.0, 350.0]), period=360.0)
    array([  0., -10.])
    """
    return _c.unwrap(p, discont, axis, period)
