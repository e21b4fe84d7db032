"""Processes that multiprocessing starts anew (`spawn`, `forkserver`) run the program's modules as their parent does."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from .. import _broadcloth as _c
from ._owner import Owner

owner: Owner | None = None
_plain: Callable[..., dict[str, Any]] | None = None
_prepared = False


def _start(roots: tuple[str, ...], strict: bool, by_size: bool) -> None:
    """Runs in the child, before it loads the program's main module."""
    from . import _fallback, _imports

    _fallback.strict = strict
    if by_size:
        _c.set_default_device("auto")
    _imports.enable(Owner(roots))


class _Start:
    """Travels with what multiprocessing sends to a new process: it is unpickled there first."""

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        from . import _fallback

        return _start, (owner.roots if owner else (), _fallback.strict, _c._placement()[0] > 0)


def _data(name: str) -> dict[str, Any]:
    assert _plain is not None
    data = _plain(name)
    return {**data, "broadcloth": _Start()} if owner is not None else data


def prepare_once() -> None:
    """Lets multiprocessing tell its children; the program has just imported it."""
    global _plain, _prepared
    if not _prepared:
        _prepared = True
        from multiprocessing import spawn

        _plain = spawn.get_preparation_data
        spawn.get_preparation_data = _data


def prepare_if_loaded() -> None:
    """The same where it is loaded already."""
    if "multiprocessing" in sys.modules:
        prepare_once()
