"""`jitclass`: classes whose objects compiled functions work on, in Numba's spelling."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from . import _broadcloth as _c
from ._device import config
from ._jit import njit
from ._namespace import listing
from .types import Type, _type

__all__ = ["jitclass"]

_PYTHON = {int: "int64", float: "float64", bool: "boolean", complex: "complex128", str: "unicode_type"}


def _field_type(t: Any) -> Any:
    if isinstance(t, Type) or (isinstance(t, type) and hasattr(t, "__jitclass_fields__")):
        return t
    return _type(_PYTHON[t]) if t in _PYTHON else _type(t)


def _field(name: str) -> property:
    names: dict[str, Any] = {}
    # The name is a part of the functions' text; the compiler reads it from the file that linecache is told of.
    text = f"def get(self):\n    return self.{name}\n\n\ndef set(self, value):\n    self.{name} = value\n"
    file = f"<jitclass field {name}>"
    import linecache

    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names)
    return property(njit(names["get"]), njit(names["set"]))


def jitclass(cls_or_spec: Any = None, spec: Any = None) -> Any:
    """Makes a class whose fields have given types and whose methods are compiled.

    Parameters
    ----------
    cls_or_spec : class, or list of (name, type), or dict
        The fields. A class alone has them as its annotations.
    spec : list of (name, type), or dict, optional
        The fields, where the class comes first.

    Examples
    --------
    >>> from broadcloth.experimental import jitclass
    >>> @jitclass([("total", bc.types.float64), ("count", bc.types.int64)])
    ... class Mean:
    ...     def __init__(self):
    ...         self.total = 0.0
    ...         self.count = 0
    ...
    ...     def add(self, x):
    ...         self.total += x
    ...         self.count += 1
    ...
    ...     @property
    ...     def value(self):
    ...         return self.total / self.count
    >>> @bc.njit
    ... def fill(mean, n):
    ...     for i in range(n):
    ...         mean.add(i)
    >>> mean = Mean()
    >>> fill(mean, 4)
    >>> mean.value, mean.count
    (1.5, 4)
    """

    def build(cls: type, fields: Any) -> type:
        if config.DISABLE_JIT:
            return cls
        given = dict(fields or {})
        for name, hint in typing.get_type_hints(cls).items():
            given.setdefault(name, hint)
        namespace: dict[str, Any] = {"__slots__": ()}
        namespace.update({name: getattr(cls, name) for name in ("__doc__", "__module__", "__qualname__")})
        for name in given:
            namespace[name] = _field(name)
        for name, member in vars(cls).items():
            if name in ("__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__qualname__") or name in given:
                continue
            if isinstance(member, property):
                member = property(njit(member.fget), member.fset and njit(member.fset))
            elif isinstance(member, staticmethod):
                member = staticmethod(njit(member.__func__))
            elif inspect.isfunction(member):
                member = njit(member)
            namespace[name] = member
        initialise = namespace.pop("__init__", None)
        made = _Meta(cls.__name__, (_c.Container,), namespace)
        made.__jitclass_fields__ = tuple((name, _field_type(t)) for name, t in given.items())
        made.class_type = _ClassType(made)
        construct: Callable[..., Any] = njit(_constructor(made))
        signature = inspect.signature(initialise.py_func) if initialise is not None else inspect.Signature()

        def new(_: type, *args: Any, **keywords: Any) -> Any:
            if initialise is None:
                return construct()
            bound = signature.bind(None, *args, **keywords)
            bound.apply_defaults()
            return construct(*bound.args[1:])

        setattr(made, "__new__", new)  # noqa: B010
        setattr(made, "__init__", initialise if initialise is not None else njit(_nothing))  # noqa: B010
        return made

    if isinstance(cls_or_spec, type):
        return build(cls_or_spec, spec)
    return lambda cls: build(cls, cls_or_spec if cls_or_spec is not None else spec)


class _Meta(type):
    """`type` itself would run `__init__` on an object that the compiled constructor has made already."""

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return getattr(cls, "__new__")(cls, *args, **keywords)  # noqa: B009


class _ClassType:
    """`Class.class_type.instance_type` is the type of the class's objects, as in Numba."""

    def __init__(self, cls: type) -> None:
        self.instance_type = cls


def _nothing(self):
    pass


def _constructor(made):
    def construct(*args):
        return made(*args)

    return construct

__dir__ = listing(__all__)
