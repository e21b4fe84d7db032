"""How compiled functions are pickled: by their name where a module has them under it, else by the Python function and its options.

A Python function that no module has by its name is pickled as its code, its text and what its names mean.
"""

from __future__ import annotations

import importlib
import marshal
import sys
import weakref
from collections.abc import Callable, Iterator
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any


def _has_name(o: Any) -> bool:
    """Whether a module has the object under its name."""
    name = getattr(o, "__qualname__", None)
    found: Any = sys.modules.get(getattr(o, "__module__", None) or "")
    for part in (name or "").split("."):
        found = getattr(found, part, None)
    return bool(name) and found is o


class _Module:
    """A module, as pickles have it."""

    def __init__(self, module: ModuleType) -> None:
        self._name = module.__name__

    def __reduce__(self) -> Any:
        return importlib.import_module, (self._name,)


class _Function:
    """A function, as pickles have it: made without what its names mean, which may be the function itself, and then filled."""

    # One for each function: a pickle knows by the object what it has already.
    _made: weakref.WeakValueDictionary[int, _Function] = weakref.WeakValueDictionary()

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    @classmethod
    def of(cls, function: FunctionType) -> _Function:
        made = cls._made.get(id(function))
        if made is None:
            made = cls._made[id(function)] = cls(function)
        return made

    def __reduce__(self) -> Any:
        from . import _source

        f, code = self._function, self._function.__code__
        world = {name: _picklable(f.__globals__[name]) for name in dict.fromkeys(_names(code)) if name in f.__globals__}
        cells = [_picklable(cell.cell_contents) for cell in f.__closure__ or ()]
        defaults = tuple(map(_picklable, f.__defaults__ or ())), {k: _picklable(v) for k, v in (f.__kwdefaults__ or {}).items()}
        made = (marshal.dumps(code), f.__name__, f.__qualname__, f.__module__, _source.lines_of(f))
        return _function, made, (world, cells, *defaults), None, None, _fill


def _names(code: CodeType) -> Iterator[str]:
    """The names that a function's code reads, and the functions in it."""
    yield from code.co_names
    for c in code.co_consts:
        if isinstance(c, CodeType):
            yield from _names(c)


def _picklable(o: Any) -> Any:
    if isinstance(o, ModuleType):
        return _Module(o)
    return _Function.of(o) if isinstance(o, FunctionType) and not _has_name(o) else o


def _function(code: bytes, name: str, qualname: str, module: str, lines: list[str]) -> FunctionType:
    """A function without globals, cells and defaults."""
    from . import _source

    loaded = marshal.loads(code)
    _source.keep(loaded, lines)
    cells = tuple(CellType() for _ in loaded.co_freevars)
    made = FunctionType(loaded, {"__builtins__": __builtins__, "__name__": module}, name, None, cells)
    made.__qualname__ = qualname
    return made


def _fill(function: FunctionType, state: tuple[dict[str, Any], list[Any], tuple[Any, ...], dict[str, Any]]) -> None:
    world, cells, defaults, by_name = state
    function.__globals__.update(world)
    for cell, value in zip(function.__closure__ or (), cells):
        cell.cell_contents = value
    function.__defaults__, function.__kwdefaults__ = defaults or None, by_name or None


def reduced(o: Any, make: Callable[..., Any], *arguments: Any) -> str | tuple[Callable[..., Any], tuple[Any, ...]]:
    """What `__reduce__` returns for an object that stands in the place of a function.

    Other processes find it by the name that the function was defined under; an object that has no such name is made again by
    ``make(*arguments)``.
    """
    return o.__qualname__ if _has_name(o) else (make, tuple(map(_picklable, arguments)))


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


def make_launcher(kernel: Any, configuration: tuple[Any, ...], ntasks: int) -> Any:
    """A configured launch."""
    if ntasks >= 0:
        return kernel.forall(ntasks, *configuration)
    return kernel.configure(*configuration)


def reduced_launcher(launcher: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """What a configured launch is pickled as; a stream is of one process."""
    if launcher.stream is not None:
        raise TypeError("pickle: a launch on a stream of its own cannot be pickled")
    cluster = launcher.cluster if any(n > 1 for n in launcher.cluster) else None
    grid = (launcher.griddim, launcher.blockdim, None, launcher.sharedmem, cluster, launcher.cooperative)
    forall = (launcher.blockdim[0], None, launcher.sharedmem)
    return make_launcher, (launcher.dispatcher, grid if launcher.ntasks < 0 else forall, launcher.ntasks)
