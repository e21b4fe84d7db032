"""Libraries that look at the type of what they are given: methods of theirs that get NumPy's arrays from a program."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
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


def _replace(owner: Any, names: Iterable[str], made: Callable[[Any], Any]) -> None:
    """Puts what `made` makes of each of these attributes of a module or a class in its place; those that the owner lacks are left out."""
    for name in names:
        if (found := vars(owner).get(name) if owner is not None else None) is not None:
            _changed.append((owner, name, found))
            setattr(owner, name, made(found))


def _prepare_pandas() -> None:
    for path, names in _PANDAS.items():
        module, _, attribute = path.rpartition(".") if path != "pandas" else (path, "", "")
        owner: Any = sys.modules.get(module)
        _replace(getattr(owner, attribute, None) if attribute else owner, names, _with_arrays)


class _OnArrays:
    """A function or an object of a library's written in C. Its calls get NumPy's arrays, and what they write (`dscal`,
    `overwrite_a=True`) the program's arrays get; all else is the object's own."""

    __slots__ = ("_of",)

    def __init__(self, of: Any) -> None:
        self._of = of

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        return _fallback.in_place(self._of, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._of, name)
        return _with_arrays(found) if callable(found) else found

    def __repr__(self) -> str:
        return repr(self._of)

    __class__ = property(lambda self: type(self._of))  # type: ignore[assignment]


def _with_results(made: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What changes a function that gives objects written in C, or a list of them: it gives what `made` makes of each."""

    def change(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            found = _with_arrays(function)(*args, **kwargs)
            return list(map(made, found)) if type(found) is list else made(found)

        return call

    return change


def _with_output(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of SciPy's that writes the array `output`, one of ours too: it asks for NumPy's type, and takes others for a dtype."""
    place = list(inspect.signature(function).parameters).index("output")

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True
        output = args[place] if place < len(args) else kwargs.get("output")
        if isinstance(output, _c.ndarray):
            return _fallback.compute(function, args, kwargs, writable=True)
        return function(*args, **kwargs)

    return call


def _prepare_scipy_linalg() -> None:
    """LAPACK's functions take the memory of an array of another type for a copy that they may overwrite."""
    linalg = sys.modules["scipy.linalg"]
    _replace(linalg, ("funm",), _with_arrays)
    for module in (linalg.blas, linalg.lapack):
        _replace(module, [n for n, f in vars(module).items() if type(f).__name__ == "fortran"], _OnArrays)
    for owner in (linalg, linalg.blas, linalg.lapack):
        _replace(owner, ("get_blas_funcs", "get_lapack_funcs"), _with_results(_OnArrays))


def _prepare_interpolative() -> None:
    names = ("estimate_rank", "estimate_spectral_norm", "estimate_spectral_norm_diff", "interp_decomp", "svd")
    _replace(sys.modules["scipy.linalg.interpolative"], names, _with_arrays)


def _kinds_of(base: type[Any]) -> Iterator[type[Any]]:
    yield base
    for kind in base.__subclasses__():
        yield from _kinds_of(kind)


# Operators and methods of sparse arrays that ask whether the other operand is one of NumPy's.
_SPARSE = (
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__truediv__", "__eq__", "__ne__",
    "__lt__", "__le__", "__gt__", "__ge__", "multiply", "maximum", "minimum",
)  # fmt: skip


def _prepare_sparse() -> None:
    base: type[Any] = sys.modules["scipy.sparse._base"]._spbase
    for kind in set(_kinds_of(base)):
        _replace(kind, _SPARSE, _with_arrays)


def _prepare_sparse_linalg() -> None:
    linalg = sys.modules["scipy.sparse.linalg"]
    _replace(linalg, ("aslinearoperator", "lsmr"), _with_arrays)
    _replace(linalg, ("splu", "spilu", "factorized"), _with_results(_OnArrays))


def _prepare_optimize() -> None:
    _replace(sys.modules["scipy.optimize"], ("least_squares",), _with_arrays)


def _prepare_ndimage() -> None:
    ndimage = sys.modules["scipy.ndimage"]
    names = [n for n in ndimage.__all__ if type(f := getattr(ndimage, n)) is FunctionType and "output" in inspect.signature(f).parameters]
    _replace(ndimage, names, _with_output)


def _prepare_sqlite3() -> None:
    """Numbers go into a database as numbers; it would take their bytes."""
    sys.modules["sqlite3"].register_adapter(_c.ndarray, lambda a: a.item() if isinstance(a, np.generic) else a.tobytes())


_PREPARED = {
    "pandas": _prepare_pandas,
    "sqlite3": _prepare_sqlite3,
    "scipy.linalg": _prepare_scipy_linalg,
    "scipy.linalg.interpolative": _prepare_interpolative,
    "scipy.ndimage": _prepare_ndimage,
    "scipy.optimize": _prepare_optimize,
    "scipy.sparse": _prepare_sparse,
    "scipy.sparse.linalg": _prepare_sparse_linalg,
}
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
