"""NumPy's numbers of PCG64 and PCG64DXSM, drawn on all threads by the engine."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray
from . import _on_device

_DXSM = {np.random.PCG64: False, np.random.PCG64DXSM: True}
_WORD = (1 << 64) - 1
# Fewer numbers are drawn sooner by NumPy's loop: reading and writing the state takes some microseconds.
LEAST = 4096

_library = ctypes.CDLL(np.random._generator.__file__)  # type: ignore[attr-defined]
# NumPy's functions that draw one number, which the engine calls where a ziggurat's fast way ends.
_ONE = {
    (kind, dtype): ctypes.cast(getattr(_library, f"random_standard_{kind}{suffix}"), ctypes.c_void_p).value
    for kind in ("normal", "exponential")
    for dtype, suffix in ((np.dtype("f8"), ""), (np.dtype("f4"), "_f"))
}
_FLOATS = {np.dtype("f8"), np.dtype("f4")}
_INTEGERS = {np.dtype(name): np.iinfo(name) for name in ("i8", "u8", "i4", "u4")}


def floats(bits: Any, kind: str, size: Any, dtype: Any, device: Any, low: float | None = None, scale: float = 1.0) -> ndarray | None:
    """An array of standard numbers, or with `low` of `low + scale * number`; None where NumPy has to draw."""
    shape = _shape(bits, size)
    if shape is None:
        return None
    kept = np.dtype(dtype)
    if kept not in _FLOATS:
        return None
    affine = low is not None
    return _drawn(bits, kind, shape, kept, device, affine, low or 0.0, scale, 0, 0, _ONE.get((kind, kept), 0))


def integers(bits: Any, low: Any, high: Any, size: Any, dtype: Any, endpoint: bool, device: Any) -> ndarray | None:
    """An array of whole numbers of an interval; None where NumPy has to draw, or to complain."""
    if type(low) is not int or (high is not None and type(high) is not int):
        return None
    shape = _shape(bits, size)
    info = None if shape is None else _INTEGERS.get(np.dtype(dtype))
    if shape is None or info is None:
        return None
    if high is None:
        low, high = 0, low
    last = high if endpoint else high - 1
    if not info.min <= low <= last <= info.max:
        return None
    return _drawn(bits, "integers", shape, info.dtype, device, False, 0.0, 1.0, low & _WORD, last - low, 0)


def _shape(bits: Any, size: Any) -> tuple[int, ...] | None:
    """The shape of a large result from a generator that the engine knows."""
    if type(bits) not in _DXSM:
        return None
    shape = (size,) if type(size) is int else size
    if type(shape) is not tuple or not all(type(n) is int and n >= 0 for n in shape) or math.prod(shape) < LEAST:
        return None
    return shape


def _drawn(bits: Any, kind: Any, shape: tuple[int, ...], dtype: Any, device: Any, *what: Any) -> ndarray:
    dxsm = _DXSM[type(bits)]
    where = _c.default_device() if device is None else _c.device(device)
    with bits.lock:
        state = bits.state
        drawn = None
        if kind == "uniform" and where.type == "cuda":
            drawn = _on_device.uniform(state, dxsm, shape, dtype, where, *what[:3])
        elif kind == "integers" and where.type == "cuda":
            drawn = _on_device.integers(state, dxsm, shape, dtype, where, what[3], what[4])
        if drawn is None:
            drawn = _drawn_on_host(state, kind, shape, dtype, dxsm, what, where)
        bits.state = state
    return drawn


def _drawn_on_host(
    state: dict[str, Any], kind: Any, shape: tuple[int, ...], dtype: Any, dxsm: bool, what: tuple[Any, ...], device: Any
) -> ndarray:
    """Numbers that the host's threads draw; `state`, NumPy's dictionary, is moved behind them."""
    place = state["state"]
    now, increment = place["state"], place["inc"]
    drawn, high, low, state["has_uint32"], state["uinteger"] = _c.draw_pcg(
        kind, shape, dtype, dxsm, now >> 64, now & _WORD, increment >> 64, increment & _WORD,
        state["has_uint32"], state["uinteger"], *what, device=device,
    )  # fmt: skip
    place["state"] = high << 64 | low
    return drawn
