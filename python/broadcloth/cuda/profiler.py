"""What tells CUDA's profilers (Nsight Systems, Nsight Compute) when to record; `broadcloth.profiler` measures by itself."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .. import _broadcloth as _c


def start() -> None:
    """Lets a profiler that was started with the program record from now on."""
    from .runtime import profilerStart

    profilerStart()


def stop() -> None:
    """Runs what waits, and lets the profiler record no more."""
    from .runtime import profilerStop

    _c.synchronize()
    profilerStop()


@contextlib.contextmanager
def profile() -> Iterator[None]:
    """A with block that a profiler records.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> with cuda.profile():
    ...     a = bc.arange(10).sum()
    """
    start()
    try:
        yield
    finally:
        stop()


profiling = profile
profile_start = start
profile_stop = stop
