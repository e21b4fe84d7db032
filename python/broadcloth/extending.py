"""What compiled functions call in the place of functions, methods and attributes of yours, by their types, in Numba's spelling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._broadcloth import CpuDispatcher
from ._namespace import listing
from .types import Type

__all__ = ["get_cython_function_address", "intrinsic", "is_jitted", "overload", "overload_attribute", "overload_method",
           "register_jitable"]  # fmt: skip

# The registry: (a function's, a value's type) chooser and the target that it is for, in the order of registration.
_TABLE: dict[Any, list[tuple[Callable[..., Any], str]]] = {}
_METHODS: dict[str, list[tuple[Any, Callable[..., Any], str]]] = {}
_ATTRIBUTES: dict[str, list[tuple[Any, Callable[..., Any], str]]] = {}


def _target_of(name: str, options: dict[str, Any]) -> str:
    """The target among Numba's options; the others say how Numba compiles, and are checked for their names."""
    unknown = set(options) - {"target", "inline", "strict", "prefer_literal", "jit_options"}
    if unknown:
        raise TypeError(f"{name}() got an unexpected keyword argument '{min(unknown)}'")
    target = options.get("target", "generic")
    if target not in ("generic", "cpu", "cuda"):
        raise ValueError(f"{name}: expected target 'generic', 'cpu' or 'cuda', got {target!r}")
    return str(target)


def overload(function: Callable[..., Any], **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers what compiled functions call in the place of a Python function.

    The decorated function gets the arguments' types and returns the function for them, or None where it has none.

    Parameters
    ----------
    function : function
        A function written in Python. Outside compiled functions it stays what it is.
    target : {'generic', 'cpu', 'cuda'}, optional
        Which callers it is for: all, compiled functions, or kernels. What is registered for the caller's own target comes before 'generic'.
    inline, strict, prefer_literal, jit_options : optional
        Numba's options, which change nothing here: the compiler decides what is inlined.

    Examples
    --------
    >>> from broadcloth import types
    >>> from broadcloth.extending import overload
    >>> def size_of(x):
    ...     return 1 if np.isscalar(x) else len(x)
    >>> @overload(size_of)
    ... def _(x):
    ...     if isinstance(x, types.Number):
    ...         return lambda x: 1
    ...     return lambda x: len(x)
    >>> @bc.njit
    ... def sizes(a):
    ...     return size_of(a), size_of(2.5)
    >>> sizes(np.zeros(3))
    (3, 1)
    """

    target = _target_of("overload", options)

    def register(chooser: Callable[..., Any]) -> Callable[..., Any]:
        _TABLE.setdefault(function, []).append((chooser, target))
        return chooser

    return register


def overload_method(cls: Any, name: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers a method that values have in compiled functions.

    The decorated function gets the types of the value and of the arguments, and returns the function for them, or None.

    Parameters
    ----------
    cls : type or family of types
        Of the value: `types.Array`, `types.Float`, `types.int64`, …
    name : str
        Of the method.
    target, inline, strict, prefer_literal, jit_options : optional
        As in `overload`.

    Examples
    --------
    >>> from broadcloth import types
    >>> from broadcloth.extending import overload_method
    >>> @overload_method(types.Array, "span")
    ... def _(a, factor):
    ...     return lambda a, factor: (a.max() - a.min()) * factor
    >>> bc.njit(lambda a: a.span(2.0))(np.array([3.0, 1.0, 4.0]))
    6.0
    """
    return _registrar(_METHODS, cls, name, _target_of("overload_method", options))


def overload_attribute(cls: Any, name: str, **options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Registers an attribute that values have in compiled functions.

    Parameters
    ----------
    cls : type or family of types
        Of the value.
    name : str
        Of the attribute.
    target, inline, strict, prefer_literal, jit_options : optional
        As in `overload`.

    Examples
    --------
    >>> from broadcloth import types
    >>> from broadcloth.extending import overload_attribute
    >>> @overload_attribute(types.Array, "middle")
    ... def _(a):
    ...     return lambda a: a[a.size // 2]
    >>> bc.njit(lambda a: a.middle)(np.array([3, 1, 4]))
    1
    """
    return _registrar(_ATTRIBUTES, cls, name, _target_of("overload_attribute", options))


def _registrar(table: dict[str, list[tuple[Any, Callable[..., Any], str]]], cls: Any, name: str, target: str) -> Callable[..., Any]:
    def register(chooser: Callable[..., Any]) -> Callable[..., Any]:
        table.setdefault(name, []).append((cls, chooser, target))
        return chooser

    return register


def get_cython_function_address(module: str, name: str) -> int:
    """The address of a C function that a Cython module exports, such as those of scipy.special.cython_special.

    `ctypes.CFUNCTYPE(…)(address)` makes a function of it that compiled functions can call.

    Examples
    --------
    >>> import ctypes
    >>> address = get_cython_function_address("scipy.special.cython_special", "j0")  # doctest: +SKIP
    >>> j0 = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(address)  # doctest: +SKIP
    """
    import ctypes
    import importlib

    exported = getattr(importlib.import_module(module), "__pyx_capi__", {})
    if name not in exported:
        raise ValueError(f"get_cython_function_address: {module} exports no C function {name!r}")
    capsule_name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    capsule_name.restype, capsule_name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    address = pointer(exported[name], capsule_name(exported[name]))
    assert address is not None
    return address


class _Intrinsic:
    """What stands for a function made of LLVM's instructions: compiled functions that call it say what to write instead."""

    __kernel_name__ = "numba.intrinsic"

    def __init__(self, function: Callable[..., Any]) -> None:
        self.__wrapped__ = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{self.__name__} is made of LLVM's instructions, which only a compiler that hands out its builder can run; write its body in "
            "Python (extending.overload), in CUDA C++ (cuda.declare_device with link=) or in C (a function of ctypes)"
        )


def intrinsic(*args: Any, **_: Any) -> Any:
    """Takes Numba's functions that emit LLVM's instructions, so that modules which define some can be imported.

    Compiled functions are C++ here and there is no builder to hand out. A compiled function that calls one is an error that says what to
    write instead: a body in Python (`overload`), in CUDA C++ (`cuda.declare_device` with ``link=``) or in C (a function of `ctypes`).

    Examples
    --------
    >>> from broadcloth.extending import intrinsic
    >>> @intrinsic
    ... def add_one(typing_context, x):
    ...     return None
    >>> bc.njit(lambda x: add_one(x))(1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    broadcloth.TypingError: add_one() is made of LLVM's instructions by extending.intrinsic, and compiled functions are C++ here
    """
    return _Intrinsic(args[0]) if args and callable(args[0]) else _Intrinsic


def is_jitted(function: Any) -> bool:
    """Tells whether a function is one of `jit` or `njit`.

    Examples
    --------
    >>> is_jitted(bc.njit(lambda x: x)), is_jitted(len)
    (True, False)
    """
    return isinstance(function, CpuDispatcher)


def register_jitable(function: Any = None, **_: Any) -> Any:
    """Marks a function that compiled functions may call and that stays Python elsewhere. Here every function may be called so."""
    return function if function is not None else lambda f: f


def _member(rows: list[tuple[Any, Callable[..., Any], str]], arguments: list[Any], names: list[str], target: str) -> Any:
    """The body among those registered for a name, the value's type being the first; None: there is none."""
    value = Type(arguments[0])
    fitting = [(f, of) for cls, f, of in rows if (value == cls if isinstance(cls, Type) else isinstance(value, cls))]
    return _first_body(fitting, arguments, names, target)


def _chosen(function: Any, arguments: list[Any], names: list[str], target: str) -> Any:
    """The body registered for a function; None: the function's own."""
    return _first_body(_TABLE.get(function, []), arguments, names, target)


def _first_body(choosers: list[tuple[Callable[..., Any], str]], arguments: list[Any], names: list[str], target: str) -> Any:
    """What the newest chooser with an answer gives for arguments of these types, the last of which were given by name: of those for the
    caller's target, then of those for every target."""
    types = [Type(a) for a in arguments]
    positional = types[: len(types) - len(names)]
    keywords = dict(zip(names, types[len(positional) :]))
    for wanted in (target, "generic"):
        for chooser, of in reversed(choosers):
            if of == wanted and (body := chooser(*positional, **keywords)) is not None:
                return getattr(body, "py_func", body)
    return None

__dir__ = listing(__all__)
