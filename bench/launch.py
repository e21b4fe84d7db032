"""What a launch costs from Python: an empty kernel and one with ten arguments (six arrays, two ints, two floats).

    python bench/launch.py [--device cuda] [--json launch.json]

Each library launches a batch of kernels without waiting and the batch is waited for outside the measured time; the median of the batches
is shown. `driver` is the same launch repeated in C, with its parameters made: what no library can go below. Libraries that are not
installed are left out; CuPy and Numba run on a GPU only.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

BATCH, BATCHES = 400, 25
ELEMENTS = 256
EMPTY = 'extern "C" __global__ void empty() {}'
TEN = r"""
extern "C" __global__ void ten(const float* a, const float* b, const float* c, float* d, float* e, float* f, int n, int m, float s,
                               float t) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) { d[i] = a[i] + s; e[i] = b[i] + t; f[i] = c[i] + m; }
}"""

Launch = Callable[[], Any]


def python_empty() -> None: ...


def python_ten(jit_cuda: Any) -> Callable[..., None]:
    """The ten-argument kernel in Python, for the `cuda` module of a library."""

    def ten(a, b, c, d, e, f, n, m, s, t):  # type: ignore[no-untyped-def]
        i = jit_cuda.grid(1)
        if i < n:
            d[i] = a[i] + s
            e[i] = b[i] + t
            f[i] = c[i] + m

    return ten


def broadcloth_launches(device: str) -> tuple[dict[str, dict[str, Launch]], Launch]:
    import broadcloth as bc

    bc.set_default_device(device)
    arrays = [bc.zeros(ELEMENTS, "float32") for _ in range(6)]
    bc.synchronize()
    args = (*arrays, ELEMENTS, 3, 1.5, 2.5)
    empty, ten = bc.RawKernel(EMPTY, "empty"), bc.RawKernel(TEN, "ten")
    grid, block = (1,), (ELEMENTS,)
    found: dict[str, dict[str, Launch]] = {
        "broadcloth RawKernel": {"empty": lambda: empty(grid, block, ()), "ten": lambda: ten(grid, block, args)}
    }
    try:
        jit_empty, jit_ten = bc.cuda.jit(python_empty), bc.cuda.jit(python_ten(bc.cuda))
    except AttributeError:
        pass
    else:
        found["broadcloth cuda.jit"] = {"empty": lambda: jit_empty[1, ELEMENTS](), "ten": lambda: jit_ten[1, ELEMENTS](*args)}
    found["driver"] = {
        "empty": lambda: bc._c.repeat_launch(empty, grid, block, (), BATCH),
        "ten": lambda: bc._c.repeat_launch(ten, grid, block, args, BATCH),
    }
    return found, bc.synchronize


def cupy_launches() -> tuple[dict[str, dict[str, Launch]], Launch]:
    import cupy as cp

    arrays = [cp.zeros(ELEMENTS, "float32") for _ in range(6)]
    args = (*arrays, np.int32(ELEMENTS), np.int32(3), np.float32(1.5), np.float32(2.5))
    empty, ten = cp.RawKernel(EMPTY, "empty"), cp.RawKernel(TEN, "ten")
    grid, block = (1,), (ELEMENTS,)
    launches: dict[str, Launch] = {"empty": lambda: empty(grid, block, ()), "ten": lambda: ten(grid, block, args)}
    return {"CuPy RawKernel": launches}, cp.cuda.Device().synchronize


def numba_launches() -> tuple[dict[str, dict[str, Launch]], Launch]:
    import numba
    from numba import cuda

    numba.config.CUDA_LOW_OCCUPANCY_WARNINGS = 0
    arrays = [cuda.to_device(np.zeros(ELEMENTS, "float32")) for _ in range(6)]
    args = (*arrays, ELEMENTS, 3, 1.5, 2.5)
    empty, ten = cuda.jit(python_empty), cuda.jit(python_ten(cuda))
    return {"numba-cuda": {"empty": lambda: empty[1, ELEMENTS](), "ten": lambda: ten[1, ELEMENTS](*args)}}, cuda.synchronize


def microseconds(launch: Launch, synchronize: Launch, batched: bool) -> float:
    """The median cost of one launch. `batched`: the call itself makes a batch."""
    for _ in range(20 if not batched else 1):
        launch()
    synchronize()
    costs = []
    for _ in range(BATCHES):
        begin = time.perf_counter()
        if batched:
            launch()
        else:
            for _ in range(BATCH):
                launch()
        costs.append((time.perf_counter() - begin) / BATCH * 1e6)
        synchronize()
    return statistics.median(costs)


def measure(device: str) -> dict[str, dict[str, float]]:
    """Microseconds of a launch by library and kernel."""
    sources: list[Callable[[], tuple[dict[str, dict[str, Launch]], Launch]]] = [lambda: broadcloth_launches(device)]
    if device.startswith("cuda"):
        sources += [cupy_launches, numba_launches]
    results: dict[str, dict[str, float]] = {}
    for source in sources:
        try:
            launches, synchronize = source()
            for library, kernels in launches.items():
                results[library] = {name: microseconds(launch, synchronize, library == "driver") for name, launch in kernels.items()}
        except ImportError:
            continue
        except Exception as error:  # a peer that fails says so and does not end the run
            print(f"{source.__name__}: {type(error).__name__}: {error}", file=sys.stderr)
    return results


def main() -> None:
    import broadcloth as bc

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda" if bc.device_count("cuda") else "cpu")
    parser.add_argument("--json", help="also writes the figures to this file")
    options = parser.parse_args()
    results = measure(options.device)
    print(f"µs a launch on {bc.device_info(options.device)['name']}")
    print(f"{'':24}{'no arguments':>14}{'ten arguments':>15}")
    for library, kernels in sorted(results.items(), key=lambda row: row[1]["ten"]):
        print(f"{library:24}{kernels['empty']:>14.2f}{kernels['ten']:>15.2f}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"device": bc.device_info(options.device)["name"], "microseconds": results}, file, indent=1)


if __name__ == "__main__":
    main()
