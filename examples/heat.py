"""Heat diffusion on a plate, from a heat map in a picture or a CSV file, until the temperature hardly changes.

    python examples/heat.py [--file MAP] [--size N] [--tol T] [--device cpu|cuda] [--out PICTURE] [--no-numpy]

The hottest parts of the map are heaters and the coldest are coolers: these keep their temperature, and the edges of the plate are held at
zero. In every step each other point takes the mean of its four neighbours (Jacobi's method), which ends in the solution of Laplace's
equation. The same function runs on broadcloth and on NumPy: only `xp` differs.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import common
import numpy as np

import broadcloth as bc

HEATER, COOLER = 90.0, 5.0  # degrees


def step(xp: Any, p: Any, held: Any) -> Any:
    """The plate one step later. On broadcloth the whole line is one kernel, which writes straight into `p_new`."""
    p_new = p.copy()
    p_new[1:-1, 1:-1] = xp.where(held, p[1:-1, 1:-1], 0.25 * (p[2:, 1:-1] + p[:-2, 1:-1] + p[1:-1, 2:] + p[1:-1, :-2]))
    return p_new


def diffuse(xp: Any, plate: np.ndarray, tol: float, limit: int, progress: Callable[[float], None]) -> tuple[Any, int, float]:
    """Steps until the plate moves less than `tol`; gives the plate, the number of steps and the last move."""
    p = xp.asarray(plate)
    inner = plate[1:-1, 1:-1]
    held = xp.asarray((inner >= HEATER) | (inner <= COOLER))
    moved = math.inf
    for steps in range(1, limit + 1):
        p_new = step(xp, p, held)
        moved = float(xp.sqrt(xp.sum((p_new - p) ** 2)))  # here somebody looks: the step is computed now
        p = p_new
        if steps % 64 == 0 or steps == 1:
            progress(moved)
        if moved < tol:
            break
    return p, steps, moved


def read_map(path: Path, size: int) -> np.ndarray:
    """A size x size plate in degrees from 0 to 100, from a CSV file or a picture (bright is hot)."""
    if path.suffix.lower() == ".csv":
        values = np.loadtxt(path, delimiter=",", ndmin=2)
    else:
        from PIL import Image  # pip install pillow

        values = np.asarray(Image.open(path).convert("L"), dtype="float64")
    if not np.isfinite(values).all() or values.max() <= values.min():
        raise SystemExit(f"{path}: expected a map of finite numbers that are not all the same")
    # Nearest neighbours, so that the map may have any size.
    rows, columns = (np.arange(size) * n // size for n in values.shape)
    plate = (values - values.min()) * (100.0 / (values.max() - values.min()))
    plate = plate[rows][:, columns]
    plate[[0, -1], :] = 0.0
    plate[:, [0, -1]] = 0.0
    return plate


class Progress:
    """A bar on long runs. The move shrinks about exponentially, so its logarithm tells how far the way to `tol` has been gone."""

    def __init__(self, name: str, tol: float) -> None:
        self.tol, self.first, self.bar = tol, 0.0, None
        try:
            from tqdm import tqdm

            form = "{desc} {percentage:3.0f}%|{bar}| {elapsed}<{remaining}{postfix}"
            self.bar = tqdm(total=100.0, desc=name, delay=1.0, leave=False, disable=None, bar_format=form)
        except ImportError:
            pass

    def __call__(self, moved: float) -> None:
        if self.bar is None or not 0 < moved < math.inf:
            return
        self.first = self.first or moved
        done = 100.0 * math.log(self.first / moved) / max(math.log(self.first / self.tol), 1e-9)
        self.bar.set_postfix_str(f"move {moved:.2e}", refresh=False)
        self.bar.update(max(0.0, min(done, 100.0) - self.bar.n))

    def close(self) -> None:
        if self.bar is not None:
            self.bar.close()


def timed(name: str, xp: Any, plate: np.ndarray, tol: float, limit: int) -> tuple[np.ndarray, int, float]:
    """Runs the program on one library and prints what it took; compiling the kernels is a part of it."""
    progress = Progress(name, tol)
    start = time.perf_counter()
    p, steps, moved = diffuse(xp, plate, tol, limit, progress)
    seconds = time.perf_counter() - start
    progress.close()
    end = "" if moved < tol else f"; stopped at {moved:.3g}, not converged"
    print(f"{name:<22} {steps:>7,} steps in {seconds:6.2f} s, {common.show(seconds / steps):>8} a step{end}")
    return np.asarray(p), steps, seconds


def picture(path: Path, before: np.ndarray, after: np.ndarray, title: str) -> None:
    plt = common.pyplot()
    if plt is None:
        return
    figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    for ax, plate, name in zip(axes, (before, after), ("the heat map", title), strict=True):
        image = ax.imshow(plate, cmap="inferno", vmin=0, vmax=100)
        ax.set_title(name)
        ax.set_axis_off()
    figure.colorbar(image, ax=axes, label="degrees", shrink=0.9)
    figure.savefig(common.parent(path), dpi=100)
    plt.close(figure)
    print(f"wrote {path}")


def main(argv: list[str] | None = None) -> int:
    parser = common.options(__doc__)
    parser.add_argument("--file", type=Path, default=common.HERE / "data" / "heat_map.csv", help="a picture or a CSV file (a sample)")
    parser.add_argument("--size", type=int, default=256, help="points along an edge of the plate (256)")
    parser.add_argument("--tol", type=float, default=1e-3, help="ends when norm(p_new - p) is below (0.001)")
    parser.add_argument("--limit", type=int, default=1_000_000, help="steps at most")
    parser.add_argument("--out", type=Path, default=common.HERE / "out" / "heat.png", help="the picture (examples/out/heat.png)")
    arguments = parser.parse_args(argv)
    if arguments.size < 3 or arguments.limit < 1:
        parser.error("--size takes 3 or more, --limit 1 or more")
    if not arguments.file.exists():
        parser.error(f"--file: {arguments.file} does not exist")

    plate = read_map(arguments.file, arguments.size)
    with common.use_device(arguments.device) as device:
        print(f"{arguments.file.name}, {arguments.size} x {arguments.size} float64, until the plate moves less than {arguments.tol:g}")
        after, steps, ours = timed(f"broadcloth on {device}", bc, plate, arguments.tol, arguments.limit)
    if not arguments.no_numpy:
        expected, numpy_steps, theirs = timed("NumPy", np, plate, arguments.tol, arguments.limit)
        difference = np.abs(after - expected).max()
        print(f"broadcloth is {theirs / ours:.2f} times as fast as NumPy; largest difference {difference:.1e} degrees")
        if abs(steps - numpy_steps) > 1 or difference > 10 * arguments.tol:
            print("ERROR: the two programs disagree")
            return 1
    picture(arguments.out, plate, after, f"after {steps:,} steps")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
