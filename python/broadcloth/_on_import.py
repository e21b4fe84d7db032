"""Actions that follow the import of a module, where nobody has loaded it yet."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

_waiting: dict[str, Callable[[], None]] = {}


class _Watcher:
    """Finds these modules as Python does, and has their actions follow them."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name not in _waiting:
            return None
        others = (f for f in sys.meta_path if f is not _Watcher)
        spec = next((s for f in others if (s := f.find_spec(name, path, target)) is not None), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module

            def exec_module(module: ModuleType) -> None:
                execute(module)
                if (action := _waiting.pop(name, None)) is not None:  # a module may be looked for and not be loaded, or be loaded again
                    action()

            spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def when_imported(name: str, action: Callable[[], None]) -> None:
    """Calls `action` once the module is loaded: now, or when it is first imported."""
    if name in sys.modules:
        action()
        return
    _waiting[name] = action
    if _Watcher not in sys.meta_path:
        sys.meta_path.insert(0, _Watcher)  # type: ignore[arg-type]


def forget(name: str) -> None:
    """Takes back what waits for a module."""
    _waiting.pop(name, None)
