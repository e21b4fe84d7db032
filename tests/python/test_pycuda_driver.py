"""PyCUDA's programs on every device: modules, memory, arguments, streams and events, with only their imports changed."""

from __future__ import annotations

import numpy as np
import pytest

import broadcloth as bc


@pytest.fixture
def drv(device):
    import broadcloth.cuda.pycuda.driver as drv

    return drv


@pytest.fixture
def SourceModule(device):
    from broadcloth.cuda.pycuda.compiler import SourceModule

    return SourceModule


DOUBLIFY = """
  __global__ void doublify(float *a)
  {
    int idx = threadIdx.x + threadIdx.y*4;
    a[idx] *= 2;
  }
"""


def test_the_first_program_of_the_tutorial(drv, SourceModule):
    a = np.random.default_rng(0).normal(size=(4, 4)).astype(np.float32)
    a_gpu = drv.mem_alloc(a.nbytes)
    drv.memcpy_htod(a_gpu, a)
    func = SourceModule(DOUBLIFY).get_function("doublify")
    func(a_gpu, block=(4, 4, 1), grid=(1, 1), shared=0)
    a_doubled = np.empty_like(a)
    drv.memcpy_dtoh(a_doubled, a_gpu)
    np.testing.assert_array_equal(a_doubled, 2 * a)


def test_arguments_that_are_copied_in_and_out(drv, SourceModule):
    mod = SourceModule(
        "__global__ void multiply_them(float *dest, float *a, float *b) { const int i = threadIdx.x; dest[i] = a[i] * b[i]; }"
    )
    multiply_them = mod.get_function("multiply_them")
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=400).astype(np.float32), rng.normal(size=400).astype(np.float32)
    dest = np.zeros_like(a)
    multiply_them(drv.Out(dest), drv.In(a), drv.In(b), block=(400, 1, 1), grid=(1, 1))
    np.testing.assert_array_equal(dest, a * b)
    SourceModule(DOUBLIFY).get_function("doublify")(drv.InOut(a[:16]), block=(4, 4, 1))
    np.testing.assert_allclose(a[:16] * b[:16] / 2, dest[:16], rtol=1e-6)
    with pytest.raises(TypeError, match="In: expected a NumPy array"):
        drv.In([1, 2, 3])
    with pytest.raises(ValueError, match="block"):
        multiply_them(drv.Out(dest), drv.In(a), drv.In(b))


def test_prepared_calls_convert_their_arguments(drv, SourceModule):
    func = SourceModule("__global__ void f(double *x, int n, float s) { if (threadIdx.x < n) x[threadIdx.x] = s; }").get_function("f")
    func.prepare("Pif")
    x = drv.to_device(np.zeros(8))
    func.prepared_call((1, 1), (8, 1, 1), x, 5, 2.5)
    assert drv.from_device(x, (8,), np.float64).tolist() == [2.5] * 5 + [0] * 3
    assert func.prepared_timed_call((1, 1), (8, 1, 1), x, 8, 1.5)() >= 0
    assert drv.from_device_like(x, np.zeros(8)).tolist() == [1.5] * 8
    with pytest.raises(TypeError, match="prepared for 3 arguments, got 2"):
        func.prepared_call((1, 1), (8, 1, 1), x, 5)


def test_arrays_are_arguments(drv, SourceModule):
    from broadcloth.cuda.pycuda import gpuarray

    a = gpuarray.to_gpu(np.arange(16, dtype=np.float32).reshape(4, 4))
    seconds = SourceModule(DOUBLIFY).get_function("doublify")(a, block=(4, 4, 1), time_kernel=True)
    assert seconds >= 0
    np.testing.assert_array_equal(a.get(), 2 * np.arange(16).reshape(4, 4))
    np.testing.assert_array_equal((2 * a + gpuarray.zeros_like(a)).get(), 4 * np.arange(16).reshape(4, 4))
    assert float(gpuarray.dot(a, gpuarray.ones_like(a))) == 240
    assert isinstance(a, gpuarray.GPUArray) and gpuarray.if_positive(a - 9, a, -a).get()[0].tolist() == [0, -2, -4, -6]


def test_constants_and_error_lines(drv, SourceModule):
    mod = SourceModule("__constant__ float c[2];\n__global__ void f(float *x) { x[threadIdx.x] = c[threadIdx.x]; }")
    address, size = mod.get_global("c")
    assert size == 8
    drv.memcpy_htod(address, np.array([1.5, 2.5], np.float32))
    out = np.zeros(2, np.float32)
    mod.get_function("f")(drv.Out(out), block=(2, 1, 1))
    assert out.tolist() == [1.5, 2.5]
    with pytest.raises(bc.CompileError, match=r"module\.cu(\(3\)|:3:)"):
        SourceModule("__global__ void f(float *x)\n{\n  x[0] = nothing;\n}").get_function("f")(drv.Out(out), block=(1, 1, 1))


def test_templates_need_no_extern_c(drv, SourceModule):
    mod = SourceModule(
        'template <typename T> __device__ T twice(T v) { return v + v; }\nextern "C" __global__ void f(int *x) { *x = twice(21); }',
        no_extern_c=True,
        options=["-std=c++17"],
    )
    out = np.zeros(1, np.int32)
    mod.get_function("f")(drv.Out(out), block=(1, 1, 1))
    assert out[0] == 42


def test_copies_and_kernels_overlap_in_streams(drv, SourceModule):
    func = SourceModule("__global__ void f(float *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = x[i] * 2 + 1; }").get_function(
        "f"
    )
    n, count = 1024, 20
    host = [drv.pagelocked_empty(n, np.float32) for _ in range(count)]
    for k, h in enumerate(host):
        h[...] = k
    streams = [drv.Stream() for _ in range(4)]
    memory = [drv.mem_alloc(4 * n) for _ in range(count)]
    start, end = drv.Event(), drv.Event()
    start.record()
    for k in range(count):
        stream = streams[k % 4]
        drv.memcpy_htod_async(memory[k], host[k], stream)
        func(memory[k], block=(256, 1, 1), grid=(4, 1), stream=stream)
        drv.memcpy_dtoh_async(host[k], memory[k], stream)
    for stream in streams:
        stream.synchronize()
        assert stream.is_done()
    end.record()
    end.synchronize()
    assert start.time_till(end) >= 0 and end.time_since(start) >= 0
    for k, h in enumerate(host):
        np.testing.assert_array_equal(h, 2 * k + 1)


def test_memory_is_copied_and_filled(drv):
    a, b = drv.mem_alloc(16), drv.mem_alloc(16)
    drv.memset_d32(a, 7, 4)
    drv.memcpy_dtod(b, a, 16)
    drv.memset_d8(b, 0, 4)
    assert drv.from_device(b, 4, np.int32).tolist() == [0, 7, 7, 7]
    assert drv.from_device(b + 4, 3, np.int32).tolist() == [7, 7, 7]
    assert int(a) == a.ptr
    free, total = drv.mem_get_info()
    assert 0 < free <= total
    a.free()


def test_devices_can_be_asked(drv):
    import broadcloth.cuda.pycuda.autoinit as autoinit

    drv.init()
    assert drv.Device.count() >= 1
    device = autoinit.device
    assert device.name() and device.total_memory() > 0
    assert len(device.compute_capability()) == 2
    assert isinstance(device.get_attributes(), dict)
    assert device.get_attribute(drv.device_attribute.MULTIPROCESSOR_COUNT) >= 0
    drv.Context.synchronize()
    context = device.make_context()
    context.pop()
