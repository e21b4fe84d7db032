"""The null device for tests: what it was asked to run, and where that reads and writes."""

from __future__ import annotations

import contextlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

import broadcloth as bc

TARGETS = {"null-cpu": "null:0", "null-cuda": "null:1"}
_ADDRESS = re.compile(r"(const )?[\w<>]+\* *(?:__restrict__)? *q\d+ = \w+<(?:const )?([\w<>]+)\*>\(p(?:->|\.)w(?: \+ |\[)(\d+)")


@dataclass
class Launch:
    """One launch: its name, its text, and the addresses of its parameters that are read through and written through."""

    entry: str
    source: str
    params: bytes
    reads: set[int] = field(default_factory=set)
    writes: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        for const, _, word in _ADDRESS.findall(self.source):
            (address,) = struct.unpack_from("<q", self.params, 8 * int(word))
            (self.reads if const else self.writes).add(address)

    @property
    def in_place(self) -> bool:
        """A store into memory that the kernel may read too."""
        return not re.search(r"\* *__restrict__ q\d", self.source)


@dataclass
class Record:
    """What a block ran. A segmented reduction of the CPU's skeletons is two launches of one kernel and counts as one."""

    launches: list[Launch] = field(default_factory=list)
    copies: list[tuple[str, int]] = field(default_factory=list)

    @property
    def kernels(self) -> list[Launch]:
        return [launch for launch in self.launches if not launch.entry.endswith("_join")]

    @property
    def names(self) -> list[str]:
        return [launch.entry for launch in self.kernels]


@contextlib.contextmanager
def null_device(target: str) -> Iterator[str]:
    """Makes a null device the default one, with the skeletons of a target: "null-cpu" or "null-cuda"."""
    with bc.device(TARGETS[target]) as device:
        bc.flush()
        bc._c.null_set_target(target)
        try:
            yield str(device)
        finally:
            bc.flush()
            bc._c.null_log_clear()
            bc._c.null_set_target("null-cpu")


@contextlib.contextmanager
def running_null_device() -> Iterator[str]:
    """Makes a null device the default one that runs CUDA's kernels on the CPU, each compiled when it is called first."""
    background, bc.config.background_compile = bc.config.background_compile, False
    try:
        with null_device("null-cuda") as name:
            bc._c.null_run(True)
            bc._c.use_cuda_bodies("null", True)
            yield name
            bc.flush()
            bc._c.use_cuda_bodies("null", False)
            bc._c.null_run(False)
    finally:
        bc.config.background_compile = background


def accelerator() -> contextlib.AbstractContextManager[str]:
    """Makes a GPU the default device, or where there is none the null device that runs CUDA's kernels. Its name is given."""
    return contextlib.nullcontext("cuda:0") if bc._c.device_count("cuda") else running_null_device()


@contextlib.contextmanager
def placed_by_size(elements: int) -> Iterator[str]:
    """Arrays of so many elements and more lie on the accelerator, smaller ones in host memory."""
    with accelerator() as name, bc.device("cpu"):
        old = bc._c._placement()[0]
        bc._c._set_placement(elements, name)
        try:
            yield name
        finally:
            bc._c._set_placement(old)


def on_device(device: str) -> contextlib.AbstractContextManager:
    """The device for a block by its name; "auto" stands for placement by size, with few elements."""
    return placed_by_size(6) if device == "auto" else bc.device(device)


@contextlib.contextmanager
def recorded() -> Iterator[Record]:
    """Collects the launches and copies of a block, what still waits at its end with them."""
    bc.flush()
    bc._c.null_log_clear()
    record = Record()
    yield record
    bc.flush()
    record.launches = [Launch(entry["entry"], entry["source"], entry["params"]) for entry in bc._c.null_log()]
    record.copies = list(bc._c.null_copies())


def make(shape, dtype="float64"):
    """An array that lies in memory; on the null device nothing reads it."""
    return bc.empty(shape, dtype=dtype)
