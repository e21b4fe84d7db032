"""The functions of numpy.polynomial over broadcloth's arrays.

They are Python over NumPy's functions, so that the text of the installed NumPy is run with broadcloth's functions under NumPy's names. What
coefficients alone give is computed on the host: they are few, and a kernel for each of them would take longer.
"""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, cast

import numpy as np

from .. import _broadcloth as _c
from .._broadcloth import ndarray

# Parts of the names of functions that take points, which may be many.
_OF_POINTS = ("val", "grid", "vander", "fit", "weight")


class _ArrayClass(type):
    """What the functions take for an array: broadcloth's and NumPy's."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (ndarray, np.ndarray))


class _AnyArray(metaclass=_ArrayClass):
    """See `numpy.ndarray`."""


class _Names(ModuleType):
    """NumPy's names: broadcloth's functions, and NumPy's for dtypes and errors."""

    def __getattr__(self, name: str) -> Any:
        ours = importlib.import_module("broadcloth")
        if name == "ndarray":
            return _AnyArray
        return getattr(ours, name) if name in ours.__all__ else getattr(np, name)


_names = _Names("numpy")


def _import(name: str, namespace: Any = None, local: Any = None, given: Any = (), level: int = 0) -> Any:
    """`__import__` of NumPy's modules: their `numpy` is `_names`, and their neighbours are run in the same way."""
    if level:
        neighbours = SimpleNamespace(**{m: _executed(m) for m in given if m == "polyutils"})
        return importlib.import_module(f"numpy.polynomial.{name}") if name else neighbours
    if name == "numpy._core.overrides":
        # The decorator would ask arguments for functions of their own.
        return SimpleNamespace(array_function_dispatch=lambda *_, **__: lambda function: function)
    if name.partition(".")[0] == "numpy" and not (given and name != "numpy"):
        return _names
    return builtins.__import__(name, namespace, local, given, level)


@functools.cache
def _executed(module: str) -> ModuleType:
    """NumPy's module of a name, run with `_names`."""
    spec = importlib.util.find_spec(f"numpy.polynomial.{module}")
    assert spec is not None and spec.loader is not None
    made = ModuleType(spec.name)
    made.__dict__.update(__builtins__={**vars(builtins), "__import__": _import}, __package__="numpy.polynomial")
    exec(spec.loader.get_code(spec.name), made.__dict__)  # type: ignore[attr-defined]
    return made


def _as_ours(made: Any) -> Any:
    """NumPy's arrays and numbers in what a function gave as broadcloth's."""
    if isinstance(made, (np.ndarray, np.generic)):
        return _c.as_result(_c.asarray(made))
    return type(made)(map(_as_ours, made)) if type(made) in (tuple, list) else made


def _on_host(value: Any) -> Any:
    if isinstance(value, ndarray):
        return _c.asnumpy(value)
    return type(value)(map(_on_host, value)) if type(value) in (tuple, list) else value


def _arrays_in(values: Any) -> list[ndarray]:
    """Arrays of ours among arguments and the elements of lists."""
    inner = [v for v in values if type(v) in (tuple, list)]
    return [v for v in values if isinstance(v, ndarray)] + [a for v in inner for a in _arrays_in(v)]


def _function(module: str, name: str, theirs: Callable[..., Any]) -> Callable[..., Any]:
    of_points = any(part in name for part in _OF_POINTS)

    @functools.wraps(theirs)
    def call(*args: Any, **kwargs: Any) -> Any:
        arrays = _arrays_in([*args, *kwargs.values()])
        if arrays and (of_points or any(a.requires_grad for a in arrays)):
            return getattr(_executed(module), name)(*args, **kwargs)
        host = theirs(*map(_on_host, args), **{k: _on_host(v) for k, v in kwargs.items()})
        return _as_ours(host)

    call.__module__ = f"broadcloth.polynomial.{module}"
    return call


def series(theirs: type) -> type:
    """NumPy's class of series, which is computed where its argument lies; the coefficients are on the host."""
    module, base = theirs.__module__.rpartition(".")[2], cast(Any, theirs)

    class Series(base):  # type: ignore[misc, valid-type]
        def __call__(self, arg: Any) -> Any:
            if not isinstance(arg, ndarray):
                return super().__call__(arg)
            points = _executed("polyutils").mapdomain(arg, self.domain, self.window)
            return getattr(_executed(module), base._val.__name__)(points, self.coef)

        def _get_coefficients(self, other: Any) -> Any:
            if type(other) is theirs:
                other = type(self)(other.coef, other.domain, other.window, other.symbol)
            return super()._get_coefficients(_on_host(other))

    Series.__name__ = Series.__qualname__ = theirs.__name__
    Series.__module__, Series.__doc__ = "broadcloth.polynomial", theirs.__doc__
    return Series


def member(module: str, name: str) -> Any:
    """What a module of broadcloth.polynomial has under a name of NumPy's."""
    space = importlib.import_module(f"numpy.polynomial.{module}")
    if name not in space.__all__:
        raise AttributeError(f"module 'broadcloth.polynomial.{module}' has no attribute {name!r}")
    theirs = getattr(space, name)
    if isinstance(theirs, type):
        return getattr(importlib.import_module("broadcloth.polynomial"), name, theirs)
    if not callable(theirs):
        return _as_ours(theirs)
    return _function(module, name, theirs)
