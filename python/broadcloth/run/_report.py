"""`--report`: one screen that says where a program's time went and what to do about it; `--perfetto` writes the same as a timeline."""

from __future__ import annotations

import ast
import json
import linecache
import os
import sys
from collections import defaultdict
from dataclasses import dataclass
from typing import IO, Any

from .. import _broadcloth as _c
from .._device import device_info
from . import _fallback
from ._owner import Owner
from ._sampler import Line, Sampler

_ROWS = 12  # lines that are shown
_SHARED = 1 << 16  # elements from which on all cores work at one kernel

# The advice for each kind of wait: the words that name the wait, and what the program could write instead.
_INSTEAD = (
    ("truth", "test less often, or keep the test in the arrays: bc.where, a mask, (x < limit).any() every 10th step"),
    ("index", "take the number once with int(x), before the loop"),
    ("hash", "turn the array into numbers once, with x.tolist()"),
    ("library", "use broadcloth's function of this name where there is one, or hand the array over once, after the loop"),
    ("look at values", "look after the loop, or collect the values in an array and look once"),
)


@dataclass
class Row:
    """The seconds of one line of the program."""

    device: float = 0.0  # in kernels that compute what the line asked for
    host: float = 0.0  # in Python, and in libraries that it called
    copies: float = 0.0
    wait: float = 0.0  # for values that the line looked at; the kernels that it waited for are in `device`

    @property
    def total(self) -> float:
        return self.device + self.host + self.copies


class _Loops:
    """Which lines of the program's files lie inside of loops."""

    def __init__(self) -> None:
        self._spans: dict[str, list[tuple[int, int]]] = {}

    def has(self, line: Line) -> bool:
        file, number = line
        if file not in self._spans:
            self._spans[file] = self._of_file(file)
        return any(first <= number <= last for first, last in self._spans[file])

    @staticmethod
    def _of_file(file: str) -> list[tuple[int, int]]:
        try:
            tree = ast.parse("".join(linecache.getlines(file)))
        except (SyntaxError, ValueError):
            return []
        found = []
        for node in ast.walk(tree):
            if isinstance(node, (ast.For, ast.AsyncFor, ast.While)):
                found.append((node.body[0].lineno, node.end_lineno or node.lineno))
            elif isinstance(node, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
                found.append((node.lineno, node.end_lineno or node.lineno))
        return found


class Report:
    """Watches a program from `start` to `stop`."""

    def __init__(self, owner: Owner, name: str) -> None:
        self._name, self._owner = name, owner
        self._sampler = Sampler(owner)
        self._recorder = _c.recorder()
        self._compiled_before = _c.compile_seconds()

    def start(self) -> None:
        if elements := _c._placement()[0]:
            _c._set_placement(elements)
        _c.zeros(elements or 1)[0].item()  # starts the device here: its 0.1 to 0.5 s belong to no line of the program
        _c.watch_waits(True)
        self._recorder.start()
        self._sampler.start()

    def stop(self) -> None:
        """Ends the watch; work that nobody has looked at yet is the program's too."""
        _c.synchronize()
        self._sampler.stop()
        self._recorder.stop()
        self.waits = _c.waits()
        _c.watch_waits(False)
        self.compile = _c.compile_seconds() - self._compiled_before
        self._add_up()

    # ---- The sums ------------------------------------------------------------------------------------------------------------------------

    def _add_up(self) -> None:
        self.rows: dict[Line, Row] = defaultdict(Row)
        self.kernels, self.copies = self._recorder.kernels, self._recorder.copies
        for k in self.kernels:
            self.rows[k.file, k.line].device += k.time
        for c in self.copies:
            self.rows[c.file, c.line].copies += c.time
        for w in self.waits:
            self.rows[w.file, w.line].wait += w.time
        loops = _Loops()
        self.loop_lines: dict[Line, float] = defaultdict(float)  # seconds of host time of lines that run again and again
        host: dict[Line, float] = defaultdict(float)
        in_loop: dict[Line, float] = defaultdict(float)
        for s in self._sampler.samples:
            line = s.lines[0] if s.lines else ("", 0)
            host[line] += s.seconds
            if any(map(loops.has, s.lines)):
                in_loop[line] += s.seconds
        # The main thread runs the kernels of the CPU itself, or waits for them: what of them ran meanwhile is device time.
        during = self._kernel_seconds_by_sample()
        for line, seconds in host.items():
            own = max(0.0, seconds - during.get(line, 0.0))
            self.rows[line].host += own
            if in_loop[line]:
                self.loop_lines[line] = own * in_loop[line] / seconds
        self.device_seconds = sum(k.time for k in self.kernels)
        self.copy_seconds = sum(c.time for c in self.copies)
        self.wait_seconds = sum(w.time for w in self.waits)
        self.host_seconds = sum(r.host for r in self.rows.values())

    def _kernel_seconds_by_sample(self) -> dict[Line, float]:
        """How long kernels and copies ran while the main thread was seen at each line."""
        spans = sorted((k.start, k.start + k.time) for k in (*self.kernels, *self.copies))
        found: dict[Line, float] = defaultdict(float)
        k = 0
        for s in self._sampler.samples:
            line, end = s.lines[0] if s.lines else ("", 0), s.at + s.seconds
            while k < len(spans) and spans[k][1] <= s.at:
                k += 1
            at = k
            while at < len(spans) and spans[at][0] < end:
                found[line] += max(0.0, min(end, spans[at][1]) - max(s.at, spans[at][0]))
                at += 1
        return found

    # ---- Amdahl's law --------------------------------------------------------------------------------------------------------------------

    def parallel_share(self) -> float:
        """The share of the time on one lane that could be parallel: kernels, fallbacks, Python loops that compute element by element."""
        loops = sum(seconds for line, seconds in self.loop_lines.items() if self._computes_elements(line))
        fallbacks = sum(e.seconds for e in _fallback.events.values())
        # Kernels of large arrays ran on all cores already: one lane would need so many times their time. (A GPU's lane is no core.)
        lanes = self.lanes()[0]
        saved = sum(k.time * (lanes - 1) for k in self.kernels if str(k.device).startswith("cpu") and k.elements >= _SHARED)
        possible = self.device_seconds + saved + max(loops, min(fallbacks, self.host_seconds))
        total = self._sampler.seconds + saved
        return min(1.0, possible / total) if total else 0.0

    def _computes_elements(self, line: Line) -> bool:
        """Whether a line in a loop is Python's own work, and not the recording of array expressions."""
        return self.rows[line].device < 0.1 * self.rows[line].host

    @staticmethod
    def device() -> Any:
        """The device of large arrays."""
        return _c._placement()[1] or _c.default_device()

    def lanes(self) -> tuple[int, str]:
        """How many at once this device computes, against one core in Python's place, and in words."""
        device = self.device()
        if device.type == "cuda":
            count = int(device_info(device).get("multiprocessors", 1))
            return count * 128, f"{device}, {count} multiprocessors of 128 lanes"
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        return count, f"{count} CPU core{'s' if count > 1 else ''}"

    # ---- Text ----------------------------------------------------------------------------------------------------------------------------

    def write(self, to: IO[str]) -> None:
        """Prints the screen."""
        for part in (self._head(), self._table(), self._fallbacks(), self._waits(), self._amdahl()):
            if part:
                print("\n".join(part), file=to)

    def _head(self) -> list[str]:
        total = self._sampler.seconds
        parts = {"in kernels": self.device_seconds, "in Python and libraries": self.host_seconds, "in copies": self.copy_seconds}
        text = ", ".join(f"{_time(v)} {k}" for k, v in parts.items() if v > 0)
        compiling = f"; {_time(self.compile)} of compiling, beside that" if self.compile > 0 else ""
        return ["", f"broadcloth: {self._name} took {_time(total)} on {self.device()}: {text or 'nothing to see'}{compiling}", ""]

    def _table(self) -> list[str]:
        rows = sorted(((line, r) for line, r in self.rows.items() if r.total > 0 and line[0]), key=lambda item: -item[1].total)
        total = self._sampler.seconds or 1.0
        lines = [f"{'share':>6} {'device':>9} {'host':>9} {'copies':>9} {'wait':>9}  line"]
        for (file, number), r in rows[:_ROWS]:
            source = linecache.getline(file, number).strip()
            times = " ".join(f"{_time(v) if v >= 1e-6 else '-':>9}" for v in (r.device, r.host, r.copies, r.wait))
            lines.append(f"{100 * r.total / total:5.1f}% {times}  {_short(file)}:{number}  {_cut(source, 70)}")
        if len(rows) > _ROWS:
            lines.append(f"{100 * sum(r.total for _, r in rows[_ROWS:]) / total:5.1f}%{'':41}{len(rows) - _ROWS} more lines")
        return lines

    def _fallbacks(self) -> list[str]:
        events = sorted(_fallback.events.values(), key=lambda e: -e.seconds)
        if not events:
            return []
        lines = ["", "On the host, by NumPy:"]
        lines += [f"  {_short(e.file)}:{e.line}  {e.name}, {_times(e.calls)}, {_time(e.seconds)}: {_cut(e.reason, 80)}" for e in events[:6]]
        return lines + ([f"  {len(events) - 6} more"] if len(events) > 6 else [])

    def _waits(self) -> list[str]:
        waits = sorted(self.waits, key=lambda w: -w.time)
        if not waits:
            return []
        lines = ["", "Waits for values:"]
        for w in waits[:6]:
            lines.append(f"  {_short(w.file)}:{w.line}  {_times(w.times)}, {_time(w.time)}, {w.bytes} bytes: {w.what}")
            advice = next((text for word, text in _INSTEAD if word in w.what), None)
            if advice and w.times > 1:
                lines.append(f"      instead: {advice}")
        return lines + ([f"  {len(waits) - 6} more"] if len(waits) > 6 else [])

    def _amdahl(self) -> list[str]:
        p = self.parallel_share()
        n, words = self.lanes()
        ceiling = 1 / ((1 - p) + p / n)
        limit = f"{1 / (1 - p):.3g}" if p < 0.999 else "more than 1000"
        lines = [
            "",
            f"Amdahl's law: {100 * p:.1f} % of the work could be parallel; on {words} that is at most {ceiling:.3g} times one lane,"
            f" on any device {limit}",
        ]
        attack = max(self.loop_lines.items(), key=lambda item: item[1] if self._computes_elements(item[0]) else 0, default=None)
        worst = max(self.rows.items(), key=lambda item: item[1].total, default=None)
        if attack and self._computes_elements(attack[0]) and attack[1] > 0.1 * self._sampler.seconds and attack[0][0]:
            (file, number), seconds = attack
            lines.append(
                f"Attack first: {_short(file)}:{number}, {_time(seconds)} in a Python loop; write it with whole arrays,"
                " or compile its function with bc.njit"
            )
        elif worst and worst[0][0]:
            (file, number), row = worst
            lines.append(f"Attack first: {_short(file)}:{number}, {_time(row.total)}")
        return lines

    # ---- Perfetto ------------------------------------------------------------------------------------------------------------------------

    def write_perfetto(self, path: str) -> None:
        """Writes the Trace Event Format: a track of the program's lines, one of each device's kernels, one of copies."""
        events: list[dict[str, Any]] = []
        tracks: dict[str, int] = {}

        def add(track: str, name: str, start: float, seconds: float, **more: Any) -> None:
            number = tracks.setdefault(track, len(tracks) + 1)
            begin = (start - self._sampler.began) * 1e6
            events.append({"name": name, "ph": "X", "pid": 1, "tid": number, "ts": begin, "dur": seconds * 1e6, "args": more})

        for line, at, seconds in self._stretches():
            add(
                "program",
                f"{_short(line[0])}:{line[1]}" if line[0] else "outside of the program",
                at,
                seconds,
                text=linecache.getline(*line).strip(),
            )
        for k in self.kernels:
            add(f"kernels on {k.device}", k.name, k.start, k.time, elements=k.elements, bytes=k.bytes, line=f"{_short(k.file)}:{k.line}")
        for c in self.copies:
            add("copies", c.kind, c.start, c.time, bytes=c.bytes, line=f"{_short(c.file)}:{c.line}")
        names = [{"name": "thread_name", "ph": "M", "pid": 1, "tid": number, "args": {"name": track}} for track, number in tracks.items()]
        with open(path, "w") as f:
            json.dump({"traceEvents": [*names, *events], "displayTimeUnit": "ms"}, f)

    def _stretches(self) -> list[tuple[Line, float, float]]:
        """The program's lines in order, samples of one line in a row as one."""
        found: list[tuple[Line, float, float]] = []
        for s in self._sampler.samples:
            line = s.lines[0] if s.lines else ("", 0)
            if found and found[-1][0] == line:
                found[-1] = line, found[-1][1], found[-1][2] + s.seconds
            else:
                found.append((line, s.at, s.seconds))
        return found


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _short(file: str) -> str:
    return os.path.basename(file) if file else "?"


def _cut(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 3] + "..."


def print_report(report: Report) -> None:
    """The screen goes to standard error: what the program prints stays what it is."""
    sys.stdout.flush()
    report.write(sys.stderr)
