"""Products, transforms, linear algebra, sorts and sparse products on a GPU beside CuPy, PyTorch and JAX.

    python bench/libraries_cuda.py [--only svd,solve] [--seconds 0.3] [--out FOLDER]

Each library is given the same operands, on the device already. A result is checked before it is timed, by what defines it (a residual, in
float64 on the host) and not by another library's. A call is timed until its work is done, the least of several is shown. `speed` is the
best peer's time by ours, and `bar` what it is to be.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import numpy as np

Body = Callable[[Any, Any], Any]
Check = Callable[[list[np.ndarray], list[np.ndarray]], float]


@dataclass(frozen=True)
class Row:
    """`body(xp, *operands)` serves every library whose name is not in `spelled`; `error` gives how wrong a result is, at most `most`."""

    name: str
    operands: Callable[[], list[np.ndarray]]
    body: Callable[..., Any]
    error: Check
    most: float
    bar: float = 1.0
    spelled: dict[str, Callable[..., Any]] | None = None


def normal(*shape: int, dtype: str = "f4") -> np.ndarray:
    return np.random.default_rng(7).standard_normal(shape).astype(dtype)


def definite(n: int, dtype: str = "f4") -> np.ndarray:
    a = normal(n, n, dtype="f8")
    return (a @ a.T / n + np.eye(n)).astype(dtype)


def wide(*arrays: np.ndarray) -> list[np.ndarray]:
    return [a.astype(np.complex128 if a.dtype.kind == "c" else np.float64) for a in arrays]


def norm(a: np.ndarray) -> float:
    return float(np.sqrt((abs(a) ** 2).sum()))


def product_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, b, c = wide(*given, got[0])
    a, c = (a[:16], c[:16]) if a.ndim == 2 else (a[:2], c[:2])
    b = b if b.ndim == 2 else b[:2]
    return norm(a @ b - c) / (norm(a) * norm(b))


def solve_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, b, x = wide(*given, got[0])
    return norm(a @ x - b) / (norm(a) * norm(x))


def svd_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, u, s, vh = wide(given[0], *got)
    eye = np.eye(s.shape[-1])
    ut = u.swapaxes(-1, -2)
    return max(
        norm((u * s[..., None, :]) @ vh - a) / norm(a), norm(ut @ u - eye) / norm(eye), norm(vh @ vh.swapaxes(-1, -2) - eye) / norm(eye)
    )


def eigh_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, w, v = wide(given[0], *got)
    return max(norm(a @ v - v * w) / norm(a), norm(v.T @ v - np.eye(len(w))) / len(w) ** 0.5)


def qr_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, q, r = wide(given[0], *got)
    return max(norm(q @ r - a) / norm(a), norm(q.T @ q - np.eye(q.shape[1])) / q.shape[1] ** 0.5)


def inverse_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    a, x = wide(given[0], got[0])
    return norm(a @ x - np.eye(len(a))) / (norm(a) * norm(x))


def same_as(reference: Callable[..., np.ndarray]) -> Check:
    def error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
        want = reference(*given)
        if want.dtype.kind == "i":
            return float((want != got[0]).sum())
        return norm(want - got[0]) / max(norm(want), 1e-300)

    return error


def order_error(given: list[np.ndarray], got: list[np.ndarray]) -> float:
    return norm(np.sort(given[0]) - given[0][got[0]])  # equal elements may stand in any order


def svd(xp: Any, a: Any) -> Any:
    return xp.linalg.svd(a, full_matrices=False)


def rows() -> Iterator[Row]:
    for n in (100, 512, 1024, 4096, 10_000):
        yield Row(f"matmul {n} f4", lambda n=n: [normal(n, n), normal(n, n)], lambda xp, a, b: a @ b, product_error, 1e-7)
    for n in (512, 4096):
        yield Row(f"matmul {n} f8", lambda n=n: [normal(n, n, dtype="f8")] * 2, lambda xp, a, b: a @ b, product_error, 1e-13)
    yield Row("matmul 256 of 64 f4", lambda: [normal(256, 64, 64)] * 2, lambda xp, a, b: a @ b, product_error, 1e-7)
    for n in (100, 512, 2048):
        yield Row(
            f"fft2 {n} f4", lambda n=n: [normal(n, n)], lambda xp, a: xp.fft.fft2(a), same_as(lambda a: np.fft.fft2(a.astype("f8"))), 1e-5
        )
    for n in (500, 2048):
        ours = {"broadcloth": lambda xp, a, b: xp.scipy.linalg.solve(a, b, check_finite=False)}
        yield Row(
            f"solve definite {n} f4",
            lambda n=n: [definite(n), normal(n)],
            lambda xp, a, b: xp.linalg.solve(a, b),
            solve_error,
            2e-6,
            2,
            ours,
        )
        yield Row(f"solve {n} f4", lambda n=n: [normal(n, n), normal(n)], lambda xp, a, b: xp.linalg.solve(a, b), solve_error, 2e-6)
    for n in (500, 2048):
        yield Row(f"svd {n} f4", lambda n=n: [normal(n, n)], svd, svd_error, 2e-5, 2)
    yield Row("svd 256 of 64 f4", lambda: [normal(256, 64, 64)], svd, svd_error, 2e-5, 10)
    yield Row("svd 500 f8", lambda: [normal(500, 500, dtype="f8")], svd, svd_error, 1e-12)
    yield Row("eigh 1024 f4", lambda: [definite(1024)], lambda xp, a: xp.linalg.eigh(a), eigh_error, 2e-6)
    yield Row("eigh 1024 f8", lambda: [definite(1024, "f8")], lambda xp, a: xp.linalg.eigh(a), eigh_error, 1e-12)
    yield Row("qr 2048 f4", lambda: [normal(2048, 2048)], lambda xp, a: xp.linalg.qr(a), qr_error, 2e-6)
    yield Row("cholesky 2048 f4", lambda: [definite(2048)], lambda xp, a: xp.linalg.cholesky(a),
              lambda given, got: norm(wide(got[0])[0] @ wide(got[0])[0].T - given[0]) / norm(given[0]), 1e-5)  # fmt: skip
    yield Row("inv 1024 f4", lambda: [definite(1024)], lambda xp, a: xp.linalg.inv(a), inverse_error, 1e-6)
    yield Row("det 1024 f8", lambda: [definite(1024, "f8")], lambda xp, a: xp.linalg.slogdet(a)[1],
              same_as(lambda a: np.linalg.slogdet(a)[1]), 1e-10)  # fmt: skip
    yield Row("lstsq 2000 x 500 f8", lambda: [normal(2000, 500, dtype="f8"), normal(2000, dtype="f8")],
              lambda xp, a, b: xp.linalg.lstsq(a, b)[0], same_as(lambda a, b: np.linalg.lstsq(a, b)[0]), 1e-9, 1,
              {"torch": lambda xp, a, b: xp.linalg.lstsq(a, b[:, None])[0][:, 0]})  # fmt: skip
    yield Row("sort 1e7 f4", lambda: [normal(10_000_000)], lambda xp, a: xp.sort(a), same_as(np.sort), 0)
    yield Row("argsort 1e7 f4", lambda: [normal(10_000_000)], lambda xp, a: xp.argsort(a), order_error, 0)
    yield Row(
        "unique 1e7 i8", lambda: [np.random.default_rng(3).integers(0, 10**6, 10**7)], lambda xp, a: xp.unique(a), same_as(np.unique), 0
    )


class Library:
    def __init__(self, name: str) -> None:
        self.name = name
        if name == "broadcloth":
            import broadcloth as module
            import broadcloth.scipy.linalg

            self.put, self.wait = module.array, lambda r: module.synchronize()
            self.get = lambda r: r.get()
        elif name == "cupy":
            import cupy as module

            self.put, self.wait = module.asarray, lambda r: module.cuda.Device().synchronize()
            self.get = module.asnumpy
        elif name == "torch":
            import torch as module

            module.set_float32_matmul_precision("highest")
            self.put, self.wait = lambda a: module.from_numpy(a).cuda(), lambda r: module.cuda.synchronize()
            self.get = lambda r: r.cpu().numpy()
        else:
            import jax
            import jax.numpy as module

            jax.config.update("jax_enable_x64", True)
            jax.config.update("jax_default_matmul_precision", "highest")
            self.put, self.wait, self.get = module.asarray, jax.block_until_ready, np.asarray
        self.module = module

    def body(self, row: Row) -> Callable[..., Any]:
        body = (row.spelled or {}).get(self.name, row.body)
        call = lambda *operands: body(self.module, *operands)
        if self.name == "jax" and "unique" not in row.name:
            import jax

            return jax.jit(call)
        return call

    def results(self, result: Any) -> list[np.ndarray]:
        parts = result if isinstance(result, (tuple, list)) else [result]
        return [np.asarray(self.get(p[0] if isinstance(p, tuple) else p)) for p in parts if not isinstance(p, int)]

    def time(self, row: Row, given: list[np.ndarray], seconds: float) -> tuple[float, float, float]:
        """The first call, the least of the later ones, in seconds, and the result's error."""
        operands = [self.put(a) for a in given]
        self.wait(operands[0])
        call = self.body(row)
        begin = time.perf_counter()
        result = call(*operands)
        self.wait(result)
        first = time.perf_counter() - begin
        parts = self.results(result)
        if self.name == "torch" and row.name.startswith(("sort", "unique")):
            parts = parts[:1]
        elif self.name == "torch" and row.name.startswith("argsort"):
            parts = parts[-1:]
        error = row.error(given, parts)
        best, end, calls = float("inf"), time.perf_counter() + seconds, 0
        while calls < 3 or time.perf_counter() < end:
            begin = time.perf_counter()
            self.wait(call(*operands))
            best, calls = min(best, time.perf_counter() - begin), calls + 1
        return first, best, error


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose names have one of these in them")
    parser.add_argument("--libraries", default="broadcloth,cupy,torch,jax")
    parser.add_argument("--seconds", type=float, default=0.3, help="for a row and library")
    parser.add_argument("--out", help="a folder for libraries-cuda.json and .txt")
    options = parser.parse_args()
    libraries = []
    for name in options.libraries.split(","):
        try:
            libraries.append(Library(name))
        except ImportError:
            print(f"{name} is not installed")
    lines = [f"{'row':<24}" + "".join(f"{lib.name:>13}" for lib in libraries) + f"{'first call':>13}{'speed':>8}{'bar':>6}"]
    print(lines[0])
    table = []
    for row in rows():
        if options.only and not any(word in row.name for word in options.only.split(",")):
            continue
        given = row.operands()
        times: dict[str, float] = {}
        firsts: dict[str, float] = {}
        notes = ""
        for library in libraries:
            try:
                first, best, error = library.time(row, given, options.seconds)
            except Exception as problem:
                notes += f"  {library.name}: {str(problem).splitlines()[0][:120] if str(problem) else type(problem).__name__}"
                continue
            if not error <= row.most:
                notes += f"  {library.name} is wrong by {error:.1e}"
                continue
            times[library.name], firsts[library.name] = best, first
        peers = [t for name, t in times.items() if name != "broadcloth"]
        speed = min(peers) / times["broadcloth"] if peers and "broadcloth" in times else float("nan")
        below = "" if speed >= row.bar else "  below"
        shown = "".join(f"{times[lib.name] * 1e6:>10.1f} µs" if lib.name in times else f"{'-':>13}" for lib in libraries)
        lines.append(f"{row.name:<24}{shown}{firsts.get('broadcloth', 0) * 1e3:>10.1f} ms{speed:>7.2f}x{row.bar:>6g}{below}{notes}")
        print(lines[-1], flush=True)
        table.append({"name": row.name, "seconds": times, "first": firsts, "speed": speed, "bar": row.bar})
    if options.out:
        folder = Path(options.out)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "libraries-cuda.txt").write_text("\n".join(lines) + "\n")
        (folder / "libraries-cuda.json").write_text(json.dumps({"rows": table}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
