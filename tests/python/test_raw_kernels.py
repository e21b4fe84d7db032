"""RawKernel and RawModule: CUDA C++ kernels on every device, against NumPy."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys

import numpy as np
import pytest

import broadcloth as bc

ADD = r"""
extern "C" __global__ void add(const float* a, const float* b, float* out, int n) {
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
}
"""


def host(x) -> np.ndarray:
    return bc.asnumpy(x)


def is_gpu(device: str) -> bool:
    return device.startswith("cuda")


# ---- The programs of tutorials -----------------------------------------------------------------------------------------------


def test_vector_add_of_ints(xp):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void add(const int* x1, const int* x2, int* y) {
            int tid = blockDim.x * blockIdx.x + threadIdx.x;
            y[tid] = x1[tid] + x2[tid];
        }""",
        "add",
    )
    n = 250 * 1024
    x1, x2 = xp.arange(n, dtype=xp.int32), xp.ones(n, dtype=xp.int32)
    y = xp.zeros(n, dtype=xp.int32)
    kernel((250,), (1024,), (x1, x2, y))
    np.testing.assert_array_equal(host(y), np.arange(n) + 1)


def test_a_module_of_several_functions(xp):
    module = xp.RawModule(
        code=r"""
        extern "C" {
        __global__ void test_sum(const float* x1, const float* x2, float* y, unsigned int N) {
            unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
            if (tid < N) y[tid] = x1[tid] + x2[tid];
        }
        __global__ void test_multiply(const float* x1, const float* x2, float* y, unsigned int N) {
            unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
            if (tid < N) y[tid] = x1[tid] * x2[tid];
        }
        }"""
    )
    n = 10
    x1 = xp.arange(n * n, dtype=xp.float32).reshape(n, n)
    x2 = xp.ones((n, n), dtype=xp.float32) * 2
    y = xp.zeros((n, n), dtype=xp.float32)
    module.get_function("test_sum")((n,), (n,), (x1, x2, y, n * n))
    np.testing.assert_array_equal(host(y), host(x1) + 2)
    module.get_function("test_multiply")((n,), (n,), (x1, x2, y, n * n))
    np.testing.assert_array_equal(host(y), host(x1) * 2)


def test_a_matrix_is_scaled_in_place_by_a_grid_of_two_dimensions(xp):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void scale(float* m, int rows, int columns, float factor) {
            int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
            if (row < rows && column < columns) m[row * columns + column] *= factor;
        }""",
        "scale",
    )
    m = xp.arange(37 * 53, dtype="float32").reshape(37, 53)
    kernel(((53 + 15) // 16, (37 + 15) // 16), (16, 16), (m, 37, 53, 2.5))
    np.testing.assert_array_equal(host(m), np.arange(37 * 53, dtype="f4").reshape(37, 53) * np.float32(2.5))


@pytest.mark.parametrize("n", [64, 100])
def test_a_tiled_product_with_barriers(xp, n):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void product(const float* A, const float* B, float* C, int n) {
            __shared__ float a[16][16], b[16][16];
            int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
            float sum = 0;
            for (int t = 0; t < (n + 15) / 16; ++t) {
                int k = t * 16;
                a[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? A[row * n + k + threadIdx.x] : 0;
                b[threadIdx.y][threadIdx.x] = k + threadIdx.y < n && column < n ? B[(k + threadIdx.y) * n + column] : 0;
                __syncthreads();
                for (int i = 0; i < 16; ++i) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
                __syncthreads();
            }
            if (row < n && column < n) C[row * n + column] = sum;
        }""",
        "product",
    )
    rng = np.random.default_rng(1)
    A, B = rng.random((n, n), "f4"), rng.random((n, n), "f4")
    C = xp.empty((n, n), "float32")
    blocks = (n + 15) // 16
    kernel((blocks, blocks), (16, 16), (xp.asarray(A), xp.asarray(B), C, n))
    # Sums of n positive products are within n·eps/2 of the exact ones.
    np.testing.assert_allclose(host(C), A.astype("f8") @ B.astype("f8"), rtol=n * np.finfo("f4").eps / 2 * 1.01)


def test_shuffles_and_vectorised_loads(xp):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void sum(const float4* x, float* out) {
            float4 v = x[blockIdx.x * blockDim.x + threadIdx.x];
            float s = v.x + v.y + v.z + v.w;
            for (int k = 16; k > 0; k >>= 1) s += __shfl_down_sync(0xffffffff, s, k);
            if (threadIdx.x % 32 == 0) atomicAdd(out, s);
        }""",
        "sum",
    )
    x = np.arange(4 * 64 * 4, dtype="f4")
    out = xp.zeros(1, "float32")
    kernel((4,), (64,), (xp.asarray(x), out))
    assert float(out[0]) == x.sum()


def test_inline_ptx_runs_on_a_gpu_and_is_named_on_the_cpu(xp, device):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void lanes(int* x) {
            unsigned lane;
            asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
            x[threadIdx.x] = lane;
        }""",
        "lanes",
    )
    x = xp.zeros(64, "int32")
    if is_gpu(device):
        kernel((1,), (64,), (x,))
        np.testing.assert_array_equal(host(x), np.arange(64) % 32)
    else:
        with pytest.raises(bc.CompileError):
            kernel((1,), (64,), (x,))


def test_monte_carlo_with_curand(xp, device):
    if not is_gpu(device):
        pytest.skip("cuRAND's headers are NVIDIA's")
    kernel = xp.RawKernel(
        r"""#include <curand_kernel.h>
        extern "C" __global__ void sample(unsigned long long seed, int each, unsigned long long* inside) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            curandStatePhilox4_32_10_t state;
            curand_init(seed, i, 0, &state);
            int hits = 0;
            for (int k = 0; k < each; ++k) {
                float x = curand_uniform(&state), y = curand_uniform(&state);
                hits += x * x + y * y < 1;
            }
            atomicAdd(inside, hits);
        }""",
        "sample",
    )
    inside = xp.zeros(1, "uint64")
    try:
        kernel((64,), (128,), (7, 100, inside))
    except bc.CompileError as error:
        if "curand_kernel.h" in str(error):
            pytest.skip("cuRAND's headers are not installed")
        raise
    assert abs(4 * int(inside[0]) / (64 * 128 * 100) - np.pi) < 0.02


def test_a_block_reduction_of_cub(xp, device):
    if not is_gpu(device):
        pytest.skip("CUB is for GPUs")
    kernel = xp.RawKernel(
        r"""#include <cub/block/block_reduce.cuh>
        extern "C" __global__ void sum(const int* x, int* out) {
            using Reduce = cub::BlockReduce<int, 128>;
            __shared__ typename Reduce::TempStorage storage;
            int s = Reduce(storage).Sum(x[blockIdx.x * 128 + threadIdx.x]);
            if (threadIdx.x == 0) out[blockIdx.x] = s;
        }""",
        "sum",
    )
    x = xp.arange(256, dtype="int32")
    out = xp.zeros(2, "int32")
    try:
        kernel((2,), (128,), (x, out))
    except bc.CompileError as error:
        if "cub/" in str(error):
            pytest.skip("CUB's headers are not installed")
        raise
    assert host(out).tolist() == [sum(range(128)), sum(range(128, 256))]


def test_dynamic_parallelism(xp, device):
    if not is_gpu(device):
        pytest.skip("kernels launch kernels on GPUs only")
    kernel = xp.RawKernel(
        r"""__global__ void child(int* x, int base) { x[base + threadIdx.x] = base + threadIdx.x; }
        extern "C" __global__ void parent(int* x) { child<<<1, 32>>>(x, threadIdx.x * 32); }""",
        "parent",
    )
    x = xp.zeros(128, "int32")
    try:
        kernel((1,), (4,), (x,))
    except (bc.CompileError, ImportError) as error:
        if "cudadevrt" in str(error) or "nvJitLink" in str(error):
            pytest.skip("the device runtime is not installed")
        raise
    np.testing.assert_array_equal(host(x), np.arange(128))


# ---- Arguments -----------------------------------------------------------------------------------------------


SCALARS = r"""
extern "C" __global__ void store(double* out, bool b, char c, short s, int i, long long l, unsigned char uc, unsigned u,
                                 unsigned long long ul, float f, double d) {
    double values[] = {(double)b, (double)c, (double)s, (double)i, (double)l, (double)uc, (double)u, (double)ul, f, d};
    for (int k = 0; k < 10; ++k) out[k] = values[k];
}
"""


@pytest.mark.parametrize(
    "values",
    [
        (True, -3, -300, -70000, -(2**40), 200, 2**32 - 1, 2**53, 0.5, 0.1),
        (
            np.bool_(True),
            np.int8(-3),
            np.int16(-300),
            np.int32(-70000),
            np.int64(-(2**40)),
            np.uint8(200),
            np.uint32(2**32 - 1),
            np.uint64(2**53),
        )
        + (np.float32(0.5), np.float64(0.1)),
        (1, np.int64(-3), np.int64(-300), np.int64(-70000), np.int32(-7), np.int64(200), np.int64(2**32 - 1))
        + (2**53, 1, np.float32(0.25)),
    ],
    ids=["python", "numpy", "converted"],
)
def test_numbers_become_what_the_parameter_is(xp, values):
    out = xp.zeros(10)
    xp.RawKernel(SCALARS, "store")((1,), (1,), (out, *values))
    np.testing.assert_array_equal(host(out), [float(v) for v in values])


def test_complex_numbers_and_half_precision(xp, device):
    kernel = xp.RawKernel(
        r"""struct Z { double re, im; };
        extern "C" __global__ void f(double* out, Z z) { out[0] = z.re; out[1] = z.im; }""",
        "f",
    )
    out = xp.zeros(2)
    kernel((1,), (1,), (out, 1.5 - 2j))
    assert host(out).tolist() == [1.5, -2.0]
    kernel((1,), (1,), (out, np.complex128(3 + 4j)))
    assert host(out).tolist() == [3.0, 4.0]


def test_cupys_complex_numbers(xp):
    kernel = xp.RawKernel(
        r"""
        #include <cupy/complex.cuh>
        extern "C" __global__ void my_func(const complex<float>* x1, const complex<float>* x2, complex<float>* y, float a) {
            int tid = blockDim.x * blockIdx.x + threadIdx.x;
            y[tid] = x1[tid] + a * x2[tid];
        }""",
        "my_func",
    )
    x1 = xp.arange(25, dtype=xp.complex64).reshape(5, 5)
    x2 = 1j * xp.arange(25, dtype=xp.complex64).reshape(5, 5)
    y = xp.zeros((5, 5), dtype=xp.complex64)
    kernel((5,), (5,), (x1, x2, y, xp.float32(2.0)))
    np.testing.assert_array_equal(host(y), host(x1) + 2 * host(x2))


def test_thrusts_complex_numbers(xp, device):
    kernel = xp.RawKernel(
        r"""#include <thrust/complex.h>
        extern "C" __global__ void f(thrust::complex<double>* z) {
            int i = threadIdx.x;
            z[i] = thrust::sqrt(z[i] * 2.0) + thrust::abs(z[i]);
        }""",
        "f",
    )
    z = (np.arange(8) + 1j * np.arange(8)[::-1]).astype("complex128")
    x = xp.asarray(z)
    try:
        kernel((1,), (8,), (x,))
    except bc.CompileError as error:
        if is_gpu(device) and ("thrust/complex.h" in str(error) or "crt/" in str(error)):
            pytest.skip("Thrust's headers are not installed")
        raise
    np.testing.assert_allclose(host(x), np.sqrt(2 * z) + abs(z), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_functions_of_cupys_complex_numbers(xp, dtype):
    names = "exp log sqrt sin cos tan sinh cosh tanh conj".split()
    real = "float" if dtype == "complex64" else "double"
    body = " ".join(f"out[{k} * n + i] = {name}(z[i]);" for k, name in enumerate(names))
    module = xp.RawModule(
        code=f"""#include <cupy/complex.cuh>
        template <typename T> __global__ void f(const complex<T>* z, complex<T>* out, int n) {{
            int i = threadIdx.x;
            {body}
            out[{len(names)} * n + i] = z[i] / (z[i] + T(1)) * 2 - abs(z[i]) + polar(norm(z[i]), arg(z[i]));
            out[{len(names) + 1} * n + i] = pow(z[i], T(3));
        }}""",
        name_expressions=[f"f<{real}>"],
    )
    rng = np.random.default_rng(3)
    z = (rng.normal(size=32) + 1j * rng.normal(size=32)).astype(dtype)
    out = xp.zeros((len(names) + 2, 32), dtype)
    module.get_function(f"f<{real}>")((1,), (32,), (xp.asarray(z), out, 32))
    wide = z.astype("complex128")
    expected = [getattr(np, name)(wide) for name in names]
    expected += [wide / (wide + 1) * 2 - abs(wide) + abs(wide) ** 2 * np.exp(1j * np.angle(wide)), wide**3]
    np.testing.assert_allclose(host(out), expected, rtol=2e-5 if real == "float" else 1e-12, atol=1e-6 if real == "float" else 1e-13)


def test_structs_are_passed_by_value(xp):
    kernel = xp.RawKernel(
        r"""struct Particle { double mass; float position[3]; int id; };
        extern "C" __global__ void f(double* out, Particle p, float scale) {
            out[0] = p.mass; out[1] = p.position[0] * scale; out[2] = p.position[2]; out[3] = p.id;
        }""",
        "f",
    )
    dtype = np.dtype([("mass", "f8"), ("position", "f4", 3), ("id", "i4")], align=True)
    expected = [2.5, 2.0, 3.0, 7.0]
    value = np.array((2.5, (1, 2, 3), 7), dtype)

    class Particle(ctypes.Structure):
        _fields_ = [("mass", ctypes.c_double), ("position", ctypes.c_float * 3), ("id", ctypes.c_int)]

    for given in (value, value[()], np.array([value])[0], value.tobytes(), Particle(2.5, (ctypes.c_float * 3)(1, 2, 3), 7)):
        out = xp.zeros(4)
        kernel((1,), (1,), (out, given, 2.0))
        assert host(out).tolist() == expected


def test_a_struct_of_another_size_is_refused(xp):
    kernel = xp.RawKernel('struct P { float a, b, c; }; extern "C" __global__ void f(P p) {}', "f")
    with pytest.raises(TypeError, match="parameter 0 has 12 bytes"):
        kernel((1,), (1,), (np.zeros((), "f4, f4"),))


def test_pointers_are_arrays_addresses_or_none(xp):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void f(const int* x, int* out) { out[0] = x ? x[1] : -1; }""",
        "f",
    )
    x, out = xp.arange(10, dtype="int32"), xp.zeros(1, "int32")
    for given, expected in [(x, 1), (x[4:], 5), (x.data, 1), (x.data.ptr, 1), (x.data.ptr + 8, 3), (np.uint64(x.data.ptr), 1), (None, -1)]:
        kernel((1,), (1,), (given, out))
        assert int(out[0]) == expected


def test_foreign_arrays_are_used_where_they_lie(xp, device):
    kernel = xp.RawKernel(ADD, "add")

    class Foreign:
        """Another library's array."""

        def __init__(self, array):
            self.array = array

        def __dlpack__(self, **keywords):
            return self.array.__dlpack__(**keywords)

        def __dlpack_device__(self):
            return self.array.__dlpack_device__()

    a, out = xp.arange(10, dtype="float32"), xp.zeros(10, "float32")
    kernel((1,), (32,), (Foreign(a), Foreign(a), Foreign(out), 10))
    np.testing.assert_array_equal(host(out), 2 * np.arange(10))


def test_a_numpy_array_is_no_argument(xp):
    with pytest.raises(TypeError, match=r"parameter 0 is a NumPy array.*broadcloth\.asarray"):
        xp.RawKernel(ADD, "add")((1,), (1,), (np.zeros(3, "f4"), xp.zeros(3, "f4"), xp.zeros(3, "f4"), 3))


def test_the_same_array_may_be_given_twice(xp):
    kernel = xp.RawKernel(ADD, "add")
    a = xp.arange(10, dtype="float32")
    kernel((1,), (32,), (a, a, a, 10))
    np.testing.assert_array_equal(host(a), 2 * np.arange(10))
    b = xp.arange(20, dtype="float32")
    kernel((1,), (32,), (b[10:], b, b[5:], 5))  # views of one memory
    expected = np.arange(20, dtype="f4")
    expected[5:10] = expected[10:15] + expected[:5]
    np.testing.assert_array_equal(host(b), expected)


def test_copies_made_before_a_kernel_keep_the_old_values(xp):
    kernel = xp.RawKernel('extern "C" __global__ void f(int* x) { x[threadIdx.x] = -1; }', "f")
    a = xp.arange(5, dtype="int32")
    b, c = a.copy(), a + 1
    kernel((1,), (5,), (a,))
    d = a + 1
    assert host(a).tolist() == [-1] * 5 and host(d).tolist() == [0] * 5
    assert host(b).tolist() == [0, 1, 2, 3, 4] and host(c).tolist() == [1, 2, 3, 4, 5]


def test_an_array_that_is_only_read_is_not_copied(xp):
    kernel = xp.RawKernel(ADD, "add")
    a = xp.ones(10, "float32")
    frozen = xp.ones(10, "float32")
    frozen.flags.writeable = False
    out = xp.empty(10, "float32")
    kernel((1,), (32,), (a, frozen, out, 10))
    assert host(out).tolist() == [2.0] * 10
    with pytest.raises(ValueError, match="read-only"):
        kernel((1,), (32,), (a, a, frozen, 10))


def test_expressions_that_wait_are_computed_before(xp):
    kernel = xp.RawKernel(ADD, "add")
    a = xp.arange(10, dtype="float32")
    out = xp.zeros(10, "float32")
    total = 0
    for _ in range(3):
        kernel((1,), (32,), (a * 2, xp.sqrt(a * a), out, 10))
        total = total + out
        a += 1
    expected = sum(3 * (np.arange(10) + k) for k in range(3))
    np.testing.assert_allclose(host(total), expected)


def test_an_empty_array_has_no_address(xp):
    kernel = xp.RawKernel('extern "C" __global__ void f(const float* x, int n, int* out) { out[0] = n; }', "f")
    out = xp.zeros(1, "int32")
    kernel((1,), (1,), (xp.zeros(0, "float32"), 0, out))
    assert int(out[0]) == 0


def test_arrays_of_several_devices_are_refused(xp, device):
    if not is_gpu(device):
        pytest.skip("needs two devices")
    with pytest.raises(ValueError, match="expected arrays on"):
        xp.RawKernel(ADD, "add")((1,), (1,), (xp.zeros(1, "f4"), xp.zeros(1, "f4", device="cpu"), xp.zeros(1, "f4"), 1))


def test_a_kernel_without_arrays_runs_on_the_default_device(xp):
    module = xp.RawModule(code='__device__ int seen; extern "C" __global__ void f(int x) { seen = x; }')
    module.get_function("f")((1,), (1,), (41,))
    seen = xp.ndarray((1,), "int32", module.get_global("seen"))
    assert int(seen[0]) == 41


# ---- Names, templates, variables -----------------------------------------------------------------------------------------------


TEMPLATES = r"""
template <typename T> __global__ void scale(T* x, T factor, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] *= factor;
}
namespace deep { template <typename T, int N> __global__ void fill(T* x) { x[threadIdx.x] = T(N); } }
"""


def test_templates_are_found_by_their_expressions(xp):
    names = ["scale<float>", "scale<double>", "deep::fill<int, 42>"]
    module = xp.RawModule(code=TEMPLATES, options=("-std=c++17",), name_expressions=names)
    for dtype, name in [("float32", "scale<float>"), ("float64", "scale<double>")]:
        x = xp.arange(5, dtype=dtype)
        module.get_function(name)((1,), (32,), (x, 2.5, 5))
        np.testing.assert_array_equal(host(x), np.arange(5) * 2.5)
    x = xp.zeros(4, "int32")
    module.get_function("deep::fill<int, 42>")((1,), (4,), (x,))
    assert host(x).tolist() == [42] * 4


def test_a_raw_kernel_may_be_a_template(xp):
    x = xp.arange(5, dtype="float64")
    xp.RawKernel(TEMPLATES, "scale<double>")((1,), (32,), (x, 3, 5))
    np.testing.assert_array_equal(host(x), 3 * np.arange(5))


def test_a_kernel_without_extern_c_is_found_by_its_plain_name(xp):
    x = xp.zeros(4, "int32")
    xp.RawKernel("__global__ void fill(int* x, int v) { x[threadIdx.x] = v; }", "fill")((1,), (4,), (x, 9))
    assert host(x).tolist() == [9] * 4


def test_a_missing_kernel_is_named_with_those_that_there_are(xp):
    with pytest.raises(AttributeError, match="subtract.*add"):
        xp.RawKernel(ADD, "subtract")((1,), (1,), ())


def test_constant_memory_and_globals_are_arrays(xp):
    module = xp.RawModule(
        code=r"""
        __constant__ float weights[4];
        __device__ int counter;
        extern "C" __global__ void apply(float* x) {
            x[threadIdx.x] *= weights[threadIdx.x % 4];
            atomicAdd(&counter, 1);
        }"""
    )
    pointer = module.get_global("weights")
    assert pointer.size == 16 and int(pointer) == pointer.ptr
    weights = xp.ndarray((4,), dtype=xp.float32, memptr=pointer)
    weights[...] = xp.asarray([1, 10, 100, 1000], dtype="float32")
    counter = xp.ndarray((1,), "int32", module.get_global("counter"))
    counter[...] = 0
    x = xp.ones(8, "float32")
    module.get_function("apply")((1,), (8,), (x,))
    assert host(x).tolist() == [1, 10, 100, 1000] * 2
    assert int(counter[0]) == 8
    with pytest.raises(AttributeError, match="nothing"):
        module.get_global("nothing")
    with pytest.raises(ValueError, match="16 bytes"):
        xp.ndarray((5,), "float32", pointer)


def test_a_variable_outlives_its_module(xp):
    pointer = xp.RawModule(code="__device__ double value[2] = {1.5, 2.5};").get_global("value")
    values = xp.ndarray((2,), "float64", pointer)
    del pointer
    assert host(values).tolist() == [1.5, 2.5]


# ---- Compilers -----------------------------------------------------------------------------------------------


def test_options_reach_the_compiler(xp):
    kernel = xp.RawKernel(
        'extern "C" __global__ void f(TYPE* x) { x[threadIdx.x] = VALUE; }', "f", options=("-DVALUE=7", "-DTYPE=double", "--use_fast_math")
    )
    x = xp.zeros(3)
    kernel((1,), (3,), (x,))
    assert host(x).tolist() == [7.0] * 3
    assert kernel.options == ("-DVALUE=7", "-DTYPE=double", "--use_fast_math")


def test_an_error_shows_the_users_line(xp):
    kernel = xp.RawKernel('extern "C" __global__ void f(float* x) {\n  int a = 1;\n  x[a] = undefined_name;\n}\n', "f")
    with pytest.raises(bc.CompileError) as error:
        kernel((1,), (1,), (xp.zeros(1, "f4"),))
    message = str(error.value)
    assert "f.cu" in message and "undefined_name" in message
    assert "f.cu(3)" in message or "f.cu:3:" in message
    assert "x[a] = undefined_name;" in message
    assert len(message.splitlines()) <= 15


def test_warnings_go_to_the_log(xp, device):
    if not is_gpu(device):
        pytest.skip("the CPU's compiler keeps no warnings")
    log = io.StringIO()
    xp.RawModule(code='#warning "look here"\nextern "C" __global__ void f() {}').compile(log_stream=log)
    assert "look here" in log.getvalue()


def test_headers_of_the_user_are_found(xp, tmp_path):
    (tmp_path / "mine.h").write_text("#define VALUE 11\n")
    kernel = xp.RawKernel('#include "mine.h"\nextern "C" __global__ void f(int* x) { *x = VALUE; }', "f", ("-I", str(tmp_path)))
    x = xp.zeros(1, "int32")
    kernel((1,), (1,), (x,))
    assert int(x[0]) == 11


def test_a_module_from_a_file_finds_headers_beside_it(xp, tmp_path):
    (tmp_path / "beside.h").write_text("__device__ int twice(int v) { return 2 * v; }\n")
    (tmp_path / "program.cu").write_text('#include "beside.h"\nextern "C" __global__ void f(int* x) { *x = twice(21); }\n')
    module = xp.RawModule(path=tmp_path / "program.cu")
    x = xp.zeros(1, "int32")
    module.get_function("f")((1,), (1,), (x,))
    assert int(x[0]) == 42 and module.file_path.endswith("program.cu")


@pytest.mark.parametrize("arch", ["sm", "compute"])
def test_compiled_code_is_loaded_from_a_file(xp, device, tmp_path, arch):
    major = 90 if not is_gpu(device) else xp.RawKernel(ADD, "add").binary_version
    try:
        binary, _, _ = bc._c.compile_cuda(ADD, f"{arch}_{major}")
    except ImportError:
        pytest.skip("there is no NVRTC")
    (tmp_path / "add.bin").write_bytes(binary)
    module = xp.RawModule(path=str(tmp_path / "add.bin"))
    a, out = xp.ones(4, "f4"), xp.zeros(4, "f4")
    if is_gpu(device):
        module.get_function("add")((1,), (32,), (a, a, out, np.int32(4)))
        assert host(out).tolist() == [2.0] * 4
    else:
        with pytest.raises((NotImplementedError, ValueError, RuntimeError)):
            module.get_function("add")((1,), (32,), (a, a, out, np.int32(4)))


def test_a_second_process_compiles_nothing(device, tmp_path):
    program = (
        "import broadcloth as bc\n"
        f"bc.set_default_device({device!r})\n"
        "k = bc.RawKernel('extern \"C\" __global__ void f(int* x) { x[threadIdx.x] = 5; }', 'f')\n"
        "x = bc.empty(3, 'int32')\n"
        "k((1,), (3,), (x,))\n"
        "print(x.tolist(), bc._c.cache_stats()['compiles'])\n"
    )
    environment = {**os.environ, "BROADCLOTH_CACHE_DIR": str(tmp_path)}
    outputs = [
        subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True).stdout.split("]")
        for _ in range(2)
    ]
    assert outputs[0][0] == outputs[1][0] == "[5, 5, 5"
    assert int(outputs[0][1]) > 0 and int(outputs[1][1]) == 0


# ---- Launches -----------------------------------------------------------------------------------------------


def test_dynamic_shared_memory(xp):
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void reverse(int* x) {
            extern __shared__ int s[];
            s[threadIdx.x] = x[threadIdx.x];
            __syncthreads();
            x[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
        }""",
        "reverse",
    )
    x = xp.arange(256, dtype="int32")
    kernel((1,), (256,), (x,), shared_mem=1024)
    np.testing.assert_array_equal(host(x), np.arange(256)[::-1])
    kernel((1,), (256,), (x,), shared_mem=100 * 1024)  # beyond 48 KiB a kernel must opt in, which is done for it
    np.testing.assert_array_equal(host(x), np.arange(256))
    with pytest.raises(ValueError, match="shared memory"):
        kernel((1,), (256,), (x,), shared_mem=1 << 20)


def test_blocks_and_grids_that_cannot_be_are_refused(xp):
    kernel = xp.RawKernel(ADD, "add")
    args = (xp.zeros(1, "f4"), xp.zeros(1, "f4"), xp.zeros(1, "f4"), 1)
    for grid, block, words in [((0,), (1,), "zeros"), ((1,), (0,), "zeros"), ((1,), (2048,), "1024 threads"), ((1, 70000), (1,), "65535")]:
        with pytest.raises(ValueError, match=words):
            kernel(grid, block, args)


def test_a_cooperative_grid_synchronises(xp, device):
    header = "#include <cooperative_groups.h>\nnamespace cg = cooperative_groups;\n"
    kernel = xp.RawKernel(
        header
        + r"""extern "C" __global__ void f(int* x, int n) {
            int i = blockIdx.x * blockDim.x + threadIdx.x;
            x[i] = i;
            cg::this_grid().sync();
            int other = x[(i + blockDim.x) % n];
            cg::this_grid().sync();
            x[i] = other;
        }""",
        "f",
        enable_cooperative_groups=True,
    )
    x = xp.zeros(4 * 64, "int32")
    try:
        kernel((4,), (64,), (x, 256))
    except bc.CompileError as error:
        if "cooperative_groups.h" in str(error):
            pytest.skip("the header is not installed")
        raise
    np.testing.assert_array_equal(host(x), (np.arange(256) + 64) % 256)


def test_clusters(xp, device):
    if not is_gpu(device) or xp.RawKernel(ADD, "add").binary_version < 90:
        pytest.skip("clusters need compute capability 9.0")
    kernel = xp.RawKernel(
        r"""#include <cooperative_groups.h>
        namespace cg = cooperative_groups;
        extern "C" __global__ void f(int* x) {
            __shared__ int mine;
            auto cluster = cg::this_cluster();
            if (threadIdx.x == 0) mine = blockIdx.x;
            cluster.sync();
            int other = *cluster.map_shared_rank(&mine, (cluster.block_rank() + 1) % cluster.num_blocks());
            cluster.sync();
            if (threadIdx.x == 0) x[blockIdx.x] = other;
        }""",
        "f",
    )
    x = xp.zeros(8, "int32")
    kernel((8,), (32,), (x,), cluster=(4,))
    assert host(x).tolist() == [1, 2, 3, 0, 5, 6, 7, 4]
    with pytest.raises(ValueError, match="multiple of the cluster"):
        kernel((6,), (32,), (x,), cluster=(4,))


def test_attributes(xp, device):
    kernel = xp.RawKernel(
        'extern "C" __global__ void f(float* x) { __shared__ float s[64]; s[threadIdx.x] = *x; __syncthreads(); *x = s[3]; }', "f"
    )
    assert kernel.shared_size_bytes >= 256
    assert kernel.max_threads_per_block == 1024
    assert set(kernel.attributes) >= {"num_regs", "local_size_bytes", "const_size_bytes", "ptx_version", "binary_version", "cache_mode_ca"}
    kernel.max_dynamic_shared_size_bytes = 65536
    assert kernel.max_dynamic_shared_size_bytes == 65536
    grid, block = kernel.best_block()
    assert grid > 0 and 0 < block <= 1024
    assert kernel.max_active_blocks(128) > 0
    if is_gpu(device):
        assert kernel.num_regs > 0 and kernel.binary_version >= 70
        kernel.preferred_shared_memory_carveout = 50
        assert kernel.preferred_shared_memory_carveout == 50


def test_linear_launch_covers_all_elements(xp):
    kernel = xp.RawKernel(ADD, "add")
    a, out = xp.ones(1000, "float32"), xp.zeros(1000, "float32")
    kernel.linear_launch(1000, (a, a, out, 1000))
    assert host(out).tolist() == [2.0] * 1000


def test_a_stream_of_the_users(xp, device):
    if not is_gpu(device):
        pytest.skip("streams of the CPU run at once")
    kernel = xp.RawKernel(ADD, "add")
    stream = bc.cuda.Stream(non_blocking=True)
    a, out = xp.arange(1 << 20, dtype="float32") % 1000, xp.zeros(1 << 20, "float32")
    for _ in range(20):
        kernel((1 << 10,), (1 << 10,), (a, out, out, 1 << 20), stream=stream)
    np.testing.assert_array_equal(host(out), 20 * (np.arange(1 << 20, dtype="f4") % 1000))


def test_one_kernel_on_two_devices():
    kernel = bc.RawKernel(ADD, "add")
    for name in ["cpu", "cuda"] if bc.device_count("cuda") else ["cpu"]:
        with bc.device(name):
            a, out = bc.ones(10, "float32"), bc.zeros(10, "float32")
            kernel((1,), (32,), (a, a, out, 10))
            assert host(out).tolist() == [2.0] * 10


def test_threads_launch_one_kernel(xp):
    from concurrent.futures import ThreadPoolExecutor

    kernel = xp.RawKernel(ADD, "add")

    def work(k: int) -> bool:
        with xp.device(str(xp.default_device())):
            a, out = xp.full(1000, float(k), dtype="float32"), xp.zeros(1000, "float32")
            for _ in range(20):
                kernel((4,), (256,), (a, out, out, 1000))
            return bool((host(out) == 20 * k).all())

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(8)))


def test_textures_are_for_gpus(xp, device):
    from broadcloth.cuda import texture

    channels = texture.ChannelFormatDescriptor(32, 0, 0, 0, texture.cudaChannelFormatKindFloat)
    if not is_gpu(device):
        with pytest.raises(NotImplementedError, match="CUDA devices"):
            texture.CUDAarray(channels, 8, 4)
        return
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void read(cudaTextureObject_t t, float* out, int width, int height) {
            int x = threadIdx.x, y = threadIdx.y;
            out[y * width + x] = tex2D<float>(t, x + 0.5f, y + 0.5f) + tex2D<float>(t, x + 1.5f, y + 0.5f);
        }""",
        "read",
    )
    values = np.arange(32, dtype="f4").reshape(4, 8)
    array = texture.CUDAarray(channels, 8, 4)
    array.copy_from(xp.asarray(values))
    back = np.zeros_like(values)
    array.copy_to(back)
    np.testing.assert_array_equal(back, values)
    resource = texture.ResourceDescriptor(texture.cudaResourceTypeArray, cuArr=array)
    sampling = texture.TextureDescriptor((texture.cudaAddressModeClamp,) * 2, texture.cudaFilterModePoint, texture.cudaReadModeElementType)
    out = xp.zeros((4, 8), "float32")
    kernel((1,), (8, 4), (texture.TextureObject(resource, sampling), out, 8, 4))
    np.testing.assert_array_equal(host(out), values + np.concatenate([values[:, 1:], values[:, -1:]], 1))


def test_surfaces_are_written(xp, device):
    from broadcloth.cuda import texture

    if not is_gpu(device):
        pytest.skip("surfaces are for GPUs")
    channels = texture.ChannelFormatDescriptor(32, 0, 0, 0, texture.cudaChannelFormatKindSigned)
    array = texture.CUDAarray(channels, 8, 4, flags=texture.cudaArraySurfaceLoadStore)
    surface = texture.SurfaceObject(texture.ResourceDescriptor(texture.cudaResourceTypeArray, cuArr=array))
    kernel = xp.RawKernel(
        r"""extern "C" __global__ void f(cudaSurfaceObject_t s) {
            surf2Dwrite<int>(threadIdx.y * 8 + threadIdx.x, s, threadIdx.x * 4, threadIdx.y);
        }""",
        "f",
    )
    kernel((1,), (8, 4), (surface,))
    out = xp.zeros((4, 8), "int32")
    array.copy_to(out)
    np.testing.assert_array_equal(host(out), np.arange(32).reshape(4, 8))


def test_a_linear_texture_reads_an_arrays_memory(xp, device):
    from broadcloth.cuda import texture

    if not is_gpu(device):
        pytest.skip("textures are for GPUs")
    data = xp.arange(64, dtype="float32")
    resource = texture.ResourceDescriptor(
        texture.cudaResourceTypeLinear,
        arr=data,
        chDesc=texture.ChannelFormatDescriptor(32, 0, 0, 0, texture.cudaChannelFormatKindFloat),
        sizeInBytes=data.nbytes,
    )
    t = texture.TextureObject(resource, texture.TextureDescriptor())
    out = xp.zeros(64, "float32")
    xp.RawKernel(
        'extern "C" __global__ void f(cudaTextureObject_t t, float* o) { o[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }', "f"
    )((1,), (64,), (t, out))
    np.testing.assert_array_equal(host(out), np.arange(64))
