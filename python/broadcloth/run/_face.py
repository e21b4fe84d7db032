"""What a program has under the name `numpy`: broadcloth's functions, NumPy's types and constants, and NumPy's functions for the rest."""

from __future__ import annotations

import copyreg
import dis
import functools
import importlib
import sys
from collections.abc import Callable
from types import FrameType, ModuleType
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from . import _fallback

# NumPy's modules that have a face, and the modules of ours behind it (None: all of it is NumPy's, on the host).
_MODULES: dict[str, str | None] = {
    "numpy": "broadcloth",
    "numpy.linalg": "broadcloth.linalg",
    "numpy.fft": "broadcloth.fft",
    "numpy.random": "broadcloth.random",
    "numpy.polynomial": "broadcloth.polynomial",
    "numpy.polynomial.polynomial": "broadcloth.polynomial.polynomial",
    "numpy.polynomial.chebyshev": "broadcloth.polynomial.chebyshev",
    "numpy.polynomial.legendre": "broadcloth.polynomial.legendre",
    "numpy.polynomial.hermite": "broadcloth.polynomial.hermite",
    "numpy.polynomial.hermite_e": "broadcloth.polynomial.hermite_e",
    "numpy.polynomial.laguerre": "broadcloth.polynomial.laguerre",
    "numpy.polynomial.polyutils": "broadcloth.polynomial.polyutils",
    "numpy.lib": None,
    "numpy.lib.stride_tricks": "broadcloth.lib.stride_tricks",
    "numpy.lib.scimath": None,
    "numpy.lib.recfunctions": "broadcloth.lib.recfunctions",
    "numpy.rec": None,
    "numpy.char": None,
    "numpy.strings": None,
    "numpy.testing": None,
}
# Functions about types and about printing: NumPy's own, which ask arrays of ours by protocol where they get any.
_NUMPYS_OWN = {
    "can_cast", "common_type", "issubdtype", "isdtype", "isscalar", "min_scalar_type", "promote_types", "result_type", "mintypecode",
    "typename",
    "geterr", "seterrcall", "geterrcall", "setbufsize", "getbufsize",
    "set_printoptions", "get_printoptions", "printoptions", "format_float_positional", "format_float_scientific", "base_repr",
    "binary_repr",
    "array_repr", "array_str", "array2string", "get_include", "info", "show_config", "show_runtime", "test", "broadcast_shapes",
    "datetime_data",
    "busday_count", "busday_offset", "is_busday", "iterable", "set_default_printstyle",
}  # fmt: skip
# Functions that read files and iterators, which cannot be read a second time: NumPy reads, also texts, objects and records.
_READERS = {"load", "loadtxt", "genfromtxt", "fromfile", "fromiter", "fromregex"}
# Functions that make a class or a function, and nothing with arrays.
_OF_FUNCTIONS = {"frompyfunc"}

# Attributes that `numpy.ndarray` of a program has as a class; all others are those of our class of arrays.
_OF_CLASSES = {
    "__class__", "__dict__", "__doc__", "__module__", "__name__", "__qualname__",
    "__array_finalize__", "__array_function__", "__array_ufunc__", "__array_wrap__",  # NumPy asks the classes of its own arrays
}  # fmt: skip

_faces: dict[str, ModuleType] = {}


def _array_wrap(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.ndarray.__array_wrap__(self, array, context)` in a program's class, of arrays of ours and of NumPy's."""
    return (_c.ndarray if isinstance(self, _c.ndarray) else np.ndarray).__array_wrap__(self, *args, **kwargs)


class _ArrayClass(type):
    """`numpy.ndarray` of a program: arrays of broadcloth and NumPy's are its instances."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **kwargs: Any) -> Any:
        if not any(isinstance(b, _ArrayClass) for b in bases):
            return super().__new__(mcs, name, bases, namespace, **kwargs)
        real = tuple(_c.ndarray if isinstance(b, _ArrayClass) else b for b in bases)
        return type(name, real, namespace, **kwargs)

    def __init__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args)

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if "buffer" in kwargs or len(args) > 2:
            return np.ndarray(*args, **kwargs)
        return _c.ndarray(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        if type(value) is _c.ndarray:
            return not issubclass(value.__class__, np.generic)
        return isinstance(value, (np.ndarray, _c.ndarray)) or _fallback.is_record_array(value)

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, (np.ndarray, _c.ndarray))

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _c.ndarray or other is np.ndarray

    def __hash__(cls) -> int:
        return hash(_c.ndarray)

    def __getattribute__(cls, name: str) -> Any:
        # The program's classes call these by name: np.ndarray.__new__(cls, shape), np.ndarray.__getitem__(self, key).
        if name not in _OF_CLASSES and name in vars(_c.ndarray):
            return getattr(_c.ndarray, name)
        return _array_wrap if name == "__array_wrap__" else super().__getattribute__(name)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ndarray, name)

    def __getitem__(cls, parameters: Any) -> Any:
        return np.ndarray[parameters]

    def __repr__(cls) -> str:
        return "<class 'numpy.ndarray'>"


class _ProgramArray(np.ndarray, metaclass=_ArrayClass):
    """See `numpy.ndarray`. NumPy's arrays that are seen as such (`masked.view(np.ndarray)`) are instances, and print as NumPy's own."""

    def __repr__(self) -> str:
        return repr(self.view(np.ndarray))

    def __array_finalize__(self, other: Any) -> None:  # of arrays of ours too, by np.ndarray.__array_finalize__(self, other)
        pass


_ProgramArray.__name__ = _ProgramArray.__qualname__ = "ndarray"
_ProgramArray.__module__ = "numpy"


class _RecordsClass(type):
    """The class of `numpy.recarray` of a program: arrays of records of broadcloth and NumPy's record arrays are its instances."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        return np.recarray(*args, **kwargs)

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, np.recarray) or _fallback.is_record_array(value)

    def __subclasscheck__(cls, other: type) -> bool:
        records = sys.modules.get("broadcloth._records")
        return issubclass(other, np.recarray if records is None else (records.RecordArray, np.recarray))


class _ProgramRecords(np.recarray, metaclass=_RecordsClass):
    """See `numpy.recarray`."""


_ProgramRecords.__name__ = _ProgramRecords.__qualname__ = "recarray"
_ProgramRecords.__module__ = "numpy"


class _UfuncClass(type):
    """`numpy.ufunc` of a program: ufuncs of broadcloth and NumPy's are its instances."""

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, (_c.ufunc, np.ufunc))

    def __subclasscheck__(cls, other: type) -> bool:
        return issubclass(other, (_c.ufunc, np.ufunc))

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _c.ufunc or other is np.ufunc

    def __hash__(cls) -> int:
        return hash(_c.ufunc)

    def __getattr__(cls, name: str) -> Any:
        return getattr(np.ufunc, name)

    def __repr__(cls) -> str:
        return "<class 'numpy.ufunc'>"


class _ProgramUfunc(metaclass=_UfuncClass):
    """See `numpy.ufunc`."""


_ProgramUfunc.__name__ = _ProgramUfunc.__qualname__ = "ufunc"
_ProgramUfunc.__module__ = "numpy"


def _class_named(name: str) -> type:
    """The class that a program has under a name of NumPy's."""
    return _CLASSES[name]


_CLASSES: dict[str, Any] = {c.__name__: c for c in (_ProgramArray, _ProgramRecords, _ProgramUfunc)}
for _kind in (_ArrayClass, _RecordsClass, _UfuncClass):  # pickle looks for classes under their names in NumPy
    copyreg.pickle(_kind, lambda c: (_class_named, (c.__name__,)))


def _ours(module: str, name: str) -> Any:
    """What broadcloth has under a name of NumPy's module; None where it has nothing."""
    where = _MODULES.get(module)
    if where is None:
        return None
    try:
        return getattr(importlib.import_module(where), name, None)
    except ImportError:
        return None


def _assertions() -> frozenset[str]:
    """Assertions of numpy.testing look at the type of what they compare: they get NumPy's arrays. The rest of that module is as it is."""
    from ..testing import ASSERTIONS  # few programs use them

    return ASSERTIONS


def _is_our_class(value: Any) -> bool:
    return isinstance(value, type) and value.__module__.startswith("broadcloth")


def _chosen(module: str, name: str, theirs: Any) -> Any:
    """What a program gets for `theirs`, which NumPy has under this name."""
    if isinstance(theirs, ModuleType):
        return face_of(theirs)
    if module == "numpy.testing":
        return _fallback.on_copies(theirs) if name in _assertions() else theirs
    if theirs is np.ndarray:
        return _ProgramArray
    if theirs is np.ufunc:
        return _ProgramUfunc
    if module == "numpy.random" and name == "Philox":  # to compare with NumPy's own would load its generators for any name
        return importlib.import_module("broadcloth.random._bit_generators").numpys_philox
    if theirs is np.recarray:
        return _ProgramRecords
    if theirs is np.vectorize:
        return _Vectorize
    if theirs is np.nditer or theirs is np.nested_iters:
        return _ITERATORS[theirs]
    if module == "numpy" and name in ("errstate", "seterr"):
        return getattr(importlib.import_module("broadcloth.run._float_errors"), name)
    ours = None if name in _NUMPYS_OWN else _ours(module, name)
    if isinstance(theirs, type):
        if issubclass(theirs, (np.generic, np.dtype, BaseException)):
            return theirs  # `broadcloth.void` is a type of kernels
        if _is_our_class(ours) or (ours is not None and not isinstance(ours, type) and callable(ours)):
            return ours
        if issubclass(theirs, np.ndarray) and not _in_star_import(sys._getframe(2)):
            _fallback.note(_fallback.full_name(theirs), "its arrays are NumPy's and stay on the host")
        return theirs
    if isinstance(ours, _c.ufunc):
        return ours
    if callable(theirs):
        if name in _NUMPYS_OWN or name in _OF_FUNCTIONS or theirs is ours:
            return theirs
        if module == "numpy.rec":  # it makes record arrays of NumPy's
            return _fallback.on_copies(theirs)
        if module == "numpy" and name in _READERS:
            return _reader(theirs)
        return _c.program_function(ours, theirs) if callable(ours) else _fallback.host_function(theirs)
    if isinstance(ours, _c.ndarray):  # numpy.polynomial.polynomial.polydomain
        return ours
    # Objects that make arrays when they are indexed (r_, c_, mgrid).
    return _Indexed(ours, theirs) if ours is not None and type(ours).__module__.startswith("broadcloth") else theirs


def _reader(theirs: Callable[..., Any]) -> Callable[..., Any]:
    """A function under its own name by which NumPy reads; arrays are ours where broadcloth has their dtype."""

    @functools.wraps(theirs)
    def read(*args: Any, **kwargs: Any) -> Any:
        return _fallback.compute(theirs, args, kwargs)

    return read


class _Indexed:
    """An object of broadcloth that makes arrays when it is indexed; NumPy's is asked for what it refuses."""

    def __init__(self, ours: Any, theirs: Any) -> None:
        self._ours, self._theirs = ours, theirs
        self.__doc__ = theirs.__doc__

    def __getitem__(self, key: Any) -> Any:
        try:
            return self._ours[key]
        except _fallback._REFUSALS as error:
            reason = _fallback._first_sentence(error)
        return _fallback.on_host(self._theirs.__getitem__, reason, (key,), {})

    def __len__(self) -> int:
        return len(self._theirs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ours, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return _Indexed, (self._ours, self._theirs)


def _in_star_import(frame: FrameType) -> bool:
    """Whether a frame runs `from numpy import *`, which looks at every name."""
    code = dis.opname[frame.f_code.co_code[frame.f_lasti]] if frame.f_lasti >= 0 else ""
    return code in ("IMPORT_STAR", "CALL_INTRINSIC_1")


def _python_loop(vectorized: np.vectorize, *args: Any, **kwargs: Any) -> Any:
    return np.vectorize.__call__(vectorized, *args, **kwargs)


_python_loop.__module__, _python_loop.__qualname__ = "numpy", "vectorize"  # what reports say


class _Vectorize(np.vectorize):
    """`numpy.vectorize` of a program: any function, called by Python for each element; the results are arrays of ours. (The package's own
    `vectorize` is Numba's, which compiles the function and knows neither otypes= nor signature=.)"""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and callable(args[0]) and not callable(getattr(self, "pyfunc", None)):
            return super().__call__(*args, **kwargs)  # a decorator with options gets its function
        return _fallback.on_host(_python_loop, "it calls a function of Python for each element", (self, *args), kwargs)


def _shared(value: Any) -> Any:
    """The value with arrays of ours that lie in host memory as NumPy's over the same memory."""
    if type(value) in (list, tuple):
        return [_shared(v) for v in value]
    return np.asarray(value, copy=False) if isinstance(value, _c.ndarray) and value.device.type == "cpu" else value


def _nditer(op: Any, *args: Any, **kwargs: Any) -> np.nditer:
    """`numpy.nditer`. With `op_flags=`, which can ask for operands to write, it shares the memory of arrays on the CPU. All others are host
    copies that cannot be written, so that no change is lost without a word."""
    may_write = len(args) > 1 or kwargs.get("op_flags") is not None
    return np.nditer(_fallback.read_only(_shared(op) if may_write else op), *args, **kwargs)


def _nested_iters(op: Any, *args: Any, **kwargs: Any) -> Any:
    """`numpy.nested_iters` likewise."""
    return np.nested_iters(_fallback.read_only(op), *args, **kwargs)


# Functions that take arrays by reference and give no result to bring back.
_ITERATORS = {np.nditer: _nditer, np.nested_iters: _nested_iters}


def _face_for(module: ModuleType) -> ModuleType:
    """A module of NumPy's as a program has it. Names are looked up when they are first used. It is a plain module, not one of a derived
    class: Python's interpreter reads the attributes of plain modules several times faster."""
    face = ModuleType(module.__name__, module.__doc__)
    names = vars(face)
    names.update({k: v for k, v in vars(module).items() if k.startswith("__") and k not in ("__getattr__", "__dir__", "__builtins__")})

    def look_up(name: str) -> Any:
        value = names[name] = _chosen(module.__name__, name, getattr(module, name))
        return value

    names.update({"__getattr__": look_up, "__dir__": lambda: dir(module)})
    return face


def face_of(module: ModuleType | None) -> ModuleType:
    """The face of a module of NumPy's; the module itself where a program needs nothing else (numpy.typing)."""
    assert module is not None
    name = module.__name__
    if name not in _MODULES or module is _faces.get(name):
        return module
    if name not in _faces:
        _faces[name] = _face_for(module)
    return _faces[name]


def function_of_program(theirs: Any) -> Any:
    """What a program has for a function of NumPy's; functions are pickled by it."""
    module = sys.modules[theirs.__module__]
    return getattr(face_of(module if module.__name__ in _MODULES else np), theirs.__name__)
