"""How the functions of this package read their operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ...exceptions import PerformanceWarning


class LinAlgWarning(RuntimeWarning):
    """A result that may be wrong: the matrix is singular, or nearly so."""


def operand(x: Any, check_finite: bool = True, device: Any = None) -> ndarray:
    """An array of one of LAPACK's dtypes: half precision becomes float32, integers float64. With `check_finite` it is looked at."""
    a = _c.asarray(x) if device is None else _c.asarray(x, device=device)
    if a.dtype.kind not in "fc":
        a = a.astype(np.float32 if a.dtype.kind == "V" else np.float64)
    elif a.dtype.itemsize < 4:
        a = a.astype(np.float32)
    if check_finite and not bool(_c.ufuncs["isfinite"](a).all()):
        raise ValueError("array must not contain infs or NaNs")
    return a


def has_rows(right: ndarray, count: int) -> bool:
    """Whether right sides, a vector or matrices, have so many rows."""
    return right.ndim > 0 and right.shape[0 if right.ndim == 1 else -2] == count


def matrices(x: Any, check_finite: bool = True, text: str = "expected matrix") -> ndarray:
    a = operand(x, check_finite)
    if a.ndim < 2:
        raise ValueError(text)
    return a


def squares(x: Any, check_finite: bool = True, text: str = "expected square matrix") -> ndarray:
    a = operand(x, check_finite)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(text.format(shape=a.shape))
    return a


def dagger(a: ndarray) -> ndarray:
    return a.mT.conj() if a.dtype.kind == "c" else a.mT


def on_host(name: str, *arrays: ndarray) -> tuple[ndarray, ...]:
    """Arrays of a GPU, copied to the host for what only LAPACK computes, with one warning."""
    if all(a.device.type == "cpu" for a in arrays):
        return arrays
    warn(f"{name} is computed by LAPACK on copies in host memory: no library of CUDA has a routine that is used for it", PerformanceWarning)
    return tuple(a.to_device("cpu") for a in arrays)


def back(device: Any, *arrays: ndarray) -> tuple[ndarray, ...]:
    return tuple(a if a.device == device else a.to_device(device) for a in arrays)


def eps(a: ndarray) -> float:
    return float(np.finfo(a.dtype).eps)


TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def transposed(trans: Any) -> int:
    try:
        return TRANSPOSED[trans]
    except (KeyError, TypeError):
        raise ValueError(f"trans: expected 0, 1, 2, 'N', 'T' or 'C', got {trans!r}") from None
