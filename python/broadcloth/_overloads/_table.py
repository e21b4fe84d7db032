"""The table of functions that stand for the libraries'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

OVERLOADS: dict[str, Callable[..., Any]] = {}


def stands_for(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under the names that the compiler asks for."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            OVERLOADS[name] = function
        return function

    return register
