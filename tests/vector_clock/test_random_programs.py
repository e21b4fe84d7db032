"""Random programs over streams, devices, graphs and other libraries' arrays: every two accesses to one piece of memory are ordered, no
block is handed out before its last reader has ended, and no rule of captures is broken.

BROADCLOTH_ORDER_PROGRAMS sets how many there are (200). One of them, by its seed, on the driver of a build:

    LD_LIBRARY_PATH=build/vector_clock BROADCLOTH_CUDA_PATH=build/vector_clock VECTOR_CLOCK_DEVICES=2 PYTHONPATH=build/python:tests \\
        python tests/stream_order.py tests/vector_clock/test_random_programs.py run_program SEED
"""

from __future__ import annotations

import gc
import os
import random

import pytest

from stream_order import OtherLibrary, library, recorded, run_child

PROGRAMS = int(os.environ.get("BROADCLOTH_ORDER_PROGRAMS", "200"))
GROUPS = 4

SIZES = (64, 4096, 70_000)


class Program:
    """One program: arrays of three sizes on some streams, and what is done with them in a random order."""

    def __init__(self, seed: int):
        import broadcloth as bc

        self.bc = bc
        self.random = random.Random(seed)
        self.text: list[str] = []
        self.devices = [f"cuda:{i}" for i in range(bc.device_count("cuda"))]
        self.libraries = {d: [OtherLibrary(i), OtherLibrary(i, non_blocking=False)] for i, d in enumerate(self.devices)}
        self.streams: dict[str, list] = {}
        for i, d in enumerate(self.devices):
            with bc.device(d):
                self.streams[d] = [
                    bc.cuda.default_stream(),
                    bc.cuda.Stream(non_blocking=True),
                    bc.cuda.Stream(non_blocking=True),
                    bc.cuda.Stream(non_blocking=False),
                ]
        self.arrays: dict[tuple[str, int], list] = {(d, n): [] for d in self.devices for n in SIZES}
        self.others: dict[tuple[str, int], list] = {(d, n): [] for d in self.devices for n in SIZES}
        self.called: list[int] = []
        self.graphs: dict[str, list] = {d: [] for d in self.devices}
        self.kernel = bc.RawKernel('extern "C" __global__ void k(const float* a, float* b, int n) { b[0] += a[0]; }', "k")

    # What is done: each takes the device, and arrays of one size on it.

    def make(self, d, n):
        self.keep(d, n, self.bc.full(n, 1, dtype="f4", device=d))

    def combine(self, d, n):
        a, b = self.pick(d, n), self.pick(d, n)
        self.keep(d, n, self.random.choice([lambda: a + b, lambda: (a * 2 - b)[::-1] + 1, lambda: self.bc.where(a > 0, a, b)])())

    def in_place(self, d, n):
        a, b = self.pick(d, n), self.pick(d, n)
        match self.random.randrange(5):
            case 0:
                a += b
            case 1:
                a[1:] = b[:-1]
            case 2:
                a.fill(3)
            case 3:
                a[:] = b
            case 4:
                a[n // 2 :] *= 2

    def reduce(self, d, n):
        a = self.pick(d, n)
        total = self.random.choice([lambda: a.sum(), lambda: a.max(), lambda: (a + 1).mean()])()
        self.keep(d, n, self.pick(d, n) * total)

    def library(self, d, n):
        a = self.pick(d, n)
        index = self.bc.array([1, 5, 3], device=d)
        match self.random.randrange(3):
            case 0:
                self.keep(d, n, self.bc.cumsum(a))
            case 1:
                a[index] = 7
            case 2:
                self.keep(d, n, a + a[index].sum())

    def drop(self, d, n):
        if self.arrays[d, n]:
            self.arrays[d, n].pop(self.random.randrange(len(self.arrays[d, n])))

    def launch(self, d, n):
        a, b = self.pick(d, n), self.pick(d, n)
        self.kernel((1,), (32,), (a, b, n))

    def launch_with_foreign(self, d, n):
        self.kernel((1,), (32,), (self.foreign(d, n), self.pick(d, n), n))

    def foreign(self, d, n):
        known = self.others[d, n]
        if known and self.random.random() < 0.5:
            return self.random.choice(known)  # is imported again, perhaps on another stream
        array = self.random.choice(self.libraries[d]).array(n + 1, self.random.choice([0, 1]))
        if self.random.random() < 0.7:
            array.write()
        known.append(array)
        if len(known) > 2:
            known.pop(0)
        return array

    def take(self, d, n):
        theirs = self.foreign(d, n)
        if self.random.random() < 0.3:
            at = self.random.randrange(n // 2)
            self.keep(d, n, self.bc.concatenate([self.bc.asarray(theirs.part(at, n // 2 + at))] * 2))
        a = self.bc.asarray(theirs)[:n]
        self.keep(d, n, a if a.size == n else self.bc.concatenate([a, a])[:n])

    def come_back(self, d, n):
        self.keep(d, n, self.bc.from_dlpack(self.pick(d, n)))

    def give(self, d, n):
        lib = self.random.choice(self.libraries[d])
        a = self.pick(d, n) + 1
        capsule = a.__dlpack__(stream=lib.stream)
        lib.read(a.data.ptr, 4 * n)
        del capsule

    def synchronize(self, d, n):
        self.random.choice(self.streams[d]).synchronize()

    def look(self, d, n):
        self.pick(d, n)[:3].get()

    def event(self, d, n):
        event = self.bc.cuda.Event()
        event.record(self.random.choice(self.streams[d]))
        self.random.choice(self.streams[d]).wait_event(event)

    def move(self, d, n):
        to = self.random.choice(self.devices)
        self.keep(to, n, self.bc.asarray(self.pick(d, n), device=to))

    def capture(self, d, n):
        stream = self.random.choice(self.streams[d][1:3])
        a, b = self.pick(d, n), self.pick(d, n)
        with stream:
            self.bc.flush()
            stream.begin_capture()
            c = a * 2 + b
            if self.random.random() < 0.5:
                c = c + c.sum()
            if self.random.random() < 0.5:
                a += c
            self.bc.flush()
            if self.random.random() < 0.5:
                c = self.beside(stream, d, n, c)
            if self.random.random() < 0.3:
                stream.launch_host_func(self.called.append, n)
            graph = stream.end_capture()
        self.graphs[d].append(graph)
        graph.launch(self.random.choice(self.streams[d]))
        self.keep(d, n, c)

    def beside(self, stream, d, n, c):
        """Work of another stream that joins the capture and comes back."""
        other = next(s for s in self.streams[d][1:3] if s is not stream)
        fork, join = self.bc.cuda.Event(), self.bc.cuda.Event()
        fork.record(stream)
        other.wait_event(fork)
        with other:
            made = c * self.random.choice([2, 3])
            self.bc.flush()
        join.record(other)
        stream.wait_event(join)
        return made

    def host_function(self, d, n):
        self.random.choice(self.streams[d]).launch_host_func(self.called.append, n)

    def launch_graph(self, d, n):
        if self.graphs[d]:
            self.random.choice(self.graphs[d]).launch(self.random.choice(self.streams[d]))

    def drop_graph(self, d, n):
        if self.graphs[d]:
            self.graphs[d].pop()

    def trim(self, d, n):
        self.bc._c.pool_trim(self.bc.device(d))

    STEPS = (
        [make, combine, in_place, drop] * 4
        + [reduce, library, launch, launch_with_foreign, take, come_back, give, event, move] * 2
        + [synchronize, look, host_function, capture, launch_graph, drop_graph]
    )

    def keep(self, d, n, a):
        arrays = self.arrays[d, n]
        arrays.append(a)
        if len(arrays) > 4:
            arrays.pop(self.random.randrange(4))

    def pick(self, d, n):
        if not self.arrays[d, n]:
            self.make(d, n)
        return self.random.choice(self.arrays[d, n])

    def run(self, steps: int) -> None:
        for _ in range(steps):
            d, n = self.random.choice(self.devices), self.random.choice(SIZES)
            step = self.random.choice(self.STEPS)
            at = self.random.randrange(len(self.streams[d]) + 1)
            self.text.append(f"{step.__name__}({d}, {n}) on {at}")
            if os.environ.get("VECTOR_CLOCK_LOG"):
                print(self.text[-1], flush=True)
            with self.bc.device(d):
                if at < len(self.streams[d]):
                    stream = self.streams[d][at]
                else:
                    stream = self.bc.cuda.ExternalStream(self.random.choice(self.libraries[d]).stream)
                with stream:
                    step(self, d, n)
                    if self.random.random() < 0.5:
                        self.bc.flush()
                del stream


def run_program(seed: str) -> None:
    number = int(seed)
    library().vc_set_done(random.Random(number).choice([0, 0, 30, 100]), number)
    program = None
    with recorded() as log:
        try:
            program = Program(number)
            program.run(60)
        finally:
            if program:
                text = program.text
                del program
                gc.collect()
    found = log.problems()
    assert not found, "\n".join([f"program {seed}:", *text, *found[:10]])


def run_programs(seeds: str) -> None:
    first, last = map(int, seeds.split(":"))
    for seed in range(first, last):
        run_program(str(seed))


@pytest.mark.timeout(1260)  # thousands of programs take longer than other tests may
@pytest.mark.parametrize("group", range(GROUPS))
def test_random_programs_are_ordered(group: int):
    each = PROGRAMS // GROUPS
    settings = {"devices": 2 if group % 2 else 1, "vmm": int(group < 2), "memory": (4 << 30, 4 << 30, 4 << 30, 16 << 20)[group]}
    run_child(__file__, "run_programs", f"{group * each}:{(group + 1) * each}", timeout=1200, **settings)
