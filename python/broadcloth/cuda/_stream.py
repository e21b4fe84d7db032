"""Streams, as CuPy and Numba name them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from .. import _broadcloth as _c
from ._event import Event


class Stream(_c.StreamBase):
    """A queue of work on a device. `with stream:` sends this thread's array operations, copies and kernels to it.

    Work of one stream runs in order; work of different streams may overlap. Arrays that cross streams are waited for by themselves: a
    stream that reads what another one writes waits for it on the device, without a word from the program.

    Parameters
    ----------
    null : bool
        The device's default stream instead of a new one; `Stream.null` is such a stream.
    non_blocking : bool
        The stream does not wait for the default stream.
    ptds : bool
        This thread's own default stream; `Stream.ptds` is such a stream.
    priority : int, optional
        A smaller number runs first.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> stream = cuda.Stream(non_blocking=True)
    >>> with stream:
    ...     a = bc.arange(4) * 2
    >>> stream.synchronize()
    >>> a
    array([0, 2, 4, 6])
    """

    null: Any
    ptds: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __repr__(self) -> str:
        kind = {"null": "null", "per-thread": "ptds", "external": "external"}.get(self._kind, "")
        return f"<Stream {kind + ' ' if kind else ''}{self.ptr:#x} (device {self.device})>"

    def __int__(self) -> int:
        return self.ptr

    def __bool__(self) -> bool:
        return True

    @classmethod
    def from_external(cls, obj: Any) -> ExternalStream:
        """Another library's stream, by an object with `__cuda_stream__` or by its handle.

        Examples
        --------
        >>> from broadcloth import cuda
        >>> cuda.Stream.from_external(cuda.Stream()).external
        True
        """
        return ExternalStream(obj)

    @property
    def is_non_blocking(self) -> bool:
        """Whether the stream does not wait for the default stream."""
        return self.non_blocking

    # Numba's name for the handle.
    @property
    def handle(self) -> int:
        """The native handle, as Numba calls it."""
        return self.ptr

    def record(self, event: Event | None = None) -> Event:
        """Marks the work that is queued now with an event (a new one unless given) and returns it."""
        if event is None:
            event = Event()
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Work queued from now on waits for what the event marks."""
        self._wait_event(event)

    def wait_stream(self, stream: _c.StreamBase) -> None:
        """Work queued from now on waits for all work that another stream has now."""
        self.wait_event(Stream.record(stream, Event(disable_timing=True)))  # type: ignore[arg-type]

    def add_callback(self, callback: Callable[[Any, int, Any], Any], arg: Any = None) -> None:
        """Calls `callback(stream, status, arg)` in a thread of the driver's when the stream has come there.

        The function must not use the device.
        """
        self._launch_host(callback, (self, 0, arg))

    def launch_host_func(self, callback: Callable[[Any], Any], arg: Any = None) -> None:
        """Calls `callback(arg)` in a thread of the driver's when the stream has come there."""
        self._launch_host(callback, (arg,))

    def async_done(self) -> Any:
        """A future of the running event loop that is set when the stream's work is done."""
        import asyncio

        loop = asyncio.get_running_loop()
        future = loop.create_future()

        def resolve() -> None:
            if not future.done():
                future.set_result(self)

        self._launch_host(loop.call_soon_threadsafe, (resolve,))
        return future

    @contextlib.contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """A with block that waits for the stream at its end.

        Examples
        --------
        >>> from broadcloth import cuda
        >>> stream = cuda.stream()
        >>> with stream.auto_synchronize():
        ...     d = cuda.to_device([1, 2, 3], stream=stream)
        """
        try:
            yield self
        finally:
            self.synchronize()

    def begin_capture(self, mode: int | None = None) -> None:
        """From now on the stream's work is not run but becomes a `Graph`, which `end_capture` returns.

        Arrays that are computed inside have their values after each launch of the graph. Copies between the device and pageable host
        memory cannot be captured.
        """
        self._begin_capture()

    def end_capture(self) -> _c.Graph:
        """Ends a capture and returns the graph."""
        return self._end_capture()


Stream.null = Stream(null=True)
Stream.ptds = Stream(ptds=True)


class ExternalStream(Stream):
    """A stream of another library: PyTorch's, CuPy's, Numba's, or a native handle. It is kept alive as long as this object lives.

    Parameters
    ----------
    ptr : int or object
        The handle, or an object with `__cuda_stream__`, `cuda_stream`, `ptr` or `handle`.
    device_id : int
        The device; the current one unless given.
    """

    def __new__(cls, ptr: Any, device_id: int = -1) -> Any:
        if device_id < 0:
            return super().__new__(cls, foreign=ptr)
        with _c.device(f"cuda:{device_id}"):
            return super().__new__(cls, foreign=ptr)


def get_current_stream(device_id: int = -1) -> Stream:
    """The stream that this thread's work goes to.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.get_current_stream() == cuda.Stream.null
    True
    """
    current = _c.current_stream(None if device_id < 0 else _c.device(f"cuda:{device_id}"))
    return Stream.null if current is None else current


def stream(non_blocking: bool = False, priority: int | None = None) -> Stream:
    """A new stream, as Numba spells it."""
    return Stream(non_blocking=non_blocking, priority=priority)


# CuPy keeps these in a module of this name.
for _other in (Stream, ExternalStream, get_current_stream):
    setattr(stream, _other.__name__, _other)


def default_stream() -> Stream:
    """The device's default stream, as Numba spells it."""
    return Stream.null


def legacy_default_stream() -> Stream:
    """The device's default stream."""
    return Stream.null


def per_thread_default_stream() -> Stream:
    """This thread's own default stream."""
    return Stream.ptds


def external_stream(ptr: Any) -> ExternalStream:
    """Another library's stream, by its handle, as Numba spells it."""
    return ExternalStream(ptr)
