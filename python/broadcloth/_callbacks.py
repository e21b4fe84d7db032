"""Compiled functions and C: callbacks by their address (`cfunc`), memory behind a pointer as an array, functions of `ctypes`."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ._jit import jit
from .types import Signature, Type

__all__ = ["carray", "cfunc", "farray"]

_NAMES: dict[Any, str] = {
    ctypes.c_bool: "boolean", ctypes.c_byte: "int8", ctypes.c_char: "uint8", ctypes.c_ubyte: "uint8", ctypes.c_short: "int16",
    ctypes.c_ushort: "uint16", ctypes.c_int: "int32", ctypes.c_uint: "uint32", ctypes.c_long: "int64", ctypes.c_ulong: "uint64",
    ctypes.c_longlong: "int64", ctypes.c_ulonglong: "uint64", ctypes.c_float: "float32", ctypes.c_double: "float64",
    ctypes.c_void_p: "voidptr", ctypes.c_char_p: "voidptr", ctypes.py_object: "voidptr", None: "void",
}  # fmt: skip


def _name(t: Any) -> str:
    if t in _NAMES:
        return _NAMES[t]
    if isinstance(t, type) and issubclass(t, ctypes._Pointer):
        return f"CPointer({_name(t._type_)})"
    raise TypeError(f"ctypes: compiled functions do not pass {t!r} to C; they pass numbers and pointers")


def described(function: Any) -> tuple[str, str, int] | None:
    """Name, signature and address of a function of ctypes, for the compiler; None for other objects."""
    if not isinstance(function, ctypes._CFuncPtr):
        return None
    name = getattr(function, "__name__", "function")
    if function.argtypes is None:
        raise TypeError(f"ctypes: set {name}.argtypes and {name}.restype before a compiled function calls it")
    signature = f"{_name(function.restype)}({', '.join(map(_name, function.argtypes))})"
    return name, signature, ctypes.cast(function, ctypes.c_void_p).value or 0


def _ctype(spelling: str) -> Any:
    for t, name in _NAMES.items():
        if name == spelling and t not in (None, ctypes.c_char):
            return t
    if spelling.startswith("CPointer("):
        inner = _ctype(spelling[len("CPointer(") : -1])
        return ctypes.c_void_p if inner is ctypes.c_ubyte or inner is None else ctypes.POINTER(inner)
    return None


def _result(signature: Any) -> str:
    """How the type that a signature returns is spelled."""
    if isinstance(signature, str):
        depth = 0
        for at in range(len(signature) - 1, -1, -1):  # what stands before the bracket that the last one closes
            depth += (signature[at] == ")") - (signature[at] == "(")
            if depth == 0:
                signature = signature[:at].strip()
                break
    else:
        signature = getattr(signature, "return_type", None)
    return "none" if signature in (None, "", "void", "none") or str(signature) in ("void", "none") else str(Type(str(signature)))


class CFunc:
    """A function compiled for C to call.

    Attributes
    ----------
    address : int
        Where it begins.
    ctypes : ctypes function
        The same as ctypes calls it.
    """

    def __init__(self, function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> None:
        self.py_func = self.__wrapped__ = function
        self.__name__ = self.__qualname__ = getattr(function, "__name__", "function")
        self.__doc__ = function.__doc__
        self._dispatcher = jit(**options)(function)
        dispatcher = self._dispatcher
        if not hasattr(dispatcher, "_callback"):  # the compiler is switched off; C needs machine code
            from . import _broadcloth as _c
            from ._jit import _names

            names, defaults, rest = _names(function)
            dispatcher = self._dispatcher = _c.CpuDispatcher(function, names, defaults, rest=rest)
        self.address: int = dispatcher._callback(signature)
        (arguments, *_), *_ = dispatcher._overloads()
        self._types = arguments, _result(signature)
        self.native_name = f"bc_{self.__name__}_callback"

    def __call__(self, *args: Any) -> Any:
        return self.py_func(*args)

    def __repr__(self) -> str:
        return f"CFunc({self.__name__})"

    @property
    def ctypes(self) -> Any:
        arguments, result = self._types
        types = [_ctype(t) for t in arguments]
        back = None if result == "none" else _ctype(result)
        if None in types or (back is None and result != "none"):
            raise TypeError(f"{self.__name__}: ctypes has no type for {self._types}; use the address")
        return ctypes.CFUNCTYPE(back, *types)(self.address)

    @property
    def cffi(self) -> Any:
        from cffi import FFI

        return FFI().cast("void *", self.address)

    def inspect_llvm(self) -> str:
        return self._dispatcher._inspect(0, "ir")


def cfunc(signature: Any, *, cache: bool = False, **options: Any) -> Callable[[Callable[..., Any]], CFunc]:
    """Compiles a function that C calls by its address: callbacks of `ctypes`, of SciPy's LowLevelCallable and of other libraries.

    C passes numbers and pointers; `carray` makes an array of the memory behind a pointer. An exception ends the function with a result of
    zero and is printed.

    Parameters
    ----------
    signature : str or Signature
        Such as ``"float64(float64, CPointer(float64))"``.

    Examples
    --------
    >>> @bc.cfunc("float64(float64, float64)")
    ... def hypotenuse(a, b):
    ...     return (a * a + b * b) ** 0.5
    >>> hypotenuse.ctypes(3.0, 4.0)
    5.0
    """
    if callable(signature) and not isinstance(signature, str | Signature | Type | tuple):
        raise TypeError('cfunc: expected a signature such as "float64(float64)", got a function')
    return lambda function: CFunc(function, signature, {**options, "cache": cache})


def _array(name: str, pointer: Any, shape: Any, dtype: Any, order: Literal["C", "F"]) -> np.ndarray[Any, Any]:
    wanted = getattr(type(pointer), "_type_", None)
    if not isinstance(pointer, int):
        if dtype is None and wanted is not None and wanted != "P":
            dtype = np.dtype(wanted)
        pointer = ctypes.cast(pointer, ctypes.c_void_p).value
    if dtype is None:
        raise TypeError(f"{name}: expected a dtype for a pointer without a type")
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    kind = dtype._element if isinstance(dtype, Type) else np.dtype(dtype)
    if wanted not in (None, "P") and np.dtype(wanted) != kind:
        raise TypeError(f"{name}: the pointer is to {np.dtype(wanted)}, not to {kind}")
    size = kind.itemsize * int(np.prod(extents))
    memory = (ctypes.c_byte * size).from_address(pointer) if size else b""
    return np.ndarray(extents, kind, memory, order=order)  # type: ignore[arg-type]


def carray(pointer: Any, shape: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """The memory behind a pointer as an array in C order, without a copy: of a `ctypes` pointer, or in compiled functions of their own.

    Examples
    --------
    >>> @bc.cfunc("float64(CPointer(float64), intc)")
    ... def total(values, n):
    ...     return bc.carray(values, n).sum()
    >>> x = np.arange(5.0)
    >>> total.ctypes(x.ctypes.data_as(total.ctypes.argtypes[0]), 5)
    10.0
    """
    return _array("carray", pointer, shape, dtype, "C")


def farray(pointer: Any, shape: Any, dtype: Any = None) -> np.ndarray[Any, Any]:
    """As `carray`, in Fortran order.

    Examples
    --------
    >>> import ctypes
    >>> memory = (ctypes.c_double * 4)(1.0, 2.0, 3.0, 4.0)
    >>> bc.farray(ctypes.cast(memory, ctypes.POINTER(ctypes.c_double)), (2, 2))
    array([[1., 3.],
           [2., 4.]])
    """
    return _array("farray", pointer, shape, dtype, "F")


carray.__kernel_name__ = "numba.carray"  # type: ignore[attr-defined]
farray.__kernel_name__ = "numba.farray"  # type: ignore[attr-defined]
