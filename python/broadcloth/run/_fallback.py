"""NumPy in the place of what broadcloth does not have: on host copies, with results and in-place changes brought back."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._device import config
from .._warnings import warn
from ..exceptions import FallbackError, FallbackWarning

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_NUMPY = os.path.dirname(os.path.abspath(np.__file__)) + os.sep

strict = False

# Exceptions by which a function refuses its arguments. Others (memory, a compiler's refusal, a signal) go to the program.
_REFUSALS = (TypeError, ValueError, NotImplementedError, AttributeError, LookupError, OverflowError)
# Functions that write into arguments: their host copies can be written from the start.
_WRITERS = {"copyto", "fill_diagonal", "place", "put", "put_along_axis", "putmask", "shuffle", "at", "resize", "setfield"}
_OF_OURS = frozenset("?bBhHiIlLqQefdFD")  # dtypes (numpy.dtype.char) that broadcloth has


class Event:
    """What fell back at one line of the program."""

    def __init__(self, name: str, reason: str, file: str, line: int) -> None:
        self.name = name
        self.reason = reason
        self.file = file
        self.line = line
        self.calls = 0
        self.seconds = 0.0


events: dict[tuple[str, int, str], Event] = {}


def program_line(frame: FrameType | None) -> tuple[str, int]:
    """File and line of the nearest frame outside of broadcloth and NumPy."""
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith((_PACKAGE, _NUMPY)):
            return file, frame.f_lineno or 0
        frame = frame.f_back
    return "", 0


def is_record_array(value: Any) -> bool:
    records = sys.modules.get("broadcloth._records")  # which few programs load
    return records is not None and type(value) is records.RecordArray


def _shared(value: Any) -> np.ndarray | None:
    """An array of ours as NumPy's over the same memory, where NumPy can read that."""
    if isinstance(value, _c.ndarray) and not is_record_array(value):
        with contextlib.suppress(ValueError):  # on a GPU, or of a dtype that no buffer has
            return np.asarray(value, copy=False)
    return None


def on_same_memory(value: Any) -> Any:
    """An array of ours as NumPy's, over the same memory where NumPy can read that, else a copy that cannot be written; anything else as it
    is."""
    shared = _shared(value)
    return read_only(value) if shared is None else shared


def in_place(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that may write any array it gets: NumPy's arrays over the same memory, or copies that come back where it wrote them, also when
    it then raises. A result that is such a copy is the array that it was made of."""
    loan = _Loan(True, with_gaps=True)

    def lend(value: Any) -> Any:
        shared = _shared(value)
        return loan.give(value) if shared is None else shared

    try:
        result = function(*map(lend, args), **{k: lend(v) for k, v in kwargs.items()})
    finally:
        loan.take_back()
    return type(result)(map(loan.lender, result)) if type(result) in (list, tuple) else loan.lender(result)


def _bytes_of(host: np.ndarray) -> bytes:
    """What lies in an array's memory, also between the fields of records, which a copy of the array need not have."""
    return host.ravel(order="K").view(np.uint8).tobytes()


class _Loan:
    """Host copies of arrays for one call. They cannot be written, unless the call is one that writes."""

    def __init__(self, writable: bool, in_dicts: bool = False, with_gaps: bool = False, scalars: bool = False) -> None:
        self.writable = writable
        self.with_gaps = with_gaps  # elements lie apart in the copy of an array that is not contiguous
        self.in_dicts = in_dicts  # also those in dictionaries, which NumPy takes for elements
        self.scalars = scalars  # NumPy's scalars for all arrays without axes
        self.lent: dict[int, tuple[Any, np.ndarray, bytes | None]] = {}

    def give(self, value: Any) -> Any:
        """The value with arrays of ours as NumPy's, one copy for one array."""
        if isinstance(value, _c.ndarray) or is_record_array(value):
            if id(value) not in self.lent:
                host = value.get() if is_record_array(value) else value.get(order="K")
                if self.with_gaps and not is_record_array(value) and not (value.flags.c_contiguous or value.flags.f_contiguous):
                    host, dense = np.empty((*host.shape, 2), host.dtype)[..., 0], host
                    host[...] = dense
                if self.writable and (is_record_array(value) or value.flags.writeable):
                    self.lent[id(value)] = value, host, _bytes_of(host)
                else:
                    host.flags.writeable = False
                    self.lent[id(value)] = value, host, None
            host = self.lent[id(value)][1]
            return host[()] if _is_element(value) or (self.scalars and host.ndim == 0) else host
        kind = type(value)
        if kind in (list, tuple):
            return kind(map(self.give, value))
        if kind is dict and self.in_dicts:
            return {k: self.give(v) for k, v in value.items()}
        return value

    def take_back(self) -> None:
        """Stores what the call changed."""
        for array, host, before in self.lent.values():
            if before is not None and before != _bytes_of(host):
                array[...] = host

    def _with_lenders(self, value: np.ndarray) -> np.ndarray:
        """An array of objects; elements of it that are copies become the arrays that were lent."""
        lenders = {id(host): array for array, host, _ in self.lent.values()}
        if value.dtype == object and value.flags.writeable and lenders:
            flat = value.reshape(-1) if value.flags.c_contiguous else value.flat
            for place, element in enumerate(flat):
                if type(element) is np.ndarray and id(element) in lenders:
                    flat[place] = lenders[id(element)]
        return value

    def lender(self, value: Any) -> Any:
        """The array that a copy was made of; anything else as it is."""
        return next((array for array, host, _ in self.lent.values() if host is value), value)

    def own(self, value: Any) -> Any:
        """The result with NumPy's arrays as ours, where broadcloth has their dtype; an array that was lent is the lender's."""
        if type(value) is np.ndarray:
            if (lender := self.lender(value)) is not value:
                return lender
            if value.dtype.hasobject:
                return self._with_lenders(value)
            made = as_ours(value)
            if made is not value and not value.flags.writeable:  # a view of a copy: a write would not reach the program's array
                made.flags.writeable = False
            return made
        if isinstance(value, np.lib.npyio.NpzFile):
            from ._archives import ProgramNpzFile  # few programs load one

            return ProgramNpzFile(value)
        if type(value) in (list, tuple):
            return type(value)(map(self.own, value))
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)(*map(self.own, value))
        return value


def as_ours(value: Any) -> Any:
    """NumPy's array as ours, where broadcloth has its dtype."""
    return _c.asarray(value) if type(value) is np.ndarray and value.dtype.char in _OF_OURS and value.dtype.isnative else value


def read_only(value: Any, scalars: bool = False) -> Any:
    """The value with arrays of ours as host copies that cannot be written; with `scalars` those without axes as NumPy's scalars."""
    return _Loan(False, in_dicts=True, scalars=scalars).give(value)


def on_copies(function: Callable[..., Any], copies: Callable[[Any], Any] = read_only) -> Callable[..., Any]:
    """A function under its own name that reads its arguments, arrays of ours as host copies."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        __tracebackhide__ = True  # pytest shows the line of the program
        return function(*copies(args), **copies(kwargs))

    return call


def _is_element(value: Any) -> bool:
    """Whether an array of ours is what NumPy has as a scalar."""
    return value.ndim == 0 and issubclass(value.__class__, np.generic)


def compute(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], writable: bool = False) -> Any:
    """NumPy's function on host copies. Copies that it writes come back into the arrays; `writable` says beforehand that it writes."""
    name = getattr(function, "__name__", "")
    writable = writable or name in _WRITERS or kwargs.get("out") is not None
    while True:
        loan = _Loan(writable, with_gaps=name == "view")  # which NumPy refuses for elements that lie apart
        try:
            result = function(*loan.give(args), **{k: loan.give(v) for k, v in kwargs.items()})
        except ValueError as error:
            if writable or "read-only" not in str(error):
                raise
            writable = True
            continue
        finally:
            loan.take_back()  # a function that raises may have written, as ufuncs do under np.errstate(all="raise")
        return loan.own(result)


def full_name(function: Any) -> str:
    """numpy.linalg.slogdet, numpy.sort, and so on."""
    module = getattr(function, "__module__", None) or "numpy"
    module = "numpy" if module.startswith(("numpy._core", "numpy.lib._")) else module
    return f"{module}.{getattr(function, '__qualname__', None) or getattr(function, '__name__', function)}"


def note(name: str, reason: str) -> Event:
    """Reports a fallback at the program's line: the first one there warns, each one counts.

    Raises
    ------
    FallbackError
        Fallbacks are forbidden.
    """
    if strict:
        raise FallbackError(f"{name} runs on the host, on NumPy ({reason}); --strict forbids it")
    file, line = program_line(sys._getframe(1))
    event = events.get((file, line, name))
    if event is None:
        event = events[file, line, name] = Event(name, reason, file, line)
        if config.fallback != "ignore":
            warn(f"{name} runs on the host, on NumPy: {reason}", FallbackWarning)
    event.calls += 1
    return event


def on_host(function: Callable[..., Any], reason: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call that only NumPy can do, reported."""
    event = note(full_name(function), reason)
    start = time.perf_counter()
    try:
        return compute(function, args, kwargs)
    finally:
        event.seconds += time.perf_counter() - start


def host_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function under its own name that NumPy computes on the host."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        return on_host(function, "broadcloth does not have it", args, kwargs)

    return call


def _in_program(trace: TracebackType | None) -> bool:
    """Whether an exception passed through code that is neither ours nor NumPy's: a function that the program gave raised it."""
    while trace is not None:
        if not trace.tb_frame.f_code.co_filename.startswith((_PACKAGE, _NUMPY)):
            return True
        trace = trace.tb_next
    return False


def _first_sentence(error: BaseException) -> str:
    text = str(error).splitlines()[0] if str(error) else type(error).__name__
    return text if len(text) < 160 else text[:157] + "..."


def _numpys(what: Any) -> Callable[..., Any] | None:
    """NumPy's counterpart of a function, a method, a ufunc or an operator that refused its arguments."""
    if isinstance(what, _c.program_function):
        return what.numpy_function  # type: ignore[no-any-return]
    found: Any = np
    for part in (what if isinstance(what, str) else what.__name__).split("."):  # "add.reduce" is a method of a ufunc
        found = getattr(found, part, None)
    return found  # type: ignore[no-any-return]


def _computes_functions(values: tuple[Any, ...]) -> bool:
    """Whether an argument, or one in a list, has an `__array_function__` of its own."""
    kinds = {kind for v in values for kind in (set(map(type, v)) if type(v) in (list, tuple) else (type(v),))}
    return any(hasattr(k, "__array_function__") for k in kinds - {np.ndarray, _c.ndarray} if not issubclass(k, np.generic))


def refused(what: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None, error: BaseException) -> Any:
    """Called by the extension when something of broadcloth raised `error`: NumPy's result, NumPy's exception, or NotImplemented.

    Errors that NumPy raises too are the program's own and are not reported.
    """
    if not isinstance(error, _REFUSALS) or isinstance(error, FallbackError) or _in_program(error.__traceback__):
        return NotImplemented
    if kwargs and kwargs.get("copy") is False:  # which no result of a host copy can be
        return NotImplemented
    function = _numpys(what)
    if function is None:
        return NotImplemented
    if _computes_functions((*args, *(kwargs or {}).values())):  # which has been asked, and asks for the function itself
        function = getattr(function, "_implementation", function)
    start = time.perf_counter()
    try:
        result = compute(function, args, kwargs or {})
    except FallbackError:
        raise
    except Exception as theirs:
        return theirs.with_traceback(None)
    event = note(full_name(function), _first_sentence(error))
    event.seconds += time.perf_counter() - start
    return result
