"""NumPy's functions and ufuncs, called with broadcloth arrays: broadcloth's of the same name, or NumPy's on host copies."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._warnings import warn

_NoValue = getattr(np, "_NoValue", None)
_MODULES = {
    "numpy": "broadcloth",
    "numpy.linalg": "broadcloth.linalg",
    "numpy.fft": "broadcloth.fft",
    "numpy.lib.stride_tricks": "broadcloth.lib.stride_tricks",
}

# Functions that write into their first argument.
_WRITERS = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask"}
# Functions whose arguments are operands, all of them: NumPy makes arrays of objects of None and text.
_OPERANDS = {"atleast_1d", "atleast_2d", "atleast_3d", "broadcast_arrays"}
# Functions that print or save: what they need is the host copy, and nobody is warned of it.
_ABOUT_VALUES = {"array_repr", "array_str", "array2string", "save", "savez", "savez_compressed", "savetxt"}

_found: dict[Callable[..., Any], Callable[..., Any] | None] = {}


def _look_up(func: Callable[..., Any]) -> Callable[..., Any] | None:
    """broadcloth's function for NumPy's `func`, or None."""
    name = getattr(func, "__name__", "")
    theirs = getattr(func, "__module__", None) or "numpy"
    ours = _MODULES.get(theirs)
    if ours is None or name in _ABOUT_VALUES:
        return None
    # Only public names: numpy.foo.bar may share its name with something else here.
    if getattr(importlib.import_module(theirs), name, None) is not func:
        return None
    return getattr(importlib.import_module(ours), name, None)


def _to_host(value: Any) -> Any:
    """The value with arrays of ours as NumPy's. They are read-only: what NumPy wrote into a copy would be lost."""
    if isinstance(value, _c.ndarray):
        host = value.get()
        host.flags.writeable = False
        return host
    if type(value) in (list, tuple):
        return type(value)(map(_to_host, value))
    if isinstance(value, dict):
        return {k: _to_host(v) for k, v in value.items()}
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for v in value:
            yield from _leaves(v)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))
    else:
        yield value


def _warn_of_copies(name: str, values: Any) -> None:
    """Tells once for each line that arrays come from a GPU; memory of the CPU is copied as fast as NumPy reads it."""
    if any(isinstance(v, _c.ndarray) and v.device.type == "cuda" for v in _leaves(values)):
        from .exceptions import PerformanceWarning

        warn(f"{name} has no equal in broadcloth yet: NumPy computes it on copies in host memory", PerformanceWarning)


def _only_numpy_can(func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether the result goes into NumPy's memory, or an operand's type (objects, text, dates; a program's masked array) is not ours."""
    name = getattr(func, "__name__", "")
    if len(types) == 1 and next(iter(types)) is _c.ndarray and name not in _OPERANDS:
        return False  # NumPy lists the types of all its operands
    target = args[0] if name in _WRITERS and args else kwargs.get("out")
    if any(isinstance(t, np.ndarray) for t in _leaves(target)):
        return True
    if name in _OPERANDS and any(v is None or isinstance(v, str) for v in _leaves(args)):
        return True
    return any(isinstance(v, np.ndarray) and (v.dtype.kind in "OUSMmV" or _c.is_numpys_subclass(v)) for v in _leaves((args, kwargs)))


def array_function(func: Callable[..., Any], types: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What `ndarray.__array_function__` calls.

    A function that broadcloth has gives arrays of broadcloth. NumPy computes the others, and what only it can write or hold, on host
    copies, and gives arrays of NumPy.

    Raises
    ------
    ValueError
        A function of NumPy's tried to write into an array of broadcloth.

    Examples
    --------
    >>> import numpy as np
    >>> np.concatenate([bc.arange(2), bc.arange(2)])
    array([0, 1, 0, 1])
    >>> np.emath.sqrt(bc.array([-1.0, 4.0]))
    array([0.+1.j, 2.+0.j])
    >>> type(np.emath.sqrt(bc.ones(2))).__name__
    'ndarray'
    """
    if not isinstance(args, tuple):
        raise TypeError(f"args must be a tuple, not {type(args).__name__}")
    if not isinstance(kwargs, dict):
        raise TypeError(f"kwargs must be a dict, not {type(kwargs).__name__}")
    for kind in types:
        # A program's `numpy.ndarray` is a class of ours that says of both kinds of arrays that they are subclasses.
        if not (issubclass(kind, (_c.ndarray, np.ndarray)) or issubclass(_c.ndarray, kind)):
            return NotImplemented
    if isinstance(func, _c.program_function):
        return func._implementation(*args, **kwargs)
    try:
        ours = _found[func]
    except KeyError:
        ours = _found[func] = _look_up(func)
    if ours is not None and not _only_numpy_can(func, types, args, kwargs):
        return ours(*args, **{k: v for k, v in kwargs.items() if v is not _NoValue})
    name = getattr(func, "__name__", str(func))
    if ours is None and name not in _ABOUT_VALUES:
        _warn_of_copies(f"{getattr(func, '__module__', 'numpy')}.{name}", (args, kwargs))
    return func(*_to_host(args), **_to_host(kwargs))


def ufunc_on_host(ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """A ufunc that has no equal here (SciPy's), or one that writes into NumPy's memory, on host copies. Outputs of ours are written.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.zeros(3)
    >>> np.add.at(counts, bc.array([0, 2, 2]), 1.0)
    >>> counts
    array([1., 0., 2.])
    """
    _warn_of_copies(ufunc.__name__, (inputs, kwargs))
    outs = kwargs.get("out", ())
    if not any(isinstance(out, _c.ndarray) for out in outs):
        return getattr(ufunc, method)(*_to_host(inputs), **_to_host(kwargs))
    hosts = tuple(out.get() if isinstance(out, _c.ndarray) else out for out in outs)
    made = getattr(ufunc, method)(*_to_host(inputs), **{**_to_host(kwargs), "out": hosts})
    for out, host in zip(outs, hosts, strict=True):
        if isinstance(out, _c.ndarray):
            out[...] = host
    given = {id(host): out for out, host in zip(outs, hosts, strict=True)}
    return tuple(given.get(id(r), r) for r in made) if isinstance(made, tuple) else given.get(id(made), made)
