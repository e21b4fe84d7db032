"""broadcloth.cuda.runtime, nvtx and profiler, by CuPy's names."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda
from broadcloth.cuda import runtime


def test_devices(device):
    assert runtime.getDeviceCount() >= 1 and runtime.getDevice() == 0
    runtime.setDevice(0) if device == "cuda" else None
    free, total = runtime.memGetInfo()
    assert 0 < free <= total
    assert runtime.driverGetVersion() >= 0 and runtime.runtimeGetVersion() >= 0
    assert not runtime.is_hip


def test_properties_have_cupys_names(device):
    p = runtime.getDeviceProperties(cuda.Device())
    assert isinstance(p["name"], bytes) and p["totalGlobalMem"] > 0 and p["multiProcessorCount"] > 0
    assert p["maxThreadsPerBlock"] == 1024 and p["warpSize"] == 32 and len(p["maxThreadsDim"]) == len(p["maxGridSize"]) == 3
    assert (p["major"], p["minor"]) == cuda.Device().compute_capability


def test_attributes(device):
    d = cuda.Device()
    if device == "cuda":
        assert runtime.deviceGetAttribute(runtime.cudaDevAttrMultiProcessorCount, 0) == d.MULTIPROCESSOR_COUNT
    assert d._attribute(runtime.cudaDevAttrWarpSize) == 32
    with pytest.raises(runtime.CUDARuntimeError):
        runtime.deviceGetAttribute(99999, 0)


def test_memory(device):
    a = np.arange(16, dtype=np.int32)
    p, q = runtime.malloc(64), runtime.malloc(64)
    runtime.memcpy(p, a.ctypes.data, 64, runtime.memcpyHostToDevice)
    runtime.memcpyAsync(q, p, 64, runtime.memcpyDeviceToDevice, cuda.Stream.null.ptr)
    runtime.memset(p, 0, 64)
    out = np.empty_like(a)
    runtime.memcpy(out.ctypes.data, q, 64, runtime.memcpyDeviceToHost)
    assert_array_equal(out, a)
    runtime.memcpy(out.ctypes.data, p, 64, runtime.memcpyDeviceToHost)
    assert not out.any()
    runtime.free(p), runtime.free(q)
    m = runtime.mallocManaged(128)
    runtime.memPrefetchAsync(m, 128, 0, 0)
    runtime.memAdvise(m, 128, runtime.memAdviseSetReadMostly, 0)
    runtime.free(m)
    h = runtime.hostAlloc(64)
    runtime.memcpy(h, a.ctypes.data, 64, runtime.memcpyHostToHost)
    runtime.freeHost(h)
    with pytest.raises(runtime.CUDARuntimeError, match="freeHost"):
        runtime.freeHost(h)


def test_memory_from_an_array(device):
    a = bc.arange(8, dtype=np.int64) + 1
    out = np.empty(8, np.int64)
    runtime.memcpy(out.ctypes.data, a.data.ptr, 64, runtime.memcpyDeviceToHost)
    assert_array_equal(out, np.arange(8) + 1)


def test_streams_and_events(device):
    stream = runtime.streamCreateWithFlags(runtime.streamNonBlocking)
    start, end = runtime.eventCreate(), runtime.eventCreateWithFlags(runtime.eventDefault)
    runtime.eventRecord(start, stream)
    runtime.eventRecord(end, stream)
    runtime.streamWaitEvent(stream, end)
    runtime.eventSynchronize(end)
    assert runtime.eventQuery(end) == 0 and runtime.eventElapsedTime(start, end) >= 0
    seen = []
    runtime.launchHostFunc(stream, seen.append, 1)
    runtime.streamAddCallback(stream, lambda s, status, arg: seen.append((status, arg)), 2)
    runtime.streamSynchronize(stream)
    assert seen == [1, (0, 2)] and runtime.streamQuery(stream) == 0
    assert not runtime.streamIsCapturing(stream)
    least, greatest = runtime.deviceGetStreamPriorityRange()
    assert least >= greatest
    runtime.eventDestroy(start), runtime.eventDestroy(end), runtime.streamDestroy(stream)


def test_pointer_attributes(device):
    host = np.zeros(4)
    assert runtime.pointerGetAttributes(host.ctypes.data).type == runtime.memoryTypeUnregistered
    if device == "cuda":
        a = bc.zeros(4)
        attributes = runtime.pointerGetAttributes(a.data.ptr)
        assert attributes.type == runtime.memoryTypeDevice and attributes.device == 0
        p = cuda.pinned_array(4)
        assert runtime.pointerGetAttributes(p.ctypes.data).type == runtime.memoryTypeHost


def test_what_needs_a_gpu_says_so(device):
    if bc.device_count("cuda"):
        pytest.skip("there is one")
    with pytest.raises(RuntimeError, match="needs a GPU"):
        runtime.deviceGetLimit(runtime.cudaLimitMallocHeapSize)
    with pytest.raises(RuntimeError, match="needs a GPU"):
        runtime.ipcGetMemHandle(1)


def test_errors_carry_their_number():
    error = runtime.CUDARuntimeError(2)
    assert error.status == 2 and isinstance(error, RuntimeError)


def test_nvtx_ranges(device):
    cuda.nvtx.RangePush("outer")
    cuda.nvtx.RangePushC("inner", 0x00FF00)
    cuda.nvtx.Mark("here")
    cuda.nvtx.MarkC("there", 0xFF)
    cuda.nvtx.RangePop()
    cuda.nvtx.RangePop()

    @cuda.nvtx.annotate("work")
    def work() -> int:
        return 3

    assert work() == 3


def test_profiler(device):
    cuda.profiler.start()
    cuda.profiler.stop()
    cuda.profile_start()
    cuda.profile_stop()
    with cuda.profile(), cuda.profiling():
        assert (bc.arange(3) + 1)[0] == 1
