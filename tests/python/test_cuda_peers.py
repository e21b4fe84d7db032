"""Streams and pools shared with PyTorch, CuPy, Numba and RMM on one GPU: order is kept without the user's help."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import broadcloth as bc
from broadcloth import cuda

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(bc.device_count("cuda") == 0, reason="needs a GPU")]

N = 1 << 22


@pytest.fixture(autouse=True)
def _on_the_gpu():
    with bc.device("cuda"):
        yield


def test_torchs_current_stream_is_followed():
    torch = pytest.importorskip("torch")
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), cuda.ExternalStream(stream.cuda_stream):
        t = torch.zeros(N, device="cuda")
        for i in range(30):
            t = t + 1
            a = bc.from_dlpack(t)
            a = a * 1 + 1
            t = torch.from_dlpack(a)
    stream.synchronize()
    assert float(t.min()) == float(t.max()) == 60.0


@pytest.mark.parametrize("by", ["dlpack", "interface"])
def test_arrays_cross_libraries_on_different_streams(by):
    torch = pytest.importorskip("torch")
    ours, theirs = cuda.Stream(non_blocking=True), torch.cuda.Stream()
    with torch.cuda.stream(theirs):
        t = torch.ones(N, device="cuda")
    for _ in range(20):
        with torch.cuda.stream(theirs):
            for _ in range(5):
                t = t * 2 / 2
            t = t + 1
            source = t if by == "interface" else t.__dlpack__
            with ours:
                a = bc.from_dlpack(t) if by == "dlpack" else bc.asarray(t)
                b = a + 1
            t = torch.from_dlpack(b) if by == "dlpack" else torch.as_tensor(b, device="cuda")
            assert source is not None
    torch.cuda.synchronize()
    assert float(t.min()) == float(t.max()) == 41.0


def test_cupys_streams_and_kernels():
    cupy = pytest.importorskip("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, cuda.ExternalStream(stream.ptr):
        c = cupy.arange(N, dtype=cupy.float64)
        a = bc.asarray(c)
        a += 1
        c = cupy.asarray(a) * 2
        double = bc.RawKernel('extern "C" __global__ void f(double* x) { x[blockIdx.x * 256 + threadIdx.x] *= 2; }', "f")
        double((N // 256,), (256,), (c,))
    stream.synchronize()
    assert_array_equal(cupy.asnumpy(c), (np.arange(N) + 1.0) * 4)


def test_a_stream_may_end_before_the_arrays_that_it_computed():
    cupy = pytest.importorskip("cupy")
    twice = bc.ElementwiseKernel("T x", "T y", "y = x * 2", "twice_")
    kept = []
    for k in range(40):
        stream = cupy.cuda.Stream(non_blocking=True)
        with cuda.ExternalStream(stream.ptr):
            kept.append(bc.full(100_000, float(k)) + 1)
        kept.append(twice(kept[-1], stream=stream) if k % 2 else twice(kept[-1]))
        out = cupy.empty(10, cupy.float32)
        fill = bc.RawKernel('extern "C" __global__ void f(float* x, int k) { x[threadIdx.x] = k; }', "f")
        fill((1,), (10,), (out, np.int32(k)), stream=stream)
        kept.append(out)
        del stream  # and with it the driver's stream
        if k % 3 == 0:
            bc.synchronize()
        if k % 5 == 4:
            del kept[-6:-3]
    bc.get_default_memory_pool().free_all_blocks()
    bc.synchronize()
    for x in kept[-3:-1]:
        assert len(set(x.get().tolist())) == 1
    assert kept[-1].get().tolist() == [39.0] * 10


def test_cupys_kernels_take_our_arrays():
    cupy = pytest.importorskip("cupy")
    a = bc.arange(N, dtype=np.float32) + 1
    kernel = cupy.RawKernel('extern "C" __global__ void f(float* x) { x[blockIdx.x * 256 + threadIdx.x] *= 3; }', "f")
    view = cupy.asarray(a)
    kernel((N // 256,), (256,), (view,))
    cupy.cuda.get_current_stream().synchronize()
    assert_array_equal(a.get(), (np.arange(N, dtype=np.float32) + 1) * 3)


def test_numbas_kernels_and_streams():
    if not hasattr(np, "row_stack"):
        np.row_stack = np.vstack  # an older Numba looks for it when it is imported
    numba_cuda = pytest.importorskip("numba.cuda")

    @numba_cuda.jit
    def twice(x):
        i = numba_cuda.grid(1)
        if i < x.size:
            x[i] *= 2

    a = bc.arange(N, dtype=np.float64) + 1
    twice[N // 256, 256](a)
    numba_cuda.synchronize()
    assert_array_equal(a.get(), (np.arange(N) + 1.0) * 2)
    d = numba_cuda.to_device(np.arange(N, dtype=np.float64))
    stream = numba_cuda.stream()
    twice[N // 256, 256, stream](d)
    with cuda.external_stream(stream.handle.value if hasattr(stream.handle, "value") else int(stream.handle)):
        b = bc.asarray(d) + 1
    assert_array_equal(b.get(), np.arange(N) * 2.0 + 1)


def test_rmm_gives_the_memory():
    rmm = pytest.importorskip("rmm")
    rmm.reinitialize(pool_allocator=True, initial_pool_size=1 << 26)
    before = cuda.get_allocator()
    try:
        cuda.use_rmm_allocator()
        a = bc.arange(1 << 20, dtype=np.float64)
        b = (a * 2).reshape(1024, 1024).sum(axis=0)
        assert_array_equal(b.get(), (np.arange(1 << 20, dtype=np.float64) * 2).reshape(1024, 1024).sum(axis=0))
        resource = rmm.mr.get_current_device_resource()
        assert resource is not None
    finally:
        bc.synchronize()
        cuda.set_allocator(before)


@pytest.mark.parametrize(
    ("kind", "name", "install"),
    [("numba", "RMMNumbaManager", cuda.set_memory_manager), ("cupy", "rmm_cupy_allocator", cuda.set_allocator)],
    ids=["numba", "cupy"],
)
def test_rmms_allocators_for_others(kind, name, install):
    allocators = pytest.importorskip(f"rmm.allocators.{kind}")
    before = cuda.get_allocator()
    try:
        install(getattr(allocators, name))
        a = bc.ones(1000) + 1
        assert float(a.sum()) == 2000.0
    finally:
        bc.synchronize()
        cuda.set_allocator(before)
