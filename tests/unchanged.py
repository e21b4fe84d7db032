"""Programs of `tests/programs/unchanged` and `other`, which know of NumPy only: what they print under NumPy and under `python -m
broadcloth`. Those of `other` use more of NumPy (texts, dates, records, masks, files) on little data, and nobody times them.

python tests/unchanged.py [--device cpu] [PROGRAM ...]     runs them both ways in this process, at small sizes, and compares
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import runpy
import sys
import traceback
import warnings
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent / "programs" / "unchanged"
PROGRAMS = sorted(FOLDER.glob("*.py"))
OTHERS = sorted((FOLDER.parent / "other").glob("*.py"))

# The first argument of each program: a size at which it takes milliseconds.
SMALL = {
    "black_scholes": 2000, "bootstrap": 200, "convolution": 120, "epidemic": 60, "fractal_terrain": 5, "heat": 48,
    "histogram_equalisation": 90,
    "interpolation": 3000, "kmeans": 1200, "life": 60, "logistic": 800, "lorenz": 300, "mandelbrot": 90, "matrix_games": 100,
    "monte_carlo_pi": 20_000, "nbody": 30, "neural_net": 120, "newton_fractal": 70, "pca": 800, "percolation": 40, "portfolio": 5000,
    "random_walk": 60, "ray_march": 80, "regression": 500, "sieve": 20_000, "signal_filter": 4000, "sorting": 50_000, "text_statistics": 30,
    "waiting_line": 400, "wave": 60,
}  # fmt: skip

_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|inf|nan)")


def words(text: str) -> list[str]:
    """Numbers and what is between them; arrays may be spaced otherwise where their last digits differ."""
    return [w for w in re.split(rf"({_NUMBER.pattern})|\s+", text) if w]


def _same_number(a: str, b: str) -> bool:
    x, y = float(a), float(b)
    if x == y or (x != x and y != y):
        return True
    digits = max((len(w.partition(".")[2].partition("e")[0]) for w in (a, b)), default=0)
    if not digits or "inf" in (a + b).lower():
        return False
    # One in the last printed place, where a sum is rounded the other way; beyond 12 places the order of a sum decides.
    return abs(x - y) <= max(1.01 * 10.0**-digits * (10.0 ** float((a.lower().partition("e")[2]) or 0)), 1e-12 * abs(x))


def difference(expected: str, printed: str) -> str | None:
    """What differs between two outputs: words exactly, floats by their printed digits; None where nothing does."""
    if "Traceback (most recent call last):" in printed:
        return printed[-1500:]
    for line, (a, b) in enumerate(zip(expected.splitlines(), printed.splitlines()), 1):
        x, y = words(a), words(b)
        same = len(x) == len(y) and all(
            p == q or (_NUMBER.fullmatch(p) and _NUMBER.fullmatch(q) and _same_number(p, q)) for p, q in zip(x, y)
        )
        if not same:
            return f"line {line}: expected {a!r}, got {b!r}"
    if len(expected.splitlines()) != len(printed.splitlines()):
        return f"expected {len(expected.splitlines())} lines, got {len(printed.splitlines())}"
    return None


def output(program: Path, *arguments: str) -> str:
    """What a program prints; of one that fails the error as well."""
    printed = io.StringIO()
    old = sys.argv[:]
    sys.argv[:] = [str(program), *arguments]
    try:
        with contextlib.redirect_stdout(printed), warnings.catch_warnings(), np.printoptions():
            runpy.run_path(str(program), run_name="__main__")
    except Exception:
        printed.write(traceback.format_exc())
    finally:
        sys.argv[:] = old
    return printed.getvalue()


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--device")
    parser.add_argument("programs", nargs="*")
    given = parser.parse_args()
    chosen = [p for p in PROGRAMS + OTHERS if not given.programs or p.stem in given.programs]
    arguments = {p: [str(SMALL[p.stem])] if p.stem in SMALL else [] for p in chosen}
    expected = {p: output(p, *arguments[p]) for p in chosen}

    import broadcloth as bc
    from broadcloth import run

    if given.device:
        bc.set_default_device(given.device)
    run.enable(run.Owner((str(FOLDER.parent),)))
    wrong = 0
    for p in chosen:
        what = difference(expected[p], output(p, *arguments[p])) or ("it failed" if "Traceback" in expected[p] else None)
        print(f"{p.stem}: {what or 'same'}", flush=True)
        wrong += what is not None
    print(f"{len(chosen)} programs, {wrong} differ")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
