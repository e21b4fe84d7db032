"""How compiled functions are pickled: by their name where a module has them under it, else by the Python function and its options."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def reduced(o: Any, make: Callable[..., Any], *arguments: Any) -> str | tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `__reduce__` returns for an object that stands in the place of a function.

    Other processes find it by the name that the function was defined under; an object that has no such name is made again by
    ``make(*arguments)``, for picklers that take functions by value.
    """
    name = getattr(o, "__qualname__", None)
    found: Any = sys.modules.get(getattr(o, "__module__", None) or "")
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    return name if name and found is o else (make, arguments)


def make_jit(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """A function as `jit` makes it."""
    from ._jit import jit

    return jit(**options)(function)


def make_kernel(function: Callable[..., Any], options: dict[str, Any], signatures: list[Any]) -> Any:
    """A kernel as `cuda.jit` makes it."""
    from .cuda._jit import Dispatcher

    made = Dispatcher(function, **options)
    for signature in signatures:
        made._declare(signature)
    return made
