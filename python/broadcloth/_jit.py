"""`jit`, `njit`, `prange` and their kin: Python functions compiled for the CPU, as Numba spells them."""

from __future__ import annotations

import copyreg
import difflib
import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import _broadcloth as _c
from . import _source
from ._device import config
from ._pickling import make_jit, reduced
from .types import Signature, Type

copyreg.pickle(_c.CpuDispatcher, lambda o: reduced(o, make_jit, o.py_func, o.targetoptions))

__all__ = ["get_num_threads", "get_thread_id", "jit", "literal_unroll", "njit", "objmode", "parallel_chunksize", "pndindex", "prange",
           "literally", "set_num_threads", "threading_layer"]  # fmt: skip

# What Numba takes and what is no matter here: everything is compiled in nopython mode, and every compile is kept on disk.
_IGNORED = {"nopython", "forceobj", "looplift", "locals", "inline", "debug", "no_cpython_wrapper", "no_cfunc_wrapper", "_nrt",
            "pipeline_class",
            "no_rewrites", "identity", "type", "_dbg_extend_lifetimes", "_dbg_optnone", "writable_args"}  # fmt: skip


def is_signature(o: Any) -> bool:
    """Tells whether an argument of a decorator is a signature (or a list of them), and not the function."""
    return isinstance(o, str | Signature | list | tuple)


def _names(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[Any, ...] | None, bool]:
    """Names of a function's parameters, the defaults of the last ones, and whether it has *args."""
    parameters = inspect.signature(function).parameters.values()
    defaults = [p.default for p in parameters if p.default is not p.empty]
    rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    return tuple(p.name for p in parameters if p.kind is not p.VAR_POSITIONAL), tuple(defaults) or None, rest


_FAST = {"nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc", "fast"}


def fast_level(fastmath: Any) -> int:
    """What the compiler may do with floating-point numbers: 0 nothing, 1 everything, 2 everything but forget NaN and infinities."""
    if isinstance(fastmath, bool | int):
        return int(bool(fastmath))
    names = {fastmath} if isinstance(fastmath, str) else {name for name in fastmath if not isinstance(fastmath, dict) or fastmath[name]}
    if unknown := names - _FAST:
        raise ValueError(f"fastmath: expected some of {sorted(_FAST)}, got {sorted(unknown)}")
    if "fast" in names or names == _FAST - {"fast"}:
        return 1
    return 2 if {"reassoc", "nsz"} <= names else 0


def jit(
    signature_or_function: Any = None,
    *,
    nogil: bool = False,
    cache: bool = False,
    parallel: bool | dict[str, bool] = False,
    fastmath: bool | set[str] = False,
    error_model: str = "python",
    boundscheck: bool | None = None,
    **options: Any,
) -> Any:
    """Compiles a Python function for the CPU, for the types of its arguments, when it is first called.

    Parameters
    ----------
    signature_or_function : function, signature or list of signatures, optional
        The function, where the decorator stands alone. A signature such as ``"float64(float64[:])"`` compiles at once, and no other types
        are then taken.
    nogil : bool
        Other Python threads run while the function does.
    cache : bool
        Taken for Numba's sake: what is compiled is always kept on disk, and found by what the function and those it calls say.
    parallel : bool
        `prange` loops and whole-array expressions run on all cores.
    fastmath : bool or set of str
        Floating-point sums may be reordered and products contracted; NaN and infinities need not be kept. A set of LLVM's names keeps NaN
        and infinities unless it holds "nnan" and "ninf", and the order of sums unless it holds "reassoc" and "nsz".
    error_model : {'python', 'numpy'}
        Whether a division by zero raises or gives what IEEE 754 says.
    boundscheck : bool
        An index out of range raises IndexError.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.jit
    ... def total(a):
    ...     s = 0.0
    ...     for x in a:
    ...         s += x
    ...     return s
    >>> total(np.arange(5.0))
    10.0
    """
    unknown = [name for name in options if name not in _IGNORED]
    if unknown:
        known = [p for p in inspect.signature(jit).parameters if p not in ("signature", "options")] + list(_IGNORED)
        near = difflib.get_close_matches(unknown[0], known, 1)
        meant = f"; did you mean '{near[0]}'?" if near else ""
        raise TypeError(f"jit: got an unexpected option '{unknown[0]}'{meant}")
    if options.get("locals"):
        warnings.warn("jit: locals= is not read; variables have the types of their values", RuntimeWarning, stacklevel=2)
    if error_model not in ("python", "numpy"):
        raise ValueError(f"jit: expected error_model 'python' or 'numpy', got {error_model!r}")

    def decorate(function: Callable[..., Any], signatures: list[Any] | None = None) -> Any:
        if config.DISABLE_JIT:
            return function
        if options.get("forceobj"):
            return _object_mode(function)
        if isinstance(function, _c.CpuDispatcher):
            function = function.py_func
        if function.__code__.co_filename[:1] == "<":
            _source.remember(function)
        names, defaults, rest = _names(function)
        made = _c.CpuDispatcher(
            function, names, defaults, nogil=bool(nogil), parallel=bool(parallel), fastmath=fast_level(fastmath),
            boundscheck=bool(boundscheck), python_errors=error_model == "python", cache=bool(cache),
            rest=rest,
        )  # fmt: skip
        functools.update_wrapper(made, function)
        made.targetoptions = {
            "nogil": nogil, "parallel": parallel, "fastmath": fastmath, "boundscheck": boundscheck, "error_model": error_model
        }  # fmt: skip
        if signatures:
            for signature in signatures:
                made._compile(signature)
            made._close(True)
        return made

    if signature_or_function is None:
        return decorate
    if is_signature(signature_or_function):
        given = signature_or_function
        several = isinstance(given, list) or (isinstance(given, tuple) and all(isinstance(s, str | Signature) for s in given))
        return lambda function: decorate(function, list(given) if several else [given])
    if isinstance(signature_or_function, Type):
        raise TypeError(f"jit: expected a signature such as {signature_or_function!r}(…), got the type alone")
    return decorate(signature_or_function)


def _object_mode(function: Callable[..., Any]) -> Callable[..., Any]:
    """Object mode is Python itself: the function runs as it stands."""

    @functools.wraps(function)
    def run(*args: Any, **keywords: Any) -> Any:
        return function(*args, **keywords)

    run.py_func = function  # type: ignore[attr-defined]
    run.signatures = []  # type: ignore[attr-defined]
    return run


def njit(*args: Any, **options: Any) -> Any:
    """As `jit`: every function is compiled without falling back to Python.

    Examples
    --------
    >>> @bc.njit
    ... def hypotenuse(a, b):
    ...     return (a * a + b * b) ** 0.5
    >>> hypotenuse(3, 4)
    5.0
    """
    for name in ("nopython", "forceobj"):
        if name in options:
            warnings.warn(f"njit: the option {name} is set by njit itself", RuntimeWarning, stacklevel=2)
            options.pop(name)
    return jit(*args, **options)


def prange(*args: int) -> range:
    """A range whose turns are independent: under ``jit(parallel=True)`` they run on all cores, elsewhere one after the other.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.njit(parallel=True)
    ... def squares(n):
    ...     out = np.empty(n)
    ...     for i in bc.prange(n):
    ...         out[i] = i * i
    ...     return out
    >>> squares(4)
    array([0., 1., 4., 9.])
    """
    return range(*args)


prange.__kernel_name__ = "numba.prange"  # type: ignore[attr-defined]


# All places of a shape; the loops over them are not dealt out to threads.
pndindex = np.ndindex


def literal_unroll(values: Any) -> Any:
    """In a compiled function: a loop over a tuple of values of several types, one copy of the body for each.

    Examples
    --------
    >>> @bc.njit
    ... def total():
    ...     s = 0.0
    ...     for v in bc.literal_unroll((1, 2.5)):
    ...         s += v
    ...     return s
    >>> total()
    3.5
    """
    return values


literal_unroll.__kernel_name__ = "numba.literal_unroll"  # type: ignore[attr-defined]


def literally(value: Any) -> Any:
    """In a compiled function: the value itself, for which the function is then compiled, as for a constant.

    Parameters
    ----------
    value : int, bool or str
        A parameter of the function: each value that it is called with is a compile of its own.

    Examples
    --------
    >>> @bc.njit
    ... def member(t, k):
    ...     return t[bc.literally(k)]
    >>> member((1, 2.5, "three"), 1), member((1, 2.5, "three"), 2)
    (2.5, 'three')
    """
    return value


literally.__kernel_name__ = "numba.literally"  # type: ignore[attr-defined]


class objmode:
    """In a compiled function: the interpreter runs the block, with the lock that Python's threads share.

    Parameters
    ----------
    **types
        The variables that the function reads behind the block, and their types: strings, dtypes or types of `broadcloth.types`. Variables
        of the function that the block reads are passed in; arrays are passed without a copy.

    Examples
    --------
    >>> import numpy as np
    >>> @bc.njit
    ... def fit(x, y):
    ...     with bc.objmode(slope="float64"):
    ...         slope = np.polyfit(x, y, 1)[0]
    ...     return slope
    >>> round(fit(np.arange(4.0), 3 * np.arange(4.0)), 9)
    3.0
    """

    __kernel_name__ = "numba.objmode"

    def __init__(self, **types: Any) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


class parallel_chunksize:
    """A context in which loops deal out that many turns at once: taken for Numba's sake, as the library balances the threads itself.

    Examples
    --------
    >>> with bc.parallel_chunksize(4):
    ...     x = bc.ones(2) + 1
    """

    __kernel_name__ = "numba.parallel_chunksize"

    def __init__(self, size: int) -> None: ...

    def __enter__(self) -> None: ...

    def __exit__(self, *_: object) -> None: ...


def get_num_threads() -> int:
    """Threads that parallel loops use.

    Examples
    --------
    >>> bc.get_num_threads() >= 1
    True
    """
    return _c._jit_threads()


get_num_threads.__kernel_name__ = "numba.get_num_threads"  # type: ignore[attr-defined]


def set_num_threads(n: int) -> None:
    """Sets how many threads the parallel loops of the calling thread use: arrays', kernels' and compiled functions'.

    Parameters
    ----------
    n : int
        From 1 to `config.NUMBA_NUM_THREADS`, what the process began with.

    Examples
    --------
    >>> bc.set_num_threads(1)
    >>> bc.get_num_threads()
    1
    >>> bc.set_num_threads(bc.config.NUMBA_NUM_THREADS)
    """
    _c._jit_set_threads(n)


def threading_layer() -> str:
    """What runs parallel loops: the library's own threads, safe to use from several Python threads and after a fork.

    Examples
    --------
    >>> bc.threading_layer()
    'broadcloth'
    """
    return "broadcloth"


set_num_threads.__kernel_name__ = "numba.set_num_threads"  # type: ignore[attr-defined]


def get_thread_id() -> int:
    """In a loop of `prange` the number of the thread that runs the turn, below `get_num_threads()`; 0 elsewhere.

    Examples
    --------
    >>> @bc.njit(parallel=True)
    ... def turns(n):
    ...     count = np.zeros(bc.get_num_threads(), dtype=np.int64)
    ...     for _ in bc.prange(n):
    ...         count[bc.get_thread_id()] += 1
    ...     return count.sum()
    >>> turns(1000)
    1000
    """
    return _c._jit_thread_id()


get_thread_id.__kernel_name__ = "numba.get_thread_id"  # type: ignore[attr-defined]


# ---- what a compiled function tells of itself ---------------------------------------------------------------------------------------


class _Stats:
    def __init__(self, rows: list[Any]):
        self.cache_hits = {row[0]: 1 for row in rows if row[4]}
        self.cache_misses = {row[0]: 1 for row in rows if not row[4]}
        self.cache_path = ""


class Overload(NamedTuple):
    """What was compiled for one tuple of argument types."""

    signature: Signature
    entry_point: Callable[..., Any]
    source: str
    seconds: float
    from_disk: bool


def _type_of(spelling: str) -> Any:
    """The type of a spelling; the spelling itself where no declaration can name the type (a function's, a class's)."""
    try:
        return Type(spelling)
    except TypeError:
        return spelling


def _overloads(self: Any) -> dict[tuple[Any, ...], Overload]:
    made = {}
    for arguments, result, *rest in self._overloads():
        signature = Signature(_type_of(result), ())
        signature.args = signature.__kernel_arguments__ = tuple(map(_type_of, arguments))
        made[signature.args] = Overload(signature, self, *rest)
    return made


def _inspected(self: Any, stage: str, signature: Any = None) -> Any:
    texts = {types: self._inspect(i, stage) for i, types in enumerate(_overloads(self))}
    return texts if signature is None else texts[signature]


def _recompile(self: Any) -> None:
    """Compiles again for the types that are known, with what globals and closures hold now."""
    signatures = [o.signature for o in _overloads(self).values()]
    self._forget()
    for signature in signatures:
        self._compile(signature)


_ATTRIBUTES: dict[str, Callable[[Any], Any]] = {
    "signatures": lambda self: list(_overloads(self)),
    "nopython_signatures": lambda self: [o.signature for o in _overloads(self).values()],
    "overloads": _overloads,
    "stats": lambda self: _Stats(self._overloads()),
    "inspect_types": lambda self: lambda file=None, signature=None, **_: print(
        "\n".join(f"{tuple(t)} -> {o.signature.return_type}" for t, o in _overloads(self).items() if signature in (None, t)), file=file
    ),
    "inspect_source": lambda self: lambda: {types: o.source for types, o in _overloads(self).items()},
    "inspect_cpp": lambda self: lambda: {types: o.source for types, o in _overloads(self).items()},
    "inspect_llvm": lambda self: lambda signature=None: _inspected(self, "ir", signature),
    "inspect_asm": lambda self: lambda signature=None: _inspected(self, "asm", signature),
    "get_call_template": lambda self: lambda *_, **__: None,
    "parallel_diagnostics": lambda self: lambda *_, **__: None,
    "compile": lambda self: lambda signature: self._compile(signature),
    "recompile": lambda self: lambda: _recompile(self),
    "disable_compile": lambda self: lambda on=True: self._close(on),
    "compile_seconds": lambda self: sum(row[3] for row in self._overloads()),
}


def _attribute(self: Any, name: str) -> Any:
    """The attributes of compiled functions that are seldom asked for."""
    if name not in _ATTRIBUTES:
        raise AttributeError(f"a compiled function has no attribute '{name}'")
    return _ATTRIBUTES[name](self)
