"""What a module shows to `dir` and says of a name that it has not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import ModuleType


def missing(module: str, name: str, numpy_module: ModuleType | None = None, instead: str = "") -> AttributeError:
    """The error for a name that a module has not; for one of NumPy's it says what to do `instead`."""
    if name.startswith("_") or not hasattr(numpy_module, name):
        return AttributeError(f"module {module!r} has no attribute {name!r}")
    # With an object of its own the error gets no "Did you mean": the name is right, and a similar one computes something else.
    return AttributeError(f"{module} has no {name!r} yet; {instead}", name=name, obj=None)


def listing(public: Iterable[str]) -> Callable[[], list[str]]:
    """`__dir__` for a module: its public names alone, without what it imports."""
    names = sorted(public)
    return lambda: list(names)


def on_host(name: str, numpy_module: ModuleType | None) -> Callable[..., object] | None:
    """NumPy's function of a name, on host copies, where `config.fallback` asks for that; else None."""
    from ._device import config

    function = getattr(numpy_module, name, None)
    if config.fallback == "error" or name.startswith("_") or not callable(function) or isinstance(function, type):
        return None
    from .run._fallback import host_function

    return host_function(function)


def face(
    module: str, public: Iterable[str], numpy_module: ModuleType | None = None, instead: str = ""
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` for a module with these public names; `{name}` in `instead` is the name that was asked for."""
    names = sorted(public)

    def getattr_of_module(name: str) -> object:
        if (function := on_host(name, numpy_module)) is not None:
            return function
        raise missing(module, name, numpy_module, instead.format(name=name))

    return getattr_of_module, lambda: names
