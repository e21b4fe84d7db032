"""NumPy's functions, called with broadcloth arrays, go to broadcloth's of the same name."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from . import _broadcloth as _c

_NoValue = getattr(np, "_NoValue", None)
_MODULES = {"numpy": "broadcloth", "numpy.linalg": "broadcloth.linalg", "numpy.fft": "broadcloth.fft"}

# Called with arrays of ours, these answer about NumPy's object protocol or print: NumPy's own code does, on the array's host copy.
_ON_HOST = {"array_repr", "array_str", "array2string", "save", "savez", "savez_compressed", "savetxt"}

_found: dict[Callable[..., Any], Callable[..., Any] | None] = {}


def _look_up(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """broadcloth's function for NumPy's `func`, or None."""
    name = getattr(func, "__name__", "")
    theirs = getattr(func, "__module__", None) or "numpy"
    ours = _MODULES.get(theirs)
    if ours is None:
        return None
    try:
        module = importlib.import_module(ours)
    except ImportError:
        return None
    # Only public names: numpy.foo.bar may share its name with something else here.
    if getattr(importlib.import_module(theirs), name, None) is not func:
        return None
    try:
        return getattr(module, name)
    except AttributeError:
        return None


def _to_host(value: Any) -> Any:
    if isinstance(value, _c.ndarray):
        return value.get()
    if isinstance(value, (list, tuple)):
        return type(value)(map(_to_host, value))
    if isinstance(value, dict):
        return {k: _to_host(v) for k, v in value.items()}
    return value


def array_function(func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `ndarray.__array_function__` calls.

    Raises
    ------
    TypeError
        broadcloth has no function of that name; the message says how to go on with NumPy's.

    Examples
    --------
    >>> import numpy as np
    >>> np.concatenate([bc.arange(2), bc.arange(2)])
    array([0, 1, 0, 1])
    """
    for kind in types:
        if not (issubclass(kind, _c.ndarray) or issubclass(kind, np.ndarray)):
            return NotImplemented
    try:
        ours = _found[func]
    except KeyError:
        ours = _found[func] = _look_up(func)
    name = getattr(func, "__name__", str(func))
    if ours is None:
        if name in _ON_HOST:
            return func(*_to_host(args), **_to_host(kwargs))
        module = getattr(func, "__module__", "numpy") or "numpy"
        raise TypeError(
            f"{module}.{name}: broadcloth has no function of this name that takes a broadcloth.ndarray; "
            f"call .get() on the array to use NumPy's on the host"
        )
    given = {k: v for k, v in kwargs.items() if v is not _NoValue}
    return ours(*args, **given)
