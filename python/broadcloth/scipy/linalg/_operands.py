"""How the functions of this package read their operands."""

from __future__ import annotations

import functools
import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from ... import _broadcloth as _c
from ..._broadcloth import ndarray
from ..._warnings import warn
from ...exceptions import PerformanceWarning

Function = TypeVar("Function", bound=Callable[..., Any])


class LinAlgWarning(RuntimeWarning):
    """A result that may be wrong: the matrix is singular, or nearly so."""


def operand(x: Any, check_finite: bool = True, device: Any = None) -> ndarray:
    """An array of one of LAPACK's dtypes: half precision becomes float32, integers float64. With `check_finite` it is looked at,
    unless its elements differ between the examples of a vmap."""
    a = _c.asarray(x) if device is None else _c.asarray(x, device=device)
    if a.dtype.kind in "mM":
        raise TypeError(f"expected numbers, got {a.dtype}: dates and times have no linear algebra")
    if a.dtype.kind not in "fc":
        a = a.astype(np.float32 if a.dtype.kind == "V" else np.float64)
    elif a.dtype.itemsize < 4:
        a = a.astype(np.float32)
    if check_finite:
        require_finite(a)
    return a


def require_finite(a: ndarray) -> None:
    """Raises ValueError where an element is NaN or infinite. Looks, unless the elements differ between the examples of a vmap."""
    known = _c.linalg_is_finite(a)
    if known is None:
        known = _c.differs(a) or bool(_c.ufuncs["isfinite"](a).all())
    if not known:
        raise ValueError("array must not contain infs or NaNs")


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


def over_stacks(**dimensions: int | str) -> Callable[[Function], Function]:
    """Decorates a function of single matrices and vectors: of stacks, whose other axes are broadcast, it gives stacks of its results, as
    SciPy's do. The keywords are the names of its array arguments and their dimensions; "1|2" is a vector, or matrices. Results are
    computed one after the other."""

    def decorate(function: Function) -> Function:
        parameters = list(inspect.signature(function).parameters)
        places = {name: parameters.index(name) for name in dimensions}
        most = {name: 2 if count == "1|2" else int(count) for name, count in dimensions.items()}

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            given = {name: kwargs[name] if name in kwargs else args[i] if i < len(args) else None for name, i in places.items()}
            if not any((x.ndim if type(x) is ndarray else np.ndim(x)) > most[name] for name, x in given.items() if x is not None):
                return function(*args, **kwargs)
            arrays = {name: _c.asarray(x) for name, x in given.items() if x is not None}
            own = {name: min(x.ndim, 2) if dimensions[name] == "1|2" else most[name] for name, x in arrays.items()}
            outer = np.broadcast_shapes(*(x.shape[: x.ndim - own[name]] for name, x in arrays.items()))
            if math.prod(outer) == 0:
                raise ValueError(f"`{function.__name__}` does not support zero-size batches.")
            arrays = {name: _c.broadcast_to(x, outer + x.shape[x.ndim - own[name] :]) for name, x in arrays.items()}
            rest = list(args)
            results = []
            for index in itertools.product(*map(range, outer)):
                for name, x in arrays.items():
                    if name in kwargs:
                        kwargs[name] = x[index]
                    else:
                        rest[places[name]] = x[index]
                results.append(function(*rest, **kwargs))
            if isinstance(results[0], tuple):
                return tuple(_stacked(list(part), outer) for part in zip(*results, strict=True))
            return _stacked(results, outer)

        return call  # type: ignore[return-value]

    return decorate


def _stacked(results: list[Any], outer: tuple[int, ...]) -> ndarray:
    made = _c.stack([_c.asarray(x) for x in results])
    return made.reshape(outer + made.shape[1:])
