"""Tests of order on a machine without a GPU: the engine runs on a CUDA driver that runs nothing and keeps vector clocks
(tests/vector_clock/driver.cpp).

Each test runs in a process of its own, where `libcuda.so.1` and `libnvrtc.so` are those of this folder:

    @on_vector_clock(devices=2)
    def test_two_streams():
        with recorded() as log:
            ...                       # any program that uses broadcloth on "cuda"
        log.check()                   # every conflicting pair of accesses is ordered; no freed or unmapped memory is used
        first, second = log.launches("add")
        assert log.ordered(first, second)

The engine tells what each kernel of an array expression uses (launch_observer of src/runtime/profiler.h). For other kernels that
is read from the text and the parameters, and the pool's hook, which names every block that is handed out or comes back, tells how far a
pointer's memory reaches. So a block's next owner is checked against its last reader.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import inspect
import os
import re
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_CHILD = "VECTOR_CLOCK_CHILD"


def driver_folder() -> Path:
    """Where the build put the driver: BROADCLOTH_VECTOR_CLOCK, else beside the package that is tested."""
    if named := os.environ.get("BROADCLOTH_VECTOR_CLOCK"):
        return Path(named)
    import broadcloth

    return Path(broadcloth._c.__file__).parents[2] / "vector_clock"  # where files of the package may be links to the sources


def child_environment(**settings: int) -> dict[str, str]:
    import pytest

    folder = driver_folder()
    if not (folder / "libcuda.so.1").exists():
        if (ROOT / "build").exists():
            pytest.fail(f"the build made no driver for tests in {folder}")
        pytest.skip("the driver for tests is not built")
    env = dict(os.environ, BROADCLOTH_CUDA_PATH=str(folder), BROADCLOTH_SHIPPED_KERNELS="0")
    env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [str(folder), env.get("LD_LIBRARY_PATH")]))
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(Path(__file__).parent), env.get("PYTHONPATH")]))
    env.update({f"VECTOR_CLOCK_{name.upper()}": str(value) for name, value in settings.items()})
    return env


def run_child(module: str, name: str, argument: str = "", timeout: float = 120, **settings: int) -> None:
    """Calls a function of a file in a process that has the driver; its failure is the caller's."""
    import pytest

    with tempfile.TemporaryDirectory() as cache:
        env = child_environment(**settings) | {_CHILD: "1", "BROADCLOTH_CACHE_DIR": cache}
        done = subprocess.run(
            [sys.executable, "-X", "faulthandler", str(Path(__file__)), module, name, argument],
            env=env,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    if done.returncode:
        ended = f"signal {-done.returncode}" if done.returncode < 0 else f"status {done.returncode}"
        pytest.fail(f"{name} ended with {ended}\n{done.stdout}\n{done.stderr}", pytrace=False)


def on_vector_clock(timeout: float = 120, **settings: int) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Runs a test in a process of its own on the driver. Settings are the VECTOR_CLOCK_... of driver.cpp, in small letters."""

    def decorate(test: Callable[[], None]) -> Callable[[], None]:
        @functools.wraps(test)
        def run() -> None:
            run_child(inspect.getfile(test), test.__name__, timeout=timeout, **settings)

        del run.__wrapped__  # pytest would look at its parameters
        run.body = test
        return run

    return decorate


# ---- The log ------------------------------------------------------------------------------------------------------------------------


class _Entry(ctypes.Structure):
    _fields_ = (
        [(name, ctypes.c_int) for name in ("kind", "agent", "device", "capture", "launch", "result")]
        + [(name, ctypes.c_uint64) for name in ("address", "source", "bytes")]
        + [("name", ctypes.c_char_p), ("params", ctypes.c_void_p), ("params_bytes", ctypes.c_uint64), ("text", ctypes.c_char_p)]
    )


KINDS = "launch copy fill host_function record wait synchronize allocate free map unmap graph_launch note".split()  # driver.cpp's Kind


@functools.cache
def library() -> ctypes.CDLL:
    """The driver that the engine runs on in this process."""
    lib = ctypes.CDLL("libcuda.so.1")
    lib.vc_problem.restype = ctypes.c_char_p
    lib.vc_note.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    lib.vc_allocate.restype = ctypes.c_uint64
    lib.vc_allocate.argtypes = [ctypes.c_uint64, ctypes.c_int]
    lib.vc_release.argtypes = [ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int]
    lib.vc_agent.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.vc_busy.argtypes = [ctypes.c_void_p, ctypes.c_double]
    lib.vc_entry.argtypes = [ctypes.c_int, ctypes.POINTER(_Entry)]
    return lib


class _Use(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("write", ctypes.c_int)]


@dataclass
class Access:
    """Memory that an operation uses; `bytes` is None where only the first address is known."""

    address: int
    bytes: int | None
    write: bool


@dataclass
class Entry:
    """One operation of the log. `agent` is 0 for the host, else the number of a stream."""

    index: int
    kind: str
    name: str
    agent: int
    device: int
    capture: int
    launch: int
    result: int
    address: int
    source: int
    bytes: int
    params: bytes = b""
    text: str = ""
    uses: list[Access] = field(default_factory=list)

    def __str__(self) -> str:
        where = "host" if self.agent == 0 else f"stream {self.agent}"
        return f"#{self.index} {self.kind} {self.name} ({where})"


_ENGINE = re.compile(r"(?:reinterpret_cast|word_as)<(const )?[\w:<> ,]+\*>\((?:reinterpret_cast<char\*>\()?p\.w(?:\[(\d+)\]| \+ (\d+))?\)")


def accesses_of(entry: Entry) -> list[Access]:
    """What a launch reads and writes, by the kernel's text: pointers to const are read through, others written through."""
    if entry.uses:
        return entry.uses
    if "i64 w[" in entry.text and entry.params:
        found = {}
        for const, index, offset in _ENGINE.findall(entry.text):
            word = int(index or offset or 0)
            (address,) = struct.unpack_from("<Q", entry.params, 8 * word)
            found[word] = Access(address, None, (word in found and found[word].write) or not const)
        return [a for a in found.values() if a.address]
    # A kernel of the user's: pointers are parameters.
    head = re.search(rf"__global__[^{{;]*?\b{re.escape(entry.name)}\(([^)]*)\)", entry.text)
    if not head or not entry.params:
        raise AssertionError(f"{entry}: the parameters are not understood")
    out, at = [], 0
    for parameter in head[1].split(","):
        size = 8 if "*" in parameter else _scalar_bytes(parameter)
        if "*" in parameter:
            (address,) = struct.unpack_from("<Q", entry.params, at)
            out.append(Access(address, None, "const" not in parameter.split("*")[0]))
        at += size
    return [a for a in out if a.address]


def _scalar_bytes(parameter: str) -> int:
    words = set(re.findall(r"\w+", parameter))
    for size, names in ((8, "double long i64 u64 size_t int64_t"), (4, "int float unsigned i32 u32"), (2, "short"), (1, "bool char")):
        if words & set(names.split()):
            return size
    raise AssertionError(f"the size of {parameter!r} is not known")


class Memory:
    """The blocks that are in use, and who used each byte last."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.bytes: dict[int, int] = {}
        self.history: list[tuple[int, int, Entry, bool]] = []

    def add(self, address: int, count: int) -> None:
        if address not in self.bytes:
            bisect.insort(self.starts, address)
        self.bytes[address] = count

    def remove(self, address: int) -> None:
        if address in self.bytes:
            self.starts.remove(address)
            del self.bytes[address]

    def block(self, address: int) -> tuple[int, int] | None:
        at = bisect.bisect_right(self.starts, address) - 1
        if at < 0:
            return None
        start = self.starts[at]
        return (start, start + self.bytes[start]) if address - start < max(self.bytes[start], 1) else None


@dataclass
class Log:
    """What the driver was asked to do between two moments."""

    first: int
    entries: list[Entry] = field(default_factory=list)
    before: list[Entry] = field(default_factory=list)

    def ordered(self, a: Entry, b: Entry) -> bool:
        """Tells whether a has ended before b begins, whatever the speed of streams and host."""
        return bool(library().vc_ordered(a.index, b.index))

    def launches(self, name: str = "") -> list[Entry]:
        return [e for e in self.entries if e.kind == "launch" and name in e.name]

    def of_kind(self, kind: str) -> list[Entry]:
        return [e for e in self.entries if e.kind == kind]

    def problems(self) -> list[str]:
        """Broken rules, in words: unordered conflicts, use of memory that was freed or unmapped, calls that a capture forbids."""
        out = []
        index = 0
        while text := library().vc_problem(index):
            out.append(text.decode())
            index += 1
        blocks, mapped = Memory(), Memory()
        for e in self.before + self.entries:
            if 900 <= e.result <= 908:
                out.append(f"{e} broke a rule of captures: error {e.result}")
            if e.kind in ("allocate", "map"):
                mapped.add(e.address, e.bytes)
                if e.name == "cuMemHostAlloc":
                    blocks.add(e.address, e.bytes)
            elif e.kind in ("free", "unmap"):
                out += self._ends(e, e.address, e.address + e.bytes, blocks)
                mapped.remove(e.address)
                if e.name == "cuMemFreeHost":
                    blocks.remove(e.address)
            elif e.kind == "note":
                out += self._note(e, blocks)
            elif e.kind in ("launch", "copy", "fill") and not e.capture:
                out += self._use(e, blocks, mapped)
        return out

    def check(self) -> None:
        found = self.problems()
        assert not found, "\n".join(found[:20])

    def _note(self, e: Entry, blocks: Memory) -> list[str]:
        match e.name:
            case "allocate" | "foreign":
                blocks.add(e.address, e.bytes)
            case "free":
                blocks.remove(e.address)
            case "release":
                out = self._ends(e, e.address, e.address + e.bytes, blocks, owner=e.source)
                blocks.remove(e.address)
                return out
            case "host read" | "host write":
                return self._conflicts(e, e.address, e.address + e.bytes, e.name == "host write", blocks)
        return []

    def _use(self, e: Entry, blocks: Memory, mapped: Memory) -> list[str]:
        out = []
        if e.kind == "launch":
            accesses = accesses_of(e)
        elif e.kind == "copy":
            accesses = [Access(e.source, e.bytes, False), Access(e.address, e.bytes, True)]
        else:
            accesses = [Access(e.address, e.bytes, True)]
        for a in sorted(accesses, key=lambda a: a.write):
            block = blocks.block(a.address)
            if not block:
                if mapped.block(a.address) or e.kind == "launch":
                    out.append(f"{e} {'writes' if a.write else 'reads'} {a.address:#x}, which no block holds")
                continue  # pageable host memory
            high = block[1] if a.bytes is None else a.address + a.bytes
            if high > block[1]:
                out.append(f"{e} uses {a.address:#x} to {high:#x}, past the end of its block at {block[1]:#x}")
            out += self._conflicts(e, a.address, high, a.write, blocks)
        return out

    def _conflicts(self, e: Entry, low: int, high: int, write: bool, memory: Memory) -> list[str]:
        out, kept = [], []
        for entry in memory.history:
            from_, to, other, wrote = entry
            if from_ < high and low < to and other is not e:
                if (write or wrote) and not self.ordered(other, e):
                    does, did = ("writes" if w else "reads" for w in (write, wrote))
                    out.append(f"{e} {does} {low:#x}, and does not wait for {other}, which {did} it")
                elif write and low <= from_ and to <= high:
                    continue  # who waits for this write waits for that too
            kept.append(entry)
        kept.append((low, high, e, write))
        memory.history = kept
        return out

    def _ends(self, e: Entry, low: int, high: int, memory: Memory, owner: int = -1) -> list[str]:
        """What still uses memory that ends; an owner's own stream is its own business."""
        out = [
            f"{e} takes the memory at {low:#x}, and does not wait for {other}, which uses it"
            for from_, to, other, _ in memory.history
            if from_ < high and low < to and other.agent != owner and not self.ordered(other, e)
        ]
        memory.history = [h for h in memory.history if not (h[0] < high and low < h[1])]
        return out


def read_log(first: int = 0) -> list[Entry]:
    lib, raw, out = library(), _Entry(), []
    for i in range(first, lib.vc_count()):
        lib.vc_entry(i, ctypes.byref(raw))
        params = ctypes.string_at(raw.params, raw.params_bytes) if raw.params_bytes else b""
        uses = (_Use * 64)()
        count = lib.vc_uses(i, uses, 64)
        assert count <= 64
        out.append(
            Entry(
                i,
                KINDS[raw.kind],
                raw.name.decode(),
                raw.agent,
                raw.device,
                raw.capture,
                raw.launch,
                raw.result,
                raw.address,
                raw.source,
                raw.bytes,
                params,
                (raw.text or b"").decode(),
                [Access(u.address, u.bytes, bool(u.write)) for u in uses[:count]],
            )
        )
    return out


def note(name: str, address: int = 0, count: int = 0) -> Entry:
    """Logs something that the host does or learns now; "host read" and "host write" are checked as accesses."""
    return read_log(library().vc_note(name.encode(), address, count))[0]


def start() -> None:
    """Makes the pool tell the log of its blocks. Called before the first allocation of the process."""
    import broadcloth as bc

    bc.config.background_compile = False
    bc._c.observe_launches(ctypes.cast(library().vc_observe, ctypes.c_void_p).value)
    bc._c.pool_add_hook(
        lambda event, device, ptr, count: (
            library().vc_note(event.encode(), ptr, max(count, 1)) if event in ("allocate", "free") and device != "cpu" else None
        )
    )


@contextlib.contextmanager
def recorded() -> Iterator[Log]:
    """The log of a block of code, what was pending at its end run."""
    import broadcloth as bc

    log = Log(library().vc_count())
    yield log
    bc.flush()
    everything = read_log()
    log.before, log.entries = everything[: log.first], everything[log.first :]


# ---- Another library ----------------------------------------------------------------------------------------------------------------


def checked(name: str, *arguments) -> None:
    result = getattr(library(), name)(*arguments)
    assert result == 0, f"{name}: error {result}"


class OtherLibrary:
    """A library with a stream and memory of its own, as PyTorch or CuPy beside the engine."""

    def __init__(self, device: int = 0, non_blocking: bool = True, stream: int | None = None):
        self.device = device
        context = ctypes.c_void_p()
        checked("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.context = context
        if stream is None:
            with self.entered():
                handle = ctypes.c_void_p()
                checked("cuStreamCreateWithPriority", ctypes.byref(handle), int(non_blocking), 0)
                stream = handle.value
        self.stream = stream
        self.agent = library().vc_agent(stream, device)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        before = ctypes.c_void_p()
        checked("cuCtxGetCurrent", ctypes.byref(before))
        checked("cuCtxSetCurrent", self.context)
        yield
        checked("cuCtxSetCurrent", before)

    spare: dict[tuple[int, int], list[int]] = {}  # memory that came back, by device and bytes

    def allocate(self, count: int) -> int:
        if waiting := self.spare.get((self.device, count)):
            library().vc_note(b"foreign", waiting[-1], count)
            return waiting.pop()
        address = library().vc_allocate(count, self.device)
        library().vc_note(b"foreign", address, count)
        return address

    def write(self, address: int, count: int) -> Entry:
        """A kernel of the library's that writes memory, in its stream's order."""
        with self.entered():
            checked("cuMemsetD8Async", ctypes.c_uint64(address), 0, ctypes.c_size_t(count), ctypes.c_void_p(self.stream))
        return read_log(library().vc_count() - 1)[0]

    def read(self, address: int, count: int) -> Entry:
        """A kernel of the library's that reads memory, in its stream's order."""
        with self.entered():
            if not hasattr(self, "scratch"):
                self.scratch = self.allocate(1 << 19)
            checked(
                "cuMemcpyAsync",
                ctypes.c_uint64(self.scratch),
                ctypes.c_uint64(address),
                ctypes.c_size_t(count),
                ctypes.c_void_p(self.stream),
            )
        return read_log(library().vc_count() - 1)[0]

    def order_before(self, stream: int) -> None:
        """Makes another stream wait for what this library has queued, as DLPack's producers do."""
        with self.entered():
            event = ctypes.c_void_p()
            checked("cuEventCreate", ctypes.byref(event), 2)
            checked("cuEventRecord", event, ctypes.c_void_p(self.stream))
            checked("cuStreamWaitEvent", ctypes.c_void_p(stream), event, 0)
            checked("cuEventDestroy_v2", event)

    def array(self, count: int, offset: int = 0) -> OtherArray:
        """`count` elements of float32, of which the last `count - offset` are offered."""
        return OtherArray(self, self.allocate(4 * count), count, offset)


class OtherArray:
    """A float32 vector of another library, with the CUDA array interface. When nobody has it any more, its memory is the library's again:
    that is logged, and must come after all work that uses it."""

    def __init__(self, owner: OtherLibrary, memory: int, count: int, offset: int):
        self.owner, self.memory, self.bytes = owner, memory, 4 * count
        self.address, self.size = memory + 4 * offset, count - offset

    @property
    def __cuda_array_interface__(self) -> dict:
        return {
            "shape": (self.size,),
            "typestr": "<f4",
            "data": (self.address, False),
            "strides": None,
            "version": 3,
            "stream": self.owner.stream or 1,
        }

    def part(self, low: int, high: int) -> PartOfOther:
        return PartOfOther(self, low, high)

    def write(self) -> Entry:
        return self.owner.write(self.address, 4 * self.size)

    def read(self) -> Entry:
        return self.owner.read(self.address, 4 * self.size)

    def __del__(self) -> None:
        library().vc_release(self.memory, self.bytes, self.owner.agent)
        self.owner.spare.setdefault((self.owner.device, self.bytes), []).append(self.memory)


class PartOfOther:
    """Elements `low` to `high` of another library's array, which it keeps."""

    def __init__(self, whole: OtherArray, low: int, high: int):
        self.whole, self.low, self.high = whole, low, high

    @property
    def __cuda_array_interface__(self) -> dict:
        given = self.whole.__cuda_array_interface__
        return given | {"shape": (self.high - self.low,), "data": (self.whole.address + 4 * self.low, False)}


def _child_main(path: str, name: str, argument: str = "") -> None:
    import importlib.util

    spec = importlib.util.spec_from_file_location(Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    start()
    function = getattr(module, name)
    function = getattr(function, "body", function)
    function(argument) if argument else function()


if __name__ == "__main__":
    import stream_order  # as the tests' files do, so that there is one of it

    stream_order._child_main(*sys.argv[1:])
