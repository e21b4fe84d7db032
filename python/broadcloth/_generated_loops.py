"""What the functions of numbers, cores and neighbourhoods share: the types of their operands, and the loops that are made for them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._source import from_source
from .types import Signature, Type

TARGETS = ("cpu", "parallel", "cuda")
# Options of Numba's that change nothing here.
OPTIONS = {"boundscheck", "debug", "error_model", "forceobj", "inline", "locals", "looplift", "nogil", "parallel", "writable_args"}


def check_target(name: str, target: str) -> None:
    if target not in TARGETS:
        raise ValueError(f"{name}: expected target 'cpu', 'parallel' or 'cuda', got {target!r}")


def type_of(o: Any) -> Type:
    """The type that a dtype, a class of numbers or a type means."""
    return o if isinstance(o, Type) else Type("boolean" if np.dtype(o) == bool else np.dtype(o).name)


def is_array(t: Type) -> bool:
    return repr(t).startswith("array(")


def number_type(o: Any) -> Type:
    """The type of an operand's elements."""
    if isinstance(o, bool):
        return Type("boolean")
    if isinstance(o, int):
        return Type("int64")
    if isinstance(o, float):
        return Type("float64")
    if isinstance(o, complex):
        return Type("complex128")
    dtype = getattr(o, "dtype", None)
    dtype = np.dtype(dtype if dtype is not None else np.asarray(o).dtype)
    if dtype.kind in "OSUVT":
        raise TypeError(f"vectorized functions take numbers and arrays of them, got {dtype}")
    return type_of(dtype)


def taking(given: list[Any], declared: Iterable[tuple[Type, ...]]) -> tuple[Type, ...] | None:
    """The first declared signature whose inputs these dtypes cast to, safely if there is one."""
    for rule in ("safe", "same_kind"):
        for signature in declared:
            if all(np.can_cast(g, t._element, rule) for g, t in zip(given, signature, strict=False)):
                return signature
    return None


def is_ours(o: Any) -> bool:
    return isinstance(o, _c.ndarray)


# The classes of what NumPy's ufuncs take themselves: calls with nothing else need no look at their operands.
NUMPYS = frozenset((np.ndarray, bool, int, float, complex, *np.sctypeDict.values()))


def adopted(o: Any) -> Any:
    """Another library's array on a GPU as ours, over the same memory; anything else as it is."""
    if type(o) in NUMPYS or is_ours(o) or not hasattr(o, "__cuda_array_interface__") or not _c.device_count("cuda"):
        return o
    from . import asarray

    return asarray(o)


def as_ours(o: Any, device: Any, target: str) -> Any:
    from . import asarray

    if device is None and target == "cuda":
        device = "cuda" if _c.device_count("cuda") else None
    return asarray(o, device=device) if device is not None else asarray(o)


def signature_of(o: Any) -> Signature:
    """The signature that text, a `Signature` or a tuple of types means."""
    if isinstance(o, str):
        result, *args = _c.parse_signature(o)
        return Signature(result and Type(result), tuple(map(Type, args)))
    if isinstance(o, Signature):
        return o
    if isinstance(o, list | tuple):
        return Signature(None, tuple(type_of(t) for t in o))
    raise TypeError(f"expected a signature such as 'float64(float64)', got {o!r}")


def generated(source: str, name: str, names: dict[str, Any]) -> Any:
    return from_source(source, name, {"__name__": "broadcloth_generated", **names})


def places(axes: list[str], bounds: list[tuple[str, str]], body: str, parallel: bool, cuda: bool) -> list[str]:
    """Lines of a function that run `body` at every place between the bounds: loops, or the place of each thread of a CUDA grid."""
    lines, indent = [], "    "
    if cuda:
        lines.append("    _k = cuda.grid(1)")
        for axis, (low, high) in zip(reversed(axes), reversed(bounds), strict=True):
            lines += [f"    _n = {high} - {low}", "    if _n <= 0:", "        return", f"    {axis} = _k % _n + {low}", "    _k = _k // _n"]
        lines += ["    if _k > 0:", "        return"]
    else:
        for axis, (low, high) in zip(axes, bounds, strict=True):
            over = "prange" if parallel and axis == axes[0] else "range"
            lines.append(f"{indent}for {axis} in {over}({low}, {high}):")
            indent += "    "
    return [*lines, indent + body]


def driver_of(lines: list[str], function: Any, parallel: bool, cuda: bool, fastmath: bool = False) -> Any:
    """The function `driver` of these lines, compiled; they call `function` as `_function`."""
    from . import cuda as module
    from ._jit import njit, prange

    made = generated("\n".join(lines) + "\n", "driver", {"cuda": module, "prange": prange, "_function": function})
    return module.jit(made, fastmath=fastmath) if cuda else njit(made, parallel=parallel, fastmath=fastmath)
