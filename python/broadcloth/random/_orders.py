"""Choosing and reordering: NumPy draws the places on the host, and the engine moves the data where they lie."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from ._distributions import on_device, on_host


def chosen(a: Any, axis: int, device: Any, draw: Callable[[Any], Any]) -> Any:
    """Parts of `a` along an axis, whose places are what `draw` draws from a number of parts."""
    if not isinstance(a, ndarray) or a.ndim == 0:
        return on_device(draw(on_host(a)), device)
    n = a.shape[axis]
    # Nothing to draw from is an error of another text for an array than for a number.
    places = draw(n if n else np.empty(0, np.int64))
    if a.ndim == 1 and device is None and isinstance(places, int | np.integer):
        return a[places]
    return _placed(_c.take(a, _c.asarray(places, device=a.device), axis), device)


def permutation(x: Any, axis: int, device: Any, draw: Callable[[Any], Any], mix: Callable[[Any], None]) -> Any:
    """A copy of `x` with its parts along an axis in the order that `draw` draws for their number; `mix` brings a vector into that order."""
    if not isinstance(x, ndarray) or x.ndim == 0:
        return on_device(draw(_to_mix(x)), device)
    if axis == 0 and _lies_in_line(x):
        elements = x.get()  # `draw` would copy it again, into pages that are new each time
        mix(elements)
        return on_device(elements, x.device if device is None else device)
    return _placed(_reordered(x, draw(_extent(x, axis)), axis), device)


def _to_mix(x: Any) -> Any:
    """What NumPy's permutation takes: an array of ours that an object's `__array__` gives is a copy, since NumPy reorders it in place."""
    given = on_host(x)
    if isinstance(given, (np.ndarray, np.generic, int, list, tuple)) or not hasattr(given, "__array__"):
        return given
    found = given.__array__()
    return found.get() if isinstance(found, ndarray) else given


def shuffle(x: Any, axis: int, draw: Callable[[Any], None]) -> None:
    """Reorders the parts of `x` along an axis in place, as `draw` shuffles their numbers."""
    if not isinstance(x, ndarray) or x.ndim == 0:
        if _is_of_records(x):  # whose elements are views: exchanged one by one they would be lost
            elements = x.copy_to_host()
            draw(elements)
            x[...] = elements
        else:
            draw(x.get() if isinstance(x, ndarray) else x)
        return
    if not x.flags.writeable:
        raise ValueError("array is read-only")
    if axis == 0 and _lies_in_line(x):
        elements = x.get()
        draw(elements)
        x.set(elements)
        return
    order = np.arange(_extent(x, axis))
    if x.size:
        draw(order)
        x[...] = _reordered(x, order, axis)


def permuted(x: Any, out: Any, device: Any, draw: Callable[[Any, Any], Any]) -> Any:
    """What `draw(host, out)` makes of a copy of `x` in host memory, in `out` or in an array where `x` lies.

    NumPy mixes all elements in their order in memory, where they lie in one piece, so the copies have the order of their originals.
    """
    host = x.get(order="K") if isinstance(x, ndarray) else on_host(x)
    if out is None:
        return on_device(draw(host, None), x.device if device is None and isinstance(x, ndarray) else device)
    if device is not None:
        raise ValueError("out and device: expected one of them, since out has a device")
    if isinstance(out, ndarray):
        fortran = out.flags.f_contiguous and not out.flags.c_contiguous
        made = np.empty(out.shape, out.dtype, order="F" if fortran else "C")
        made.flags.writeable = out.flags.writeable
        out[...] = draw(host, made)
    elif _is_of_records(out):
        out[...] = draw(host, out.copy_to_host())
    else:
        draw(host, out)
    return out


def _is_of_records(x: Any) -> bool:
    records = sys.modules.get("broadcloth._records")  # which few programs load
    return records is not None and isinstance(x, records.RecordArray)


def _lies_in_line(x: ndarray) -> bool:
    """Tells whether NumPy can reorder a copy of the elements themselves, by the numbers that it draws for their places as well."""
    return x.ndim == 1 and x.device.type == "cpu" and x.dtype.kind in "biufc"


def _extent(x: ndarray, axis: int) -> int:
    return int(x.shape[np.lib.array_utils.normalize_axis_index(axis, x.ndim)])


def _reordered(x: ndarray, order: np.ndarray[Any, Any], axis: int) -> ndarray:
    return _c.take(x, _c.asarray(order, device=x.device), axis)


def _placed(x: ndarray, device: Any) -> ndarray:
    return x if device is None else x.to_device(device)
