"""The types of compiled functions, in Numba's spelling: `float32`, `int64[:]`, `float32(float32, float32)`.

Examples
--------
>>> from broadcloth import types
>>> types.float32[:, ::1]
array(float32, 2d, C)
>>> types.void(types.int64[:], types.float32)
void(array(int64, 1d, A), float32)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._namespace import listing


class Signature:
    """A function's types: what `float32(float32, float32)` gives."""

    def __init__(self, result: Any, arguments: tuple[Any, ...]) -> None:
        self.__kernel_result__ = self.return_type = result
        self.__kernel_arguments__ = self.args = tuple(_type(a) for a in arguments)

    def __repr__(self) -> str:
        return f"{self.return_type}({', '.join(map(str, self.args))})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Signature) and (self.return_type, self.args) == (other.return_type, other.args)

    def __hash__(self) -> int:
        return hash((self.return_type, self.args))


class Type:
    """A type: `t[:]` is an array of it, `t(a, b)` the signature of a function that returns it; on numbers it converts."""

    def __init__(self, name: Any) -> None:
        self.__kernel_type__ = name if isinstance(name, str) else ""
        if not isinstance(name, str):
            # A type that no text says: a record's, or an array of records.
            self.__kernel_handle__ = name
        self._spelling = _c.parse_type(name)

    @property
    def dtype(self) -> Any:
        """The numpy.dtype of a number's or a record's type; of an array, a list, a set or a tuple of one type the type of what it holds."""
        record = getattr(self, "_record", None)
        if self._spelling.startswith("array(") and record is not None:
            return from_dtype(record)
        return self.types[0] if self._spelling.endswith(")") and record is None else self._element

    @property
    def _element(self) -> np.dtype[Any]:
        """The numpy.dtype of a number's type, of a record's, or of an array's elements."""
        record = getattr(self, "_record", None)
        return record if record is not None else np.dtype(self._spelling.removeprefix("array(").split(",")[0])

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of a tuple's items; of a container, an array, an optional value or a pointer what it is of."""
        inside = _parts(self._spelling)
        return tuple(map(Type, inside[:1] if self._spelling.startswith("array(") else inside))

    @property
    def type(self) -> Type:
        """The type of the value that an optional value has."""
        return self._of("Optional", 0)

    @property
    def item_type(self) -> Type:
        """The type of what a `typed.List` holds."""
        return self._of(("ListType", "list"), 0)

    @property
    def key_type(self) -> Type:
        """The type of the keys of a `typed.Dict`."""
        return self._of("dict", 0)

    @property
    def value_type(self) -> Type:
        """The type of the values of a `typed.Dict`."""
        return self._of("dict", 1)

    def _of(self, heads: str | tuple[str, ...], i: int) -> Type:
        if not self._spelling.startswith(heads):
            raise AttributeError(f"the type {self} has no part of that kind")
        return self.types[i]

    @property
    def count(self) -> int:
        """How many items a tuple has."""
        return len(_parts(self._spelling)) if self._spelling.startswith("(") else 0

    @property
    def fields(self) -> Any:
        """The fields of a record's type, by their names and titles: dtypes and offsets, as a numpy.dtype has them."""
        return self._of_record.fields

    @property
    def size(self) -> int:
        """The bytes of a record."""
        return int(self._of_record.itemsize)

    def offset(self, field: str) -> int:
        """Where a field of a record's type begins."""
        return int(self.fields[field][1])

    def is_title(self, field: str) -> bool:
        """Whether a field's name is its other one, in a record's type."""
        return field in self.fields and field not in (self._of_record.names or ())

    @property
    def _of_record(self) -> np.dtype[Any]:
        if not self._spelling.startswith("Record("):
            raise AttributeError(f"the type {self} has no fields")
        return self._element

    def __len__(self) -> int:
        return len(self._of_record.names or ()) if self._spelling.startswith("Record(") else self.count

    def __bool__(self) -> bool:
        return True  # whatever the length

    def copy(self, dtype: Any = None, ndim: int | None = None, layout: str | None = None, readonly: bool | None = None) -> Type:
        """An array's type with some of its properties changed."""
        own = not self.mutable if readonly is None else readonly
        return Array(self.dtype if dtype is None else dtype, self.ndim if ndim is None else ndim, layout or self.layout, own)

    @property
    def mutable(self) -> bool:
        """Whether arrays of this type can be stored into."""
        return not self._spelling.endswith("readonly)")

    @property
    def name(self) -> str:
        return self._spelling

    @property
    def ndim(self) -> int:
        """Dimensions of an array's type; 0 of others."""
        return int(_parts(self._spelling)[1].removesuffix("d")) if self._spelling.startswith("array(") else 0

    @property
    def bitwidth(self) -> int:
        """Bits of a number's type."""
        return 8 * self._element.itemsize

    @property
    def signed(self) -> bool:
        """Whether an integer's type has negative numbers."""
        return self._spelling.startswith("int")

    @property
    def underlying_float(self) -> Type:
        """The type of a complex type's parts."""
        return Type(f"float{self.bitwidth // 2}")

    @property
    def layout(self) -> str:
        """'C', 'F' or 'A' of an array's type."""
        return self._spelling.removesuffix(", readonly)").rstrip(")").rsplit(", ", 1)[-1]

    def __iter__(self) -> Iterator[Type]:
        return iter(self.types)

    def __getitem__(self, key: Any) -> Type:
        if isinstance(key, int) and self.count:
            return self.types[key]
        parts = key if isinstance(key, tuple) else (key,)
        if not all(isinstance(p, slice) and p.start is None and p.stop is None and p.step in (None, 1) for p in parts):
            raise TypeError(f"{self}: expected slices as in {self}[:], {self}[:, ::1], got {key!r}")
        if not self.__kernel_type__:
            layout = "C" if parts[-1].step else "F" if parts[0].step else "A"
            made = Type(_c.array_handle(self.__kernel_handle__, len(parts), layout))
            made._record = self._record
            return made
        return Type(f"{self.__kernel_type__}[{', '.join('::1' if p.step else ':' for p in parts)}]")

    def __call__(self, *args: Any) -> Any:
        if len(args) == 1 and isinstance(args[0], (bool, int, float, complex, np.generic, np.ndarray)):
            return self._element.type(args[0])
        return Signature(self, args)

    def __repr__(self) -> str:
        return "void" if self.__kernel_type__ == "void" else self._spelling  # which is Numba's other name of none

    def __eq__(self, other: object) -> bool:
        # A type's text is equal to it: signatures are kept as texts. So is the class of its numbers, `broadcloth.int32`.
        if isinstance(other, type):
            return self._spelling == other.__name__ and hasattr(other, "numpy_type")
        return self._spelling == (other._spelling if isinstance(other, Type) else other)

    def __hash__(self) -> int:
        return hash(self._spelling)

    def __reduce__(self) -> Any:
        if self.__kernel_type__:
            return Type, (self.__kernel_type__,)
        return _unpickled_record, (self._record, self._spelling)


class _Composed(Type):
    """A type of a family whose parts no text says: objects of a jitclass, or a type that is told later."""

    def __init__(self, family: str, *parts: Any) -> None:
        self.__kernel_type__ = ""
        self.__kernel_parts__ = family, parts

    @property
    def _spelling(self) -> str:  # type: ignore[override]
        family, parts = self.__kernel_parts__
        inside = ", ".join(f"instance of {p.__name__}" if isinstance(p, type) else str(p) for p in parts)
        return f"({inside})" if family == "Tuple" else f"{family.replace('DictType', 'dict')}({inside})"

    @property
    def types(self) -> tuple[Any, ...]:
        return self.__kernel_parts__[1]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Composed) and self.__kernel_parts__ == other.__kernel_parts__

    def __hash__(self) -> int:
        return hash(self.__kernel_parts__)

    def __reduce__(self) -> Any:
        return _Composed, (self.__kernel_parts__[0], *self.__kernel_parts__[1])


class deferred_type(Type):
    """A type that is told later, by `define`: that of the objects of a class whose fields hold some.

    Examples
    --------
    >>> node = bc.types.deferred_type()
    >>> @bc.experimental.jitclass([("value", bc.types.int64), ("next", bc.types.optional(node))])
    ... class Node:
    ...     def __init__(self, value):
    ...         self.value = value
    ...         self.next = None
    >>> node.define(Node.class_type.instance_type)
    >>> first = Node(1)
    >>> first.next = Node(2)
    >>> first.next.value
    2
    """

    __kernel_deferred__ = True

    def __init__(self) -> None:
        self.__kernel_type__ = ""
        self._spelling = "deferred"
        self._type: Any = None

    def define(self, tp: Any) -> None:
        """Says what the type is, once."""
        if self._type is not None:
            raise TypeError("deferred_type: it is defined already")
        self._type = tp

    def get(self) -> Any:
        """The type that it was defined as."""
        if self._type is None:
            raise RuntimeError("deferred_type: it is not defined")
        return self._type

    __eq__ = object.__eq__  # type: ignore[assignment]
    __hash__ = object.__hash__


def _composed(family: str, *parts: Any) -> Type:
    """A type by its text, where its parts have one."""
    types = tuple(map(_type, parts))
    if any(isinstance(t, type | _Composed | deferred_type) for t in types):
        return _Composed(family, *types)
    if family == "Tuple":
        return Type(f"Tuple({', '.join(t.__kernel_type__ for t in types).join('()')})")
    return Type(f"{family}({', '.join(t.__kernel_type__ for t in types)})")


def _parts(spelling: str) -> list[str]:
    """What a spelling such as `dict(int64, array(float64, 1d, C))` has between its outer parentheses."""
    inside, depth, parts = spelling[spelling.find("(") + 1 : -1], 0, [""]
    for c in inside:
        depth += (c == "(") - (c == ")")
        if c == "," and not depth:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p]


def _type(o: Any) -> Any:
    if isinstance(o, np.dtype) and o.fields:
        return from_dtype(o)
    if isinstance(o, type) and hasattr(o, "__jitclass_fields__"):
        return o
    return o if isinstance(o, Type) or o is None else Type(o) if isinstance(o, str) else Type(_c.parse_type(o))


def from_dtype(dtype: Any) -> Type:
    """The type of a NumPy dtype: a number's, or a record's.

    Examples
    --------
    >>> point = bc.types.from_dtype(np.dtype([("x", "f4"), ("n", "i4")]))
    >>> point[:]
    array(Record(x: float32, n: int32), 1d, A)
    >>> @bc.cuda.jit(bc.types.void(point[:]))
    ... def move(points):
    ...     points[0].x += points[0].n
    """
    dtype = np.dtype(dtype)
    if dtype.subdtype is not None:
        return NestedArray(*dtype.subdtype)
    if not dtype.fields:
        return Type(_c.parse_type(dtype))
    made = Type(_c.annotation_handle(dtype))
    made._record = dtype
    return made


def _unpickled_record(dtype: np.dtype[Any], spelling: str) -> Type:
    """A record's type, or that of an array of records, of its pickled text."""
    made = from_dtype(dtype)
    if spelling.startswith("array("):
        _, ndim, layout, *readonly = _parts(spelling)
        made = Array(made, int(ndim[:-1]), layout, bool(readonly))
    return made


def Tuple(items: Any) -> Type:
    """The type of a tuple of several types."""
    return _composed("Tuple", *items)


def UniTuple(dtype: Any, count: int) -> Type:
    """The type of a tuple of `count` values of one type."""
    return Tuple((dtype,) * count) if isinstance(_type(dtype), type | _Composed | deferred_type) else Type(
        f"UniTuple({_type(dtype).__kernel_type__}, {count})"
    )


def Array(dtype: Any, ndim: int, layout: str = "A", readonly: bool = False) -> Type:
    """The type of an array of some rank and layout."""
    element = _type(dtype)
    if not element.__kernel_type__:
        made = Type(_c.array_handle(element.__kernel_handle__, ndim, layout, readonly))
        made._record = element._record
        return made
    return Type(f"array({_type(dtype).__kernel_type__}, {ndim}d, {layout}{', readonly' if readonly else ''})")


def NPDatetime(unit: str = "") -> Type:
    """A date, ticks of `unit` ("D", "15m") since 1970: NumPy's datetime64."""
    return Type(f"datetime64[{unit}]" if unit else "datetime64")


def NPTimedelta(unit: str = "") -> Type:
    """A time difference in ticks of `unit`: NumPy's timedelta64."""
    return Type(f"timedelta64[{unit}]" if unit else "timedelta64")


def NestedArray(dtype: Any, shape: tuple[int, ...]) -> Type:
    """The type of a record's field that is an array: nested tuples of a fixed number of items."""
    made = _type(dtype)
    for extent in reversed(shape):
        made = UniTuple(made, extent)
    return made


def make_c_struct(fields: Any) -> Type:
    """The type of a C structure: its fields by name and type, where a C compiler puts them."""

    def dtype(t: Any) -> Any:
        t = _type(t)
        return (dtype(t.dtype), (t.count,)) if t.count else t._element

    return from_dtype(np.dtype([(name, dtype(t)) for name, t in fields], align=True))


def Optional(dtype: Any) -> Type:
    """The type of a value or None.

    Examples
    --------
    >>> bc.optional(bc.types.float64)
    Optional(float64)
    """
    return _composed("Optional", dtype)


def List(dtype: Any, reflected: bool = True) -> Type:
    """The type of a list."""
    return _composed("list", dtype)


def Set(dtype: Any, reflected: bool = True) -> Type:
    """The type of a set."""
    return _composed("set", dtype)


def CPointer(dtype: Any) -> Type:
    """The type of a pointer: of functions in C (`ctypes`, `cuda.declare_device`) and of functions that C calls (`cfunc`)."""
    return Type(f"CPointer({_type(dtype).__kernel_type__})")


def ListType(dtype: Any) -> Type:
    """The type of a `typed.List`."""
    return _composed("ListType", dtype)


def DictType(key: Any, value: Any) -> Type:
    """The type of a `typed.Dict`."""
    return _composed("DictType", key, value)


def MemoryView(dtype: Any, ndim: int, layout: str = "C") -> Type:
    """The type of a memoryview: that of an array of its elements."""
    return Array(dtype, ndim, layout)


class _Family:
    """Types of one kind: called it makes one, and isinstance(t, family) asks for the kind, as in `extending.overload`."""

    def __init__(self, holds: Any, make: Any = None) -> None:
        self._holds = holds
        self._make = make
        if make is not None:
            self.__doc__ = make.__doc__
            self.__name__ = make.__name__

    def __call__(self, *args: Any, **keywords: Any) -> Type:
        if self._make is None:
            raise TypeError("this family of types only tells which types are in it; name one, as types.int64")
        return self._make(*args, **keywords)

    def __instancecheck__(self, t: object) -> bool:
        return isinstance(t, Type) and self._holds(t.name)


def _starts(*heads: str) -> Any:
    return lambda name: name.startswith(heads)


Array = _Family(_starts("array("), Array)  # type: ignore[misc, assignment]
ListType = _Family(_starts("ListType", "list("), ListType)  # type: ignore[misc, assignment]
DictType = _Family(_starts("dict("), DictType)  # type: ignore[misc, assignment]
List = _Family(_starts("list("), List)  # type: ignore[misc, assignment]
Set = _Family(_starts("set("), Set)  # type: ignore[misc, assignment]
optional = Optional = _Family(_starts("Optional"), Optional)  # type: ignore[misc, assignment]
Tuple = _Family(_starts("(", "Tuple", "UniTuple"), Tuple)  # type: ignore[misc, assignment]
UniTuple = _Family(_starts("(", "UniTuple"), UniTuple)  # type: ignore[misc, assignment]
BaseTuple = _Family(_starts("(", "Tuple", "UniTuple"))
Record = _Family(_starts("Record("))
Record.make_c_struct = make_c_struct  # type: ignore[attr-defined]
Integer = _Family(_starts("int", "uint"))
Float = _Family(_starts("float", "bfloat"))
Complex = _Family(_starts("complex"))
Number = _Family(_starts("int", "uint", "float", "bfloat", "complex"))
Boolean = _Family(_starts("bool"))
UnicodeType = _Family(_starts("unicode_type", "str"))
NoneType = _Family(_starts("none"), lambda name="none": Type("none"))

_NAMES = """
    unicode_type boolean bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 complex64 complex128
    void none b1 i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 intp uintp intc uintc int_ uint float_ double byte char uchar short ushort
    long_ ulong longlong ulonglong ssize_t size_t half single voidptr
"""
globals().update({name: Type(name) for name in _NAMES.split()})
string = Type("unicode_type")
# Numba's sets of types.
signed_domain = frozenset(Type(f"int{n}") for n in (8, 16, 32, 64))
unsigned_domain = frozenset(Type(f"uint{n}") for n in (8, 16, 32, 64))
integer_domain = signed_domain | unsigned_domain
real_domain = frozenset(Type(f"float{n}") for n in (32, 64))
complex_domain = frozenset(Type(f"complex{n}") for n in (64, 128))
number_domain = integer_domain | real_domain | complex_domain

_CLASSES = ["Array", "BaseTuple", "Boolean", "Complex", "CPointer", "DictType", "Float", "from_dtype", "Integer", "List", "ListType",
            "MemoryView", "NestedArray", "NoneType", "NPDatetime",
            "NPTimedelta", "Number", "Optional", "optional", "Record", "Set", "Signature", "Tuple", "Type",
            "UnicodeType", "UniTuple", "deferred_type",
            "signed_domain", "unsigned_domain", "integer_domain", "real_domain", "complex_domain",
            "number_domain"]  # fmt: skip
__all__ = sorted([*_CLASSES, *_NAMES.split(), "string"])


def typeof(value: Any) -> Type:
    """The type that a compiled function sees in an argument.

    Examples
    --------
    >>> bc.types.typeof(3.0)
    float64
    """
    if hasattr(type(value), "__jitclass_fields__"):
        return type(value)  # type: ignore[return-value]
    spelling = _c.typeof(value)
    dtype = getattr(value, "dtype", None)
    return _unpickled_record(dtype, spelling) if isinstance(dtype, np.dtype) and dtype.fields else Type(spelling)

__dir__ = listing(__all__)
