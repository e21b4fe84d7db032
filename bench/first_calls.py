"""First calls on a GPU, one after the other in a new process: with nothing compiled before, and with the kernels that a wheel ships.

    python bench/first_calls.py [--only sum,sort] [--device cuda]

Prints for each case the milliseconds of its first call and of its second, and how many kernels the first compiled and found shipped. Each
time holds the read of the result by the host. The background compiles of a case are waited for before the next one begins.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np


def cases(bc: Any) -> dict[str, Callable[[], Any]]:
    rng = np.random.default_rng(0)
    a, b = (bc.asarray(rng.random((1000, 1000), dtype="float32")) for _ in range(2))
    x = bc.asarray(rng.random(1_000_000))

    def softmax() -> Any:
        e = bc.exp(a - a.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return {
        "add": lambda: a * 2 + b,
        "sum": lambda: a.sum(),
        "sum0": lambda: a.sum(0),
        "max1": lambda: a.max(1),
        "any": lambda: (a > 2).any(),
        "mask": lambda: x[x > 0.5],
        "where": lambda: bc.where(a > 0.5, a, b),
        "sort": lambda: bc.sort(x),
        "argsort": lambda: bc.argsort(a.ravel()),
        "unique": lambda: bc.unique(x),
        "median": lambda: bc.median(x),
        "random": lambda: bc.random.default_rng(1).random(100_000, dtype="float32"),
        "normal": lambda: bc.random.default_rng(1).standard_normal(100_000),
        "matmul": lambda: a @ b,
        "concatenate": lambda: bc.concatenate((a, b)),
        "cumsum": lambda: bc.cumsum(x),
        "std": lambda: a.std(1),
        "mean": lambda: x.mean(),
        "argmax": lambda: x.argmax(),
        "take": lambda: bc.take(x, bc.arange(1000)),
        "bincount": lambda: bc.bincount((x * 100).astype("int64")),
        "histogram": lambda: bc.histogram(x, 50)[0],
        "distances": lambda: bc.sqrt(((a[:, None, :64] - b[None, :, :64]) ** 2).sum(-1)),
        "einsum": lambda: bc.einsum("ij,kj->ik", a, b),
        "softmax": softmax,
        "solve": lambda: bc.linalg.solve(a, b[:, :1]),
        "fft": lambda: bc.fft.fft(x),
        "nonzero": lambda: bc.nonzero(x > 0.5)[0],
        "clip": lambda: bc.clip(a, 0.2, 0.7),
        "searchsorted": lambda: bc.searchsorted(bc.sort(x), x[:1000]),
        "diff": lambda: bc.diff(x),
        "percentile": lambda: bc.percentile(x, [5, 95]),
        "cov": lambda: bc.cov(a[:50]),
    }


def measure(device: str, only: str) -> dict[str, list[float]]:
    import broadcloth as bc

    bc.set_default_device(device)
    programs = cases(bc)
    bc.ones(1000).get()  # the device is open, and its compiler was started
    time.sleep(1)
    found = {}
    for name, program in programs.items():
        if only and name not in only.split(","):
            continue
        bc._c.cache_wait()
        before, times = bc._c.cache_stats(), []
        for _ in range(2):
            start = time.perf_counter()
            program().get()
            times.append(1e3 * (time.perf_counter() - start))
            if len(times) == 1:
                after = bc._c.cache_stats()
        found[name] = [times[0], after["compiles"] - before["compiles"], after["shipped_hits"] - before["shipped_hits"], times[1]]
    return found


def child(shipped: bool, arguments: list[str]) -> dict[str, list[float]]:
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"BROADCLOTH_CACHE_DIR": folder, "BROADCLOTH_SHIPPED_KERNELS": "0"}
        if shipped:
            del env["BROADCLOTH_SHIPPED_KERNELS"]
        done = subprocess.run([sys.executable, __file__, "--worker", *arguments], env=env, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, list[float]] = json.loads(done.stdout.splitlines()[-1])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="cases, with commas between")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        print(json.dumps(measure(options.device, options.only)))
        return
    arguments = ["--only", options.only, "--device", options.device]
    cold, shipped = child(False, arguments), child(True, arguments)
    print(f"{'':12} {'cold ms':>8} {'compiled':>8} {'second':>7} | {'wheel ms':>8} {'compiled':>8} {'shipped':>7} {'second':>7}")
    for name, (first, compiled, _, second) in cold.items():
        w = shipped[name]
        print(f"{name:12} {first:8.1f} {compiled:8.0f} {second:7.2f} | {w[0]:8.1f} {w[1]:8.0f} {w[2]:7.0f} {w[3]:7.2f}")


if __name__ == "__main__":
    main()
