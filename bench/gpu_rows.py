"""Scans, compaction, counts, random numbers, transposes and distances on a GPU, beside CuPy and PyTorch where they are installed.

    python bench/gpu_rows.py [--only cumsum,mask] [--divide 100] [--seconds 0.5]

Each row is checked against NumPy before it is timed, at a tenth of the size. A time is the median of repeated calls, each of which waits
for the device. `--divide` makes the sizes smaller (for a machine without a GPU: the rows then run on the CPU).
"""

from __future__ import annotations

import argparse
import functools
import importlib
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import broadcloth as bc

# name: the bar in microseconds on an H200, the least bytes to be moved, what makes the operands (NumPy), the body
Row = tuple[float, float, Callable[[int], list[np.ndarray]], Callable[..., Any]]


def generator() -> np.random.Generator:
    return np.random.default_rng(3)


@functools.cache
def unseeded(xp: Any) -> Any:
    """A library's generator, made once, as PyTorch's is: to make one takes the host 30 us and more."""
    return xp.random.default_rng()


def normals(n: int) -> np.ndarray:
    return generator().standard_normal(n, dtype=np.float32)


def squares(n: int, count: int) -> list[np.ndarray]:
    side = int(n**0.5)
    return [normals(side * side).reshape(side, side) for _ in range(count)]


def mandelbrot(xp: Any, c: Any) -> Any:
    z, steps = c * 0, xp.zeros(c.shape, dtype="int32")
    for _ in range(50):
        z = xp.where(abs(z) <= 2, z * z + c, z)
        steps = steps + (abs(z) <= 2)
    return steps


def plane(n: int) -> list[np.ndarray]:
    side = int(n**0.5)
    return [(np.linspace(-2, 0.5, side) + 1j * np.linspace(-1.2, 1.2, side)[:, None]).astype(np.complex64)]


def points(n: int) -> list[np.ndarray]:
    side = int((n / 64) ** 0.5)
    return [normals(side * 64).reshape(side, 64), normals(side * 64 + 1)[1:].reshape(side, 64)]


ROWS: dict[str, tuple[int, Row]] = {
    "cumsum": (10**8, (250, 8e8, lambda n: [normals(n)], lambda xp, a: xp.cumsum(a))),
    "cumsum_f64": (5 * 10**7, (250, 8e8, lambda n: [normals(n).astype(np.float64)], lambda xp, a: xp.cumsum(a))),
    "cumsum_rows": (10**8, (300, 8e8, lambda n: [normals(n).reshape(-1, 1000)], lambda xp, a: xp.cumsum(a, axis=1))),
    "mask": (10**8, (400, 8e8, lambda n: [normals(n)], lambda xp, a: a[a > 0])),
    "nonzero": (10**8, (400, 5e8, lambda n: [normals(n) > 0], lambda xp, m: xp.nonzero(m)[0])),
    "bincount": (10**7, (120, 8e7, lambda n: [generator().integers(0, 1000, n)], lambda xp, x: xp.bincount(x, minlength=1000))),
    "uniform": (10**8, (115, 4e8, lambda n: [], lambda xp, n: unseeded(xp).random(n, dtype="float32"))),
    "normal": (10**8, (150, 4e8, lambda n: [], lambda xp, n: unseeded(xp).standard_normal(n, dtype="float32"))),
    "pcg_uniform": (10**8, (400, 8e8, lambda n: [], lambda xp, n: xp.random.default_rng(5).random(n))),
    "pcg_integers": (10**8, (400, 8e8, lambda n: [], lambda xp, n: xp.random.default_rng(5).integers(0, 1000, n))),
    "transpose": (8192**2, (150, 5.4e8, lambda n: squares(n, 1), lambda xp, a: xp.ascontiguousarray(a.T))),
    "add_transposed": (8192**2, (230, 8.1e8, lambda n: squares(n, 2), lambda xp, a, b: a + b.T)),
    "distances": (4096**2 * 64, (300, 7e7, points, lambda xp, x, y: xp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1)))),
    "mandelbrot": (1024**2, (100, 1.3e7, plane, mandelbrot)),
}
# In PyTorch's words where it has others.
TORCH: dict[str, Callable[..., Any]] = {
    "cumsum": lambda t, a: t.cumsum(a, 0),
    "cumsum_f64": lambda t, a: t.cumsum(a, 0),
    "cumsum_rows": lambda t, a: t.cumsum(a, 1),
    "mask": lambda t, a: a[a > 0],
    "nonzero": lambda t, m: t.nonzero(m),
    "bincount": lambda t, x: t.bincount(x, minlength=1000),
    "uniform": lambda t, n: t.rand(n, device="cuda"),
    "normal": lambda t, n: t.randn(n, device="cuda"),
    "transpose": lambda t, a: a.T.contiguous(),
    "add_transposed": lambda t, a, b: a + b.T,
    "distances": lambda t, x, y: t.cdist(x, y, compute_mode="donot_use_mm_for_euclid_dist"),
}


def measure(call: Callable[[], Any], wait: Callable[[], None], seconds: float) -> float:
    for _ in range(3):
        held = call()
        wait()
    time.sleep(1)  # the compiler's best kernels come in the background
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        held = call()
        wait()
        times.append(time.perf_counter() - start)
    del held
    return statistics.median(times)


def wait_for_ours() -> None:
    bc.flush()
    bc.synchronize()


def check(name: str, body: Callable[..., Any], operands: list[np.ndarray], n: int) -> None:
    if name.startswith("pcg"):
        np.testing.assert_array_equal(np.asarray(body(bc, n)), body(np, n), err_msg=name)
        return
    if not operands:
        x = np.asarray(body(bc, n), dtype=np.float64)
        mean, spread = (0.5, 12**-0.5) if name == "uniform" else (0.0, 1.0)
        assert abs(x.mean() - mean) < 6 * spread / n**0.5 and abs(x.std() - spread) < 0.02, name
        return
    got, expected = np.asarray(body(bc, *map(bc.asarray, operands))), body(np, *operands)
    assert got.shape == expected.shape, (name, got.shape, expected.shape)
    if name.startswith("cumsum"):
        exact = np.cumsum(operands[0], axis=-1, dtype=np.float64)
        assert np.max(np.abs(got - exact)) < 1e-5 * np.sum(np.abs(operands[0]), axis=-1).max(), name
    elif name == "distances":
        np.testing.assert_allclose(got, expected, rtol=1e-5)
    elif name == "mandelbrot":
        assert np.mean(got != expected) < 1e-3, name
    else:
        np.testing.assert_array_equal(got, expected, err_msg=name)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows, with commas between")
    parser.add_argument("--divide", type=int, default=1, help="how much smaller the sizes are")
    parser.add_argument("--seconds", type=float, default=0.25, help="how long a row is repeated")
    options = parser.parse_args()
    on_gpu = bc.empty(1).device.type == "cuda"
    peers = {}
    for name in ("cupy", "torch") if on_gpu else ():
        try:
            peers[name] = importlib.import_module(name)
        except ImportError:
            print(f"{name} is not installed")
    print(f"{'row':16} {'ours':>9} {'GB/s':>6} {'bar':>6} met {'first':>9}" + "".join(f" {p:>9}" for p in peers))
    for name, (size, (bar, least, operands_of, body)) in ROWS.items():
        if options.only and name not in options.only.split(","):
            continue
        n = max(4096, size // options.divide)
        small = max(4096, n // 10)
        check(name, body, operands_of(small), small)
        host = operands_of(n)
        mine: list[Any] = [bc.asarray(a) for a in host] or [n]
        bc.synchronize()
        start = time.perf_counter()
        held = body(bc, *mine)
        bc.flush()
        bc.synchronize()
        first = time.perf_counter() - start
        del held
        took = measure(lambda b=body, m=mine: b(bc, *m), wait_for_ours, options.seconds)
        met, rate = "yes" if took * 1e6 <= bar else " NO", least / options.divide / took / 1e9
        line = f"{name:16} {took * 1e6:7.0f}us {rate:6.0f} {bar:6.0f} {met} {first * 1e3:7.1f}ms"
        del mine
        for peer, module in peers.items():
            try:
                if peer == "cupy":
                    theirs: list[Any] = [module.asarray(a) for a in host] or [n]
                    cell = measure(lambda b=body, t=theirs, m=module: b(m, *t), module.cuda.Device().synchronize, options.seconds)
                else:
                    theirs = [module.from_numpy(a).cuda() for a in host] or [n]
                    cell = measure(lambda b=TORCH[name], t=theirs, m=module: b(m, *t), module.cuda.synchronize, options.seconds)
                line += f" {cell * 1e6:7.0f}us"
            except Exception as e:
                line += f" {type(e).__name__[:9]:>9}"
        print(line, flush=True)


if __name__ == "__main__":
    main()
