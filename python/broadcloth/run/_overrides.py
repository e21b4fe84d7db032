"""Classes that say themselves what NumPy's functions do with their objects, by `__array_function__` (NEP 18), in a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from . import _fallback, _imports


def _given(args: tuple[Any, ...], kwargs: dict[str, Any], of_lists: bool) -> Iterator[Any]:
    for value in (*args, *kwargs.values()):
        if of_lists and type(value) in (list, tuple):
            yield from value
        else:
            yield value


def _asked(args: tuple[Any, ...], kwargs: dict[str, Any], of_lists: bool) -> list[Any]:
    """One argument of each type that has an `__array_function__`: those of a subclass before those of its base, else from left to right."""
    found: list[Any] = []
    for value in _given(args, kwargs, of_lists):
        kind = type(value)
        if isinstance(value, type) or not hasattr(kind, "__array_function__") or any(type(f) is kind for f in found):
            continue
        place = next((i for i, f in enumerate(found) if issubclass(kind, type(f))), len(found))
        found.insert(place, value)
    return found


def _none_found(function: _c.program_function, types: tuple[type, ...]) -> TypeError:
    name = _fallback.full_name(function.numpy_function)
    return TypeError(f"no implementation found for {name!r} on types that implement __array_function__: {list(types)}")


def make_like(function: _c.program_function, like: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call with `like=` (NEP 35): what the class of `like` makes. NumPy asks those of libraries, and says what is wrong with others.

    Raises
    ------
    TypeError
        The class does not make such arrays.
    """
    kind = type(like)
    if not hasattr(kind, "__array_function__") or not _imports.is_of_program(kind):
        return function.numpy_function(*args, **kwargs)
    made = kind.__array_function__(like, function, (kind,), args, {k: v for k, v in kwargs.items() if k != "like"})
    if made is NotImplemented:
        raise _none_found(function, (kind,))
    return made


def dispatch(function: _c.program_function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a function of the program's with arguments of which one has its own `__array_function__`: its answer.

    Classes of the program get the function by which the program calls; where all are of libraries, NumPy asks them, and gives its own.

    Raises
    ------
    TypeError
        No argument has an answer.
    """
    asked = _asked(args, kwargs, function.of_lists)
    types = tuple(type(v) for v in asked)
    if not any(_imports.is_of_program(t) for t in types if t is not _c.ndarray and t is not np.ndarray):
        return function.numpy_function(*args, **kwargs)
    for value in asked:
        made = type(value).__array_function__(value, function, types, args, kwargs)
        if made is not NotImplemented:
            return made
    raise _none_found(function, types)
