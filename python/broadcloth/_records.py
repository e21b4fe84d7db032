"""Arrays of records (structured dtypes): bytes on a device, whose fields are views as arrays of numbers."""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from . import _broadcloth as _c
from ._broadcloth import ndarray

__all__ = ["RecordArray"]


def _contiguous(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= max(extent, 1)
    return tuple(reversed(strides))


def _layout(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> str:
    for letter, order in (("C", -1), ("F", 1)):
        expected = itemsize
        for extent, stride in list(zip(shape, strides))[::order]:
            if extent != 1 and stride != expected:
                break
            expected *= extent
        else:
            return letter
    return "A"


def _fields(dtype: np.dtype[Any]) -> list[tuple[str, np.dtype[Any], int]]:
    """Name, dtype and offset of each field."""
    if dtype.names is None or dtype.fields is None:
        raise TypeError(f"records: expected a dtype with fields, got {dtype}")
    return [(name, dtype.fields[name][0], dtype.fields[name][1]) for name in dtype.names]


def _struct(names: Sequence[str], formats: Sequence[Any], offsets: Sequence[int], itemsize: int) -> np.dtype[Any]:
    spec: Any = {"names": list(names), "formats": list(formats), "offsets": list(offsets), "itemsize": itemsize}
    return np.dtype(spec)


def _native(dtype: np.dtype[Any], texts: bool = False) -> np.dtype[Any]:
    """The dtype in native byte order. TypeError for fields that broadcloth has no arrays of; fields of texts may be allowed."""
    if dtype.names is not None:
        fields = _fields(dtype)
        same = _struct(dtype.names, [_native(t, texts) for _, t, _ in fields], [at for _, _, at in fields], dtype.itemsize)
        return dtype if same == dtype else same
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return np.dtype((_native(base, texts), shape))
    native = dtype if dtype.isnative else dtype.newbyteorder("=")
    if not (texts and _is_text(native)):
        _c.get_dtype(native)
    return native


def _is_text(dtype: np.dtype[Any]) -> bool:
    """Whether a field holds characters or bytes. Records on a device (`cuda.to_device`) have them, and NumPy's arrays show them."""
    return dtype.kind in "SU"


def _holds_texts(dtype: np.dtype[Any]) -> bool:
    return any(_holds_texts(t.base) if t.base.names is not None else _is_text(t.base) for _, t, _ in _fields(dtype))


def _placed(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], int]:
    """The dtype with each number at a multiple of its size, and the alignment that it needs so."""
    if dtype.subdtype is not None:
        base, alignment = _placed(dtype.subdtype[0])
        return np.dtype((base, dtype.subdtype[1])), alignment
    if dtype.names is None:
        return dtype, dtype.alignment if _is_text(dtype) else dtype.itemsize
    fields = [(name, *_placed(t), at) for name, t, at in _fields(dtype)]
    alignment = max((a for _, _, a, _ in fields), default=1)
    same = all(t == dtype[name] and at % a == 0 for name, t, a, at in fields)
    if same and dtype.itemsize % alignment == 0:
        return dtype, alignment
    end, offsets = 0, []
    for _, t, a, _ in fields:
        end = -(-end // a) * a
        offsets.append(end)
        end += t.itemsize
    made = _struct([f[0] for f in fields], [f[1] for f in fields], offsets, max(-(-end // alignment) * alignment, alignment))
    return made, alignment


def _overlaps(dtype: np.dtype[Any]) -> bool:
    ends = sorted((at, at + t.itemsize) for _, t, at in _fields(dtype))
    return any(a[1] > b[0] for a, b in pairwise(ends)) or any(t.names is not None and _overlaps(t) for _, t, _ in _fields(dtype))


def _has_gaps(dtype: np.dtype[Any]) -> bool:
    """Whether records have bytes of no field: what lies there may be another array's, of which this one shows some fields."""
    base = dtype.base
    if base.names is None:
        return False
    fields = _fields(base)
    return sum(t.itemsize for _, t, _ in fields) < base.itemsize or any(_has_gaps(t) for _, t, _ in fields)


def _on_host(value: Any) -> Any:
    """What is assigned, with records in tuples and lists as NumPy's."""
    if type(value) in (tuple, list):
        return type(value)(map(_on_host, value))
    return value.copy_to_host()[()] if isinstance(value, RecordArray) else value


def _ours(made: Any, device: Any) -> Any:
    """A result of NumPy's as arrays of ours."""
    if isinstance(made, tuple):
        return tuple(_ours(m, device) for m in made)
    if not isinstance(made, np.ndarray):
        return made
    return records(made, device=device) if made.dtype.names is not None else _c.asarray(made, device=device)


def _bytes_of(host: np.ndarray, device: Any) -> ndarray:
    return _c.asarray(np.ascontiguousarray(host).reshape(-1).view(np.uint8), device=device)


class _Flags:
    """What `flags` of records says, as numpy.ndarray.flags."""

    __slots__ = ("_known",)

    def __init__(self, records: RecordArray) -> None:
        # NumPy's flags of an array that lies so; nobody reads its elements.
        layout = np.lib.stride_tricks.as_strided(np.empty(1, f"V{records._stored.itemsize}"), records.shape, records.strides)
        object.__setattr__(self, "_known", layout.flags)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def __getitem__(self, name: str) -> bool:
        return bool(self._known[name])

    def __repr__(self) -> str:
        return repr(self._known)

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "writeable" or not value:
            raise ValueError(f"flags: records can always be written; {name} = {value!r} cannot be kept, copy() what must stay as it is")

    def __setitem__(self, name: str, value: Any) -> None:
        setattr(self, {"W": "writeable"}.get(name, name.lower()), value)


# So many records are read one by one before memory is shared with NumPy.
_FEW = 8


def _in_program() -> bool:
    """Whether a program that imports NumPy runs, where numbers of records are NumPy's."""
    imports = sys.modules.get("broadcloth.run._imports")
    return imports is not None and imports._owner is not None


# Methods that NumPy computes on a copy.
_BY_NUMPY = {"byteswap", "choose", "compress", "diagonal", "nonzero", "repeat", "searchsorted"}
# Methods that change the copy, which is then written back.
_IN_PLACE_BY_NUMPY = {"partition", "put"}


class RecordArray:
    """An array of a structured dtype on a device. Its fields are views: arrays of numbers over the same memory.

    `zeros`, `empty`, `array` and `asarray` give one where the dtype has fields. Kernels read and write it.

    Parameters
    ----------
    shape : int or tuple of int
    dtype : structured dtype
        Where a number does not lie at a multiple of its size, its field is a copy that cannot be written; `zeros` and `array` place the
        numbers in memory so that it does, and give NumPy the dtype that was asked for.

    Raises
    ------
    TypeError
        The dtype has no fields, or a field holds strings, objects or longdouble, which stay on the host.

    Examples
    --------
    >>> a = bc.array([(1, 2.5), (3, 4.5)], dtype=[("n", "i4"), ("x", "f8")])
    >>> a["x"] *= 2
    >>> a[a["n"] > 1]
    array([(3, 9.)], dtype=[('n', '<i4'), ('x', '<f8')])
    >>> from broadcloth import cuda
    >>> @cuda.jit
    ... def move(p, dt):
    ...     i = cuda.grid(1)
    ...     if i < p.size:
    ...         p[i].x += dt * p[i].v
    >>> particles = cuda.RecordArray.of(np.array([(0.0, 1.0), (1.0, 3.0)], dtype=[("x", "f8"), ("v", "f8")]))
    >>> move[1, 32](particles, 0.5)
    >>> particles.copy_to_host()["x"]
    array([0.5, 2.5])
    """

    __slots__ = ("__weakref__", "_bytes", "_host", "_offset", "_owner", "_reads", "_stored", "_views", "dtype", "shape", "strides")
    __array_priority__ = 100.0
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self,
        shape: int | tuple[int, ...],
        dtype: Any,
        buffer: Any = None,
        offset: int = 0,
        strides: tuple[int, ...] | None = None,
        device: Any = None,
        *,
        stored: Any = None,
    ) -> None:
        given = np.dtype(dtype)
        if given.names is None:
            raise TypeError(f"RecordArray: expected a structured dtype, got {given}")
        given = _native(given, texts=True)
        stored = given if stored is None else stored  # how the records lie in memory
        extents = (int(shape),) if not isinstance(shape, tuple) else tuple(int(n) for n in shape)
        if buffer is None:
            buffer = _c.empty(prod(extents) * stored.itemsize, dtype="uint8", device=device)
        self._lie(given, stored, extents, _contiguous(extents, stored.itemsize) if strides is None else tuple(strides), buffer, offset)

    def _lie(self, dtype: Any, stored: Any, shape: tuple[int, ...], strides: tuple[int, ...], data: Any, offset: int) -> None:
        """Sets where the records lie."""
        for name, value in zip(_PLACE, (dtype, stored, shape, strides, data, offset), strict=True):
            _SLOTS[name](self, value)
        _SLOTS["_views"](self, {})  # the views of fields that were asked for, by their names in memory
        _SLOTS["_host"](self, None)  # see _share()
        _SLOTS["_reads"](self, 0)

    @property
    def _parts(self) -> tuple[Any, ...]:
        """What kernels read."""
        offset, data = self._offset, self._bytes
        layout = _layout(self.shape, self.strides, self._stored.itemsize)
        return (data[offset:] if offset else data, self._stored, self.shape, self.strides, layout)

    @classmethod
    def of(cls, host: Any, device: Any = None) -> RecordArray:
        """A copy of a NumPy array of records, which lie in memory as there."""
        made = cls(np.shape(host), np.asarray(host).dtype, device=device)
        made.copy_to_device(host)
        return made

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def itemsize(self) -> int:
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> Any:
        return self._bytes.device

    @property
    def T(self) -> RecordArray:
        return self.transpose()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        interface = dict(self._parts[0].__cuda_array_interface__)
        interface.update(shape=self.shape, typestr=self._stored.str, descr=self._stored.descr, strides=self.strides)
        return interface

    @property
    def flags(self) -> _Flags:
        return _Flags(self)

    def setflags(self, write: bool | None = None, align: bool | None = None, uic: bool | None = None) -> None:
        if write is not None:
            self.flags.writeable = write

    def is_c_contiguous(self) -> bool:
        return _layout(self.shape, self.strides, self._stored.itemsize) == "C"

    # ---- Bytes ----

    def _like(self, shape: Sequence[int], offset: int, strides: Sequence[int]) -> RecordArray:
        made: RecordArray = object.__new__(type(self))
        made._lie(self.dtype, self._stored, tuple(shape), tuple(strides), self._bytes, offset)
        return made

    def _over(self, data: ndarray) -> RecordArray:
        """Records of the same dtype over new bytes, which are the last axis."""
        return type(self)(data.shape[:-1], self.dtype, _c.asarray(data, order="C").reshape(-1), stored=self._stored)

    def _numbers(self, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> ndarray:
        """A view of the bytes of numbers, as one more axis."""
        return _c.as_strided(self._bytes[offset:], (*shape, itemsize), (*strides, 1))

    def _octets(self) -> ndarray:
        return self._numbers(self._offset, self.shape, self.strides, self._stored.itemsize)

    def _to_octets(self, value: Any) -> ndarray:
        """The bytes of what is assigned, with an axis of one record's bytes at the end."""
        if isinstance(value, RecordArray):
            if value._stored == self._stored and value.dtype == self.dtype:
                return value._octets()
            value = value.copy_to_host()
        host = np.array(_on_host(value), dtype=self.dtype)
        return _bytes_of(host.astype(self._stored), self.device).reshape(*host.shape, self._stored.itemsize)

    # ---- Host ----

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """A NumPy array with the records; `ary` is written when it is given."""
        data = _c.asarray(self._octets(), order="C").get()
        host = data.reshape(-1).view(self._stored).reshape(self.shape) if self.size else np.empty(self.shape, self._stored)
        if ary is None:
            return host if self._stored == self.dtype else host.astype(self.dtype)
        ary[...] = host
        return ary

    def get(self, stream: Any = None, order: str = "C", out: np.ndarray | None = None) -> np.ndarray:
        return self.copy_to_host(out)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Writes the records of a NumPy array, or of another array on a device."""
        if not isinstance(ary, RecordArray):
            ary = np.asarray(ary, self.dtype)
        if ary.shape != self.shape:
            raise ValueError(f"copy_to_device: expected an array of shape {self.shape}, got {ary.shape}")
        if self.size:
            self._octets()[...] = self._to_octets(ary)

    def tolist(self) -> Any:
        return self.copy_to_host().tolist()

    def tofile(self, fid: Any, sep: str = "", format: str = "%s") -> None:
        self.copy_to_host().tofile(fid, sep, format)

    def tobytes(self, order: Any = "C") -> bytes:
        return self.copy_to_host().tobytes(order)

    def item(self, *args: Any) -> Any:
        return self.copy_to_host().item(*args)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError("__array__: expected copy=None or True for an array of records, got copy=False")
        host = self.copy_to_host()
        return host if dtype is None else host.astype(dtype)

    def __reduce__(self) -> Any:
        return _unpickled, (self.copy_to_host(),)

    def __repr__(self) -> str:
        host = self.copy_to_host()
        return repr(host) if self.shape else repr(host[()])

    def __str__(self) -> str:
        return str(self.copy_to_host())

    # ---- Fields and elements ----

    def _stored_name(self, name: str) -> str:
        """The field's name in the dtype of the memory, which keeps its names when fields get others (`a.dtype.names = ...`)."""
        names = self.dtype.names or ()
        if name not in names:
            raise ValueError(f"no field of name {name}")
        return (self._stored.names or ())[names.index(name)]

    def _field(self, name: str) -> Any:
        """What `self[name]` is: a view of the field, of one record's number a copy, as an element of an array is."""
        view = self._view_of_field(name)
        return view.reshape(1)[0] if isinstance(view, (ndarray, np.ndarray)) and view.ndim == 0 else view

    def _view_of_field(self, name: str) -> Any:
        place = self._stored_name(name)
        known = self._views.get(place)
        if known is not None:
            return known.view()
        logical, stored = self.dtype[name], self._stored[place]
        assert self._stored.fields is not None
        offset = self._offset + self._stored.fields[place][1]
        shape, strides, base, own = self.shape, self.strides, stored, logical
        if stored.subdtype is not None and logical.subdtype is not None:
            base, extents = stored.subdtype
            own = logical.subdtype[0]
            shape, strides = shape + extents, strides + _contiguous(extents, base.itemsize)
        if base.names is not None:
            return type(self)(shape, own, self._bytes, offset, strides, stored=base)
        if prod(shape) == 0:
            return np.empty(shape, base) if _is_text(base) else _c.empty(shape, base, device=self.device)
        octets = self._numbers(offset, shape, strides, base.itemsize)
        if _is_text(base):
            texts = octets.get().view(base)[..., 0]
            texts.flags.writeable = False
            return texts
        if all(n % base.itemsize == 0 for n in (offset, *strides)):
            view = self._views[place] = octets.view(base)[..., 0]
            return view.view()
        # No view of numbers lies across their places in memory.
        copied = octets.copy().view(base)[..., 0]
        copied.flags.writeable = False
        return copied

    def _set_field(self, name: str, value: Any) -> None:
        field = self._view_of_field(name)
        if isinstance(field, RecordArray) or field.flags.writeable:
            field[...] = value
            return
        assert self._stored.fields is not None
        place = self._stored_name(name)
        base = self._stored[place].base
        extents = field.shape[self.ndim :]
        octets = self._numbers(
            self._offset + self._stored.fields[place][1], field.shape, self.strides + _contiguous(extents, base.itemsize), base.itemsize
        )
        if _is_text(base):
            texts = np.array(np.broadcast_to(np.asarray(value, base), field.shape), order="C")
            octets[...] = texts.reshape(*field.shape, 1).view("uint8")
            return
        given = _c.broadcast_to(_c.asarray(value, device=self.device).astype(base), field.shape)
        octets[...] = _c.asarray(given, order="C").reshape(*field.shape, 1).view("uint8")

    def _basic(self, key: Any) -> RecordArray | None:
        """The view of a basic index; None for others."""
        keys = list(key) if isinstance(key, tuple) else [key]
        if any(not (k is None or k is Ellipsis or isinstance(k, slice) or (hasattr(k, "__index__") and np.ndim(k) == 0)) for k in keys):
            return None
        if any(isinstance(k, (bool, np.bool_)) for k in keys):
            return None
        given = sum(k is not None and k is not Ellipsis for k in keys)
        if given > self.ndim:
            raise IndexError(f"too many indices for array: array is {self.ndim}-dimensional, but {given} were indexed")
        rest = [slice(None)] * (self.ndim - given)
        at = next((i for i, k in enumerate(keys) if k is Ellipsis), None)
        keys = [*keys, *rest] if at is None else [*keys[:at], *rest, *keys[at + 1 :]]
        if any(k is Ellipsis for k in keys):
            raise IndexError("an index can only have a single ellipsis ('...')")
        offset, shape, strides, axis = self._offset, [], [], 0
        for k in keys:
            if k is None:
                shape.append(1)
                strides.append(0)
                continue
            extent, stride = self.shape[axis], self.strides[axis]
            if isinstance(k, slice):
                start, stop, step = k.indices(extent)
                count = len(range(start, stop, step))
                offset += start * stride if count else 0
                shape.append(count)
                strides.append(step * stride)
            else:
                k = k.__index__()
                if not -extent <= k < extent:
                    raise IndexError(f"index {k} is out of bounds for axis {axis} with size {extent}")
                offset += (k % extent) * stride
            axis += 1
        return self._like(shape, offset, strides)

    def _place(self, key: Any) -> Any:
        """The name of the field that a number stands for in one record, as in `row[0]`; other keys as they are."""
        if self.shape or isinstance(key, (str, list, bool)) or not hasattr(key, "__index__"):
            return key
        names = self.dtype.names or ()
        at = operator.index(key)
        if not -len(names) <= at < len(names):
            raise IndexError("invalid index")
        return names[at]

    def _share(self) -> bool:
        """Where a program reads one record after the other, `_host` becomes NumPy's array over the memory, which reads them faster. The
        engine runs at once what reads and writes memory that is shared so; hence the first few records are read without it."""
        if self._host is None and self.ndim == 1 and self.device.type == "cpu" and self._stored.names == self.dtype.names and _in_program():
            memory = np.asarray(self._bytes, copy=False)
            _set_host(self, np.ndarray(self.shape, self._stored, memory, self._offset, self.strides))
            _set_owner(self, self.dtype.names)  # with other names NumPy's array is not asked
        return self._host is not None and self.dtype.names is self._owner

    def _record(self, record: Any, place: Any) -> RecordArray:
        """One record, which NumPy has read; where it lies is computed when it is asked for."""
        made: RecordArray = _new(type(self))
        _set_host(made, record)
        _set_owner(made, (self, place))
        return made

    def __getitem__(self, key: Any) -> Any:
        host = self._host
        if type(host) is np.void:
            if type(key) is str:
                try:
                    value = host[key]
                except ValueError:  # the field has got another name
                    value = None
                if value is not None and not isinstance(value, (np.void, np.ndarray)):
                    return value
        elif host is not None and (type(key) is int or type(key) is np.int64) and self.dtype.names is self._owner:
            return self._record(host[key], key)
        key = self._place(key)
        if isinstance(key, str):
            return self._field(key)
        if isinstance(key, list) and key and all(isinstance(k, str) for k in key):
            for k in key:
                if k not in (self.dtype.names or ()):
                    raise KeyError(f"Field named {k!r} not found")
            stored = self._stored[[self._stored_name(k) for k in key]]
            return type(self)(self.shape, self.dtype[key], self._bytes, self._offset, self.strides, stored=stored)
        basic = self._basic(key)
        if basic is None:
            return self._over(self._octets()[key])
        if not basic.shape and self._host is None:
            self._reads += 1
            if self._reads > _FEW:
                self._share()
        return basic

    def __setitem__(self, key: Any, value: Any) -> None:
        host = self._host
        if type(host) is np.void:
            if type(key) is str and isinstance(value, (int, float, complex, np.number, str)) and key in (host.dtype.names or ()):
                host[key] = value
                return
        elif host is not None and type(key) is int and type(value) is tuple and self.dtype.names is self._owner:
            host[key] = _on_host(value)
            return
        key = self._place(key)
        if isinstance(key, str):
            self._set_field(key, value)
            return
        names = isinstance(key, list) and bool(key) and all(isinstance(k, str) for k in key)
        target = self[key] if names else self._basic(key)
        if isinstance(value, ndarray):  # of numbers: each field has them
            for name in (target if target is not None else self).dtype.names or ():
                self._view_of_field(name)[... if names else key] = value
        elif target is None and _has_gaps(self._stored):
            part = self[key]
            part[...] = value
            self._octets()[key] = part._octets()
        elif target is None:
            self._octets()[key] = self._to_octets(value)
        elif names or _overlaps(self._stored) or _has_gaps(self._stored):
            target._set_fields(value)
        elif target.size:
            given = target._to_octets(value)
            target._octets()[...] = given.reshape(given.shape[given.ndim - 1 - target.ndim :]) if given.ndim > target.ndim + 1 else given

    def _set_fields(self, value: Any) -> None:
        """Assigns field by field, in their order. All is read before anything is written: `a[["x", "y"]] = a[["y", "x"]]`."""
        source = value.copy() if isinstance(value, RecordArray) else np.array(_on_host(value), dtype=self.dtype)
        if source.ndim > self.ndim:
            source = source.reshape(source.shape[source.ndim - self.ndim :])
        for name, other in zip(self.dtype.names or (), source.dtype.names or (), strict=True):
            self._set_field(name, source[other])

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:  # of one record that NumPy has read
            array, place = self._owner
            record = array._basic(place)
            for slot in _PLACE:
                _SLOTS[slot](self, getattr(record, slot))
            _SLOTS["_views"](self, {})
            return getattr(self, name)
        if not name.startswith("_") and name in (self.dtype.names or ()):
            return self._field(name)
        if name in _BY_NUMPY:
            host = self.copy_to_host()
            host.flags.writeable = False
            return lambda *args, **options: _ours(getattr(host, name)(*map(_on_host, args), **options), self.device)
        if name in _IN_PLACE_BY_NUMPY:
            return lambda *args, **options: self._change(lambda host: getattr(host, name)(*map(_on_host, args), **options))
        raise AttributeError(f"'RecordArray' object has no attribute {name!r}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "dtype":
            self._look_as(np.dtype(value))
        elif name in _SLOTS:
            _SLOTS[name](self, value)
        elif name in (self.dtype.names or ()):
            self._set_field(name, value)
        else:
            raise AttributeError(f"'RecordArray' object has no field {name!r}")

    def __len__(self) -> int:
        if type(self._host) is np.void or not self.shape:
            return len(self._host if self._host is not None else self.dtype.names or ())
        return self.shape[0]

    def __iter__(self) -> Iterator[Any]:
        known = self._host
        if type(known) is np.void or not self.shape:  # a record: its fields' values
            host = self.copy_to_host()[()] if known is None else known
            if all(isinstance(value, np.generic) and type(value) is not np.void for value in host):
                return iter(host)
            return (self._field(name) if isinstance(value, (np.void, np.ndarray)) else value for name, value in zip(self.dtype.names, host))
        if self.shape[0] > _FEW and self._share():
            return (self._record(record, i) for i, record in enumerate(self._host))
        return (self[i] for i in range(self.shape[0]))

    # ---- Comparison ----

    def _equal(self, other: Any) -> ndarray:
        if not isinstance(other, RecordArray):
            if not isinstance(other, (tuple, list)) and getattr(getattr(other, "dtype", None), "names", None) is None:
                raise TypeError("Cannot compare structured or void to non-void arrays.")
            other = records(np.asarray(other, self.dtype) if isinstance(other, (tuple, list)) else other, device=self.device)
        if len(self.dtype.names or ()) != len(other.dtype.names or ()) or self.dtype.names != other.dtype.names:
            raise TypeError(f"Cannot compare structured arrays of {self.dtype} and {other.dtype}: they have no common dtype")
        result: Any = _c.ones(np.broadcast_shapes(self.shape, other.shape), "bool", device=self.device)
        for name in self.dtype.names or ():
            mine, yours = self[name], other[name]
            same = mine == yours
            axes = tuple(range(same.ndim - (mine.ndim - self.ndim), same.ndim))
            result = result & (same.all(axis=axes) if axes else same)
        return result

    def __eq__(self, other: object) -> Any:
        return self._equal(other)

    def __ne__(self, other: object) -> Any:
        return ~self._equal(other)

    # ---- New shapes, copies ----

    def view(self, dtype: Any = None, type: Any = None) -> Any:
        """The same memory as another structured dtype, or as numbers. A class of record arrays (numpy.recarray) gives these records.

        Raises
        ------
        TypeError
            The records do not lie in memory as their dtype says, because numbers are placed at multiples of their sizes.
        """
        if isinstance(dtype, builtins.type) and (dtype == np.ndarray or issubclass(dtype, np.ndarray)):
            dtype, type = None, dtype
        if type is not None and type != np.ndarray and not issubclass(type, np.recarray):
            raise TypeError(f"view: expected a class of record arrays, got {type.__name__}")
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        if isinstance(wanted.type, builtins.type) and issubclass(wanted.type, np.record):
            wanted = np.dtype((np.void, wanted))
        if wanted == self.dtype:
            return self._like(self.shape, self._offset, self.strides)
        if self._stored != self.dtype:
            stored = self._with_names_of(wanted)
            if stored is not None:
                return builtins.type(self)(self.shape, wanted, self._bytes, self._offset, self.strides, stored=stored)
            if _in_program():
                return self._view_of_copy(wanted)
            raise TypeError(f"view: records of {self.dtype} lie in memory as {self._stored}, which has no view as {wanted}; view a field")
        if wanted.subdtype is not None and wanted.itemsize == self.itemsize:
            base, extents = wanted.subdtype
            return self._octets().view(base).reshape(*self.shape, *extents)
        if wanted.names is None:
            return self._octets().view(wanted)[..., 0] if wanted.itemsize == self.itemsize else self._numbers_in_a_row(wanted)
        if wanted.itemsize != self.itemsize:
            raise ValueError("When changing to a larger dtype, its size must be a divisor of the total size in bytes of the last axis.")
        return builtins.type(self)(self.shape, wanted, self._bytes, self._offset, self.strides)

    def _view_of_copy(self, wanted: np.dtype[Any]) -> Any:
        """What a program gets where its records lie in memory unlike its dtype: NumPy's view of a host copy, which cannot be written."""
        from .run._fallback import as_ours, note

        if self.ndim and self.strides[-1] != self._stored.itemsize and wanted.itemsize != self.itemsize:
            raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
        made = as_ours(self.get().view(wanted))
        made.flags.writeable = False
        note("numpy.ndarray.view", "numbers of records lie at multiples of their sizes, so that the view is one of a copy")
        return made

    def _with_names_of(self, wanted: np.dtype[Any]) -> np.dtype[Any] | None:
        """How records of `wanted` lie in this memory, if only the names of the fields are others."""
        if wanted.names is None or self._stored.names is None or wanted.itemsize != self.itemsize:
            return None
        if [(t, at) for _, t, at in _fields(wanted)] != [(t, at) for _, t, at in _fields(self.dtype)]:
            return None
        stored = _fields(self._stored)
        return _struct(wanted.names, [t for _, t, _ in stored], [at for _, _, at in stored], self._stored.itemsize)

    def _look_as(self, dtype: np.dtype[Any]) -> None:
        """Becomes the view of `dtype`, as NumPy's arrays do when a dtype is assigned."""
        view = self.view(dtype)
        if not isinstance(view, RecordArray):
            raise TypeError(f"dtype: records cannot become an array of {dtype}; view() gives one")
        self._lie(*(getattr(view, name) for name in _PLACE))

    def _numbers_in_a_row(self, dtype: np.dtype[Any]) -> ndarray:
        """The numbers of records that lie one behind the other along the last axis."""
        if not self.ndim or self.strides[-1] != self.itemsize:
            raise ValueError("To change to a dtype of a different size, the last axis must be contiguous")
        row = self._octets()
        return row.reshape(*self.shape[:-1], -1).view(dtype)

    def copy(self, order: str = "C") -> RecordArray:
        return self._over(self._octets().copy("C"))

    def reshape(self, *shape: Any, order: str = "C") -> RecordArray:
        extents = shape[0] if len(shape) == 1 and not hasattr(shape[0], "__index__") else shape
        octets = self._octets()
        if order == "F":
            return self.transpose().reshape(tuple(extents)[::-1]).transpose()
        wanted = list(extents)
        if -1 in wanted:
            known = -prod(wanted)
            wanted[wanted.index(-1)] = self.size // known if known else 0
        if prod(wanted) != self.size:
            raise ValueError(f"cannot reshape array of size {self.size} into shape {tuple(extents)}")
        if self.is_c_contiguous():
            return self._like(wanted, self._offset, _contiguous(tuple(wanted), self._stored.itemsize))
        return self._over(octets.copy("C").reshape(*wanted, self._stored.itemsize))

    def ravel(self, order: str = "C") -> RecordArray:
        return self.reshape(-1, order=order) if order != "F" else self.transpose().reshape(-1)

    def flatten(self, order: str = "C") -> RecordArray:
        return self.ravel(order).copy()

    def transpose(self, *axes: Any) -> RecordArray:
        given = axes[0] if len(axes) == 1 and not hasattr(axes[0], "__index__") else axes
        order = [int(d) % self.ndim for d in given] if given else list(range(self.ndim))[::-1]
        if sorted(order) != list(range(self.ndim)):
            raise ValueError("axes don't match array")
        return self._like([self.shape[d] for d in order], self._offset, [self.strides[d] for d in order])

    def squeeze(self) -> RecordArray:
        kept = [d for d in range(self.ndim) if self.shape[d] != 1]
        return self._like([self.shape[d] for d in kept], self._offset, [self.strides[d] for d in kept])

    def astype(self, dtype: Any, order: str = "K", casting: str = "unsafe", copy: bool = True) -> RecordArray:
        """Records of another dtype, field by field in their order, as NumPy casts them."""
        wanted = np.dtype(dtype)
        if wanted.names is None:
            raise TypeError(f"astype: expected a structured dtype for records, got {wanted} (see lib.recfunctions)")
        if wanted == self.dtype and not copy:
            return self
        made = create(self.shape, wanted, self.device)
        for mine, yours in zip(self.dtype.names or (), made.dtype.names or (), strict=True):
            made._set_field(yours, self[mine])
        return made

    def fill(self, value: Any) -> None:
        self[...] = value

    def _change(self, change: Callable[[np.ndarray], Any]) -> None:
        host = self.copy_to_host()
        change(host)
        self[...] = host

    def swapaxes(self, axis1: int, axis2: int) -> RecordArray:
        order = list(range(self.ndim))
        order[axis1], order[axis2] = order[axis2], order[axis1]
        return self.transpose(order) if order else self

    def take(self, indices: Any, axis: int | None = None) -> RecordArray:
        octets = self._octets() if axis is not None else self.ravel()._octets()
        return self._over(_c.asarray(octets).take(indices, axis=0 if axis is None else axis % self.ndim))

    def to_device(self, device: Any, /) -> RecordArray:
        moved = _c.asarray(self._octets(), order="C").to_device(device)
        return self._over(moved)

    def argsort(self, axis: int = -1, kind: Any = None, order: str | Sequence[str] | None = None) -> ndarray:
        """The places that sort 1-d records by the fields `order`, and then by the others."""
        if self.ndim != 1 or axis not in (-1, 0):
            raise NotImplementedError("argsort: records are sorted along one axis of 1-d arrays")
        first = [order] if isinstance(order, str) else list(order or ())
        if any(t.base.names is not None or t.subdtype is not None for _, t, _ in _fields(self.dtype)):
            return _c.asarray(np.argsort(self.copy_to_host(), kind="stable", order=order), device=self.device)
        names = [*first, *(n for n in self.dtype.names or () if n not in first)]
        return _c.lexsort([self[n] for n in reversed(names)])

    def sort(self, axis: int = -1, kind: Any = None, order: str | Sequence[str] | None = None) -> None:
        self[...] = self[self.argsort(axis, kind, order)]


# The slots that say where records lie, and the functions that set them.
_PLACE = ("dtype", "_stored", "shape", "strides", "_bytes", "_offset")
_SLOTS = {name: vars(RecordArray)[name].__set__ for name in RecordArray.__slots__ if name != "__weakref__"}
_set_host, _set_owner, _new = _SLOTS["_host"], _SLOTS["_owner"], object.__new__

recarray = RecordArray  # its name in NumPy's namespace
_c.set_record_array_type(RecordArray)


def _unpickled(host: np.ndarray) -> RecordArray:
    return RecordArray.of(host) if _holds_texts(host.dtype) else records(host)


def create(shape: Any, dtype: Any, device: Any = None, *, zero: bool = False) -> RecordArray:
    """A new array whose fields are all views: numbers lie at multiples of their sizes, whatever the dtype says."""
    given = _native(np.dtype(dtype))
    stored = given if _overlaps(given) else _placed(given)[0]
    extents = tuple(shape) if isinstance(shape, (tuple, list)) else (int(shape),)
    data = (_c.zeros if zero else _c.empty)(prod(extents) * stored.itemsize, "uint8", device=device)
    return RecordArray(extents, given, data, stored=stored)


def records(source: Any, dtype: Any = None, device: Any = None) -> RecordArray:
    """A new array with the records of `source`, as numpy.array() understands it."""
    if isinstance(source, RecordArray) and dtype is None:
        return source.copy() if device is None else source.to_device(device)
    host = np.array(source.copy_to_host() if isinstance(source, RecordArray) else source, dtype=dtype)
    made = create(host.shape, host.dtype, device)
    made.copy_to_device(host)
    return made


# ---- What the functions of arrays do where a dtype has fields --------------------------------------------------------------------------


def _array(object: Any, dtype: Any = None, *, copy: bool | None = True, order: str = "K", subok: bool = False, ndmin: int = 0,
           ndmax: int = 64, like: Any = None, device: Any = None, blocking: bool = False) -> RecordArray:  # fmt: skip
    same = isinstance(object, RecordArray) and (dtype is None or np.dtype(dtype) == object.dtype) and device is None
    if copy is False and not same:
        raise ValueError("Unable to avoid copy while creating an array as requested.")
    made = object if same and not copy else records(object, dtype, device)
    return made.reshape((1,) * (ndmin - made.ndim) + made.shape) if made.ndim < ndmin else made


def _asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: bool | None = None, like: Any = None, device: Any = None,
             blocking: bool = False) -> RecordArray:  # fmt: skip
    return _array(a, dtype, copy=copy, device=device)


def _ascontiguousarray(a: Any, dtype: Any = None, *, like: Any = None) -> RecordArray:
    made = _array(a, dtype, copy=None, ndmin=1)
    return made if made.is_c_contiguous() else made.copy()


def _asnumpy(a: Any, out: Any = None, order: str = "C") -> np.ndarray:
    return (a if isinstance(a, RecordArray) else records(a)).copy_to_host(out)


def _empty(shape: Any, dtype: Any = None, order: str = "C", *, like: Any = None, device: Any = None) -> RecordArray:
    return create(shape, dtype, device)


def _zeros(shape: Any, dtype: Any = None, order: str = "C", *, like: Any = None, device: Any = None) -> RecordArray:
    return create(shape, dtype, device, zero=True)


def _full(shape: Any, fill_value: Any, dtype: Any = None, order: str = "C", *, like: Any = None, device: Any = None) -> RecordArray:
    made = create(shape, np.asarray(fill_value).dtype if dtype is None else dtype, device)
    # NumPy takes a tuple or list for a sequence of values here, not for one record.
    made[...] = np.asarray(fill_value) if isinstance(fill_value, (tuple, list)) else fill_value
    return made


def _array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    return np.shape(a1) == np.shape(a2) and _array_equiv(a1, a2)


def _array_equiv(a1: Any, a2: Any) -> bool:
    if any(getattr(a, "dtype", None) is not None and a.dtype.names is None for a in (a1, a2)):
        return False  # records and numbers
    try:
        return bool((_asarray(a1) == _asarray(a2)).all())
    except ValueError:  # shapes that do not broadcast
        return False


def _ones(shape: Any, dtype: Any = None, order: str = "C", *, like: Any = None, device: Any = None) -> RecordArray:
    return _full(shape, 1, dtype, device=device)


def _full_like(
    a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, *, device: Any = None, order: Any = "K", subok: bool = True
) -> RecordArray:
    made = create(a.shape if shape is None else shape, a.dtype if dtype is None else dtype, a.device if device is None else device)
    if fill_value is not None:
        made[...] = fill_value
    return made


def _concatenate(arrays: Any, axis: int | None = 0, out: Any = None, dtype: Any = None, casting: str = "same_kind") -> RecordArray:
    if out is not None:
        raise TypeError("concatenate: arrays of records take no 'out'")
    parts = [_asarray(a) for a in arrays]
    common = np.result_type(*(p.dtype for p in parts)) if dtype is None else np.dtype(dtype)
    same = [p if p.dtype == common else p.astype(common) for p in parts]
    if any(p._stored != same[0]._stored for p in same):
        same = [p.astype(common) for p in same]
    if axis is None:
        same, axis = [p.ravel() for p in same], 0
    return same[0]._over(_c.concatenate([p._octets() for p in same], axis % same[0].ndim))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "array": _array,
    "array_equal": _array_equal,
    "array_equiv": _array_equiv,
    "asarray": _asarray,
    "ascontiguousarray": _ascontiguousarray,
    "asnumpy": _asnumpy,
    "empty": _empty,
    "zeros": _zeros,
    "ones": _ones,
    "full": _full,
    "full_like": _full_like,
    "concatenate": _concatenate,
}
