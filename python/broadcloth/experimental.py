"""`jitclass`: classes whose objects compiled functions work on, in Numba's spelling."""

from __future__ import annotations

import inspect
import linecache
import types as types_
import typing
from collections.abc import Callable
from typing import Any

from . import _broadcloth as _c
from . import types
from ._device import config
from ._jit import njit
from ._namespace import listing
from .types import Type, _type

__all__ = ["jitclass"]

_PYTHON = {int: "int64", float: "float64", bool: "boolean", complex: "complex128", str: "unicode_type"}
_CONTAINERS: dict[Any, Any] = {list: types.ListType, dict: types.DictType, set: types.Set}


def _field_type(t: Any) -> Any:
    """The type of a field: a type, a Python type of numbers or texts, an annotation such as ``list[int]`` or ``float | None``."""
    if isinstance(t, Type) or (isinstance(t, type) and hasattr(t, "__jitclass_fields__")):
        return t
    origin, arguments = typing.get_origin(t), typing.get_args(t)
    if origin in (typing.Union, types_.UnionType) and type(None) in arguments and len(arguments) == 2:
        return types.Optional(_field_type(arguments[arguments[0] is type(None)]))
    if origin is tuple:
        return types.Tuple([_field_type(x) for x in arguments])
    if origin in _CONTAINERS:
        return _CONTAINERS[origin](*map(_field_type, arguments))
    return _type(_PYTHON.get(t, t))


def _field(name: str) -> property:
    names: dict[str, Any] = {}
    # The name is a part of the functions' text; the compiler reads it from the file that linecache is told of.
    text = f"def get(self):\n    return self.{name}\n\n\ndef set(self, value):\n    self.{name} = value\n"
    file = f"<jitclass field {name}>"
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
        for name, t in given.items():
            if not isinstance(name, str):
                raise TypeError(f"jitclass: a field is a name and one of broadcloth.types, got {name!r} and {t!r}")
        members = _members(cls)
        if shadowed := [name for name in given if name in members]:
            raise NameError(f"jitclass: the class has a field and a member called '{shadowed[0]}'")
        for name, hint in typing.get_type_hints(cls).items():
            given.setdefault(name, hint)
        namespace: dict[str, Any] = {"__slots__": ()}
        namespace.update({name: getattr(cls, name) for name in ("__doc__", "__module__", "__qualname__")})
        namespace.update({name: _compiled(name, member) for name, member in members.items() if name not in given})
        namespace.update({name: _field(name) for name in given})
        # Python's code has private names with their class before them, and what is compiled reads them as they are written.
        private = f"_{cls.__name__.lstrip('_')}__"
        for name in list(namespace):
            if name.startswith(private):
                namespace["__" + name.removeprefix(private)] = namespace[name]
            elif name.startswith("__") and not name.endswith("__"):
                namespace[private + name[2:]] = namespace[name]
        initialise = namespace.pop("__init__", None)
        made = _Meta(cls.__name__, (_c.Container,), namespace)
        made.__jitclass_fields__ = tuple((name, _field_type(t)) for name, t in given.items())
        made.class_type = _ClassType(made)
        signature = inspect.signature(initialise.py_func) if initialise is not None else inspect.Signature()
        construct: Callable[..., Any] = njit(_constructor(made, list(signature.parameters.values())[1:]))

        def new(_: type, *args: Any, **keywords: Any) -> Any:
            if initialise is None:
                return construct()
            bound = signature.bind(None, *args, **keywords)
            bound.apply_defaults()
            return construct(*bound.args[1:], *bound.kwargs.values())

        setattr(made, "__new__", new)  # noqa: B010
        setattr(made, "__init__", initialise if initialise is not None else njit(_nothing))  # noqa: B010
        return made

    if isinstance(cls_or_spec, type):
        return build(cls_or_spec, spec)
    return lambda cls: build(cls, cls_or_spec if cls_or_spec is not None else spec)


_OF_EVERY_CLASS = {"__dict__", "__weakref__", "__doc__", "__module__", "__annotations__", "__qualname__"}


def _members(cls: type) -> dict[str, Any]:
    """What a class and its bases define."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__[:-1]):
        found.update({name: member for name, member in vars(base).items() if name not in _OF_EVERY_CLASS})
    return found


def _compiled(name: str, member: Any) -> Any:
    """A member of a class, its functions compiled."""
    if isinstance(member, property):
        if member.fdel:
            raise TypeError(f"jitclass: the property '{name}' has a deleter; fields of an object are never deleted")
        return property(member.fget and njit(member.fget), member.fset and njit(member.fset))
    if isinstance(member, staticmethod):
        return staticmethod(njit(member.__func__))
    return njit(member) if inspect.isfunction(member) else member


class _Meta(type):
    """`type` itself would run `__init__` on an object that the compiled constructor has made already."""

    def __new__(meta, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Any:
        if any(isinstance(base, _Meta) for base in bases):
            raise TypeError("jitclass: a compiled class has no subclasses; derive from the Python class, and compile the derived one")
        return super().__new__(meta, name, bases, namespace)

    def __call__(cls, *args: Any, **keywords: Any) -> Any:
        return getattr(cls, "__new__")(cls, *args, **keywords)  # noqa: B009


class _ClassType:
    """`Class.class_type.instance_type` is the type of the class's objects, as in Numba."""

    def __init__(self, cls: type) -> None:
        self.instance_type = cls


def _nothing(self):
    pass


def _constructor(made: type, parameters: list[inspect.Parameter]) -> Callable[..., Any]:
    """A function of the parameters of `__init__`, all by position, that makes an object."""
    names = [("*" if p.kind is p.VAR_POSITIONAL else "") + p.name for p in parameters]
    given = [f"{p.name}={p.name}" if p.kind is p.KEYWORD_ONLY else name for p, name in zip(parameters, names, strict=True)]
    text = f"def construct({', '.join(n for n in names if n != '*')}):\n    return made({', '.join(given)})\n"
    names_of: dict[str, Any] = {"made": made}
    file = f"<jitclass {made.__qualname__} {id(made)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    exec(compile(text, file, "exec"), names_of)
    return names_of["construct"]


__dir__ = listing(__all__)
