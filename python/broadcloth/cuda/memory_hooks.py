"""Hooks of the memory pools that report: `DebugPrintHook` prints, `LineProfileHook` says which lines of the program took memory."""

from __future__ import annotations

import os
import sys
from typing import Any, TextIO

from .. import _broadcloth as _c
from .._namespace import listing
from ._memory import MemoryHook

__all__ = ["DebugPrintHook", "LineProfileHook"]


class DebugPrintHook(MemoryHook):
    """Prints a line for each piece of memory that a pool takes, gives and takes back.

    Parameters
    ----------
    file : file, optional
        Where to; the standard output unless given.
    flush : bool
        Writes each line at once.

    Examples
    --------
    >>> import io
    >>> from broadcloth import cuda
    >>> out = io.StringIO()
    >>> with cuda.memory_hooks.DebugPrintHook(file=out):
    ...     a = bc.ones(1000)
    ...     bc.flush()
    >>> '"hook":"malloc"' in out.getvalue()
    True
    """

    name = "DebugPrintHook"

    def __init__(self, file: TextIO | None = None, flush: bool = True) -> None:
        self.file = file
        self.flush = flush

    def _print(self, hook: str, **facts: int) -> None:
        inside = ",".join(f'"{k}":{f"{v:#x}" if k.endswith("_ptr") or k == "pmem_id" else v}' for k, v in facts.items())
        print(f'{{"hook":"{hook}",{inside}}}', file=self.file or sys.stdout, flush=self.flush)

    def alloc_postprocess(self, **facts: int) -> None:
        self._print("alloc", **facts)

    def malloc_postprocess(self, **facts: int) -> None:
        self._print("malloc", **facts)

    def free_postprocess(self, **facts: int) -> None:
        self._print("free", **facts)


class _Frame:
    """A line of the program, with what it and those that it called took."""

    def __init__(self, place: tuple[str, int, str] | None) -> None:
        self.place = place
        self.used = self.acquired = 0
        self.calls: dict[tuple[str, int, str], _Frame] = {}

    def inside(self, place: tuple[str, int, str]) -> _Frame:
        return self.calls.setdefault(place, _Frame(place))


class LineProfileHook(MemoryHook):
    """Adds up, line by line of the program, the bytes that pools gave ("used") and that they took from the device for it ("acquired").

    Work that waits takes its memory when it runs: `broadcloth.flush()` after a line lets it run there.

    Parameters
    ----------
    max_depth : int
        How many callers are shown; 0: all.

    Examples
    --------
    >>> import io
    >>> from broadcloth import cuda
    >>> hook = cuda.memory_hooks.LineProfileHook()
    >>> with hook:
    ...     a = bc.ones(1000)
    ...     bc.flush()
    >>> out = io.StringIO()
    >>> hook.print_report(out)
    >>> "_root" in out.getvalue()
    True
    """

    name = "LineProfileHook"

    def __init__(self, max_depth: int = 0) -> None:
        self.max_depth = max_depth
        self._root = _Frame(None)
        self._package = os.path.dirname(os.path.abspath(_c.__file__))

    def _trace(self) -> list[tuple[str, int, str]]:
        frame: Any = sys._getframe(2)
        lines = []
        while frame is not None:
            code = frame.f_code
            if not code.co_filename.startswith(self._package):
                lines.append((code.co_filename, frame.f_lineno, code.co_name))
            frame = frame.f_back
        return lines[::-1]

    def _add(self, used: int, acquired: int) -> None:
        lines = self._trace()
        if self.max_depth:
            lines = lines[-self.max_depth :]
        frame = self._root
        frame.used, frame.acquired = frame.used + used, frame.acquired + acquired
        for line in lines:
            frame = frame.inside(line)
            frame.used, frame.acquired = frame.used + used, frame.acquired + acquired

    def malloc_postprocess(self, *, device_id: int, size: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
        self._add(mem_size, 0)

    def alloc_postprocess(self, *, device_id: int, mem_size: int, mem_ptr: int) -> None:
        self._add(0, mem_size)

    def print_report(self, file: TextIO | None = None) -> None:
        """Prints the lines as a tree, each with its bytes: used, then acquired."""
        self._print(self._root, 0, file or sys.stdout)

    def _print(self, frame: _Frame, depth: int, file: TextIO) -> None:
        label = "_root" if frame.place is None else f"{os.path.basename(frame.place[0])}:{frame.place[2]}:{frame.place[1]}"
        print(f"{'  ' * depth}{label} ({_bytes(frame.used)}, {_bytes(frame.acquired)})", file=file)
        for called in frame.calls.values():
            self._print(called, depth + 1, file)


def _bytes(count: float) -> str:
    for unit in ("B", "KB", "MB", "GB"):
        if count < 1024:
            return f"{count:.2f}{unit}"
        count /= 1024
    return f"{count:.2f}TB"

__dir__ = listing(__all__)
