"""Integrals by sampling: kernels in one line of C++, which fuse with array expressions on every device.

python examples/monte_carlo.py [--count N] [--device cpu|cuda] [--no-numpy]
"""

from __future__ import annotations

import math
from typing import Any

import common
import numpy as np

import broadcloth as bc

inside = bc.ElementwiseKernel("T x, T y", "bool hit", "hit = x * x + y * y < 1", "inside_circle")
bell = bc.ElementwiseKernel(
    "float64 u, float64 low, float64 high",
    "float64 f",
    """
    double x = low + (high - low) * u;
    f = exp(-0.5 * x * x) * (high - low) * 0.3989422804014327;
    """,
    "bell",
)
moments = bc.ReductionKernel(
    "float64 x, float64 about", "float64 y", "(x - about) * (x - about)", "a + b", "y = sqrt(a) / _in_ind.size()", "0", "deviation"
)


def circle(x: bc.ndarray, y: bc.ndarray) -> float:
    """The area of the unit circle."""
    return float(4 * inside(x, y).mean())


def under_bell(u: bc.ndarray, low: float, high: float) -> tuple[float, float]:
    """The part of a normal distribution between two values, and how far off the estimate may be."""
    f = bell(u, low, high)
    mean = f.mean()
    return float(mean), float(moments(f, mean))


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--count", type=int, default=4_000_000, help="samples (4,000,000)")
    arguments = parser.parse_args(argv)
    rng = np.random.default_rng(7)

    with common.use_device(arguments.device) as device:
        print(f"{arguments.count:,} samples on {device}")
        x_host, y_host = rng.random((2, arguments.count))
        x, y = bc.asarray(x_host), bc.asarray(y_host)
        area = circle(x, y)
        part, error = under_bell(x, -1.0, 1.0)
        print(f"area of the unit circle {area:.5f} (π = {math.pi:.5f}), {common.clock(bc, lambda: circle(x, y)) * 1e3:.3f} ms")
        print(f"normal values within one deviation {part:.5f} ± {error:.5f} ({math.erf(math.sqrt(0.5)):.5f})")
        if not arguments.no_numpy:
            agree("circle", area, 4 * np.mean(x_host * x_host + y_host * y_host < 1))
            v = -1 + 2 * x_host
            agree("bell", part, np.mean(np.exp(-0.5 * v * v) * 2 / math.sqrt(2 * math.pi)))
    return 0


def agree(what: str, ours: float, theirs: Any) -> None:
    """Says when a result is not NumPy's."""
    if not math.isclose(ours, float(theirs), rel_tol=1e-9):
        print(f"ERROR: {what}: {ours} beside NumPy's {theirs}")


if __name__ == "__main__":
    raise SystemExit(main())
