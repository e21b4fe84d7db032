"""PyCUDA's driver interface as far as programs use it: memory, copies, streams, events and devices. It works on every device."""

from __future__ import annotations

from typing import Any

import numpy as np

import broadcloth as bc

from ... import _broadcloth as _c
from .._attributes import ATTRIBUTES
from .._device import Device as _Device
from .._event import Event as _Event
from .._memory import pinned_array
from .._stream import Stream as _Stream
from .._stream import get_current_stream

# ---- Devices and contexts -----------------------------------------------------------------------------------------------


class _DeviceAttribute:
    """`device_attribute.MULTIPROCESSOR_COUNT`: CUDA's numbers by name."""

    def __getattr__(self, name: str) -> int:
        try:
            return ATTRIBUTES[name]
        except KeyError:
            raise AttributeError(f"device_attribute has no {name!r}") from None

    def __dir__(self) -> list[str]:
        return sorted(ATTRIBUTES)


device_attribute = _DeviceAttribute()


class Context:
    """A device made current: programs make one and pop it at their end. Contexts here are those that all libraries share."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._entered: list[Any] = []
        self.push()

    def push(self) -> None:
        """Makes the device the current one."""
        device = self._device._held._device
        self._entered.append(_c.default_device())
        _c.set_default_device(device)

    def pop(self) -> None:
        """Makes the device that was current before the current one again."""
        if self._entered:
            _c.set_default_device(self._entered.pop())

    def detach(self) -> None:
        """Gives the context up."""
        self.pop()

    @staticmethod
    def synchronize() -> None:
        """Waits for all work."""
        bc.synchronize()

    @staticmethod
    def get_device() -> Device:
        """The current device."""
        return Device(_c.default_device())


class Device:
    """A GPU by its number, or the CPU where there is none."""

    def __init__(self, number: Any = 0) -> None:
        self._held = _Device(number)

    @staticmethod
    def count() -> int:
        """How many GPUs there are; 1 on a machine without, where the CPU stands for one."""
        return max(1, bc.device_count("cuda"))

    def name(self) -> str:
        """The device's name."""
        return bc.device_info(self._held._device)["name"]

    def pci_bus_id(self) -> str:
        """The PCI bus id; empty for the CPU."""
        return self._held.pci_bus_id

    def compute_capability(self) -> tuple[int, int]:
        """Such as (9, 0); (0, 0) for the CPU."""
        major, minor = self._held.compute_capability
        return int(major), int(minor)

    def total_memory(self) -> int:
        """Bytes of memory."""
        return bc.device_info(self._held._device)["memory_total"]

    def get_attribute(self, attribute: int) -> int:
        """One of `device_attribute`'s numbers."""
        return _c.cuda_attribute(self._held.id, int(attribute)) if self._held.type == "cuda" else 0

    def get_attributes(self) -> dict[str, int]:
        """All attributes by name; none for the CPU."""
        return {name: self.get_attribute(number) for name, number in ATTRIBUTES.items()} if self._held.type == "cuda" else {}

    def make_context(self, flags: int = 0) -> Context:
        """Makes the device the current one."""
        return Context(self)

    retain_primary_context = make_context

    def __repr__(self) -> str:
        return f"<Device {self.name()}>"


def init(flags: int = 0) -> None:
    """Nothing needs it."""


def get_version() -> tuple[int, int, int]:
    """The driver's CUDA version; zeros without one."""
    from ..runtime import driverGetVersion

    version = driverGetVersion()
    return version // 1000, version % 1000 // 10, 0


def get_driver_version() -> int:
    """The driver's CUDA version as one number, 13000 for 13.0."""
    from ..runtime import driverGetVersion

    return driverGetVersion()


def mem_get_info() -> tuple[int, int]:
    """Free and total bytes of the current device."""
    info = bc.device_info()
    return info["memory_free"], info["memory_total"]


# ---- Streams and events -----------------------------------------------------------------------------------------------


class Stream(_Stream):
    """A queue of work."""

    def __new__(cls, flags: int = 0) -> Any:
        return super().__new__(cls, non_blocking=bool(flags))

    def is_done(self) -> bool:
        """Tells whether all work is done."""
        return self.done

    def wait_for_event(self, event: Event) -> None:
        """Work queued from now on waits for what the event marks."""
        self.wait_event(event)


class Event(_Event):
    """A point in a stream's order."""

    def record(self, stream: Any = None) -> Event:  # type: ignore[override]
        """Marks the work that a stream has now, and returns the event."""
        super().record(get_current_stream() if stream is None or stream == 0 else stream)
        return self

    def time_till(self, end: Event) -> float:
        """Milliseconds from this event to a later one."""
        from .. import get_elapsed_time

        return get_elapsed_time(self, end)

    def time_since(self, start: Event) -> float:
        """Milliseconds from an earlier event to this one."""
        return start.time_till(self)


# ---- Memory -----------------------------------------------------------------------------------------------


class DeviceAllocation:
    """Bytes on the current device. It is an address where a number is asked for, and may be freed early."""

    def __init__(self, size: int) -> None:
        self._array: Any = bc.empty(int(size), "uint8")
        self.size = int(size)

    @property
    def ptr(self) -> int:
        """The address."""
        return self._array.data.ptr

    @property
    def device(self) -> Any:
        """Where it lies."""
        return self._array.device

    def free(self) -> None:
        """Gives the memory back."""
        self._array = None

    def __int__(self) -> int:
        return self.ptr

    __index__ = __int__

    def __add__(self, offset: int) -> PointerHolder:
        return PointerHolder(self.ptr + offset, self.size - offset, self)

    def as_buffer(self, size: int, offset: int = 0) -> Any:
        """The bytes as an array of the device."""
        return self._array[offset : offset + size]


class PointerHolder:
    """An address inside memory of somebody else, who is kept alive."""

    def __init__(self, ptr: int, size: int, owner: Any) -> None:
        self.ptr, self.size, self.owner = ptr, size, owner
        self.device = getattr(owner, "device", None) or _c.default_device()

    def __int__(self) -> int:
        return self.ptr

    __index__ = __int__


def mem_alloc(size: int) -> DeviceAllocation:
    """Bytes on the current device."""
    return DeviceAllocation(size)


def mem_alloc_pitch(width: int, height: int, access_size: int) -> tuple[DeviceAllocation, int]:
    """Rows on the current device that start at multiples of 512 bytes, and the bytes from one to the next."""
    pitch = -(-width // 512) * 512
    return DeviceAllocation(pitch * height), pitch


def to_device(array: np.ndarray) -> DeviceAllocation:
    """A copy of a host array's bytes on the device."""
    made = DeviceAllocation(array.nbytes)
    memcpy_htod(made, array)
    return made


def from_device(memory: Any, shape: Any, dtype: Any, order: Any = "C") -> np.ndarray:
    """A host array of the bytes at an address of the device."""
    made = np.empty(shape, dtype, order)
    memcpy_dtoh(made, memory)
    return made


def from_device_like(memory: Any, other: np.ndarray) -> np.ndarray:
    """A host array of another's shape and dtype with the bytes at an address of the device."""
    return from_device(memory, other.shape, other.dtype)


def _bytes_at(memory: Any, size: int) -> Any:
    """`size` bytes of device memory as an array."""
    if isinstance(memory, DeviceAllocation):
        return memory._array[:size]
    if isinstance(memory, bc.ndarray):
        return bc.ndarray((size,), "uint8", memory.data)
    holder = memory if hasattr(memory, "ptr") else PointerHolder(int(memory), size, None)
    return bc.ndarray((size,), "uint8", holder)


def _host_bytes(array: Any) -> np.ndarray:
    given = array if isinstance(array, np.ndarray) else np.frombuffer(array, np.uint8)
    if not (given.flags.c_contiguous or given.flags.f_contiguous):
        raise ValueError("memcpy: expected a contiguous host array")
    return given.ravel(order="K").view(np.uint8)


def memcpy_htod(dest: Any, src: Any) -> None:
    """Copies a host array to the device, and waits."""
    source = _host_bytes(src)
    _bytes_at(dest, source.size)[...] = source


def memcpy_htod_async(dest: Any, src: Any, stream: Any = None) -> None:
    """Copies a host array to the device in a stream's order."""
    if stream is None:
        return memcpy_htod(dest, src)
    with stream:
        memcpy_htod(dest, src)


def memcpy_dtoh(dest: Any, src: Any) -> None:
    """Copies from the device into a host array, and waits."""
    target = _host_bytes(dest)
    bc.asnumpy(_bytes_at(src, target.size), out=target)


def memcpy_dtoh_async(dest: Any, src: Any, stream: Any = None) -> None:
    """Copies from the device into a host array in a stream's order."""
    if stream is None:
        return memcpy_dtoh(dest, src)
    with stream:
        memcpy_dtoh(dest, src)


def memcpy_dtod(dest: Any, src: Any, size: int) -> None:
    """Copies within the device."""
    _bytes_at(dest, size)[...] = _bytes_at(src, size)


def memcpy_dtod_async(dest: Any, src: Any, size: int, stream: Any = None) -> None:
    """Copies within the device in a stream's order."""
    if stream is None:
        return memcpy_dtod(dest, src, size)
    with stream:
        memcpy_dtod(dest, src, size)


def memset_d8(dest: Any, data: int, count: int) -> None:
    """Fills bytes of the device."""
    _bytes_at(dest, count)[...] = data


def memset_d16(dest: Any, data: int, count: int) -> None:
    """Fills 16-bit words of the device."""
    _bytes_at(dest, 2 * count).view("uint16")[...] = data


def memset_d32(dest: Any, data: int, count: int) -> None:
    """Fills 32-bit words of the device."""
    _bytes_at(dest, 4 * count).view("uint32")[...] = data


def pagelocked_empty(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> np.ndarray:
    """A host array that the device copies from and to at full speed."""
    return pinned_array(shape, dtype, order=order)


def pagelocked_zeros(shape: Any, dtype: Any, order: Any = "C", mem_flags: int = 0) -> np.ndarray:
    """As pagelocked_empty, filled with zeros."""
    made = pinned_array(shape, dtype, order=order)
    made[...] = 0
    return made


def pagelocked_empty_like(array: np.ndarray, mem_flags: int = 0) -> np.ndarray:
    """As pagelocked_empty, of another array's shape and dtype."""
    return pinned_array(array.shape, array.dtype)


# ---- Arguments -----------------------------------------------------------------------------------------------


class ArgumentHandler:
    """A host array that a kernel takes: copied in, out, or both ways."""

    copies_in = copies_out = False

    def __init__(self, array: np.ndarray) -> None:
        if not isinstance(array, np.ndarray):
            raise TypeError(f"{type(self).__name__}: expected a NumPy array, got {type(array).__name__}")
        self.array = array

    def before(self, stream: Any) -> Any:
        """The array on the device."""
        if self.copies_in:
            made = DeviceAllocation(self.array.nbytes)
            memcpy_htod_async(made, self.array, stream)
            return made._array
        return bc.empty(self.array.nbytes, "uint8")

    def after(self, memory: Any, stream: Any) -> None:
        """Brings the result back."""
        if self.copies_out:
            if stream is not None:
                stream.synchronize()
            bc.asnumpy(memory, out=_host_bytes(self.array))


class In(ArgumentHandler):
    """A host array that the kernel reads."""

    copies_in = True


class Out(ArgumentHandler):
    """A host array that the kernel fills."""

    copies_out = True


class InOut(ArgumentHandler):
    """A host array that the kernel reads and changes."""

    copies_in = copies_out = True


def argument(value: Any, stream: Any) -> Any:
    """What the launch path takes for an argument of PyCUDA's."""
    if isinstance(value, ArgumentHandler):
        return value.before(stream)
    if isinstance(value, DeviceAllocation):
        return value._array
    return value
