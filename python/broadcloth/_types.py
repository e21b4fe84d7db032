"""Element types, constants and the functions that ask about types."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _broadcloth as _c

if TYPE_CHECKING:
    from .types import Type
    from .typing import ArrayLike, DTypeLike


_NUMBERS = frozenset((float, int, bool, complex))


class _ScalarType(type):
    """NumPy's scalar types, with Numba's spelling of declarations: `float32[:]` is an array type, `float32(int64, float32)` a signature.

    In everything else the classes are NumPy's: they are equal to them, make their objects, and their objects are instances.
    """

    def __getitem__(cls, key: Any) -> Any:
        from .types import Type

        return Type(cls.__name__)[key]

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and type(args[0]) in _NUMBERS and not kwargs:  # the usual call, without a look at its argument
            return cls.numpy_type(args[0])  # type: ignore[attr-defined]
        if args and all(isinstance(a, type) or a is None or hasattr(a, "__kernel_type__") for a in args):
            from .types import Signature, Type

            return Signature(Type(cls.__name__), args)
        return cls._numpy(*args, **kwargs)

    @property
    def _numpy(cls) -> Any:
        return cls.__mro__[1]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._numpy)

    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, cls._numpy)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is cls._numpy or NotImplemented  # a type of broadcloth.types knows its class

    def __hash__(cls) -> int:
        return hash(cls._numpy)

    def __repr__(cls) -> str:
        return f"<class 'broadcloth.{cls.__name__}'>"


def _scalar(name: str) -> Any:
    theirs = getattr(np, name)
    made = _ScalarType(name, (theirs,), {"__slots__": (), "__module__": "broadcloth", "__doc__": theirs.__doc__, "numpy_type": theirs})
    _c.name_dtype(made, name)
    return made


bool_ = np.bool_
if TYPE_CHECKING:

    class _Declared(type):
        def __getitem__(cls, key: Any) -> Type: ...

    class _Scalar:
        # A number of the type, or with types for arguments a signature.
        def __new__(cls, *args: Any) -> Any: ...

    class int8(_Scalar, np.int8, metaclass=_Declared): ...  # type: ignore[misc]

    class int16(_Scalar, np.int16, metaclass=_Declared): ...  # type: ignore[misc]

    class int32(_Scalar, np.int32, metaclass=_Declared): ...  # type: ignore[misc]

    class int64(_Scalar, np.int64, metaclass=_Declared): ...  # type: ignore[misc]

    class uint8(_Scalar, np.uint8, metaclass=_Declared): ...  # type: ignore[misc]

    class uint16(_Scalar, np.uint16, metaclass=_Declared): ...  # type: ignore[misc]

    class uint32(_Scalar, np.uint32, metaclass=_Declared): ...  # type: ignore[misc]

    class uint64(_Scalar, np.uint64, metaclass=_Declared): ...  # type: ignore[misc]

    class float16(_Scalar, np.float16, metaclass=_Declared): ...  # type: ignore[misc]

    class float32(_Scalar, np.float32, metaclass=_Declared): ...  # type: ignore[misc]

    class float64(_Scalar, np.float64, metaclass=_Declared): ...  # type: ignore[misc]

    class complex64(_Scalar, np.complex64, metaclass=_Declared): ...  # type: ignore[misc]

    class complex128(_Scalar, np.complex128, metaclass=_Declared): ...  # type: ignore[misc]

else:
    int8, int16, int32, int64 = map(_scalar, ("int8", "int16", "int32", "int64"))
    uint8, uint16, uint32, uint64 = map(_scalar, ("uint8", "uint16", "uint32", "uint64"))
    float16, float32, float64 = map(_scalar, ("float16", "float32", "float64"))
    complex64, complex128 = map(_scalar, ("complex64", "complex128"))
half, single, double, csingle, cdouble = float16, float32, float64, complex64, complex128
byte, ubyte, short, ushort, intc, uintc = int8, uint8, int16, uint16, int32, uint32
int_, intp, uint, uintp, longlong, ulonglong = int64, int64, uint64, uint64, np.longlong, np.ulonglong
bfloat16 = _c.bfloat16
float8_e4m3fn, float8_e5m2 = _c.float8_e4m3fn, _c.float8_e5m2
_OWN = (bfloat16, float8_e4m3fn, float8_e5m2)  # types that NumPy knows only with ml_dtypes

generic, number, integer, signedinteger, unsignedinteger = np.generic, np.number, np.integer, np.signedinteger, np.unsignedinteger
inexact, floating, complexfloating = np.inexact, np.floating, np.complexfloating

pi, e, inf, nan, euler_gamma = math.pi, math.e, math.inf, math.nan, np.euler_gamma
newaxis = None
little_endian = True

dtype = np.dtype
iinfo = np.iinfo
issubdtype = np.issubdtype
result_type = _c.result_type
promote_types = _c.promote_types
can_cast = _c.can_cast


class _OwnInfo:
    """Machine limits of a type that NumPy does not have, with the attributes of numpy.finfo."""

    def __init__(self, dtype: Any, exponent: int, mantissa: int, bias: int, largest: float, resolution: float) -> None:
        self.dtype = dtype
        self.bits = 8 * dtype.itemsize
        self.nmant, self.nexp, self.iexp = mantissa, exponent, exponent
        self.precision = round(mantissa * math.log10(2))
        self.resolution = resolution
        self.eps, self.epsneg = 2.0**-mantissa, 2.0 ** (-mantissa - 1)
        self.max, self.min = largest, -largest
        self.tiny = self.smallest_normal = 2.0 ** (1 - bias)
        self.smallest_subnormal = 2.0 ** (1 - bias - mantissa)
        self.maxexp, self.minexp = math.frexp(largest)[1], 1 - bias
        self.machep, self.negep = -mantissa, -mantissa - 1

    def __repr__(self) -> str:
        return f"finfo(resolution={self.resolution}, min={self.min:.7g}, max={self.max:.7g}, dtype={self.dtype.name})"


def _own_type(dtype: Any) -> Any:
    """The type among those that NumPy does not have; None for others."""
    return next((own for own in _OWN if own is dtype or (not isinstance(dtype, (float, str)) and own == dtype) or dtype == own.name), None)


# The limits of types that were asked for, by their names, classes or dtypes.
_INFOS: dict[Any, Any] = {}


def finfo(dtype: DTypeLike | _c.ndarray) -> Any:
    """Machine limits of a floating-point type, or of an array's type.

    Parameters
    ----------
    dtype : dtype, type or ndarray
        float8_e4m3fn, float8_e5m2, float16, bfloat16, float32, float64, or a complex type (its real part counts).

    Raises
    ------
    ValueError
        The type is not a floating-point one.

    Examples
    --------
    >>> bool(bc.finfo(bc.float32).eps == 2.0**-23)
    True
    >>> bc.finfo(bc.bfloat16).eps
    0.0078125
    """
    if isinstance(dtype, _c.ndarray):
        dtype = dtype.dtype
    if type(dtype) is str or type(dtype) is type or isinstance(dtype, np.dtype):
        if (known := _INFOS.get(dtype)) is None:
            known = _INFOS[dtype] = _info(dtype)
        return known
    return _info(dtype)


def _info(found: Any) -> Any:
    own = _own_type(found)
    if own is bfloat16:
        return _OwnInfo(own, 8, 7, 127, (2 - 2.0**-7) * 2.0**127, 0.01)
    if own is float8_e4m3fn:
        return _OwnInfo(own, 4, 3, 7, 448.0, 0.1)
    if own is float8_e5m2:
        return _OwnInfo(own, 5, 2, 15, 57344.0, 0.1)
    return np.finfo(found)


def isdtype(dtype: DTypeLike, kind: Any) -> bool:
    """Tells whether a type is of a kind: a type, a kind's name ('bool', 'signed integer', 'real floating', 'numeric' …) or a tuple of them.

    Examples
    --------
    >>> bc.isdtype(bc.float32, "real floating")
    True
    """
    if (own := _own_type(dtype)) is not None:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        return any(k in ("real floating", "numeric") if isinstance(k, str) and k != own.name else own == k for k in kinds)
    return np.isdtype(_c.get_dtype(dtype), kind)


def common_type(*arrays: ArrayLike) -> Any:
    """The inexact scalar type that holds all the arrays; integers count as float64.

    Examples
    --------
    >>> bc.common_type(bc.ones(2, bc.float32), bc.ones(2, bc.complex64)).__name__
    'complex64'
    """
    found = [_c.asarray(a).dtype for a in arrays]
    if any(t.kind == "b" for t in found):
        raise TypeError("common_type: expected arrays of numbers, got bool")
    wide = [np.dtype(np.float64) if t.kind in "iu" else t for t in found]
    if not wide:
        return np.float16
    together = _c.result_type(*wide)
    return together if _own_type(together) is not None else together.type


def min_scalar_type(a: ArrayLike) -> Any:
    """The smallest type that holds a scalar's value; an array's own type.

    Examples
    --------
    >>> bc.min_scalar_type(300)
    dtype('uint16')
    """
    return a.dtype if isinstance(a, _c.ndarray) and a.ndim else np.min_scalar_type(a.get() if isinstance(a, _c.ndarray) else a)  # type: ignore[arg-type]


def iscomplexobj(x: Any) -> bool:
    """Tells whether the type of `x` is complex, whatever its values are.

    Examples
    --------
    >>> bc.iscomplexobj(bc.zeros(2, bc.complex64))
    True
    """
    return x.dtype.kind == "c" if isinstance(x, _c.ndarray) else bool(np.iscomplexobj(x))


def isrealobj(x: Any) -> bool:
    """Tells whether the type of `x` is not complex.

    Examples
    --------
    >>> bc.isrealobj(bc.zeros(2))
    True
    """
    return not iscomplexobj(x)


def isscalar(element: object) -> bool:
    """Tells whether `element` is a scalar; arrays, 0-d ones too, are not.

    Examples
    --------
    >>> bc.isscalar(3.0), bc.isscalar(bc.array(3.0))
    (True, False)
    """
    return type(element) in _NUMBERS or (not isinstance(element, _c.ndarray) and bool(np.isscalar(element)))
