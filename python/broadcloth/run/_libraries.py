"""Libraries that look at the type of what they are given: methods of theirs that get NumPy's arrays from a program."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .. import _on_import
from . import _fallback

_KEYS = ("__getitem__", "__setitem__")
_CALLERS = ("apply", "agg", "aggregate", "transform", "groupby", "set_index", "map")
# pandas asks `isinstance(key, numpy.ndarray)` of masks and places, and puts together what the program's functions return by its type.
_PANDAS: dict[str, tuple[str, ...]] = {
    "pandas.core.frame.DataFrame": (*_KEYS, *_CALLERS),
    "pandas.core.series.Series": (*_KEYS, *_CALLERS),
    "pandas.core.generic.NDFrame": ("groupby",),
    "pandas.core.indexing._LocationIndexer": _KEYS,
    "pandas.core.indexing._ScalarAccessIndexer": _KEYS,
    "pandas.core.indexing._AtIndexer": _KEYS,
    "pandas.core.indexes.base.Index": _KEYS,
    "pandas.core.indexes.range.RangeIndex": _KEYS,
    "pandas.core.indexes.multi.MultiIndex": _KEYS,
    "pandas.core.groupby.groupby.GroupBy": ("apply", "agg", "aggregate", "transform", "filter"),
    "pandas.core.groupby.generic.DataFrameGroupBy": ("apply", "agg", "aggregate", "transform", "filter"),
    "pandas.core.groupby.generic.SeriesGroupBy": ("apply", "agg", "aggregate", "transform", "filter"),
    "pandas": ("factorize", "unique", "crosstab", "pivot_table"),
}

_changed: list[tuple[Any, str, Any]] = []  # where, the name, what was there


def _given(value: Any) -> Any:
    """What a library gets for an argument of the program."""
    if isinstance(value, _c.program_function):
        return value.numpy_function
    if isinstance(value, _c.ufunc):
        return getattr(np, value.__name__, value)
    if type(value) is FunctionType and not value.__module__.startswith("pandas"):
        return _with_values(value)
    if type(value) in (list, tuple):
        return type(value)(map(_given, value))
    if type(value) is dict:
        return {k: _given(v) for k, v in value.items()}
    return _fallback.read_only(value)


def _with_values(function: FunctionType) -> Callable[..., Any]:
    """A function of the program whose results are NumPy's."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return _fallback.read_only(function(*args, **kwargs))

    return call


def _with_arrays(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of a library's that reads its arguments as NumPy's."""

    @functools.wraps(method)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return method(*map(_given, args), **{k: _given(v) for k, v in kwargs.items()})

    return call


def _prepare_pandas() -> None:
    for path, names in _PANDAS.items():
        module, _, attribute = path.rpartition(".") if path != "pandas" else (path, "", "")
        owner: Any = sys.modules.get(module)
        owner = getattr(owner, attribute, None) if attribute else owner
        for name in names:
            if (method := vars(owner).get(name) if owner is not None else None) is not None:
                _changed.append((owner, name, method))
                setattr(owner, name, _with_arrays(method))


def _prepare_sqlite3() -> None:
    """Numbers go into a database as numbers; it would take their bytes."""
    sys.modules["sqlite3"].register_adapter(_c.ndarray, lambda a: a.item() if isinstance(a, np.generic) else a.tobytes())


_PREPARED = {"pandas": _prepare_pandas, "sqlite3": _prepare_sqlite3}
_enabled: set[str] = set()


def enable() -> None:
    """From now on these libraries get what they take from a program; those that are loaded already too."""
    for name, prepare in _PREPARED.items():
        if name not in _enabled:
            _enabled.add(name)
            _on_import.when_imported(name, prepare)


def disable() -> None:
    """Takes back what `enable` did."""
    for name in _enabled:
        _on_import.forget(name)
    _enabled.clear()
    while _changed:
        owner, name, method = _changed.pop()
        setattr(owner, name, method)
