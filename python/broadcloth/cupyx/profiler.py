"""Times of calls, ranges and recordings for profilers, with CuPy's spelling."""

from __future__ import annotations

import contextlib
import functools
import math
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import broadcloth as bc

from .._namespace import listing
from ..cuda import Event, nvtx
from ..cuda import profile as profile

__all__ = ["benchmark", "profile", "time_range"]


class Times:
    """The times of one `benchmark` in seconds: of the host until all was queued (`cpu_times`), and of the device until it was computed
    (`gpu_times`, a row a device). Where there is no GPU the device is the CPU, and both are times of it."""

    def __init__(self, name: str, cpu: list[float], gpu: list[list[float]], devices: tuple[str, ...]) -> None:
        self.name = name
        self.cpu_times = np.array(cpu)
        self.gpu_times = np.array(gpu)
        self._devices = devices

    def to_str(self, show_gpu: bool = False) -> str:
        """One line: the mean, its spread, the shortest and the longest time, in microseconds."""
        rows = [("CPU", self.cpu_times)]
        if show_gpu:
            rows += [(d, t) for d, t in zip(self._devices, self.gpu_times, strict=True) if d != "CPU"]
        shown = []
        for label, seconds in rows:
            t = seconds * 1e6
            if not t.size:
                shown.append(f"{label}: no time")
                continue
            spread = f" +/- {t.std():6.3f} (min: {t.min():9.3f} / max: {t.max():9.3f})" if t.size > 1 else ""
            shown.append(f"{label}: {t.mean():9.3f} us{spread}")
        return f"{self.name:<20s}: " + "     ".join(shown)

    def __str__(self) -> str:
        return self.to_str(show_gpu=True)

    __repr__ = __str__


def benchmark(
    func: Callable[..., Any],
    args: tuple[Any, ...] = (),
    kwargs: dict[str, Any] | None = None,
    n_repeat: int = 10000,
    *,
    name: str | None = None,
    n_warmup: int = 10,
    max_duration: float = math.inf,
    devices: Iterable[int] | None = None,
) -> Times:
    """Calls a function many times, and tells how long it keeps the host and the device busy.

    Array expressions are computed when somebody looks at them. So each call is followed by a flush inside the timed part, while what the
    function returned is kept: it is computed and counted, in whatever containers it lies. Results that the function drops are not
    computed, as nobody could see them. On a GPU the host's time ends when the work is queued and the device's when it is done; on the CPU
    both end when it is done.

    Parameters
    ----------
    func : callable
        Called as ``func(*args, **kwargs)``.
    n_repeat, n_warmup : int
        How often it is timed, after how many calls that are not.
    name : str, optional
        In the report; the function's own unless given.
    max_duration : float
        Seconds of timed calls after which no more are made.
    devices : iterable of int, optional
        The devices whose time is taken; the current one unless given.

    Returns
    -------
    Times
        ``cpu_times`` and ``gpu_times`` in seconds; printed, its rows are called "CPU" and, where there is a GPU, "GPU-0" by its number.

    Raises
    ------
    ValueError
        An argument has the wrong type.

    Examples
    --------
    >>> from broadcloth.cupyx import profiler
    >>> a = bc.arange(1000.0)
    >>> times = profiler.benchmark(lambda: (a * 2).sum(), n_repeat=5, n_warmup=1)
    >>> times.cpu_times.shape, times.gpu_times.shape
    ((5,), (1, 5))
    """
    if kwargs is None:
        kwargs = {}
    for value, what, kinds in (
        (func, "func", Callable), (args, "args", tuple), (kwargs, "kwargs", dict), (n_repeat, "n_repeat", int), (n_warmup, "n_warmup", int)
    ):  # fmt: skip
        if not isinstance(value, kinds):  # type: ignore[arg-type]
            raise ValueError(f"benchmark: '{what}' has the wrong type: {type(value).__name__}")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"benchmark: expected a str for 'name', got {type(name).__name__}")
    from ..cuda import Device, get_device_id

    chosen = (get_device_id(),) if devices is None else tuple(devices)
    marks = []
    names = []
    for number in chosen:
        with Device(number) as chosen_device:
            marks.append((Event(), Event()))
            names.append(f"GPU-{number}" if chosen_device.type == "cuda" else "CPU")
    for _ in range(n_warmup):
        result = func(*args, **kwargs)
        bc.synchronize()
    bc.synchronize()
    everywhere = bc.devices()
    cpu: list[float] = []
    gpu: list[list[float]] = [[] for _ in chosen]
    spent = 0.0
    for _ in range(n_repeat):
        for number, (start, _end) in zip(chosen, marks, strict=True):
            with Device(number):
                start.record()
        begin = time.perf_counter()
        result = func(*args, **kwargs)  # kept until it is computed: what nobody has is never run
        for device in everywhere:
            bc.flush(device)
        cpu.append(time.perf_counter() - begin)
        for number, (_start, end) in zip(chosen, marks, strict=True):
            with Device(number):
                end.record()
        for row, (start, end) in zip(gpu, marks, strict=True):
            end.synchronize()
            row.append(start.elapsed_time(end) * 1e-3)
        spent += time.perf_counter() - begin
        del result
        if spent >= max_duration:
            break
    return Times(name or str(getattr(func, "__name__", func)), cpu, gpu, tuple(names))


class time_range(contextlib.ContextDecorator):
    """A range with a name in Nsight Systems: a with block or a decorator.

    Parameters
    ----------
    message : str, optional
        The name; a decorated function's own unless given.
    color_id, argb_color : int, optional
        One of the profiler's colours, or a colour as 0xAARRGGBB; not both.
    sync : bool
        Waits for the device before the range begins and ends, so that it holds the device's work.

    Examples
    --------
    >>> from broadcloth.cupyx import profiler
    >>> with profiler.time_range("sum", sync=True):
    ...     a = bc.arange(10).sum()
    """

    def __init__(self, message: str | None = None, color_id: int | None = None, argb_color: int | None = None, sync: bool = False) -> None:
        if color_id is not None and argb_color is not None:
            raise ValueError("time_range: expected 'color_id' or 'argb_color', got both")
        self.message = message
        self.color_id = -1 if color_id is None else color_id
        self.argb_color = argb_color
        self.sync = sync

    def __enter__(self) -> time_range:
        if self.message is None:
            raise TypeError("time_range: a with block needs a message")
        if self.sync:
            bc.synchronize()
        if self.argb_color is not None:
            nvtx.RangePushC(self.message, self.argb_color)
        else:
            nvtx.RangePush(self.message, self.color_id)
        return self

    def __exit__(self, *error: object) -> None:
        if self.sync:
            bc.synchronize()
        nvtx.RangePop()

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:  # type: ignore[override]
        message = self.message or func.__name__

        @functools.wraps(func)
        def ranged(*args: Any, **kwargs: Any) -> Any:
            color = None if self.argb_color is not None else self.color_id
            with time_range(message, color, self.argb_color, self.sync):
                return func(*args, **kwargs)

        return ranged

__dir__ = listing(__all__)
