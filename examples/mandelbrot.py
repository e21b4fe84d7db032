"""The Mandelbrot set by array expressions: every point of the plane at once, no loop over pixels.

    python examples/mandelbrot.py [--size N] [--steps N] [--device cpu|cuda] [--out PICTURE] [--no-numpy]
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import common
import numpy as np

import broadcloth as bc


def mandelbrot(xp: Any, size: int, steps: int) -> Any:
    """For each point c of [-2, 2] x [-2, 2]i, how many steps of z = z*z + c it takes until |z| > 2; `steps` where it never does."""
    axis = xp.linspace(-2.0, 2.0, size, dtype="float32")
    c = axis + 1j * axis[:, xp.newaxis]  # complex64: a Python number takes the type of the array
    z = xp.zeros_like(c)
    count = xp.zeros(c.shape, dtype="int32")
    for _ in range(steps):
        inside = z.real * z.real + z.imag * z.imag <= 4.0
        count += inside
        z = xp.where(inside, z * z + c, z)
    # Until now broadcloth has written down some 1,500 small operations. It fuses many steps into each of a few kernels.
    return count


def timed(xp: Any, size: int, steps: int) -> tuple[np.ndarray, float]:
    start = time.perf_counter()
    count = np.asarray(mandelbrot(xp, size, steps))
    return count, time.perf_counter() - start


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--size", type=int, default=512, help="pixels along an edge (512)")
    parser.add_argument("--steps", type=int, default=256, help="steps at most (256)")
    parser.add_argument("--out", type=Path, default=common.HERE / "out" / "mandelbrot.png", help="examples/out/mandelbrot.png")
    arguments = parser.parse_args(argv)

    with common.use_device(arguments.device) as device:
        print(f"{arguments.size} x {arguments.size} points, {arguments.steps} steps, complex64, on {device}")
        count, first = timed(bc, arguments.size, arguments.steps)
        again, second = timed(bc, arguments.size, arguments.steps)
        assert np.array_equal(count, again), "two runs gave different pictures"
    print(f"broadcloth: {common.show(first)} the first time, {common.show(second)} the second (the kernels are compiled by then)")
    if not arguments.no_numpy:
        expected, theirs = timed(np, arguments.size, arguments.steps)
        same = np.mean(count == expected)
        print(f"NumPy:      {common.show(theirs)}; ratio {theirs / second:.2f}; {same:.2%} of the points have the same count")
        if same < 0.99:
            print("ERROR: the pictures differ")
            return 1
    plt = common.pyplot()
    if plt is not None:
        plt.imsave(common.parent(arguments.out), np.log1p(count), cmap="magma")
        print(f"wrote {arguments.out}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
