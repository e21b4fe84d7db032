"""The import hook: `import numpy` in the program's files gives the face."""

from __future__ import annotations

import builtins
import contextlib
import functools
import importlib
import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from . import _children, _fallback, _libraries
from ._face import _ProgramArray, face_of
from ._owner import Owner

_owner: Owner | None = None

# Attributes that NumPy's scalars have and arrays lack: elements look like scalars.
_OF_SCALARS = ("numerator", "denominator", "hex", "bit_count")
# Methods that make arrays which only NumPy has: of texts and objects, of a subclass of numpy.ndarray.
_METHODS = ("astype", "view")


def _real_module(name: str) -> ModuleType | None:
    """NumPy's module, loaded; None where there is no such module, so that the import itself says so."""
    try:
        return importlib.import_module(name)  # in this file, which is no program's
    except ImportError:
        return None


def _wanted(name: str, frame: Any) -> ModuleType | None:
    """NumPy's module, when its face is what the importing frame gets."""
    if name.startswith("multiprocessing"):
        return None
    return _real_module(name) if _owner is not None and _owner.has_frame(frame) else None


def _find(name: str, globals: Any = None, locals: Any = None, fromlist: Any = (), level: int = 0) -> Any:
    """What `__import__` asks first for names that begin with numpy."""
    if name.startswith("multiprocessing"):
        _children.prepare_once()
        return NotImplemented
    module = None if level else _wanted(name, sys._getframe(1))
    if module is None:
        return NotImplemented
    if not fromlist:
        return face_of(_real_module("numpy"))
    for part in fromlist:
        if part != "*" and not hasattr(module, part):
            _real_module(f"{name}.{part}")
    return face_of(module)


def _find_module(name: str, package: str | None = None) -> Any:
    """What `importlib.import_module` asks first."""
    module = _wanted(name, sys._getframe(1))
    return NotImplemented if module is None else face_of(module)


def is_of_program(kind: type) -> bool:
    """Whether a class is the program's: of one of its files, or of no file."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return _owner is not None and (file is None or _owner.has(file, kind.__module__))


def _prepare_class(kind: type) -> None:
    """Called for each new class that has an `__array__`: what that gives NumPy is NumPy's, which would refuse arrays of ours."""
    method = vars(kind)["__array__"]
    if type(method) is not FunctionType:
        return

    @functools.wraps(method)
    def give(self: Any, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return _fallback.on_same_memory(method(self, *args, **kwargs))

    give._for_broadcloth = method  # type: ignore[attr-defined]  # conversions to arrays of ours call this one
    with contextlib.suppress(AttributeError, TypeError):  # of a class that cannot be changed NumPy says so itself
        kind.__array__ = give  # type: ignore[attr-defined]


def _of_scalar(name: str) -> property:
    def get(self: Any) -> Any:
        if isinstance(self, np.generic):
            return getattr(self.get()[()], name)
        raise AttributeError(f"'numpy.ndarray' object has no attribute '{name}'")

    return property(get)


def _numpys_method(name: str) -> Callable[..., Any]:
    """NumPy's method of arrays, or of scalars where an element is given."""
    method = getattr(np.ndarray, name)

    @functools.wraps(method, assigned=("__name__", "__qualname__", "__doc__"))
    def call(value: Any, *args: Any, **kwargs: Any) -> Any:
        return (getattr(value, name) if isinstance(value, np.generic) else functools.partial(method, value))(*args, **kwargs)

    call.__module__ = "numpy"
    return call


def enable(owner: Owner) -> None:
    """From now on the files of `owner` that import NumPy get broadcloth under its names; a second call changes the owner.

    Examples
    --------
    >>> from broadcloth import run
    >>> run.enable(run.Owner(("/folder/of/a/program",)))
    >>> run.disable()
    """
    global _owner
    _owner = owner
    _children.owner = owner
    _c.set_program_handler(_fallback.refused, _ProgramArray)
    for name in _METHODS:
        method = getattr(_c.ndarray, name)
        if not isinstance(method, _c.program_function):
            setattr(_c.ndarray, name, _c.program_function(method, _numpys_method(name)))
    for name in _OF_SCALARS:
        setattr(_c.ndarray, name, _of_scalar(name))
    if not isinstance(builtins.__import__, _c.import_hook):
        builtins.__import__ = _c.import_hook(builtins.__import__, _find)
        importlib.import_module = _c.import_hook(importlib.import_module, _find_module)
        builtins.__build_class__ = _c.class_hook(builtins.__build_class__, _prepare_class)
    _children.prepare_if_loaded()
    _libraries.enable()


def disable() -> None:
    """Takes back what `enable` did; modules that have the face keep it."""
    global _owner
    _owner = None
    _c.set_program_handler(None)
    _libraries.disable()
    for name in _METHODS:
        method = vars(_c.ndarray)[name]
        if isinstance(method, _c.program_function):
            setattr(_c.ndarray, name, method.__wrapped__)
    for name in _OF_SCALARS:
        if name in vars(_c.ndarray):
            delattr(_c.ndarray, name)
    for module, name in ((builtins, "__import__"), (importlib, "import_module"), (builtins, "__build_class__")):
        hook = getattr(module, name)
        if isinstance(hook, (_c.import_hook, _c.class_hook)):
            setattr(module, name, hook.original)
