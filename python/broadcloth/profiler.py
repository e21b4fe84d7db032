"""Which kernels and copies ran, and how long each took."""

from __future__ import annotations

from types import TracebackType

from . import _broadcloth as _c
from ._namespace import listing

KernelRecord = _c.KernelRecord
CopyRecord = _c.CopyRecord
__all__ = ["CopyRecord", "KernelRecord", "Record", "record"]


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.2f} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _size(count: float) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= scale:
            return f"{count / scale:.2f} {unit}"
    return f"{count:.0f} B"


class Record:
    """What ran inside a `with record():` block.

    Attributes
    ----------
    kernels : list of KernelRecord
        name, device, elements, bytes (read and written), time (seconds), file and line of the program, in the order of launch.
    copies : list of CopyRecord
        kind, device, bytes, time.

    Examples
    --------
    >>> with bc.profiler.Record() as r:
    ...     total = float(bc.ones(1000).sum())
    >>> r.time > 0
    True
    """

    def __init__(self) -> None:
        self._recorder = _c.recorder()

    @property
    def kernels(self) -> list[_c.KernelRecord]:
        return self._recorder.kernels

    @property
    def copies(self) -> list[_c.CopyRecord]:
        return self._recorder.copies

    @property
    def time(self) -> float:
        """Seconds spent in kernels and copies."""
        return sum(k.time for k in self.kernels) + sum(c.time for c in self.copies)

    def clear(self) -> None:
        """Forgets what was recorded so far."""
        self._recorder.clear()

    def __enter__(self) -> Record:
        _c.synchronize()  # what was asked for before belongs to before
        self._recorder.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        try:
            if error is None:
                _c.synchronize()
        finally:
            self._recorder.stop()

    def summary(self) -> str:
        """A table: one line a kernel, the slowest first, then the copies."""
        groups: dict[tuple[str, str], list[float]] = {}
        for k in self.kernels:
            row = groups.setdefault((k.name, k.device), [0, 0.0, 0])
            row[0] += 1
            row[1] += k.time
            row[2] += k.bytes
        for c in self.copies:
            row = groups.setdefault((f"copy {c.kind}", c.device), [0, 0.0, 0])
            row[0] += 1
            row[1] += c.time
            row[2] += c.bytes
        if not groups:
            return "nothing ran"
        lines = [f"{'what':<44} {'device':<8} {'calls':>7} {'time':>11} {'bytes':>11} {'GB/s':>8}"]
        for (name, device), (calls, seconds, count) in sorted(groups.items(), key=lambda item: -item[1][1]):
            rate = f"{count / seconds / 1e9:.1f}" if seconds > 0 else "-"
            short = name if len(name) <= 44 else name[:43] + "…"
            lines.append(f"{short:<44} {device:<8} {calls:>7.0f} {_time(seconds):>11} {_size(count):>11} {rate:>8}")
        lines.append(f"{len(self.kernels)} kernels, {len(self.copies)} copies, {_time(self.time)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.summary()

    def __repr__(self) -> str:
        return f"<Record: {len(self.kernels)} kernels, {len(self.copies)} copies, {_time(self.time)}>"


def record() -> Record:
    """Records the kernels and copies of a block; work that waits is run at both ends of it, so that the block is charged with its own.

    Examples
    --------
    >>> a = bc.arange(1000.0)
    >>> with bc.profiler.record() as r:
    ...     b = a * a + bc.sin(a)
    >>> len(r.kernels)
    1
    """
    return Record()

__dir__ = listing(__all__)
