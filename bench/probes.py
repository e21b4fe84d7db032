"""Measurements that need processes of their own: import time, first kernels, and what one small op costs in Python.

Each probe is a child of this file (`python bench/probes.py NAME DEVICE`) that prints one line of JSON; `measure` runs the children and
sums up.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from workloads import Bar

# ---- In the child ----------------------------------------------------------------------------------------------------------------------


def child_import(device: str) -> dict[str, float]:
    """Seconds of `import broadcloth` after `import numpy`, its files warm."""
    import numpy

    start = time.perf_counter()
    import broadcloth

    return {"seconds": time.perf_counter() - start, "of": len(numpy.__name__) + len(broadcloth.__name__)}


def child_first_kernel(device: str) -> dict[str, float]:
    """Seconds to the first result of a process, the cache folder as the parent left it; then the same for a second, different kernel.

    The clock starts with the inputs on the device, so that what is timed is: plan, print, compile, load, run, wait.
    """
    import numpy as np

    import broadcloth as bc

    bc.set_default_device(device)
    bc.config.background_compile = device == "cuda"  # on the CPU the built-in loops would run in the place of a new kernel
    rng = np.random.default_rng(1)
    a, b = (bc.array(rng.random((1000, 1000), dtype="float32")) for _ in range(2))
    bc.synchronize()
    before = bc._c.cache_stats()
    start = time.perf_counter()
    first = a * b + bc.sin(a) + bc.cos(b)
    bc.synchronize()
    middle = time.perf_counter()
    second = bc.sqrt(a) * 2 + bc.exp(b)
    bc.synchronize()
    end = time.perf_counter()
    third = bc.log(a + 1) - bc.tanh(b)
    bc.synchronize()
    last = time.perf_counter()
    after = bc._c.cache_stats()
    assert np.allclose(first.get(), a.get() * b.get() + np.sin(a.get()) + np.cos(b.get()), rtol=1e-5)
    assert second.shape == third.shape
    return {
        "first": middle - start,
        "next": min(end - middle, last - end),
        "compiles": after["compiles"] - before["compiles"],
        "disk_hits": after["disk_hits"] - before["disk_hits"],
        "shipped_hits": after["shipped_hits"] - before["shipped_hits"],
        "compile_seconds": after["compile_seconds"] - before["compile_seconds"],
    }


def child_first_result(device: str) -> dict[str, float]:
    """As a program has it: the loops that are built in run while the kernel compiles."""
    import numpy as np

    import broadcloth as bc

    bc.set_default_device(device)
    rng = np.random.default_rng(1)
    a, b = (bc.array(rng.random(100_000, dtype="float32")) for _ in range(2))
    bc.synchronize()
    start = time.perf_counter()
    first = a * b + bc.sin(a) + bc.cos(b)
    bc.synchronize()
    end = time.perf_counter()
    del first
    return {"seconds": end - start}


def _per_call(run: Callable[[int], float], n: int, seconds: float) -> float:
    """The median over rounds of `run(n)`, which gives seconds a call."""
    run(n)
    run(n)
    times = []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        times.append(run(n))
    return statistics.median(times)


def child_small(device: str) -> dict[str, float]:
    """Seconds of one add of 10 elements: NumPy's; recorded only; run one at a time; 128 recorded, then run at once."""
    import gc

    import numpy as np

    import broadcloth as bc

    bc.set_default_device(device)
    bc.config.background_compile = False
    rng = np.random.default_rng(1)
    a_host, b_host = (rng.random(10, dtype="float32") for _ in range(2))
    a, b = bc.array(a_host), bc.array(b_host)
    bc.synchronize()
    keep: list[Any] = [None] * 128
    flush = bc.flush
    gc.disable()

    def numpy_add(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            a_host + b_host
        return (time.perf_counter() - start) / n

    def record_only(n: int) -> float:
        spent = 0.0
        for _ in range(n // 128):
            start = time.perf_counter()
            for i in range(128):
                keep[i] = a + b
            spent += time.perf_counter() - start
            flush()
        return spent / (n // 128 * 128)

    def tape_of_128(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n // 128):
            for i in range(128):
                keep[i] = a + b
            flush()
        return (time.perf_counter() - start) / (n // 128 * 128)

    def forced(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            c = a + b
            flush()
        seconds = (time.perf_counter() - start) / n
        del c
        return seconds

    def read(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            (a + b).get()
        return (time.perf_counter() - start) / n

    def dropped(n: int) -> float:
        start = time.perf_counter()
        for _ in range(n):
            a + b
        return (time.perf_counter() - start) / n

    out = {}
    for name, run, n in (
        ("numpy", numpy_add, 20000), ("recorded", record_only, 6400), ("tape of 128", tape_of_128, 6400), ("run", forced, 3000),
        ("read", read, 3000), ("dropped", dropped, 20000),
    ):  # fmt: skip
        out[name] = _per_call(run, n, 0.25)
        bc.synchronize()
    return out


HOST_BYTES = 512 << 20


def child_host_copy(device: str) -> dict[str, float]:
    """Seconds of copies of 512 MiB of pageable memory to the device and back, by library: "broadcloth up", "cupy down" …

    The host's arrays are written before, so that no page is new to the system; a copy ends when the host may go on.
    """
    import numpy as np

    host, back = np.arange(HOST_BYTES // 4, dtype=np.uint32), np.zeros(HOST_BYTES // 4, np.uint32)
    out: dict[str, float] = {}

    def best(name: str, call: Callable[[], Any], wait: Callable[[], Any]) -> None:
        times = []
        for _ in range(6):
            wait()
            start = time.perf_counter()
            call()
            wait()
            times.append(time.perf_counter() - start)
        out[name] = statistics.median(times[1:])

    def ours() -> None:
        import broadcloth as bc

        bc.set_default_device(device)
        a = bc.empty(host.shape, dtype="uint32")
        best("broadcloth up", lambda: a.set(host), bc.synchronize)
        best("broadcloth down", lambda: a.get(out=back), bc.synchronize)

    def cupy() -> None:
        import cupy

        a = cupy.empty(host.shape, dtype="uint32")
        wait = cupy.cuda.Device().synchronize
        best("cupy up", lambda: a.set(host), wait)
        best("cupy down", lambda: a.get(out=back), wait)

    def torch() -> None:
        import torch

        source, target = torch.from_numpy(host.view(np.int32)), torch.from_numpy(back.view(np.int32))
        a = torch.empty_like(source, device="cuda")
        best("torch up", lambda: a.copy_(source), torch.cuda.synchronize)
        best("torch down", lambda: target.copy_(a), torch.cuda.synchronize)

    for library in (ours, cupy, torch):
        try:
            library()
        except ImportError:
            continue
        if not np.array_equal(host, back):
            raise RuntimeError(f"{library.__name__}: what came back is not what was sent")
        back[:] = 0
    return out


CHILDREN = {
    "import": child_import, "first_kernel": child_first_kernel, "first_result": child_first_result, "small": child_small,
    "host_copy": child_host_copy,
}  # fmt: skip

# ---- In the parent ---------------------------------------------------------------------------------------------------------------------


def _child(name: str, device: str, **environment: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, os.path.abspath(__file__), name, device],
        capture_output=True, text=True, timeout=60, env={**os.environ, **environment},
    )  # fmt: skip
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"{name}: exit status {done.returncode}: {last}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def probe_import(device: str, rounds: int) -> list[dict[str, Any]]:
    _child("import", device)  # writes the .pyc files
    times = [_child("import", device)["seconds"] for _ in range(rounds)]
    return [_row("import", "import broadcloth, beyond import numpy", times, Bar("seconds", 0.10))]


# Kernels that came compiled with a wheel are no cold compiles.
COLD = {"BROADCLOTH_SHIPPED_KERNELS": "0", "CUDA_CACHE_DISABLE": "1"}  # nor by what the driver keeps of NVRTC's


def probe_first_kernel(device: str, rounds: int) -> list[dict[str, Any]]:
    limit = 0.040 if device == "cuda" else 0.030
    cold, cold_next, warm, compiled, compile_times, shipped = [], [], [], [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="broadcloth-bench-") as folder:
            one = _child("first_kernel", device, BROADCLOTH_CACHE_DIR=folder, **COLD)
            two = _child("first_kernel", device, BROADCLOTH_CACHE_DIR=folder, **COLD)
        with tempfile.TemporaryDirectory(prefix="broadcloth-bench-") as folder:
            as_shipped = _child("first_kernel", device, BROADCLOTH_CACHE_DIR=folder)
        if one["compiles"] != 3:
            raise RuntimeError(f"first_kernel: three kernels are new to the process, {one['compiles']} were compiled")
        if as_shipped["shipped_hits"]:
            shipped.append(as_shipped["first"])
        cold.append(one["first"])
        cold_next.append(one["next"])
        compile_times.append(one["compile_seconds"] / max(1, one["compiles"]))
        warm.append(two["first"])
        compiled.append(two["compiles"])
    second = _row("second_process", "the same kernel in a second process, from the cache on disk", warm, None)
    second["compiles"] = max(compiled)
    second["bar"] = "compiles none"
    second["met"] = second["compiles"] == 0
    return [
        _row("first_kernel", "first kernel of a process, nothing cached, with the compiler's own start", cold, Bar("seconds", limit)),
        _row("next_kernel", "another new kernel in the same process", cold_next, Bar("seconds", limit)),
        _row("compile", "of that: in the compiler, a kernel", compile_times, None),
        second,
        *([_row("shipped_kernel", "first kernel of a process, one that came compiled with the wheel", shipped, None)] if shipped else []),
    ]


def probe_first_result(device: str, rounds: int) -> list[dict[str, Any]]:
    times = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory(prefix="broadcloth-bench-") as folder:
            times.append(_child("first_result", device, BROADCLOTH_CACHE_DIR=folder, **COLD)["seconds"])
    return [_row("first_result", "first result of 1e5 elements in a new process, nothing cached, as a program has it", times, None)]


def probe_small(device: str, rounds: int) -> list[dict[str, Any]]:
    all_of = [_child("small", device) for _ in range(max(1, min(3, rounds)))]
    column = lambda key: [one[key] for one in all_of]
    numpy = statistics.median(column("numpy"))
    slower = Bar("slower", 2.0) if device == "cpu" else None
    rows = [
        _row("add_10", "one add of 10 elements, recorded and run", column("run"), slower, numpy),
        _row("add_10_tape", "the same, 128 recorded and then run at once", column("tape of 128"), slower, numpy),
        _row("add_10_read", "the same, its result read as a NumPy array", column("read"), None, numpy),
        _row("record", "one add recorded (the cost of a node)", column("recorded"), Bar("seconds", 0.4e-6), numpy),
        _row("record_dropped", "one add recorded, its result dropped", column("dropped"), None, numpy),
    ]
    return rows


def probe_host_copy(device: str, rounds: int) -> list[dict[str, Any]]:
    if device != "cuda":
        return []
    times = _child("host_copy", device)
    rows = []
    for way, what in (("up", "to the device"), ("down", "from the device")):
        peers = {name.split()[0]: seconds for name, seconds in times.items() if name.endswith(way) and not name.startswith("broadcloth")}
        beside = "".join(f"; {name} {HOST_BYTES / seconds / 1e9:.1f}" for name, seconds in peers.items())
        speed = HOST_BYTES / times[f"broadcloth {way}"] / 1e9
        row = _row(f"host_copy_{way}", f"512 MiB of pageable memory {what}: {speed:.1f} GB/s{beside}", [times[f"broadcloth {way}"]],
                   Bar("seconds", HOST_BYTES / 25e9))  # fmt: skip
        row["peers"] = peers
        rows.append(row)
    return rows


def _row(name: str, what: str, times: list[float], bar: Bar | None, numpy: float | None = None) -> dict[str, Any]:
    seconds = statistics.median(times)
    row: dict[str, Any] = {"name": name, "what": what, "seconds": seconds, "rounds": times, "bar": bar.text() if bar else ""}
    if numpy is not None:
        row["numpy_seconds"] = numpy
    if bar:
        row["met"] = seconds <= (bar.value * numpy if bar.kind == "slower" and numpy else bar.value)
    return row


PROBES = {
    "import": probe_import, "first_kernel": probe_first_kernel, "first_result": probe_first_result, "small": probe_small,
    "host_copy": probe_host_copy,
}  # fmt: skip


def measure(name: str, device: str, quick: bool) -> list[dict[str, Any]]:
    """The rows of one probe; a probe that fails gives one row that says why."""
    rounds = 1 if quick else 5
    try:
        return PROBES[name](device, rounds)
    except Exception as error:
        return [{"name": name, "what": "", "failed": str(error)[:500]}]


if __name__ == "__main__":
    print(json.dumps(CHILDREN[sys.argv[1]](sys.argv[2])))
