"""Subclasses of ndarray that compute ufuncs themselves (`__array_ufunc__`): ndarray's methods as NumPy computes them, by ufuncs.

`self` is an array of such a subclass; what these functions give is what its `__array_ufunc__` gives.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray, ufuncs

_MISSING: Any = ...


def named(array: np.ndarray[Any, Any], name: str) -> np.ndarray[Any, Any]:
    """A NumPy array that prints itself with the name of a subclass."""
    return array.view(type(name, (np.ndarray,), {}))


def reconstruct(cls: type[ndarray], shape: Any, dtype: Any) -> ndarray:
    """What a pickle of a subclass calls before it gives the array its state."""
    return ndarray.__new__(cls, shape, dtype)


def reduce(op: str, a: Any, axis=None, dtype=None, out=None, keepdims=False, initial=_MISSING, where=True) -> Any:
    """A function such as `sum` of an array whose class has its own: the class's method, with the arguments that NumPy hands on."""
    options = {"dtype": (dtype, None), "keepdims": (keepdims, False), "initial": (initial, _MISSING), "where": (where, True)}
    return getattr(a, op)(axis=axis, out=out, **{name: value for name, (value, default) in options.items() if value is not default})


def _reduced(ufunc: str, self: ndarray, axis: Any, dtype: Any, out: Any, keepdims: Any, initial: Any = _MISSING, where: Any = True) -> Any:
    given = {} if initial is _MISSING else {"initial": initial}
    return ufuncs[ufunc].reduce(self, axis=axis, dtype=dtype, out=out, keepdims=keepdims, where=where, **given)


def sum(self, axis=None, dtype=None, out=None, keepdims=False, initial=_MISSING, where=True) -> Any:
    return _reduced("add", self, axis, dtype, out, keepdims, initial, where)


def prod(self, axis=None, dtype=None, out=None, keepdims=False, initial=_MISSING, where=True) -> Any:
    return _reduced("multiply", self, axis, dtype, out, keepdims, initial, where)


def max(self, axis=None, out=None, keepdims=False, initial=_MISSING, where=True) -> Any:
    return _reduced("maximum", self, axis, None, out, keepdims, initial, where)


def min(self, axis=None, out=None, keepdims=False, initial=_MISSING, where=True) -> Any:
    return _reduced("minimum", self, axis, None, out, keepdims, initial, where)


def any(self, axis=None, out=None, keepdims=False, *, where=True) -> Any:
    return _reduced("logical_or", self, axis, None, out, keepdims, where=where)


def all(self, axis=None, out=None, keepdims=False, *, where=True) -> Any:
    return _reduced("logical_and", self, axis, None, out, keepdims, where=where)


def ptp(self, axis=None, out=None, keepdims=False) -> Any:
    return ufuncs["subtract"](max(self, axis, out, keepdims), min(self, axis, None, keepdims), out=out)


def _accumulated(ufunc: str, self: ndarray, axis: Any, dtype: Any, out: Any) -> Any:
    given = {} if dtype is None else {"dtype": dtype}
    return ufuncs[ufunc].accumulate(self if axis is not None else self.ravel(), axis=axis or 0, out=out, **given)


def cumsum(self, axis=None, dtype=None, out=None) -> Any:
    return _accumulated("add", self, axis, dtype, out)


def cumprod(self, axis=None, dtype=None, out=None) -> Any:
    return _accumulated("multiply", self, axis, dtype, out)


def _count(self: ndarray, axis: Any, where: Any, keepdims: Any) -> Any:
    if where is not True:
        return _c.reduce("sum", _c.broadcast_to(where, self.shape), axis, "int64", None, bool(keepdims))
    axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    return math.prod(self.shape[a] for a in axes)


def mean(self, axis=None, dtype=None, out=None, keepdims=False, *, where=True) -> Any:
    whole = dtype is None and self.dtype.kind in "biu"
    total = sum(self, axis, "float64" if whole else dtype, out, keepdims, where=where)
    return ufuncs["divide"](total, _count(self, axis, where, keepdims))


def var(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None) -> Any:
    middle = globals()["mean"](self, axis, dtype, keepdims=True, where=where) if mean is None or mean is _MISSING else mean
    apart = ufuncs["subtract"](self, middle)
    squares = ufuncs["multiply"](apart, ufuncs["conjugate"](apart)).real if self.dtype.kind == "c" else ufuncs["square"](apart)
    total = _reduced("add", squares, axis, dtype, out, keepdims, where=where)
    fewer = ddof if correction is None or correction is _MISSING else correction
    return ufuncs["divide"](total, _count(self, axis, where, keepdims) - fewer)


def std(self, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=None, correction=None) -> Any:
    return ufuncs["sqrt"](var(self, axis, dtype, out, ddof, keepdims, where=where, mean=mean, correction=correction))


def clip(self, min=None, max=None, out=None, **options: Any) -> Any:
    bounds = [bound for bound in (min, max) if bound is not None and bound is not _MISSING]
    name = "clip" if len(bounds) == 2 else "maximum" if min is not None and min is not _MISSING else "minimum"
    return ufuncs[name](self, *bounds, out=out, **options)


def round(self, decimals=0, out=None) -> Any:
    if decimals == 0:
        return ufuncs["rint"](self, out=out)
    scale = 10.0 ** abs(decimals)
    first, second = (ufuncs["multiply"], ufuncs["divide"]) if decimals > 0 else (ufuncs["divide"], ufuncs["multiply"])
    return second(ufuncs["rint"](first(self, scale)), scale, out=out)


def conjugate(self, out=None) -> Any:
    if out is None and self.dtype.kind != "c":
        return self
    return ufuncs["conjugate"](self, out=out)


conj = conjugate
