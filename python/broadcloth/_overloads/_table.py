"""The table of functions that stand for the libraries'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._source import from_source

OVERLOADS: dict[str, Callable[..., Any]] = {}


def stands_for(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a function under the names that the compiler asks for."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            OVERLOADS[name] = function
        return function

    return register


def distribution(name: str, parameters: str, refused: tuple[str | tuple[str, str], ...], body: str, names: dict[str, Any]) -> Any:
    """A function of random numbers: its parameters, what it refuses (a test, which is also what is said, or a test and the words), and the
    expression that draws `size` of them."""
    lines = [f"def {name}({parameters}, size=None):"]
    for test, words in (r if isinstance(r, tuple) else (r, r) for r in refused):
        lines += [f"    if {test}:", f'        raise ValueError("{words}")']
    return from_source("\n".join([*lines, f"    return {body}"]) + "\n", name, names)
