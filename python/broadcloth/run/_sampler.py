"""Where the program's main thread is, looked at a few hundred times a second from another thread."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass, field
from types import FrameType

from ._owner import Owner

_INTERVAL = 0.004  # seconds; a look takes some 20 microseconds

Line = tuple[str, int]


@dataclass
class Sample:
    """One look: when, for how long it stands, and the program's lines, the innermost first."""

    at: float
    seconds: float
    lines: tuple[Line, ...]


@dataclass
class Sampler:
    """Samples the thread that makes it, from `start` to `stop`."""

    owner: Owner
    samples: list[Sample] = field(default_factory=list)
    began: float = 0.0
    ended: float = 0.0

    def __post_init__(self) -> None:
        self._thread_id = threading.get_ident()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="broadcloth sampler", daemon=True)

    def start(self) -> None:
        self.began = time.perf_counter()
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self.ended = time.perf_counter()

    @property
    def seconds(self) -> float:
        return self.ended - self.began

    def _run(self) -> None:
        last = time.perf_counter()
        while not self._stop.wait(_INTERVAL):
            frame = sys._current_frames().get(self._thread_id)
            now = time.perf_counter()
            self.samples.append(Sample(last, now - last, self._lines(frame)))
            last = now

    def _lines(self, frame: FrameType | None) -> tuple[Line, ...]:
        lines = []
        while frame is not None:
            file, module = frame.f_code.co_filename, frame.f_globals.get("__name__", "")
            if self.owner.has(file, module) if not file.startswith("<") else module == "__main__":
                lines.append((file, frame.f_lineno or 0))
            frame = frame.f_back
        return tuple(lines)
