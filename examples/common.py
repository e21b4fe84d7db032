"""What the examples share: their options, a clock, and a picture. Nothing here is needed to use broadcloth."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import broadcloth as bc

HERE = Path(__file__).resolve().parent


def options(doc: str | None) -> argparse.ArgumentParser:
    """An argument parser with what every example takes."""
    parser = argparse.ArgumentParser(description=(doc or "").strip().splitlines()[0])
    parser.add_argument("--device", help="cpu, cuda, cuda:1 … (the best one here unless given)")
    parser.add_argument("--no-numpy", action="store_true", help="leave out the comparison with NumPy")
    return parser


def use_device(name: str | None) -> Any:
    """`with use_device("cpu"):` makes new arrays on that device."""
    return bc.device(name if name else bc.default_device())


def wait(xp: Any) -> None:
    """NumPy computes at once; broadcloth computes when somebody looks, or here."""
    if xp is bc:
        bc.synchronize()


def clock(xp: Any, call: Callable[[], Any], seconds: float = 0.3) -> float:
    """The best time of one call, in seconds, over about `seconds`; the first calls, which compile kernels, do not count."""
    for _ in range(2):
        kept = call()
        wait(xp)
    best, end = float("inf"), time.perf_counter() + seconds
    while True:
        start = time.perf_counter()
        kept = call()  # held until it is computed: broadcloth never runs what nobody can see
        wait(xp)
        now = time.perf_counter()
        best = min(best, now - start)
        del kept
        if now > end:
            return best


def show(seconds: float) -> str:
    """A time with its unit."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def compare(what: str, ours: float, numpy: float | None) -> str:
    """One line: our time, NumPy's, and how many times faster broadcloth is."""
    line = f"{what:<28} broadcloth {show(ours):>9}"
    return line if numpy is None else f"{line}   NumPy {show(numpy):>9}   ratio {numpy / ours:6.2f}"


def parent(path: Path) -> Path:
    """The path, its folder made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def pyplot() -> Any:
    """matplotlib.pyplot without a window, or None (and a line that says so) where it is not installed."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("no picture: matplotlib is not installed (pip install matplotlib)")
        return None
    return plt
