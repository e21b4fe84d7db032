"""Events, as CuPy and Numba name them."""

from __future__ import annotations

from typing import Any

from .. import _broadcloth as _c


class Event(_c.EventBase):
    """A point in a stream's order: to wait for, on the device or on the host, and to take times between.

    Parameters
    ----------
    block : bool
        Waiting sleeps instead of spinning.
    disable_timing : bool
        The event is cheaper and has no time.
    interprocess : bool
        Another process may open it; needs `disable_timing`.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> start, end = cuda.Event(), cuda.Event()
    >>> start.record()
    >>> a = bc.arange(1000).sum()
    >>> end.record()
    >>> end.synchronize()
    >>> cuda.get_elapsed_time(start, end) >= 0
    True
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def __repr__(self) -> str:
        return f"<Event {self.ptr:#x} (device {self.device})>" if self.ptr else f"<Event (device {self.device})>"

    @classmethod
    def _adopt(cls, handle: int) -> Event:
        event = cls(disable_timing=True)
        event._take(handle)
        return event

    @classmethod
    def from_ipc_handle(cls, handle: bytes) -> Event:
        """Another process's event, by what its `ipc_handle()` gave."""
        from .runtime import _events, ipcOpenEventHandle

        return _events.pop(ipcOpenEventHandle(handle))

    def ipc_handle(self) -> bytes:
        """What another process opens an interprocess event with."""
        from .runtime import ipcGetEventHandle

        return ipcGetEventHandle(self)

    @property
    def handle(self) -> int:
        """The native handle, as Numba calls it."""
        return self.ptr

    def record(self, stream: Any = None) -> None:
        """Marks the work that a stream has now (the current stream unless given)."""
        self._record(stream)

    def query(self) -> bool:
        """Tells whether the marked work is done."""
        return self.done

    def wait(self, stream: Any = None) -> None:
        """Work queued on a stream (the current one unless given) from now on waits for what the event marks."""
        from ._stream import ExternalStream, Stream, get_current_stream

        if stream is None or stream == 0:
            stream = get_current_stream()
        elif not isinstance(stream, _c.StreamBase):
            stream = ExternalStream(stream)
        Stream.wait_event(stream, self)


def event(timing: bool = True) -> Event:
    """A new event, as Numba spells it."""
    return Event(disable_timing=not timing)


def get_elapsed_time(start_event: Event, end_event: Event) -> float:
    """Milliseconds between two events that are done."""
    return start_event.elapsed_time(end_event)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Milliseconds between two events, as Numba spells it."""
    return evtstart.elapsed_time(evtend)
