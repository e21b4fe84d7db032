"""What it costs that Ctrl-C ends compiled loops: each loop with its questions and without them (`BROADCLOTH_POLLS=0`).

    python bench/polls.py [--rounds 40] [--json polls.json] [--loop NAME]

The two are run by turns, and the ratio is that of the shortest times: what else the machine does makes runs longer, never shorter.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from broadcloth import njit, prange


def saxpy(x, y, a, rounds):  # type: ignore[no-untyped-def]
    for _ in range(rounds):
        for i in range(x.size):
            y[i] += a * x[i]
    return y[0]


def sum_of(x, rounds):  # type: ignore[no-untyped-def]
    s = 0
    for _ in range(rounds):
        for i in range(x.size):
            s += x[i]
    return s


def matmul(a, b, c):  # type: ignore[no-untyped-def]
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            s = 0.0
            for k in range(a.shape[1]):
                s += a[i, k] * b[k, j]
            c[i, j] = s
    return c[0, 0]


def small_matmuls(a, b, c, rounds):  # type: ignore[no-untyped-def]
    for _ in range(rounds):
        for i in range(a.shape[0]):
            for j in range(b.shape[1]):
                s = 0.0
                for k in range(a.shape[1]):
                    s += a[i, k] * b[k, j]
                c[i, j] = s
    return c[0, 0]


def stencil(a, b, rounds):  # type: ignore[no-untyped-def]
    for _ in range(rounds):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1])
    return b[1, 1]


def window(a, b, radius):  # type: ignore[no-untyped-def]
    for i in range(radius, a.shape[0] - radius):
        for j in range(radius, a.shape[1] - radius):
            s = 0.0
            for y in range(-radius, radius + 1):
                for x in range(-radius, radius + 1):
                    s += a[i + y, j + x]
            b[i, j] = s
    return b[radius, radius]


def mandelbrot(n, limit):  # type: ignore[no-untyped-def]
    inside = 0
    for i in range(n):
        for j in range(n):
            c = complex(-2.0 + 3.0 * i / n, -1.5 + 3.0 * j / n)
            z = c
            k = 0
            while k < limit and z.real * z.real + z.imag * z.imag < 4.0:
                z = z * z + c
                k += 1
            inside += k == limit
    return inside


def congruential(seed, n):  # type: ignore[no-untyped-def]
    x = seed
    for _ in range(n):
        x = (x * 6364136223846793005 + 1442695040888963407) & 0xFFFFFFFFFFFFFFF
    return x


def parallel_sum(x, n):  # type: ignore[no-untyped-def]
    s = 0.0
    for i in prange(n):
        s += x[i & 1023] * i
    return s


def first_above(x, bound, rounds):  # type: ignore[no-untyped-def]
    found = 0
    for r in range(rounds):
        i = 0
        while x[i] < bound:
            i += 1
        found += i + r
    return found


def collatz(n):  # type: ignore[no-untyped-def]
    longest = 0
    for start in range(1, n):
        x, steps = start, 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            steps += 1
        longest = max(longest, steps)
    return longest


def appended(n):  # type: ignore[no-untyped-def]
    values = [0]
    for i in range(n):
        values.append(i ^ 5)
    return len(values)


def loops() -> dict[str, tuple[Callable[..., Any], tuple[Any, ...], dict[str, bool]]]:
    rng = np.random.default_rng(0)
    vector, square = rng.random(20_000), rng.random((160, 160))
    small, image = rng.random((6, 6)), rng.random((300, 300))
    return {
        "saxpy": (saxpy, (vector, vector.copy(), 1e-9, 400), {}),
        "sum": (sum_of, (np.arange(20_000), 600), {}),
        "matmul 160": (matmul, (square, square, square.copy()), {}),
        "matmul 6": (small_matmuls, (small, small, small.copy(), 15_000), {}),
        "stencil": (stencil, (image, image.copy(), 60), {}),
        "window 3x3": (window, (image, image.copy(), 1), {}),
        "window 15x15": (window, (image, image.copy(), 7), {}),
        "mandelbrot": (mandelbrot, (120, 200), {}),
        "congruential": (congruential, (1, 4_000_000), {}),
        "prange sum": (parallel_sum, (vector, 8_000_000), {"parallel": True}),
        "while, early exit": (first_above, (np.append(np.zeros(5000), 1.0), 0.5, 1000), {}),
        "collatz": (collatz, (20_000,), {}),
        "list append": (appended, (1_000_000,), {}),
    }


def compiled(function: Callable[..., Any], options: dict[str, bool], polls: bool, arguments: tuple[Any, ...]) -> Callable[..., Any]:
    os.environ["BROADCLOTH_POLLS"] = "1" if polls else "0"
    made = njit(**options)(function)
    made(*arguments)
    return made


def measure(name: str, rounds: int) -> tuple[float, float]:
    function, arguments, options = loops()[name]
    both = [compiled(function, options, polls, arguments) for polls in (True, False)]
    best = [float("inf"), float("inf")]
    for k in range(rounds):
        for which in (0, 1) if k % 2 else (1, 0):
            start = time.perf_counter()
            both[which](*arguments)
            best[which] = min(best[which], time.perf_counter() - start)
    return best[0], best[1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--loop", choices=list(loops()))
    parser.add_argument("--json", help="write the results there")
    options = parser.parse_args()
    rows = []
    print(f"{'loop':20}{'with':>12}{'without':>12}{'ratio':>8}")
    for name in [options.loop] if options.loop else loops():
        with_polls, without = measure(name, options.rounds)
        rows.append({"loop": name, "with": with_polls, "without": without, "ratio": with_polls / without})
        print(f"{name:20}{with_polls * 1e3:9.3f} ms{without * 1e3:9.3f} ms{with_polls / without:8.3f}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
