"""CUDA's runtime calls, by CuPy's names. On a machine without a GPU those that can be meant work on the CPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from .. import _broadcloth as _c
from ._attributes import ATTRIBUTES
from ._device import Device
from ._driver import CUDARuntimeError, current_index, driver, has, pointer
from ._event import Event
from ._stream import ExternalStream, Stream
from .texture import (  # noqa: F401
    cudaAddressModeBorder,
    cudaAddressModeClamp,
    cudaAddressModeMirror,
    cudaAddressModeWrap,
    cudaArrayCubemap,
    cudaArrayDefault,
    cudaArrayLayered,
    cudaArraySurfaceLoadStore,
    cudaArrayTextureGather,
    cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone,
    cudaChannelFormatKindSigned,
    cudaChannelFormatKindUnsigned,
    cudaFilterModeLinear,
    cudaFilterModePoint,
    cudaReadModeElementType,
    cudaReadModeNormalizedFloat,
    cudaResourceTypeArray,
    cudaResourceTypeLinear,
    cudaResourceTypeMipmappedArray,
    cudaResourceTypePitch2D,
)

__all__ = ["CUDARuntimeError"]

is_hip = False

# ---- Numbers of CUDA's headers ----------------------------------------------------------------------------------------------------------

memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice, memcpyDefault = range(5)
hostAllocDefault, hostAllocPortable, hostAllocMapped, hostAllocWriteCombined = 0, 1, 2, 4
hostRegisterDefault, hostRegisterPortable, hostRegisterMapped = 0, 1, 2
streamDefault, streamNonBlocking = 0, 1
streamLegacy, streamPerThread = 1, 2
streamCaptureModeGlobal, streamCaptureModeThreadLocal, streamCaptureModeRelaxed = range(3)
streamCaptureStatusNone, streamCaptureStatusActive, streamCaptureStatusInvalidated = range(3)
eventDefault, eventBlockingSync, eventDisableTiming, eventInterprocess = 0, 1, 2, 4
memAttachGlobal, memAttachHost, memAttachSingle = 1, 2, 4
memAdviseSetReadMostly, memAdviseUnsetReadMostly, memAdviseSetPreferredLocation, memAdviseUnsetPreferredLocation = 1, 2, 3, 4
memAdviseSetAccessedBy, memAdviseUnsetAccessedBy = 5, 6
memoryTypeUnregistered, memoryTypeHost, memoryTypeDevice, memoryTypeManaged = range(4)
computeModeDefault, computeModeExclusive, computeModeProhibited, computeModeExclusiveProcess = range(4)
cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize = range(3)
cudaLimitDevRuntimeSyncDepth, cudaLimitDevRuntimePendingLaunchCount, cudaLimitMaxL2FetchGranularity = 3, 4, 5
cpuDeviceId, invalidDeviceId = -1, -2
errorInvalidValue, errorMemoryAllocation, errorNotReady, errorPeerAccessAlreadyEnabled = 1, 2, 600, 704

for _number, _name in enumerate(ATTRIBUTES, 1):
    globals()["cudaDevAttr" + "".join(word.capitalize() for word in _name.split("_"))] = ATTRIBUTES[_name]
cudaDevAttrMultiProcessorCount = ATTRIBUTES["MULTIPROCESSOR_COUNT"]
del _number, _name


def _on_gpu() -> bool:
    return _c.default_device().type == "cuda"


# ---- Versions and devices ---------------------------------------------------------------------------------------------------------------


def driverGetVersion() -> int:
    """The CUDA version of the driver, as 13000 for 13.0; 0 without one."""
    if not _c.device_count("cuda"):
        return 0
    version = ctypes.c_int()
    driver("cuDriverGetVersion", ctypes.byref(version))
    return version.value


def runtimeGetVersion() -> int:
    """The CUDA version that kernels are compiled with, as 13000 for 13.0; 0 without a compiler."""
    return _c.nvrtc_version()


def getDevice() -> int:
    """The number of the device that this thread uses."""
    return _c.default_device().index


def setDevice(device: int) -> None:
    """Makes a device this thread's current one."""
    Device(device).use()


def getDeviceCount() -> int:
    """How many devices there are to use; 1, the CPU, on a machine without a GPU.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> cuda.runtime.getDeviceCount() >= 1
    True
    """
    return max(_c.device_count("cuda"), 1)


def deviceGetAttribute(attrib: int, device: int) -> int:
    """An attribute of a device by its number."""
    value = Device(device)._attribute(attrib)
    if value is None:
        raise CUDARuntimeError(errorInvalidValue, f"deviceGetAttribute: device {device} has no attribute {attrib}")
    return value


def getDeviceProperties(device: Any) -> dict[str, Any]:
    """What a device is, by the names of the runtime's cudaDeviceProp.

    Examples
    --------
    >>> from broadcloth import cuda
    >>> properties = cuda.runtime.getDeviceProperties(0)
    >>> properties["multiProcessorCount"] > 0
    True
    """
    d = device if isinstance(device, Device) else Device(device)

    def a(name: str) -> int:
        return d._attribute(ATTRIBUTES[name]) or 0

    major, minor = d.compute_capability
    return {
        "name": d.name,
        "totalGlobalMem": d.mem_info.total,
        "sharedMemPerBlock": a("MAX_SHARED_MEMORY_PER_BLOCK"),
        "regsPerBlock": a("MAX_REGISTERS_PER_BLOCK"),
        "warpSize": a("WARP_SIZE"),
        "memPitch": a("MAX_PITCH"),
        "maxThreadsPerBlock": a("MAX_THREADS_PER_BLOCK"),
        "maxThreadsDim": (a("MAX_BLOCK_DIM_X"), a("MAX_BLOCK_DIM_Y"), a("MAX_BLOCK_DIM_Z")),
        "maxGridSize": (a("MAX_GRID_DIM_X"), a("MAX_GRID_DIM_Y"), a("MAX_GRID_DIM_Z")),
        "clockRate": a("CLOCK_RATE"),
        "totalConstMem": a("TOTAL_CONSTANT_MEMORY"),
        "major": major,
        "minor": minor,
        "textureAlignment": a("TEXTURE_ALIGNMENT"),
        "texturePitchAlignment": a("TEXTURE_PITCH_ALIGNMENT"),
        "multiProcessorCount": a("MULTIPROCESSOR_COUNT"),
        "kernelExecTimeoutEnabled": a("KERNEL_EXEC_TIMEOUT"),
        "integrated": a("INTEGRATED"),
        "canMapHostMemory": a("CAN_MAP_HOST_MEMORY"),
        "computeMode": a("COMPUTE_MODE"),
        "surfaceAlignment": a("SURFACE_ALIGNMENT"),
        "concurrentKernels": a("CONCURRENT_KERNELS"),
        "ECCEnabled": a("ECC_ENABLED"),
        "pciBusID": a("PCI_BUS_ID"),
        "pciDeviceID": a("PCI_DEVICE_ID"),
        "pciDomainID": a("PCI_DOMAIN_ID"),
        "tccDriver": a("TCC_DRIVER"),
        "memoryClockRate": a("MEMORY_CLOCK_RATE"),
        "memoryBusWidth": a("GLOBAL_MEMORY_BUS_WIDTH"),
        "l2CacheSize": a("L2_CACHE_SIZE"),
        "maxThreadsPerMultiProcessor": a("MAX_THREADS_PER_MULTIPROCESSOR"),
        "isMultiGpuBoard": a("MULTI_GPU_BOARD"),
        "multiGpuBoardGroupID": a("MULTI_GPU_BOARD_GROUP_ID"),
        "asyncEngineCount": a("ASYNC_ENGINE_COUNT"),
        "unifiedAddressing": a("UNIFIED_ADDRESSING"),
        "streamPrioritiesSupported": a("STREAM_PRIORITIES_SUPPORTED"),
        "globalL1CacheSupported": a("GLOBAL_L1_CACHE_SUPPORTED"),
        "localL1CacheSupported": a("LOCAL_L1_CACHE_SUPPORTED"),
        "sharedMemPerMultiprocessor": a("MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        "regsPerMultiprocessor": a("MAX_REGISTERS_PER_MULTIPROCESSOR"),
        "managedMemory": a("MANAGED_MEMORY"),
        "hostNativeAtomicSupported": a("HOST_NATIVE_ATOMIC_SUPPORTED"),
        "singleToDoublePrecisionPerfRatio": a("SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO"),
        "pageableMemoryAccess": a("PAGEABLE_MEMORY_ACCESS"),
        "concurrentManagedAccess": a("CONCURRENT_MANAGED_ACCESS"),
        "computePreemptionSupported": a("COMPUTE_PREEMPTION_SUPPORTED"),
        "canUseHostPointerForRegisteredMem": a("CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM"),
        "cooperativeLaunch": a("COOPERATIVE_LAUNCH"),
        "sharedMemPerBlockOptin": a("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        "pageableMemoryAccessUsesHostPageTables": a("PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES"),
        "directManagedMemAccessFromHost": a("DIRECT_MANAGED_MEM_ACCESS_FROM_HOST"),
        "maxBlocksPerMultiProcessor": a("MAX_BLOCKS_PER_MULTIPROCESSOR"),
        "persistingL2CacheMaxSize": a("MAX_PERSISTING_L2_CACHE_SIZE"),
        "accessPolicyMaxWindowSize": a("MAX_ACCESS_POLICY_WINDOW_SIZE"),
        "reservedSharedMemPerBlock": a("RESERVED_SHARED_MEMORY_PER_BLOCK"),
        "clusterLaunch": a("CLUSTER_LAUNCH"),
        "uuid": d.uuid.encode(),
    }


def deviceGetPCIBusId(device: int) -> str:
    """The PCI bus id of a device."""
    return Device(device).pci_bus_id


def deviceGetByPCIBusId(pciBusId: str) -> int:
    """The number of the device with a PCI bus id."""
    return Device.from_pci_bus_id(pciBusId).id


def deviceCanAccessPeer(device: int, peerDevice: int) -> int:
    """1 where kernels of a device can use another one's memory."""
    return int(Device(device).can_access_peer(peerDevice))


def deviceEnablePeerAccess(peerDevice: int) -> None:
    """Lets kernels of the current device use another one's memory."""
    if not Device().enable_peer_access(peerDevice):
        raise CUDARuntimeError(217, f"deviceEnablePeerAccess: {Device()!r} cannot use the memory of device {peerDevice}")


def deviceDisablePeerAccess(peerDevice: int) -> None:
    """Takes back what deviceEnablePeerAccess gave."""
    context = ctypes.c_void_p(_c.cuda_context(peerDevice))
    driver("cuCtxDisablePeerAccess", context)
    _c.cuda_forget_peer(Device().id, peerDevice)


def deviceSynchronize() -> None:
    """Runs what waits on the current device and waits for all of its work."""
    _c.default_device().synchronize()
    if _on_gpu():
        driver("cuCtxSynchronize")


def deviceGetLimit(limit: int) -> int:
    """A limit of the current device by its number."""
    value = ctypes.c_size_t()
    driver("cuCtxGetLimit", ctypes.byref(value), limit)
    return value.value


def deviceSetLimit(limit: int, value: int) -> None:
    """Sets a limit of the current device."""
    driver("cuCtxSetLimit", limit, ctypes.c_size_t(value))


# ---- Memory -----------------------------------------------------------------------------------------------------------------------------

_host_blocks: dict[int, Any] = {}  # what malloc and hostAlloc gave, by address


def memGetInfo() -> tuple[int, int]:
    """Bytes of memory of the current device that are free, and that there are."""
    return tuple(Device().mem_info)  # type: ignore[return-value]


def _keep(kind: str, size: int, write_combined: bool = False) -> int:
    block = _c.host_allocate(kind, size, write_combined)
    _host_blocks[block.ptr] = block
    return block.ptr


def malloc(size: int) -> int:
    """Device memory straight from the driver; host memory where the CPU is the device."""
    if not _on_gpu():
        return _keep("plain", size)
    address = ctypes.c_void_p()
    driver("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address.value or 0


def mallocManaged(size: int, flags: int = memAttachGlobal) -> int:
    """Managed memory, which moves between host and device on demand."""
    if not _on_gpu():
        return _keep("managed", size)
    address = ctypes.c_void_p()
    driver("cuMemAllocManaged", ctypes.byref(address), ctypes.c_size_t(size), flags)
    return address.value or 0


def mallocAsync(size: int, stream: Any) -> int:
    """Device memory in a stream's order."""
    if not _on_gpu():
        return malloc(size)
    address = ctypes.c_void_p()
    driver("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(size), pointer(stream))
    return address.value or 0


def free(ptr: int) -> None:
    """Gives back what malloc or mallocManaged gave."""
    if _host_blocks.pop(ptr, None) is None and ptr:
        driver("cuMemFree_v2", pointer(ptr))


def freeAsync(ptr: int, stream: Any) -> None:
    """Gives back what mallocAsync gave, in a stream's order."""
    if _host_blocks.pop(ptr, None) is None and ptr:
        driver("cuMemFreeAsync", pointer(ptr), pointer(stream))


def hostAlloc(size: int, flags: int = 0) -> int:
    """Page-locked host memory."""
    return _keep("pinned", size, bool(flags & hostAllocWriteCombined))


def freeHost(ptr: int) -> None:
    """Gives back what hostAlloc gave."""
    if _host_blocks.pop(ptr, None) is None:
        raise CUDARuntimeError(errorInvalidValue, f"freeHost: {ptr:#x} was not given by hostAlloc")


def hostRegister(ptr: int, size: int, flags: int = 0) -> None:
    """Page-locks host memory."""
    if _on_gpu():
        driver("cuMemHostRegister_v2", pointer(ptr), ctypes.c_size_t(size), flags)


def hostUnregister(ptr: int) -> None:
    """Ends what hostRegister began."""
    if _on_gpu():
        driver("cuMemHostUnregister", pointer(ptr))


def memcpy(dst: int, src: int, size: int, kind: int = memcpyDefault) -> None:
    """Copies memory, and waits for it."""
    if not _on_gpu() or kind == memcpyHostToHost:
        ctypes.memmove(dst, src, size)
        return
    _c.default_device().synchronize()
    driver("cuMemcpy", pointer(dst), pointer(src), ctypes.c_size_t(size))


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: Any) -> None:
    """Copies memory in a stream's order."""
    if not _on_gpu():
        ctypes.memmove(dst, src, size)
        return
    driver("cuMemcpyAsync", pointer(dst), pointer(src), ctypes.c_size_t(size), pointer(_native(stream)))


def memcpyPeer(dst: int, dstDevice: int, src: int, srcDevice: int, size: int) -> None:
    """Copies memory between two devices, and waits for it."""
    memcpyPeerAsync(dst, dstDevice, src, srcDevice, size, 0)
    deviceSynchronize()


def memcpyPeerAsync(dst: int, dstDevice: int, src: int, srcDevice: int, size: int, stream: Any) -> None:
    """Copies memory between two devices in a stream's order."""
    if not _on_gpu():
        ctypes.memmove(dst, src, size)
        return
    to, source = ctypes.c_void_p(_c.cuda_context(dstDevice)), ctypes.c_void_p(_c.cuda_context(srcDevice))
    driver("cuMemcpyPeerAsync", pointer(dst), to, pointer(src), source, ctypes.c_size_t(size), pointer(_native(stream)))


def memset(ptr: int, value: int, size: int) -> None:
    """Fills memory with a byte, and waits for it."""
    if not _on_gpu():
        ctypes.memset(ptr, value, size)
        return
    driver("cuMemsetD8_v2", pointer(ptr), ctypes.c_ubyte(value & 255), ctypes.c_size_t(size))
    driver("cuStreamSynchronize", None)


def memsetAsync(ptr: int, value: int, size: int, stream: Any) -> None:
    """Fills memory with a byte in a stream's order."""
    if not _on_gpu():
        ctypes.memset(ptr, value, size)
        return
    driver("cuMemsetD8Async", pointer(ptr), ctypes.c_ubyte(value & 255), ctypes.c_size_t(size), pointer(_native(stream)))


class _Location(ctypes.Structure):
    _fields_ = (("type", ctypes.c_int), ("id", ctypes.c_int))


def _location(device: int) -> _Location:
    # CU_MEM_LOCATION_TYPE_HOST is 2 and _DEVICE is 1.
    return _Location(2, 0) if device < 0 else _Location(1, device)


def memPrefetchAsync(devPtr: Any, count: int, dstDevice: int, stream: Any = 0) -> None:
    """Moves managed memory to a device (-1: to the host) in a stream's order."""
    if not _on_gpu():
        return
    if has("cuMemPrefetchAsync_v2"):
        driver("cuMemPrefetchAsync_v2", pointer(devPtr), ctypes.c_size_t(count), _location(dstDevice), 0, pointer(_native(stream)))
    else:
        driver("cuMemPrefetchAsync", pointer(devPtr), ctypes.c_size_t(count), dstDevice, pointer(_native(stream)))


def memAdvise(devPtr: Any, count: int, advice: int, device: int) -> None:
    """Tells the driver how managed memory will be used."""
    if not _on_gpu():
        return
    if has("cuMemAdvise_v2"):
        driver("cuMemAdvise_v2", pointer(devPtr), ctypes.c_size_t(count), advice, _location(device))
    else:
        driver("cuMemAdvise", pointer(devPtr), ctypes.c_size_t(count), advice, device)


class PointerAttributes:
    """What the driver knows of an address."""

    def __init__(self, type: int, device: int, devicePointer: int, hostPointer: int) -> None:
        self.type = type
        self.device = device
        self.devicePointer = devicePointer
        self.hostPointer = hostPointer

    def __repr__(self) -> str:
        return f"PointerAttributes(type={self.type}, device={self.device})"


def pointerGetAttributes(ptr: Any) -> PointerAttributes:
    """What kind of memory an address is of, and on which device."""
    address = int(getattr(ptr, "ptr", ptr))
    if not _c.device_count("cuda"):
        return PointerAttributes(memoryTypeUnregistered, -1, 0, address)
    kind, device = _c.cuda_pointer_info(current_index(), address)
    on_host = kind in (memoryTypeUnregistered, memoryTypeHost, memoryTypeManaged)
    return PointerAttributes(kind, device, address if kind else 0, address if on_host else 0)


# ---- Streams and events -----------------------------------------------------------------------------------------------------------------

_streams: dict[int, Stream] = {}
_events: dict[int, Event] = {}


def _stream(stream: Any) -> Any:
    if isinstance(stream, _c.StreamBase):
        return stream
    handle = int(getattr(stream, "ptr", stream) or 0)
    if handle in _streams:
        return _streams[handle]
    return Stream.null if handle in (0, streamLegacy) else Stream.ptds if handle == streamPerThread else ExternalStream(handle)


def _native(stream: Any) -> int:
    return _stream(stream).ptr


def streamCreate() -> int:
    """A new stream's handle."""
    return streamCreateWithFlags(streamDefault)


def streamCreateWithFlags(flags: int) -> int:
    """A new stream's handle; flags may be streamNonBlocking."""
    stream = Stream(non_blocking=bool(flags & streamNonBlocking))
    _streams[stream.ptr] = stream
    return stream.ptr


def streamCreateWithPriority(flags: int, priority: int) -> int:
    """A new stream's handle, with a priority."""
    stream = Stream(non_blocking=bool(flags & streamNonBlocking), priority=priority)
    _streams[stream.ptr] = stream
    return stream.ptr


def deviceGetStreamPriorityRange() -> tuple[int, int]:
    """The least and the greatest priority of streams."""
    return _c.stream_priorities()


def streamDestroy(stream: int) -> None:
    """Gives back a stream of streamCreate."""
    _streams.pop(int(stream), None)


def streamSynchronize(stream: Any) -> None:
    """Waits for a stream."""
    _stream(stream).synchronize()


def streamQuery(stream: Any) -> int:
    """0 when a stream's work is done, else errorNotReady."""
    return 0 if _stream(stream).done else errorNotReady


def streamAddCallback(stream: Any, callback: Callable[..., Any], arg: Any, flags: int = 0) -> None:
    """Calls `callback(stream, status, arg)` when the stream has come there."""
    handle = int(getattr(stream, "ptr", stream))
    _stream(stream)._launch_host(callback, (handle, 0, arg))


def launchHostFunc(stream: Any, callback: Callable[..., Any], arg: Any) -> None:
    """Calls `callback(arg)` when the stream has come there."""
    _stream(stream).launch_host_func(callback, arg)


def streamWaitEvent(stream: Any, event: Any, flags: int = 0) -> None:
    """Work queued on a stream from now on waits for an event."""
    _stream(stream).wait_event(_event(event))


def streamIsCapturing(stream: Any) -> bool:
    """Tells whether a stream is being captured."""
    return _stream(stream).is_capturing()


def streamBeginCapture(stream: Any, mode: int = streamCaptureModeRelaxed) -> None:
    """Begins a capture."""
    _stream(stream).begin_capture(mode)


def streamEndCapture(stream: Any) -> Any:
    """Ends a capture and gives the graph."""
    return _stream(stream).end_capture()


def _event(event: Any) -> Any:
    return event if isinstance(event, _c.EventBase) else _events[int(getattr(event, "ptr", event))]


def eventCreate() -> int:
    """A new event's handle."""
    return eventCreateWithFlags(eventDefault)


def eventCreateWithFlags(flags: int) -> int:
    """A new event's handle."""
    event = Event(bool(flags & eventBlockingSync), bool(flags & eventDisableTiming), bool(flags & eventInterprocess))
    handle = event.ptr or id(event)
    _events[handle] = event
    return handle


def eventDestroy(event: Any) -> None:
    """Gives back an event of eventCreate."""
    _events.pop(int(getattr(event, "ptr", event)), None)


def eventRecord(event: Any, stream: Any) -> None:
    """Marks the work that a stream has now."""
    _event(event).record(_stream(stream))


def eventQuery(event: Any) -> int:
    """0 when the marked work is done, else errorNotReady."""
    return 0 if _event(event).done else errorNotReady


def eventSynchronize(event: Any) -> None:
    """Waits for the marked work."""
    _event(event).synchronize()


def eventElapsedTime(start: Any, end: Any) -> float:
    """Milliseconds between two events."""
    return _event(start).elapsed_time(_event(end))


# ---- Other processes --------------------------------------------------------------------------------------------------------------------


class _IpcHandle(ctypes.Structure):
    _fields_ = (("bytes", ctypes.c_char * 64),)


def _handle(data: bytes) -> _IpcHandle:
    handle = _IpcHandle()
    ctypes.memmove(ctypes.byref(handle), data, 64)
    return handle


def ipcGetMemHandle(devPtr: Any) -> bytes:
    """A handle by which another process opens memory that malloc gave."""
    handle = _IpcHandle()
    driver("cuIpcGetMemHandle", ctypes.byref(handle), pointer(devPtr))
    return ctypes.string_at(ctypes.byref(handle), 64)


def ipcOpenMemHandle(handle: bytes, flags: int = 1) -> int:
    """Opens another process's memory."""
    address = ctypes.c_void_p()
    driver("cuIpcOpenMemHandle_v2", ctypes.byref(address), _handle(handle), flags)
    return address.value or 0


def ipcCloseMemHandle(devPtr: Any) -> None:
    """Closes what ipcOpenMemHandle opened."""
    driver("cuIpcCloseMemHandle", pointer(devPtr))


def ipcGetEventHandle(event: Any) -> bytes:
    """A handle by which another process opens an interprocess event."""
    handle = _IpcHandle()
    driver("cuIpcGetEventHandle", ctypes.byref(handle), pointer(_event(event)))
    return ctypes.string_at(ctypes.byref(handle), 64)


def ipcOpenEventHandle(handle: bytes) -> int:
    """Opens another process's event."""
    native = ctypes.c_void_p()
    driver("cuIpcOpenEventHandle", ctypes.byref(native), _handle(handle))
    event = Event._adopt(native.value or 0)
    _events[native.value or 0] = event
    return native.value or 0


# ---- Profilers --------------------------------------------------------------------------------------------------------------------------


def profilerStart() -> None:
    """Lets a profiler of CUDA's record from now on."""
    if _c.device_count("cuda"):
        driver("cuProfilerStart")


def profilerStop() -> None:
    """Lets a profiler of CUDA's record no more."""
    if _c.device_count("cuda"):
        driver("cuProfilerStop")
