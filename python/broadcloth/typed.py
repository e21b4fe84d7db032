"""`typed.List` and `typed.Dict`: containers that compiled functions work on in place, without a copy, in Numba's spelling.

Examples
--------
>>> from broadcloth.typed import Dict, List
>>> @bc.njit
... def count(words):
...     found = Dict.empty(bc.types.unicode_type, bc.types.int64)
...     for w in words:
...         found[w] = found.get(w, 0) + 1
...     return found
>>> counts = count(List(["a", "b", "a"]))
>>> counts["a"], len(counts)
(2, 2)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, MutableMapping, MutableSequence
from typing import Any

from . import _broadcloth as _c
from ._device import config
from ._jit import njit
from ._namespace import listing
from .types import _type

__all__ = ["Dict", "List"]


# What the methods below do is compiled once for each type, as in any function that takes the container.


@njit
def _empty_list(item_type):
    return List.empty_list(item_type)


@njit
def _empty_dict(key_type, value_type):
    return Dict.empty(key_type, value_type)


@njit
def _list_with(value):
    made = List()
    made.append(value)
    return made


@njit
def _dict_with(key, value):
    made = Dict()
    made[key] = value
    return made


@njit
def _append(values, value):
    values.append(value)


@njit
def _insert(values, index, value):
    values.insert(index, value)


@njit
def _item(values, index):
    return values[index]


@njit
def _slice(values, start, stop, step):
    return values[start:stop:step]


@njit
def _set(values, index, value):
    values[index] = value


@njit
def _delete(values, index):
    del values[index]


@njit
def _pop(values, index):
    return values.pop(index)


@njit
def _popitem(values):
    return values.popitem()


@njit
def _length(values):
    return len(values)


@njit
def _plain(values):
    return [v for v in values]  # noqa: C416


@njit
def _has(values, value):
    return value in values


@njit
def _clear(values):
    values.clear()


@njit
def _copy(values):
    return values.copy()


@njit
def _sort(values, reverse):
    values.sort(reverse=reverse)


@njit
def _keys(values):
    return list(values.keys())


@njit
def _values(values):
    return list(values.values())


class List(_c.Container, MutableSequence):
    """A list of values of one type, which compiled functions change in place.

    Parameters
    ----------
    values : iterable, optional
        What it holds at first. An empty list gets its type with its first value.

    Examples
    --------
    >>> from broadcloth.typed import List
    >>> numbers = List([1.0, 2.0])
    >>> numbers.append(3.5)
    >>> list(numbers), numbers[-1]
    ([1.0, 2.0, 3.5], 3.5)
    """

    __kernel_name__ = "typed.List"
    __slots__ = ()

    def __new__(cls, values: Iterable[Any] = ()) -> Any:
        """A list of Python's where functions stay Python (`config.DISABLE_JIT`)."""
        return list(values) if config.DISABLE_JIT else super().__new__(cls)

    def __init__(self, values: Iterable[Any] = ()) -> None:
        for value in values:
            self.append(value)

    @classmethod
    def empty_list(cls, item_type: Any, allocated: int = 0) -> List:
        """An empty list of a type."""
        return cls() if config.DISABLE_JIT else _empty_list(_type(item_type))

    @property
    def _typed(self) -> bool:
        return self._type is not None

    def append(self, value: Any) -> None:
        """Adds a value at the end."""
        if self._typed:
            _append(self, value)
        elif value is None:
            raise TypeError("typed.List: None alone has no type; make the list by List.empty_list(types.optional(item_type))")
        else:
            self._adopt(_list_with(value))

    def insert(self, index: int, value: Any) -> None:
        """Puts a value before an index."""
        if self._typed:
            _insert(self, index, value)
        else:
            self.append(value)

    def __len__(self) -> int:
        return _length(self) if self._typed else 0

    def __getitem__(self, index: Any) -> Any:
        if not self._typed:
            raise IndexError("list index out of range")
        if isinstance(index, slice):
            return _slice(self, *index.indices(len(self))) if index.step is None or index.step > 0 else List(_plain(self)[index])
        return _item(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        if not self._typed:
            raise IndexError("list assignment index out of range")
        if isinstance(index, slice):
            plain = _plain(self)
            plain[index] = value
            self.clear()
            self.extend(plain)
        else:
            _set(self, index, value)

    def __delitem__(self, index: Any) -> None:
        if isinstance(index, slice):
            for i in sorted(range(*index.indices(len(self))), reverse=True):
                _delete(self, i)
        else:
            _delete(self, index)

    def __iter__(self) -> Iterator[Any]:
        return iter(_plain(self) if self._typed else [])

    def __contains__(self, value: Any) -> bool:
        return self._typed and _has(self, value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Iterable) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __lt__(self, other: Iterable[Any]) -> bool:
        return list(self) < list(other) if isinstance(other, List | list) else NotImplemented

    def __le__(self, other: Iterable[Any]) -> bool:
        return list(self) <= list(other) if isinstance(other, List | list) else NotImplemented

    def __gt__(self, other: Iterable[Any]) -> bool:
        return list(self) > list(other) if isinstance(other, List | list) else NotImplemented

    def __ge__(self, other: Iterable[Any]) -> bool:
        return list(self) >= list(other) if isinstance(other, List | list) else NotImplemented

    def pop(self, index: int = -1) -> Any:
        """Takes a value out, the last one unless an index is given."""
        if not self._typed:
            raise IndexError("pop from empty list")
        return _pop(self, index)

    def clear(self) -> None:
        """Takes all values out."""
        if self._typed:
            _clear(self)

    def copy(self) -> List:
        """A list of the same values."""
        return _copy(self) if self._typed else List()

    def sort(self, key: Any = None, reverse: bool = False) -> None:
        """Sorts the values in place."""
        if key is not None:
            ordered = sorted(self, key=key, reverse=reverse)
            self.clear()
            self.extend(ordered)
        elif self._typed:
            _sort(self, bool(reverse))

    def __repr__(self) -> str:
        return f"{self._type or 'ListType(undefined)'}({self})"

    def __str__(self) -> str:
        return f"[{', '.join(map(str, self))}]"  # as Numba prints it: texts without quotation marks

    def __reduce__(self) -> Any:
        return List, (list(self),)


class Dict(_c.Container, MutableMapping):
    """A dict from keys of one type to values of one type, which compiled functions change in place.

    Parameters
    ----------
    values : mapping or iterable of pairs, optional
        What it holds at first. An empty dict gets its types with its first item.

    Examples
    --------
    >>> from broadcloth.typed import Dict
    >>> ages = Dict.empty(bc.types.unicode_type, bc.types.int64)
    >>> ages["Ada"] = 36
    >>> dict(ages)
    {'Ada': 36}
    """

    __kernel_name__ = "typed.Dict"
    __slots__ = ()

    def __new__(cls, *values: Any, **more: Any) -> Any:
        """A dict of Python's where functions stay Python (`config.DISABLE_JIT`)."""
        return dict(*values, **more) if config.DISABLE_JIT else super().__new__(cls)

    def __init__(self, values: Any = (), **more: Any) -> None:
        self.update(values, **more)

    @classmethod
    def empty(cls, key_type: Any, value_type: Any, n_keys: int = 0) -> Dict:
        """An empty dict of types."""
        return cls() if config.DISABLE_JIT else _empty_dict(_type(key_type), _type(value_type))

    @property
    def _typed(self) -> bool:
        return self._type is not None

    def __len__(self) -> int:
        return _length(self) if self._typed else 0

    def __getitem__(self, key: Any) -> Any:
        if not self._typed:
            raise KeyError(key)
        try:
            return _item(self, key)
        except KeyError:
            raise KeyError(key) from None

    def __setitem__(self, key: Any, value: Any) -> None:
        if self._typed:
            _set(self, key, value)
        else:
            self._adopt(_dict_with(key, value))

    def popitem(self) -> tuple[Any, Any]:
        """Takes out the item that came last, and gives it."""
        if not len(self):
            raise KeyError("popitem(): dictionary is empty")
        key, value = _popitem(self)
        return key, value

    def __delitem__(self, key: Any) -> None:
        if not self._typed:
            raise KeyError(key)
        try:
            _delete(self, key)
        except KeyError:
            raise KeyError(key) from None

    def __iter__(self) -> Iterator[Any]:
        return iter(_keys(self) if self._typed else [])

    def __contains__(self, key: Any) -> bool:
        return self._typed and _has(self, key)

    def items(self) -> Any:
        """The pairs of keys and values, as they are now."""
        return list(zip(_keys(self), _values(self), strict=True)) if self._typed else []

    def values(self) -> Any:
        """The values, as they are now."""
        return _values(self) if self._typed else []

    def clear(self) -> None:
        """Takes all items out."""
        if self._typed:
            _clear(self)

    def copy(self) -> Dict:
        """A dict of the same items."""
        return _copy(self) if self._typed else Dict()

    def __repr__(self) -> str:
        return f"{self._type or 'dict(undefined)'}({self})"

    def __str__(self) -> str:
        return f"{{{', '.join(f'{k}: {v}' for k, v in self.items())}}}"

    def __reduce__(self) -> Any:
        return Dict, (dict(self.items()),)

__dir__ = listing(__all__)
