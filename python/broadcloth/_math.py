"""Elementwise functions that NumPy writes as functions, and what is made of differences and sums."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from . import _broadcloth as _c
from ._broadcloth import ndarray

_NoValue: Any = np._NoValue  # type: ignore[attr-defined]
_ufuncs = _c.ufuncs
_reduce = _c.reduce
_asarray = _c.asarray

where = _c.where
angle_row = _ufuncs["angle"]


def clip(
    a: Any, a_min: Any = _NoValue, a_max: Any = _NoValue, out: Any = None, *, min: Any = _NoValue, max: Any = _NoValue, **kwargs: Any
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


def round(a: Any, decimals: int = 0, out: Any = None) -> ndarray:
    """Values rounded to a number of decimals, halves to even.

    Examples
    --------
    >>> bc.round(bc.array([0.5, 1.5, 2.46]), 1)
    array([0.5, 1.5, 2.5])
    """
    return _c.round(a, decimals, out)


around = round


def fix(x: Any, out: Any = None) -> ndarray:
    """Values rounded towards zero.

    Examples
    --------
    >>> bc.fix(bc.array([1.7, -1.7]))
    array([ 1., -1.])
    """
    return _ufuncs["trunc"](x, out=out)


def sinc(x: Any) -> ndarray:
    """sin(pi x) / (pi x), and 1 at 0.

    Examples
    --------
    >>> bc.sinc(0.0)
    array(1.)
    """
    return _ufuncs["sinc"](x)


def i0(x: Any) -> ndarray:
    """The modified Bessel function of the first kind, order 0.

    Examples
    --------
    >>> bc.i0(0.0)
    array(1.)
    """
    return _ufuncs["i0"](x)


def real(val: Any) -> ndarray:
    """The real part: a view of a complex array, the array itself otherwise.

    Examples
    --------
    >>> bc.real(bc.array([1 + 2j]))
    array([1.])
    """
    return _asarray(val).real


def imag(val: Any) -> ndarray:
    """The imaginary part: a view of a complex array, zeros otherwise.

    Examples
    --------
    >>> bc.imag(bc.array([1 + 2j]))
    array([2.])
    """
    return _asarray(val).imag


def angle(z: Any, deg: bool = False) -> ndarray:
    """The angle of complex numbers, in radians unless `deg`.

    Examples
    --------
    >>> bc.angle(bc.array([1j]), deg=True)
    array([90.])
    """
    x = _asarray(z)
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    result = angle_row(x)
    return result * (180 / np.pi) if deg else result


def real_if_close(a: Any, tol: float = 100) -> ndarray:
    """The real part where all imaginary parts are close to zero (which looks), else the array itself.

    Examples
    --------
    >>> bc.real_if_close(bc.array([1 + 1e-15j]))
    array([1.])
    """
    x = _asarray(a)
    if x.dtype.kind != "c":
        return x
    limit = tol * float(np.finfo(x.dtype).eps) if tol > 1 else tol
    return x.real if bool(_reduce("all", _ufuncs["absolute"](x.imag) < limit)) else x


def iscomplex(x: Any) -> ndarray:
    """Tells for each element whether its imaginary part is not zero.

    Examples
    --------
    >>> bc.iscomplex(bc.array([1 + 1j, 1 + 0j]))
    array([ True, False])
    """
    a = _asarray(x)
    return a.imag != 0 if a.dtype.kind == "c" else _c.zeros(a.shape, np.bool_, device=a.device)


def isreal(x: Any) -> ndarray:
    """Tells for each element whether its imaginary part is zero.

    Examples
    --------
    >>> bc.isreal(bc.array([1 + 1j, 1 + 0j]))
    array([False,  True])
    """
    a = _asarray(x)
    return a.imag == 0 if a.dtype.kind == "c" else _c.ones(a.shape, np.bool_, device=a.device)


def isposinf(x: Any, out: Any = None) -> ndarray:
    """Tells for each element whether it is positive infinity.

    Examples
    --------
    >>> bc.isposinf(bc.array([bc.inf, -bc.inf]))
    array([ True, False])
    """
    return _ufuncs["isposinf"](x, out=out)


def isneginf(x: Any, out: Any = None) -> ndarray:
    """Tells for each element whether it is negative infinity.

    Examples
    --------
    >>> bc.isneginf(bc.array([bc.inf, -bc.inf]))
    array([False,  True])
    """
    return _ufuncs["isneginf"](x, out=out)


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> ndarray:
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
    a = _asarray(x)
    if a.dtype.kind == "c":
        result = _c.empty(a.shape, a.dtype, device=a.device)
        result.real = nan_to_num(a.real, True, nan, posinf, neginf)
        result.imag = nan_to_num(a.imag, True, nan, posinf, neginf)
    elif a.dtype.kind in "biu":
        result = a.copy()
    else:
        from ._types import finfo

        info = finfo(a)
        high = float(info.max) if posinf is None else posinf
        low = float(info.min) if neginf is None else neginf
        result = where(_ufuncs["isnan"](a), nan, where(_ufuncs["isposinf"](a), high, where(_ufuncs["isneginf"](a), low, a)))
    if copy:
        return result
    a[...] = result
    return a


# ---- Closeness --------------------------------------------------------------------------------------------------------------------------


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> ndarray:
    """Tells for each pair whether abs(a - b) <= atol + rtol * abs(b).

    Examples
    --------
    >>> bc.isclose(bc.array([1.0, 2.0]), [1.0 + 1e-9, 2.1])
    array([ True, False])
    """
    x, y = (v if isinstance(v, (int, float, complex)) else _asarray(v) for v in (a, b))
    if not isinstance(x, ndarray) and not isinstance(y, ndarray):
        x = _asarray(x)
    if not isinstance(y, (int, float, complex)) and y.dtype.kind in "biu":
        y = y.astype(_c.result_type(y.dtype, 1.0))  # abs of the smallest integer would overflow
    kind = _ufuncs
    near = kind["less_equal"](kind["absolute"](kind["subtract"](x, y)), kind["add"](atol, kind["multiply"](rtol, kind["absolute"](y))))
    result = kind["logical_or"](kind["logical_and"](near, kind["isfinite"](y)), kind["equal"](x, y))
    if equal_nan:
        result = kind["logical_or"](result, kind["logical_and"](kind["isnan"](x), kind["isnan"](y)))
    return result


def allclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> bool:
    """Tells whether all pairs are close (see isclose).

    Examples
    --------
    >>> bc.allclose(bc.array([1.0, 2.0]), [1.0, 2.0 + 1e-9])
    True
    """
    return bool(_reduce("all", isclose(a, b, rtol, atol, equal_nan)))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Tells whether two arrays have the same shape and elements.

    Examples
    --------
    >>> bc.array_equal([1, 2], bc.array([1, 2]))
    True
    """
    try:
        x, y = _asarray(a1), _asarray(a2)
    except (TypeError, ValueError):
        return False
    if x.shape != y.shape:
        return False
    same = _ufuncs["equal"](x, y)
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same = _ufuncs["logical_or"](same, _ufuncs["logical_and"](_ufuncs["isnan"](x), _ufuncs["isnan"](y)))
    return bool(_reduce("all", same))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Tells whether two arrays have the same elements once they are broadcast.

    Examples
    --------
    >>> bc.array_equiv([1, 2], [[1, 2], [1, 2]])
    True
    """
    try:
        x, y = _c.broadcast_arrays(a1, a2)
    except (TypeError, ValueError):
        return False
    return bool(_reduce("all", _ufuncs["equal"](x, y)))


# ---- Differences ------------------------------------------------------------------------------------------------------------------------


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = _NoValue, append: Any = _NoValue) -> ndarray:
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
    if n == 0:
        return a
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    x = _asarray(a)
    if x.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    axis = normalize_axis_index(axis, x.ndim)
    ends = []
    for end in (prepend, append):
        if end is _NoValue:
            ends.append([])
            continue
        e = _asarray(end)
        if e.ndim == 0:
            shape = list(x.shape)
            shape[axis] = 1
            e = _c.broadcast_to(e, shape)
        ends.append([e])
    if ends[0] or ends[1]:
        x = _c.concatenate([*ends[0], x, *ends[1]], axis)
    minus = _ufuncs["not_equal" if x.dtype.kind == "b" else "subtract"]
    before = (slice(None),) * axis
    for _ in range(n):
        x = minus(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Differences between neighbours of the flattened array, with values joined to the ends.

    Examples
    --------
    >>> bc.ediff1d([1, 2, 4], to_begin=-99)
    array([-99,   1,   2])
    """
    x = _asarray(ary).ravel()
    d = x[1:] - x[:-1]
    parts = [d]
    if to_begin is not None:
        parts.insert(0, _asarray(to_begin).ravel())
    if to_end is not None:
        parts.append(_asarray(to_end).ravel())
    for part in parts:
        if not _c.can_cast(part.dtype, x.dtype, "same_kind"):
            raise TypeError("dtype of `to_end` and `to_begin` must be compatible with input `ary` under the `same_kind` rule.")
    return d if len(parts) == 1 else _c.concatenate([p.astype(x.dtype, copy=False) for p in parts])


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> ndarray:
    """The integral along an axis by the trapezoidal rule.

    Examples
    --------
    >>> bc.trapezoid([1.0, 2.0, 3.0])
    array(4.)
    """
    v = _asarray(y)
    axis = normalize_axis_index(axis, v.ndim)
    if x is None:
        d = dx
    else:
        points = _asarray(x)
        d = diff(points, axis=0 if points.ndim == 1 else axis)
        if points.ndim == 1:
            d = d.reshape(tuple(-1 if k == axis else 1 for k in range(v.ndim)))
    before = (slice(None),) * axis
    return _reduce("sum", d * (v[(*before, slice(1, None))] + v[(*before, slice(None, -1))]) / 2.0, axis)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Central differences inside, one-sided ones at the ends, with unit or constant spacings.

    Parameters
    ----------
    f : array_like
    *varargs : scalars
        One spacing for all axes, or one for each.
    axis : int or tuple of ints, optional
    edge_order : {1, 2}

    Raises
    ------
    NotImplementedError
        Coordinates instead of a spacing.

    Examples
    --------
    >>> bc.gradient(bc.array([1.0, 2.0, 4.0, 7.0]))
    array([1. , 1.5, 2.5, 3. ])
    """
    x = _asarray(f)
    axes = (
        tuple(range(x.ndim)) if axis is None else tuple(normalize_axis_index(a, x.ndim) for a in ((axis,) if np.ndim(axis) == 0 else axis))
    )
    spacings: Sequence[Any] = varargs * len(axes) if len(varargs) == 1 else varargs or (1.0,) * len(axes)
    if len(spacings) != len(axes):
        raise TypeError("invalid number of arguments")
    if builtins.any(np.ndim(s) if not isinstance(s, ndarray) else s.ndim for s in spacings):
        raise NotImplementedError("gradient: coordinates are not built in; pass a constant spacing, or use numpy.gradient(x.get(), …)")
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    results = []
    for a, h in zip(axes, spacings):
        if x.shape[a] < edge_order + 1:
            raise ValueError("Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required.")
        v = _c.moveaxis(x, a, 0)
        g = _c.empty(v.shape, v.dtype, device=v.device)
        g[1:-1] = (v[2:] - v[:-2]) / (2.0 * h)
        if edge_order == 1:
            g[0], g[-1] = (v[1] - v[0]) / h, (v[-1] - v[-2]) / h
        else:
            g[0] = (-1.5 / h) * v[0] + (2.0 / h) * v[1] + (-0.5 / h) * v[2]
            g[-1] = (0.5 / h) * v[-3] + (-2.0 / h) * v[-2] + (1.5 / h) * v[-1]
        results.append(_c.moveaxis(g, 0, a))
    return results[0] if len(axes) == 1 else tuple(results)


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> ndarray:
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
    x, y = _c.moveaxis(a, axisa, -1), _c.moveaxis(b, axisb, -1)
    if x.ndim < 1 or y.ndim < 1:
        raise ValueError("At least one array has zero dimension")
    if x.shape[-1] != 3 or y.shape[-1] != 3:
        raise ValueError(f"cross: expected vectors with 3 components, got {x.shape[-1]} and {y.shape[-1]}")
    x0, x1, x2 = x[..., 0], x[..., 1], x[..., 2]
    y0, y1, y2 = y[..., 0], y[..., 1], y[..., 2]
    return _c.stack([x1 * y2 - x2 * y1, x2 * y0 - x0 * y2, x0 * y1 - x1 * y0], axisc)


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> ndarray:
    """Elements of the first choice whose condition holds.

    Examples
    --------
    >>> x = bc.arange(4)
    >>> bc.select([x < 1, x < 3], [x, x * 10], -1)
    array([ 0, 10, 20, -1])
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not len(condlist):
        raise ValueError("select with an empty condition list is not possible")
    choices = [c if isinstance(c, (int, float, complex)) else _asarray(c) for c in choicelist]
    kind = _c.result_type(*choices, default if isinstance(default, (int, float, complex)) else _asarray(default))
    result: Any = _asarray(default, kind)
    for i, condition in reversed(list(enumerate(condlist))):
        mask = _asarray(condition)
        if mask.dtype.kind != "b":
            raise TypeError(f"invalid entry {i} in condlist: should be boolean ndarray")
        result = where(mask, _asarray(choices[i], kind), result)
    return result.copy() if not condlist else result


def unwrap(p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * np.pi) -> ndarray:
    """Angles without jumps of more than half a period between neighbours.

    Examples
    --------
    >>> bc.unwrap(bc.array([0.0, 350.0]), period=360.0)
    array([  0., -10.])
    """
    x = _asarray(p)
    axis = normalize_axis_index(axis, x.ndim)
    if x.dtype.kind in "biu":
        x = x.astype(np.float64)
    limit = period / 2 if discont is None else discont
    d = diff(x, axis=axis)
    low, high = -period / 2, period / 2
    wrapped = _ufuncs["remainder"](d - low, period) + low
    wrapped = where((wrapped == low) & (d > 0), high, wrapped)
    jump = where(_ufuncs["absolute"](d) < limit, 0.0, wrapped - d)
    before = (slice(None),) * axis
    result = x.copy()
    result[(*before, slice(1, None))] = x[(*before, slice(1, None))] + jump.cumsum(axis)
    return result
