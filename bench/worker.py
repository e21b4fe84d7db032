"""Measures workloads in one process, all peers side by side, and reports each finding as a line of JSON. Started by bench/run.py.

It is a process of its own so that a library that crashes or hangs costs one cell of the table and not the run.
"""

from __future__ import annotations

import gc
import itertools
import json
import math
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np
from peers import Peer, open_peers
from workloads import BY_NAME, Workload

REGION = 0.020  # seconds that a timed region lasts at least
KEPT = (64, 61)  # coprime counts of distinct inputs: 3904 pairs before one comes again
PREPARE_SECONDS = 60


class PeerTimeout(Exception):
    pass


def _on_alarm(signum: int, frame: Any) -> None:
    raise PeerTimeout(f"not ready after {PREPARE_SECONDS} s")


def leaves(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def difference(got: list[np.ndarray], want: list[np.ndarray]) -> float:
    """The largest error relative to the value plus the mean size of the values, over a sample of up to a million elements of each."""
    worst = 0.0
    for g, w in zip(got, want, strict=True):
        if g.shape != w.shape:
            raise ValueError(f"expected a result of shape {w.shape}, got {g.shape}")
        step = max(1, w.size // 1_000_000)
        g64, w64 = (np.ravel(x)[::step].astype("float64") for x in (g, w))
        if not np.array_equal(np.isnan(g64), np.isnan(w64)):
            return math.inf
        scale = np.abs(w64) + np.nanmean(np.abs(w64)) + 1e-300
        error = np.nanmax(np.abs(g64 - w64) / scale) if w64.size else 0.0
        worst = max(worst, float(error))
    return worst


class Cell:
    """One workload on one peer: its inputs, its function, and how a region of n repeats is timed."""

    def __init__(self, workload: Workload, peer: Peer, host: tuple[np.ndarray, ...]) -> None:
        self.workload, self.peer = workload, peer
        body = workload.spelled.get(peer.name, workload.body)
        self.function = peer.function(body)
        if workload.style == "kept":
            columns = [[peer.array(h + np.float32(0.01 * i)) for i in range(count)] for h, count in zip(host, KEPT, strict=True)]
            self.arrays = tuple(c[0] for c in columns)
            self.pairs = [(columns[0][i % KEPT[0]], columns[1][i % KEPT[1]]) for i in range(KEPT[0] * KEPT[1])]
        else:
            self.arrays = tuple(peer.array(h) for h in host)
        self.region: Callable[[int], float] = getattr(self, "_" + workload.style)
        self.n = 1
        self.times: list[float] = []
        self.error = 0.0

    def call(self) -> Any:
        return self.function(*self.arrays)

    def result(self) -> list[np.ndarray]:
        """What is checked: the outputs of one call, or of ten steps of a loop."""
        peer = self.peer
        if self.workload.style == "loop":
            p, *rest = self.arrays
            for _ in range(10):
                p, moved = self.function(p, *rest)
                float(moved)
            return [peer.numpy(p), peer.numpy(moved)]
        if self.workload.style == "kept":
            outputs = [self.function(*pair) for pair in self.pairs[:200]]
            return [np.stack([peer.numpy(x) for x in outputs])]
        return [peer.numpy(x) for x in leaves(self.call())]

    def prepare(self) -> None:
        self.peer.warm(self.call)
        if self.workload.style == "kept":
            self.n = len(self.pairs)
            for _ in range(2):
                self.region(self.n)
            return
        once = self.region(1)
        for _ in range(3):  # the first estimate may hold some warming up
            self.n = max(1, min(100_000, math.ceil(REGION / max(once, 1e-7))))
            if once >= REGION:
                break
            once = self.region(self.n)

    # Seconds a repeat, of n repeats and one wait at the end.

    def _stream(self, n: int) -> float:
        function, arrays, submit = self.function, self.arrays, self.peer.submit
        start = time.perf_counter()
        if submit is None:
            for _ in range(n):
                result = function(*arrays)
        else:
            for _ in range(n):
                result = function(*arrays)
                submit()
        self.peer.synchronize(result)
        return (time.perf_counter() - start) / n

    def _wait(self, n: int) -> float:
        function, arrays, synchronize = self.function, self.arrays, self.peer.synchronize
        start = time.perf_counter()
        for _ in range(n):
            synchronize(function(*arrays))
        return (time.perf_counter() - start) / n

    def _kept(self, n: int) -> float:
        function, kept = self.function, []
        keep = kept.append
        start = time.perf_counter()
        for a, b in self.pairs[:n]:
            keep(function(a, b))
        self.peer.synchronize(kept)
        return (time.perf_counter() - start) / n

    def _loop(self, n: int) -> float:
        function = self.function
        p, *rest = self.arrays
        start = time.perf_counter()
        for _ in range(n):
            p, moved = function(p, *rest)
            float(moved)
        self.peer.synchronize(p)
        return (time.perf_counter() - start) / n


class Worker:
    def __init__(self, options: dict[str, Any], channel: Any) -> None:
        self.device: str = options["device"]
        self.quick: bool = options["quick"]
        self.deadline: float = options["deadline"]
        self.box: float = options["box"]
        self.exclude: dict[str, list[str]] = options["exclude"]
        self.names: list[str] = options["workloads"]
        self.wanted: list[str] | None = options["peers"]
        self.channel = channel

    def say(self, event: str, **facts: Any) -> None:
        self.channel.write(json.dumps({"event": event, **facts}) + "\n")
        self.channel.flush()

    def run(self) -> None:
        self.say("start", workload="", peer="", stage="opening the libraries")
        self.peers, missing = open_peers(self.device, self.wanted)
        versions = {name: peer.version() for name, peer in self.peers.items()}
        self.say("hello", versions=versions, missing=missing, bandwidth=self.bandwidth())
        for name in self.names:
            if time.time() > self.deadline:
                self.say("result", workload=name, peers={}, skipped="no time left")
                continue
            self.measure(BY_NAME[name])
            gc.collect()
            for peer in self.peers.values():
                peer.trim()
        self.say("done")

    def healthy(self) -> bool:
        """A failed kernel can leave the process's whole GPU context unusable."""
        try:
            for peer in self.peers.values():
                x = peer.array(np.ones(4, "float32"))
                if not np.array_equal(peer.numpy(x + x), np.full(4, 2, "float32")):
                    return False
        except Exception:
            return False
        return True

    def measure(self, workload: Workload) -> None:
        started = time.time()
        size = workload.size(self.device, self.quick)
        host = workload.inputs(size, np.random.default_rng(42))
        want = Cell(workload, open_reference(), host).result()
        cells: dict[str, Cell] = {}
        out: dict[str, dict[str, Any]] = {}
        for name, peer in self.peers.items():
            if name in self.exclude.get(workload.name, ()):
                continue
            self.say("start", workload=workload.name, peer=name, stage="prepare")
            signal.alarm(PREPARE_SECONDS)
            try:
                cell = Cell(workload, peer, host)
                cell.error = difference(cell.result(), want)
                cell.prepare()
                cells[name] = cell
                out[name] = {"error": cell.error, "correct": cell.error <= workload.tolerance}
            except Exception as error:
                signal.alarm(0)
                traceback.print_exc()
                out[name] = {"failed": f"{type(error).__name__}: {error}"[:500]}
                self.say("failed", workload=workload.name, peer=name, error=out[name]["failed"])
                if not self.healthy():
                    # The parent starts another process, which leaves this cell out.
                    self.say("unhealthy", workload=workload.name, peer=name, error=out[name]["failed"])
                    sys.exit(3)
            finally:
                signal.alarm(0)
        rounds = 3 if self.quick else 9
        order = list(cells)
        gc.collect()
        gc.disable()
        try:
            for r in range(rounds):
                if r >= 3 and time.time() - started > self.box:
                    break
                for name in order[r % len(order) :] + order[: r % len(order)]:
                    self.say("start", workload=workload.name, peer=name, stage="time")
                    if workload.library_bound:
                        time.sleep(0.15)  # the threads of another peer's library spin up to 0.1 s after its last call
                    cells[name].times.append(cells[name].region(cells[name].n))
                gc.collect()
        finally:
            gc.enable()
        for name, cell in cells.items():
            out[name]["seconds"] = float(np.median(cell.times))
            out[name]["rounds"] = [float(t) for t in cell.times]
            out[name]["repeats"] = cell.n
        if "broadcloth" in cells:
            cell = cells["broadcloth"]
            try:
                out["broadcloth"]["kernels"] = cell.peer.kernels(cell.call)  # type: ignore[attr-defined]
            except Exception as error:
                out["broadcloth"]["kernels_failed"] = str(error)
        self.say("result", workload=workload.name, size=size, peers=out, took=time.time() - started)

    def bandwidth(self) -> float:
        """Bytes a second, read and written, of the fastest plain copy of a large array here."""
        count = 10**6 if self.quick else (4 * 10**8 if self.device == "cuda" else 10**8)
        best = cpu_bandwidth(count) if self.device == "cpu" else 0.0
        for peer in self.peers.values():
            try:
                copy = peer.copy_function()
                if copy is None:
                    continue
                src = peer.array(np.ones(count, "float32"))
                dst = peer.array(np.ones(count, "float32"))
                peer.warm(lambda copy=copy, dst=dst, src=src: copy(dst, src))
                for r in range(4):
                    peer.synchronize(src)
                    start = time.perf_counter()
                    for _ in range(10):
                        result = copy(dst, src)
                        if peer.submit:
                            peer.submit()
                    peer.synchronize(result)
                    if r:
                        best = max(best, 10 * 8.0 * count / (time.perf_counter() - start))
                del src, dst, result
            except Exception:
                traceback.print_exc()
            gc.collect()
            peer.trim()
        return best


def open_reference() -> Peer:
    from peers import NumPy

    return NumPy("cpu")


def cpu_bandwidth(count: int) -> float:
    """NumPy's copy, one thread for each core: it lets go of the interpreter's lock."""
    src, dst = np.ones(count, "float32"), np.ones(count, "float32")
    threads = len(os.sched_getaffinity(0))
    edges = [count * i // threads for i in range(threads + 1)]
    best = 0.0
    for _ in range(5):
        team = [threading.Thread(target=np.copyto, args=(dst[a:b], src[a:b])) for a, b in itertools.pairwise(edges)]
        start = time.perf_counter()
        for t in team:
            t.start()
        for t in team:
            t.join()
        best = max(best, 8.0 * count / (time.perf_counter() - start))
    return best


def main() -> None:
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGALRM, _on_alarm)
    with os.fdopen(options["channel"], "w") as channel:
        Worker(options, channel).run()


if __name__ == "__main__":
    main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)  # what is measured is written; five libraries' ways of shutting down beside each other are nobody's concern here
