"""Functions of yours that compiled functions have another body for, by the types of the arguments: `overload`, in Numba's spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .types import Type

__all__ = ["overload", "register_jitable"]

_TABLE: dict[Any, list[Callable[..., Any]]] = {}


def overload(function: Callable[..., Any], **_: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what compiled functions call in the place of a Python function.

    The decorated function gets the arguments' types and returns the function for them, or None where it has none.

    Parameters
    ----------
    function : function
        A function written in Python. Outside compiled functions it stays what it is.

    Examples
    --------
    >>> from broadcloth import types
    >>> from broadcloth.extending import overload
    >>> def size_of(x):
    ...     return 1 if np.isscalar(x) else len(x)
    >>> @overload(size_of)
    ... def _(x):
    ...     if isinstance(x, types.Number):
    ...         return lambda x: 1
    ...     return lambda x: len(x)
    >>> @bc.njit
    ... def sizes(a):
    ...     return size_of(a), size_of(2.5)
    >>> sizes(np.zeros(3))
    (3, 1)
    """

    def register(chooser: Callable[..., Any]) -> Callable[..., Any]:
        _TABLE.setdefault(function, []).append(chooser)
        return chooser

    return register


def register_jitable(function: Any = None, **_: Any) -> Any:
    """Marks a function that compiled functions may call and that stays Python elsewhere. Here every function may be called so."""
    return function if function is not None else lambda f: f


def _chosen(function: Any, arguments: list[Any], names: list[str]) -> Any:
    """The body for arguments of these types, the last of which were given by name; None: the function's own."""
    types = [Type(a) for a in arguments]
    positional = types[: len(types) - len(names)]
    keywords = dict(zip(names, types[len(positional) :]))
    for chooser in reversed(_TABLE.get(function, ())):
        if (body := chooser(*positional, **keywords)) is not None:
            return getattr(body, "py_func", body)
    return None
