"""Devices, as CuPy and Numba name them."""

from __future__ import annotations

import contextlib
import functools
import os
import shutil
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .. import _broadcloth as _c
from ._attributes import ATTRIBUTES, CUPY_NAMES

# What stands for the numbers that a CPU does not have, where programs ask for them before a launch. They are what the CPU's kernels take.
_CPU_ATTRIBUTES = {
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65535,
    "MAX_GRID_DIM_Z": 65535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 48 << 10,
    "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": 227 << 10,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 228 << 10,
    "WARP_SIZE": 32,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
    "MANAGED_MEMORY": 1,
    "CONCURRENT_MANAGED_ACCESS": 1,
    "CONCURRENT_KERNELS": 1,
    "INTEGRATED": 1,
}


class MemoryInfo(NamedTuple):
    """Bytes of memory that are free, and that there are."""

    free: int
    total: int


class ComputeCapability(tuple):
    """A device's compute capability: the pair (major, minor), which also reads as CuPy's digits.

    Examples
    --------
    >>> from broadcloth.cuda._device import ComputeCapability
    >>> cc = ComputeCapability((9, 0))
    >>> cc >= (7, 5), str(cc), "sm_" + cc, int(cc), cc == "90"
    (True, '90', 'sm_90', 90, True)
    """

    __slots__ = ()

    def __new__(cls, pair: tuple[int, int]) -> ComputeCapability:
        return super().__new__(cls, pair)

    @property
    def major(self) -> int:
        """The first number."""
        return self[0]

    @property
    def minor(self) -> int:
        """The second number."""
        return self[1]

    def __str__(self) -> str:
        return f"{self[0]}{self[1]}"

    def __format__(self, spec: str) -> str:
        return format(str(self), spec)

    def __int__(self) -> int:
        return self[0] * 10 + self[1]

    def __radd__(self, other: Any) -> Any:
        return other + str(self) if isinstance(other, str) else NotImplemented

    def __eq__(self, other: object) -> bool:
        return str(self) == other if isinstance(other, str) else tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return tuple.__hash__(self)


def _resolve(device: Any) -> Any:
    if isinstance(device, Device):
        return device._device
    if isinstance(device, _c.device):
        return device
    if isinstance(device, str):
        return _c.device(device)
    index = int(device)
    if _c.device_count("cuda"):
        if not 0 <= index < _c.device_count("cuda"):
            raise ValueError(f"Device: expected an id below {_c.device_count('cuda')}, got {index}")
        return _c.device(f"cuda:{index}")
    if index != 0:
        raise ValueError(f"Device: expected id 0 on a machine without a GPU, got {index}")
    return _c.device("cpu")


class Device:
    """A device: a GPU by its number, or the CPU where there is none.

    `with Device(1):` makes it the default device of this thread; `Device(1).use()` for good.

    Parameters
    ----------
    device : int, str or device, optional
        A GPU's number ("cuda:1" and `broadcloth.device` are taken too); the current device unless given.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> device = cuda.Device(0)
    >>> device.id
    0
    >>> with device:
    ...     a = bc.zeros(3)
    """

    __slots__ = ("_device", "_outer")

    def __init__(self, device: Any = None) -> None:
        self._device = _c.default_device() if device is None else _resolve(device)
        self._outer: list[Any] = []

    @classmethod
    def from_pci_bus_id(cls, pci_bus_id: str) -> Device:
        """The device with a PCI bus id, such as "0000:3b:00.0"."""
        for i in range(_c.device_count("cuda")):
            if _c.cuda_properties(i)["pci_bus_id"].lower() == pci_bus_id.lower():
                return cls(i)
        raise ValueError(f"Device: there is no device with the PCI bus id {pci_bus_id!r}")

    @property
    def id(self) -> int:
        """Which one of its type."""
        return self._device.index

    @property
    def type(self) -> str:
        """'cuda' or 'cpu'."""
        return self._device.type

    @property
    def _cuda(self) -> bool:
        return self._device.type == "cuda"

    @property
    def name(self) -> bytes:
        """The device's name, as Numba gives it."""
        return _c.device_info(self._device)["name"].encode()

    @property
    def properties(self) -> dict[str, Any]:
        """The names and values of `broadcloth.cuda.runtime.getDeviceProperties`."""
        from .runtime import getDeviceProperties

        return getDeviceProperties(self)

    @property
    def compute_capability(self) -> ComputeCapability:
        """The pair (major, minor) that also reads as "90"; (0, 0) for the CPU."""
        if not self._cuda:
            return ComputeCapability((0, 0))
        return ComputeCapability((self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR))

    @property
    def pci_bus_id(self) -> str:
        """The PCI bus id; empty for the CPU."""
        return _c.cuda_properties(self.id)["pci_bus_id"] if self._cuda else ""

    @property
    def uuid(self) -> str:
        """The device's own number, "GPU-…"; "CPU" for the CPU."""
        return "GPU-" + _c.cuda_properties(self.id)["uuid"] if self._cuda else "CPU"

    @property
    def mem_info(self) -> MemoryInfo:
        """Bytes of memory that are free, and that there are."""
        info = _c.device_info(self._device)
        return MemoryInfo(info["memory_free"], info["memory_total"])

    @property
    def attributes(self) -> dict[str, int]:
        """Every attribute that the driver knows, by CuPy's names."""
        found = {name: self._attribute(number) for name, number in CUPY_NAMES.items()}
        return {name: value for name, value in found.items() if value is not None}

    def _attribute(self, number: int) -> int | None:
        if self._cuda:
            return _c.cuda_attribute(self.id, number)
        for name, value in ATTRIBUTES.items():
            if value == number:
                if name == "MULTIPROCESSOR_COUNT":
                    return _c.device_info(self._device)["multiprocessors"]
                return _CPU_ATTRIBUTES.get(name)
        return None

    def __getattr__(self, name: str) -> int:
        # Numba's spelling: device.MAX_THREADS_PER_BLOCK.
        if name.isupper() and name in ATTRIBUTES:
            value = self._attribute(ATTRIBUTES[name])
            if value is not None:
                return value
            raise AttributeError(f"Device: {self._device} has no attribute {name}")
        raise AttributeError(f"'Device' object has no attribute {name!r}")

    @property
    def cublas_handle(self) -> int:
        """The engine calls cuBLASLt by itself and has no handle to give."""
        raise NotImplementedError("cublas_handle: the engine calls cuBLASLt by itself; use broadcloth.matmul")

    def use(self) -> None:
        """Makes it the default device of this thread."""
        _c.set_default_device(self._device)

    def synchronize(self) -> None:
        """Runs what waits on the device, and waits for all of it."""
        self._device.synchronize()

    def can_access_peer(self, peer: Any) -> bool:
        """Tells whether kernels of this device can use another one's memory."""
        other = _resolve(peer)
        if not self._cuda or other.type != "cuda":
            return self._device == other
        return self._device == other or _c.cuda_can_access_peer(self.id, other.index)

    def enable_peer_access(self, peer: Any) -> bool:
        """Lets kernels of this device use another one's memory; False where the machine cannot."""
        other = _resolve(peer)
        return self.can_access_peer(other) and (self._device == other or _c.cuda_enable_peer(self.id, other.index))

    def reset(self) -> None:
        """Waits for the device and gives the pool's unused memory back."""
        self.synchronize()
        _c.pool_trim(self._device)

    def get_primary_context(self) -> Context:
        """The device's context, as Numba names it."""
        return Context(self)

    @property
    def supports_float16(self) -> bool:
        """True: half precision works on every device."""
        return True

    @property
    def supports_bfloat16(self) -> bool:
        """True: bfloat16 works on every device."""
        return True

    def __enter__(self) -> Device:
        self._outer.append(_c.default_device())
        self.use()
        return self

    def __exit__(self, *error: object) -> None:
        _c.set_default_device(self._outer.pop())

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Device):
            return self._device == other._device
        if isinstance(other, (_c.device, str)):
            return self._device == other
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._device)

    def __int__(self) -> int:
        return self.id

    def __index__(self) -> int:
        return self.id

    def __lt__(self, other: Any) -> bool:
        return isinstance(other, Device) and self.id < other.id

    def __repr__(self) -> str:
        return f"<CUDA Device {self.id}>" if self._cuda else "<CPU Device>"

    def __reduce__(self) -> tuple[Any, ...]:
        return Device, (str(self._device),)


class Context:
    """A device's context, as Numba names it. The engine uses the primary context, which is shared with every other library."""

    def __init__(self, device: Device) -> None:
        self.device = device

    @property
    def id(self) -> int:
        """The device's number."""
        return self.device.id

    def get_memory_info(self) -> MemoryInfo:
        """Bytes of memory that are free, and that there are."""
        return self.device.mem_info

    def synchronize(self) -> None:
        """Waits for all of the device's work."""
        self.device.synchronize()

    def reset(self) -> None:
        """Waits for the device and gives unused memory back."""
        self.device.reset()

    def push(self) -> None:
        """Makes the device the current one until `pop`."""
        self.device.__enter__()

    def pop(self) -> None:
        """Goes back to the device before `push`."""
        self.device.__exit__()

    def __enter__(self) -> Context:
        self.push()
        return self

    def __exit__(self, *error: object) -> None:
        self.pop()

    def memalloc(self, bytesize: int) -> Any:
        """Device memory, as `broadcloth.cuda.alloc` gives it."""
        from ._memory import alloc

        with self.device:
            return alloc(bytesize)

    def memhostalloc(self, bytesize: int, mapped: bool = False, portable: bool = False, wc: bool = False) -> Any:
        """Page-locked host memory."""
        from ._memory import alloc_pinned_memory

        with self.device:
            return alloc_pinned_memory(bytesize)

    def create_stream(self) -> Any:
        """A new stream of the device."""
        from ._stream import Stream

        with self.device:
            return Stream()

    def get_default_stream(self) -> Any:
        """The device's default stream."""
        from ._stream import Stream

        return Stream.null

    def get_legacy_default_stream(self) -> Any:
        """The stream that waits for all others, as CUDA's default one does."""
        from ._stream import legacy_default_stream

        with self.device:
            return legacy_default_stream()

    def get_per_thread_default_stream(self) -> Any:
        """The default stream of this thread."""
        from ._stream import per_thread_default_stream

        with self.device:
            return per_thread_default_stream()

    def create_external_stream(self, ptr: int) -> Any:
        """The stream of another library, by its handle."""
        from ._stream import external_stream

        with self.device:
            return external_stream(ptr)

    def memallocmanaged(self, bytesize: int, attach_global: bool = True) -> Any:
        """Memory that the host and the device share."""
        from ._memory import malloc_managed

        with self.device:
            return malloc_managed(bytesize)

    def create_event(self, timing: bool = True) -> Any:
        """A new event."""
        from ._event import Event

        return Event(disable_timing=not timing)

    def can_access_peer(self, peer_context: Any) -> bool:
        """Tells whether kernels of the device can use another one's memory."""
        return self.device.can_access_peer(getattr(peer_context, "device", peer_context))

    def enable_peer_access(self, peer_context: Any, flags: int = 0) -> None:
        """Lets kernels of the device use another one's memory."""
        self.device.enable_peer_access(getattr(peer_context, "device", peer_context))

    def get_ipc_handle(self, memory: Any) -> Any:
        """A handle by which another process can open device memory."""
        from ._memory import ipc_handle

        return ipc_handle(memory)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Context) and self.device == other.device

    def __hash__(self) -> int:
        return hash(("context", self.device))

    def __repr__(self) -> str:
        return f"<Context of {self.device!r}>"


class _Gpus:
    """The devices, as a sequence; each is a context manager. `cuda.gpus.current` is the current one."""

    @property
    def lst(self) -> list[Device]:
        """All of them."""
        return list(self)

    @property
    def current(self) -> Device:
        """The current device."""
        return get_current_device()

    def __len__(self) -> int:
        return max(_c.device_count("cuda"), 1)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return list(self)[index]
        if not -len(self) <= index < len(self):
            raise IndexError(f"gpus: expected an index below {len(self)}, got {index}")
        return Device(index % len(self))

    def __iter__(self) -> Iterator[Device]:
        return (Device(i) for i in range(len(self)))

    def __repr__(self) -> str:
        return ", ".join(repr(d) for d in self)


gpus = _Gpus()


def list_devices() -> _Gpus:
    """The devices, as `gpus`."""
    return gpus


def get_current_device() -> Device:
    """The device that this thread uses.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.get_current_device() == cuda.Device()
    True
    """
    return Device()


def get_device_id() -> int:
    """The number of the device that this thread uses."""
    return _c.default_device().index


def select_device(device_id: int) -> Context:
    """Makes a device this thread's current one.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> before = cuda.get_current_device()
    >>> cuda.select_device(0).id
    0
    >>> before.use()
    """
    device = Device(device_id)
    device.use()
    return Context(device)


def current_context(devnum: int | None = None) -> Context:
    """The context of the current device, or of the one with a number."""
    return Context(Device(devnum))


def require_context(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator of Numba's; a context is always there, so the function is returned as it is."""
    return function


def close() -> None:
    """Waits for all work of this thread's device and gives unused memory back. Work goes on as before afterwards."""
    Device().reset()


def synchronize() -> None:
    """Runs what waits on the current device, waits for it, and raises what its work raised.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.synchronize()
    """
    _c.default_device().synchronize()


def is_available() -> bool:
    """Tells whether there is a GPU that can be used.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> isinstance(cuda.is_available(), bool)
    True
    """
    return _c.device_count("cuda") > 0


def cuda_error() -> str | None:
    """Why there is no GPU; None where there is one.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> (cuda.cuda_error() is None) == cuda.is_available()
    True
    """
    return None if is_available() else "no CUDA driver or no GPU was found"


def is_supported_version() -> bool:
    """True: the CUDA versions that the engine finds are versions that it supports."""
    return True


def is_float16_supported() -> bool:
    """True: half precision works on every device."""
    return True


def is_bfloat16_supported() -> bool:
    """True: bfloat16 works on every device."""
    return True


def is_fp8_supported() -> bool:
    """Tells whether the current device computes with 8-bit floats."""
    return Device().compute_capability >= (8, 9)


def detect() -> bool:
    """Prints the devices; returns whether there is a GPU.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> found = cuda.detect()  # doctest: +ELLIPSIS
    Found ... device...
    """
    count = _c.device_count("cuda")
    if not count:
        info = _c.device_info("cpu")
        print(f"Found no CUDA device; kernels run on the CPU: {info['name']}")
        return False
    print(f"Found {count} CUDA device{'s' * (count > 1)}")
    for device in gpus:
        cc = device.compute_capability
        print(f"id {device.id}    {device.name!r:>40}                              [SUPPORTED]")
        print(f"{'Compute Capability':>40}: {cc.major}.{cc.minor}")
        print(f"{'PCI Bus ID':>40}: {device.pci_bus_id}")
        print(f"{'UUID':>40}: {device.uuid}")
    print(f"Summary:\n\t{count}/{count} devices are supported")
    return True


@contextlib.contextmanager
def defer_cleanup() -> Iterator[None]:
    """Numba's context manager that puts off the freeing of memory. The pool frees without waiting, so that there is nothing to put off."""
    yield


@functools.cache
def get_cuda_path() -> str | None:
    """The folder of the CUDA toolkit, or None."""
    path = os.environ.get("CUDA_PATH") or os.environ.get("CUDA_HOME")
    if path and os.path.isdir(path):
        return path
    nvcc = shutil.which("nvcc")
    if nvcc:
        return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))
    return "/usr/local/cuda" if os.path.isdir("/usr/local/cuda") else None


@functools.cache
def get_nvcc_path() -> str | None:
    """The command nvcc, or None."""
    path = shutil.which("nvcc")
    folder = get_cuda_path()
    if not path and folder and os.path.exists(os.path.join(folder, "bin", "nvcc")):
        path = os.path.join(folder, "bin", "nvcc")
    return path


def get_rocm_path() -> None:
    """None: ROCm is not used."""


def get_hipcc_path() -> None:
    """None: ROCm is not used."""


def get_local_runtime_version() -> int:
    """The version of the CUDA toolkit that kernels are compiled with, as 13000 for 13.0."""
    from .runtime import runtimeGetVersion

    return runtimeGetVersion()


class _Driver:
    """What Numba's programs look for in the parts of its driver."""

    def __getattr__(self, name: str) -> Any:
        if name in ("CudaAPIError", "CudaSupportError", "CudaDriverError"):
            from .runtime import CUDARuntimeError

            return CUDARuntimeError
        if name in ("DeviceNDArray", "DeviceNDArrayBase", "MappedNDArray", "ManagedNDArray"):
            return _c.ndarray
        if name == "get_context":
            return current_context
        from importlib import import_module

        return getattr(import_module("broadcloth.cuda"), name)


drv = _Driver()


def get_compute_capability() -> str:
    """The current device's compute capability without a point, as "90"; on the CPU "0"."""
    return "".join(map(str, Device().compute_capability)) if _c.device_count("cuda") else "0"
