"""Memory: arrays between host and device, page-locked, mapped and managed memory, pools and allocators, as CuPy and Numba name them."""

from __future__ import annotations

import contextlib
import ctypes
import math
import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .. import _broadcloth as _c
from .._creation import asarray, empty
from ._stream import get_current_stream

# ---- Numba's arrays on the device -------------------------------------------------------------------------------------------------------


def _shape(shape: Any) -> tuple[int, ...]:
    """A shape as Python's integers; a TypeError for other numbers."""
    return (operator.index(shape),) if np.ndim(shape) == 0 else tuple(map(operator.index, shape))


def to_device(obj: Any, stream: Any = None, copy: bool = True, to: Any = None) -> Any:
    """Copies an array to the current device.

    Parameters
    ----------
    obj : array_like
        What is copied. Page-locked memory (`pinned_array`) is copied while the program goes on when a stream is given.
    stream : Stream, optional
        The stream whose work the copy is.
    copy : bool
        False allocates only.
    to : ndarray, optional
        The device array that is filled, instead of a new one.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> d = cuda.to_device(np.arange(4))
    >>> (d * 2).copy_to_host()
    array([0, 2, 4, 6])
    """
    dtype = getattr(obj, "dtype", None)
    if getattr(dtype, "names", None) is not None:
        from .._records import RecordArray

        if to is not None:
            to.copy_to_device(obj, stream)
            return to
        return RecordArray.of(obj) if copy else RecordArray(obj.shape, dtype)
    return _c.to_device(obj, _stream(stream), copy, to)


def _stream(stream: Any) -> Any:
    return None if isinstance(stream, int) and not isinstance(stream, bool) and stream == 0 else stream


def device_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0) -> Any:
    """A new array on the current device, its contents undefined.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.device_array((2, 3), np.float32).shape
    (2, 3)
    """
    if np.dtype(dtype).names is not None:
        from .._records import RecordArray

        return RecordArray(_shape(shape), dtype, strides=strides)
    with get_current_stream() if _stream(stream) is None else _as_stream(stream):
        if strides is None:
            if order == "F":
                return empty(_shape(shape)[::-1], dtype).T
            return empty(_shape(shape), dtype)
        shape, itemsize = _shape(shape), np.dtype(dtype).itemsize
        strides = tuple(int(s) for s in strides)
        if len(strides) != len(shape):
            raise ValueError(f"device_array: expected {len(shape)} strides, got {len(strides)}")
        extent = sum((n - 1) * s for n, s in zip(shape, strides) if n > 0) + itemsize if 0 not in shape else 0
        if any(s < 0 or s % itemsize for s in strides):
            raise ValueError(f"device_array: expected strides of whole elements, none below 0, got {strides}")
        memory = alloc(extent)
        return _c.ndarray(shape, dtype, memptr=memory, strides=strides)


def device_array_like(ary: Any, stream: Any = 0) -> Any:
    """A new array on the current device with the shape, dtype and order of another.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.device_array_like(np.zeros((2, 3), order="F")).strides
    (8, 16)
    """
    axes = _axes_like(ary)
    if axes == sorted(axes) or ary.dtype.names is not None:
        return device_array(ary.shape, ary.dtype, stream=stream)
    made = device_array([ary.shape[a] for a in axes], ary.dtype, stream=stream)
    return made.transpose([axes.index(a) for a in range(len(axes))])


def _as_stream(stream: Any) -> Any:
    from ._stream import ExternalStream

    return stream if isinstance(stream, _c.StreamBase) else ExternalStream(stream)


def is_cuda_array(obj: Any) -> bool:
    """Tells whether an object is an array on a device: one of ours, or one with `__cuda_array_interface__`.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.is_cuda_array(bc.zeros(3)), cuda.is_cuda_array(np.zeros(3))
    (True, False)
    """
    return isinstance(obj, _c.ndarray) or hasattr(obj, "__cuda_array_interface__") or type(obj).__name__ == "RecordArray"


def as_cuda_array(obj: Any, sync: bool = True) -> Any:
    """An array over the memory of any object with `__cuda_array_interface__`; nothing is copied.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> a = bc.arange(3)
    >>> cuda.as_cuda_array(a) is a
    True
    """
    if isinstance(obj, _c.ndarray):
        return obj
    if not hasattr(obj, "__cuda_array_interface__") and not hasattr(obj, "__dlpack__"):
        raise TypeError(f"as_cuda_array: expected an object with __cuda_array_interface__, got {type(obj).__name__}")
    if isinstance(obj, np.ndarray) and hasattr(obj, "__cuda_array_interface__"):
        return from_cuda_array_interface(obj.__cuda_array_interface__, obj)  # mapped memory: NumPy's array of it would be copied
    if isinstance(obj, np.ndarray):
        # A mapped array is NumPy's too, and would be copied as one.
        return asarray(_Interface(obj.__cuda_array_interface__, obj, obj.device))
    return asarray(obj)


class _Interface:
    """An object that has nothing but the interface."""

    def __init__(self, desc: dict[str, Any], owner: Any, device: Any = None) -> None:
        self.__cuda_array_interface__ = desc
        self.owner = owner
        self.device = device


def from_cuda_array_interface(desc: dict[str, Any], owner: Any = None, sync: bool = True) -> Any:
    """An array over memory that a `__cuda_array_interface__` dictionary describes."""
    return asarray(_Interface(desc, owner))


def prepare_shape_strides_dtype(shape: Any, strides: Any, dtype: Any, order: str) -> tuple[Any, ...]:
    """The shape, the strides in bytes and the dtype of an array, as Numba's own functions want them."""
    dtype = np.dtype(dtype)
    shape = _shape(shape)
    if strides is None:
        sizes = shape[::-1] if order == "C" else shape
        strides = [dtype.itemsize * math.prod(sizes[:i]) for i in range(len(sizes))]
        strides = tuple(strides[::-1] if order == "C" else strides)
    return shape, _shape(strides), dtype


# ---- Host memory that the device can reach ----------------------------------------------------------------------------------------------


class MappedArray(np.ndarray):
    """A NumPy array whose memory kernels can use as it is: mapped or managed memory. On the CPU, any array."""

    _memory: Any = None

    def __array_finalize__(self, obj: Any) -> None:
        self._memory = getattr(obj, "_memory", None)

    @property
    def device(self) -> Any:  # type: ignore[override]
        """The device that can use it."""
        return self._memory.device if self._memory is not None else _c.device("cpu")

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        memory = self._memory
        address = self.__array_interface__["data"][0]
        # A copy, or the result of an operation, lies in memory of NumPy's own.
        if memory is None or not memory.on_device or not memory.ptr <= address <= memory.ptr + memory.size:
            raise AttributeError("__cuda_array_interface__: the array lies in host memory that no GPU can use")
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (address, not self.flags.writeable),
            "strides": None if self.flags.c_contiguous else self.strides,
            "version": 3,
        }

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray:
        """A NumPy array with the elements, once the device's work is done."""
        _c.default_device().synchronize()
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    @property
    def device_ctypes_pointer(self) -> ctypes.c_uint64:
        """The address."""
        return ctypes.c_uint64(self.__array_interface__["data"][0])


def _host_array(kind: str, shape: Any, dtype: Any, strides: Any, order: str, cls: type = np.ndarray, write_combined: bool = False) -> Any:
    shape, dtype = _shape(shape), np.dtype(dtype)
    if strides is not None:
        extent = sum((n - 1) * s for n, s in zip(shape, strides) if n > 0) + dtype.itemsize
    else:
        extent = math.prod(shape) * dtype.itemsize
    memory = _c.host_allocate(kind, extent, write_combined)
    array: Any = np.ndarray(shape, dtype, buffer=memory, strides=strides, order="F" if order == "F" else "C").view(cls)
    if cls is MappedArray:
        array._memory = memory
    return array


def pinned_array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C") -> np.ndarray:
    """A NumPy array in page-locked memory, which is copied to and from a GPU at full speed and while the program goes on.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> a = cuda.pinned_array(3, np.float32)
    >>> a[:] = 1
    >>> float(bc.asarray(a).sum())
    3.0
    """
    return _host_array("pinned", shape, dtype, strides, order)


def _axes_like(ary: Any) -> list[int]:
    """The axes of an array, from those whose elements lie farthest apart to those that lie side by side."""
    return sorted(range(len(ary.shape)), key=lambda a: (-abs(ary.strides[a]), a))


def _strides_like(ary: Any) -> tuple[int, ...]:
    """The strides of an array without gaps whose axes lie as those of another."""
    strides, step = [0] * len(ary.shape), ary.dtype.itemsize
    for a in reversed(_axes_like(ary)):
        strides[a] = step
        step *= ary.shape[a]
    return tuple(strides)


def pinned_array_like(ary: np.ndarray) -> np.ndarray:
    """A page-locked array with the shape, dtype and order of another."""
    return pinned_array(ary.shape, ary.dtype, strides=_strides_like(ary) if ary.size else None)


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedArray:
    """A NumPy array in host memory that kernels read and write as it is.

    Synchronise before the host reads what a kernel wrote.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> a = cuda.mapped_array(4, np.int32)
    >>> a[:] = 7
    >>> int(a.sum())
    28
    """
    return _host_array("mapped", shape, dtype, strides, order, MappedArray, wc)


def mapped_array_like(ary: np.ndarray, stream: Any = 0, portable: bool = False, wc: bool = False) -> MappedArray:
    """A mapped array with the shape, dtype and order of another."""
    return mapped_array(ary.shape, ary.dtype, strides=_strides_like(ary) if ary.size else None, wc=wc)


def managed_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C", stream: Any = 0, attach_global: bool = True
) -> MappedArray:
    """A NumPy array in managed memory, which moves between host and device on demand."""
    return _host_array("managed", shape, dtype, strides, order, MappedArray)


@contextlib.contextmanager
def pinned(*arylist: np.ndarray) -> Iterator[None]:
    """A with block in which NumPy arrays are page-locked.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> a = np.ones(1000)
    >>> with cuda.pinned(a):
    ...     d = cuda.to_device(a, stream=cuda.stream())
    >>> float(d.sum())
    1000.0
    """
    held = [_c.host_register(a) for a in arylist]
    try:
        yield
    finally:
        # Copies that are under way end before their memory is let go.
        _c.default_device().synchronize()
        for memory in held:
            memory._release()


@contextlib.contextmanager
def mapped(*arylist: np.ndarray, stream: Any = 0) -> Iterator[Any]:
    """A with block in which kernels use NumPy arrays as they are; gives them as arrays that kernels take."""
    held = [_c.host_register(a) for a in arylist]
    try:
        views = []
        for array, memory in zip(arylist, held):
            view = array.view(MappedArray)
            view._memory = memory
            views.append(view)
        yield views[0] if len(views) == 1 else views
    finally:
        _c.default_device().synchronize()
        for memory in held:
            memory._release()


# ---- Pieces of memory -------------------------------------------------------------------------------------------------------------------


# CuPy's name of the error of a device, or of a limit, that has no more memory.
OutOfMemoryError = MemoryError


class BaseMemory:
    """A piece of memory.

    Attributes
    ----------
    ptr : int
        The address.
    size : int
        How many bytes.
    device_id : int
        Which GPU it is of.
    """

    ptr: int = 0
    size: int = 0
    device_id: int = 0
    _held: Any = None

    def _hold(self, held: Any) -> None:
        self._held = held
        self.ptr = held.ptr
        self.size = held.size
        self.device_id = held.device.index

    @property
    def device(self) -> Any:
        """The device."""
        from ._device import Device

        return Device(self._held.device)

    def __int__(self) -> int:
        return self.ptr

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.ptr:#x} size={self.size} device={self._held.device}>"


class Memory(BaseMemory):
    """Device memory straight from the driver."""

    def __init__(self, size: int) -> None:
        self._hold(_c.pool_allocate(_source("raw"), size))


class MemoryAsync(BaseMemory):
    """Device memory of the driver's own pool, in a stream's order."""

    def __init__(self, size: int, stream: Any = None) -> None:
        self._hold(_c.pool_allocate(_source("async"), size, stream))


class ManagedMemory(BaseMemory):
    """Memory that moves between host and device on demand."""

    def __init__(self, size: int) -> None:
        self._hold(_c.pool_allocate(_source("managed"), size))

    def prefetch(self, stream: Any = None, *, device: Any = None) -> None:
        """Moves it to a device (the current one unless given; -1: to the host) in a stream's order."""
        from .runtime import memPrefetchAsync

        target = _c.default_device().index if device is None else int(device)
        memPrefetchAsync(self.ptr, self.size, target, get_current_stream() if stream is None else stream)

    def advise(self, advise: int, dev: Any) -> None:
        """Tells the driver how it will be used (`runtime.memAdvise…`)."""
        from .runtime import memAdvise

        memAdvise(self.ptr, self.size, advise, int(dev))


class UnownedMemory(BaseMemory):
    """Memory that somebody else owns, who is kept alive.

    Parameters
    ----------
    ptr, size : int
        The address, and how many bytes.
    owner : object
        Kept as long as the memory is used.
    device_id : int
        Which GPU it is of; the current one unless given.
    """

    def __init__(self, ptr: int, size: int, owner: Any, device_id: int = -1) -> None:
        device = _c.default_device() if device_id < 0 else _device(device_id)
        self._hold(_c.foreign_memory(ptr, size, owner, device))


def _device(index: int) -> Any:
    from ._device import Device

    return Device(index)._device


class MemoryPointer:
    """An address inside a piece of memory, which is kept alive.

    Parameters
    ----------
    mem : BaseMemory
        The piece.
    offset : int
        Bytes from its beginning.
    """

    def __init__(self, mem: Any, offset: int = 0) -> None:
        self.mem = mem
        self.ptr: int = mem.ptr + offset

    @property
    def size(self) -> int:
        """The bytes from here to the end of the piece."""
        return self.mem.size - (self.ptr - self.mem.ptr)

    @property
    def device_id(self) -> int:
        """Which GPU it is of."""
        return self.mem.device_id

    @property
    def device(self) -> Any:
        """The device."""
        return self.mem.device

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)

    __radd__ = __add__

    def __sub__(self, offset: int) -> MemoryPointer:
        return self + -offset

    def __repr__(self) -> str:
        return f"<MemoryPointer {self.ptr:#x} device={self.mem._held.device}>"

    def _copy(self, to: Any, source: Any, size: int, kind: int, stream: Any) -> None:
        from . import runtime

        runtime.memcpyAsync(int(to), int(source), size, kind, get_current_stream() if stream is None else stream)
        if stream is None and kind != runtime.memcpyDeviceToDevice:
            get_current_stream().synchronize()

    def copy_from_device(self, src: MemoryPointer, size: int) -> None:
        """Copies from other device memory, in the current stream's order."""
        self._copy(self, src, size, 3, None)

    def copy_from_device_async(self, src: MemoryPointer, size: int, stream: Any = None) -> None:
        """Copies from other device memory in a stream's order."""
        self._copy(self, src, size, 3, get_current_stream() if stream is None else stream)

    def copy_from_host(self, mem: Any, size: int) -> None:
        """Copies from host memory (an address, a ctypes pointer or a buffer), and waits."""
        self._copy(self, _host_address(mem), size, 1, None)

    def copy_from_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies from page-locked host memory in a stream's order."""
        self._copy(self, _host_address(mem), size, 1, get_current_stream() if stream is None else stream)

    def copy_from(self, mem: Any, size: int) -> None:
        """Copies from device or host memory."""
        if isinstance(mem, (MemoryPointer, BaseMemory)):
            self.copy_from_device(mem, size)  # type: ignore[arg-type]
        else:
            self.copy_from_host(mem, size)

    def copy_from_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies from device memory or page-locked host memory in a stream's order."""
        if isinstance(mem, (MemoryPointer, BaseMemory)):
            self.copy_from_device_async(mem, size, stream)  # type: ignore[arg-type]
        else:
            self.copy_from_host_async(mem, size, stream)

    def copy_to_host(self, mem: Any, size: int) -> None:
        """Copies to host memory, and waits."""
        self._copy(_host_address(mem), self, size, 2, None)

    def copy_to_host_async(self, mem: Any, size: int, stream: Any = None) -> None:
        """Copies to page-locked host memory in a stream's order."""
        self._copy(_host_address(mem), self, size, 2, get_current_stream() if stream is None else stream)

    def memset(self, value: int, size: int) -> None:
        """Fills with a byte, in the current stream's order."""
        self.memset_async(value, size)

    def memset_async(self, value: int, size: int, stream: Any = None) -> None:
        """Fills with a byte in a stream's order."""
        from .runtime import memsetAsync

        memsetAsync(self.ptr, value, size, get_current_stream() if stream is None else stream)


def _host_address(mem: Any) -> int:
    if isinstance(mem, int):
        return mem
    if isinstance(mem, ctypes.c_void_p):
        return mem.value or 0
    if hasattr(mem, "ptr"):
        return int(mem.ptr)
    if isinstance(mem, np.ndarray):
        return mem.ctypes.data
    return ctypes.addressof(ctypes.c_char.from_buffer(mem))


def pointer_into(data: Any) -> MemoryPointer:
    """What `ndarray.data` is asked for that it has not itself."""
    memory = UnownedMemory.__new__(UnownedMemory)
    memory._hold(_c.foreign_memory(data.ptr, data.nbytes, data, data.device))
    return MemoryPointer(memory)


class PinnedMemory:
    """A piece of page-locked host memory; a buffer.

    Parameters
    ----------
    size : int
        How many bytes.
    flags : int
        `runtime.hostAllocWriteCombined` makes it faster for the device and slow for the host.
    """

    def __init__(self, size: int, flags: int = 0) -> None:
        self._held = _c.host_allocate("pinned", size, bool(flags & 4))
        self.ptr: int = self._held.ptr
        self.size: int = size

    def __int__(self) -> int:
        return self.ptr


class MappedMemory(PinnedMemory):
    """A piece of page-locked host memory that kernels use as it is, as Numba names it."""


class PinnedMemoryPointer:
    """An address inside page-locked memory.

    Parameters
    ----------
    mem : PinnedMemory
        The piece.
    offset : int
        Bytes from its beginning.
    """

    def __init__(self, mem: PinnedMemory, offset: int = 0) -> None:
        self.mem = mem
        self.ptr: int = mem.ptr + offset

    def size(self) -> int:
        """The bytes from here to the end of the piece."""
        return self.mem.size - (self.ptr - self.mem.ptr)


def alloc_pinned_memory(size: int) -> Any:
    """Page-locked host memory, a buffer: `np.frombuffer(mem, dtype, count)` makes an array of it.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> memory = cuda.alloc_pinned_memory(16)
    >>> np.frombuffer(memory, np.float32, 4).shape
    (4,)
    """
    if _pinned_allocator is not None:
        return _pinned_allocator(size)
    return _c.host_allocate("pinned", size)


_pinned_allocator: Callable[[int], Any] | None = None


class PinnedMemoryPool:
    """The pool of page-locked memory: what is given back waits for the next who asks for as much. There is one; all objects are it."""

    def __init__(self, allocator: Any = None) -> None:
        self._allocator = allocator

    def malloc(self, size: int) -> Any:
        """Memory of the pool; a buffer."""
        return self._allocator(size) if self._allocator is not None else _c.host_allocate("pinned", size)

    def free_all_blocks(self) -> None:
        """Gives what waits back to the system."""
        _c.pinned_trim()

    def n_free_blocks(self) -> int:
        """How many pieces wait."""
        return _c.pinned_stats()["free_blocks"]


def set_pinned_memory_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Sets what `alloc_pinned_memory` calls; None: the pool."""
    global _pinned_allocator
    own = allocator is None or isinstance(getattr(allocator, "__self__", None), PinnedMemoryPool)
    _pinned_allocator = None if own else allocator


# ---- Pools ------------------------------------------------------------------------------------------------------------------------------

_sources: dict[str, Any] = {}


def _source(kind: str) -> Any:
    """The engine's door to a kind of memory, without a cache."""
    if kind not in _sources:
        _sources[kind] = _c.make_pool(kind, False)
    return _sources[kind]


class _Piece(BaseMemory):
    def __init__(self, held: Any) -> None:
        self._hold(held)


def alloc(size: int) -> MemoryPointer:
    """Device memory from the current allocator.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> pointer = cuda.alloc(1024)
    >>> pointer.mem.size >= 1024
    True
    """
    return get_allocator()(size)


def _raw_malloc(size: int) -> MemoryPointer:
    return MemoryPointer(Memory(size))


def malloc_managed(size: int) -> MemoryPointer:
    """Managed memory; `set_allocator(malloc_managed)` makes all arrays live in it."""
    return MemoryPointer(ManagedMemory(size))


def malloc_async(size: int) -> MemoryPointer:
    """Memory of the driver's own pool, in the current stream's order."""
    return MemoryPointer(MemoryAsync(size, get_current_stream()))


class MemoryPool:
    """A pool of device memory.

    `MemoryPool()` is the engine's own, which every array uses unless told otherwise; `MemoryPool(allocator)` is another one over what a
    function of CuPy's kind gives, such as `malloc_managed`. `set_allocator(pool.malloc)` makes arrays use it.

    Examples
    --------
    >>> pool = bc.get_default_memory_pool()
    >>> a = bc.zeros(1000)
    >>> bc.flush()
    >>> pool.used_bytes() >= 8000
    True
    >>> pool.free_all_blocks()
    """

    def __init__(self, allocator: Callable[[int], Any] | None = None) -> None:
        self._pool: Any = None if allocator is None or allocator is _engine_malloc else _make_source(allocator, True)

    def malloc(self, size: int) -> MemoryPointer:
        """Memory of the pool, in the current stream's order."""
        return MemoryPointer(_Piece(_c.pool_allocate(self._pool, size)))

    def used_bytes(self) -> int:
        """Bytes that are handed out on the current device."""
        return _c.pool_stats()["used"] if self._pool is None else _c.pool_counts(self._pool)["used"]

    def total_bytes(self) -> int:
        """Bytes that were taken from the current device."""
        return _c.pool_stats()["held"] if self._pool is None else _c.pool_counts(self._pool)["total"]

    def free_bytes(self) -> int:
        """Bytes that wait to be used again."""
        return self.total_bytes() - self.used_bytes()

    def n_free_blocks(self) -> int:
        """How many pieces wait to be used again."""
        return _c.pool_stats()["free_blocks"] if self._pool is None else _c.pool_counts(self._pool)["free_blocks"]

    def free_all_blocks(self, stream: Any = None) -> None:
        """Gives what waits back to the device."""
        if self._pool is None:
            _c.flush()
            _c.pool_trim()
        else:
            _c.pool_free_all(self._pool)

    def free_all_free(self) -> None:
        """The same, by the name of old."""
        self.free_all_blocks()

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        """Caps what the pool takes from the current device, in bytes or as a part of its memory; 0: no cap."""
        if (size is None) == (fraction is None):
            raise ValueError("set_limit: expected one of size and fraction")
        if fraction is not None:
            if not 0 <= fraction <= 1:
                raise ValueError(f"set_limit: expected a fraction from 0 to 1, got {fraction}")
            size = int(_c.device_info(None)["memory_total"] * fraction)
        assert size is not None
        if size < 0:
            raise ValueError(f"set_limit: expected a size of 0 or more, got {size}")
        if self._pool is None:
            _c.pool_limit(None, size)
        else:
            _c.pool_cap(self._pool, size)

    def get_limit(self) -> int:
        """The cap in bytes; 0: none."""
        return _c.pool_limit() if self._pool is None else _c.pool_counts(self._pool)["limit"]


class MemoryAsyncPool(MemoryPool):
    """The driver's own pool, in streams' order (cuMemAllocAsync)."""

    def __init__(self, pool_handles: Any = "current") -> None:
        self._pool = _c.make_pool("async", False)


class PythonFunctionAllocator:
    """An allocator from two functions: `malloc_func(size, device_id)` gives an address, `free_func(ptr, device_id)` takes it back."""

    def __init__(self, malloc_func: Callable[[int, int], int], free_func: Callable[[int, int], Any]) -> None:
        def allocate(size: int, device: int, stream: int) -> int:
            return malloc_func(size, device)

        def free(ptr: int, device: int, stream: int) -> None:
            free_func(ptr, device)

        self._pool = _c.make_pool(allocate, False, free)

    def malloc(self, size: int) -> MemoryPointer:
        """Memory that the function gives."""
        return MemoryPointer(_Piece(_c.pool_allocate(self._pool, size)))


class CFunctionAllocator:
    """An allocator from the addresses of two C functions: `void *malloc(void *param, size_t size, int device)` and
    `void free(void *param, void *ptr, int device)`."""

    def __init__(self, param: int, malloc_func: int, free_func: int, owner: Any) -> None:
        self._pool = _c.make_pool((param, malloc_func, free_func, owner), False)

    def malloc(self, size: int) -> MemoryPointer:
        """Memory that the function gives."""
        return MemoryPointer(_Piece(_c.pool_allocate(self._pool, size)))


_default_pool = MemoryPool()
_engine_malloc = _default_pool.malloc
_default_pinned_pool = PinnedMemoryPool()


def get_default_memory_pool() -> MemoryPool:
    """The engine's own pool of device memory.

    Examples
    --------
    >>> bc.get_default_memory_pool().used_bytes() >= 0
    True
    """
    return _default_pool


def get_default_pinned_memory_pool() -> PinnedMemoryPool:
    """The engine's own pool of page-locked memory.

    Examples
    --------
    >>> bc.get_default_pinned_memory_pool().n_free_blocks() >= 0
    True
    """
    return _default_pinned_pool


def _make_source(allocator: Callable[[int], Any], cache: bool) -> Any:
    if allocator is malloc_managed:
        return _c.make_pool("managed", cache)
    if allocator is _raw_malloc:
        return _c.make_pool("raw", cache)
    if allocator is malloc_async:
        return _c.make_pool("async", False)
    owner = getattr(allocator, "__self__", None)
    if isinstance(owner, (MemoryPool, PythonFunctionAllocator, CFunctionAllocator)) and not cache:
        return owner._pool
    return _c.make_pool(lambda size, device, stream: allocator(size), cache)


_allocator: Callable[[int], Any] | None = _engine_malloc


def set_allocator(allocator: Callable[[int], Any] | None = None) -> None:
    """Sets where arrays' memory of the current device comes from.

    Parameters
    ----------
    allocator : function, optional
        Takes a number of bytes and gives a `MemoryPointer`, as CuPy's do: a pool's `malloc`, `malloc_managed`, `malloc_async`, or your own.
        None: straight from the driver. `get_default_memory_pool().malloc` goes back to the engine's pool.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.set_allocator(cuda.MemoryPool(cuda.malloc_managed).malloc)
    >>> a = bc.arange(3) + 1
    >>> cuda.set_allocator(bc.get_default_memory_pool().malloc)
    """
    global _allocator
    _c.pool_install(_make_source(_raw_malloc if allocator is None else allocator, False))
    _allocator = allocator


def get_allocator() -> Callable[[int], Any]:
    """The function that `alloc` calls."""
    return _raw_malloc if _allocator is None else _allocator


@contextlib.contextmanager
def using_allocator(allocator: Callable[[int], Any] | None = None) -> Iterator[None]:
    """A with block in which arrays' memory comes from another allocator."""
    before = _allocator
    set_allocator(allocator)
    try:
        yield
    finally:
        set_allocator(before)


def use_torch_allocator() -> None:
    """Takes arrays' memory from PyTorch's caching allocator, so that both share one pool.

    Memory that is there already stays where it is.
    """
    import torch

    allocate, free = torch.cuda.caching_allocator_alloc, torch.cuda.caching_allocator_delete
    torch.cuda.init()
    _c.pool_install(_c.make_pool(lambda size, device, stream: allocate(size, device, stream), False, lambda ptr, device, stream: free(ptr)))


def use_rmm_allocator() -> None:
    """Takes arrays' memory from RAPIDS' memory manager (RMM), so that both share one pool."""
    import rmm
    from rmm.pylibrmm.stream import Stream as RmmStream

    class Handle:
        def __init__(self, handle: int) -> None:
            self.handle = handle

        def __cuda_stream__(self) -> tuple[int, int]:
            return (0, self.handle)

    def allocate(size: int, device: int, stream: int) -> Any:
        return rmm.DeviceBuffer(size=size, stream=RmmStream(Handle(stream)) if stream else RmmStream())

    _c.pool_install(_c.make_pool(allocate, False))


def set_memory_manager(mm_plugin: Any) -> None:
    """Uses a memory manager of Numba's kind (an EMM plugin, such as RMM's) for arrays' memory.

    Parameters
    ----------
    mm_plugin : class
        A subclass of `BaseCUDAMemoryManager`; RMM's is recognised and used by itself.
    """
    if mm_plugin.__module__.startswith("rmm"):
        return use_rmm_allocator()
    from ._device import Context, Device

    manager = mm_plugin(context=Context(Device()))
    manager.initialize()
    _c.pool_install(_c.make_pool(lambda size, device, stream: _PluginPiece(manager.memalloc(size)), False))


class _PluginPiece:
    """Memory that a plugin gave; its finaliser gives it back."""

    def __init__(self, memory: Any) -> None:
        self.memory = memory
        pointer = memory.device_pointer if hasattr(memory, "device_pointer") else memory.ptr
        self.ptr = int(getattr(pointer, "value", pointer))


# ---- Hooks ------------------------------------------------------------------------------------------------------------------------------


class MemoryHook:
    """Sees what the pools do, as a with block. Subclasses override what they want to see.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> class Count(cuda.MemoryHook):
    ...     bytes = 0
    ...     def malloc_postprocess(self, *, device_id, size, mem_size, mem_ptr, pmem_id):
    ...         self.bytes += size
    >>> with Count() as hook:
    ...     a = bc.ones(1000)
    ...     bc.flush()
    >>> hook.bytes >= 8000
    True
    """

    name = "MemoryHook"
    _number: int | None = None

    def __enter__(self) -> MemoryHook:
        if self._number is not None:
            raise RuntimeError(f"{self.name}: the hook is in use already")
        hook = weakref.ref(self)

        def call(event: str, device: str, ptr: int, size: int) -> None:
            target = hook()
            if target is not None:
                target._dispatch(event, device, ptr, size)

        self._number = _c.pool_add_hook(call)
        return self

    def __exit__(self, *error: object) -> None:
        if self._number is not None:
            _c.pool_remove_hook(self._number)
            self._number = None

    def _dispatch(self, event: str, device: str, ptr: int, size: int) -> None:
        index = int(device.partition(":")[2] or 0)
        if event == "allocate":
            self.malloc_preprocess(device_id=index, size=size, mem_size=size)
            self.malloc_postprocess(device_id=index, size=size, mem_size=size, mem_ptr=ptr, pmem_id=ptr)
        elif event == "free":
            self.free_preprocess(device_id=index, mem_size=size, mem_ptr=ptr, pmem_id=ptr)
            self.free_postprocess(device_id=index, mem_size=size, mem_ptr=ptr, pmem_id=ptr)
        elif event == "chunk_allocate":
            self.alloc_preprocess(device_id=index, mem_size=size)
            self.alloc_postprocess(device_id=index, mem_size=size, mem_ptr=ptr)

    def alloc_preprocess(self, *, device_id: int, mem_size: int) -> None:
        """Memory was taken from the device."""

    def alloc_postprocess(self, *, device_id: int, mem_size: int, mem_ptr: int) -> None:
        """Memory was taken from the device."""

    def malloc_preprocess(self, *, device_id: int, size: int, mem_size: int) -> None:
        """The pool gave memory."""

    def malloc_postprocess(self, *, device_id: int, size: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
        """The pool gave memory."""

    def free_preprocess(self, *, device_id: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
        """The pool takes memory back."""

    def free_postprocess(self, *, device_id: int, mem_size: int, mem_ptr: int, pmem_id: int) -> None:
        """The pool takes memory back."""


# ---- Other processes --------------------------------------------------------------------------------------------------------------------


class IpcMemoryHandle:
    """What another process opens an array's memory with; it can be pickled.

    Examples
    --------
    ::

        handle = a.get_ipc_handle()            # in one process
        with handle as b:                      # in another
            print(b.sum())
    """

    def __init__(self, handle: bytes, offset: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: str) -> None:
        self.handle, self.offset, self.shape, self.strides, self.dtype = handle, offset, shape, strides, dtype
        self._base = 0

    def open(self) -> Any:
        """The array, in the process that calls this."""
        from . import runtime

        self._base = runtime.ipcOpenMemHandle(self.handle)
        desc: dict[str, Any] = {"shape": self.shape, "typestr": self.dtype, "data": (self._base + self.offset, False), "version": 3}
        desc["strides"] = self.strides
        return from_cuda_array_interface(desc, self)

    def open_array(self, *args: Any) -> Any:
        """The array, as Numba spells it."""
        return self.open()

    def close(self) -> None:
        """Closes the memory; the array must not be used any more."""
        from . import runtime

        if self._base:
            _c.synchronize()
            runtime.ipcCloseMemHandle(self._base)
            self._base = 0

    def __enter__(self) -> Any:
        return self.open()

    def __exit__(self, *error: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Any, ...]:
        return IpcMemoryHandle, (self.handle, self.offset, self.shape, self.strides, self.dtype)


IpcHandle = IpcMemoryHandle


def ipc_handle(array: Any) -> IpcMemoryHandle:
    """A handle by which another process opens an array's memory. The array must live as long as the other uses it."""
    from . import runtime
    from ._driver import driver, pointer

    interface = array.__cuda_array_interface__
    address = interface["data"][0]
    _c.synchronize()
    base, size = ctypes.c_void_p(), ctypes.c_size_t()
    driver("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), pointer(address))
    start = base.value or 0
    return IpcMemoryHandle(runtime.ipcGetMemHandle(start), address - start, interface["shape"], interface["strides"], interface["typestr"])


@contextlib.contextmanager
def open_ipc_array(handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0) -> Iterator[Any]:
    """A with block with the array behind another process's handle."""
    raw = handle.handle if isinstance(handle, IpcMemoryHandle) else bytes(handle)
    opened = IpcMemoryHandle(raw, offset, _shape(shape), None if strides is None else _shape(strides), np.dtype(dtype).str)
    try:
        yield opened.open()
    finally:
        opened.close()
