"""Times the programs of tests/programs/unchanged under Python with NumPy and under `python -m broadcloth`:

    python bench/programs.py [--repeat 3] [--markdown FILE] [PROGRAM ...]

Each is a process of its own, at its full size, the two ways in turn; the least of the repeats counts, with the start of the interpreter
and the imports and without (a program that only imports is taken off). What they print is compared before the times are.
"""

from __future__ import annotations

import argparse
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from unchanged import FOLDER, PROGRAMS, difference

WAYS = {"numpy": [], "broadcloth": ["-m", "broadcloth"]}
EMPTY = "import numpy as np\nnp.arange(3).sum()\n"


def run(words: list[str]) -> tuple[float, str]:
    """Seconds and what was printed."""
    package = str(Path(__import__("broadcloth").__file__).parent.parent)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([package, os.environ.get("PYTHONPATH", "")]), "PYTHONWARNINGS": "ignore"}
    # Installed packages have their bytecode; a checkout may forbid to write it, and would be compiled by Python at each start.
    env.pop("PYTHONDONTWRITEBYTECODE", None)
    env["PYTHONPYCACHEPREFIX"] = str(Path(tempfile.gettempdir()) / "broadcloth-bench-bytecode")
    start = time.perf_counter()
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True)
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} failed:\n{done.stderr[-3000:]}")
    return seconds, done.stdout


def least(words: list[str], repeat: int) -> dict[str, float]:
    """The least seconds of each way, run in turn."""
    times: dict[str, float] = dict.fromkeys(WAYS, math.inf)
    for _ in range(repeat):
        for way, before in WAYS.items():
            times[way] = min(times[way], run([*before, *words])[0])
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--markdown")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    chosen = [p for p in PROGRAMS if not given.programs or p.stem in given.programs]
    start = least(["-c", EMPTY], max(3, given.repeat))
    print(f"start and imports: NumPy {start['numpy']:.3f} s, broadcloth {start['broadcloth']:.3f} s")
    rows = []
    for p in chosen:
        printed = {way: run([*before, str(FOLDER / p.name)])[1] for way, before in WAYS.items()}  # fills the kernel cache as well
        wrong = difference(printed["numpy"], printed["broadcloth"])
        times = least([str(FOLDER / p.name)], given.repeat)
        whole = times["numpy"] / times["broadcloth"]
        left = [times[way] - start[way] for way in WAYS]
        inner = left[0] / left[1] if min(left) >= 0.1 else math.nan  # of less the start's own noise would be most
        rows.append((p.stem, times["numpy"], times["broadcloth"], whole, inner, wrong))
        print(
            f"{p.stem:24} {times['numpy']:7.3f} s {times['broadcloth']:7.3f} s  {whole:6.2f}x  without start {inner:6.2f}x  {wrong or ''}",
            flush=True,
        )
    columns = [[r[k] for r in rows if not math.isnan(r[k])] for k in (3, 4)]
    mean = [math.exp(sum(map(math.log, c)) / len(c)) if c else math.nan for c in columns]
    slow = sum(v < 0.95 for v in columns[1])
    print(f"geometric mean {mean[0]:.2f}x, without the start {mean[1]:.2f}x; {slow} of {len(columns[1])} below 0.95x without the start")
    if given.markdown:
        lines = ["| program | NumPy, s | broadcloth, s | times as fast | without start and imports |", "|---|---|---|---|---|"]
        lines += [f"| {name} | {a:.2f} | {b:.2f} | {whole:.2f} | {inner:.2f} |" for name, a, b, whole, inner, _ in rows]
        Path(given.markdown).write_text("\n".join([*lines, f"| geometric mean | | | {mean[0]:.2f} | {mean[1]:.2f} |"]) + "\n")


if __name__ == "__main__":
    main()
